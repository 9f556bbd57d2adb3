//! Starts testees, puts cases to them, and says who is to blame for what comes back.
//!
//! A case that crashes, hangs or gets garbage is not simply charged to the request that was waiting: the testee may have been broken by
//! an earlier one, or only be slow under load. [`run()`] asks again until that is known, in bounded time, and leaves no process behind.
//! What a reply is worth is not decided here: `threadspec-judge` does, and this crate brings what it lacks, which is processes, time,
//! signals and files. That is also why the reference gets its store on disk here, the only thing that is used of the library. How results are shown is the business of `threadspec-report`.
//!
//! ```
//! use threadspec_judge::corpus::{Case, embedded};
//! use threadspec_judge::protocol::JudgeProfile;
//! use threadspec_judge::reference::Reference;
//! use threadspec_runner::{InProcess, Settings, run};
//!
//! let (corpus, _) = embedded();
//! let is_chosen = |case: &&Case| case.id.starts_with("escape/") && case.is_in(JudgeProfile::Literal);
//! let cases: Vec<&Case> = corpus.cases.iter().filter(is_chosen).collect();
//! let settings = Settings::new(JudgeProfile::Literal);
//! let run = run(&mut [Box::new(InProcess::new(Reference))], &cases, &settings, &mut ());
//! assert!(run.results.iter().all(|result| !result.counts_against(settings.strict)));
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | `error` | what is wrong with a file or a word that a run depends on |
//! | [`files`] | reading files, and writing them as a whole or not at all |
//! | `options` | how a run is made, as run files and transcripts tell it |
//! | `reference` | the reference, whose sessions are stored on disk |
//! | `transcript` | the exchange of a run, from which it can be judged again |
//! | `serve` | the loop that serves the protocol |
//! | `testee` | what is being tested: a process, or an implementation in this process |
//! | `run` | puts cases to a testee, in which order, again and again, and finds who is to blame |

mod error;
pub mod files;
mod options;
mod reference;
mod run;
mod serve;
mod testee;
mod transcript;

pub use error::{Error, Exit};
pub use files::files_in;
pub use options::{RunGateway, RunOptions, RunProgram, by_name, can_be_put};
pub use reference::StoredReference;
pub use run::{CaseResult, Known, Run, Settings, Shard, Watch, date, lack, run};
pub use serve::{Served, serve, serve_together};
pub use testee::{
    Companion, InProcess, Process, Storage, Surroundings, Testee, Trouble, adopt_orphans, end_orphans, interrupt,
};
pub use transcript::{Recorder, Transcript, TranscriptHeader};
