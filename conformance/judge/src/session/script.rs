//! What a session was asked to do: the input of op `session` as the judge reads it.

use super::opaque::Opaque;
use crate::json::{is_beyond_doubles, tokens};
use crate::shape::{
    Compaction, Decision, Named, Part, Parts, SessionCall, SessionCut, SessionInput, SessionRun, SessionTurn,
};
use crate::universal::script::ScriptedOutcomes;
use crate::universal::value::{self, read_inside};
use serde_json::{Map, Number, Value};
use std::collections::{BTreeMap, HashSet};

/// The script of a session.
#[derive(Clone, Debug)]
pub(super) struct Session {
    /// The first is `main`.
    pub(super) agents: Vec<Agent>,
    /// The tools of all agents.
    pub(super) tools: ScriptedOutcomes,
    /// The tools that need an approval.
    pub(super) guarded: HashSet<String>,
    pub(super) runs: Vec<RunPlan>,
    /// Whether a number of the input is beyond the doubles.
    pub(super) has_huge_numbers: bool,
}

/// An agent of a session.
#[derive(Clone, Debug)]
pub(super) struct Agent {
    pub(super) name: String,
    pub(super) system: Option<String>,
}

/// How a run begins, and what the model answers in it.
#[derive(Clone, Debug)]
pub(super) struct RunPlan {
    pub(super) beginning: Beginning,
    /// Whether the thread is compacted before it.
    pub(super) compacts: bool,
    /// What the summarizing model answers.
    pub(super) summary: Option<String>,
    pub(super) turns: Vec<Turn>,
    pub(super) limit: Option<usize>,
    /// The call during which the run is cut off.
    pub(super) cut: Option<String>,
}

/// How a run begins.
#[derive(Clone, Debug)]
pub(super) enum Beginning {
    Message(String),
    Decisions(BTreeMap<String, Ruled>),
    Resume,
}

/// A decision on a pending call.
#[derive(Clone, Debug)]
pub(super) struct Ruled {
    pub(super) approves: bool,
    /// What takes the place of the arguments.
    pub(super) args: Option<Value>,
    pub(super) reason: Option<String>,
}

/// What the model answers to a request.
#[derive(Clone, Debug)]
pub(super) enum Turn {
    Response(Said),
    Failure,
}

/// A response.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) text: String,
    pub(super) calls: Vec<SaidCall>,
    pub(super) opaque: Vec<Opaque>,
}

/// A call of a response.
#[derive(Clone, Debug)]
pub(super) struct SaidCall {
    pub(super) id: String,
    /// Empty for a hand-over.
    pub(super) name: String,
    pub(super) kind: CallKind,
}

/// What a call asks for.
#[derive(Clone, Debug)]
pub(super) enum CallKind {
    /// A tool, with these arguments.
    Plain(Value),
    /// A tool, with arguments that are no object. `repaired` is the object that they stand for, if one can be seen in them.
    Raw { repaired: Option<Value> },
    /// Another agent.
    HandOver(String),
}

impl Session {
    /// Reads the input of op `session`.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn read(input: &str) -> Result<Self, String> {
        let SessionInput { system, tools, agents, runs, .. } =
            SessionInput::of(value::read(input).map_err(|error| error.to_string())?);
        let not_a_text = |name: &'static str| move || format!("`{name}` is not a string");
        let main = Agent { name: "main".into(), system: system.optional(not_a_text("system"))? };
        let (mut all, mut known) = (Map::new(), vec![main]);
        all.extend(tools.optional(|| "`tools` is not an object")?.unwrap_or_default());
        for (name, agent) in agents.optional(|| "`agents` is not an object")?.unwrap_or_default().0 {
            let Part::Proper(agent) = agent else { return Err(format!("the agent `{name}` is not an object")) };
            all.extend(
                agent.tools.optional(|| format!("the `tools` of `{name}` are not an object"))?.unwrap_or_default(),
            );
            known.push(Agent { system: agent.system.optional(not_a_text("system"))?, name });
        }
        let mut guarded = HashSet::new();
        for (name, results) in &mut all {
            // What is left is written as in op `tools`.
            if results.as_object_mut().and_then(|members| members.remove("approval")) == Some(Value::Bool(true)) {
                guarded.insert(name.clone());
            }
            if results.as_object().is_some_and(Map::is_empty) {
                *results = Value::Array(Vec::new());
            }
        }
        let Part::Proper(runs) = runs else { return Err("`runs` is not a list".into()) };
        let read = |(index, run)| read_run(run).map_err(|error| format!("run {}: {error}", index + 1));
        let session = Self {
            agents: known,
            tools: ScriptedOutcomes::read(all)?,
            guarded,
            runs: runs.into_iter().enumerate().map(read).collect::<Result<_, _>>()?,
            has_huge_numbers: tokens(input).any(is_beyond_doubles),
        };
        session.check()?;
        Ok(session)
    }

    /// Puts what was said to the requests of each run in the place of its turns.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub(super) fn hear(&mut self, said: Part<Parts<Parts<SessionTurn>>>) -> Result<(), String> {
        let Part::Proper(said) = said else { return Err("its `wire` has no list `said`".into()) };
        for (run, said) in self.runs.iter_mut().zip(said) {
            let Part::Proper(said) = said else { return Err("a run in the `said` of its `wire` is not a list".into()) };
            for (turn, said) in run.turns.iter_mut().zip(said) {
                *turn = read_turn(said).map_err(|error| format!("its `wire`: {error}"))?;
            }
        }
        Ok(())
    }

    /// Says what only several parts of the script together show.
    fn check(&self) -> Result<(), String> {
        if self.runs.is_empty() {
            return Err("it has no runs".into());
        }
        let mut said = HashSet::new();
        for (index, run) in self.runs.iter().enumerate() {
            if let Beginning::Decisions(decisions) = &run.beginning
                && let Some(id) = decisions.keys().find(|id| !said.contains(id.as_str()))
            {
                return Err(format!("run {}: it decides on `{id}`, which no run before it has said", index + 1));
            }
            for call in run.turns.iter().flat_map(Turn::calls) {
                if let CallKind::HandOver(agent) = &call.kind
                    && !self.agents.iter().any(|known| known.name == *agent)
                {
                    return Err(format!("run {}: `{}` hands over to `{agent}`, which is no agent", index + 1, call.id));
                }
                said.insert(call.id.as_str());
            }
            if let Some(during) = run.cut.as_ref().filter(|during| !said.contains(during.as_str())) {
                return Err(format!("run {}: it is cut during `{during}`, which nobody has said", index + 1));
            }
        }
        Ok(())
    }
}

impl Turn {
    /// The calls of the response.
    pub(super) fn calls(&self) -> &[SaidCall] {
        match self {
            Self::Response(said) => &said.calls,
            Self::Failure => &[],
        }
    }
}

impl SaidCall {
    pub(super) fn is_raw(&self) -> bool {
        matches!(self.kind, CallKind::Raw { .. })
    }

    pub(super) fn is_hand_over(&self) -> bool {
        matches!(self.kind, CallKind::HandOver(_))
    }
}

fn read_run(run: Part<SessionRun>) -> Result<RunPlan, String> {
    let Part::Proper(run) = run else { return Err("it is not an object".into()) };
    let SessionRun { message, decisions, resume, compact, model, max_recursion_depth, cut } = run;
    let message = message.optional(|| "its `message` is not a string")?.map(Beginning::Message);
    let decisions = decisions.optional(|| "its `decisions` are not an object")?.map(read_decisions).transpose()?;
    let resume = match resume.optional(|| "its `resume` is not true")? {
        Some(false) => return Err("its `resume` is not true".into()),
        resume => resume.map(|_| Beginning::Resume),
    };
    let beginnings: Vec<Beginning> = [message, decisions, resume].into_iter().flatten().collect();
    let beginning = match <[_; 1]>::try_from(beginnings) {
        Ok([beginning]) => beginning,
        Err(none) if none.is_empty() => {
            return Err("it has no beginning: one of `message`, `decisions` and `resume`".into());
        }
        Err(_) => return Err("it has more than one beginning: only one of `message`, `decisions` and `resume`".into()),
    };
    let compaction = compact.optional(|| "its `compact` is not an object")?;
    let compacts = compaction.as_ref().map(read_compaction).transpose()?.unwrap_or(false);
    let summary = compaction.and_then(|compaction| compaction.summary.proper().cloned());
    let Part::Proper(turns) = model else { return Err("its `model` is not a list of turns".into()) };
    if turns.is_empty() {
        return Err("its `model` has no turn".into());
    }
    let not_a_count = || "its `maxRecursionDepth` is not a count";
    let count = |limit: Number| limit.as_u64().and_then(|limit| usize::try_from(limit).ok()).ok_or_else(not_a_count);
    let limit = max_recursion_depth.optional(not_a_count)?.map(count).transpose()?;
    let cut = match cut.optional(|| "its `cut` is not an object")? {
        None => None,
        Some(SessionCut { during: Part::Proper(during), how: Part::Proper(how) })
            if ["cancel", "throw", "kill"].contains(&&*how) =>
        {
            Some(during)
        }
        Some(_) => return Err("its `cut` does not say `during` which call, and `how`: cancel, throw or kill".into()),
    };
    let turns = turns.into_iter().map(read_turn).collect::<Result<_, _>>()?;
    Ok(RunPlan { beginning, compacts, summary, turns, limit, cut })
}

fn read_compaction(compaction: &Compaction) -> Result<bool, String> {
    let Compaction { keep_messages, tokens, summary } = compaction;
    let is_count = |part: &Part<Number>| part.proper().is_some_and(Number::is_u64);
    let is_one =
        (is_count(keep_messages) && *tokens == Part::Missing) || (is_count(tokens) && *keep_messages == Part::Missing);
    if is_one && !matches!(summary, Part::Odd(_)) {
        Ok(true)
    } else {
        Err("its `compact` is neither `keepMessages` nor `tokens` with a count, and a `summary` that is a string"
            .into())
    }
}

fn read_decisions(decisions: Named<Decision>) -> Result<Beginning, String> {
    let read = |(id, decision)| {
        let Part::Proper(Decision { approve: Part::Proper(approves), args, reason }) = decision else {
            return Err(format!("the decision on `{id}` does not say whether it is an `approve`"));
        };
        let reason = reason.optional(|| format!("the `reason` of the decision on `{id}` is not a string"))?;
        let args = args.into_json();
        if args.as_ref().is_some_and(|args| !args.is_object()) {
            return Err(format!("the `args` of the decision on `{id}` are not an object"));
        }
        Ok((id, Ruled { approves, args, reason }))
    };
    decisions.0.into_iter().map(read).collect::<Result<_, _>>().map(Beginning::Decisions)
}

fn read_turn(turn: Part<SessionTurn>) -> Result<Turn, String> {
    let Part::Proper(SessionTurn { error, content, calls, opaque }) = turn else {
        return Err("a turn is not an object".into());
    };
    if error.optional(|| "the `error` of a turn is not a string")?.is_some() {
        return Ok(Turn::Failure);
    }
    let text = content.optional(|| "the `content` of a turn is not a string")?.unwrap_or_default();
    let calls: Parts<SessionCall> = calls.optional(|| "the `tool_calls` of a turn are not a list")?.unwrap_or_default();
    let opaque = opaque.optional(|| "the `opaque` of a turn is not a list")?.unwrap_or_default();
    Ok(Turn::Response(Said {
        text,
        calls: calls.into_iter().map(read_call).collect::<Result<_, _>>()?,
        opaque: opaque.into_iter().map(Opaque::read).collect::<Result<_, _>>()?,
    }))
}

fn read_call(call: Part<SessionCall>) -> Result<SaidCall, String> {
    let Part::Proper(SessionCall { id: Part::Proper(id), name, args, arguments, handoff }) = call else {
        return Err("a call is not an object with an `id`".into());
    };
    if let Some(agent) = handoff.optional(|| format!("the `handoff` of `{id}` is not a string"))? {
        return Ok(SaidCall { id, name: String::new(), kind: CallKind::HandOver(agent) });
    }
    let Part::Proper(name) = name else { return Err(format!("the call `{id}` has no `name`")) };
    let kind = match arguments.optional(|| format!("the `arguments` of `{id}` are not a string"))? {
        None => CallKind::Plain(args.into_json().filter(|args| !args.is_null()).unwrap_or_else(|| Map::new().into())),
        Some(raw) => match read_inside(&raw) {
            Ok(args @ Value::Object(_)) => CallKind::Plain(args),
            _ => CallKind::Raw { repaired: repaired(&raw) },
        },
    };
    Ok(SaidCall { id, name, kind })
}

/// The object that raw arguments stand for: one that is fenced or doubly encoded, or none at all for an empty text.
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
