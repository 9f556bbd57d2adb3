//! What a person reads of a run, and what a program does.

mod case;
pub mod diff;
mod failure;
pub mod output;
pub mod record;
mod summary;
pub mod transcript;

pub use case::case;
pub use failure::Failure;
pub use summary::Summary;
