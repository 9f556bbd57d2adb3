//! The `<thread>` document: escaping, writing, and the strict reader.

mod escape;
mod read;
mod write;

pub(crate) use read::{is_space, normalize, resolve};
pub(crate) use write::{join, text_of, type_attribute};

pub use escape::{escape_attribute, escape_text, is_xml_char};
pub use read::{Document, Element, read_thread, split_response_prefix};
pub use write::{SerializeOptions, serialize_thread};
