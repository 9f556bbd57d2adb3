//! Runs the threadspec corpus against any implementation that speaks the one-page protocol of `PROTOCOL.md`.
//!
//! Data flows one way. [`corpus`] reads cases ([`case`]) whose expectations are patterns ([`matcher`]); [`run`] asks a
//! [`testee`] — another program, or an [`Implementation`](testee::Implementation) in this process — one request per
//! case; [`judge`] turns what came back into a verdict; [`show`] and [`summary`] say it to a person. The programs'
//! entry points are in [`commands`].
//!
//! Nothing here knows how a thread is serialized: the cases, and the [`oracles`] of the library, decide.

pub mod case;
pub mod commands;
pub mod corpus;
pub mod diff;
pub mod format;
pub mod fuzz;
pub mod history;
pub mod interrupt;
pub mod json;
pub mod judge;
pub mod matcher;
pub mod mutants;
pub mod oracles;
pub mod output;
pub mod pages;
pub mod protocol;
pub mod reference;
pub mod run;
pub mod scope;
pub mod show;
pub mod summary;
pub mod testee;
