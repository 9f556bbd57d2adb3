//! Bugs that were written from the clauses, and from memory of real libraries, before there was a case for any of them. They
//! show how much the corpus catches without having been tuned to it.

pub(super) mod blocks;
pub(super) mod hazards;
pub(super) mod lookups;
pub(super) mod pairs;
pub(super) mod pairs_in_rounds;
pub(super) mod state;

use super::{Planted, bug, hardened, literal};
use serde_json::{Map, Value};

/// The events of an input.
fn events(input: &mut Value) -> impl Iterator<Item = &mut Value> {
    input.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten()
}

/// The type of an event; for a message, its role.
fn kind(event: &Value) -> &str {
    event["role"].as_str().filter(|_| event["type"] == "message").or(event["type"].as_str()).unwrap_or_default()
}

/// The main text of an event. A tool result has one only if it is a text.
fn text_of(event: &mut Value) -> Option<&mut String> {
    let name = match event["type"].as_str()? {
        "message" => "content",
        "error" => "error",
        "human_input_requested" => "question",
        "human_input_received" => "response",
        "completion" | "tool_result" => "result",
        "summary" => "summary",
        _ => return None,
    };
    match event.get_mut(name) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Changes the texts of the events of a type, or of messages of a role.
fn change(input: &mut Value, of: &str, edit: impl Fn(&str) -> String) {
    for event in events(input).filter(|event| kind(event) == of) {
        if let Some(text) = text_of(event) {
            *text = edit(text);
        }
    }
}

/// Changes each value inside arguments and results.
fn inside(input: &mut Value, edit: impl Fn(&mut Value)) {
    for event in events(input) {
        for name in ["args", "result"] {
            if let Some(value) = event.get_mut(name).filter(|value| !value.is_string()) {
                each(value, &edit);
            }
        }
    }
}

/// Changes each value inside a value, from the inside out, and then the value itself.
fn each(value: &mut Value, edit: &impl Fn(&mut Value)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| each(element, edit)),
        Value::Object(members) => members.values_mut().for_each(|member| each(member, edit)),
        _ => {}
    }
    edit(value);
}

/// Changes each list of messages in the output of `tools` or `loop`.
fn in_lists(output: &mut Value, edit: impl Fn(&mut Vec<Value>)) {
    let requests = output.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten();
    requests.filter_map(Value::as_array_mut).for_each(&edit);
    output.get_mut("messages").and_then(Value::as_array_mut).into_iter().for_each(edit);
}

/// Renames the members of an object.
fn renamed(members: &Map<String, Value>, name: impl Fn(&str) -> String) -> Map<String, Value> {
    members.iter().map(|(key, value)| (name(key), value.clone())).collect()
}
