//! Everything that is wrong with the logs, documents and requests that people have: the work of `threadspec check`.
//!
//! [`check`](fn@check) reads one file, finds out what it is, and hands on what is wrong with it, with line and event, as soon as it is found.
//! What is right is the library's to say, by its oracles and the rules of the model APIs; this crate brings them to files of any form,
//! wrapping and size. A log is judged in stretches of about a megabyte, while it is read: JSON Lines of any size take the memory of a few
//! stretches.
//!
//! ```
//! use threadspec_logs::{Diagnostic, CheckOptions, Diagnostics, check};
//!
//! let (mut what, mut found) = (String::new(), Vec::new());
//! let mut begin = |about: &str| what = about.to_owned();
//! let mut find = |diagnostics: &[Diagnostic]| found.extend_from_slice(diagnostics);
//! let mut diagnostics = Diagnostics::new(&mut begin, &mut find);
//! check(&br#"[{"type": "user_input", "content": "2 + 2?"}]"#[..], CheckOptions::default(), &mut diagnostics)?;
//! assert_eq!(what, "an event log, profile literal");
//! assert_eq!(found[0].text, "event 0 (line 1): type: unknown event type \"user_input\"");
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | module | what it is |
//! |---|---|
//! | `check` | finds out what a file is, and has it checked |
//! | `source`, `list` | a file in chunks, and the elements of a log, however they are wrapped |
//! | `events`, `pairing` | logs: each event, and which call a result answers |
//! | `document` | documents |
//! | `requests` | requests to model APIs, alone and in sequence |
//! | `diagnostics` | what is found, and how it is handed on |

mod check;
mod diagnostics;
mod document;
mod events;
mod list;
mod pairing;
mod requests;
mod source;

pub use check::{CheckOptions, check};
pub use diagnostics::{Diagnostic, Diagnostics};
