//! The fuzzer: generated requests, put to a testee and to the reference; in profile `universal` to a testee alone.
//!
//! `draw` makes a case of a seed and a number, one in fifty of them large; `probe` asks, judges by `compare` what differs from
//! the reference beyond what the profile accepts, or by `property` which properties of any agent do not hold, checks
//! relations between the testee's own replies, and makes failing cases small; `campaign` does so for many cases, and makes one
//! finding of what has one cause; `save` writes findings as candidate cases of the corpus.

mod campaign;
mod compare;
mod coverage;
mod draw;
mod probe;
mod property;
mod save;

pub use campaign::{Finding, Options, Progress, Report, Start, run};
pub use coverage::Coverage;
pub use save::{prepare, save};
