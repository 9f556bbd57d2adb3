//! What functions of common libraries do with input that they were not made for: the bugs of `golden/hazards.json` that no other table has.

pub(super) mod names;
pub(super) mod numbers;
pub(super) mod reading;
pub(super) mod texts;

use serde_json::Value;

/// Changes each text of an input: neither names of members, nor the words that say what something is.
fn each_text(input: &mut Value, change: fn(&str) -> String) {
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

/// Changes arguments and results, wherever they stand in an input.
fn each_payload(input: &mut Value, change: &dyn Fn(&mut Value)) {
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

/// Changes each value inside a value, from the inside out.
fn each_value(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| each_value(element, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each_value(member, change)),
        _ => {}
    }
    change(value);
}
