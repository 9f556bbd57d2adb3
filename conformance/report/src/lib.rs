//! Reports of a run, for people and for programs: a run goes in; text, JSON, `JUnit`, Markdown, HTML, badges and a site come out.
//!
//! So does what `threadspec check` found, with SARIF and annotations of GitHub in addition ([`findings`]).
//!
//! Nothing here decides a verdict or an exit code: a [`Run`](threadspec_runner::Run) brings its judgements, and each report tells the same
//! story in another form. A [`RunRecord`] is what remains of a run, as JSON whose schema is [`RUN_SCHEMA`]; every report but the text
//! for the terminal is made from it alone, so that it can be made later, on another machine, and from the shards of a run
//! ([`merge`](fn@merge)). What a testee says is shown with every character visible, and escaped for the form in which it stands.
//!
//! | module | what it is |
//! |---|---|
//! | `error` | what is wrong with run files, and with what is asked for |
//! | `record`, `mismatch` | the canonical run file, from which every report is made |
//! | `merge` | one run from its shards |
//! | `comparison` | two runs, an earlier and a later one |
//! | `summary`, `judged`, `conclusion` | the numbers of a run, how much of the profile it judged, and what that says |
//! | `tally` | what it shows of each clause, and several runs of their cases |
//! | `worst` | what to mend first, in a sentence |
//! | `sessions` | how much of op `session` it judged, by features |
//! | `failure`, `failures`, `causes`, `diff` | one failure, those of a run, failures by cause, and how two texts differ |
//! | `screen` | how much fits on a screen |
//! | `conversation` | a run, or the runs of a session, as who said what |
//! | `case` | a case, as it is shown before it is run |
//! | `output` | the forms of reports, and writing them to files |
//! | `badge`, `html`, `junit`, `markdown` | one form each |
//! | `site` | the pages of the project's site: clauses, cases, rules, documents, results |
//! | `pages` | the pages that some of them fill in |
//! | [`findings`] | what was found in logs, in each of its forms |
//! | `words` | what several reports say in the same words |
//! | [`terminal`] | writing to a terminal |

mod badge;
mod case;
mod causes;
mod comparison;
mod conclusion;
mod conversation;
mod diff;
mod error;
mod failure;
mod failures;
pub mod findings;
mod html;
mod judged;
mod junit;
mod markdown;
mod merge;
mod mismatch;
mod output;
mod pages;
mod record;
mod screen;
mod sessions;
mod site;
mod summary;
mod tally;
pub mod terminal;
mod words;
mod worst;

pub use case::case;
pub use causes::{Area, Cause, Symptoms, causes};
pub use comparison::Comparison;
pub use conclusion::Conclusion;
pub use conversation::{ConversationLine, LineKind};
pub use error::Error;
pub use failure::Failure;
pub use failures::{Failures, unsupported};
pub use judged::{Judged, reasons};
pub use merge::merge;
pub use output::{ReportFormat, Target};
pub use record::{Circumstances, Counts, RUN_SCHEMA, Repeat, RunRecord};
pub use screen::Screen;
pub use sessions::JudgedFeatures;
pub use site::{Documents, Site};
pub use summary::Summary;
pub use tally::ClauseTally;
pub use worst::worst;
