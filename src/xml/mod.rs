//! The `<thread>` document: escaping, writing, and the strict reader.

mod escape;
mod read;
mod read_usual;
mod write;

pub(crate) use read::first_forbidden;
pub(crate) use write::{ThreadLines, join};

pub use escape::{escape_attribute, escape_text, escape_text_into, escape_xml, is_xml_char};
pub use read::{Document, Element, read_thread, split_response_prefix};
pub use write::{SerializeOptions, ThreadStream, ThreadWriter, serialize_thread, write_thread};
