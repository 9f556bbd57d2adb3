//! The executable specification of agent threads: the reference implementation, and the oracles that judge any other.
//!
//! An agent's memory is a list of [`Event`]s. Before every model call a framework renders it, as one XML document
//! ([`serialize_thread`]) or as chat messages ([`build_messages`]), and runs a loop that appends to it
//! ([`agent::run_loop`]). Where the sources of the specification are silent, a [`Profile`] decides.
//!
//! ```
//! use threadspec::{Profile, SerializeOptions, oracle, read_events, read_thread, serialize_thread};
//!
//! let events = read_events(r#"[
//!     {"type": "tool_call", "toolName": "sh", "toolCallId": "a", "args": {"run": "ls"}, "iteration": 1},
//!     {"type": "tool_result", "toolCallId": "a", "result": "\u001b[34msrc\u001b[0m\r\n", "iteration": 1}
//! ]"#)?;
//! let options = SerializeOptions { profile: Profile::Hardened, ..Default::default() };
//! let document = serialize_thread(&events, &options);
//! assert_eq!(read_thread(&document)?.elements[1].text, "\u{fffd}[34msrc\u{fffd}[0m\r\n");
//! assert!(oracle::no_forgery(&events, &document, options.profile).is_ok());
//! # Ok::<(), threadspec::Error>(())
//! ```
//!
//! The specification is code that one can read, in this order:
//!
//! | files of `src/` | what it is |
//! |---|---|
//! | `event.rs`, `message.rs`, `profile.rs` | what goes in, what comes out, and the two readings of the sources |
//! | `ecma.rs`, `xml/escape.rs`, `xml/write.rs`, `context.rs` | the document and the messages, in their plain form ([`plain`]) |
//! | `agent/` | tool rounds and the outer loop, with scripted models, tools and verifiers ([`agent`]) |
//! | `session/` | several runs on one thread: what is kept, and what a run does with what the last one left ([`session`]) |
//! | `input.rs`, `xml/read.rs` | reading: logs of events, and documents as strictly as XML 1.0 asks for |
//! | `oracle/` | the properties that every implementation's output must have ([`oracle`]) |
//! | `wire/` | messages in the forms of LangChain, OpenAI and Anthropic ([`wire`]) |
//! | `error.rs`, `field.rs`, `surrogates.rs`, `ids.rs` | what the above use: errors, paths into JSON, lone surrogates in JSON text ([`surrogates`]), new ids |
//! | `fast/` | the same as the plain forms in less time, for threads that grow, too: what the root exports |
//!
//! Clauses are named in capitals (`ESC-1`, `MSG-RESULT`); `golden/clauses.json` in the repository has their texts.

#![forbid(unsafe_code)]

pub mod agent;
mod context;
mod ecma;
mod error;
mod event;
mod fast;
mod field;
mod ids;
mod input;
mod message;
pub mod oracle;
mod profile;
pub mod session;
pub mod surrogates;
pub mod wire;
mod xml;

pub use context::{ContextMode, ContextOptions};
pub use ecma::{ecma_string, json_stringify};
pub use error::Error;
pub use event::{Event, EventKind, EventType, Role};
pub use fast::{
    MessageBuilder, ThreadStream, ThreadWriter, build_messages, escape_attribute, escape_text, escape_text_into,
    escape_xml, read_thread, serialize_thread, write_thread,
};
pub use field::{Field, MemberLookup};
pub use input::{EventReader, read_each_event, read_event, read_events, read_json};
pub use message::{Message, ToolCall};
pub use profile::Profile;
pub use xml::{Document, Element, SerializeOptions, is_xml_char, split_response_prefix};

/// The specification: each function as a person writes it from the clauses, which its source names.
///
/// The functions of the same names in the root give the same for every input, errors included, and are the ones to use: they take a
/// fraction of the time, and never the square of a thread's length, as some of these do. Property tests and a fuzz target hold both
/// forms equal.
///
/// Two things have no plain form of their own: reading a log, since [`read_each_event`] always takes the plain way, and the
/// conversions of ECMAScript ([`json_stringify`], [`ecma_string`]), which are plain already.
///
/// ```
/// use threadspec::{Event, Profile, SerializeOptions, plain, serialize_thread};
/// let thread = [Event::user(0, "Is 1 < 2?")];
/// for profile in Profile::ALL {
///     let options = SerializeOptions { profile, ..Default::default() };
///     assert_eq!(serialize_thread(&thread, &options), plain::serialize_thread(&thread, &options));
/// }
/// ```
pub mod plain {
    pub use crate::context::build_messages;
    pub use crate::xml::{escape_attribute, escape_text, read_thread, serialize_thread};
}

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
