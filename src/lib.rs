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
//! | module | what it is |
//! |---|---|
//! | (root) | events and how to read them, the document and its strict reader, messages, ECMAScript conversions |
//! | [`agent`] | tool rounds and the outer loop, with scripted models, tools and verifiers |
//! | [`oracle`] | the properties that every implementation's output must have |
//! | [`wire`] | messages in the forms of LangChain, OpenAI and Anthropic |
//! | [`surrogates`] | lone surrogates in JSON text: replaced, or kept |
//!
//! Clauses are named in capitals (`ESC-1`, `MSG-RESULT`); `golden/clauses.json` in the repository has their texts.

pub mod agent;
mod buffer;
mod context;
mod ecma;
mod error;
mod event;
mod field;
mod ids;
mod input;
mod message;
pub mod oracle;
mod profile;
pub mod surrogates;
mod typed;
pub mod wire;
mod xml;

pub use context::{ContextMode, ContextOptions, MessageBuilder, build_messages};
pub use ecma::{ecma_string, json_stringify};
pub use error::Error;
pub use event::{Event, EventKind, EventType, Role};
pub use field::Field;
pub use input::{EventReader, read_each_event, read_event, read_events, read_json};
pub use message::{Message, ToolCall};
pub use profile::Profile;
pub use xml::{
    Document, Element, SerializeOptions, ThreadStream, ThreadWriter, escape_attribute, escape_text, escape_text_into,
    escape_xml, is_xml_char, read_thread, serialize_thread, split_response_prefix, write_thread,
};

/// The README's examples run as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
