//! The commands of `threadspec`, which runs the corpus against any implementation that speaks the one-page protocol of `PROTOCOL.md`.
//!
//! `threadspec-cli` has what `verify` needs: it reads cases with `threadspec-judge`, puts them to a testee with `threadspec-runner`, and
//! prints the results with `threadspec-report`. This crate adds every other command, testees behind a provider or a gateway, and pages.
//! Nothing here knows how a thread is serialized: the cases and the oracles of the library decide.
//!
//! The program is [`main`].
//!
//! | module | what it is |
//! |---|---|
//! | `program` | the command line: which command, and the message when none can be read |
//! | `commands` | the commands, each with its arguments |
//! | `lint` | everything that can be wrong with a corpus |
//! | `over_wire` | testees that ask a provider for the answers of their model |
//! | `programs` | programs as they are, started once for each case, with an MCP server for their tools |
//! | `through` | gateways as testees: a client of ours on one side, the provider on the other |

mod commands;
mod lint;
mod over_wire;
mod program;
mod programs;
mod through;

pub use lint::pages as corpus_pages;
pub use program::main;
