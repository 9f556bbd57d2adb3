//! The fuzzer: puts generated requests to a testee and to the reference; in profile `universal` to a testee alone.
//!
//! - `draw` makes a case from a seed and a number; one case in fifty is large.
//! - `probe` puts a case to the testee, judges the reply, checks relations between the testee's own replies, and makes a failing case
//!   small. [`threadspec_judge::compare`] judges by the reference and what the profile accepts, `property` by the properties of any agent.
//!   `smaller_session` knows what a session can do without.
//! - `campaign` does so for many cases. `cause` makes one finding of what has one cause: what fails as it does in `simpler` forms.
//!   `after` finds what has to be asked before a case that does not fail alone.
//! - `save` writes findings as candidate cases of the corpus.

mod campaign;
mod cause;
mod draw;
mod probe;
mod save;
mod simpler;

pub use campaign::{FuzzFinding, FuzzOptions, FuzzReport, Progress, Start, first_failure, run};
pub use draw::Coverage;
pub use save::{prepare_folder, save_findings};
