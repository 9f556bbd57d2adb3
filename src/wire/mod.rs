//! Messages as LangChain, OpenAI and Anthropic write them, and threads from OpenAI-style transcripts.
//!
//! Each `to_…` writes what the other side accepts; each `from_…` reads leniently what real logs hold: extra members are
//! ignored, `null` means absent, and a text may be a list of text parts. What a thread cannot hold, such as an image, is
//! refused with an error that names the message and the field, never dropped.
//!
//! | form | what it is | to and from |
//! |---|---|---|
//! | LangChain | stored messages, `mapStoredMessagesToChatMessages` and `messages_from_dict` | [`to_langchain`], [`from_langchain`] |
//! | OpenAI | `messages` of a chat completions request | [`to_openai`], [`from_openai`], [`events_from_openai`] |
//! | OpenAI Responses | `input` items of a Responses request | [`to_openai_responses`] |
//! | Anthropic | `system` and `messages` of a messages request | [`to_anthropic`], [`from_anthropic`] |
//!
//! Providers accept only lists in which every call is answered at once (PROVIDER-1): the lists that
//! [`build_messages`](crate::build_messages) makes in the hardened profile. The writers see to what providers demand beyond that
//! of ids, names, texts and the order of roles ([`provider_rules`](crate::oracle::provider_rules)).

mod anthropic;
mod field;
mod fit;
mod langchain;
mod openai;
mod responses;

pub use anthropic::{from_anthropic, to_anthropic};
pub use langchain::{from_langchain, to_langchain};
pub use openai::{TranscriptReader, events_from_openai, from_openai, to_openai};
pub use responses::to_openai_responses;

use crate::input::{JsonElement, read_elements};
use crate::{Error, Event, Field, fast};
use serde_json::Value;

/// Reads a log of events or an OpenAI-style transcript, whichever the text is.
///
/// It is a transcript if its first element that is JSON has a `role` and no `type`; then it is read as
/// [`events_from_openai`] does. Everything else is read as [`read_events`](crate::read_events) does.
///
/// ```
/// use threadspec::{Event, wire::read_transcript};
/// let log = r#"[{"type": "message", "role": "user", "content": "Hi", "iteration": 0}]"#;
/// let transcript = r#"{"model": "some-model", "messages": [{"role": "user", "content": "Hi"}]}"#;
/// assert_eq!(read_transcript(log)?, [Event::user(0, "Hi")]);
/// assert_eq!(read_transcript(transcript)?, [Event::user(0, "Hi")]);
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// As [`read_events`](crate::read_events) and [`events_from_openai`].
pub fn read_transcript(json: &str) -> Result<Vec<Event>, Error> {
    if let Some(events) = fast::input::read(json) {
        return Ok(events);
    }
    let elements = read_elements(json, LISTS)?;
    let is_transcript = elements.iter().flatten().next().is_some_and(|JsonElement { value, .. }| {
        let has = |name| value.get(name).is_some();
        has("role") && !has("type")
    });
    if is_transcript {
        return openai::events_of(elements);
    }
    elements.into_iter().map(|element| element?.read(Event::from_json)).collect()
}

/// The members of an object that hold the elements of a log.
const LISTS: &[&str] = &["events", "messages"];

/// Reads each message of a list, and adds its position to an error.
fn read_each<T>(messages: &Value, mut read: impl FnMut(&Field<'_>) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let messages = messages.as_array().ok_or_else(|| Error::input("expected an array of messages"))?;
    let read = |(position, message)| {
        let message = Field::root(message, "message");
        message
            .object()
            .and_then(|_| read(&message))
            .map_err(|error| Error::input(format!("message {position}: {error}")))
    };
    messages.iter().enumerate().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogates::mark_surrogates;
    use crate::{Message, ToolCall};

    #[test]
    fn a_character_that_looks_like_a_mark_is_sent_as_it_is() {
        let sent = "{\"\u{10d9ff}\":[\"\u{10fffe}\u{10d9ff}\"]}";
        let args = serde_json::from_str(&mark_surrogates(sent)).expect("marked arguments");
        let call = ToolCall { id: "a".to_owned(), name: "t".to_owned(), args };
        let messages = [
            Message::human("Go."),
            Message::Ai { content: String::new(), tool_calls: vec![call] },
            Message::tool("a", ""),
        ];
        let texts = [
            to_openai(&messages).expect("messages")[1]["tool_calls"][0]["function"]["arguments"].clone(),
            to_openai_responses(&messages).expect("items")[1]["arguments"].clone(),
            to_anthropic(&messages).expect("a request")["messages"][1]["content"][0]["input"].to_string().into(),
        ];
        assert_eq!(texts, [sent, sent, sent]);
    }

    #[test]
    fn a_log_is_told_from_a_transcript_by_its_elements() {
        const EVENT: &str = r#"{"type":"message","role":"user","content":"Hi","iteration":0}"#;
        const MESSAGE: &str = r#"{"role":"user","content":"Hi"}"#;
        for element in [EVENT, MESSAGE] {
            for json in [
                format!("[{element},{element}]"),
                format!("{{\"events\":[{element},{element}]}}"),
                format!("{{\"model\":\"x\",\"messages\":[{element},{element}]}}"),
                format!("\u{feff}{element}\n\n{element}\n"),
            ] {
                assert_eq!(read_transcript(&json), Ok(vec![Event::user(0, "Hi"), Event::user(0, "Hi")]), "{json}");
            }
            assert_eq!(read_transcript(element), Ok(vec![Event::user(0, "Hi")]));
        }
        assert_eq!(read_transcript("[]"), Ok(vec![]));
    }

    #[test]
    fn a_fault_is_reported_in_the_terms_of_what_was_read() {
        for (json, message) in [
            (
                "{\"role\":\"user\"}\n{\"role\":\"boss\"}",
                "event 1 (line 2): role: unknown role \"boss\", expected \"system\", \"developer\", \"user\", \
                 \"assistant\" or \"tool\"",
            ),
            ("{\"role\":\"user\"}\n{\"role\":", "event 1 (line 2): not readable as JSON: EOF while parsing a value"),
            ("[{\"type\":\"message\"}]", "event 0 (line 1): role: missing, expected a string"),
            ("[7]", "event 0 (line 1): event: expected an object, found a number"),
            ("{\"messages\":{}}", "messages: expected an array of messages"),
        ] {
            assert_eq!(read_transcript(json).expect_err(json).to_string(), message);
        }
    }
}
