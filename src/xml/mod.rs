//! The `<thread>` document: escaping, writing, and the strict reader.

mod escape;
mod read;
mod write;

pub use escape::{escape_attribute, escape_text, escape_xml, is_xml_char};
pub use read::{Document, Element, read_thread, split_response_prefix};
pub(crate) use write::join;
pub use write::{SerializeOptions, serialize_thread, write_thread};
