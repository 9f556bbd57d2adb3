//! What OpenAI Responses accepts as input items.

use super::{Breaches, list, text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

pub(super) const RULES: &[(&str, &str)] = &[
    ("OAI-RESP-ANSWERED", "Every `function_call` item has a `function_call_output` with its `call_id` behind it."),
    ("OAI-RESP-ORPHAN", "Every `function_call_output` has its `function_call` before it."),
    (
        "OAI-RESP-ONE-OUTPUT",
        "A `call_id` stands in one `function_call` and in one `function_call_output` of the input.",
    ),
    ("OAI-RESP-CALLID-LEN", "`call_id` has 1 to 64 characters."),
    ("OAI-RESP-ITEM-UNIQUE", "No item `id` occurs twice."),
    (
        "OAI-RESP-STORE",
        "With `store` false no item refers to what the server was to remember: no `item_reference`, and no `reasoning` without `encrypted_content`.",
    ),
    ("OAI-RESP-EXTRA", "`reasoning` items have no `status`, and no member that is null."),
    ("OAI-RESP-TEXT-TYPE", "Text parts of the assistant are `output_text`, those of others `input_text`."),
    (
        "OAI-RESP-OUTPUT-FORM",
        "`output` is a string of at most 10485760 characters, or an array of `input_text`, `input_image` and `input_file` parts.",
    ),
    ("OAI-RESP-CONTENT-MAX", "A text has at most 10485760 characters."),
];

const LONGEST_ID: usize = 64;
const LONGEST_TEXT: usize = 10_485_760;

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    let items = list(body, "input");
    // If the request refers to something stored, a call or its output may be there.
    let refers = |item: &Value| matches!(text(item, "type"), "item_reference" | "compaction" | "compaction_summary");
    let stateless =
        body["previous_response_id"].is_null() && body["conversation"].is_null() && !items.iter().any(refers);
    let outputs = items.iter().enumerate();
    let last_outputs: HashMap<&str, usize> =
        outputs.filter_map(|(position, item)| Some((call_id(item, "function_call_output")?, position))).collect();
    let (mut called, mut answered, mut ids) = (HashSet::new(), HashSet::new(), HashSet::new());
    for (position, item) in items.iter().enumerate() {
        let place = format!("input[{position}]");
        let at_id = format!("{place}.call_id");
        if let Some(id) = call_id(item, "function_call") {
            length_of_id(id, &at_id, breaches);
            if !called.insert(id) {
                // In a later round only gateways were seen to refuse it.
                let is_open = !answered.remove(id);
                breaches.add_as(is_open, "OAI-RESP-ONE-OUTPUT", &*at_id, format!("a second call {id:?}"));
            }
            let has_output = last_outputs.get(id).is_some_and(|&last| last > position);
            breaches.add_if(stateless && !has_output, "OAI-RESP-ANSWERED", &at_id, || format!("no output for {id:?}"));
        }
        // Calls of other types, such as `local_shell_call`, are answered in the same way.
        if item["type"] != "function_call" && text(item, "type").ends_with("_call") {
            called.insert(text(item, "call_id"));
        }
        if let Some(id) = call_id(item, "function_call_output") {
            length_of_id(id, &at_id, breaches);
            if called.contains(id) || !stateless {
                let again = !answered.insert(id);
                breaches.add_if(again, "OAI-RESP-ONE-OUTPUT", &at_id, || format!("a second output for {id:?}"));
            } else {
                breaches.add("OAI-RESP-ORPHAN", at_id, format!("no call {id:?} before it"));
            }
            output(&item["output"], &format!("{place}.output"), breaches);
        }
        if let Some(id) = item["id"].as_str() {
            let again = item["type"] != "item_reference" && !ids.insert(id);
            breaches.add_if(again, "OAI-RESP-ITEM-UNIQUE", &format!("{place}.id"), || format!("{id:?} again"));
        }
        if item["type"] == "reasoning" {
            reasoning(item, &place, breaches);
        }
        if body["store"] == false {
            let is_reasoning = item["type"] == "reasoning";
            let lacks_content = item["encrypted_content"].as_str().is_none_or(str::is_empty);
            if item["type"] == "item_reference" || (is_reasoning && lacks_content) {
                // Without an id there is nothing to look up.
                let is_certain = item["id"].is_string();
                breaches.add_as(is_certain, "OAI-RESP-STORE", &*place, "refers to what was not stored");
            }
        }
        content(item, &format!("{place}.content"), breaches);
    }
}

fn call_id<'a>(item: &'a Value, kind: &str) -> Option<&'a str> {
    (item["type"] == kind).then(|| text(item, "call_id"))
}

fn length_of_id(id: &str, place: &str, breaches: &mut Breaches) {
    let length = id.chars().count();
    let fits = (1..=LONGEST_ID).contains(&length);
    breaches.add_if(!fits, "OAI-RESP-CALLID-LEN", place, || format!("{length} characters"));
}

fn output(output: &Value, place: &str, breaches: &mut Breaches) {
    let parts = ["input_text", "input_image", "input_file"];
    let right = match output {
        Value::String(text) => text.chars().count() <= LONGEST_TEXT,
        Value::Array(list) => list.iter().all(|part| parts.contains(&text(part, "type"))),
        _ => false,
    };
    breaches.add_if(!right, "OAI-RESP-OUTPUT-FORM", place, || {
        "neither a string that is short enough nor an array of such parts".to_owned()
    });
}

fn reasoning(item: &Value, place: &str, breaches: &mut Breaches) {
    for (name, member) in item.as_object().into_iter().flatten() {
        if name == "status" || member.is_null() {
            // The schema lets `encrypted_content` be null.
            let is_certain = name != "encrypted_content";
            breaches.add_as(is_certain, "OAI-RESP-EXTRA", format!("{place}.{name}"), member.to_string());
        }
    }
}

fn content(item: &Value, place: &str, breaches: &mut Breaches) {
    let too_long = |place: &str, text: &str, breaches: &mut Breaches| {
        let length = text.chars().count();
        breaches.add_if(length > LONGEST_TEXT, "OAI-RESP-CONTENT-MAX", place, || format!("{length} characters"));
    };
    too_long(place, text(item, "content"), breaches);
    for (position, part) in list(item, "content").iter().enumerate() {
        let place = format!("{place}[{position}]");
        let wrong = match text(part, "type") {
            "input_text" => item["role"] == "assistant",
            "output_text" => item["role"] != "assistant",
            _ => false,
        };
        breaches.add_if(wrong, "OAI-RESP-TEXT-TYPE", &format!("{place}.type"), || {
            format!("{} in a message of {}", part["type"], item["role"])
        });
        too_long(&format!("{place}.text"), text(part, "text"), breaches);
    }
}
