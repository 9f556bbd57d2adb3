//! The commands of `threadspec`, which runs the corpus against any implementation that speaks the one-page protocol of `PROTOCOL.md`.
//!
//! Data flows one way: `threadspec-judge` reads cases and judges replies, `threadspec-runner` puts the cases to a testee,
//! `threadspec-report` shows the results. What is left for this crate is what only a program has: arguments, exit codes, and the upkeep of
//! a corpus. Nothing here knows how a thread is serialized: the cases and the oracles of the library decide.
//!
//! The program is [`main`]. The rest is for programs that share its ways of naming a corpus and of ending: a command returns an
//! [`Exit`](threadspec_runner::Exit) or a [`Stop`], and [`exit_code`] makes of both what the process returns.
//!
//! | module | what it is |
//! |---|---|
//! | `program` | the command line: which command, and what is said when none can be read |
//! | `commands` | the commands, each with its arguments |
//! | `lint` | everything that can be wrong with a corpus |
//! | `over_wire` | testees that ask a provider for the answers of their model |
//! | `seconds` | spans of time on a command line |
//! | `through` | gateways as testees: a client of ours on one side, the provider on the other |
//! | `bugs` | three planted bugs, to see what a finding looks like |

mod bugs;
mod commands;
mod lint;
mod over_wire;
mod program;
mod seconds;
mod through;

pub use commands::{Stop, corpus, exit_code, files, select};
pub use program::main;
