//! What OpenAI Chat Completions accepts as history.

use super::{Breaches, Open, has, is_plain, list, text};
use crate::surrogates::unmark_surrogates;
use serde_json::{Map, Value};

pub(super) const RULES: &[(&str, &str)] = &[
    (
        "OAI-CHAT-ANSWERED",
        "Directly after an assistant message with `tool_calls` stand tool messages that answer every id of it.",
    ),
    ("OAI-CHAT-ORPHAN", "Every tool message answers a call of the assistant message before its group."),
    ("OAI-CHAT-ONE-ANSWER", "No two tool messages of one group have the same `tool_call_id`."),
    ("OAI-CHAT-RESULT-ID", "A tool message has a `tool_call_id`."),
    ("OAI-CHAT-ID-LEN", "A call id has at most 40 characters, which is what every version of the API accepts."),
    ("OAI-CHAT-NAME-PATTERN", "Names of tools, declared or called, consist of letters, digits, `_` and `-`."),
    ("OAI-CHAT-NAME-LEN", "Names of tools have 1 to 64 characters."),
    ("OAI-CHAT-ARGS-STRING", "`function.arguments` is a string."),
    ("OAI-CHAT-ARGS-JSON", "`function.arguments` is the JSON text of an object."),
    ("OAI-CHAT-CALLS-NONEMPTY", "`tool_calls`, where present, is not empty."),
    ("OAI-CHAT-MESSAGES-NONEMPTY", "`messages` is not empty."),
    ("OAI-CHAT-TOOLS-NONEMPTY", "`tools`, where present, is not empty."),
    ("OAI-CHAT-TOOLS-MAX", "There are at most 128 tools."),
    ("OAI-CHAT-CONTENT-NULL", "`content` is null or absent only in an assistant message that has `tool_calls`."),
    ("OAI-CHAT-CONTENT-MAX", "A text has at most 10485760 characters."),
    ("DS-UTF16", "No string holds a lone surrogate, also not inside arguments."),
];

const LONGEST_ID: usize = 40;
/// The same in newer versions.
const LONGEST_ID_NOW: usize = 64;
const LONGEST_NAME: usize = 64;
const MOST_TOOLS: usize = 128;
const LONGEST_TEXT: usize = 10_485_760;

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    if list(body, "messages").is_empty() {
        breaches.add("OAI-CHAT-MESSAGES-NONEMPTY", "messages", "no messages");
    }
    let mut open = Open::default();
    for (position, message) in list(body, "messages").iter().enumerate() {
        let place = format!("messages[{position}]");
        if message["role"] == "tool" {
            answer(message, &place, &mut open, breaches);
        } else {
            all_answered(&open, &place, breaches);
            open = Open { ids: calls(message, &place, breaches), ..Open::default() };
        }
        content(message, &place, breaches);
    }
    all_answered(&open, "messages", breaches);
    tools(body, breaches);
    // OpenAI's own servers are not known to refuse it.
    breaches.surrogates(false, "DS-UTF16", "", body);
}

fn all_answered(open: &Open<'_>, place: &str, breaches: &mut Breaches) {
    let unanswered = open.unanswered();
    breaches.add_if(!unanswered.is_empty(), "OAI-CHAT-ANSWERED", place, || {
        format!("no tool message before it answers {unanswered:?}")
    });
}

fn answer<'a>(message: &'a Value, place: &str, open: &mut Open<'a>, breaches: &mut Breaches) {
    let place = format!("{place}.tool_call_id");
    match message["tool_call_id"].as_str() {
        None => breaches.add("OAI-CHAT-RESULT-ID", place, "no id"),
        Some(id) if !open.ids.contains(&id) => {
            breaches.add("OAI-CHAT-ORPHAN", place, format!("{id:?} is no call of the assistant message before it"));
        }
        Some(id) => {
            let first = open.answered.insert(id);
            breaches.add_if(!first, "OAI-CHAT-ONE-ANSWER", &place, || format!("{id:?} was answered already"));
        }
    }
}

/// The ids of a message's calls.
fn calls<'a>(message: &'a Value, place: &str, breaches: &mut Breaches) -> Vec<&'a str> {
    let place = format!("{place}.tool_calls");
    breaches.not_empty("OAI-CHAT-CALLS-NONEMPTY", &place, &message["tool_calls"]);
    let mut ids = Vec::new();
    for (position, call) in list(message, "tool_calls").iter().enumerate() {
        let place = format!("{place}[{position}]");
        let id = text(call, "id");
        let length = id.chars().count();
        if length > LONGEST_ID {
            let is_certain = length > LONGEST_ID_NOW;
            breaches.add_as(is_certain, "OAI-CHAT-ID-LEN", format!("{place}.id"), format!("{length} characters"));
        }
        ids.push(id);
        if has(call, "custom") {
            // Its input is any text.
            name(text(&call["custom"], "name"), &format!("{place}.custom.name"), breaches);
            continue;
        }
        name(text(&call["function"], "name"), &format!("{place}.function.name"), breaches);
        arguments(&call["function"]["arguments"], &format!("{place}.function.arguments"), breaches);
    }
    ids
}

fn name(name: &str, place: &str, breaches: &mut Breaches) {
    let length = name.chars().count();
    if length == 0 || length > LONGEST_NAME {
        breaches.add("OAI-CHAT-NAME-LEN", place, format!("{length} characters"));
    }
    breaches.add_if(length > 0 && !is_plain(name), "OAI-CHAT-NAME-PATTERN", place, || format!("{name:?}"));
}

fn arguments(arguments: &Value, place: &str, breaches: &mut Breaches) {
    let Some(text) = arguments.as_str() else {
        return breaches.add("OAI-CHAT-ARGS-STRING", place, "not a string");
    };
    // As a server parses the text. Lone surrogates of the outer text become escapes, which do not break the inner JSON.
    let inner = crate::surrogates::mark_surrogates(&unmark_surrogates(text)).into_owned();
    match serde_json::from_str::<Map<String, Value>>(&inner) {
        Ok(members) => breaches.surrogates(false, "DS-UTF16", place, &Value::Object(members)),
        // OpenAI's own servers do not parse it.
        Err(_) => {
            breaches.add_as(false, "OAI-CHAT-ARGS-JSON", place, format!("{text:?} is not the JSON text of an object"));
        }
    }
}

fn content(message: &Value, place: &str, breaches: &mut Breaches) {
    let place = format!("{place}.content");
    // What an assistant's message may have instead.
    let says = !list(message, "tool_calls").is_empty()
        || ["function_call", "refusal", "audio"].iter().any(|name| has(message, name));
    let may_lack = message["role"] == "assistant" && says;
    breaches.add_if(message["content"].is_null() && !may_lack, "OAI-CHAT-CONTENT-NULL", &place, || "null".to_owned());
    let length = text(message, "content").chars().count();
    breaches.add_if(length > LONGEST_TEXT, "OAI-CHAT-CONTENT-MAX", &place, || format!("{length} characters"));
}

fn tools(body: &Value, breaches: &mut Breaches) {
    breaches.not_empty("OAI-CHAT-TOOLS-NONEMPTY", "tools", &body["tools"]);
    let tools = list(body, "tools");
    breaches.add_if(tools.len() > MOST_TOOLS, "OAI-CHAT-TOOLS-MAX", "tools", || format!("{} tools", tools.len()));
    // Other types of tools have names of other forms, or none.
    for (position, tool) in tools.iter().enumerate().filter(|(_, tool)| has(tool, "function")) {
        name(text(&tool["function"], "name"), &format!("tools[{position}].function.name"), breaches);
    }
}
