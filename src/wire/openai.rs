//! OpenAI chat completions.

use super::fit::{IdForm, fit};
use super::{LISTS, read_each};
use crate::ecma::json_stringify_object;
use crate::input::{JsonElement, read_elements};
use crate::surrogates::{mark_surrogates, unmark_surrogates};
use crate::{Error, Event, EventKind, Field, Message, Role, ToolCall};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::VecDeque;

/// Writes the `messages` of an OpenAI chat completions request. Arguments are JSON text as `JSON.stringify` writes it.
///
/// The API accepts the result for a list that [`build_messages`](crate::build_messages) makes in the hardened profile
/// ([`provider_rules`](crate::oracle::provider_rules)). Ids that are empty, too long or used before, and names that are not
/// 1 to 64 letters, digits, `_` and `-`, are replaced one to one, in order, so that a longer list begins with what a shorter
/// one became; a lone surrogate in arguments is U+FFFD. Other lists are written in the same way, and may be refused.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, ToolCall, wire::to_openai};
/// let args = json!({"city": "Oslo"}).as_object().cloned().unwrap_or_default();
/// let call = ToolCall { id: "a".into(), name: "weather".into(), args };
/// assert_eq!(
///     to_openai(&[Message::Ai { content: String::new(), tool_calls: vec![call] }, Message::tool("a", "Rain")])?,
///     json!([
///         {"role": "assistant", "content": "", "tool_calls": [
///             {"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{\"city\":\"Oslo\"}"}}
///         ]},
///         {"role": "tool", "tool_call_id": "a", "content": "Rain"}
///     ])
/// );
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) if there is nothing to send, or a text is longer than
/// providers take.
pub fn to_openai(messages: &[Message]) -> Result<Value, Error> {
    Ok(fit(messages, IdForm { longest: 40, plain: false })?.iter().map(write).collect())
}

/// Reads the messages of an OpenAI chat completions request or log.
///
/// - The role `developer` is `system`, and the legacy role `function` is `tool`.
/// - A `content` may be absent, or a list of text parts, which are joined by LF. A `refusal` is the text of an assistant
///   message that has no other.
/// - Arguments may be an object instead of its text; absent or empty ones are `{}`. Models also write arguments that are no
///   JSON object: so that no log is lost, they become `{"arguments": …}` with the text, or the value, as it was.
/// - Calls without an id (the legacy `function_call`, and some servers) get one, `unnamed_call_` and a number, and the
///   results without an id that follow answer them in turn.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::from_openai};
/// let messages = json!([{"role": "developer", "content": [{"type": "text", "text": "Be brief."}]}]);
/// assert_eq!(from_openai(&messages)?, [Message::system("Be brief.")]);
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) that names the message, the field and the reason.
pub fn from_openai(messages: &Value) -> Result<Vec<Message>, Error> {
    let mut reader = Reader::default();
    read_each(messages, |message| reader.message(message))
}

/// Reads an OpenAI-style transcript as a thread: a JSON array of messages, an object with `messages`, or JSON Lines.
///
/// Messages are read as [`from_openai`] does. An assistant message is its text, then its calls; an empty text next to calls
/// leaves no event. A transcript has no iterations, so they are counted: the thread begins at 0, and the next one begins
/// with the first assistant message, and with the first one after each user message.
///
/// ```
/// use threadspec::wire::events_from_openai;
/// let events = events_from_openai(r#"
///     {"role": "user", "content": "2+2?"}
///     {"role": "assistant", "tool_calls": [{"id": "a", "function": {"name": "add", "arguments": "{\"of\": [2, 2]}"}}]}
///     {"role": "tool", "tool_call_id": "a", "content": "4"}
///     {"role": "assistant", "content": "4."}
/// "#)?;
/// assert_eq!(events.iter().map(|event| event.iteration).collect::<Vec<_>>(), [0, 1, 1, 1]);
///
/// let error = events_from_openai(r#"[{"role": "assistant", "tool_calls": [{"id": "a"}]}]"#).unwrap_err();
/// assert_eq!(error.to_string(), "event 0 (line 1): tool_calls[0].function.name: missing, expected a string");
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// The first fault, as [`read_events`](crate::read_events) reports it: the index is the position in the transcript.
pub fn events_from_openai(transcript: &str) -> Result<Vec<Event>, Error> {
    events_of(read_elements(transcript, LISTS)?)
}

pub(super) fn events_of(elements: Vec<Result<JsonElement, Error>>) -> Result<Vec<Event>, Error> {
    let mut reader = TranscriptReader::default();
    let mut events = Vec::new();
    for element in elements {
        events.extend(element?.read(|message| reader.read(message))?);
    }
    Ok(events)
}

/// Reads an OpenAI-style transcript message by message, as [`events_from_openai`] does.
///
/// A message that cannot be read costs only itself.
#[derive(Debug)]
pub struct TranscriptReader {
    messages: Reader,
    iteration: u64,
    is_prompted: bool,
}

impl Default for TranscriptReader {
    fn default() -> Self {
        Self { messages: Reader::default(), iteration: 0, is_prompted: true }
    }
}

impl TranscriptReader {
    /// The events of the next message, as [`read_json`](crate::read_json) has read it.
    ///
    /// # Errors
    /// As [`from_openai`], without the position.
    pub fn read(&mut self, message: &Value) -> Result<Vec<Event>, Error> {
        let message = self.messages.message(&Field::root(message, "message"))?;
        match message {
            Message::Human { .. } => self.is_prompted = true,
            Message::Ai { .. } if self.is_prompted => {
                self.iteration += 1;
                self.is_prompted = false;
            }
            _ => {}
        }
        let iteration = self.iteration;
        Ok(kinds(message).into_iter().map(|kind| Event { iteration, kind }).collect())
    }
}

/// Returns the content of a message, in the terms of events.
fn kinds(message: Message) -> Vec<EventKind> {
    let (role, content, tool_calls) = match message {
        Message::System { content } => (Role::System, content, Vec::new()),
        Message::Human { content } => (Role::User, content, Vec::new()),
        Message::Ai { content, tool_calls } => (Role::Assistant, content, tool_calls),
        Message::Tool { tool_call_id, content } => {
            return vec![EventKind::ToolResult { tool_call_id, result: Some(content.into()) }];
        }
    };
    let text = (tool_calls.is_empty() || !content.is_empty()).then_some(EventKind::Message { role, content });
    let calls = tool_calls.into_iter().map(|ToolCall { id, name, args }| EventKind::ToolCall {
        tool_name: name,
        tool_call_id: id,
        args,
    });
    text.into_iter().chain(calls).collect()
}

fn write(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::Human { content } => json!({"role": "user", "content": content}),
        Message::Ai { content, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": content})
        }
        Message::Ai { content, tool_calls } => {
            let tool_calls: Vec<Value> = tool_calls.iter().map(write_call).collect();
            json!({"role": "assistant", "content": content, "tool_calls": tool_calls})
        }
        Message::Tool { tool_call_id, content } => {
            json!({"role": "tool", "tool_call_id": tool_call_id, "content": content})
        }
    }
}

fn write_call(ToolCall { id, name, args }: &ToolCall) -> Value {
    json!({"id": id, "type": "function", "function": {"name": name, "arguments": json_stringify_object(args)}})
}

/// Reads messages in order and remembers the calls that have no id of their own.
#[derive(Debug, Default)]
struct Reader {
    unnamed: usize,
    unanswered: VecDeque<String>,
}

impl Reader {
    fn message(&mut self, message: &Field<'_>) -> Result<Message, Error> {
        message.object()?;
        let role = message.get("role");
        let content = message.get("content").text()?;
        Ok(match &*role.string()? {
            "system" | "developer" => Message::System { content },
            "user" => Message::Human { content },
            "assistant" => {
                let refusal = message.get("refusal").text()?;
                let content = if content.is_empty() { refusal } else { content };
                Message::Ai { content, tool_calls: self.tool_calls(message)? }
            }
            "tool" | "function" => {
                let id = message.get("tool_call_id");
                let unnamed = if id.optional().is_none() { self.unanswered.pop_front() } else { None };
                let tool_call_id = unnamed.map_or_else(|| id.string().map(Cow::into_owned), Ok)?;
                Message::Tool { tool_call_id, content }
            }
            other => {
                let roles = r#""system", "developer", "user", "assistant" or "tool""#;
                return Err(role.error(format!("unknown role {other:?}, expected {roles}")));
            }
        })
    }

    fn tool_calls(&mut self, message: &Field<'_>) -> Result<Vec<ToolCall>, Error> {
        self.unanswered.clear();
        let mut calls = Vec::new();
        for call in message.get("tool_calls").list()? {
            let id = call.get("id").optional().map(Field::string).transpose()?;
            calls.push(self.tool_call(id.as_deref(), &call.get("function"))?);
        }
        let legacy = message.get("function_call");
        if calls.is_empty() && legacy.optional().is_some() {
            calls.push(self.tool_call(None, &legacy)?);
        }
        Ok(calls)
    }

    fn tool_call(&mut self, id: Option<&str>, function: &Field<'_>) -> Result<ToolCall, Error> {
        let name = function.get("name").string()?.into_owned();
        let args = arguments(function.get("arguments").value().unwrap_or(&Value::Null));
        let id = id.map_or_else(|| self.unnamed_call(), str::to_owned);
        Ok(ToolCall { id, name, args })
    }

    fn unnamed_call(&mut self) -> String {
        let id = format!("unnamed_call_{}", self.unnamed);
        self.unnamed += 1;
        self.unanswered.push_back(id.clone());
        id
    }
}

fn arguments(value: &Value) -> Map<String, Value> {
    let read = match value {
        Value::Null => return Map::new(),
        Value::String(text) if text.trim().is_empty() => return Map::new(),
        Value::String(text) => serde_json::from_str(&mark_surrogates(&unmark_surrogates(text))).ok(),
        Value::Object(members) => Some(members.clone()),
        _ => None,
    };
    read.unwrap_or_else(|| Map::from_iter([("arguments".to_owned(), value.clone())]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, args: &Value) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "t".to_owned(), args: args.as_object().cloned().unwrap_or_default() }
    }

    fn calls(content: &str, tool_calls: Vec<ToolCall>) -> Message {
        Message::Ai { content: content.to_owned(), tool_calls }
    }

    fn args_of(arguments: &Value) -> Value {
        let call = json!({"id": "a", "function": {"name": "t", "arguments": arguments}});
        let messages = from_openai(&json!([{"role": "assistant", "tool_calls": [call]}])).expect("the log is kept");
        messages[0].tool_calls()[0].args.clone().into()
    }

    #[test]
    fn what_is_written_reads_back_as_it_was() {
        let messages = vec![
            Message::system("Be brief."),
            Message::human(""),
            Message::ai("text"),
            calls("both", vec![call("a", &json!({"2": [1.5, null], "1": "\"\n"})), call("b", &json!({}))]),
            Message::tool("b", " "),
            Message::tool("a", "\u{1}"),
        ];
        let written = to_openai(&messages).expect("there is something");
        assert_eq!(written[3]["tool_calls"][0]["function"]["arguments"], r#"{"1":"\"\n","2":[1.5,null]}"#);
        assert_eq!(from_openai(&written), Ok(messages));
    }

    #[test]
    fn real_logs_are_read_leniently() {
        let messages = json!([
            {"role": "developer", "content": "D", "name": "x"},
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": ""}, "b"]},
            {"role": "assistant", "content": null, "refusal": "No.", "tool_calls": null, "audio": null},
            {"role": "assistant", "refusal": null, "tool_calls": [
                {"id": "a", "type": "function", "index": 0, "function": {"name": "t", "arguments": {"n": 1}}}
            ]},
            {"role": "tool", "tool_call_id": "a", "name": "t", "content": [{"type": "text", "text": "r"}]},
        ]);
        let expected = vec![
            Message::system("D"),
            Message::human("a\n\nb"),
            Message::ai("No."),
            calls("", vec![call("a", &json!({"n": 1}))]),
            Message::tool("a", "r"),
        ];
        assert_eq!(from_openai(&messages), Ok(expected));
    }

    #[test]
    fn results_without_an_id_answer_the_calls_without_an_id_in_turn() {
        let function = json!({"name": "t", "arguments": "{}"});
        let named = json!({"id": "a", "function": function});
        let unnamed = json!({"function": function});
        let messages = json!([
            {"role": "assistant", "content": "", "function_call": function},
            {"role": "function", "name": "t", "content": "0"},
            {"role": "assistant", "tool_calls": [unnamed, named, unnamed]},
            {"role": "tool", "content": "1"},
            {"role": "tool", "tool_call_id": "a", "content": "A"},
            {"role": "tool", "content": "2"},
        ]);
        let none = json!({});
        let expected = vec![
            calls("", vec![call("unnamed_call_0", &none)]),
            Message::tool("unnamed_call_0", "0"),
            calls("", vec![call("unnamed_call_1", &none), call("a", &none), call("unnamed_call_2", &none)]),
            Message::tool("unnamed_call_1", "1"),
            Message::tool("a", "A"),
            Message::tool("unnamed_call_2", "2"),
        ];
        assert_eq!(from_openai(&messages), Ok(expected));

        let forgotten = json!([
            {"role": "assistant", "tool_calls": [unnamed]},
            {"role": "assistant", "content": "Never mind."},
            {"role": "tool", "content": "?"},
        ]);
        let error = from_openai(&forgotten).expect_err("the result answers nothing");
        assert_eq!(error.to_string(), "message 2: tool_call_id: missing, expected a string");
    }

    #[test]
    fn no_arguments_lose_a_log() {
        for (arguments, args) in [
            (json!(r#"{"a":{"b":[1]}}"#), json!({"a": {"b": [1]}})),
            (json!(r#"{"cut":"\ud83d"}"#), json!({"cut": "\u{10d83d}"})),
            (json!(""), json!({})),
            (json!(null), json!({})),
            (json!({"a": 1}), json!({"a": 1})),
            (json!(r#"{"a":"#), json!({"arguments": r#"{"a":"#})),
            (json!("[1]"), json!({"arguments": "[1]"})),
            (json!("null"), json!({"arguments": "null"})),
            (json!(r#"{"a":1e400}"#), json!({"arguments": r#"{"a":1e400}"#})),
            (json!([1]), json!({"arguments": [1]})),
        ] {
            assert_eq!(args_of(&arguments), args, "{arguments}");
        }
    }

    #[test]
    fn errors_name_message_and_field() {
        for (message, fault) in [
            (json!("hi"), "message: expected an object, found a string"),
            (json!({}), "role: missing, expected a string"),
            (json!({"role": "user", "content": 7}), "content: expected an array, found a number"),
            (
                json!({"role": "user", "content": ["a", {"type": "image_url", "image_url": {}}]}),
                "content[1].type: unexpected \"image_url\": a thread holds text and tool calls only",
            ),
            (json!({"role": "assistant", "tool_calls": {}}), "tool_calls: expected an array, found an object"),
            (
                json!({"role": "assistant", "tool_calls": [{"id": 1, "function": {"name": "t"}}]}),
                "tool_calls[0].id: expected a string, found a number",
            ),
            (json!({"role": "tool", "content": "4"}), "tool_call_id: missing, expected a string"),
        ] {
            let error = from_openai(&json!([{"role": "user"}, message])).expect_err("the message is at fault");
            assert_eq!(error.to_string(), format!("message 1: {fault}"));
            assert!(error.is_invalid_input());
        }
        assert!(from_openai(&json!({})).is_err());
    }

    #[test]
    fn a_transcript_becomes_a_thread_in_order() {
        let function = |id: &str| json!({"id": id, "function": {"name": "t", "arguments": "{}"}});
        let transcript = json!([
            {"role": "system", "content": "S"},
            {"role": "user", "content": "U"},
            {"role": "assistant", "content": "Both.", "tool_calls": [function("a"), function("b")]},
            {"role": "tool", "tool_call_id": "b", "content": "B"},
            {"role": "assistant", "content": "", "tool_calls": [function("c")]},
            {"role": "user", "content": "Go on."},
            {"role": "user", "content": "Please."},
            {"role": "assistant", "content": ""},
        ]);
        let message = |iteration: u64, role, content: &str| Event {
            iteration,
            kind: EventKind::Message { role, content: content.to_owned() },
        };
        let tool_call = |id: &str| Event {
            iteration: 1,
            kind: EventKind::ToolCall { tool_name: "t".to_owned(), tool_call_id: id.to_owned(), args: Map::new() },
        };
        let result = EventKind::ToolResult { tool_call_id: "b".to_owned(), result: Some("B".into()) };
        let expected = vec![
            message(0, Role::System, "S"),
            message(0, Role::User, "U"),
            message(1, Role::Assistant, "Both."),
            tool_call("a"),
            tool_call("b"),
            Event { iteration: 1, kind: result },
            tool_call("c"),
            message(1, Role::User, "Go on."),
            message(1, Role::User, "Please."),
            message(2, Role::Assistant, ""),
        ];
        assert_eq!(events_from_openai(&transcript.to_string()), Ok(expected));
    }

    #[test]
    fn errors_of_a_transcript_name_index_line_and_field() {
        let error = events_from_openai("{\"role\":\"user\"}\n\n{\"role\":\"tool\"}").expect_err("no call to answer");
        assert_eq!((error.index(), error.line(), error.field()), (Some(1), Some(3), Some("tool_call_id")));
        assert!(error.is_invalid_event());
    }
}
