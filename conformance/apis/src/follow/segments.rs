//! Lists the parts of a request that a model sees, piece by piece, in the order in which prompt caches compare them.
//!
//! Two requests that differ only in what reaches no model are the same here: the order of a message's members, cache marks, a
//! text or a list with that text alone, members that are null, ids and states of items, and reasoning, which the APIs drop
//! and take back by rules of their own.

use super::{Segments, StoredPiece, WriteJson};
use serde_json::{Map, Value};
use std::{fmt, slice};
use threadspec::MemberLookup;
use threadspec::oracle::Api;
use threadspec_judge::protocol::facts;
use threadspec_judge::text::{beginning, common_beginning};

/// Where a piece is, counted from 0.
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
    /// A part of the model.
    Model,
    /// A part of people and tools.
    Other,
}

/// The pieces of a request's body.
pub fn segments(api: Api, body: &Value) -> Segments {
    let mut found = Segments::default();
    // What is loaded later is no part of the cached prefix.
    for (position, tool) in list(body, "tools").filter(|(_, tool)| tool.member("defer_loading") != true) {
        found.push(Location::Tool(position), Owner::Setting, &ShownPart::Tool(tool));
    }
    let system = match (api, facts(api).system.unwrap_or("system")) {
        (Api::Gemini, name) => body[name].member("parts"),
        (_, name) => body.member(name),
    };
    for block in blocks(system) {
        found.push(Location::System, Owner::Setting, &ShownPart::Block(block));
    }
    if api == Api::OpenAiResponses && body.member("input").is_string() {
        found.push(Location::Item(0), Owner::Other, &ShownPart::Asked(body.member("input")));
    }
    push_elements(&mut found, api, body, 0);
    found
}

/// The pieces of a body with only the messages or items that are new: behind those of an earlier request, which had so many.
pub fn new_segments(api: Api, body: &Value, known: &[StoredPiece], elements: usize) -> Segments {
    let mut found = Segments::behind(known);
    push_elements(&mut found, api, body, elements);
    found
}

fn list<'b>(body: &'b Value, name: &str) -> impl Iterator<Item = (usize, &'b Value)> {
    body[name].as_array().map(Vec::as_slice).unwrap_or_default().iter().enumerate()
}

fn push_elements(found: &mut Segments, api: Api, body: &Value, before: usize) {
    if api == Api::OpenAiResponses {
        for (position, item) in list(body, "input").filter(|(_, item)| item.member("type") != "reasoning") {
            let kind = item.member("type").as_str().unwrap_or_default();
            let is_call = kind.ends_with("_call");
            let role = if is_call { Owner::Model } else { role_of(item) };
            found.push(Location::Item(before + position), role, &ShownPart::Message(item));
        }
        return;
    }
    if api == Api::Gemini {
        for (position, content) in list(body, "contents") {
            for part in blocks(content.member("parts")) {
                let shown = ShownPart::BlockOf(content.member("role"), part);
                found.push(Location::Message(before + position), role_of(content), &shown);
            }
        }
        return;
    }
    for (position, item) in list(body, "messages") {
        let (place, role) = (Location::Message(before + position), role_of(item));
        if api == Api::OpenAiChat {
            found.push(place, role, &ShownPart::Message(item));
            continue;
        }
        // Neighbours of one role are one turn, so that it does not matter which message a block is in.
        for block in blocks(item.member("content")) {
            found.push(place, role, &ShownPart::BlockOf(item.member("role"), block));
        }
    }
}

fn role_of(message: &Value) -> Owner {
    match message.member("role").as_str() {
        Some("assistant" | "model") => Owner::Model,
        Some("system" | "developer") => Owner::Setting,
        _ => Owner::Other,
    }
}

/// Members that say nothing to a model.
const SILENT: &[&str] = &[
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

/// A part of a body, of which only what a model is shown is written. Nothing is copied: of a long log most of the time would go into that.
#[derive(Clone, Copy, Debug)]
enum ShownPart<'b> {
    /// The declaration of a tool.
    Tool(&'b Value),
    /// A message, or an item.
    Message(&'b Value),
    /// A text that is the message of a user.
    Asked(&'b Value),
    /// A block of a content.
    Block(&'b Value),
    /// A block in a message of this role.
    BlockOf(&'b Value, &'b Value),
    /// A content as a list of blocks.
    Blocks(&'b Value),
    /// Objects of the API with their members sorted.
    Objects(&'b [Value]),
    /// An object of the API with its members sorted; the data in it stays as it is.
    Object(&'b Value),
    /// A function that names more of its members.
    Function(&'b Map<String, Value>),
    Text(&'b str),
    /// Data, as it is.
    Data(&'b Value),
}

impl WriteJson for ShownPart<'_> {
    fn write_json(&self, out: &mut Vec<u8>) {
        let (object, is_message) = match *self {
            Self::Text(text) => return text.write_json(out),
            Self::Data(value) => return value.write_json(out),
            Self::Asked(text) => {
                return super::object([("content", Self::Blocks(text)), ("role", Self::Text("user"))], out);
            }
            Self::BlockOf(role, block) => {
                return super::object([("role", Self::Data(role)), ("content", Self::Block(block))], out);
            }
            Self::Blocks(content) => return super::list(blocks(content).map(Self::Block), out),
            Self::Objects(objects) => return super::list(objects.iter().map(Self::Object), out),
            Self::Function(members) => {
                return super::object(in_order(members.iter().map(|(name, value)| (&**name, Self::Data(value)))), out);
            }
            Self::Tool(tool) => {
                let Some(members) = tool.as_object() else { return tool.write_json(out) };
                let shown = members.iter().filter(|(name, _)| *name != "cache_control");
                return super::object(shown.map(|(name, value)| (&**name, Self::Data(value))), out);
            }
            Self::Block(Value::String(text)) => {
                return super::object([("text", Self::Text(text)), ("type", Self::Text("text"))], out);
            }
            Self::Block(object) | Self::Object(object) => (object, false),
            Self::Message(object) => (object, true),
        };
        let Some(members) = object.as_object() else { return object.write_json(out) };
        let shown = members.iter().filter_map(|(name, value)| {
            let shown = if is_message { of_message(name, value) } else { self.of_object(name, value) };
            Some((&**name, shown?))
        });
        super::object(in_order(shown), out);
    }
}

impl<'b> ShownPart<'b> {
    /// Returns the visible part of a member of a block, or of another object.
    fn of_object(&self, name: &str, value: &'b Value) -> Option<Self> {
        if value.is_null() || SILENT.contains(&name) || (name == "is_error" && *value == false) {
            return None;
        }
        if let Self::Block(block) = self {
            match (name, value.as_str()) {
                ("type", Some("input_text" | "output_text")) => return Some(Self::Text("text")),
                ("content", _) if block.member("type") == "tool_result" => return shown_blocks(value),
                _ => {}
            }
        }
        Some(match value {
            Value::Object(members) if name == "function" => Self::Function(members),
            _ => Self::Data(value),
        })
    }
}

/// Returns the visible part of a member of a message, or of an item.
fn of_message<'b>(name: &str, value: &'b Value) -> Option<ShownPart<'b>> {
    // The item's own id is not shown; that of a call is `call_id`, or is in `tool_calls`.
    if value.is_null() || SILENT.contains(&name) || name == "id" || (name == "type" && value == "message") {
        return None;
    }
    match name {
        "content" => shown_blocks(value),
        "tool_calls" => value.as_array().filter(|calls| !calls.is_empty()).map(|calls| ShownPart::Objects(calls)),
        _ => Some(ShownPart::Data(value)),
    }
}

fn shown_blocks(content: &Value) -> Option<ShownPart<'_>> {
    blocks(content).next().map(|_| ShownPart::Blocks(content))
}

fn in_order<'b>(members: impl Iterator<Item = (&'b str, ShownPart<'b>)>) -> Vec<(&'b str, ShownPart<'b>)> {
    let mut members: Vec<_> = members.collect();
    members.sort_unstable_by_key(|(name, _)| *name);
    members
}

/// The blocks of a content, without thoughts.
fn blocks(content: &Value) -> impl Iterator<Item = &Value> {
    let blocks = match content {
        Value::Null => &[],
        Value::String(text) if text.is_empty() => &[],
        Value::Array(blocks) => &**blocks,
        other => slice::from_ref(other),
    };
    blocks.iter().filter(|block| !matches!(block.member("type").as_str(), Some("thinking" | "redacted_thinking")))
}

/// Where two pieces begin to differ: the path, the byte, and what is there.
#[derive(Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The path inside the piece; empty if it is a text itself.
    pub path: String,
    /// How many bytes of the text at that path are the same.
    pub byte: usize,
    /// The earlier text around that byte.
    pub before: String,
    /// The text there now.
    pub now: String,
}

/// Finds the first difference of two pieces that differ.
pub fn difference(before: &Value, now: &Value) -> Divergence {
    difference_at(String::new(), before, now)
}

fn difference_at(path: String, before: &Value, now: &Value) -> Divergence {
    match (before, now) {
        (Value::Object(one), Value::Object(other)) if path.is_empty() && one.get("role") != other.get("role") => {
            let [one, other] = [before, now].map(|message| message.member("role").as_str().unwrap_or_default());
            return at_byte("role".to_owned(), one, other);
        }
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

/// Returns whether two values are the same, the order of members included.
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
    use serde_json::json;

    fn texts(api: Api, body: &Value) -> Vec<String> {
        segments(api, body).texts().map(|(_, text)| String::from_utf8_lossy(text).into_owned()).collect()
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
            assert_eq!(texts(api, &one), texts(api, &other));
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
