//! The commands of `threadspec`, which runs the corpus against any implementation that speaks the one-page protocol of `PROTOCOL.md`.
//!
//! Data flows one way: `threadspec-judge` reads cases and judges replies, `threadspec-runner` puts the cases to a testee,
//! `threadspec-report` shows the results. Nothing here knows how a thread is serialized: the cases and the oracles of the library decide.
//!
//! | module | what it is |
//! |---|---|
//! | [`commands`] | the commands of `threadspec`: arguments and exit codes |
//! | [`lint`] | everything that can be wrong with a corpus |
//! | [`bugs`] | three planted bugs, to see what a finding looks like |

pub mod bugs;
pub mod commands;
pub mod lint;
mod program;

pub use program::main;
