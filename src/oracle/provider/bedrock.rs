//! Checks histories by the rules of Amazon Bedrock's `Converse`.

use super::breach::Breaches;
use super::{BLANK, has, is_plain, list, not_a_name, text};
use serde_json::Value;
use std::collections::HashSet;
use std::fmt::Arguments;

pub(super) const RULES: &[&str] =
    &["BED-ANSWERED", "BED-COUNT", "BED-TOOLCONFIG", "BED-BLANK", "BED-ERROR-CONTENT", "BED-ALTERNATE", "BED-NAME"];

const LONGEST_NAME: usize = 64;

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    let mut has_tools = false;
    for (position, message) in messages.iter().enumerate() {
        let before = position.checked_sub(1).map(|before| &messages[before]);
        let place = format_args!("messages[{position}]");
        roles(before, message, place, breaches);
        pairs(before, message, place, breaches);
        texts(message, place, breaches);
        for (number, block) in list(message, "content").iter().enumerate() {
            name(&block["toolUse"], format_args!("{place}.content[{number}].toolUse.name"), breaches);
        }
        has_tools |= list(message, "content").iter().any(|block| has(block, "toolUse") || has(block, "toolResult"));
    }
    if let Some(last) = messages.last() {
        answered(last, &[], format_args!("messages"), breaches);
    }
    for (number, tool) in list(&body["toolConfig"], "tools").iter().enumerate() {
        name(&tool["toolSpec"], format_args!("toolConfig.tools[{number}].toolSpec.name"), breaches);
    }
    // A list of messages alone is a part of a request.
    let is_whole = body.as_object().is_some_and(|members| members.len() > 1);
    if has_tools && is_whole && !has(body, "toolConfig") {
        breaches.member("BED-TOOLCONFIG", "toolConfig", "is missing, but the history has calls or results");
    }
}

/// The name of a tool that is declared or called.
fn name(tool: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let name = text(tool, "name");
    let is_long = name.chars().count() > LONGEST_NAME;
    if tool.is_object() && (is_long || !is_plain(name)) {
        let breach = breaches.member("BED-NAME", place, not_a_name(name, LONGEST_NAME)).name(name);
        if is_long {
            breach.variant("long");
        }
    }
}

fn roles(before: Option<&Value>, message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.role");
    match before {
        None if message["role"] == "assistant" => {
            breaches.add("BED-ALTERNATE", place, "the first message is the assistant's").variant("first");
        }
        Some(before) if before["role"] == message["role"] => {
            breaches.member("BED-ALTERNATE", place, format_args!("is {} again", message["role"]));
        }
        _ => {}
    }
}

/// The ids of the blocks of a kind, without those of a tool that the server runs, which has its result in the same message.
fn ids<'a>(message: &'a Value, kind: &str) -> Vec<&'a str> {
    let of = |kind: &'a str| {
        let blocks = list(message, "content").iter().filter(move |block| has(block, kind));
        blocks.map(move |block| text(&block[kind], "toolUseId"))
    };
    let (calls, results) = (of("toolUse"), of("toolResult").collect::<HashSet<&str>>());
    let of_server: HashSet<&str> = calls.filter(|id| results.contains(id)).collect();
    let found = if kind == "toolUse" { of("toolUse").collect() } else { of("toolResult").collect::<Vec<_>>() };
    found.into_iter().filter(|id| !of_server.contains(id)).collect()
}

fn pairs(before: Option<&Value>, message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let results = ids(message, "toolResult");
    let place = format_args!("{place}.content");
    let calls = before.map_or(0, |before| ids(before, "toolUse").len());
    if let Some(before) = before {
        answered(before, &results, place, breaches);
    }
    if results.len() > calls {
        breaches.add("BED-COUNT", place, format!("{} results are behind a message with {calls} calls", results.len()));
    }
}

/// Returns whether these results, which are behind a message, answer each call of it.
fn answered(message: &Value, results: &[&str], place: Arguments<'_>, breaches: &mut Breaches) {
    let answered: HashSet<&str> = results.iter().copied().collect();
    let mut open = ids(message, "toolUse");
    open.retain(|id| !answered.contains(id));
    if !open.is_empty() {
        breaches.add("BED-ANSWERED", place, format!("no `toolResult` answers the calls {open:?}")).ids(&open);
    }
}

fn texts(message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.content");
    let blocks = list(message, "content");
    if blocks.is_empty() && !message["content"].is_string() {
        breaches.member("BED-BLANK", place, "is missing or empty").variant("empty");
    }
    let is_blank = |block: &Value| block["text"].as_str().is_some_and(|text| text.trim().is_empty());
    for (number, block) in blocks.iter().enumerate() {
        let place = format_args!("{place}[{number}]");
        if is_blank(block) {
            // A line end alone was accepted.
            let is_refused = !text(block, "text").contains('\n');
            breaches.member("BED-BLANK", format_args!("{place}.text"), BLANK).certain_if(is_refused);
        }
        let result = &block["toolResult"];
        let parts = list(result, "content");
        for (number, _) in parts.iter().enumerate().filter(|(_, part)| is_blank(part)) {
            // Some of the models behind it refuse it; the reports have their words.
            let place = format_args!("{place}.toolResult.content[{number}].text");
            breaches.member("BED-BLANK", place, BLANK).certain_if(false);
        }
        if result["status"] == "error" && parts.is_empty() {
            // Seen once.
            let place = format_args!("{place}.toolResult.content");
            breaches.add("BED-ERROR-CONTENT", place, "the error has no content").certain_if(false);
        }
    }
}
