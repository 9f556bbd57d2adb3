//! From JSON to a script.

use super::{
    CallWish, CutMeans, MAIN, ScriptAgent, ScriptCall, ScriptCompaction, ScriptCut, ScriptResponse, ScriptResults,
    ScriptRun, ScriptSteer, ScriptTool, ScriptTurn, SessionScript,
};
use serde_json::Value;
use threadspec::session::{Approval, Beginning, Budget, OpaqueBlock};
use threadspec::{Error, Field};

pub(super) fn script(input: &Value) -> Result<SessionScript, Error> {
    let input = Field::root(input, "input");
    only(&input, &["system", "tools", "agents", "runs"])?;
    let mut agents = vec![agent(MAIN, &input)?];
    if let Some(others) = input.get("agents").optional() {
        for (name, other) in others.members()? {
            only(&other, &["system", "tools"])?;
            agents.push(agent(name, &other)?);
        }
    }
    let runs = input.get("runs").elements()?.map(|field| run(&field)).collect::<Result<_, _>>()?;
    Ok(SessionScript { agents, runs })
}

/// Refuses members of other names, and what is no object.
fn only(object: &Field<'_>, names: &[&str]) -> Result<(), Error> {
    match object.members()?.find(|(name, _)| !names.contains(name)) {
        None => Ok(()),
        Some((_, member)) => Err(member.error(format!("unknown, expected one of {}", names.join(", ")))),
    }
}

/// A text as data, marks included.
fn text(field: &Field<'_>) -> Result<String, Error> {
    field.string()?;
    Ok(field.value().and_then(Value::as_str).unwrap_or_default().to_owned())
}

fn optional_text(object: &Field<'_>, name: &str) -> Result<Option<String>, Error> {
    object.get(name).optional().map(text).transpose()
}

/// The elements of a list, each read; none where there is no list.
fn optional_list<T>(
    object: &Field<'_>,
    name: &str,
    read: impl Fn(&Field<'_>) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    object.get(name).optional().map_or(Ok(Vec::new()), |list| list.elements()?.map(|element| read(&element)).collect())
}

fn size(count: &Field<'_>) -> Result<usize, Error> {
    // More than can be counted is as good as no limit.
    count.integer().map(|count| usize::try_from(count).unwrap_or(usize::MAX))
}

fn agent(name: &str, agent: &Field<'_>) -> Result<ScriptAgent, Error> {
    let tools = match agent.get("tools").optional() {
        None => Vec::new(),
        Some(tools) => tools.members()?.map(|(name, results)| tool(name, &results)).collect::<Result<_, _>>()?,
    };
    Ok(ScriptAgent { name: name.to_owned(), system: optional_text(agent, "system")?, tools })
}

fn tool(name: &str, tool: &Field<'_>) -> Result<ScriptTool, Error> {
    let value = |field: Field<'_>| field.value().cloned().unwrap_or_default();
    let name = name.to_owned();
    if tool.value().is_some_and(Value::is_array) {
        let mut results: Vec<Value> = tool.elements()?.map(value).collect();
        if results.len() > 1 {
            // Frameworks run calls in parallel.
            return Err(tool.error("no result may depend on the order of calls: at most one, or `byId`"));
        }
        let results = ScriptResults::Always(results.pop());
        return Ok(ScriptTool { name, needs_approval: false, results, tells_args: false });
    }
    only(tool, &["approval", "byId", "args"])?;
    let needs_approval = tool.get("approval").optional().map(Field::boolean).transpose()?.unwrap_or_default();
    let results = match tool.get("byId").optional() {
        None => Vec::new(),
        Some(by_id) => by_id.members()?.map(|(id, result)| (id.to_owned(), value(result))).collect(),
    };
    let tells_args = tool.get("args").optional().map(Field::object).transpose()?.is_some();
    Ok(ScriptTool { name, needs_approval, results: ScriptResults::ById(results), tells_args })
}

fn run(run: &Field<'_>) -> Result<ScriptRun, Error> {
    only(run, &["message", "at", "decisions", "resume", "compact", "model", "maxRecursionDepth", "say", "cut"])?;
    Ok(ScriptRun {
        beginning: beginning(run)?,
        at: run.get("at").optional().map(size).transpose()?,
        compact: run.get("compact").optional().map(compaction).transpose()?,
        turns: optional_list(run, "model", turn)?,
        limit: run.get("maxRecursionDepth").optional().map(size).transpose()?,
        say: run.get("say").optional().map(steer).transpose()?,
        cut: run.get("cut").optional().map(cut).transpose()?,
    })
}

fn beginning(run: &Field<'_>) -> Result<Beginning, Error> {
    let (message, decisions, resume) = (run.get("message"), run.get("decisions"), run.get("resume"));
    match (message.optional(), decisions.optional(), resume.optional()) {
        (Some(message), None, None) => text(message).map(Beginning::Message),
        (None, Some(decisions), None) => {
            let decision = |(id, field): (&str, Field<'_>)| Ok((id.to_owned(), decision(&field)?));
            decisions.members()?.map(decision).collect::<Result<_, _>>().map(Beginning::Decisions)
        }
        (None, None, Some(resume)) if resume.boolean()? => Ok(Beginning::Resume),
        (None, None, Some(resume)) => Err(resume.error("expected true")),
        (None, None, None) => Err(run.error("no beginning, expected one of `message`, `decisions` and `resume`")),
        _ => Err(run.error("more than one beginning, expected one of `message`, `decisions` and `resume`")),
    }
}

fn decision(decision: &Field<'_>) -> Result<Approval, Error> {
    only(decision, &["approve", "args", "reason"])?;
    let (args, reason) = (decision.get("args"), decision.get("reason"));
    match (decision.get("approve").boolean()?, args.optional(), reason.optional()) {
        (true, args, None) => Ok(Approval::Approved { args: args.map(Field::object).transpose()?.cloned() }),
        (false, None, reason) => Ok(Approval::Denied { reason: reason.map(text).transpose()? }),
        (true, _, Some(reason)) => Err(reason.error("only a denial has one")),
        (false, Some(args), _) => Err(args.error("only an approval has them")),
    }
}

fn compaction(compact: &Field<'_>) -> Result<ScriptCompaction, Error> {
    only(compact, &["keepMessages", "tokens", "summary"])?;
    let budget = |name: &str| compact.get(name).optional().map(size).transpose();
    let budget = match (budget("keepMessages")?, budget("tokens")?) {
        (Some(messages), None) => Budget::Messages(messages),
        (None, Some(tokens)) => Budget::Tokens(tokens),
        _ => return Err(compact.error("expected either `keepMessages` or `tokens`")),
    };
    Ok(ScriptCompaction { budget, summary: optional_text(compact, "summary")? })
}

fn steer(say: &Field<'_>) -> Result<ScriptSteer, Error> {
    only(say, &["during", "message"])?;
    Ok(ScriptSteer { during: text(&say.get("during"))?, message: text(&say.get("message"))? })
}

fn cut(cut: &Field<'_>) -> Result<ScriptCut, Error> {
    only(cut, &["during", "how"])?;
    let how = cut.get("how");
    let means = how.string()?.parse::<CutMeans>();
    let how = means.map_err(|_| how.error("expected cancel, throw or kill"))?;
    Ok(ScriptCut { during: text(&cut.get("during"))?, how })
}

pub(super) fn turn(turn: &Field<'_>) -> Result<ScriptTurn, Error> {
    only(turn, &["error", "content", "tool_calls", "opaque"])?;
    let error = optional_text(turn, "error")?;
    let response = ScriptResponse {
        content: optional_text(turn, "content")?,
        calls: optional_list(turn, "tool_calls", call)?,
        opaque: optional_list(turn, "opaque", opaque)?,
    };
    match error {
        None => Ok(ScriptTurn::Response(response)),
        Some(error) if response == ScriptResponse::default() => Ok(ScriptTurn::Failure(error)),
        Some(_) => Err(turn.error("it fails, and says something all the same")),
    }
}

fn call(call: &Field<'_>) -> Result<ScriptCall, Error> {
    only(call, &["id", "name", "args", "arguments", "handoff"])?;
    let id = text(&call.get("id"))?;
    let (name, args, arguments) = (call.get("name"), call.get("args"), call.get("arguments"));
    let wants = match (optional_text(call, "handoff")?, args.optional(), arguments.optional()) {
        (Some(agent), None, None) if name.optional().is_none() => CallWish::HandOver { agent },
        (Some(_), ..) => return Err(call.error("the name and the arguments of a hand-over are the framework's own")),
        (None, Some(_), Some(_)) => return Err(call.error("expected either `args` or `arguments`")),
        (None, None, Some(arguments)) => CallWish::Raw { name: text(&name)?, arguments: text(arguments)? },
        (None, args, None) => {
            let args = args.map(Field::object).transpose()?.cloned().unwrap_or_default();
            CallWish::Tool { name: text(&name)?, args }
        }
    };
    Ok(ScriptCall { id, wants })
}

fn opaque(part: &Field<'_>) -> Result<OpaqueBlock, Error> {
    let kind = part.get("kind");
    let names: &[&str] = match &*kind.string()? {
        "thinking" => &["kind", "text", "signature"],
        "redacted" => &["kind", "data"],
        "reasoning" => &["kind", "id", "encrypted"],
        "signature" => &["kind", "call", "data"],
        _ => return Err(kind.error("expected thinking, redacted, reasoning or signature")),
    };
    only(part, names)?;
    for name in names {
        part.get(name).string()?;
    }
    serde_json::from_value(part.value().cloned().unwrap_or_default()).map_err(|error| part.error(error.to_string()))
}
