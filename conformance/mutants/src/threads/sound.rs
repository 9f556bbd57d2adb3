//! What the agent does where nothing is planted.

use super::images;
use super::run::{CallStep, MAIN, SessionRun, UnansweredCall, answers_behind, open_calls, place as put};
use crate::agent::{ToolOutcome, answer, calls, content};
use serde_json::{Map, Value, json};
use threadspec_judge::json::{list, text};
use threadspec_judge::universal::{halves, value};

/// What a cut call is told.
pub(crate) const INTERRUPTED: &str = "Interrupted: the call did not return.";
/// What stands before the text of a summary.
pub(crate) const SUMMARY: &str = "Summary of what was said before: ";

/// Answers each cut call.
pub(crate) fn mend(run: &mut SessionRun) -> Vec<Value> {
    mend_with(run, |_, _| Some(INTERRUPTED.into()));
    Vec::new()
}

/// Answers each cut call with what it is told, if anything.
pub(crate) fn mend_with(run: &mut SessionRun, tell: impl Fn(&SessionRun, &UnansweredCall) -> Option<Value>) {
    for open in cut_calls(run) {
        if let Some(told) = tell(run, &open) {
            put(&mut run.thread.list, answer(&open.call, told));
        }
    }
}

/// Takes the list back, and lets nothing wait.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "it is a step like the others")]
pub(crate) fn rewind(run: &mut SessionRun, at: &usize) {
    run.thread.list = run.thread.before.get(at).cloned().unwrap_or_default();
    run.thread.pending.clear();
}

/// The calls that are open and wait for no decision.
pub(crate) fn cut_calls(run: &SessionRun) -> Vec<UnansweredCall> {
    let open = open_calls(&run.thread.list).into_iter();
    open.filter(|open| !run.is_waiting(&open.call)).collect()
}

/// Refuses a message while calls wait, and takes it otherwise.
pub(crate) fn message(run: &mut SessionRun, words: &str) -> Result<(), String> {
    if !run.thread.pending.is_empty() {
        return Err(format!("Decide first about the calls that wait: {}.", run.thread.pending.join(", ")));
    }
    say(run, words);
    Ok(())
}

/// Puts a user message on the thread.
pub(crate) fn say(run: &mut SessionRun, words: &str) {
    run.thread.list.push(json!({"type": "human", "content": words}));
}

/// Answers the calls that are denied, and returns those that are approved.
pub(crate) fn decisions(run: &mut SessionRun, decisions: &Value) -> Result<Vec<Value>, String> {
    check(run, decisions)?;
    Ok(decide(run, decisions, denial))
}

/// Refuses decisions that are late, not complete, or about other calls.
pub(crate) fn check(run: &SessionRun, decisions: &Value) -> Result<(), String> {
    if run.thread.pending.is_empty() {
        return Err("No call waits for a decision.".to_owned());
    }
    let missing = run.thread.pending.iter().find(|id| decisions.get(id).is_none());
    if let Some(id) = missing {
        return Err(format!("Decide about every call that waits: `{id}` has no decision."));
    }
    let unknown = decisions.as_object().into_iter().flat_map(Map::keys).find(|id| !run.thread.pending.contains(id));
    unknown.map_or(Ok(()), |id| Err(format!("No call `{id}` waits for a decision.")))
}

/// Answers the calls that are denied, and returns those that are approved, with their arguments.
pub(crate) fn decide(
    run: &mut SessionRun,
    decisions: &Value,
    deny: impl Fn(&SessionRun, &Value, &Value) -> Option<Value>,
) -> Vec<Value> {
    let waiting = run.waiting();
    let mut approved = Vec::new();
    for mut call in waiting {
        let Some(decision) = decisions.get(text(&call["id"])) else { continue };
        run.thread.pending.retain(|id| call["id"] != **id);
        if decision["approve"] == true {
            if decision["args"].is_object() {
                call["args"] = decision["args"].clone();
            }
            approved.push(call);
        } else if let Some(told) = deny(run, &call, decision) {
            put(&mut run.thread.list, answer(&call, told));
        }
    }
    approved
}

/// What a denied call is told.
pub(crate) fn denial(_: &SessionRun, _: &Value, decision: &Value) -> Option<Value> {
    let reason = decision["reason"].as_str().map(|reason| format!(": {}", halves::repaired(reason)));
    Some(format!("The user denied this call{}", reason.unwrap_or_else(|| ".".into())).into())
}

/// Goes on where something is left to answer.
pub(crate) fn resume(run: &mut SessionRun) -> Result<(), String> {
    if !run.thread.pending.is_empty() {
        return Err(format!("Decide first about the calls that wait: {}.", run.thread.pending.join(", ")));
    }
    match run.thread.list.last() {
        Some(last) if last["type"] == "human" || last["type"] == "tool" => Ok(()),
        _ => Err("There is nothing to go on with.".to_owned()),
    }
}

/// The system message of the agent that speaks, and the thread.
pub(crate) fn request(run: &mut SessionRun) -> Vec<Value> {
    let mut request = system_of(run.speaker());
    request.extend(run.thread.list.iter().cloned());
    request
}

/// The system message of a described agent, if it has one.
pub(crate) fn system_of(described: &Value) -> Vec<Value> {
    let system = described["system"].as_str().map(|text| halves::repaired(text).into_owned());
    system.map(|text| json!({"type": "system", "content": text})).into_iter().collect()
}

/// A turn whose calls have names and arguments: raw arguments are read, and a hand-over gets a name.
pub(crate) fn made(turn: &Value) -> Value {
    let mut turn = turn.clone();
    for call in turn.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(agent) = call["handoff"].as_str().map(str::to_owned) {
            *call = json!({"id": call["id"], "name": format!("transfer_to_{agent}"), "args": {}});
        } else if let Some(raw) = call["arguments"].as_str().map(str::to_owned) {
            *call = json!({"id": call["id"], "name": call["name"]});
            let args = object(&raw);
            if args.is_none() {
                call["raw"] = raw.into();
            }
            call["args"] = args.unwrap_or_else(|| json!({}));
        }
    }
    turn
}

/// The object that raw arguments are.
pub(crate) fn object(raw: &str) -> Option<Value> {
    value::read(raw).ok().filter(Value::is_object)
}

/// What is done with a call: `call` is what stands on the thread, `made` what the model said, `place` its place in the response.
pub(crate) fn step(run: &mut SessionRun, asked: &Value) -> CallStep {
    let (call, made) = (&asked["call"], &asked["made"]);
    if let Some(agent) = made["handoff"].as_str() {
        if run.next_agent.is_some() {
            return CallStep::Tell("Only one hand-over at a time.".into());
        }
        run.next_agent = Some(agent.to_owned());
        return CallStep::HandOver(agent.to_owned());
    }
    if call["raw"].is_string() {
        return CallStep::Tell("The arguments are no JSON object; make the call again.".into());
    }
    match run.speaker()["tools"].get(text(&call["name"])) {
        None => CallStep::Tell(format!("There is no tool called {}.", text(&call["name"]))),
        Some(tool) if tool["approval"] == true => CallStep::Wait,
        Some(_) => CallStep::Execute,
    }
}

/// Executes a call as the script says.
pub(crate) fn execute(run: &mut SessionRun, call: &Value) -> Value {
    answer_of(call, scripted(run, call))
}

/// What the script gives for a call.
pub(crate) fn scripted(run: &SessionRun, call: &Value) -> Value {
    let tools = [run.speaker(), run.described(None)].map(|agent| &agent["tools"]);
    let Some(results) = tools.iter().find_map(|tools| tools.get(text(&call["name"]))) else { return Value::Null };
    let by_arguments = || list(&results["byArgs"]).iter().find(|pair| pair[0] == call["args"]).map(|pair| &pair[1]);
    let result = match results {
        Value::Array(results) => results.first(),
        _ => results["byId"].get(text(&call["id"])).or_else(by_arguments),
    };
    result.cloned().unwrap_or_else(|| "".into())
}

/// The answer to a call that has returned.
pub(crate) fn answer_of(call: &Value, result: Value) -> Value {
    if let Some(image) = images::of_result(&result) {
        let mut answer = answer(call, halves::repaired(images::text_beside(&result)).into_owned());
        answer["images"] = json!([images::hash(image)]);
        return answer;
    }
    let is_failure = result.as_object().is_some_and(|members| members.len() == 1 && members.contains_key("error"));
    let outcome = match result["error"].as_str().filter(|_| is_failure) {
        Some(error) => ToolOutcome::Failure(halves::repaired(error).into_owned()),
        None => ToolOutcome::Result(result),
    };
    answer(call, content(&outcome))
}

pub(crate) fn place(run: &mut SessionRun, answer: &Value) {
    put(&mut run.thread.list, answer.clone());
}

/// How large a message is, in what a compactor takes for tokens.
pub(crate) fn tokens(message: &Value) -> usize {
    message.to_string().len() / 4
}

/// Where the messages begin that a budget has room for, if answers and responses may be torn apart.
pub(crate) fn room(messages: &[Value], budget: &Value) -> usize {
    let amount = |name: &str| budget[name].as_u64().map(|n| usize::try_from(n).unwrap_or(usize::MAX));
    if let Some(keep) = amount("keepMessages") {
        return messages.len().saturating_sub(keep);
    }
    let (mut left, mut start) = (amount("tokens").unwrap_or(usize::MAX), messages.len());
    while start > 0 && tokens(&messages[start - 1]) <= left {
        start -= 1;
        left -= tokens(&messages[start]);
    }
    start
}

/// Takes whole turns from the beginning until the budget has room for the rest; never from an open turn.
pub(crate) fn compact(run: &mut SessionRun, budget: &Value) {
    let messages = &run.thread.list;
    let mut start = room(messages, budget);
    let is_closed = messages.last().is_some_and(|last| last["type"] == "ai" && calls(last).is_empty());
    if !is_closed {
        start = start.min(run.last("human").unwrap_or_default());
    }
    while start > 0 && messages.get(start).is_some_and(|message| message["type"] != "human") {
        start -= 1;
    }
    take_away(run, start, budget);
}

/// Replaces the messages before an index by a summary, if there is one.
pub(crate) fn take_away(run: &mut SessionRun, end: usize, budget: &Value) {
    let taken: Vec<Value> = run.thread.list.drain(..end).collect();
    if taken.is_empty() {
        return;
    }
    if let Some(summary) = summarize(run, &taken, budget) {
        run.thread.list.insert(0, summary);
    }
}

/// What a summarizing model makes of messages, as a message.
pub(crate) fn summarize(run: &mut SessionRun, taken: &[Value], budget: &Value) -> Option<Value> {
    let summary = budget["summary"].as_str()?;
    let text = Value::from(taken).to_string();
    run.summaries.push(json!([{"type": "human", "content": format!("Summarize: {text}")}]));
    Some(json!({"type": "human", "content": format!("{SUMMARY}{}", halves::repaired(summary))}))
}

/// Takes a response with all its answers off the thread, and returns them.
pub(crate) fn take_round(messages: &mut Vec<Value>, response: usize) -> Vec<Value> {
    let end = answers_behind(messages, response).end;
    messages.drain(response..end).collect()
}

/// Returns whether the thread is with an agent other than the first.
pub(crate) fn is_handed_over(run: &SessionRun) -> bool {
    run.thread.agent.as_deref().is_some_and(|agent| agent != MAIN)
}

/// Leaves calls out of a response, with their signatures; a response without calls, text and answers goes altogether.
pub(crate) fn leave_out(messages: &mut Vec<Value>, response: usize, is_out: impl Fn(&Value) -> bool) {
    let message = &mut messages[response];
    let (out, kept): (Vec<Value>, Vec<Value>) = calls(message).into_iter().partition(is_out);
    let Some(members) = message.as_object_mut() else { return };
    members.remove("tool_calls");
    let is_empty = kept.is_empty();
    if !is_empty {
        members.insert("tool_calls".into(), kept.into());
    }
    if let Some(parts) = members.get_mut("opaque").and_then(Value::as_array_mut) {
        parts.retain(|part| out.iter().all(|call| call["id"] != part["call"]));
        if parts.is_empty() {
            members.remove("opaque");
        }
    }
    if is_empty && text(&messages[response]["content"]).is_empty() {
        messages.remove(response);
    }
}
