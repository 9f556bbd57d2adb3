//! The tables of planted bugs of the agent, by clause, and what they share: ways to change texts, arguments and results.

mod aborted;
mod answers;
mod failures;
mod finals;
mod history;
mod ids;
mod libraries;
mod looks;
mod meetings;
mod names;
mod prefix;
mod responses;
mod results;
mod rows;
mod runs;
mod shared;
mod sizes;
mod start;
mod texts;
mod turns;
mod unseen;
mod unseen_lookalikes;
mod unseen_sizes;
mod words;

use super::bug;
pub(super) use crate::agent::taps::each;
use crate::agent::{Agent, RunState, ToolOutcome, content, distinct, mend};
use crate::planted::Planted;
use serde_json::{Map, Value};
use threadspec_golden::clause;

/// What a library makes of a text.
type Edit = fn(&str) -> String;

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    [
        start::bugs(),
        aborted::bugs(),
        prefix::bugs(),
        responses::bugs(),
        ids::bugs(),
        answers::bugs(),
        results::bugs(),
        failures::bugs(),
        turns::bugs(),
        texts::bugs(),
        history::bugs(),
        runs::bugs(),
        finals::bugs(),
        names::bugs(),
        looks::bugs(),
        words::bugs(),
        rows::bugs(),
        sizes::bugs(),
        meetings::bugs(),
        unseen::bugs(),
        unseen_lookalikes::bugs(),
        unseen_sizes::bugs(),
        shared::bugs(),
        libraries::bugs(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A bug for each size; `{n}` in the name stands for it.
fn family(
    name: &str,
    breaks: &'static [&'static str],
    sizes: &[usize],
    plant: fn(&mut Agent, usize),
) -> impl Iterator<Item = Planted> {
    sizes.iter().map(move |&size| bug(&name.replace("{n}", &size.to_string()), breaks, move |agent| plant(agent, size)))
}

/// Changes the given list.
pub(super) fn on_given(agent: &mut Agent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    agent.begin = Box::new(move |run| {
        mend(&mut run.list);
        change(&mut run.list);
        Ok(())
    });
}

/// Changes the message that repeats a response.
fn on_response(agent: &mut Agent, change: impl Fn(&mut RunState, &mut Value) + Send + Sync + 'static) {
    agent.response = Box::new(move |run, message| {
        distinct(run, message);
        change(run, message);
    });
}

/// Changes the arguments of each call.
fn on_arguments(agent: &mut Agent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    on_response(agent, move |_, message| {
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            change(&mut call["args"]);
        }
    });
}

/// A bug that changes the arguments of each call.
fn in_arguments(name: &str, change: fn(&mut Value)) -> Planted {
    bug(&format!("{name}-in-arguments"), &[clause::AGENT_RESPONSE], move |agent| on_arguments(agent, change))
}

/// A bug that changes structured results before they are written as JSON.
fn in_results(name: &str, change: fn(&mut Value)) -> Planted {
    bug(&format!("{name}-in-results"), &[clause::AGENT_RESULT], move |agent| {
        on_structured(agent, move |value| {
            let mut value = value.clone();
            change(&mut value);
            threadspec_judge::universal::halves::escaped(&value.to_string()).into()
        });
    })
}

/// Changes results that are texts.
pub(super) fn on_text_result(agent: &mut Agent, change: impl Fn(&str) -> String + Send + Sync + 'static) {
    agent.content = Box::new(move |_, outcome| match outcome {
        ToolOutcome::Result(Value::String(text)) => change(&threadspec_judge::universal::halves::repaired(text)).into(),
        _ => content(outcome),
    });
}

/// Writes structured results.
pub(super) fn on_structured(agent: &mut Agent, write: impl Fn(&Value) -> Value + Send + Sync + 'static) {
    agent.content = Box::new(move |_, outcome| match outcome {
        ToolOutcome::Result(value) if !value.is_string() => write(value),
        _ => content(outcome),
    });
}

/// Writes the answer to a failing tool.
pub(super) fn on_failure(agent: &mut Agent, write: impl Fn(&str) -> String + Send + Sync + 'static) {
    agent.content = Box::new(move |_, outcome| match outcome {
        ToolOutcome::Failure(error) => write(error).into(),
        _ => content(outcome),
    });
}

/// Changes the text of a message.
fn change_text(message: &mut Value, change: impl Fn(&str) -> String) {
    if let Some(text) = message["content"].as_str().map(change) {
        message["content"] = text.into();
    }
}

/// Drops members of each object inside a value.
fn drop_members(value: &mut Value, drops: impl Fn(&str, &Value) -> bool) {
    each(value, &|value| {
        if let Value::Object(members) = value {
            members.retain(|name, member| !drops(name, member));
        }
    });
}

/// The first characters of a text.
pub(super) fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// The calls of a message as objects that can be changed.
fn calls_mut(message: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Whether a message is of one of these types.
fn is(message: &Value, types: &[&str]) -> bool {
    message["type"].as_str().is_some_and(|own| types.contains(&own))
}

/// Changes each request but the first as it is sent.
fn on_later_requests(agent: &mut Agent, change: impl Fn(&mut RunState, &mut Vec<Value>) + Send + Sync + 'static) {
    agent.shown = Box::new(move |run, request| {
        if run.turn > 0 {
            change(run, request);
        }
    });
}
