//! Reads and writes requests to the four model APIs (OpenAI's chat completions and Responses, Anthropic's messages, Gemini's
//! `generateContent`) and their answers, in typed forms.
//!
//! A checker of logs, a provider that judges, and a client all need the same reading of each API, so it is here once. A request's body
//! becomes an [`ApiRequest`], whose messages are those of `threadspec`'s protocol, whatever the API calls them; one [`ModelAnswer`] is
//! written for every API, plain or as the events of a stream, and read back from either. Nothing here opens a socket, reads a clock or
//! starts a process, and all of it builds for wasm32.
//!
//! ```
//! use threadspec::oracle::Api;
//! use threadspec::read_json;
//! use threadspec_apis::ApiRequest;
//!
//! let body = read_json(r#"{"model": "claude-sonnet-5", "max_tokens": 9, "system": "Be brief.", "messages": [
//!     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_a", "content": "r1"}]}]}"#)?;
//! let request = ApiRequest::read(Api::Anthropic, &body);
//! let messages: Vec<String> = request.messages.iter().map(|message| message.to_json().to_string()).collect();
//! assert_eq!(messages, [
//!     r#"{"type":"system","content":"Be brief."}"#,
//!     r#"{"type":"tool","content":"r1","tool_call_id":"toolu_a"}"#,
//! ]);
//! # Ok::<(), threadspec::Error>(())
//! ```
//!
//! Strings are marked data ([`threadspec::surrogates`]) wherever a body or an answer is read or written, so that half a surrogate pair
//! stays one.
//!
//! | module | what it is |
//! |---|---|
//! | [`form`] | which API a body is for, and where logs wrap it |
//! | [`follow`] | which request goes on from which, and where a prompt cache was lost |
//! | `request` | a body as messages, tools and options |
//! | `answer` | what a model answers: written plain and as events, in every shape |
//! | `reading` | answers read back, plain and event by event, and what came whole of one that broke off |
//! | `failure` | errors in the providers' words |
//! | `rule_answer` | the refusal of a request that breaks a rule of the API |
//! | [`sse`] | streams of events, written and read |
//! | `usage` | how many tokens requests and answers have, and what a cache has of them |
//! | `error` | why an answer cannot be read |
//! | `header` | the headers of answers, and new ids |

mod answer;
mod error;
mod failure;
pub mod follow;
pub mod form;
mod header;
mod reading;
mod request;
mod rule_answer;
pub mod sse;
mod usage;

pub use answer::{
    Cut, EventPart, Finish, ModelAnswer, NAMESPACE_END, Pieces, SaidCall, StreamEvent, StreamShape, Thinking,
    argument_text, json_text, kept_events,
};
pub use error::Error;
pub use failure::ApiError;
pub use header::{IdSource, response_headers, rfc3339};
pub use reading::{AnswerEnd, AnswerReader, ReadAnswer, read_answer};
pub use request::{
    ApiRequest, DeclaredTool, ItemReference, OpaqueContent, OpaquePart, RequestNote, ToolChoice, WireCall, WireMessage,
};
pub use rule_answer::{PLACEHOLDERS, is_refused, rule_answer, rule_applies, rule_context, rule_refuses};
pub use threadspec_judge::protocol::{ApiFacts, facts};
pub use usage::{PromptLog, PromptText, Usage, tokens};
