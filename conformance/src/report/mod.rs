//! What a person reads of a run.

mod case;
pub mod diff;
mod failure;
mod summary;

pub use case::case;
pub use failure::Failure;
pub use summary::Summary;
