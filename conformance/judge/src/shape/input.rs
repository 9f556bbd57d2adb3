//! The inputs of the operations.

use super::part::{Part, Parts, Shape};
use super::{Call, ChatMessage, ThreadEvent};
use crate::json;
use serde_json::{Map, Number, Value};
use threadspec::{Error, Event, read_events};

/// The input of any operation. Those of cases are wrong on purpose, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Input {
    /// For `escape`: the text.
    pub text: Part<String>,
    /// The thread.
    pub events: Part<Value>,
    /// The text behind the document.
    pub response_prefix: Part<String>,
    /// `standard` or `xml`.
    pub context_mode: Part<String>,
    /// The text before the thread.
    pub instructions: Part<String>,
    /// For `tools`: the list so far.
    pub messages: Part<Parts<ChatMessage>>,
    /// The model's answers.
    pub model: Part<Parts<ScriptedTurn>>,
    /// The results of each tool.
    pub tools: Part<Map<String, Value>>,
    /// The limit of `tools`.
    pub max_recursion_depth: Part<Number>,
    /// For `loop`: the prompt of the user.
    pub prompt: Part<String>,
    /// The verifier's results; null is no verifier.
    pub verify: Part<Parts<ScriptedVerification>>,
    /// The limit of requests in an iteration.
    pub max_tool_calls_per_iteration: Part<Number>,
}

/// An answer of the scripted model.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedTurn {
    /// It fails with this message.
    pub error: Part<String>,
    /// The text.
    pub content: Part<String>,
    /// The calls.
    pub calls: Part<Parts<Call>>,
    /// Over the wire: why the response ends, if that is given.
    pub stop: Part<String>,
    /// Over the wire: what the model says instead of an answer.
    pub refusal: Part<String>,
    /// Over the wire: what it thinks before it answers.
    pub thinking: Part<Parts<Value>>,
    /// Over the wire: the attempts that fail before the answer.
    pub attempts: Part<Parts<ScriptedFault>>,
}

/// How an attempt over the wire fails, as far as a judge must know it; a provider reads the rest.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedFault {
    /// How long a retry has to wait.
    pub retry_after_ms: Part<Number>,
}

/// A result of the scripted verifier.
#[derive(Clone, Debug, PartialEq)]
pub struct ScriptedVerification {
    /// True if the work is done.
    pub complete: Part<bool>,
    /// The part that is missing.
    pub reason: Part<String>,
}

/// Represents a turn that is none.
static NO_TURN: ScriptedTurn = ScriptedTurn {
    error: Part::Missing,
    content: Part::Missing,
    calls: Part::Missing,
    stop: Part::Missing,
    refusal: Part::Missing,
    thinking: Part::Missing,
    attempts: Part::Missing,
};
/// Represents what a verifier cannot say.
static NO_CHECK: ScriptedVerification = ScriptedVerification { complete: Part::Missing, reason: Part::Missing };

impl Input {
    /// Reads JSON text.
    ///
    /// # Errors
    ///
    /// Says what is wrong when the text is not JSON.
    pub fn read(text: &str) -> Result<Self, crate::Error> {
        json::read(text).map(Self::of)
    }

    /// Reads a value; what is no object has no members.
    pub fn of(json: Value) -> Self {
        let mut members = Map::read(json).unwrap_or_default();
        Self {
            text: Part::take(&mut members, "text"),
            events: Part::take(&mut members, "events"),
            response_prefix: Part::take_optional(&mut members, "responsePrefix"),
            context_mode: Part::take_optional(&mut members, "contextMode"),
            instructions: Part::take_optional(&mut members, "instructions"),
            messages: Part::take(&mut members, "messages"),
            model: Part::take(&mut members, "model"),
            tools: Part::take_optional(&mut members, "tools"),
            max_recursion_depth: Part::take_optional(&mut members, "maxRecursionDepth"),
            prompt: Part::take(&mut members, "prompt"),
            verify: Part::take_optional(&mut members, "verify"),
            max_tool_calls_per_iteration: Part::take_optional(&mut members, "maxToolCallsPerIteration"),
        }
    }

    /// The events, as the library reads them.
    ///
    /// # Errors
    ///
    /// Says which of them is wrong.
    pub fn events(&self) -> Result<Vec<Event>, Error> {
        read_events(&self.events.proper().unwrap_or(&Value::Null).to_string())
    }

    /// The events, as they are there.
    pub fn thread(&self) -> Parts<ThreadEvent> {
        Part::read(self.events.to_json()).proper().cloned().unwrap_or_default()
    }

    /// Returns whether the thread is shown as a document.
    pub fn is_in_xml_mode(&self) -> bool {
        self.context_mode.is("xml")
    }

    /// The turns of the model. A wrong one has nothing, so that the others keep their places.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &ScriptedTurn> + ExactSizeIterator + Clone {
        self.model.list().iter().map(|turn| turn.proper().unwrap_or(&NO_TURN))
    }

    /// The turn that answers a request, if the script has one.
    pub fn turn(&self, request: usize) -> Option<&ScriptedTurn> {
        self.turns().nth(request)
    }

    /// Returns the verifier's results, in order.
    pub fn checks(&self) -> impl Iterator<Item = &ScriptedVerification> {
        self.verify.list().iter().map(|check| check.proper().unwrap_or(&NO_CHECK))
    }
}

impl ScriptedTurn {
    /// Returns whether the model asks for tools.
    pub fn has_calls(&self) -> bool {
        !self.calls.list().is_empty()
    }
}

impl ScriptedVerification {
    /// The reason, if there is one to tell.
    pub fn told(&self) -> Option<&str> {
        self.reason.text().filter(|reason| !reason.is_empty())
    }
}

impl Shape for ScriptedTurn {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = Map::read(json)?;
        Ok(Self {
            error: Part::take_optional(&mut members, "error"),
            content: Part::take_optional(&mut members, "content"),
            calls: Part::take_optional(&mut members, "tool_calls"),
            stop: Part::take_optional(&mut members, "stop"),
            refusal: Part::take_optional(&mut members, "refusal"),
            thinking: Part::take_optional(&mut members, "thinking"),
            attempts: Part::take_optional(&mut members, "attempts"),
        })
    }

    fn into_json(self) -> Value {
        let Self { error, content, calls, stop, refusal, thinking, attempts } = self;
        super::part::object([
            ("error", error.into_json()),
            ("content", content.into_json()),
            ("tool_calls", calls.into_json()),
            ("stop", stop.into_json()),
            ("refusal", refusal.into_json()),
            ("thinking", thinking.into_json()),
            ("attempts", attempts.into_json()),
        ])
    }
}

impl Shape for ScriptedFault {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = Map::read(json)?;
        Ok(Self { retry_after_ms: Part::take_optional(&mut members, "retryAfterMs") })
    }

    fn into_json(self) -> Value {
        super::part::object([("retryAfterMs", self.retry_after_ms.into_json())])
    }
}

impl Shape for ScriptedVerification {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = Map::read(json)?;
        Ok(Self { complete: Part::take(&mut members, "complete"), reason: Part::take_optional(&mut members, "reason") })
    }

    fn into_json(self) -> Value {
        super::part::object([("complete", self.complete.into_json()), ("reason", self.reason.into_json())])
    }
}
