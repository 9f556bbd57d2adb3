//! The parts of inputs and outputs that are changed.

use crate::agent::taps::each;
use serde_json::{Map, Value};
use threadspec::{Event, EventKind, Role};

/// A list of an input or output.
pub(crate) fn list<'a>(value: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    value.get_mut(name).and_then(Value::as_array_mut)
}

/// A list of an input or output, or nothing.
pub(crate) fn listed<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The events of an input.
pub(crate) fn each_event(input: &mut Value) -> impl DoubleEndedIterator<Item = &mut Value> {
    list(input, "events").into_iter().flatten()
}

/// Each event of a type.
pub(crate) fn events_of<'a>(input: &'a mut Value, kind: &'a str) -> impl Iterator<Item = &'a mut Value> {
    each_event(input).filter(move |event| event["type"] == kind)
}

/// The calls of a script.
pub(crate) fn calls(input: &mut Value) -> impl Iterator<Item = &mut Value> {
    list(input, "model").into_iter().flatten().filter_map(|turn| list(turn, "tool_calls")).flatten()
}

/// The tools of a script, each with its results.
pub(crate) fn tools(input: &mut Value) -> Option<&mut Map<String, Value>> {
    input.get_mut("tools").and_then(Value::as_object_mut)
}

/// The type of an event; for a message, its role.
pub(crate) fn kind(event: &Value) -> &str {
    event["role"].as_str().filter(|_| event["type"] == "message").or(event["type"].as_str()).unwrap_or_default()
}

/// The same of an event that was read.
pub(crate) fn word(event: &Event) -> &'static str {
    match event.kind {
        EventKind::Message { role: Role::User, .. } => "user",
        EventKind::Message { role: Role::Assistant, .. } => "assistant",
        EventKind::ToolCall { .. } => "tool_call",
        EventKind::ToolResult { .. } => "tool_result",
        // The others have the words of documents.
        _ => super::document::kind(&event.kind),
    }
}

/// Returns whether an event that was read is a call.
pub(crate) fn is_call(event: &Event) -> bool {
    word(event) == "tool_call"
}

/// The id of a call or of a result.
pub(crate) fn id_of(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::ToolCall { tool_call_id, .. } | EventKind::ToolResult { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    }
}

/// The id of a result alone.
pub(crate) fn answered_id(event: &Event) -> Option<&str> {
    id_of(event).filter(|_| !is_call(event))
}

/// The member with the main text of an event.
pub(crate) fn text_member(event: &Value) -> Option<&'static str> {
    Some(match event["type"].as_str()? {
        "message" => "content",
        "error" => "error",
        "human_input_requested" => "question",
        "human_input_received" => "response",
        "completion" | "tool_result" => "result",
        "summary" => "summary",
        _ => return None,
    })
}

/// The main text of an event. A tool result has one only if it is a text.
pub(crate) fn text_of(event: &mut Value) -> Option<&mut String> {
    match event.get_mut(text_member(event)?) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}

/// Changes each value inside arguments and results that are no texts, from the inside out.
pub(crate) fn inside_data(input: &mut Value, change: &dyn Fn(&mut Value)) {
    for event in each_event(input) {
        for name in ["args", "result"] {
            event.get_mut(name).filter(|value| !value.is_string()).into_iter().for_each(|value| each(value, change));
        }
    }
}

/// Changes each list of messages in the output of `tools`.
pub(crate) fn in_lists(output: &mut Value, change: impl Fn(&mut Vec<Value>)) {
    let requests = list(output, "requests").into_iter().flatten();
    requests.filter_map(Value::as_array_mut).for_each(&change);
    list(output, "messages").into_iter().for_each(change);
}

/// Renames the members of an object.
pub(crate) fn rename(value: &mut Value, name: impl Fn(&str) -> String) {
    if let Value::Object(members) = value {
        *members = std::mem::take(members).into_iter().map(|(key, value)| (name(&key), value)).collect();
    }
}

/// Changes arguments and results, wherever they are in an input.
pub(crate) fn each_payload(input: &mut Value, change: &dyn Fn(&mut Value)) {
    let Some(members) = input.as_object_mut() else { return };
    for (name, value) in members {
        match (&**name, value) {
            ("args" | "result", value) => change(value),
            ("tools", Value::Object(tools)) => {
                tools.values_mut().filter_map(Value::as_array_mut).flatten().for_each(change);
            }
            (_, Value::Array(elements)) => elements.iter_mut().for_each(|element| each_payload(element, change)),
            _ => {}
        }
    }
}

/// Changes each text of an input: neither names of members, nor the words that say what something is.
pub(crate) fn each_text(input: &mut Value, change: &dyn Fn(&str) -> String) {
    match input {
        Value::String(text) => *text = change(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| each_text(element, change)),
        Value::Object(members) => {
            let is_word =
                |name: &str, value: &Value| matches!(name, "type" | "role" | "contextMode") && value.is_string();
            let texts = members.iter_mut().filter(|(name, value)| !is_word(name, value));
            texts.for_each(|(_, value)| each_text(value, change));
        }
        _ => {}
    }
}

/// Changes each array of a value.
pub(crate) fn change_arrays(value: &mut Value, change: &dyn Fn(&mut Vec<Value>)) {
    each(value, &|value| value.as_array_mut().into_iter().for_each(change));
}

/// Keeps the last `n` elements.
pub(crate) fn keep_last<T>(items: &mut Vec<T>, n: usize) {
    items.drain(..items.len().saturating_sub(n));
}
