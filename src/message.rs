//! Messages of a model request, and their JSON form.

use crate::surrogates::marked;
use crate::{Error, Field};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// One chat message of a model request.
///
/// Its JSON form is `{"type": "system" | "human" | "ai" | "tool", "content": string}` with `tool_calls` on an AI message
/// that has some, and `tool_call_id` on a tool message.
///
/// ```
/// use threadspec::Message;
/// let message: Message = serde_json::from_str(r#"{"type":"tool","tool_call_id":"a","content":"4"}"#)?;
/// assert_eq!(message, Message::Tool { tool_call_id: "a".into(), content: "4".into() });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// Instructions to the model.
    System {
        /// The text.
        content: String,
    },
    /// A message of the user, or of the framework in the user's place.
    Human {
        /// The text.
        content: String,
    },
    /// A message of the model.
    Ai {
        /// The text, empty where it only called tools.
        content: String,
        /// The tools that it asked for.
        tool_calls: Vec<ToolCall>,
    },
    /// A result of a tool.
    Tool {
        /// The call that it answers.
        tool_call_id: String,
        /// The text that the model is shown.
        content: String,
    },
}

/// A model's request for a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolCall {
    /// The id that the tool message answers.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments.
    pub args: Map<String, Value>,
}

impl Message {
    /// A system message.
    pub fn system(content: impl Into<String>) -> Self {
        Self::System { content: content.into() }
    }

    /// A human message.
    pub fn human(content: impl Into<String>) -> Self {
        Self::Human { content: content.into() }
    }

    /// An AI message without tool calls.
    pub fn ai(content: impl Into<String>) -> Self {
        Self::Ai { content: content.into(), tool_calls: Vec::new() }
    }

    /// A tool message.
    pub fn tool(tool_call_id: impl Into<String>, content: impl Into<String>) -> Self {
        Self::Tool { tool_call_id: tool_call_id.into(), content: content.into() }
    }

    /// The text.
    pub fn content(&self) -> &str {
        match self {
            Self::System { content }
            | Self::Human { content }
            | Self::Ai { content, .. }
            | Self::Tool { content, .. } => content,
        }
    }

    /// The tool calls of an AI message, none for the others.
    pub fn tool_calls(&self) -> &[ToolCall] {
        match self {
            Self::Ai { tool_calls, .. } => tool_calls,
            _ => &[],
        }
    }

    /// The JSON value that describes the message.
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    /// The message that a JSON value describes.
    ///
    /// # Errors
    /// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) that says what is missing or of the wrong type.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        Self::read(&Field::root(value, "message"))
    }

    /// The message that a field of an input describes.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn read(message: &Field<'_>) -> Result<Self, Error> {
        message.object()?;
        let text = |name: &str| message.get(name).string().map(Cow::into_owned);
        let kind = text("type")?;
        let content = text("content")?;
        Ok(match &*kind {
            "system" => Self::System { content },
            "human" => Self::Human { content },
            "ai" => Self::Ai { content, tool_calls: ToolCall::read_list(&message.get("tool_calls"))? },
            "tool" => Self::Tool { tool_call_id: text("tool_call_id")?, content },
            _ => return Err(message.get("type").error(format!("unknown type {kind:?}"))),
        })
    }
}

impl ToolCall {
    /// The JSON value `{"id", "name", "args"}`; lone surrogates in `args` are marked ([`surrogates`](crate::surrogates)).
    pub fn to_json(&self) -> Value {
        json!(self)
    }

    /// The tool call that a JSON value describes; absent `args` are `{}`.
    ///
    /// # Errors
    /// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) that says what is missing or of the wrong type.
    pub fn from_json(value: &Value) -> Result<Self, Error> {
        Self::read(&Field::root(value, "tool call"))
    }

    fn read(call: &Field<'_>) -> Result<Self, Error> {
        call.object()?;
        let args = call.get("args").optional().map(Field::object).transpose()?;
        Ok(Self {
            id: call.get("id").string()?.into_owned(),
            name: call.get("name").string()?.into_owned(),
            args: args.cloned().unwrap_or_default(),
        })
    }

    /// The calls of a list that may be absent.
    pub(crate) fn read_list(calls: &Field<'_>) -> Result<Vec<Self>, Error> {
        calls.optional().map_or(Ok(Vec::new()), |calls| calls.elements()?.map(|call| Self::read(&call)).collect())
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let kind = match self {
            Self::System { .. } => "system",
            Self::Human { .. } => "human",
            Self::Ai { .. } => "ai",
            Self::Tool { .. } => "tool",
        };
        let mut members = serializer.serialize_map(None)?;
        members.serialize_entry("type", kind)?;
        members.serialize_entry("content", &*marked(self.content()))?;
        match self {
            Self::Ai { tool_calls, .. } if !tool_calls.is_empty() => {
                members.serialize_entry("tool_calls", tool_calls)?;
            }
            Self::Tool { tool_call_id, .. } => members.serialize_entry("tool_call_id", &*marked(tool_call_id))?,
            _ => {}
        }
        members.end()
    }
}

impl Serialize for ToolCall {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut members = serializer.serialize_map(Some(3))?;
        members.serialize_entry("id", &*marked(&self.id))?;
        members.serialize_entry("name", &*marked(&self.name))?;
        members.serialize_entry("args", &self.args)?;
        members.end()
    }
}

impl<'de> Deserialize<'de> for Message {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl<'de> Deserialize<'de> for ToolCall {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::from_json(&Value::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
