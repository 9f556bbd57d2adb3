//! The tables of planted bugs of the agent, by clause, and what they share: ways to change texts, arguments and results.

mod answers;
mod failures;
mod finals;
mod looks;
mod names;
mod prefix;
mod responses;
mod results;
mod rows;
mod runs;
mod sizes;
mod turns;
mod unseen;
mod unseen_lookalikes;

use super::{ChangesInRun, ChangesValue, Clauses, Writes, seam};
pub(super) use crate::agent::taps::each;
use crate::agent::{RunState, ToolOutcome, calls, content, distinct, mend, text};
use crate::planted::Planted;
pub(super) use crate::wire::cut;
use serde_json::{Map, Value};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

/// What a library makes of a text.
pub(super) type Edit = fn(&str) -> String;

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    [
        prefix::start(),
        failures::aborted(),
        prefix::bugs(),
        responses::bugs(),
        responses::ids(),
        answers::bugs(),
        results::bugs(),
        failures::bugs(),
        turns::bugs(),
        results::texts(),
        answers::history(),
        runs::bugs(),
        finals::bugs(),
        names::bugs(),
        looks::bugs(),
        turns::of_words(),
        rows::bugs(),
        sizes::bugs(),
        sizes::meetings(),
        unseen::bugs(),
        unseen_lookalikes::bugs(),
        sizes::unseen_sizes(),
        runs::shared(),
        looks::libraries(),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// A bug for each size; `{n}` in the name stands for it.
pub(super) fn family(name: &str, sizes: &[usize], plant: fn(&str, usize) -> Planted) -> impl Iterator<Item = Planted> {
    sizes.iter().map(move |&size| plant(&name.replace("{n}", &size.to_string()), size))
}

/// Changes the answers to the calls of a response.
pub(super) fn on_answers(name: &str, breaks: Clauses, change: impl ChangesValue<Vec<Value>>) -> Planted {
    seam::answers(name, breaks, move |_, answers| change(answers))
}

/// Keeps some answers.
pub(super) fn answers_kept(name: &str, breaks: Clauses, keeps: fn(&Value) -> bool) -> Planted {
    on_answers(name, breaks, move |answers| answers.retain(keeps))
}

/// Keeps some messages of the given list.
pub(super) fn given_kept(name: &str, breaks: Clauses, keeps: fn(&Value) -> bool) -> Planted {
    on_given(name, breaks, move |list| list.retain(keeps))
}

/// Changes the text of each response.
pub(super) fn said_edited(name: &str, breaks: Clauses, edit: Edit) -> Planted {
    on_response(name, breaks, move |_, message| change_text(message, edit))
}

/// Drops some members of each object inside arguments.
pub(super) fn arguments_dropped(name: &str, breaks: Clauses, drops: fn(&str, &Value) -> bool) -> Planted {
    on_arguments(name, breaks, move |args| drop_members(args, drops))
}

/// Changes each value inside arguments.
pub(super) fn inside_arguments(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    on_arguments(name, breaks, move |args| each(args, &change))
}

/// Changes structured results before they are written.
pub(super) fn results_changed(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    on_structured(name, breaks, move |value| {
        let mut value = value.clone();
        change(&mut value);
        halves::escaped(&value.to_string()).into()
    })
}

/// Changes each value inside structured results.
pub(super) fn inside_results(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    results_changed(name, breaks, move |value| each(value, &change))
}

/// Does something with a run that begins, once its list is mended.
pub(super) fn begun(name: &str, breaks: Clauses, act: impl ChangesValue<RunState>) -> Planted {
    seam::begin(name, breaks, move |run| {
        mend(&mut run.list);
        act(run);
        Ok(())
    })
}

/// Ends the run behind a round, without saying why.
pub(super) fn ends_when(name: &str, breaks: Clauses, ends: impl Writes<RunState, bool>) -> Planted {
    seam::after_round(name, breaks, move |run| {
        if ends(run) {
            run.stop = Some(String::new());
        }
    })
}

/// Replaces each value inside arguments for which there is another one.
pub(super) fn arguments_become(name: &str, breaks: Clauses, other: impl Writes<Value, Option<Value>>) -> Planted {
    inside_arguments(name, breaks, move |value| other(value).into_iter().for_each(|other| *value = other))
}

/// Replaces each value inside structured results for which there is another one.
pub(super) fn results_become(name: &str, breaks: Clauses, other: impl Writes<Value, Option<Value>>) -> Planted {
    inside_results(name, breaks, move |value| other(value).into_iter().for_each(|other| *value = other))
}

/// Changes the given list.
pub(super) fn on_given(name: &str, breaks: Clauses, change: impl ChangesValue<Vec<Value>>) -> Planted {
    begun(name, breaks, move |run| {
        change(&mut run.list);
    })
}

/// Changes the message that repeats a response.
pub(super) fn on_response(name: &str, breaks: Clauses, change: impl ChangesInRun<Value>) -> Planted {
    seam::response(name, breaks, move |run, message| {
        distinct(run, message);
        change(run, message);
    })
}

/// Changes the arguments of each call.
pub(super) fn on_arguments(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    on_response(name, breaks, move |_, message| {
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            change(&mut call["args"]);
        }
    })
}

/// A bug that changes the arguments of each call.
pub(super) fn in_arguments(name: &str, change: fn(&mut Value)) -> Planted {
    on_arguments(&format!("{name}-in-arguments"), &[clause::AGENT_RESPONSE], change)
}

/// A bug that changes structured results before they are written as JSON.
pub(super) fn in_results(name: &str, change: fn(&mut Value)) -> Planted {
    results_changed(&format!("{name}-in-results"), &[clause::AGENT_RESULT], change)
}

/// Changes results that are texts.
pub(super) fn on_text_result(name: &str, breaks: Clauses, change: impl Writes<str, String>) -> Planted {
    seam::content(name, breaks, move |_, outcome| match outcome {
        ToolOutcome::Result(Value::String(text)) => change(&halves::repaired(text)).into(),
        _ => content(outcome),
    })
}

/// Writes structured results.
pub(super) fn on_structured(name: &str, breaks: Clauses, write: impl Writes<Value, Value>) -> Planted {
    seam::content(name, breaks, move |_, outcome| match outcome {
        ToolOutcome::Result(value) if !value.is_string() => write(value),
        _ => content(outcome),
    })
}

/// Writes the answer to a failing tool.
pub(super) fn on_failure(name: &str, breaks: Clauses, write: impl Writes<str, String>) -> Planted {
    seam::content(name, breaks, move |_, outcome| match outcome {
        ToolOutcome::Failure(error) => write(error).into(),
        _ => content(outcome),
    })
}

/// Changes the text of a message.
pub(super) fn change_text(message: &mut Value, change: impl Fn(&str) -> String) {
    if let Some(text) = message["content"].as_str().map(change) {
        message["content"] = text.into();
    }
}

/// Drops members of each object inside a value.
pub(super) fn drop_members(value: &mut Value, drops: impl Fn(&str, &Value) -> bool) {
    each(value, &|value| {
        if let Value::Object(members) = value {
            members.retain(|name, member| !drops(name, member));
        }
    });
}

/// The calls of a message as objects that can be changed.
pub(super) fn calls_mut(message: &mut Value) -> impl Iterator<Item = &mut Map<String, Value>> {
    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().filter_map(Value::as_object_mut)
}

/// Returns whether a message is of a type.
pub(super) fn is(message: &Value, of_type: &str) -> bool {
    message["type"] == of_type
}

/// Returns whether a message has calls.
pub(super) fn has_calls(message: &Value) -> bool {
    !calls(message).is_empty()
}

/// The text of a message.
pub(super) fn words(message: &Value) -> &str {
    text(&message["content"])
}

/// Changes each request but the first as it is sent.
pub(super) fn on_later_requests(name: &str, breaks: Clauses, change: impl ChangesInRun<Vec<Value>>) -> Planted {
    seam::shown(name, breaks, move |run, request| {
        if run.turn > 0 {
            change(run, request);
        }
    })
}
