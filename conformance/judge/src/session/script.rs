//! Reads the script of a session for the judge: the calls that wait, and the meaning of raw arguments.

use crate::Error;
use crate::json::{is_beyond_doubles, tokens};
use crate::script::{
    CallWish, CutMeans, ScriptAgent, ScriptCall, ScriptCut, ScriptRun, ScriptSteer, ScriptTurn, SessionScript,
};
use crate::shape::{Part, Parts};
use crate::universal::script::ScriptedOutcomes;
use crate::universal::value::read_inside;
use serde_json::{Map, Value};
use std::collections::HashSet;
use threadspec::session::{Beginning, OpaqueBlock};

/// The script of a session.
#[derive(Clone, Debug)]
pub(super) struct JudgedScript {
    /// The first is `main`.
    pub(super) agents: Vec<ScriptAgent>,
    /// The tools of all agents.
    pub(super) tools: ScriptedOutcomes,
    /// The tools that need an approval.
    pub(super) guarded: HashSet<String>,
    pub(super) runs: Vec<PlannedRun>,
    /// For each run the one on whose thread it goes on.
    pub(super) parents: Vec<Option<usize>>,
    /// True if a number of the input is beyond the doubles.
    pub(super) has_huge_numbers: bool,
}

/// How a run begins, and what the model answers in it.
#[derive(Clone, Debug)]
pub(super) struct PlannedRun {
    pub(super) beginning: Beginning,
    /// The run whose message, and all that is behind it, the message replaces.
    pub(super) at: Option<usize>,
    /// True if the thread is compacted before it.
    pub(super) compacts: bool,
    /// The answer of the summarizing model.
    pub(super) summary: Option<String>,
    pub(super) turns: Vec<PlannedTurn>,
    pub(super) limit: Option<usize>,
    pub(super) say: Option<ScriptSteer>,
    pub(super) cut: Option<ScriptCut>,
}

/// The model's answer to a request.
#[derive(Clone, Debug)]
pub(super) enum PlannedTurn {
    Response(PlannedResponse),
    Failure,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct PlannedResponse {
    pub(super) text: String,
    pub(super) calls: Vec<PlannedCall>,
    pub(super) opaque: Vec<OpaqueBlock>,
}

/// A call of a response.
#[derive(Clone, Debug)]
pub(super) struct PlannedCall {
    pub(super) id: String,
    /// Empty for a hand-over.
    pub(super) name: String,
    pub(super) kind: CallKind,
}

/// The demand of a call.
#[derive(Clone, Debug)]
pub(super) enum CallKind {
    /// A tool, with these arguments.
    Plain(Value),
    /// A tool, with arguments that are no object. `repaired` is the object that they represent, if one can be seen in them.
    Raw { repaired: Option<Value> },
    /// Another agent.
    HandOver(String),
}

impl JudgedScript {
    /// Reads the input of op `session`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read(input: &str) -> Result<Self, Error> {
        let script = SessionScript::read(input)?;
        let plan = Self {
            tools: ScriptedOutcomes::of_session(script.tools()),
            guarded: script.tools().filter(|tool| tool.needs_approval).map(|tool| tool.name.clone()).collect(),
            parents: script.parents(),
            agents: script.agents,
            runs: script.runs.into_iter().map(PlannedRun::of).collect(),
            has_huge_numbers: tokens(input).any(is_beyond_doubles),
        };
        plan.check()?;
        Ok(plan)
    }

    /// Replaces the turns of each run by the answers to its requests.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn hear(&mut self, said: Part<Parts<Parts<Value>>>) -> Result<(), Error> {
        let Part::Proper(said) = said else { return Err(Error::new("its `wire` has no list `said`")) };
        for (run, said) in self.runs.iter_mut().zip(said) {
            let Part::Proper(said) = said else {
                return Err(Error::new("a run in the `said` of its `wire` is not a list"));
            };
            for (turn, said) in run.turns.iter_mut().zip(said) {
                let said = ScriptTurn::of(&said.to_json());
                *turn = PlannedTurn::of(said.map_err(|error| Error::new(format_args!("its `wire`: {error}")))?);
            }
        }
        Ok(())
    }

    /// Says what only several parts of the script together show.
    fn check(&self) -> Result<(), Error> {
        if self.runs.is_empty() {
            return Err(Error::new("it has no runs"));
        }
        let mut said = HashSet::new();
        for (index, run) in self.runs.iter().enumerate() {
            let wrong = |what: String| Err(Error::new(format_args!("run {}: {what}", index + 1)));
            if run.turns.is_empty() {
                return wrong("its `model` has no turn".to_owned());
            }
            if run.at.is_some_and(|at| at >= index) {
                return wrong("it replaces the message of a run that is not before it".to_owned());
            }
            if let Beginning::Decisions(decisions) = &run.beginning
                && let Some(id) = decisions.keys().find(|id| !said.contains(id.as_str()))
            {
                return wrong(format!("it decides on `{id}`, which no run before it has"));
            }
            for call in run.turns.iter().flat_map(PlannedTurn::calls) {
                if let CallKind::HandOver(agent) = &call.kind
                    && !self.agents.iter().any(|known| known.name == *agent)
                {
                    return wrong(format!("`{}` hands over to `{agent}`, which is no agent", call.id));
                }
                said.insert(call.id.as_str());
            }
            if let Some(during) = run.cut_call().filter(|during| !said.contains(during)) {
                return wrong(format!("it is cut during `{during}`, which no response has"));
            }
        }
        Ok(())
    }
}

impl PlannedRun {
    fn of(ScriptRun { beginning, at, compact, turns, limit, say, cut }: ScriptRun) -> Self {
        Self {
            beginning,
            at: at.map(|at| at.saturating_sub(1)),
            compacts: compact.is_some(),
            summary: compact.and_then(|compact| compact.summary),
            turns: turns.into_iter().map(PlannedTurn::of).collect(),
            limit,
            say,
            cut,
        }
    }

    /// The call during which the run is cut off.
    pub(super) fn cut_call(&self) -> Option<&str> {
        self.cut.as_ref().map(|cut| cut.during.as_str())
    }

    /// Returns whether the script itself lets a call end without a result, whatever the report says: it throws, or its process ends.
    pub(super) fn ends_without_result(&self, id: &str) -> bool {
        self.cut.as_ref().is_some_and(|cut| cut.how != CutMeans::Cancel && cut.during == id)
    }
}

impl PlannedTurn {
    fn of(turn: ScriptTurn) -> Self {
        match turn {
            ScriptTurn::Failure(_) => Self::Failure,
            ScriptTurn::Response(said) => Self::Response(PlannedResponse {
                text: said.content.unwrap_or_default(),
                calls: said.calls.into_iter().map(PlannedCall::of).collect(),
                opaque: said.opaque,
            }),
        }
    }

    /// The calls of the response.
    pub(super) fn calls(&self) -> &[PlannedCall] {
        match self {
            Self::Response(said) => &said.calls,
            Self::Failure => &[],
        }
    }
}

impl PlannedCall {
    fn of(ScriptCall { id, wants }: ScriptCall) -> Self {
        match wants {
            CallWish::HandOver { agent } => Self { id, name: String::new(), kind: CallKind::HandOver(agent) },
            CallWish::Tool { name, args } => Self { id, name, kind: CallKind::Plain(args.into()) },
            CallWish::Raw { name, arguments } => {
                let kind = match read_inside(&arguments) {
                    Ok(args @ Value::Object(_)) => CallKind::Plain(args),
                    _ => CallKind::Raw { repaired: repaired(&arguments) },
                };
                Self { id, name, kind }
            }
        }
    }

    pub(super) fn is_raw(&self) -> bool {
        matches!(self.kind, CallKind::Raw { .. })
    }

    pub(super) fn is_hand_over(&self) -> bool {
        matches!(self.kind, CallKind::HandOver(_))
    }
}

/// The object that raw arguments represent: one that is fenced or doubly encoded, or none at all for an empty text.
fn repaired(raw: &str) -> Option<Value> {
    let text = raw.trim();
    if text.is_empty() {
        return Some(Map::new().into());
    }
    if let Some(fenced) = text.strip_prefix("```").and_then(|text| text.trim_end().strip_suffix("```")) {
        let (language, body) = fenced.split_once('\n').unwrap_or(("", fenced));
        let is_word = language.chars().all(|c| c.is_ascii_alphanumeric());
        return object_in(if is_word { body } else { fenced });
    }
    object_in(text)
}

/// The object that a text is, or that a text inside it is.
fn object_in(text: &str) -> Option<Value> {
    match read_inside(text.trim()).ok()? {
        object @ Value::Object(_) => Some(object),
        Value::String(inner) => object_in(&inner),
        _ => None,
    }
}
