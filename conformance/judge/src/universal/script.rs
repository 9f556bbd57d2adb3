//! Reads the input of op `tools` for the judge.

use super::message::{AgentCall, AgentMessage};
use super::value::{equal, read};
use super::wire::can_be_declared;
use crate::json::{is_beyond_doubles, is_deep, tokens};
use crate::script::{ScriptResults, ScriptTool};
use crate::shape::{Input, Part, Parts, ScriptedFault, ScriptedTurn};
use serde_json::{Number, Value};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use threadspec::oracle::Api;
use threadspec::surrogates::has_marks;

/// The model's answer to one request.
#[derive(Clone, Debug)]
pub(crate) enum ModelTurn {
    /// A response.
    Response { content: String, calls: Vec<AgentCall> },
    /// It fails.
    Failure,
}

/// The scripted results of one tool.
#[derive(Clone, Debug)]
enum ScriptedResults {
    /// One result for every call.
    Always(Value),
    /// By the id of the call; `again` has what a second run of a call gives.
    ById {
        results: HashMap<String, Value>,
        again: HashMap<String, Value>,
    },
    ByArgs(Vec<(Value, Value)>),
}

/// The scripted results of all tools.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScriptedOutcomes(Arc<HashMap<String, ScriptedResults>>);

impl ScriptedOutcomes {
    /// Reads the results of each tool.
    ///
    /// # Errors
    ///
    /// Says what is wrong with one.
    pub(crate) fn read(tools: impl IntoIterator<Item = (String, Value)>) -> Result<Self, String> {
        let read = |(name, results)| {
            let results = read_results(results).map_err(|error| format!("tool `{name}`: {error}"))?;
            Ok::<_, String>((name, results))
        };
        tools.into_iter().map(read).collect::<Result<_, _>>().map(Arc::new).map(Self)
    }

    /// Those of a session.
    pub(crate) fn of_session<'s>(tools: impl Iterator<Item = &'s ScriptTool>) -> Self {
        let results = |results: &ScriptResults| match results {
            ScriptResults::Always(result) => ScriptedResults::Always(result.clone().unwrap_or_else(|| NOTHING.clone())),
            ScriptResults::ById(by_id) => {
                ScriptedResults::ById { results: by_id.iter().cloned().collect(), again: HashMap::new() }
            }
        };
        Self(Arc::new(tools.map(|tool| (tool.name.clone(), results(&tool.results))).collect()))
    }

    /// Returns the outcome of a call.
    pub(crate) fn outcome(&self, call: &AgentCall) -> CallOutcome<'_> {
        let Some(results) = self.0.get(call.name()) else { return CallOutcome::Unknown };
        let result = match results {
            ScriptedResults::Always(result) => result,
            ScriptedResults::ById { results, .. } => results.get(call.id()).unwrap_or(&NOTHING),
            ScriptedResults::ByArgs(results) => {
                results.iter().find(|(args, _)| equal(args, &call.args, true)).map_or(&NOTHING, |(_, result)| result)
            }
        };
        match result.as_object().filter(|members| members.len() == 1).and_then(|members| members.get("error")) {
            Some(Value::String(message)) => CallOutcome::Failure(message),
            _ => CallOutcome::Result(result),
        }
    }
}

/// The outcome of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallOutcome<'a> {
    Result(&'a Value),
    /// The tool fails with this message.
    Failure(&'a str),
    /// There is no such tool.
    Unknown,
    /// Over the wire: there is one, but no request can declare it, so that it may be run, or be unknown.
    Undeclared,
}

impl CallOutcome<'_> {
    pub(crate) fn is_failure(&self) -> bool {
        !matches!(self, Self::Result(_))
    }
}

/// The script of a run.
#[derive(Clone, Debug)]
pub(crate) struct RunScript {
    pub(crate) given: Vec<AgentMessage>,
    pub(crate) turns: Vec<ModelTurn>,
    tools: ScriptedOutcomes,
    pub(crate) limit: Option<usize>,
    /// True if a number of the input is beyond the doubles.
    pub(crate) has_huge_numbers: bool,
    /// True if the input is nested so deep that it may be refused, as in every profile (INP-3).
    pub(crate) is_deep: bool,
    /// Over the wire: the turns whose responses were cut off at a limit.
    limited: HashSet<usize>,
    /// Over the wire: the turns whose responses were filtered or refused.
    withheld: HashSet<usize>,
    /// The turns with a call whose arguments are a text that is no object.
    unreadable: HashSet<usize>,
    /// Over the wire: what came whole of the turns that then failed.
    remains: HashMap<usize, ModelTurn>,
    /// The API that the run speaks over the wire.
    api: Option<Api>,
    /// Over the wire: what can happen to the answers.
    pub(crate) events: WireEvents,
}

/// The parts of a script that show over the wire only.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WireEvents {
    /// An attempt fails, and nothing says how long to wait.
    pub(crate) fails: bool,
    /// An attempt fails, and the answer says how long to wait.
    pub(crate) says_when: bool,
    /// The model thinks.
    pub(crate) thinks: bool,
}

impl WireEvents {
    fn of(turns: &Parts<ScriptedTurn>) -> Self {
        let turns = || turns.iter().filter_map(Part::proper);
        let faults = || turns().flat_map(|turn| turn.attempts.list()).filter_map(Part::proper);
        let says_when = |fault: &ScriptedFault| fault.retry_after_ms.proper().is_some();
        Self {
            fails: faults().any(|fault| !says_when(fault)),
            says_when: faults().any(says_when),
            thinks: turns().any(|turn| !turn.thinking.list().is_empty()),
        }
    }
}

/// The result of a call that the script does not list.
static NOTHING: Value = Value::String(String::new());

impl RunScript {
    /// Reads the input of op `tools`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(crate) fn read(input: &str) -> Result<Self, String> {
        let Input { messages, model, tools, max_recursion_depth, .. } =
            Input::of(read(input).map_err(|error| error.to_string())?);
        let Part::Proper(turns) = model else { return Err("`model` is not a list of turns".into()) };
        let events = WireEvents::of(&turns);
        let turns = turns.into_iter().map(read_turn).collect::<Result<_, _>>()?;
        let tools = tools.optional(|| "`tools` is not an object")?.unwrap_or_default();
        let tools = ScriptedOutcomes::read(tools)?;
        let count = |limit: &Number| limit.as_u64().and_then(|limit| usize::try_from(limit).ok());
        let not_a_count = || "`maxRecursionDepth` is not a count";
        let limit = max_recursion_depth.optional(not_a_count)?;
        let limit = limit.map(|limit| count(&limit).ok_or_else(not_a_count)).transpose()?;
        let given = AgentMessage::read_all(messages).map_err(|error| format!("`messages`: {error}"))?;
        let has_huge_numbers = tokens(input).any(is_beyond_doubles);
        let (limited, withheld, remains) = (HashSet::new(), HashSet::new(), HashMap::new());
        Ok(Self {
            given,
            turns,
            tools,
            limit,
            has_huge_numbers,
            is_deep: is_deep(input),
            limited,
            withheld,
            unreadable: unreadable(input),
            remains,
            api: None,
            events,
        })
    }

    /// The script of a run of a session, which begins with this list.
    pub(crate) fn of_session(
        given: Vec<AgentMessage>,
        turns: Vec<ModelTurn>,
        tools: ScriptedOutcomes,
        limit: Option<usize>,
        has_huge_numbers: bool,
    ) -> Self {
        Self {
            given,
            turns,
            tools,
            limit,
            has_huge_numbers,
            is_deep: false,
            limited: HashSet::new(),
            withheld: HashSet::new(),
            unreadable: HashSet::new(),
            remains: HashMap::new(),
            api: None,
            events: WireEvents::default(),
        }
    }

    /// Replaces the first turns by the answers over the wire of this API.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(crate) fn hear(&mut self, api: Api, said: Parts<ScriptedTurn>) -> Result<(), String> {
        self.api = Some(api);
        for (index, turn) in said.into_iter().enumerate() {
            if let Part::Proper(turn) = &turn {
                let stops_for = |reasons: &[&str]| turn.stop.text().is_some_and(|stop| reasons.contains(&stop));
                if stops_for(&["length", "max_tokens", "max_output_tokens", "model_context_window_exceeded"]) {
                    self.limited.insert(index);
                } else if turn.refusal.text().is_some() || stops_for(&["content_filter", "refusal"]) {
                    self.withheld.insert(index);
                }
                if turn.error.proper().is_some() {
                    let whole = ScriptedTurn { error: Part::Missing, ..turn.clone() };
                    self.remains.insert(index, read_turn(Part::Proper(whole))?);
                }
            }
            let turn = read_turn(turn)?;
            match self.turns.get_mut(index) {
                Some(scripted) => *scripted = turn,
                None => self.turns.push(turn),
            }
        }
        Ok(())
    }

    /// Returns whether the response to request `index` was cut off at a limit, or has arguments that nobody can read. Then the model may be
    /// asked for the rest, or for better ones.
    pub(crate) fn goes_on_behind(&self, index: usize) -> bool {
        self.limited.contains(&index) || self.api.is_some() && self.unreadable.contains(&index)
    }

    /// Returns whether the response to request `index` was cut off at a limit, filtered, refused, or cannot be read.
    pub(crate) fn is_cut_off(&self, index: usize) -> bool {
        self.goes_on_behind(index) || self.withheld.contains(&index)
    }

    /// Returns the part of the answer to request `index` that came whole before it failed.
    pub(crate) fn remains(&self, index: usize) -> Option<(&str, &[AgentCall])> {
        match self.remains.get(&index)? {
            ModelTurn::Response { content, calls } => Some((content, calls)),
            ModelTurn::Failure => None,
        }
    }

    /// The answer to request `index`; a script that has run out fails.
    pub(crate) fn turn(&self, index: usize) -> ModelTurn {
        self.turns.get(index).cloned().unwrap_or_else(|| ModelTurn::Failure)
    }

    /// The calls of the response to request `index`.
    pub(crate) fn calls(&self, index: usize) -> &[AgentCall] {
        match self.turns.get(index) {
            Some(ModelTurn::Response { calls, .. }) => calls,
            _ => &[],
        }
    }

    pub(crate) fn outcome(&self, call: &AgentCall) -> CallOutcome<'_> {
        match self.tools.outcome(call) {
            CallOutcome::Unknown => CallOutcome::Unknown,
            _ if self.api.is_some_and(|api| !can_be_declared(api, call.name())) => CallOutcome::Undeclared,
            outcome => outcome,
        }
    }

    /// Returns the result of a call that is run a second time, which nobody should see.
    pub(crate) fn again(&self, call: &AgentCall) -> Option<&Value> {
        match self.tools.0.get(call.name())? {
            ScriptedResults::ById { again, .. } => again.get(call.id()),
            ScriptedResults::Always(_) | ScriptedResults::ByArgs(_) => None,
        }
    }

    /// Returns whether two calls of the response to request `index` have the same id.
    pub(crate) fn repeats_an_id(&self, index: usize) -> bool {
        let calls = self.calls(index);
        calls.iter().enumerate().any(|(at, call)| calls[..at].iter().any(|other| other.id() == call.id()))
    }

    /// Returns whether an id represents two calls, of the given list or of responses.
    pub(crate) fn reuses_an_id(&self) -> bool {
        let given = self.given.iter().flat_map(|message| &message.calls);
        let mut seen = HashSet::new();
        given.chain((0..self.turns.len()).flat_map(|turn| self.calls(turn))).any(|call| !seen.insert(call.id()))
    }

    /// Returns whether the given list has a lone surrogate.
    pub(crate) fn gives_halves(&self) -> bool {
        self.given.iter().any(|message| {
            let texts = message.content.iter().chain(&message.call_id);
            texts.into_iter().any(|text| has_marks(text)) || message.calls.iter().any(call_has_half)
        })
    }

    /// Returns whether the response to request `index` has a lone surrogate, or a result of its calls.
    pub(crate) fn meets_halves(&self, index: usize) -> bool {
        let said = matches!(self.turns.get(index), Some(ModelTurn::Response { content, .. }) if has_marks(content));
        let calls = self.calls(index);
        said || calls.iter().any(call_has_half)
            || calls.iter().any(|call| match self.outcome(call) {
                CallOutcome::Result(result) => value_has_half(result),
                CallOutcome::Failure(message) => has_marks(message),
                CallOutcome::Unknown | CallOutcome::Undeclared => false,
            })
    }
}

fn call_has_half(call: &AgentCall) -> bool {
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

fn read_turn(turn: Part<ScriptedTurn>) -> Result<ModelTurn, String> {
    match turn {
        Part::Proper(ScriptedTurn { error: Part::Proper(_), .. }) => Ok(ModelTurn::Failure),
        Part::Proper(ScriptedTurn { content, calls, .. }) => {
            let content = content.optional(|| "the `content` of a turn is not a string")?.unwrap_or_default();
            Ok(ModelTurn::Response { content, calls: AgentCall::read_all(calls)? })
        }
        Part::Odd(_) | Part::Missing => Err("a turn is not an object".into()),
    }
}

fn read_results(results: Value) -> Result<ScriptedResults, String> {
    match results {
        Value::Array(mut results) if results.len() <= 1 => {
            Ok(ScriptedResults::Always(results.pop().unwrap_or_else(|| NOTHING.clone())))
        }
        Value::Array(_) => {
            Err("frameworks run calls in parallel, so that no result may depend on the order: use `byId` or `byArgs`"
                .into())
        }
        Value::Object(mut members) if members.len() == 2 => match (members.remove("byId"), members.remove("again")) {
            (Some(Value::Object(by_id)), Some(Value::Object(again))) => {
                Ok(ScriptedResults::ById { results: by_id.into_iter().collect(), again: again.into_iter().collect() })
            }
            _ => Err("of two members, one is `byId` and the other `again`".into()),
        },
        Value::Object(members) if members.len() == 1 => match members.into_iter().next() {
            Some((name, Value::Object(by_id))) if name == "byId" => {
                Ok(ScriptedResults::ById { results: by_id.into_iter().collect(), again: HashMap::new() })
            }
            Some((name, Value::Array(pairs))) if name == "byArgs" => {
                let pair = |pair: Value| match pair {
                    Value::Array(pair) => <[Value; 2]>::try_from(pair).ok(),
                    _ => None,
                };
                let pairs = pairs.into_iter().map(pair).map(|pair| Some(pair?.into()));
                let pairs = pairs.collect::<Option<_>>().ok_or("an element of `byArgs` is not a pair")?;
                Ok(ScriptedResults::ByArgs(pairs))
            }
            _ => Err("neither `byId` nor `byArgs`".into()),
        },
        _ => Err("its results are neither a list nor `byId` nor `byArgs`".into()),
    }
}

/// The turns with a call whose arguments are a text that is no JSON object. An agent may end the run for it.
fn unreadable(input: &str) -> HashSet<usize> {
    if !input.contains("\"arguments\"") {
        return HashSet::new();
    }
    let script = read(input).unwrap_or_default();
    let is_object = |text: &str| read(text).is_ok_and(|value| value.is_object());
    let has_one = |turn: &Value| {
        let mut calls = turn["tool_calls"].as_array().into_iter().flatten();
        calls.any(|call| call["arguments"].as_str().is_some_and(|text| !is_object(text)))
    };
    let turns = script["model"].as_array().into_iter().flatten().enumerate();
    turns.filter(|(_, turn)| has_one(turn)).map(|(index, _)| index).collect()
}
