//! A message of a request, in the words of op `tools`.

use serde_json::{Map, Value};
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::protocol::{Call, ChatMessage, Part, Shape, Speaker};
use threadspec_judge::universal::value;

/// A message as it went over the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct WireMessage {
    /// Who speaks.
    pub speaker: Speaker,
    /// The text.
    pub content: String,
    /// The calls of the model.
    pub calls: Vec<WireCall>,
    /// The call that a tool answers.
    pub call_id: Option<String>,
    /// What only the provider reads, in order.
    pub opaque: Vec<OpaquePart>,
    /// Where it begins in the body: `messages[2]`, `input[0]`, `system`.
    pub place: String,
}

/// A call in a message of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCall {
    /// The id; empty if there is none.
    pub id: String,
    /// The tool; empty if there is none.
    pub name: String,
    /// The arguments: an object, or the text that is none.
    pub args: Value,
    /// Their text, in APIs where they are a text.
    pub raw: Option<String>,
    /// Where it stands in the body.
    pub place: String,
}

/// A part of a message that only the provider reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpaquePart {
    /// What it is.
    pub content: OpaqueContent,
    /// Where it stands in the body.
    pub place: String,
}

/// What a model thought, in a form that the provider takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpaqueContent {
    /// A `thinking` block (anthropic).
    Thinking {
        /// The text.
        text: String,
        /// The signature; `None` if it is absent.
        signature: Option<String>,
    },
    /// A `redacted_thinking` block (anthropic).
    Redacted {
        /// What stands for the text.
        data: String,
    },
    /// A `reasoning` item (openai-responses).
    Reasoning {
        /// The item's id.
        id: Option<String>,
        /// The texts of the summary, joined.
        summary: String,
        /// The reasoning, for the provider alone.
        encrypted: Option<String>,
    },
    /// `reasoning_content` (servers that are like openai-chat).
    Text(String),
}

impl WireMessage {
    pub(super) fn text(speaker: Speaker, content: String, place: String) -> Self {
        Self { speaker, content, calls: Vec::new(), call_id: None, opaque: Vec::new(), place }
    }

    /// The message as the protocol writes it, as marked data.
    pub fn to_json(&self) -> Value {
        let calls: Vec<_> = self.calls.iter().map(|call| call.to_protocol().into()).collect();
        ChatMessage {
            calls: if calls.is_empty() { Part::Missing } else { calls.into() },
            call_id: self.call_id.clone().map(Into::into).unwrap_or_default(),
            ..ChatMessage::text(self.speaker, self.content.clone())
        }
        .into_json()
    }
}

impl WireCall {
    pub(super) fn new(id: String, name: String, raw: String, place: String) -> Self {
        Self { id, name, args: arguments(&raw), raw: Some(raw), place }
    }

    fn to_protocol(&self) -> Call {
        Call { id: self.id.clone().into(), name: self.name.clone().into(), args: self.args.clone().into() }
    }
}

/// The value of a text of arguments: an object, `{}` if it is empty, and the text itself if it is anything else.
pub(super) fn arguments(text: &str) -> Value {
    if text.is_empty() {
        return Value::Object(Map::new());
    }
    // Half a pair that stands in the text itself is an escape to whoever reads it.
    value::read(&unmark_surrogates(text)).ok().filter(Value::is_object).unwrap_or_else(|| text.into())
}
