//! Everything that is wrong with the logs, documents and requests that people have: the work of `threadspec check`.
//!
//! [`check`](fn@check) reads one file, finds out what it is, and hands each [`Finding`] on as soon as it is found: a rule, how bad it is, the
//! [`Place`], one sentence on what is wrong there and one on what to do. What it returns, a [`Summary`], says what was recognized, what was
//! skipped and why. What is right is the library's to say, by its oracles and the rules of the model APIs; this crate brings them to files of
//! any form, wrapping and size.
//!
//! ```
//! use threadspec_logs::{CheckOptions, Level, Report, check};
//!
//! let log = br#"[{"type": "user_input", "content": "2 + 2?", "iteration": 0}]"#;
//! let mut report = Report::default();
//! report.summary = check(&log[..], &CheckOptions::default(), &mut report)?;
//! assert_eq!(report.summary.forms[0].form, "an event log, profile literal");
//! let finding = &report.findings[0];
//! assert_eq!((finding.rule, finding.level, finding.place.line), ("LOG-EVENT", Level::Error, Some(1)));
//! assert_eq!(finding.to_string(), "event 0 (line 1): type: unknown event type \"user_input\" (LOG-EVENT)");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! - **Sink.** [`Sink`] takes findings while the file is read; a [`Report`] is one that keeps them. [`check_bytes`] is for bindings.
//! - **Levels.** An error makes the exit code of `threadspec check` 1, a warning does with `--strict`; a note never does.
//! - **Nothing recognized.** [`Summary::has_recognized`] is false, nothing holds, and the exit code is 2, whatever else was found.
//!
//! The way of a file, each step a module that knows those before it:
//!
//! | module | what it is |
//! |---|---|
//! | `input` | the bytes, decompressed |
//! | `containers` | databases of SQLite, zip archives, recordings of mitmproxy: their records |
//! | `scan` | where a JSON value and its elements end, and which lists are read of one that is too large to be held |
//! | `records` | JSON values and recorded streams, one after the other, however large the file is |
//! | `forms` | what a record holds: requests, answers, histories, turns; a new form is one function and one row there |
//! | `thread` | a conversation in the neutral form: which call each result answers |
//! | `bodies` | one request or history: the rules of its API, and what a server made of it, which outranks them |
//! | `conversation` | which conversation a request belongs to, and its calls |
//! | `answered` | what came back of an answer in the next requests: its calls and its text |
//! | `items` | how the items of an answer of Responses came back |
//! | `exchanges` | requests and histories in their order: what one shows of another |
//! | `seen` | the sound requests that others begin with, so that only what is new in those is read |
//! | `events`, `pairing` | event logs: each event, and which call a result answers |
//! | `document` | documents |
//! | `finding` | what is found, where, and how it is handed on |
//! | `rules` | how bad it is to break a rule, and what to do |
//! | `structure` | files of no known form, by which ids link |
//! | `proposal` | a row for such a file |
//! | `order` | exports that have their newest records first |
//! | `log` | what is judged across the records of a file |
//! | `options` | how to judge |
//! | `check` | all of it in order |

mod answered;
mod bodies;
mod check;
mod containers;
mod conversation;
mod document;
mod events;
mod exchanges;
mod finding;
mod forms;
mod input;
mod items;
mod log;
mod options;
mod order;
mod pairing;
mod proposal;
mod records;
mod rules;
mod scan;
mod seen;
mod structure;
mod thread;

pub use check::{LogFiles, by_numbers, check, check_bytes, check_file, check_folder};
pub use finding::{Element, Finding, FormCount, Level, Place, Report, Sink, Skipped, Summary};
pub use forms::FormRow;
pub use options::CheckOptions;
pub use rules::rule_text;
