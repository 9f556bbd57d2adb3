//! Converts messages to and from the forms of LangChain, OpenAI and Anthropic, and reads threads from OpenAI-style transcripts.

mod anthropic;
mod fit;
mod langchain;
mod openai;
mod responses;

pub use anthropic::{from_anthropic, to_anthropic};
pub use langchain::{from_langchain, to_langchain};
pub use openai::{TranscriptReader, events_from_openai, from_openai, to_openai};
pub use responses::to_openai_responses;

use crate::input::{JsonElement, read_elements};
use crate::{Error, Event, Field, ToolCall, fast};
use serde_json::{Map, Value};
use std::borrow::Cow;

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

// Reads members as real logs hold them: what is absent is empty, and a text may be a list of its parts.

impl<'a> Field<'a> {
    /// The elements of an array; none if absent or null.
    fn list(&self) -> Result<Vec<Self>, Error> {
        self.optional().map_or(Ok(Vec::new()), |list| Ok(list.elements()?.collect()))
    }

    /// A text: a string, or a list of text parts, which are joined by LF. Empty if absent.
    fn text(&self) -> Result<String, Error> {
        Ok(self.texts(&[])?.join("\n"))
    }

    /// The parts of a text, without those of the types to skip.
    fn texts(&self, skip: &[&str]) -> Result<Vec<Cow<'a, str>>, Error> {
        if self.is_string() {
            return Ok(vec![self.string()?]);
        }
        let parts = self.list()?.into_iter();
        parts.filter(|part| !skip.contains(&part.kind())).map(|part| part.text_part()).collect()
    }

    fn is_string(&self) -> bool {
        self.value().is_some_and(Value::is_string)
    }

    fn kind(&self) -> &'a str {
        self.value().and_then(|value| value.get("type")).and_then(Value::as_str).unwrap_or_default()
    }

    fn text_part(&self) -> Result<Cow<'a, str>, Error> {
        if self.is_string() {
            return self.string();
        }
        match &*self.get("type").string()? {
            "text" | "input_text" | "output_text" => self.get("text").string(),
            "refusal" => self.get("refusal").string(),
            _ => Err(self.not_for_a_thread()),
        }
    }

    /// The error about a part of a message that a thread has no place for.
    fn not_for_a_thread(&self) -> Error {
        let reason = format!("unexpected {:?}: a thread holds text and tool calls only", self.kind());
        self.get("type").error(reason)
    }

    /// A tool call whose arguments are a JSON object in this member.
    fn tool_call(&self, args: &str) -> Result<ToolCall, Error> {
        Ok(ToolCall {
            id: self.get("id").string()?.into_owned(),
            name: self.get("name").string()?.into_owned(),
            args: self.get(args).optional().map_or(Ok(Map::new()), |args| args.object().cloned())?,
        })
    }
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
