//! Messages as the judge reads them: as leniently as a provider would, but what is absent is told from what is empty.

use super::value::{equal, quote_text};
use serde_json::{Map, Value};
use threadspec::surrogates::without_marks;

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    System,
    Human,
    Ai,
    Tool,
}

/// A call in a message, or in a turn of the model.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) args: Value,
}

/// A message of a request, of the given list, or of the list at the end.
#[derive(Clone, Debug)]
pub(super) struct Message {
    pub(super) role: Role,
    /// `None` for null.
    pub(super) content: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) call_id: Option<String>,
}

impl Call {
    pub(super) fn read(mut value: Value) -> Result<Self, String> {
        let members = value.as_object_mut().ok_or("a tool call is not an object")?;
        let args = members.get_mut("args").map(Value::take).filter(|args| !args.is_null());
        Ok(Self {
            id: text(members, "id")?,
            name: text(members, "name")?,
            args: args.unwrap_or_else(|| Value::Object(Map::new())),
        })
    }

    pub(super) fn read_all(value: Option<Value>) -> Result<Vec<Self>, String> {
        match value {
            None | Some(Value::Null) => Ok(Vec::new()),
            Some(Value::Array(calls)) => calls.into_iter().map(Self::read).collect(),
            Some(_) => Err("`tool_calls` is not a list".into()),
        }
    }

    /// The id, empty where there is none.
    pub(super) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// The name, empty where there is none.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

impl Message {
    pub(super) fn read(mut value: Value) -> Result<Self, String> {
        let members = value.as_object_mut().ok_or("it is not an object")?;
        let role = match members.get("type").and_then(Value::as_str) {
            Some("system") => Role::System,
            Some("human") => Role::Human,
            Some("ai") => Role::Ai,
            Some("tool") => Role::Tool,
            _ => return Err("its `type` is none of system, human, ai, tool".into()),
        };
        let calls =
            if role == Role::Ai { Call::read_all(members.get_mut("tool_calls").map(Value::take))? } else { Vec::new() };
        let call_id = if role == Role::Tool { text(members, "tool_call_id")? } else { None };
        Ok(Self { role, content: text(members, "content")?, calls, call_id })
    }

    pub(super) fn read_all(value: Value) -> Result<Vec<Self>, String> {
        let Value::Array(list) = value else { return Err("it is not a list of messages".into()) };
        let read = |(index, message)| Self::read(message).map_err(|error| format!("message {}: {error}", index + 1));
        list.into_iter().enumerate().map(read).collect()
    }

    /// The text, empty for null.
    pub(super) fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Whether two messages are the same, value for value; what the assistant says may be null instead of empty.
    pub(super) fn is(&self, other: &Self) -> bool {
        let same_ids = self.calls.iter().map(|call| &call.id).eq(other.calls.iter().map(|call| &call.id));
        self.call_id == other.call_id && same_ids && self.is_but_for_ids(other)
    }

    /// The same, whatever the ids.
    pub(super) fn is_but_for_ids(&self, other: &Self) -> bool {
        let content = if self.role == Role::Ai { self.text() == other.text() } else { self.content == other.content };
        content && self.role == other.role && same_calls(&self.calls, &other.calls)
    }

    /// For people: who says what.
    pub(super) fn shown(&self) -> String {
        let says = match (self.role, &self.call_id) {
            (Role::System, _) => "a system message".to_owned(),
            (Role::Human, _) => "a human message".to_owned(),
            (Role::Ai, _) if self.calls.is_empty() => "an ai message".to_owned(),
            (Role::Ai, _) => {
                let ids: Vec<String> =
                    self.calls.iter().map(|call| format!("`{}`", without_marks(call.id()))).collect();
                format!("an ai message with the calls {}", ids.join(", "))
            }
            (Role::Tool, Some(id)) => format!("the answer to `{}`", without_marks(id)),
            (Role::Tool, None) => "an answer without `tool_call_id`".to_owned(),
        };
        match &self.content {
            Some(content) => format!("{says}, {}", quote_text(content)),
            None => format!("{says}, null"),
        }
    }
}

fn same_calls(ones: &[Call], others: &[Call]) -> bool {
    let same = |(one, other): (&Call, &Call)| one.name == other.name && equal(&one.args, &other.args, true);
    ones.len() == others.len() && ones.iter().zip(others).all(same)
}

fn text(members: &mut Map<String, Value>, name: &str) -> Result<Option<String>, String> {
    match members.get_mut(name).map(Value::take) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(format!("its `{name}` is not a string")),
    }
}

/// A message and its place in the list that it stands in, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Placed<'a> {
    pub(super) index: usize,
    pub(super) message: &'a Message,
}

/// A list without its system messages, which stand apart.
#[derive(Clone, Debug, Default)]
pub(super) struct Conversation<'a> {
    /// How long the list is with them.
    pub(super) length: usize,
    pub(super) systems: Vec<Placed<'a>>,
    pub(super) rest: Vec<Placed<'a>>,
}

impl<'a> Conversation<'a> {
    pub(super) fn of(messages: &'a [Message]) -> Self {
        let placed = messages.iter().enumerate().map(|(index, message)| Placed { index, message });
        let (systems, rest) = placed.partition(|placed| placed.message.role == Role::System);
        Self { length: messages.len(), systems, rest }
    }
}
