//! The executable specification of agent threads.
#![warn(missing_docs)]

pub mod agent;
mod context;
mod ecma;
mod error;
mod event;
mod input;
pub mod json;
mod message;
pub mod oracle;
mod profile;
mod xml;

pub use context::{ContextMode, ContextOptions, build_messages};
pub use ecma::{ecma_string, json_stringify};
pub use error::Error;
pub use event::{Event, EventKind, Role};
pub use input::{read_each_event, read_events};
pub use message::{Message, ToolCall};
pub use profile::Profile;
pub use xml::{
    Document, Element, SerializeOptions, escape_attribute, escape_text, escape_xml, is_xml_char, read_thread,
    serialize_thread, split_response_prefix, write_thread,
};
