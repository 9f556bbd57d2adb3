//! The parts of an input that a bug of size changes.

use serde_json::{Map, Value};

/// The events of an input.
pub(super) fn events(input: &mut Value) -> Option<&mut Vec<Value>> {
    list(input, "events")
}

/// A list of an input.
pub(super) fn list<'a>(input: &'a mut Value, name: &str) -> Option<&'a mut Vec<Value>> {
    input.get_mut(name).and_then(Value::as_array_mut)
}

/// Each event of a type.
pub(super) fn events_of<'a>(input: &'a mut Value, kind: &'a str) -> impl Iterator<Item = &'a mut Value> {
    events(input).into_iter().flatten().filter(move |event| event["type"] == kind)
}

/// Changes every text in the members of a name and below them; in arguments, also the names of members.
pub(super) fn change_texts(value: &mut Value, member: &str, change: &dyn Fn(&str) -> String) {
    change_below(value, member, false, change);
}

fn change_below(value: &mut Value, member: &str, inside: bool, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) if inside => *text = change(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| change_below(element, member, inside, change)),
        Value::Object(members) => {
            for (name, value) in members.iter_mut() {
                change_below(value, member, inside || name == member, change);
            }
            if inside && member == "args" {
                *members = std::mem::take(members).into_iter().map(|(name, value)| (change(&name), value)).collect();
            }
        }
        _ => {}
    }
}

/// Changes the arguments of calls and the results of tools.
pub(super) fn change_data(input: &mut Value, change: &dyn Fn(&mut Value)) {
    for event in events(input).into_iter().flatten() {
        for name in ["args", "result"] {
            event.get_mut(name).into_iter().for_each(change);
        }
    }
    for call in calls(input) {
        call.get_mut("args").into_iter().for_each(change);
    }
    for results in input.get_mut("tools").and_then(Value::as_object_mut).into_iter().flat_map(Map::values_mut) {
        results.as_array_mut().into_iter().flatten().for_each(change);
    }
}

/// The calls of a script.
pub(super) fn calls(input: &mut Value) -> impl Iterator<Item = &mut Value> {
    list(input, "model").into_iter().flatten().filter_map(|turn| list(turn, "tool_calls")).flatten()
}

/// Changes each array of a value.
pub(super) fn change_arrays(value: &mut Value, change: &dyn Fn(&mut Vec<Value>)) {
    match value {
        Value::Array(elements) => {
            change(elements);
            for element in elements {
                change_arrays(element, change);
            }
        }
        Value::Object(members) => members.values_mut().for_each(|member| change_arrays(member, change)),
        _ => {}
    }
}

/// Changes each object of a value.
pub(super) fn change_objects(value: &mut Value, change: &dyn Fn(&mut Map<String, Value>)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| change_objects(element, change)),
        Value::Object(members) => {
            change(members);
            members.values_mut().for_each(|member| change_objects(member, change));
        }
        _ => {}
    }
}

/// Replaces arrays and objects that are nested more deeply by null.
pub(super) fn cut_below(value: &mut Value, levels: usize) {
    if levels == 0 && (value.is_array() || value.is_object()) {
        *value = Value::Null;
    }
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| cut_below(element, levels.saturating_sub(1))),
        Value::Object(members) => members.values_mut().for_each(|member| cut_below(member, levels.saturating_sub(1))),
        _ => {}
    }
}

/// Keeps the last `n` elements.
pub(super) fn keep_last<T>(items: &mut Vec<T>, n: usize) {
    items.drain(..items.len().saturating_sub(n));
}

/// Removes the element at a position, if there is one.
pub(super) fn lose<T>(items: &mut Vec<T>, position: usize) {
    if position < items.len() {
        items.remove(position);
    }
}

/// Swaps the element at a position with the one before, if there are both.
pub(super) fn swap<T>(items: &mut [T], position: usize) {
    if position > 0 && position < items.len() {
        items.swap(position - 1, position);
    }
}
