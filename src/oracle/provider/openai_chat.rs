//! Checks histories by the rules of OpenAI Chat Completions.

use super::breach::{Breach, BreachDetail, Breaches};
use super::{GroupAnswers, Open, has, is_plain, list, model, not_a_name, not_plain, openai_tools, text, unknown};
use crate::MemberLookup;
use serde_json::Value;
use std::fmt::Arguments;

pub(super) const RULES: &[&str] = &[
    "OAI-CHAT-ANSWERED",
    "OAI-CHAT-ORPHAN",
    "OAI-CHAT-ONE-ANSWER",
    "OAI-CHAT-RESULT-ID",
    "OAI-CHAT-ID-LEN",
    "OAI-CHAT-ID-UNIQUE",
    "OAI-CHAT-NAME-PATTERN",
    "OAI-CHAT-NAME-LEN",
    "OAI-CHAT-CALL-TYPE",
    "OAI-CHAT-ARGS-STRING",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-CALLS-NONEMPTY",
    "OAI-CHAT-MESSAGES-NONEMPTY",
    "OAI-CHAT-TOOLS-NONEMPTY",
    "OAI-CHAT-TOOLS-MAX",
    "OAI-CHAT-TOOL-OPTIONS",
    openai_tools::STRICT_SCHEMA,
    "OAI-CHAT-ROLE",
    "OAI-CHAT-CONTENT-TYPE",
    "OAI-CHAT-PART-TYPE",
    "OAI-CHAT-IMAGE",
    "OAI-CHAT-CONTENT-NULL",
    "OAI-CHAT-CONTENT-MAX",
    "OAI-CHAT-MSG-NAME",
    "DS-UTF16",
];

const ROLES: &[&str] = &["system", "developer", "user", "assistant", "tool", "function"];
const PARTS: &[&str] = &["text", "image_url", "input_audio", "refusal", "audio", "file"];
/// Roles that another server has beside these.
const ROLES_ELSEWHERE: &[&str] = &["latest_reminder"];
/// Types of parts that another server has beside these.
const PARTS_ELSEWHERE: &[&str] = &["video_url", "video", "audio_url", "image_embeds"];
/// Models of which it is known that images are only in messages of the user: newer ones, and those of others, take them elsewhere, too.
const USER_IMAGES: &[&str] = &["gpt-4", "chatgpt-4", "gpt-3.5", "o1", "o3", "o4"];

const LONGEST_ID: usize = 40;
/// The limit in newer versions.
const LONGEST_ID_NOW: usize = 64;
const LONGEST_NAME: usize = 64;
const MOST_TOOLS: usize = 128;
const LONGEST_TEXT: usize = 10_485_760;

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    if list(body, "messages").is_empty() {
        let breach = breaches.add("OAI-CHAT-MESSAGES-NONEMPTY", "messages", "the request has no messages");
        if !body.member("messages").is_array() {
            breach.variant("missing");
        }
    }
    let mut open = Open::default();
    for (position, message) in list(body, "messages").iter().enumerate() {
        let place = format_args!("messages[{position}]");
        role(message.member("role"), format_args!("{place}.role"), breaches);
        if message.member("role") == "tool" {
            answer(message, place, position, &mut open, breaches);
        } else {
            all_answered(&open, place, breaches);
            open = calls(message, position, place, breaches);
        }
        content(message, place, breaches);
        parts(message, place, model(body), breaches);
        sender(message, place, breaches);
    }
    if let Some(breach) = all_answered(&open, format_args!("messages"), breaches) {
        breach.variant("end");
    }
    tools(body, breaches);
    // OpenAI's own servers are not known to refuse it.
    breaches.surrogates(is_deepseek(body), "DS-UTF16", format_args!(""), body);
}

fn is_deepseek(body: &Value) -> bool {
    text(body, "model").starts_with("deepseek-")
}

fn role(role: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    match role.as_str() {
        Some(name) if ROLES.contains(&name) => {}
        Some(name) => {
            let breach = breaches.member("OAI-CHAT-ROLE", place, unknown(name));
            breach.certain_if(!ROLES_ELSEWHERE.contains(&name)).with(BreachDetail::Value(name.to_owned()));
        }
        None => {
            breaches.member("OAI-CHAT-ROLE", place, "is missing").variant("missing");
        }
    }
}

fn all_answered<'b>(open: &Open<'_>, place: Arguments<'_>, breaches: &'b mut Breaches) -> Option<&'b mut Breach> {
    let unanswered = open.unanswered();
    if unanswered.is_empty() {
        return None;
    }
    let what = format!("no tool message answers the calls {unanswered:?} of message {}", open.at + 1);
    let breach = breaches.add("OAI-CHAT-ANSWERED", place, what);
    Some(breach.ids(&unanswered).with(BreachDetail::Calls(open.at)))
}

fn answer(message: &Value, place: Arguments<'_>, position: usize, open: &mut Open<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.tool_call_id");
    let Some(id) = message.member("tool_call_id").as_str() else {
        breaches.member("OAI-CHAT-RESULT-ID", place, "is missing");
        return;
    };
    match open.answer(id, position) {
        GroupAnswers::First => {}
        GroupAnswers::Unknown => {
            let what = format!("the message before the results has no call {id:?}");
            breaches.add("OAI-CHAT-ORPHAN", place, what).id(id);
        }
        GroupAnswers::Again(first) => {
            let breach = breaches.add("OAI-CHAT-ONE-ANSWER", place, format!("the call {id:?} has a result already"));
            breach.id(id).with(BreachDetail::First(first));
        }
    }
}

/// The calls of a message.
fn calls<'a>(message: &'a Value, at: usize, place: Arguments<'_>, breaches: &mut Breaches) -> Open<'a> {
    let place = format_args!("{place}.tool_calls");
    breaches.not_empty("OAI-CHAT-CALLS-NONEMPTY", place, message.member("tool_calls"));
    let mut open = Open::default();
    for (position, call) in list(message, "tool_calls").iter().enumerate() {
        let place = format_args!("{place}[{position}]");
        let id = text(call, "id");
        let length = id.chars().count();
        if length > LONGEST_ID {
            let is_certain = length > LONGEST_ID_NOW;
            let max = if is_certain { LONGEST_ID_NOW } else { LONGEST_ID };
            breaches.too_long("OAI-CHAT-ID-LEN", format_args!("{place}.id"), [length, max]).certain_if(is_certain);
        }
        if !open.call(id, at) {
            // Seen once, at another server.
            breaches
                .add("OAI-CHAT-ID-UNIQUE", format_args!("{place}.id"), format!("the id {id:?} is repeated"))
                .certain_if(false)
                .id(id);
        }
        call_type(call, format_args!("{place}.type"), breaches);
        if has(call, "custom") {
            // Its input is any text.
            name(text(call.member("custom"), "name"), format_args!("{place}.custom.name"), breaches);
            continue;
        }
        name(text(call.member("function"), "name"), format_args!("{place}.function.name"), breaches);
        arguments(call.member("function").member("arguments"), format_args!("{place}.function.arguments"), breaches);
    }
    open
}

fn call_type(call: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    match call.member("type") {
        Value::String(kind) if matches!(&**kind, "function" | "custom") => {}
        Value::String(kind) => {
            let breach = breaches.member("OAI-CHAT-CALL-TYPE", place, unknown(kind)).variant("value");
            breach.with(BreachDetail::Value(kind.clone()));
        }
        Value::Null if call.get("type").is_none() => {
            breaches.member("OAI-CHAT-CALL-TYPE", place, "is missing");
        }
        other => {
            breaches.not_a("a string", "OAI-CHAT-CALL-TYPE", place, other).variant("kind");
        }
    }
}

fn name(name: &str, place: Arguments<'_>, breaches: &mut Breaches) {
    if name.is_empty() {
        breaches.member("OAI-CHAT-NAME-LEN", place, "is empty").variant("empty");
        return;
    }
    breaches.not_longer(LONGEST_NAME, "OAI-CHAT-NAME-LEN", place, name);
    if !is_plain(name) {
        breaches.member("OAI-CHAT-NAME-PATTERN", place, not_plain(name)).name(name);
    }
}

fn arguments(arguments: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let Some(text) = arguments.as_str() else {
        let breach = breaches.not_a("a string", "OAI-CHAT-ARGS-STRING", place, arguments);
        if arguments.is_null() {
            breach.variant("missing");
        }
        return;
    };
    openai_tools::arguments(text, "OAI-CHAT-ARGS-JSON", "DS-UTF16", place, breaches);
}

fn content(message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let place = format_args!("{place}.content");
    // What an assistant's message may have instead.
    let says = !list(message, "tool_calls").is_empty()
        || ["function_call", "refusal", "audio"].iter().any(|name| has(message, name));
    let may_lack = message.member("role") == "assistant" && says;
    if message.member("content").is_null() && !may_lack {
        breaches.member("OAI-CHAT-CONTENT-NULL", place, "is null or missing");
    }
    breaches.not_longer(LONGEST_TEXT, "OAI-CHAT-CONTENT-MAX", place, text(message, "content"));
}

/// The parts of which a message consists.
fn parts(message: &Value, place: Arguments<'_>, model: &str, breaches: &mut Breaches) {
    let place = format_args!("{place}.content");
    let content = message.member("content");
    if !matches!(content, Value::Null | Value::String(_) | Value::Array(_)) {
        breaches.not_a("a string or an array", "OAI-CHAT-CONTENT-TYPE", place, content);
    }
    for (number, part) in list(message, "content").iter().enumerate() {
        let place = format_args!("{place}[{number}]");
        if !part.is_object() {
            breaches.not_a("an object", "OAI-CHAT-CONTENT-TYPE", place, part).variant("part");
            continue;
        }
        let kind = text(part, "type");
        if kind.is_empty() {
            breaches.member("OAI-CHAT-CONTENT-TYPE", format_args!("{place}.type"), "is missing").variant("type");
        } else if !PARTS.contains(&kind) {
            let breach = breaches.member("OAI-CHAT-PART-TYPE", format_args!("{place}.type"), unknown(kind));
            breach.certain_if(!PARTS_ELSEWHERE.contains(&kind)).with(BreachDetail::Value(kind.to_owned()));
        }
        let role = text(message, "role");
        if kind == "image_url" && role != "user" {
            let breach = breaches.add("OAI-CHAT-IMAGE", place, format!("a message with role {role:?} has an image"));
            breach.certain_if(USER_IMAGES.iter().any(|known| model.starts_with(known)));
            breach.with(BreachDetail::Value(role.to_owned()));
        }
    }
}

/// The name of who says a message.
fn sender(message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if let Some(name) = message.member("name").as_str()
        && (!is_plain(name) || name.len() > LONGEST_NAME)
    {
        // Seen once.
        breaches
            .member("OAI-CHAT-MSG-NAME", format_args!("{place}.name"), not_a_name(name, LONGEST_NAME))
            .certain_if(false)
            .name(name);
    }
}

fn tools(body: &Value, breaches: &mut Breaches) {
    breaches.not_empty("OAI-CHAT-TOOLS-NONEMPTY", format_args!("tools"), body.member("tools"));
    openai_tools::options("OAI-CHAT-TOOL-OPTIONS", body, breaches);
    let tools = list(body, "tools");
    if tools.len() > MOST_TOOLS {
        let breach =
            breaches.add("OAI-CHAT-TOOLS-MAX", "tools", format!("{} tools are more than {MOST_TOOLS}", tools.len()));
        breach.with(BreachDetail::Length(tools.len())).with(BreachDetail::Max(MOST_TOOLS));
    }
    // Other types of tools have names of other forms, or none.
    for (position, tool) in tools.iter().enumerate().filter(|(_, tool)| has(tool, "function")) {
        let place = format_args!("tools[{position}].function");
        name(text(tool.member("function"), "name"), format_args!("{place}.name"), breaches);
        openai_tools::strict(tool.member("function"), place, breaches);
    }
}
