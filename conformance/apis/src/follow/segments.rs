//! What a model is shown of a request, piece by piece, in the order in which prompt caches compare it.
//!
//! Two requests that differ only in what reaches no model are the same here: the order of a message's members, cache marks, a
//! text or a list with that text alone, members that are null, ids and states of items, and reasoning, which the APIs drop
//! and take back by rules of their own.

use serde_json::{Map, Value, json};
use std::fmt;
use threadspec::oracle::Api;
use threadspec_judge::text::{beginning, common_beginning};

/// Where a piece stands, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// A declared tool.
    Tool(usize),
    /// The system text that is no message.
    System,
    /// A message.
    Message(usize),
    /// An item of the Responses API.
    Item(usize),
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool(position) => write!(f, "tool {}", position + 1),
            Self::System => f.write_str("the system text"),
            Self::Message(position) => write!(f, "message {}", position + 1),
            Self::Item(position) => write!(f, "item {}", position + 1),
        }
    }
}

/// Whose a piece is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Tools, system texts: what a conversation has from its beginning.
    Setting,
    /// What the model said.
    Model,
    /// What people and tools said.
    Other,
}

/// A piece of what a model is shown.
#[derive(Debug)]
pub struct Segment {
    /// Where it stands.
    pub place: Location,
    /// Whose it is.
    pub role: Owner,
    /// What the model is shown.
    pub value: Value,
}

/// The pieces of a request's body.
pub fn segments(api: Api, body: &Value) -> Vec<Segment> {
    let list = |name: &str| body[name].as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate();
    let mut found = Vec::new();
    for (position, tool) in list("tools") {
        let mut tool = tool.clone();
        if let Some(members) = tool.as_object_mut() {
            members.shift_remove("cache_control");
        }
        found.push(Segment { place: Location::Tool(position), role: Owner::Setting, value: tool });
    }
    let system = if api == Api::OpenAiResponses { &body["instructions"] } else { &body["system"] };
    for block in blocks(system) {
        found.push(Segment { place: Location::System, role: Owner::Setting, value: block });
    }
    if api == Api::OpenAiResponses {
        if let Some(text) = body["input"].as_str() {
            let value = message(&json!({"role": "user", "content": text}));
            found.push(Segment { place: Location::Item(0), role: Owner::Other, value });
        }
        for (position, item) in list("input").filter(|(_, item)| item["type"] != "reasoning") {
            let kind = item["type"].as_str().unwrap_or_default();
            let is_call = kind.ends_with("_call");
            let role = if is_call { Owner::Model } else { role_of(item) };
            found.push(Segment { place: Location::Item(position), role, value: message(item) });
        }
        return found;
    }
    for (position, item) in list("messages") {
        let (place, role) = (Location::Message(position), role_of(item));
        if api == Api::OpenAiChat {
            found.push(Segment { place, role, value: message(item) });
            continue;
        }
        // Neighbours of one role are one turn, so that it does not matter which message a block stands in.
        for block in blocks(&item["content"]) {
            found.push(Segment { place, role, value: json!({"role": item["role"], "content": block}) });
        }
    }
    found
}

fn role_of(message: &Value) -> Owner {
    match message["role"].as_str() {
        Some("assistant") => Owner::Model,
        Some("system" | "developer") => Owner::Setting,
        _ => Owner::Other,
    }
}

/// Members that say nothing to a model.
const SILENT: [&str; 13] = [
    "cache_control",
    "index",
    "status",
    "annotations",
    "citations",
    "logprobs",
    "caller",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "parsed",
    "audio",
    "provider_specific_fields",
];

fn message(message: &Value) -> Value {
    let Some(members) = message.as_object() else { return message.clone() };
    let mut kept = Map::new();
    for (name, value) in members {
        // The item's own id, which is not shown; that of a call is `call_id`, or stands in `tool_calls`.
        if value.is_null() || SILENT.contains(&&**name) || name == "id" || (name == "type" && value == "message") {
            continue;
        }
        match name.as_str() {
            "content" => {
                let blocks = blocks(value);
                if !blocks.is_empty() {
                    kept.insert(name.clone(), blocks.into());
                }
            }
            "tool_calls" => {
                let calls: Vec<Value> = value.as_array().into_iter().flatten().map(sorted).collect();
                if !calls.is_empty() {
                    kept.insert(name.clone(), calls.into());
                }
            }
            _ => drop(kept.insert(name.clone(), value.clone())),
        }
    }
    kept.sort_keys();
    kept.into()
}

/// A content as a list of blocks.
fn blocks(content: &Value) -> Vec<Value> {
    let blocks: Vec<&Value> = match content {
        Value::Null => Vec::new(),
        Value::String(text) if text.is_empty() => Vec::new(),
        Value::Array(blocks) => blocks.iter().collect(),
        other => vec![other],
    };
    let is_thought = |block: &Value| matches!(block["type"].as_str(), Some("thinking" | "redacted_thinking"));
    blocks.into_iter().filter(|block| !is_thought(block)).map(block).collect()
}

fn block(block: &Value) -> Value {
    match block {
        Value::String(text) => json!({"text": text, "type": "text"}),
        Value::Object(_) => {
            let mut block = sorted(block);
            if matches!(block["type"].as_str(), Some("input_text" | "output_text")) {
                block["type"] = "text".into();
            }
            if block["type"] == "tool_result" {
                block["content"] = blocks(&block["content"]).into();
            }
            block
        }
        other => other.clone(),
    }
}

/// An object of the API with its members sorted; the data in it stays as it is.
fn sorted(object: &Value) -> Value {
    let Some(members) = object.as_object() else { return object.clone() };
    let says = |(name, value): &(&String, &Value)| {
        let is_silent = SILENT.contains(&&***name) || (*name == "is_error" && **value == false);
        !is_silent && !value.is_null()
    };
    let mut kept: Map<String, Value> =
        members.iter().filter(says).map(|(name, value)| (name.clone(), value.clone())).collect();
    if let Some(function) = kept.get_mut("function").and_then(Value::as_object_mut) {
        function.sort_keys();
    }
    kept.sort_keys();
    kept.into()
}

/// Where two pieces begin to differ: the path, the byte, and what stands there.
#[derive(Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The path inside the piece; empty if it is a text itself.
    pub path: String,
    /// How many bytes of the text at that path are the same.
    pub byte: usize,
    /// What stood around that byte.
    pub before: String,
    /// What stands there now.
    pub now: String,
}

/// Finds the first difference of two pieces that differ.
pub fn difference(before: &Value, now: &Value) -> Divergence {
    difference_at(String::new(), before, now)
}

fn difference_at(path: String, before: &Value, now: &Value) -> Divergence {
    match (before, now) {
        (Value::Object(one), Value::Object(other)) if one.keys().eq(other.keys()) => {
            let changed = one.iter().find_map(|(name, value)| {
                let other = other.get(name).filter(|other| *other != value || !same_text(value, other))?;
                Some((name, value, other))
            });
            if let Some((name, value, other)) = changed {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                return difference_at(path, value, other);
            }
        }
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.iter().zip(other).enumerate();
            let changed = pairs.into_iter().find(|(_, (value, other))| !same_text(value, other));
            if let Some((position, (value, other))) = changed {
                return difference_at(format!("{path}[{position}]"), value, other);
            }
        }
        (Value::String(one), Value::String(other)) => return at_byte(path, one, other),
        _ => {}
    }
    at_byte(path, &before.to_string(), &now.to_string())
}

/// Whether two values are the same, the order of members included.
fn same_text(one: &Value, other: &Value) -> bool {
    let [one, other] = [one, other].map(Value::to_string);
    one == other
}

fn at_byte(path: String, before: &str, now: &str) -> Divergence {
    const AROUND: usize = 24;
    let byte = common_beginning(before, now);
    let around = |text: &str| {
        let head: Vec<char> = text[..byte].chars().rev().take(AROUND).collect();
        let start = if head.iter().map(|c| c.len_utf8()).sum::<usize>() < byte { "…" } else { "" };
        format!("{start}{}{}", head.into_iter().rev().collect::<String>(), beginning(&text[byte..], AROUND))
    };
    Divergence { path, byte, before: around(before), now: around(now) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(api: Api, body: &Value) -> Vec<Value> {
        segments(api, body).into_iter().map(|segment| segment.value).collect()
    }

    #[test]
    fn what_reaches_no_model_makes_no_difference() {
        let mark = json!({"type": "ephemeral"});
        for (api, one, other) in [
            (
                Api::Anthropic,
                json!({"system": "S", "messages": [{"role": "user", "content": "Hi"}, {"role": "user", "content": "there"}]}),
                json!({"system": [{"type": "text", "text": "S", "cache_control": mark}], "messages": [
                    {"content": [{"text": "Hi", "type": "text"}, {"type": "text", "text": "there", "cache_control": mark}], "role": "user"}]}),
            ),
            (
                Api::Anthropic,
                json!({"messages": [{"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "a", "name": "t", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r", "is_error": false}]}]}),
                json!({"messages": [{"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "t", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": [{"type": "text", "text": "r"}]}]}]}),
            ),
            (
                Api::OpenAiChat,
                json!({"messages": [{"role": "assistant", "content": null, "refusal": null, "tool_calls": [
                    {"index": 0, "id": "a", "type": "function", "function": {"arguments": "{}", "name": "t"}}]}]}),
                json!({"messages": [{"role": "assistant", "content": "", "tool_calls": [
                    {"id": "a", "type": "function", "function": {"name": "t", "arguments": "{}"}}]}]}),
            ),
            (
                Api::OpenAiResponses,
                json!({"input": "Hi"}),
                json!({"input": [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}]}),
            ),
            (
                Api::OpenAiResponses,
                json!({"input": [{"type": "reasoning", "id": "rs_1"},
                    {"type": "function_call", "id": "fc_1", "status": "completed", "call_id": "a", "name": "t", "arguments": "{}"}]}),
                json!({"input": [{"type": "function_call", "call_id": "a", "name": "t", "arguments": "{}"}]}),
            ),
        ] {
            assert_eq!(values(api, &one), values(api, &other));
        }
    }

    #[test]
    fn a_difference_is_found_to_the_byte() {
        let text = |text: &str| json!({"content": [{"text": text, "type": "text"}], "role": "user"});
        let found = difference(&text("It is 12:00, Zoë"), &text("It is 12:01, Zoë"));
        assert_eq!((&*found.path, found.byte), ("content[0].text", 10));
        assert_eq!((&*found.before, &*found.now), ("It is 12:00, Zoë", "It is 12:01, Zoë"));
        let found = difference(&text(&"x".repeat(100)), &text(&format!("{}é", "x".repeat(60))));
        assert_eq!((found.byte, found.now), (60, format!("…{}é", "x".repeat(24))));
        let found = difference(&json!({"a": {"b": 1, "c": 2}}), &json!({"a": {"c": 2, "b": 1}}));
        assert_eq!((&*found.path, found.byte), ("a", 2), "the order of members");
    }
}
