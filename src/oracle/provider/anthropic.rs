//! What Anthropic Messages accepts as history.

use super::{Breaches, Open, has, is_plain, list, text};
use serde_json::Value;
use std::collections::{HashMap, HashSet};

pub(super) const RULES: &[(&str, &str)] = &[
    (
        "ANT-ANSWERED",
        "The message after one with `tool_use` blocks is a user message with a `tool_result` for each of their ids.",
    ),
    ("ANT-ORPHAN", "Every `tool_result` answers a `tool_use` of the message before."),
    ("ANT-ONE-RESULT", "One `tool_use` gets one `tool_result`."),
    ("ANT-ID-UNIQUE", "No two `tool_use` blocks of the request have the same id."),
    ("ANT-ID-PATTERN", "`id` of `tool_use` and `tool_use_id` consist of letters, digits, `_` and `-`, at least one."),
    ("ANT-INPUT-OBJECT", "`input` of a `tool_use` is an object."),
    ("ANT-RESULT-FIRST", "In a user message all `tool_result` blocks stand before any other."),
    ("ANT-RESULT-TOGETHER", "The results of parallel calls stand in one user message."),
    (
        "ANT-RESULT-CONTENT",
        "`content` of a `tool_result` is absent, a string, or an array of `text`, `image`, `document` and `search_result` blocks, of which no text is empty.",
    ),
    ("ANT-TEXT-NONEMPTY", "No text block is empty."),
    ("ANT-TEXT-WHITESPACE", "A text block of white space stands only beside a text block with other characters."),
    ("ANT-MSG-NONEMPTY", "No message but a final one of the assistant has empty content."),
    ("ANT-TRAILING", "A final assistant message does not end in white space."),
    ("ANT-PREFILL", "The last message is not the assistant's (models since 4.6)."),
    ("ANT-MESSAGES-NONEMPTY", "`messages` is not empty."),
    (
        "ANT-SYSTEM",
        "System text stands in `system`, not in `messages` (but for models that take it there, behind a user message).",
    ),
    ("ANT-THINK-SIGN", "A `thinking` block has the `signature` that it came with."),
    ("ANT-UTF16", "No string holds a lone surrogate."),
    (
        "ANT-TOOL-NAME",
        "Declared names of tools match `^[a-zA-Z0-9_-]{1,128}$`; names in calls have at most 200 characters.",
    ),
    ("ANT-TOOLS-UNIQUE", "Declared names of tools are different."),
    ("ANT-EXTRA", "Blocks have no member that the schema of requests lacks."),
    ("ANT-CACHE-MARKS", "At most 4 blocks have `cache_control`, none of them an empty text."),
    ("ANT-SIZE", "There are at most 100000 messages, and 32 MB in all."),
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

const LONGEST_DECLARED: usize = 128;
const LONGEST_CALLED: usize = 200;
const MOST_MARKS: usize = 4;
const MOST_MESSAGES: usize = 100_000;
const MOST_BYTES: usize = 32 << 20;

/// The members that each type of block has in requests.
const MEMBERS: [(&str, &[&str]); 5] = [
    ("text", &["text", "citations"]),
    ("tool_use", &["id", "name", "input", "caller"]),
    ("tool_result", &["tool_use_id", "content", "is_error"]),
    ("thinking", &["thinking", "signature"]),
    ("redacted_thinking", &["data"]),
];

pub(super) fn judge(body: &Value, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    if messages.is_empty() {
        breaches.add("ANT-MESSAGES-NONEMPTY", "messages", "no messages");
    }
    let mut open = Open::default();
    let mut ids = HashMap::new();
    for (position, message) in messages.iter().enumerate() {
        let place = format!("messages[{position}]");
        let at = format!("{place}.content");
        role(body, position, breaches);
        // Messages in a row with the same role are one turn.
        let before = position.checked_sub(1).map(|before| &messages[before]["role"]);
        let goes_on = before == Some(&message["role"]);
        if message["role"] != "assistant" {
            answers(&mut open, message, &messages[position + 1..], goes_on, &at, breaches);
        } else if !goes_on {
            open = Open::default();
        }
        for (number, block) in list(message, "content").iter().enumerate() {
            let place = format!("{at}[{number}]");
            self::block(block, claude(body).starts_with("claude-"), &place, breaches);
            if block["type"] == "tool_result" && message["role"] == "assistant" {
                breaches.add("ANT-ORPHAN", format!("{place}.tool_use_id"), "a result in a message of the assistant");
            }
            if block["type"] == "tool_use" {
                let id = text(block, "id");
                if let Some(before) = ids.insert(id, position) {
                    // Only repeats in one message were reported.
                    let is_certain = before == position;
                    breaches.add_as(is_certain, "ANT-ID-UNIQUE", format!("{place}.id"), format!("{id:?} again"));
                }
                open.ids.push(id);
            }
        }
        texts(message, &at, position + 1 == messages.len(), breaches);
    }
    let unanswered = open.unanswered();
    breaches
        .add_if(!unanswered.is_empty(), "ANT-ANSWERED", "messages", || format!("no message answers {unanswered:?}"));
    last(body, messages, breaches);
    whole(body, messages, breaches);
}

fn role(body: &Value, position: usize, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    let model = claude(body);
    let inside = SYSTEM_INSIDE.iter().any(|known| model.starts_with(known));
    let follows = position.checked_sub(1).is_some_and(|before| messages[before]["role"] == "user");
    let leads = messages.get(position + 1).is_none_or(|next| next["role"] == "assistant");
    if messages[position]["role"] == "system" && !(inside && follows && leads) {
        // It is not known of every model whether it accepts this.
        let is_certain = !(follows && leads) || PREFILLED.iter().any(|known| model.starts_with(known));
        breaches.add_as(is_certain, "ANT-SYSTEM", format!("messages[{position}].role"), "a system message");
    }
}

/// The name of the model from `claude` on, whatever a gateway puts before it.
fn claude(body: &Value) -> &str {
    let model = text(body, "model");
    model.find("claude-").map_or(model, |at| &model[at..])
}

fn results(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = list(message, "content").iter().filter(|block| block["type"] == "tool_result");
    blocks.map(|block| text(block, "tool_use_id"))
}

/// Judges the results in a message. Missing ones are reported at the first message of a turn only.
fn answers<'a>(
    open: &mut Open<'a>,
    message: &'a Value,
    rest: &[Value],
    goes_on: bool,
    place: &str,
    breaches: &mut Breaches,
) {
    let (mut text_before, mut other_before) = (false, false);
    for (number, block) in list(message, "content").iter().enumerate() {
        let place = format!("{place}[{number}]");
        if block["type"] != "tool_result" {
            text_before |= block["type"] == "text";
            other_before = true;
            continue;
        }
        if other_before {
            // The documentation speaks of texts.
            breaches.add_as(text_before, "ANT-RESULT-FIRST", &*place, "stands behind another block");
        }
        let id = text(block, "tool_use_id");
        let at = format!("{place}.tool_use_id");
        if !open.ids.contains(&id) {
            breaches.add("ANT-ORPHAN", at, format!("{id:?} is no call of the message before it"));
        } else if !open.answered.insert(id) {
            breaches.add("ANT-ONE-RESULT", at, format!("{id:?} was answered already"));
        }
    }
    let missing = open.unanswered();
    if goes_on || missing.is_empty() {
        return;
    }
    let turn = rest.iter().take_while(|next| next["role"] == message["role"]);
    let behind: Vec<&str> = turn.flat_map(results).collect();
    let (late, lost): (Vec<&str>, Vec<&str>) = missing.iter().partition(|id| behind.contains(id));
    if !late.is_empty() {
        // The API joins the messages today.
        let what = format!("{late:?} are answered in a message behind it");
        breaches.add_as(false, "ANT-RESULT-TOGETHER", place, what);
    }
    if !lost.is_empty() {
        breaches.add("ANT-ANSWERED", place, format!("no `tool_result` for {lost:?}"));
        open.ids.retain(|id| !lost.contains(id));
    }
}

fn block(block: &Value, is_claude: bool, place: &str, breaches: &mut Breaches) {
    let kind = text(block, "type");
    let id = match kind {
        "tool_use" => Some("id"),
        "tool_result" => Some("tool_use_id"),
        _ => None,
    };
    if let Some(member) = id {
        let id = text(block, member);
        breaches.add_if(!is_plain(id), "ANT-ID-PATTERN", &format!("{place}.{member}"), || format!("{id:?}"));
    }
    if kind == "tool_use" {
        let at = format!("{place}.input");
        breaches.add_if(!block["input"].is_object(), "ANT-INPUT-OBJECT", &at, || block["input"].to_string());
        let length = text(block, "name").chars().count();
        breaches.add_if(length > LONGEST_CALLED, "ANT-TOOL-NAME", &format!("{place}.name"), || {
            format!("{length} characters")
        });
    }
    if kind == "tool_result" {
        let place = format!("{place}.content");
        let parts = list(block, "content");
        let is_form = matches!(block["content"], Value::Null | Value::String(_) | Value::Array(_));
        let is_empty = parts.iter().any(|part| part["type"] == "text" && text(part, "text").is_empty());
        let is_known = |part: &Value| matches!(text(part, "type"), "text" | "image" | "document" | "search_result");
        if !is_form || is_empty {
            breaches.add("ANT-RESULT-CONTENT", place, block["content"].to_string());
        } else if !parts.iter().all(is_known) || block.get("content").is_some_and(Value::is_null) {
            // Types are added from time to time.
            breaches.add_as(false, "ANT-RESULT-CONTENT", place, block["content"].to_string());
        }
    }
    if kind == "thinking" && text(block, "signature").is_empty() {
        // Other servers with this API sign nothing.
        breaches.add_as(is_claude, "ANT-THINK-SIGN", format!("{place}.signature"), "no signature");
    }
    if let Some((_, known)) = MEMBERS.iter().find(|(name, _)| *name == kind) {
        for name in block.as_object().into_iter().flatten().map(|(name, _)| &**name) {
            if !known.contains(&name) && name != "type" && name != "cache_control" {
                // New members come from time to time; `index` never was one.
                let is_certain = name == "index";
                breaches.add_as(is_certain, "ANT-EXTRA", format!("{place}.{name}"), "unknown");
            }
        }
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
fn texts(message: &Value, place: &str, is_last: bool, breaches: &mut Breaches) {
    let final_answer = is_last && message["role"] == "assistant";
    let empty = match &message["content"] {
        Value::String(text) => {
            let blank = !text.is_empty() && is_blank(text);
            breaches.add_if(blank, "ANT-TEXT-WHITESPACE", place, || format!("{text:?}"));
            text.is_empty()
        }
        Value::Array(blocks) => blocks.is_empty(),
        other => other.is_null(),
    };
    breaches.add_if(empty && !final_answer, "ANT-MSG-NONEMPTY", place, || "empty".to_owned());
    let blocks: Vec<(usize, &str)> = list(message, "content")
        .iter()
        .enumerate()
        .filter(|(_, block)| block["type"] == "text")
        .map(|(number, block)| (number, text(block, "text")))
        .collect();
    let says_something = blocks.iter().any(|(_, text)| !is_blank(text));
    for (number, text) in blocks {
        let place = format!("{place}[{number}].text");
        breaches.add_if(text.is_empty(), "ANT-TEXT-NONEMPTY", &place, || "empty".to_owned());
        let alone = !text.is_empty() && is_blank(text) && !says_something;
        breaches.add_if(alone, "ANT-TEXT-WHITESPACE", &place, || format!("{text:?}"));
    }
}

/// An assistant message that stands last.
fn last(body: &Value, messages: &[Value], breaches: &mut Breaches) {
    let Some((message, before)) = messages.split_last() else { return };
    if message["role"] != "assistant" {
        return;
    }
    let place = format!("messages[{}]", before.len());
    let (at, end) = match &message["content"] {
        Value::Array(blocks) => {
            let number = blocks.len().saturating_sub(1);
            (
                format!("{place}.content[{number}].text"),
                blocks.last().map(|block| text(block, "text")).unwrap_or_default(),
            )
        }
        content => (format!("{place}.content"), content.as_str().unwrap_or_default()),
    };
    breaches.add_if(end.ends_with(is_white), "ANT-TRAILING", &at, || format!("{end:?}"));
    let model = claude(body);
    let prefilled = PREFILLED.iter().any(|known| model.starts_with(known));
    // An answer that paused for a tool of the server is sent back as it is.
    let is_paused =
        list(message, "content").iter().any(|block| has(block, "type") && is_of_server(text(block, "type")));
    if !prefilled && !is_paused {
        let is_certain = model.starts_with("claude-");
        breaches.add_as(is_certain, "ANT-PREFILL", format!("{place}.role"), "the assistant's message stands last");
    }
}

fn is_of_server(kind: &str) -> bool {
    matches!(kind, "server_tool_use" | "mcp_tool_use" | "compaction") || kind.ends_with("_tool_result")
}

fn whole(body: &Value, messages: &[Value], breaches: &mut Breaches) {
    let mut names = HashSet::new();
    // Sets of tools have no name.
    for (position, tool) in list(body, "tools").iter().enumerate().filter(|(_, tool)| has(tool, "name")) {
        let place = format!("tools[{position}].name");
        let name = text(tool, "name");
        let right = is_plain(name) && name.len() <= LONGEST_DECLARED;
        breaches.add_if(!right, "ANT-TOOL-NAME", &place, || format!("{name:?}"));
        let again = !names.insert(name);
        breaches.add_if(again, "ANT-TOOLS-UNIQUE", &place, || format!("{name:?} again"));
    }
    let mut marks = 0;
    marked(body, "", &mut |place, block| {
        marks += 1;
        let empty = block["type"] == "text" && text(block, "text").is_empty();
        breaches.add_if(empty, "ANT-CACHE-MARKS", place, || "on an empty text".to_owned());
    });
    breaches.add_if(marks > MOST_MARKS, "ANT-CACHE-MARKS", "", || format!("{marks} marks"));
    let size = body.to_string().len();
    let small = messages.len() <= MOST_MESSAGES && size <= MOST_BYTES;
    breaches.add_if(!small, "ANT-SIZE", "messages", || format!("{} messages, {size} bytes", messages.len()));
    breaches.surrogates(true, "ANT-UTF16", "", body);
}

/// Finds every object with `cache_control`, outside of arguments, which are data.
fn marked(value: &Value, place: &str, found: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(number, element)| marked(element, &format!("{place}[{number}]"), found));
        }
        Value::Object(members) => {
            if members.get("cache_control").is_some_and(|mark| !mark.is_null()) {
                found(place, value);
            }
            for (name, member) in members.iter().filter(|(name, _)| !matches!(&***name, "input" | "input_schema")) {
                let place = if place.is_empty() { name.clone() } else { format!("{place}.{name}") };
                marked(member, &place, found);
            }
        }
        _ => {}
    }
}
