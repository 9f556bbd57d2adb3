//! Server-sent events: written, and read from bytes that come in any pieces.
//!
//! ```
//! use threadspec_apis::sse;
//! let mut bytes = sse::comment("keep-alive", false);
//! bytes.extend(sse::event(Some("ping"), r#"{"type":"ping"}"#, false));
//! assert_eq!(bytes, b": keep-alive\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\n");
//! let mut parser = sse::SseParser::default();
//! let events: Vec<sse::SseEvent> = bytes.iter().flat_map(|&byte| parser.push(&[byte])).collect();
//! assert_eq!(events, [sse::SseEvent { name: Some("ping".into()), data: r#"{"type":"ping"}"#.into() }]);
//! assert!(parser.is_between_events());
//! ```

mod parser;
mod writer;

pub use parser::{SseEvent, SseParser};
pub use writer::{comment, event};
