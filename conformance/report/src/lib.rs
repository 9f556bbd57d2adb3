//! The reports of a run that need no page: texts for a terminal, and the JSON of run files.
//!
//! Nothing here decides a verdict or an exit code: a [`Run`](threadspec_runner::Run) brings its judgements, and each report tells the same
//! story in another form. A [`RunRecord`] is what remains of a run, as JSON whose schema is [`RUN_SCHEMA`]; every report but the text
//! for the terminal is made from it alone, so that it can be made later, on another machine, and from the shards of a run
//! ([`merge`](fn@merge)). `threadspec-pages` makes pages and files of it, from the modules that are public here.
//! What a testee says is shown with every character visible.
//!
//! | module | what it is |
//! |---|---|
//! | [`record`] | the canonical run file, from which every report is made |
//! | `comparison` | two runs, an earlier and a later one |
//! | [`summary`], `judged` | the numbers of a run, the cause to fix first, and how much of the profile it judged |
//! | [`tally`] | what it shows of each clause, and several runs of their cases |
//! | `failure`, `failures`, [`causes`](mod@causes), [`diff`] | one failure, those of a run, failures by cause, and how two texts differ |
//! | [`conversation`](mod@conversation) | a run, or the runs of a session, as speakers and texts |
//! | `output` | the forms of reports, and where they are written |
//! | [`words`] | what several reports say in the same words, and the words of a failure without its values |
//! | [`terminal`] | writing to a terminal, and how much fits on its screen |

pub mod causes;
mod comparison;
pub mod conversation;
pub mod diff;
mod failure;
mod failures;
mod judged;
mod output;
pub mod record;
pub mod summary;
pub mod tally;
pub mod terminal;
pub mod words;

pub use causes::{Area, Cause, Symptoms, causes};
pub use comparison::{Comparison, merge};
pub use conversation::{ConversationLine, LineKind};
pub use failure::{Failure, case};
pub use failures::{RunFailures, unsupported};
pub use judged::{Judged, JudgedFeatures, reasons};
pub use output::{ReportFormat, Target};
pub use record::{Circumstances, Counts, RUN_SCHEMA, Repeat, RunRecord};
pub use summary::{Conclusion, Summary, worst};
pub use tally::ClauseTally;
pub use terminal::Screen;

use std::{error, fmt};

/// Why something is not a run file, why runs do not fit together, or why a report cannot be what is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    /// Makes an error of its message.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for Error {}
