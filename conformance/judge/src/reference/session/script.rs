//! The script of a session: the input of op `session`, read.

use crate::reference::count;
use crate::reference::keyed::KeyedTools;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;
use threadspec::session::{
    AgentSpec, Approval, Beginning, Budget, ModelReply, OpaqueBlock, RequestedCall, handoff_tool,
};
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Error, Field};

/// A whole script.
pub(super) struct Script {
    /// The first is the agent of the input itself.
    pub(super) agents: Vec<AgentSpec>,
    /// The tools of each agent.
    pub(super) tools: Vec<KeyedTools>,
    pub(super) runs: Vec<ScriptedRun>,
}

/// A run, and what happens to it.
pub(super) struct ScriptedRun {
    pub(super) compact: Option<ScriptedCompaction>,
    pub(super) beginning: Beginning,
    /// None, where the model is asked elsewhere.
    pub(super) turns: Vec<Result<ModelReply, Error>>,
    pub(super) limit: Option<usize>,
    pub(super) cut: Option<ScriptedCut>,
}

/// A compaction before a run.
pub(super) struct ScriptedCompaction {
    pub(super) budget: Budget,
    /// What the summarizing model answers; without it the thread is trimmed.
    pub(super) summary: Option<String>,
}

/// What ends a run while a call is under way.
#[derive(Clone)]
pub(super) struct ScriptedCut {
    /// The id of the call.
    pub(super) during: String,
    pub(super) how: CutMeans,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum CutMeans {
    Cancel,
    Throw,
    Kill,
}

impl Script {
    /// Reads an input.
    ///
    /// # Errors
    /// An [`Error`] that names what is missing or of the wrong type.
    pub(super) fn read(input: &Field<'_>) -> Result<Self, Error> {
        let (main, tools) = read_agent("main", input)?;
        let (mut agents, mut all_tools) = (vec![main], vec![tools]);
        if let Some(others) = input.get("agents").optional() {
            for (name, agent) in others.members()? {
                agent.object()?;
                let (agent, tools) = read_agent(&without_marks(name), &agent)?;
                agents.push(agent);
                all_tools.push(tools);
            }
        }
        let runs = input.get("runs").elements()?.map(|run| ScriptedRun::read(&run)).collect::<Result<_, _>>()?;
        Ok(Self { agents, tools: all_tools, runs })
    }
}

/// An agent with its tools.
fn read_agent(name: &str, agent: &Field<'_>) -> Result<(AgentSpec, KeyedTools), Error> {
    let mut spec = AgentSpec { name: name.to_owned(), ..AgentSpec::default() };
    if let Some(system) = agent.get("system").optional() {
        spec.system = system.string()?.into_owned();
    }
    let Some(tools) = agent.get("tools").optional().cloned() else { return Ok((spec, KeyedTools::default())) };
    for (name, tool) in tools.members()? {
        if tool.get("approval").optional().is_some_and(|approval| approval.boolean() == Ok(true)) {
            spec.guarded.insert(without_marks(name).into_owned());
        }
    }
    Ok((spec, KeyedTools::read(&tools)?))
}

impl ScriptedRun {
    fn read(run: &Field<'_>) -> Result<Self, Error> {
        let model = run.get("model");
        let turns =
            model.optional().map(|turns| turns.elements()?.map(|turn| read_turn(&turn)).collect()).transpose()?;
        let limit = run.get("maxRecursionDepth").optional().map(Field::integer).transpose()?;
        Ok(Self {
            compact: run.get("compact").optional().map(ScriptedCompaction::read).transpose()?,
            beginning: read_beginning(run)?,
            turns: turns.unwrap_or_default(),
            limit: limit.map(count),
            cut: run.get("cut").optional().map(ScriptedCut::read).transpose()?,
        })
    }
}

fn read_beginning(run: &Field<'_>) -> Result<Beginning, Error> {
    let (message, decisions, resume) = (run.get("message"), run.get("decisions"), run.get("resume"));
    match (message.optional(), decisions.optional(), resume.optional()) {
        (Some(message), None, None) => message.string().map(|text| Beginning::Message(text.into_owned())),
        (None, Some(decisions), None) => {
            let decision = |(id, decision)| Ok((without_marks(id).into_owned(), read_approval(&decision)?));
            decisions.members()?.map(decision).collect::<Result<BTreeMap<_, _>, _>>().map(Beginning::Decisions)
        }
        (None, None, Some(resume)) if resume.boolean()? => Ok(Beginning::Resume),
        _ => Err(run.error("expected one of `message`, `decisions` and `resume`")),
    }
}

fn read_approval(decision: &Field<'_>) -> Result<Approval, Error> {
    decision.object()?;
    Ok(if decision.get("approve").boolean()? {
        let args = decision.get("args").optional().map(Field::object).transpose()?;
        Approval::Approved { args: args.cloned() }
    } else {
        Approval::Denied { reason: optional_text(decision, "reason")? }
    })
}

fn optional_text(field: &Field<'_>, name: &str) -> Result<Option<String>, Error> {
    field.get(name).optional().map(Field::string).transpose().map(|text| text.map(Cow::into_owned))
}

impl ScriptedCompaction {
    fn read(compact: &Field<'_>) -> Result<Self, Error> {
        let size = |name: &str| compact.get(name).optional().map(Field::integer).transpose();
        let budget = match (size("keepMessages")?, size("tokens")?) {
            (Some(messages), None) => Budget::Messages(count(messages)),
            (None, Some(tokens)) => Budget::Tokens(count(tokens)),
            _ => return Err(compact.error("expected either `keepMessages` or `tokens`")),
        };
        Ok(Self { budget, summary: optional_text(compact, "summary")? })
    }
}

impl ScriptedCut {
    fn read(cut: &Field<'_>) -> Result<Self, Error> {
        let how = match &*cut.get("how").string()? {
            "cancel" => CutMeans::Cancel,
            "throw" => CutMeans::Throw,
            "kill" => CutMeans::Kill,
            other => return Err(cut.get("how").error(format!("expected cancel, throw or kill, found {other:?}"))),
        };
        Ok(Self { during: cut.get("during").string()?.into_owned(), how })
    }
}

fn read_turn(turn: &Field<'_>) -> Result<Result<ModelReply, Error>, Error> {
    turn.object()?;
    if let Some(error) = optional_text(turn, "error")? {
        return Ok(Err(Error::model_failure(error)));
    }
    let (calls, opaque) = (turn.get("tool_calls"), turn.get("opaque"));
    let calls =
        calls.optional().map_or(Ok(Vec::new()), |calls| calls.elements()?.map(|call| read_call(&call)).collect())?;
    let block = |block: Field<'_>| {
        // It comes back as it is, marks included.
        let read = serde_json::from_value::<OpaqueBlock>(block.value().cloned().unwrap_or_default());
        read.map_err(|error| block.error(error.to_string()))
    };
    let opaque = opaque.optional().map_or(Ok(Vec::new()), |opaque| opaque.elements()?.map(block).collect())?;
    Ok(Ok(ModelReply { content: optional_text(turn, "content")?.unwrap_or_default(), calls, opaque }))
}

fn read_call(call: &Field<'_>) -> Result<RequestedCall, Error> {
    let id = call.get("id").string()?.into_owned();
    if let Some(agent) = optional_text(call, "handoff")? {
        return Ok(RequestedCall { id, name: handoff_tool(&agent), arguments: String::new() });
    }
    let name = call.get("name").string()?.into_owned();
    let arguments = if let Some(arguments) = call.get("arguments").optional() {
        arguments.string()?.into_owned()
    } else {
        let args = call.get("args").optional().map(Field::object).transpose()?;
        // Data is marked, and arguments are text.
        unmark_surrogates(&Value::Object(args.cloned().unwrap_or_default()).to_string()).into_owned()
    };
    Ok(RequestedCall { id, name, arguments })
}
