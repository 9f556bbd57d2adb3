//! What a person reads of a run.

mod case;
pub mod diff;
mod summary;

pub use case::{case, failure, headline};
pub use summary::Summary;
