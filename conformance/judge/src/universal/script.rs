//! What a run was asked to do: the input of op `tools` as the judge reads it.

use super::message::{Call, Message};
use super::value::{equal, read};
use crate::json::{is_beyond_doubles, is_deep, tokens};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use threadspec::surrogates::has_marks;

/// What the model answers to one request.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    /// A response.
    Response { content: String, calls: Vec<Call> },
    /// It fails.
    Failure,
}

/// The scripted results of one tool.
#[derive(Clone, Debug)]
enum Results {
    /// The same for every call.
    Always(Value),
    ById(HashMap<String, Value>),
    ByArgs(Vec<(Value, Value)>),
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome<'a> {
    Result(&'a Value),
    /// The tool fails with this message.
    Failure(&'a str),
    /// There is no such tool.
    Unknown,
}

impl Outcome<'_> {
    pub(super) fn is_failure(&self) -> bool {
        !matches!(self, Self::Result(_))
    }
}

/// The script of a run.
#[derive(Clone, Debug)]
pub(super) struct Script {
    pub(super) given: Vec<Message>,
    pub(super) turns: Vec<Turn>,
    tools: HashMap<String, Results>,
    pub(super) limit: Option<usize>,
    /// Whether a number of the input is beyond the doubles.
    pub(super) has_huge_numbers: bool,
    /// Whether the input is nested so deep that it may be refused, as in every profile (INP-3).
    pub(super) is_deep: bool,
}

/// What a tool gives for a call that its script does not list.
static NOTHING: Value = Value::String(String::new());

impl Script {
    /// Reads the input of op `tools`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read(input: &str) -> Result<Self, String> {
        let value = read(input)?;
        let turns = value["model"].as_array().ok_or("`model` is not a list of turns")?;
        let turns = turns.iter().map(read_turn).collect::<Result<_, _>>()?;
        let tools = match &value["tools"] {
            Value::Null => HashMap::new(),
            Value::Object(tools) => {
                let read = |(name, results): (&String, &Value)| {
                    let results = read_results(results).map_err(|error| format!("tool `{name}`: {error}"))?;
                    Ok::<_, String>((name.clone(), results))
                };
                tools.iter().map(read).collect::<Result<_, _>>()?
            }
            _ => return Err("`tools` is not an object".into()),
        };
        let limit = match &value["maxRecursionDepth"] {
            Value::Null => None,
            limit => Some(
                limit
                    .as_u64()
                    .and_then(|limit| usize::try_from(limit).ok())
                    .ok_or("`maxRecursionDepth` is not a count")?,
            ),
        };
        let given = Message::read_all(value["messages"].clone()).map_err(|error| format!("`messages`: {error}"))?;
        let has_huge_numbers = tokens(input).any(is_beyond_doubles);
        Ok(Self { given, turns, tools, limit, has_huge_numbers, is_deep: is_deep(input) })
    }

    /// The answer to request `index`; a script that has run out fails.
    pub(super) fn turn(&self, index: usize) -> Turn {
        self.turns.get(index).cloned().unwrap_or_else(|| Turn::Failure)
    }

    /// The calls of the response to request `index`.
    pub(super) fn calls(&self, index: usize) -> &[Call] {
        match self.turns.get(index) {
            Some(Turn::Response { calls, .. }) => calls,
            _ => &[],
        }
    }

    pub(super) fn outcome(&self, call: &Call) -> Outcome<'_> {
        let Some(results) = self.tools.get(call.name()) else { return Outcome::Unknown };
        let result = match results {
            Results::Always(result) => result,
            Results::ById(results) => results.get(call.id()).unwrap_or(&NOTHING),
            Results::ByArgs(results) => {
                results.iter().find(|(args, _)| equal(args, &call.args, true)).map_or(&NOTHING, |(_, result)| result)
            }
        };
        match result.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("error")) {
            Some(Value::String(message)) => Outcome::Failure(message),
            _ => Outcome::Result(result),
        }
    }

    /// Whether two calls of the response to request `index` have the same id.
    pub(super) fn repeats_an_id(&self, index: usize) -> bool {
        let calls = self.calls(index);
        calls.iter().enumerate().any(|(at, call)| calls[..at].iter().any(|other| other.id() == call.id()))
    }

    /// Whether an id stands for two calls, of the given list or of responses.
    pub(super) fn reuses_an_id(&self) -> bool {
        let given = self.given.iter().flat_map(|message| &message.calls);
        let mut seen = HashSet::new();
        given.chain((0..self.turns.len()).flat_map(|turn| self.calls(turn))).any(|call| !seen.insert(call.id()))
    }

    /// Whether the given list has a lone surrogate.
    pub(super) fn gives_halves(&self) -> bool {
        self.given.iter().any(|message| {
            let texts = message.content.iter().chain(&message.call_id);
            texts.into_iter().any(|text| has_marks(text)) || message.calls.iter().any(call_has_half)
        })
    }

    /// Whether the response to request `index` has a lone surrogate, or a result of its calls.
    pub(super) fn meets_halves(&self, index: usize) -> bool {
        let said = matches!(self.turns.get(index), Some(Turn::Response { content, .. }) if has_marks(content));
        let calls = self.calls(index);
        said || calls.iter().any(call_has_half)
            || calls.iter().any(|call| match self.outcome(call) {
                Outcome::Result(result) => value_has_half(result),
                Outcome::Failure(message) => has_marks(message),
                Outcome::Unknown => false,
            })
    }
}

fn call_has_half(call: &Call) -> bool {
    has_marks(call.id()) || has_marks(call.name()) || value_has_half(&call.args)
}

fn value_has_half(value: &Value) -> bool {
    match value {
        Value::String(text) => has_marks(text),
        Value::Array(elements) => elements.iter().any(value_has_half),
        Value::Object(members) => members.iter().any(|(name, value)| has_marks(name) || value_has_half(value)),
        _ => false,
    }
}

fn read_turn(turn: &Value) -> Result<Turn, String> {
    if turn["error"].is_string() {
        return Ok(Turn::Failure);
    }
    let content = match &turn["content"] {
        Value::Null => String::new(),
        Value::String(content) => content.clone(),
        _ => return Err("the `content` of a turn is not a string".into()),
    };
    Ok(Turn::Response { content, calls: Call::read_all(turn.get("tool_calls").cloned())? })
}

fn read_results(results: &Value) -> Result<Results, String> {
    match results {
        Value::Array(results) => match &results[..] {
            [] => Ok(Results::Always(NOTHING.clone())),
            [result] => Ok(Results::Always(result.clone())),
            _ => Err(
                "frameworks run calls in parallel, so that no result may depend on the order: use `byId` or `byArgs`"
                    .into(),
            ),
        },
        Value::Object(members) if members.len() == 1 => {
            if let Some(Value::Object(by_id)) = members.get("byId") {
                return Ok(Results::ById(by_id.iter().map(|(id, result)| (id.clone(), result.clone())).collect()));
            }
            let pairs = members.get("byArgs").and_then(Value::as_array).ok_or("neither `byId` nor `byArgs`")?;
            let pair = |pair: &Value| match pair.as_array().map(Vec::as_slice) {
                Some([args, result]) => Ok((args.clone(), result.clone())),
                _ => Err("an element of `byArgs` is not a pair".to_owned()),
            };
            Ok(Results::ByArgs(pairs.iter().map(pair).collect::<Result<_, _>>()?))
        }
        _ => Err("its results are neither a list nor `byId` nor `byArgs`".into()),
    }
}
