//! Checks histories by the rules of Anthropic Messages.

mod thinking;
mod whole;

pub(super) use thinking::{SHOWN, is_thinking, running_turn, thinking_changed, thinking_missing};

use super::breach::{BreachDetail, Breaches};
use super::{BLANK, GroupAnswers, Open, RequestContext, has, is_plain, list, not_plain, text};
use crate::MemberLookup;
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt::Arguments;

pub(super) const RULES: &[&str] = &[
    "ANT-ANSWERED",
    "ANT-ORPHAN",
    "ANT-ONE-RESULT",
    "ANT-ID-UNIQUE",
    "ANT-ID-PATTERN",
    "ANT-INPUT-OBJECT",
    "ANT-RESULT-FIRST",
    "ANT-RESULT-TOGETHER",
    "ANT-RESULT-CONTENT",
    "ANT-TEXT-NONEMPTY",
    "ANT-TEXT-WHITESPACE",
    "ANT-MSG-NONEMPTY",
    thinking::CONTENT,
    thinking::BLOCK,
    thinking::IMAGE,
    thinking::ROLE,
    "ANT-TRAILING",
    "ANT-PREFILL",
    "ANT-MESSAGES-NONEMPTY",
    "ANT-SYSTEM",
    thinking::FIRST,
    thinking::SAME,
    thinking::SIGN,
    thinking::CHOICE,
    "ANT-UTF16",
    "ANT-TOOL-NAME",
    "ANT-TOOLS-UNIQUE",
    "ANT-EXTRA",
    "ANT-CACHE-MARKS",
    "ANT-SIZE",
    whole::MAX_TOKENS,
    "ANT-VERSION",
    "ANT-SAMPLING",
    "ANT-NO-DOCUMENT",
    "ANT-NO-CITATIONS",
];

/// Models that accept an assistant message as the last one, and continue it.
const PREFILLED: [&str; 12] = [
    "claude-2",
    "claude-instant",
    "claude-3",
    "claude-opus-4-2",
    "claude-sonnet-4-2",
    "claude-opus-4-0",
    "claude-sonnet-4-0",
    "claude-opus-4-1",
    "claude-opus-4-5",
    "claude-sonnet-4-5",
    "claude-haiku-4-5",
    "claude-haiku-4-2",
];
/// Models that take system messages inside `messages`.
const SYSTEM_INSIDE: [&str; 2] = ["claude-opus-4-8", "claude-opus-5"];
/// Newer models that do not.
const SYSTEM_OUTSIDE: [&str; 1] = ["claude-sonnet-5"];
/// With this beta more models do.
const SYSTEM_BETA: &str = "mid-conversation-system-2026-04-07";

const LONGEST_CALLED: usize = 200;

/// The members that each type of block has in requests.
const MEMBERS: [(&str, &[&str]); 5] = [
    ("text", &["text", "citations"]),
    ("tool_use", &["id", "name", "input", "caller"]),
    ("tool_result", &["tool_use_id", "content", "is_error"]),
    ("thinking", &["thinking", "signature"]),
    ("redacted_thinking", &["data"]),
];

/// The fault of a member that the API does not take.
const UNKNOWN: &str = "is a member that this API does not have here";

pub(super) fn judge(body: &Value, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    if messages.is_empty() {
        let breach = breaches.add("ANT-MESSAGES-NONEMPTY", "messages", "the request has no messages");
        if !body.member("messages").is_array() {
            breach.variant("missing");
        }
    }
    let mut open = Open::default();
    let mut ids = HashMap::new();
    for (position, message) in messages.iter().enumerate() {
        let place = format_args!("messages[{position}]");
        let at = format_args!("{place}.content");
        thinking::judge_forms(message, place, breaches);
        for name in message.as_object().into_iter().flatten().map(|(name, _)| &**name) {
            if !["role", "content"].contains(&name) {
                breaches.member("ANT-EXTRA", format_args!("{place}.{name}"), UNKNOWN).variant("message");
            }
        }
        role(body, position, context, breaches);
        // Messages in a row with the same role are one turn.
        let before = position.checked_sub(1).map(|before| messages[before].member("role"));
        let goes_on = before == Some(message.member("role"));
        if message.member("role") != "assistant" {
            answers(&mut open, messages, position, goes_on, breaches);
        } else if !goes_on {
            open = Open::default();
        }
        for (number, block) in list(message, "content").iter().enumerate() {
            let place = format_args!("{at}[{number}]");
            self::block(block, place, breaches);
            if block.member("type") == "tool_result" && message.member("role") == "assistant" {
                let at = format_args!("{place}.tool_use_id");
                let breach = breaches.add("ANT-ORPHAN", at, "a `tool_result` is in a message of the assistant");
                breach.id(text(block, "tool_use_id"));
            }
            if block.member("type") == "tool_use" {
                let id = text(block, "id");
                if let Some(before) = ids.insert(id, position) {
                    // Only repeats in one message were reported.
                    let is_certain = before == position;
                    let what = format!("the id {id:?} is repeated");
                    let breach = breaches.add("ANT-ID-UNIQUE", format_args!("{place}.id"), what);
                    breach.certain_if(is_certain).id(id);
                }
                open.call(id, position);
            }
            if block.member("type") == "server_tool_use" {
                of_server(messages, position, block, place, breaches);
            }
        }
        texts(message, at, position + 1 == messages.len(), breaches);
    }
    let unanswered = open.unanswered();
    if !unanswered.is_empty() {
        unanswered_calls(&unanswered, open.at, breaches);
    }
    last(body, messages, breaches);
    whole::judge(body, context, breaches);
    thinking::judge_thinking(body, claude(body).starts_with("claude-"), context, breaches);
}

fn role(body: &Value, position: usize, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    if messages[position].member("role") != "system" {
        return;
    }
    let model = claude(body);
    let is_among = |models: &[&str]| models.iter().any(|known| model.starts_with(known));
    let is_outside = is_among(&PREFILLED) || is_among(&SYSTEM_OUTSIDE);
    let has_beta = context.headers.is_some_and(|headers| headers.has_beta(SYSTEM_BETA));
    let is_inside = is_among(&SYSTEM_INSIDE) || (has_beta && !is_outside);
    // Several in a row stand as one.
    let is_other = |message: &&Value| message.member("role") != "system";
    // What a tool of the server gave is a result, too.
    let is_result = |block: &Value| text(block, "type").ends_with("_tool_result");
    let follows = messages[..position]
        .iter()
        .rfind(is_other)
        .is_some_and(|before| before.member("role") == "user" || list(before, "content").last().is_some_and(is_result));
    let leads = messages[position..].iter().find(is_other).is_none_or(|next| next.member("role") == "assistant");
    if is_inside && follows && leads {
        return;
    }
    let breach = breaches.member("ANT-SYSTEM", format_args!("messages[{position}].role"), "is `system`");
    // It is not known of every model whether it accepts this.
    breach.certain_if(!(follows && leads) || is_outside);
    match position {
        0 if is_inside => breach.variant("first"),
        // Claude Code knows a refusal of the model by these words, and sends its reminders otherwise.
        1.. if !is_inside => breach.variant("model"),
        _ => breach,
    };
}

/// The name of the model from `claude` on, whatever a gateway puts before it.
fn claude(body: &Value) -> &str {
    let model = text(body, "model");
    model.find("claude-").map_or(model, |at| &model[at..])
}

fn results(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = list(message, "content").iter().filter(|block| block.member("type") == "tool_result");
    blocks.map(|block| text(block, "tool_use_id"))
}

/// Judges the results in a message. Missing ones are reported at the first message of a turn only.
fn answers<'a>(open: &mut Open<'a>, messages: &'a [Value], position: usize, goes_on: bool, breaches: &mut Breaches) {
    let message = &messages[position];
    let place = format_args!("messages[{position}].content");
    let mut before = None;
    for (number, block) in list(message, "content").iter().enumerate() {
        let place = format_args!("{place}[{number}]");
        if block.member("type") != "tool_result" {
            before = before.filter(|kind| *kind == "text").or(Some(text(block, "type")));
            continue;
        }
        let id = text(block, "tool_use_id");
        if let Some(kind) = before {
            // The documentation speaks of texts.
            let what = format!("the `tool_result` for {id:?} is behind a `{kind}` block");
            let breach = breaches.add("ANT-RESULT-FIRST", place, what);
            breach.certain_if(kind == "text").ids(&[id]).with(BreachDetail::Calls(open.at));
        }
        let at = format_args!("{place}.tool_use_id");
        match open.answer(id, position) {
            GroupAnswers::First => {}
            GroupAnswers::Unknown => {
                breaches.add("ANT-ORPHAN", at, format!("the message before the results has no call {id:?}")).id(id);
            }
            GroupAnswers::Again(first) => {
                let breach = breaches.add("ANT-ONE-RESULT", at, format!("the call {id:?} has a result already"));
                breach.id(id).with(BreachDetail::First(first));
            }
        }
    }
    let missing = open.unanswered();
    if goes_on || missing.is_empty() {
        return;
    }
    let turn = messages[position + 1..].iter().take_while(|next| next.member("role") == message.member("role"));
    let behind: HashSet<&str> = turn.flat_map(results).collect();
    let (late, lost): (Vec<&str>, Vec<&str>) = missing.iter().partition(|id| behind.contains(*id));
    if !late.is_empty() {
        let what = format!("the results of the calls {late:?} are in a later message, not in this one");
        let breach = breaches.add("ANT-RESULT-TOGETHER", place, what);
        // The API joins the messages today.
        breach.certain_if(false).ids(&late).with(BreachDetail::Calls(open.at));
    }
    if !lost.is_empty() {
        unanswered_calls(&lost, open.at, breaches);
        for id in lost {
            open.forget(id);
        }
    }
}

/// Calls without results, at the message that the API names: their own.
fn unanswered_calls(ids: &[&str], at: usize, breaches: &mut Breaches) {
    let what = format!("no `tool_result` answers the calls {ids:?}");
    let breach = breaches.add("ANT-ANSWERED", format_args!("messages[{at}].content"), what);
    breach.ids(ids).with(BreachDetail::Calls(at));
}

/// A call of a server's tool, whose result is in the same turn of the assistant, unless that goes on.
fn of_server(messages: &[Value], position: usize, block: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let is_result = |block: &Value| block.member("type") == "tool_result";
    let has_words = |message: &&Value| {
        message.member("role") == "user"
            && (message.member("content").is_string() || !list(message, "content").iter().all(is_result))
    };
    let behind = &messages[position..];
    let Some(end) = behind.iter().position(|message| has_words(&message)) else { return };
    let id = text(block, "id");
    let is_answer = |block: &Value| text(block, "type").ends_with("_tool_result") && text(block, "tool_use_id") == id;
    if !behind[..end].iter().any(|message| list(message, "content").iter().any(is_answer)) {
        let breach = breaches.add("ANT-ANSWERED", place, format!("the call {id:?} of a server's tool has no result"));
        breach.variant("server").id(id).name(text(block, "name")).with(BreachDetail::Calls(position));
    }
}

fn block(block: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let kind = text(block, "type");
    let id = match kind {
        "tool_use" => Some("id"),
        "tool_result" => Some("tool_use_id"),
        _ => None,
    };
    if let Some(member) = id {
        let id = text(block, member);
        if !is_plain(id) {
            let fault = format_args!("is not made of letters, digits, `_` and `-`: {id:?}");
            let breach = breaches.member("ANT-ID-PATTERN", format_args!("{place}.{member}"), fault).id(id);
            if kind == "tool_result" {
                breach.variant("result");
            }
        }
    }
    if kind == "tool_use" {
        let input = block.member("input");
        if !input.is_object() {
            let breach = breaches.not_a("an object", "ANT-INPUT-OBJECT", format_args!("{place}.input"), input);
            if block.get("input").is_none() {
                breach.variant("missing");
            }
        }
        called(text(block, "name"), format_args!("{place}.name"), breaches);
    }
    if kind == "tool_result" {
        let place = format_args!("{place}.content");
        let is_form = matches!(block.member("content"), Value::Null | Value::String(_) | Value::Array(_));
        if !is_form || block.get("content").is_some_and(Value::is_null) {
            let breach = breaches.not_a("a string or array", "ANT-RESULT-CONTENT", place, block.member("content"));
            breach.variant("form").certain_if(!is_form);
        }
        let is_known = |part: &Value| {
            matches!(text(part, "type"), "text" | "image" | "document" | "search_result" | "tool_reference")
        };
        for (number, part) in list(block, "content").iter().enumerate() {
            let place = format_args!("{place}[{number}]");
            if part.member("type") == "text" && text(part, "text").is_empty() {
                breaches.member("ANT-RESULT-CONTENT", format_args!("{place}.text"), "is empty");
            } else if !is_known(part) {
                // Types are added from time to time.
                let fault = format_args!("is {}, which a result does not have", part.member("type"));
                let breach = breaches.member("ANT-RESULT-CONTENT", format_args!("{place}.type"), fault);
                breach.variant("form").certain_if(false);
            }
        }
    }
    if let Some((_, known)) = MEMBERS.iter().find(|(name, _)| *name == kind) {
        for name in block.as_object().into_iter().flatten().map(|(name, _)| &**name) {
            let is_mark = name == "cache_control";
            if !known.contains(&name) && name != "type" && (!is_mark || kind.ends_with("thinking")) {
                // New members come from time to time; `index` never was one.
                let is_certain = is_mark || name == "index";
                let breach = breaches.member("ANT-EXTRA", format_args!("{place}.{name}"), UNKNOWN);
                breach.certain_if(is_certain).name(name).with(BreachDetail::Value(kind.to_owned()));
            }
        }
    }
}

/// The name in a call. That names with other characters are refused there was not reported, unlike their length.
fn called(name: &str, place: Arguments<'_>, breaches: &mut Breaches) {
    let length = name.chars().count();
    if length > LONGEST_CALLED {
        breaches.too_long("ANT-TOOL-NAME", place, [length, LONGEST_CALLED]).variant("called");
    }
    if name.is_empty() {
        breaches.member("ANT-TOOL-NAME", place, "is empty").variant("empty");
    } else if !is_plain(name) {
        breaches.member("ANT-TOOL-NAME", place, not_plain(name)).variant("pattern").certain_if(false).name(name);
    }
}

/// White space as Python and JavaScript together define it.
fn is_blank(text: &str) -> bool {
    text.chars().all(is_white)
}

fn is_white(character: char) -> bool {
    character.is_whitespace() || matches!(character, '\u{1c}'..='\u{1f}' | '\u{feff}')
}

/// The texts of a message.
fn texts(message: &Value, place: Arguments<'_>, is_last: bool, breaches: &mut Breaches) {
    let final_answer = is_last && message.member("role") == "assistant";
    let is_empty = match message.member("content") {
        Value::String(text) => {
            if !text.is_empty() && is_blank(text) {
                breaches.member("ANT-TEXT-WHITESPACE", place, BLANK);
            }
            text.is_empty()
        }
        Value::Array(blocks) => blocks.is_empty(),
        _ => false,
    };
    // Claude Code sends system messages without content, and the API takes them.
    if is_empty && !final_answer && message.member("role") != "system" {
        let breach = breaches.member("ANT-MSG-NONEMPTY", place, "is empty");
        if message.member("role") == "user" {
            breach.variant("user");
        }
    }
    let blocks: Vec<(usize, &str)> = list(message, "content")
        .iter()
        .enumerate()
        .filter(|(_, block)| block.member("type") == "text")
        .map(|(number, block)| (number, text(block, "text")))
        .collect();
    let says_something = blocks.iter().any(|(_, text)| !is_blank(text));
    for (number, text) in blocks {
        if text.is_empty() {
            breaches.member("ANT-TEXT-NONEMPTY", format_args!("{place}[{number}].text"), "is empty");
        } else if is_blank(text) && !says_something {
            breaches.member("ANT-TEXT-WHITESPACE", format_args!("{place}[{number}].text"), BLANK);
        }
    }
}

/// An assistant message that is last.
fn last(body: &Value, messages: &[Value], breaches: &mut Breaches) {
    let Some((message, before)) = messages.split_last() else { return };
    if message.member("role") != "assistant" {
        return;
    }
    let place = format_args!("messages[{}]", before.len());
    let (at, end) = match message.member("content") {
        Value::Array(blocks) => {
            let number = blocks.len().saturating_sub(1);
            (
                format!("{place}.content[{number}].text"),
                blocks.last().map(|block| text(block, "text")).unwrap_or_default(),
            )
        }
        content => (format!("{place}.content"), content.as_str().unwrap_or_default()),
    };
    if end.ends_with(is_white) {
        breaches.member("ANT-TRAILING", at, format_args!("ends with white space: {end:?}"));
    }
    let model = claude(body);
    let prefilled = PREFILLED.iter().any(|known| model.starts_with(known));
    // An answer that paused for a tool of the server is sent back as it is.
    let is_paused =
        list(message, "content").iter().any(|block| has(block, "type") && is_of_server(text(block, "type")));
    if !prefilled && !is_paused {
        let breach = breaches.add("ANT-PREFILL", format_args!("{place}.role"), "the assistant's message is last");
        breach.certain_if(model.starts_with("claude-"));
    }
}

fn is_of_server(kind: &str) -> bool {
    matches!(kind, "server_tool_use" | "mcp_tool_use" | "compaction") || kind.ends_with("_tool_result")
}
