//! Reads messages as leniently as a provider would, but distinguishes absent from empty.

use super::value::{equal, quote_text, sides};
use crate::shape::{self, ChatMessage, Part, Parts};
use serde_json::{Map, Value, json};
use threadspec::surrogates::without_marks;

pub(crate) use crate::shape::Speaker;

/// A call in a message, or in a turn of the model.
#[derive(Clone, Debug)]
pub(crate) struct AgentCall {
    pub(crate) id: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) args: Value,
}

/// A message of a request, of the given list, or of the list at the end.
#[derive(Clone, Debug)]
pub(crate) struct AgentMessage {
    pub(crate) speaker: Speaker,
    /// `None` for null.
    pub(crate) content: Option<String>,
    pub(crate) calls: Vec<AgentCall>,
    pub(crate) call_id: Option<String>,
}

impl AgentCall {
    fn read(call: Part<shape::Call>) -> Result<Self, String> {
        let Part::Proper(call) = call else { return Err("a tool call is not an object".into()) };
        let args = call.args.into_json().filter(|args| !args.is_null());
        Ok(Self {
            id: text(call.id, "id")?,
            name: text(call.name, "name")?,
            args: args.unwrap_or_else(|| Value::Object(Map::new())),
        })
    }

    pub(crate) fn read_all(calls: Part<Parts<shape::Call>>) -> Result<Vec<Self>, String> {
        let calls = calls.optional(|| "`tool_calls` is not a list")?;
        calls.into_iter().flatten().map(Self::read).collect()
    }

    /// The id, empty where there is none.
    pub(crate) fn id(&self) -> &str {
        self.id.as_deref().unwrap_or_default()
    }

    /// The name, empty where there is none.
    pub(crate) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }
}

impl AgentMessage {
    pub(crate) fn read(message: Part<ChatMessage>) -> Result<Self, String> {
        let Part::Proper(message) = message else { return Err("it is not an object".into()) };
        let ChatMessage { speaker: Part::Proper(speaker), content, calls, call_id } = message else {
            return Err("its `type` is none of system, human, ai, tool".into());
        };
        Ok(Self {
            speaker,
            calls: if speaker == Speaker::Ai { AgentCall::read_all(calls)? } else { Vec::new() },
            call_id: if speaker == Speaker::Tool { text(call_id, "tool_call_id")? } else { None },
            content: text(content, "content")?,
        })
    }

    pub(crate) fn read_all(messages: Part<Parts<ChatMessage>>) -> Result<Vec<Self>, String> {
        let Part::Proper(list) = messages else { return Err("it is not a list of messages".into()) };
        let read = |(index, message)| Self::read(message).map_err(|error| format!("message {}: {error}", index + 1));
        list.into_iter().enumerate().map(read).collect()
    }

    /// The text, empty for null.
    pub(crate) fn text(&self) -> &str {
        self.content.as_deref().unwrap_or_default()
    }

    /// Returns whether two messages are the same, value for value; what the assistant says may be null instead of empty.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let same_ids = self.calls.iter().map(|call| &call.id).eq(other.calls.iter().map(|call| &call.id));
        self.call_id == other.call_id && same_ids && self.is_but_for_ids(other)
    }

    /// Returns whether two messages are equal, whatever the ids.
    pub(crate) fn is_but_for_ids(&self, other: &Self) -> bool {
        let content =
            if self.speaker == Speaker::Ai { self.text() == other.text() } else { self.content == other.content };
        content && self.speaker == other.speaker && same_calls(&self.calls, &other.calls)
    }

    /// For people: who says what.
    pub(crate) fn shown(&self) -> String {
        let says = match (self.speaker, &self.call_id) {
            (Speaker::System, _) => "a system message".to_owned(),
            (Speaker::Human, _) => "a human message".to_owned(),
            (Speaker::Ai, _) if self.calls.is_empty() => "an ai message".to_owned(),
            (Speaker::Ai, _) => {
                let ids: Vec<String> =
                    self.calls.iter().map(|call| format!("`{}`", without_marks(call.id()))).collect();
                format!("an ai message with the calls {}", ids.join(", "))
            }
            (Speaker::Tool, Some(id)) => format!("the answer to `{}`", without_marks(id)),
            (Speaker::Tool, None) => "an answer without `tool_call_id`".to_owned(),
        };
        match &self.content {
            Some(content) => format!("{says}, {}", quote_text(content)),
            None => format!("{says}, null"),
        }
    }

    /// Shows two messages that differ. Where both would look the same, each side also has what differs: a call, or the text from there on.
    pub(crate) fn apart(&self, other: &Self) -> [String; 2] {
        let [one, two] = [self, other].map(Self::shown);
        if one != two {
            return [one, two];
        }
        let whole = |call: &AgentCall| json!([call.name, call.args]);
        let calls = self.calls.iter().zip(&other.calls).find(|(one, other)| !is_same_call(one, other));
        let [first, second] = match calls {
            Some((one, other)) => sides(&whole(one), &whole(other)),
            None => sides(&self.text().into(), &other.text().into()),
        };
        [format!("{one}: {first}"), format!("{two}: {second}")]
    }
}

fn is_same_call(one: &AgentCall, other: &AgentCall) -> bool {
    one.name == other.name && equal(&one.args, &other.args, true)
}

fn same_calls(ones: &[AgentCall], others: &[AgentCall]) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| is_same_call(one, other))
}

fn text(text: Part<String>, name: &str) -> Result<Option<String>, String> {
    text.optional(|| format!("its `{name}` is not a string"))
}

/// A message and its place in the list that it is in, counted from 0.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed<'a> {
    pub(crate) index: usize,
    pub(crate) message: &'a AgentMessage,
}

/// A list without its system messages, which are apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Conversation<'a> {
    /// How long the list is with them.
    pub(crate) length: usize,
    pub(crate) systems: Vec<Placed<'a>>,
    pub(crate) rest: Vec<Placed<'a>>,
}

impl<'a> Conversation<'a> {
    pub(crate) fn of(messages: &'a [AgentMessage]) -> Self {
        let placed = messages.iter().enumerate().map(|(index, message)| Placed { index, message });
        let (systems, rest) = placed.partition(|placed| placed.message.speaker == Speaker::System);
        Self { length: messages.len(), systems, rest }
    }
}
