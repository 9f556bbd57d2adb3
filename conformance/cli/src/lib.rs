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
//! | `common` | what several commands need: the corpus, files, errors |
//! | `verify`, `explain` | a command each |
//! | `show` | the commands `show`, `list` and `diff` |
//! | `explain_rule`, `effects` | texts of `explain` |
//! | [`selection`], `through`, `programs` | options that commands share |
//! | [`outcome`], [`progress`] | the results of a run, and how far it is |

mod common;
mod effects;
mod explain;
mod explain_rule;
pub mod outcome;
mod programs;
pub mod progress;
pub mod selection;
mod show;
mod through;
pub mod verify;

pub use common::{
    Stop, at_fault, cannot_read, corpus, corpus_and_errata, did_you_mean, exit_code, files, introduction, keep_apart,
    left_behind, not_ready, not_writable, parse, read_file, read_runs, run, seconds, select, target_parser, text_of,
    written,
};
pub use explain::Explain;
pub use programs::{ProgramOptions, RECIPES};
pub use show::{Diff, List, Show};
pub use through::{StreamPieces, ThroughOptions};
pub use verify::{Additions, Verify};
