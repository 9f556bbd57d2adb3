//! The commands of `threadspec` that judge a program over stdin and stdout, and explain what they find: `verify`, `list`, `show`,
//! `explain`, `diff`.
//!
//! `threadspec-conformance` has the other commands, and [`Additions`] for `verify`. They need HTTP, templates, readers of logs and
//! generators, which take longer to build than everything here. So this crate has a program of its own, the one that `cargo run` runs in
//! the repository; it starts the whole program for all that it lacks.
//!
//! A command returns an [`Exit`](threadspec_runner::Exit) or a [`Stop`], and [`exit_code`] makes of both what the process returns.
//!
//! | module | what it is |
//! |---|---|
//! | `program` | reads the command line, and runs a command |
//! | `common` | what several commands need: the corpus, files, errors |
//! | `verify`, `list`, `show`, `explain`, `diff` | a command each |
//! | `explain_gateway`, `explain_profile`, `explain_rule`, `explain_session` | the texts of `explain` |
//! | `selection`, [`known_failures`], `through` | options that commands share |
//! | [`outcome`], `followed`, [`progress`] | the results of a run, and how far it is |
//! | `seconds` | spans of time on a command line |

mod common;
mod diff;
mod explain;
mod explain_gateway;
mod explain_profile;
mod explain_rule;
mod explain_session;
mod followed;
pub mod known_failures;
mod list;
pub mod outcome;
mod program;
pub mod progress;
mod seconds;
mod selection;
mod show;
mod through;
pub mod verify;

pub use common::{
    Stop, at_fault, cannot_read, corpus, corpus_and_errata, did_you_mean, exit_code, files, introduction, keep_apart,
    left_behind, not_ready, not_writable, read_file, read_runs, select, target_parser, text_of, written,
};
pub use diff::Diff;
pub use explain::Explain;
pub use list::List;
pub use program::{parse, run};
pub use seconds::seconds;
pub use show::Show;
pub use through::{StreamPieces, ThroughOptions};
pub use verify::{Additions, Verify};
