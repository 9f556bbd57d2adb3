//! Models, tools and verifiers that follow a script.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{Event, Message, Model, Response, ToolCall, ToolError, Tools, Verification, Verifier};

/// One answer of a [`ScriptedModel`]: a response, or a failure with its message.
///
/// In JSON `{"content"?: string, "tool_calls"?: [{"id", "name", "args"?}]}` or `{"error": string}`.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn(pub Result<Response, String>);

impl<'de> Deserialize<'de> for Turn {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            content: Option<String>,
            tool_calls: Option<Vec<ToolCall>>,
            error: Option<String>,
        }
        let Fields { content, tool_calls, error } = Fields::deserialize(deserializer)?;
        match error {
            Some(_) if content.is_some() || tool_calls.is_some() => {
                Err(D::Error::custom("a turn either fails with `error` or has `content` and `tool_calls`"))
            }
            Some(error) => Ok(Self(Err(error))),
            None => Ok(Self(Ok(Response {
                content: content.unwrap_or_default(),
                tool_calls: tool_calls.unwrap_or_default(),
            }))),
        }
    }
}

/// A model that answers from a script, and remembers what it was asked: for tests of prompts, tools and loops.
///
/// A script that runs out fails with `script exhausted`.
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
    fn respond(&mut self, request: &[Message]) -> Result<Response, String> {
        self.requests.push(request.to_vec());
        self.turns.next().map_or_else(|| Err("script exhausted".to_owned()), |turn| turn.0)
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
}

impl Tools for ScriptedTools {
    fn call(&mut self, call: &ToolCall) -> Result<Value, ToolError> {
        let results = self.results.get(&call.name).ok_or(ToolError::NotFound)?;
        let called = self.called.entry(call.name.clone()).or_default();
        let result = results.get(*called).or(results.last()).cloned().unwrap_or_else(|| "".into());
        *called += 1;
        match result.as_object().and_then(|members| members.get("error")) {
            Some(Value::String(message)) if result.as_object().is_some_and(|members| members.len() == 1) => {
                Err(ToolError::Failed(message.clone()))
            }
            _ => Ok(result),
        }
    }
}

/// A verifier that answers from a script. One that runs out is content.
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

impl<'de> Deserialize<'de> for Verification {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        struct Fields {
            complete: bool,
            reason: Option<String>,
        }
        let Fields { complete, reason } = Fields::deserialize(deserializer)?;
        Ok(if complete { Self::Complete } else { Self::Incomplete(reason) })
    }
}
