//! The fast forms: what the crate's root exports gives the same results as the plain forms, in less time and for threads that grow.
//!
//! Nobody needs this to understand the specification. `laws::plain` of `threadspec-campaign` holds both forms equal, in property
//! tests and as a libFuzzer target.

mod escape;
pub(crate) mod input;
mod messages;
mod read;
mod write;

pub(crate) use read::first_forbidden;

pub use escape::{escape_attribute, escape_text, escape_text_into, escape_xml};
pub use messages::{MessageBuilder, build_messages};
pub use read::read_thread;
pub use write::{ThreadStream, ThreadWriter, serialize_thread, write_thread};
