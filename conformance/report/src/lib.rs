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
//! | `error` | what is wrong with run files, and with what is asked for |
//! | [`record`], [`mismatch`] | the canonical run file, from which every report is made |
//! | `merge` | one run from its shards |
//! | `comparison` | two runs, an earlier and a later one |
//! | `summary`, `judged`, `conclusion` | the numbers of a run, how much of the profile it judged, and what that says |
//! | [`tally`] | what it shows of each clause, and several runs of their cases |
//! | [`worst`](mod@worst) | names the cause to fix first |
//! | `sessions` | how much of op `session` it judged, by features |
//! | `failure`, `failures`, [`causes`](mod@causes), [`diff`] | one failure, those of a run, failures by cause, and how two texts differ |
//! | `signs` | the words of a failure without its values |
//! | `screen` | how much fits on a screen |
//! | [`conversation`](mod@conversation) | a run, or the runs of a session, as speakers and texts |
//! | `case` | a case, as it is shown before it is run |
//! | `output` | the forms of reports, and where they are written |
//! | [`words`] | what several reports say in the same words |
//! | [`terminal`] | writing to a terminal |

mod case;
pub mod causes;
mod comparison;
mod conclusion;
pub mod conversation;
pub mod diff;
mod error;
mod failure;
mod failures;
mod judged;
mod merge;
pub mod mismatch;
mod output;
pub mod record;
mod screen;
mod sessions;
mod signs;
mod summary;
pub mod tally;
pub mod terminal;
pub mod words;
pub mod worst;

pub use case::case;
pub use causes::{Area, Cause, Symptoms, causes};
pub use comparison::Comparison;
pub use conclusion::Conclusion;
pub use conversation::{ConversationLine, LineKind};
pub use error::Error;
pub use failure::Failure;
pub use failures::{RunFailures, unsupported};
pub use judged::{Judged, reasons};
pub use merge::merge;
pub use output::{ReportFormat, Target};
pub use record::{Circumstances, Counts, RUN_SCHEMA, Repeat, RunRecord};
pub use screen::Screen;
pub use sessions::JudgedFeatures;
pub use summary::Summary;
pub use tally::ClauseTally;
pub use worst::worst;
