//! Events: the entries of an agent's memory, and their JSON form.

use crate::surrogates::{marked, without_marks};
use crate::{Error, Field};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// One entry of an agent's memory.
///
/// Its JSON form (through `serde`, or [`read_events`](crate::read_events) for whole logs) is the object with a `type`, an
/// `iteration` and the fields of that type. Unknown fields are ignored (INP-2).
///
/// ```
/// use threadspec::{Event, EventKind, Role};
/// let event: Event = serde_json::from_str(
///     r#"{"type":"message","role":"user","content":"2+2?","iteration":0,"timestamp":1700000000000}"#)?;
/// assert_eq!(event.kind, EventKind::Message { role: Role::User, content: "2+2?".into() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// The outer iteration that the event belongs to: 0 to 2^53 - 1; the prompt is 0.
    pub iteration: u64,
    /// The content of the event.
    pub kind: EventKind,
}

/// The content of an [`Event`].
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// `message`: a turn of the conversation.
    Message {
        /// Who speaks.
        role: Role,
        /// The text.
        content: String,
    },
    /// `tool_call`: the model asks for a tool.
    ToolCall {
        /// The tool.
        tool_name: String,
        /// The id of the call that the result answers.
        tool_call_id: String,
        /// The arguments, in the order in which they were given.
        args: Map<String, Value>,
    },
    /// `tool_result`: what the tool returned.
    ToolResult {
        /// The call that it answers.
        tool_call_id: String,
        /// Any JSON value; `None` where JSON dropped JavaScript's `undefined`.
        result: Option<Value>,
    },
    /// `error`: something failed.
    Error {
        /// The error text.
        error: String,
        /// True if the loop went on.
        recoverable: bool,
    },
    /// `human_input_requested`: the agent asks a person.
    HumanInputRequested {
        /// The question.
        question: String,
    },
    /// `human_input_received`: the person's answer.
    HumanInputReceived {
        /// The answer.
        response: String,
    },
    /// `completion`: the run is over.
    Completion {
        /// The final text.
        result: String,
        /// True if a verifier confirmed it; absent in some logs.
        verified: Option<bool>,
    },
    /// `summary`: older iterations in short.
    Summary {
        /// The text.
        summary: String,
        /// The iterations that it represents.
        summarized_iterations: Vec<u64>,
    },
}

/// The ten types of events, one for each row of the event table: the `type` of an event or, for a message, its role.
///
/// ```
/// use threadspec::{Event, EventType};
/// assert_eq!(Event::user(0, "Hi").kind.event_type(), EventType::User);
/// assert_eq!("tool_call".parse(), Ok(EventType::ToolCall));
/// assert_eq!(EventType::ALL.len(), 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventType {
    /// A message of the user.
    User,
    /// A message of the model.
    Assistant,
    /// A message of the system.
    System,
    /// A [`EventKind::ToolCall`].
    ToolCall,
    /// A [`EventKind::ToolResult`].
    ToolResult,
    /// A [`EventKind::Error`].
    Error,
    /// A [`EventKind::HumanInputRequested`].
    HumanInputRequested,
    /// A [`EventKind::HumanInputReceived`].
    HumanInputReceived,
    /// A [`EventKind::Completion`].
    Completion,
    /// A [`EventKind::Summary`].
    Summary,
}

/// Who speaks in a [`EventKind::Message`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// `user`.
    User,
    /// `assistant`.
    Assistant,
    /// `system`.
    System,
}

impl Event {
    /// The members of an event beside `type` and `iteration`, by its `type`.
    pub const FIELDS: [(&str, &[&str]); 8] = [
        ("message", &["role", "content"]),
        ("tool_call", &["toolName", "toolCallId", "args"]),
        ("tool_result", &["toolCallId", "result"]),
        ("error", &["error", "recoverable"]),
        ("human_input_requested", &["question"]),
        ("human_input_received", &["response"]),
        ("completion", &["result", "verified"]),
        ("summary", &["summary", "summarizedIterations"]),
    ];

    /// A user message.
    pub fn user(iteration: u64, content: impl Into<String>) -> Self {
        Self { iteration, kind: EventKind::Message { role: Role::User, content: content.into() } }
    }

    /// An assistant message.
    pub fn assistant(iteration: u64, content: impl Into<String>) -> Self {
        Self { iteration, kind: EventKind::Message { role: Role::Assistant, content: content.into() } }
    }

    /// The event that a JSON value describes; in arguments and structured results lone surrogates may be marked
    /// ([`surrogates`](crate::surrogates)).
    ///
    /// # Errors
    /// An [`Error`] with [`is_invalid_event`](Error::is_invalid_event) that names the field and the reason (INP-1).
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        Self::read(&Field::root(value, "event")).map_err(Error::of_event)
    }

    fn read(event: &Field<'_>) -> Result<Self, Error> {
        event.object()?;
        let text = |name: &str| event.get(name).string().map(Cow::into_owned);
        let kind = match &*text("type")? {
            "message" => {
                let role = match &*text("role")? {
                    "user" => Role::User,
                    "assistant" => Role::Assistant,
                    "system" => Role::System,
                    other => {
                        let reason = format!("unknown role {other:?}, expected \"user\", \"assistant\" or \"system\"");
                        return Err(event.get("role").error(reason));
                    }
                };
                EventKind::Message { role, content: text("content")? }
            }
            "tool_call" => EventKind::ToolCall {
                tool_name: text("toolName")?,
                tool_call_id: text("toolCallId")?,
                args: event.get("args").object()?.clone(),
            },
            "tool_result" => EventKind::ToolResult {
                tool_call_id: text("toolCallId")?,
                result: event.get("result").value().map(as_result),
            },
            "error" => EventKind::Error { error: text("error")?, recoverable: event.get("recoverable").boolean()? },
            "human_input_requested" => EventKind::HumanInputRequested { question: text("question")? },
            "human_input_received" => EventKind::HumanInputReceived { response: text("response")? },
            "completion" => EventKind::Completion {
                result: text("result")?,
                verified: event.get("verified").value().and_then(Value::as_bool),
            },
            "summary" => EventKind::Summary {
                summary: text("summary")?,
                summarized_iterations: event
                    .get("summarizedIterations")
                    .elements()?
                    .map(|iteration| iteration.integer())
                    .collect::<Result<_, _>>()?,
            },
            other => return Err(event.get("type").error(format!("unknown event type {other:?}"))),
        };
        Ok(Self { iteration: event.get("iteration").integer()?, kind })
    }

    /// The JSON value that describes the event: `type`, the fields of the type, `iteration`, and nothing else. Lone surrogates
    /// in data are marked, as in [`from_json`](Self::from_json).
    pub fn to_json(&self) -> Value {
        let iteration = self.iteration;
        match &self.kind {
            EventKind::Message { role, content } => {
                json!({"type": "message", "role": role.name(), "content": marked(content), "iteration": iteration})
            }
            EventKind::ToolCall { tool_name, tool_call_id, args } => json!({
                "type": "tool_call", "toolName": marked(tool_name), "toolCallId": marked(tool_call_id), "args": args, "iteration": iteration
            }),
            EventKind::ToolResult { tool_call_id, result: Some(result) } => {
                json!({"type": "tool_result", "toolCallId": marked(tool_call_id), "result": marked_result(result), "iteration": iteration})
            }
            EventKind::ToolResult { tool_call_id, result: None } => {
                json!({"type": "tool_result", "toolCallId": marked(tool_call_id), "iteration": iteration})
            }
            EventKind::Error { error, recoverable } => {
                json!({"type": "error", "error": marked(error), "recoverable": recoverable, "iteration": iteration})
            }
            EventKind::HumanInputRequested { question } => {
                json!({"type": "human_input_requested", "question": marked(question), "iteration": iteration})
            }
            EventKind::HumanInputReceived { response } => {
                json!({"type": "human_input_received", "response": marked(response), "iteration": iteration})
            }
            EventKind::Completion { result, verified: Some(verified) } => {
                json!({"type": "completion", "result": marked(result), "verified": verified, "iteration": iteration})
            }
            EventKind::Completion { result, verified: None } => {
                json!({"type": "completion", "result": marked(result), "iteration": iteration})
            }
            EventKind::Summary { summary, summarized_iterations } => json!({
                "type": "summary", "summary": marked(summary), "summarizedIterations": summarized_iterations, "iteration": iteration
            }),
        }
    }
}

impl EventType {
    /// Every type, in the order of the event table.
    pub const ALL: [Self; 10] = [
        Self::User,
        Self::Assistant,
        Self::System,
        Self::ToolCall,
        Self::ToolResult,
        Self::Error,
        Self::HumanInputRequested,
        Self::HumanInputReceived,
        Self::Completion,
        Self::Summary,
    ];

    /// The name in a log: a role or a `type`.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => Role::User.name(),
            Self::Assistant => Role::Assistant.name(),
            Self::System => Role::System.name(),
            Self::ToolCall => "tool_call",
            Self::ToolResult => "tool_result",
            Self::Error => "error",
            Self::HumanInputRequested => "human_input_requested",
            Self::HumanInputReceived => "human_input_received",
            Self::Completion => "completion",
            Self::Summary => "summary",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for EventType {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|known| known.name() == name);
        known.ok_or_else(|| Error::input(format!("unknown event type {name:?}")))
    }
}

impl EventKind {
    /// Returns its type, one of ten.
    pub fn event_type(&self) -> EventType {
        match self {
            Self::Message { role: Role::User, .. } => EventType::User,
            Self::Message { role: Role::Assistant, .. } => EventType::Assistant,
            Self::Message { role: Role::System, .. } => EventType::System,
            Self::ToolCall { .. } => EventType::ToolCall,
            Self::ToolResult { .. } => EventType::ToolResult,
            Self::Error { .. } => EventType::Error,
            Self::HumanInputRequested { .. } => EventType::HumanInputRequested,
            Self::HumanInputReceived { .. } => EventType::HumanInputReceived,
            Self::Completion { .. } => EventType::Completion,
            Self::Summary { .. } => EventType::Summary,
        }
    }
}

impl Role {
    /// The name in JSON: `user`, `assistant` or `system`.
    pub fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::System => "system",
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A tool's result as an event holds it: a text without marks, or structured data with them.
pub(crate) fn as_result(value: &Value) -> Value {
    match value {
        Value::String(text) => without_marks(text).into_owned().into(),
        structured => structured.clone(),
    }
}

fn marked_result(result: &Value) -> Cow<'_, Value> {
    match result {
        Value::String(text) => Cow::Owned(marked(text).into_owned().into()),
        structured => Cow::Borrowed(structured),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_has_the_fields_of_its_type() {
        let all = json!({
            "role": "user", "content": "", "toolName": "", "toolCallId": "", "args": {}, "result": "", "error": "",
            "recoverable": true, "question": "", "response": "", "verified": true, "summary": "", "summarizedIterations": [],
        });
        for (kind, fields) in Event::FIELDS {
            let mut event = all.clone();
            (event["type"], event["iteration"]) = (kind.into(), 1.into());
            let written = Event::from_json(&event).map(|event| event.to_json());
            let names = [&["type"][..], fields, &["iteration"]].concat();
            let own: Map<String, Value> = names.iter().map(|&name| (name.to_owned(), event[name].clone())).collect();
            assert_eq!(written, Ok(own.into()));
        }
    }
}
