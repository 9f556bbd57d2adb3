//! Runs the threadspec corpus against any implementation that speaks the one-page protocol of `PROTOCOL.md`.
//!
//! Data flows one way: [`corpus`] reads cases, [`run`] puts them to a [`testee`] and judges the replies, [`report`]
//! shows the results. Nothing here knows how a thread is serialized: the cases and the oracles of the library decide.
//!
//! | module | what it is |
//! |---|---|
//! | [`json`] | raw JSON text: tokens, values as a testee may send them, a stack deep enough for both |
//! | [`terminal`] | writing to a terminal: colours, and text in which every character is visible |
//! | [`files`] | reading files, and writing them as a whole or not at all |
//! | [`protocol`] | the messages of the protocol, and the loop that serves it |
//! | [`corpus`] | cases, clauses, expectations, and the layout of their files |
//! | [`lint`] | everything that can be wrong with a corpus |
//! | [`testee`] | what is being tested: a process, an implementation in this process, the reference |
//! | [`run`] | puts cases to a testee and judges what comes back |
//! | [`tolerance`] | which differences between replies do not count |
//! | [`compare`] | whether a reply is as good as the reference's |
//! | [`universal`] | the judge of profile `universal` |
//! | [`report`] | reports of a run, for people and for other programs |
//! | [`generate`] | what fuzzing and property tests draw from |
//! | [`check`] | what must hold of everything that was drawn |
//! | [`fuzz`] | the fuzzer: compares with the reference, or judges by properties |
//! | [`logs`] | what is wrong with a log, a document or a list of requests |
//! | [`planted`] | planted bugs, and the matrix of what catches them |
//! | [`commands`] | the commands of `threadspec`: arguments and exit codes |

pub mod check;
pub mod commands;
pub mod compare;
pub mod corpus;
pub mod files;
pub mod fuzz;
pub mod generate;
pub mod json;
pub mod lint;
pub mod logs;
pub mod planted;
pub mod protocol;
pub mod report;
pub mod run;
pub mod terminal;
pub mod testee;
pub mod tolerance;
pub mod universal;
