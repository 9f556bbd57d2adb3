//! Models, tools and verifiers that follow a script.

use super::{Event, Message, Model, Response, ToolCall, ToolError, Tools, Verification, Verifier};
use crate::event::as_result;
use crate::surrogates::without_marks;
use crate::{Error, Field};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// One answer of a [`ScriptedModel`]: a response, or a failure with its message.
///
/// In JSON `{"content"?: string, "tool_calls"?: [{"id", "name", "args"?}]}` or `{"error": string}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn(pub Result<Response, Error>);

impl Turn {
    /// The turn that a field of an input describes. `null` means absent.
    ///
    /// # Errors
    /// An [`Error`] that names what is missing or of the wrong type.
    pub fn read(turn: &Field<'_>) -> Result<Self, Error> {
        turn.object()?;
        let error = turn.get("error").optional().map(Field::string).transpose()?;
        let content = turn.get("content").optional().map(Field::string).transpose()?;
        let tool_calls = turn.get("tool_calls");
        match error {
            Some(_) if content.is_some() || tool_calls.optional().is_some() => {
                Err(turn.error("either `error`, or `content` and `tool_calls`"))
            }
            Some(error) => Ok(Self(Err(Error::model_failure(error)))),
            None => Ok(Self(Ok(Response {
                content: content.unwrap_or_default().into_owned(),
                tool_calls: ToolCall::read_list(&tool_calls)?,
            }))),
        }
    }
}

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Field::root(&Value::deserialize(deserializer)?, "turn")).map_err(D::Error::custom)
    }
}

/// A model that answers from a script, and remembers what it was asked: for tests of prompts, tools and loops.
///
/// After the end of the script each request fails with `script exhausted`.
#[derive(Clone, Debug, Default)]
pub struct ScriptedModel {
    turns: std::vec::IntoIter<Turn>,
    requests: Vec<Vec<Message>>,
}

impl ScriptedModel {
    /// A model that answers with these turns, in order.
    pub fn new(turns: Vec<Turn>) -> Self {
        Self { turns: turns.into_iter(), requests: Vec::new() }
    }

    /// The requests so far, each as it was when it was sent.
    pub fn requests(&self) -> &[Vec<Message>] {
        &self.requests
    }
}

impl Model for ScriptedModel {
    fn respond(&mut self, request: &[Message]) -> Result<Response, Error> {
        self.requests.push(request.to_vec());
        self.turns.next().map_or_else(|| Err(Error::model_failure("script exhausted")), |turn| turn.0)
    }
}

/// Tools that answer from a script: for each name the results, in order, of which the last one repeats.
///
/// An empty list gives `""`. A result that is an object with the single member `error`, a string, makes the tool fail.
#[derive(Clone, Debug, Default)]
pub struct ScriptedTools {
    results: HashMap<String, Vec<Value>>,
    called: HashMap<String, usize>,
}

impl ScriptedTools {
    /// Tools by name.
    pub fn new(results: HashMap<String, Vec<Value>>) -> Self {
        Self { results, called: HashMap::new() }
    }

    /// The tools that a field of an input describes: `{name: [result…]}`.
    ///
    /// # Errors
    /// An [`Error`] that names what is of the wrong type.
    pub fn read(tools: &Field<'_>) -> Result<Self, Error> {
        let mut results = HashMap::new();
        for (name, list) in tools.members()? {
            let list = list.elements()?.filter_map(|result| result.value().map(as_result)).collect();
            results.insert(without_marks(name).into_owned(), list);
        }
        Ok(Self::new(results))
    }
}

impl Tools for ScriptedTools {
    fn call(&mut self, call: &ToolCall) -> Result<Value, ToolError> {
        let results = self.results.get(&call.name).ok_or(ToolError::NotFound)?;
        let called = self.called.entry(call.name.clone()).or_default();
        let result = results.get(*called).or(results.last()).cloned().unwrap_or_else(|| "".into());
        *called += 1;
        match result.as_object().and_then(|members| members.get("error")) {
            Some(Value::String(message)) if result.as_object().is_some_and(|members| members.len() == 1) => {
                Err(ToolError::Failed(without_marks(message).into_owned()))
            }
            _ => Ok(result),
        }
    }
}

/// A verifier that answers from a script; after its end, that the work is complete.
#[derive(Clone, Debug, Default)]
pub struct ScriptedVerifier {
    verifications: std::vec::IntoIter<Verification>,
}

impl ScriptedVerifier {
    /// A verifier that answers with these, in order.
    pub fn new(verifications: Vec<Verification>) -> Self {
        Self { verifications: verifications.into_iter() }
    }
}

impl Verifier for ScriptedVerifier {
    fn verify(&mut self, _response: &str, _events: &[Event]) -> Verification {
        self.verifications.next().unwrap_or(Verification::Complete)
    }
}

impl Verification {
    /// The verification that a field of an input describes: `{"complete", "reason"?}`.
    ///
    /// # Errors
    /// An [`Error`] that names what is missing or of the wrong type.
    pub fn read(verification: &Field<'_>) -> Result<Self, Error> {
        verification.object()?;
        let reason = verification.get("reason").optional().map(Field::string).transpose()?;
        let complete = verification.get("complete").boolean()?;
        Ok(if complete { Self::Complete } else { Self::Incomplete(reason.map(Cow::into_owned)) })
    }
}

impl<'de> Deserialize<'de> for Verification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::read(&Field::root(&Value::deserialize(deserializer)?, "verification")).map_err(D::Error::custom)
    }
}
