//! The differential fuzzer: generated requests, put to a testee and to the reference.
//!
//! `draw` makes a case of a seed and a number; `probe` asks, judges by `compare` what differs from the reference
//! beyond what the profile accepts, checks relations between the testee's own replies, and makes failing cases small;
//! `campaign` does so for many cases, and reports what fails for the same reason once; `save` writes findings as
//! candidate cases of the corpus.

mod campaign;
mod compare;
mod coverage;
mod draw;
mod probe;
mod save;

pub use campaign::{Finding, Options, Progress, Report, Start, run};
pub use coverage::Coverage;
pub use save::{prepare, save};
