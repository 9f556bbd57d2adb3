//! Events: the entries of an agent's memory, and their JSON form.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::{Map, Value, json};

use crate::Error;

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
    /// What happened.
    pub kind: EventKind,
}

/// What an [`Event`] says.
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
        /// What the result refers to.
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
        /// Whether the loop went on.
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
        /// Whether a verifier confirmed it; absent in some logs.
        verified: Option<bool>,
    },
    /// `summary`: older iterations in short.
    Summary {
        /// The text.
        summary: String,
        /// The iterations that it stands for.
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

/// The largest integer that a double holds exactly with all its neighbours below: 2^53 - 1.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

impl Event {
    /// A user message.
    pub fn user(iteration: u64, content: impl Into<String>) -> Self {
        Self { iteration, kind: EventKind::Message { role: Role::User, content: content.into() } }
    }

    /// An assistant message.
    pub fn assistant(iteration: u64, content: impl Into<String>) -> Self {
        Self { iteration, kind: EventKind::Message { role: Role::Assistant, content: content.into() } }
    }

    /// The event that a JSON value describes.
    ///
    /// # Errors
    /// An [`Error`] with [`is_invalid_event`](Error::is_invalid_event) that names the field and the reason (INP-1).
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        let fields =
            Fields(value.as_object().ok_or_else(|| {
                Error::field_of_event("event", format!("expected an object, found {}", kind_of(value)))
            })?);
        let kind = match fields.string("type")?.as_str() {
            "message" => {
                let role = match fields.string("role")?.as_str() {
                    "user" => Role::User,
                    "assistant" => Role::Assistant,
                    "system" => Role::System,
                    other => {
                        let reason = format!("unknown role {other:?}, expected \"user\", \"assistant\" or \"system\"");
                        return Err(Error::field_of_event("role", reason));
                    }
                };
                EventKind::Message { role, content: fields.string("content")? }
            }
            "tool_call" => EventKind::ToolCall {
                tool_name: fields.string("toolName")?,
                tool_call_id: fields.string("toolCallId")?,
                args: match fields.required("args", "an object")? {
                    Value::Object(members) => members.clone(),
                    other => return Err(wrong_type("args", "an object", other)),
                },
            },
            "tool_result" => EventKind::ToolResult {
                tool_call_id: fields.string("toolCallId")?,
                result: fields.0.get("result").cloned(),
            },
            "error" => EventKind::Error { error: fields.string("error")?, recoverable: fields.boolean("recoverable")? },
            "human_input_requested" => EventKind::HumanInputRequested { question: fields.string("question")? },
            "human_input_received" => EventKind::HumanInputReceived { response: fields.string("response")? },
            "completion" => EventKind::Completion {
                result: fields.string("result")?,
                verified: fields.0.get("verified").and_then(Value::as_bool),
            },
            "summary" => EventKind::Summary {
                summary: fields.string("summary")?,
                summarized_iterations: fields.iterations("summarizedIterations")?,
            },
            other => return Err(Error::field_of_event("type", format!("unknown event type {other:?}"))),
        };
        let iteration = iteration("iteration", fields.required("iteration", "an integer")?)?;
        Ok(Self { iteration, kind })
    }

    /// The JSON value that describes the event: `type`, the fields of the type, `iteration`, and nothing else.
    pub fn to_json(&self) -> Value {
        let iteration = self.iteration;
        match &self.kind {
            EventKind::Message { role, content } => {
                json!({"type": "message", "role": role.name(), "content": content, "iteration": iteration})
            }
            EventKind::ToolCall { tool_name, tool_call_id, args } => json!({
                "type": "tool_call", "toolName": tool_name, "toolCallId": tool_call_id, "args": args, "iteration": iteration
            }),
            EventKind::ToolResult { tool_call_id, result: Some(result) } => {
                json!({"type": "tool_result", "toolCallId": tool_call_id, "result": result, "iteration": iteration})
            }
            EventKind::ToolResult { tool_call_id, result: None } => {
                json!({"type": "tool_result", "toolCallId": tool_call_id, "iteration": iteration})
            }
            EventKind::Error { error, recoverable } => {
                json!({"type": "error", "error": error, "recoverable": recoverable, "iteration": iteration})
            }
            EventKind::HumanInputRequested { question } => {
                json!({"type": "human_input_requested", "question": question, "iteration": iteration})
            }
            EventKind::HumanInputReceived { response } => {
                json!({"type": "human_input_received", "response": response, "iteration": iteration})
            }
            EventKind::Completion { result, verified: Some(verified) } => {
                json!({"type": "completion", "result": result, "verified": verified, "iteration": iteration})
            }
            EventKind::Completion { result, verified: None } => {
                json!({"type": "completion", "result": result, "iteration": iteration})
            }
            EventKind::Summary { summary, summarized_iterations } => json!({
                "type": "summary", "summary": summary, "summarizedIterations": summarized_iterations, "iteration": iteration
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
    /// Which of the ten types it is.
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

/// The members of an event, read by name and type.
struct Fields<'a>(&'a Map<String, Value>);

impl<'a> Fields<'a> {
    fn required(&self, name: &str, expected: &str) -> Result<&'a Value, Error> {
        self.0.get(name).ok_or_else(|| Error::field_of_event(name, format!("missing, expected {expected}")))
    }

    fn string(&self, name: &str) -> Result<String, Error> {
        let value = self.required(name, "a string")?;
        value.as_str().map(str::to_owned).ok_or_else(|| wrong_type(name, "a string", value))
    }

    fn boolean(&self, name: &str) -> Result<bool, Error> {
        let value = self.required(name, "a boolean")?;
        value.as_bool().ok_or_else(|| wrong_type(name, "a boolean", value))
    }

    fn iterations(&self, name: &str) -> Result<Vec<u64>, Error> {
        let value = self.required(name, "an array of integers")?;
        let list = value.as_array().ok_or_else(|| wrong_type(name, "an array of integers", value))?;
        list.iter().enumerate().map(|(position, value)| iteration(&format!("{name}[{position}]"), value)).collect()
    }
}

fn wrong_type(field: &str, expected: &str, found: &Value) -> Error {
    Error::field_of_event(field, format!("expected {expected}, found {}", kind_of(found)))
}

fn iteration(field: &str, value: &Value) -> Result<u64, Error> {
    let integer = match value {
        Value::Number(number) => number.as_u64().or_else(|| number.as_f64().and_then(integral)),
        other => return Err(wrong_type(field, "an integer", other)),
    };
    integer
        .filter(|&integer| integer <= MAX_SAFE_INTEGER)
        .ok_or_else(|| Error::field_of_event(field, format!("expected an integer from 0 to 2^53-1, found {value}")))
}

/// The integer that a double is; `1.0` and `-0` are integers.
fn integral(double: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "guarded: integral and in range")]
    let integer = double as u64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "what is not exactly the same is refused")]
    let same = integer as f64 == double;
    same.then_some(integer)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_iteration_is_an_integer_that_a_double_holds() {
        for (json, expected) in [("0", 0), ("-0", 0), ("1.0", 1), ("2e3", 2000), ("9007199254740991", MAX_SAFE_INTEGER)]
        {
            let value = serde_json::from_str(json).expect("a test's JSON parses");
            assert_eq!(iteration("iteration", &value), Ok(expected), "{json}");
        }
        for json in ["-1", "0.5", "9007199254740992", "1e300", "18446744073709551616", "\"1\"", "null", "true"] {
            let value = serde_json::from_str(json).expect("a test's JSON parses");
            assert!(iteration("iteration", &value).is_err(), "{json}");
        }
    }
}
