//! Checks the forms of messages and their blocks by the rules of Anthropic Messages, thinking blocks included.

use crate::MemberLookup;
use crate::oracle::provider::breach::{Breach, BreachDetail, Breaches};
use crate::oracle::provider::{RequestContext, list, text, unknown};
use serde_json::Value;
use std::fmt::Arguments;

pub(super) const FIRST: &str = "ANT-THINK-FIRST";
pub(super) const SAME: &str = "ANT-THINK-SAME";
pub(super) const SIGN: &str = "ANT-THINK-SIGN";
pub(super) const CHOICE: &str = "ANT-THINK-CHOICE";

pub(super) fn judge_thinking(body: &Value, is_claude: bool, context: &RequestContext<'_>, breaches: &mut Breaches) {
    // `adaptive` thinks or not, as the model likes.
    let (always, sometimes) =
        (body.member("thinking").member("type") == "enabled", body.member("thinking").member("type") == "adaptive");
    let messages = list(body, "messages");
    signatures(messages, is_claude, context, breaches);
    if always || sometimes {
        let (choice, place) = (text(body.member("tool_choice"), "type"), "tool_choice.type");
        if matches!(choice, "any" | "tool") {
            breaches.member(CHOICE, place, format_args!("is {choice:?} while thinking is on")).certain_if(always);
        }
        same(messages, context, breaches);
    }
    if always {
        first(messages, context, breaches);
    }
}

/// The members of a thinking block that the provider examines.
pub(in crate::oracle::provider) const SHOWN: [&str; 4] = ["type", "thinking", "signature", "data"];

pub(in crate::oracle::provider) fn is_thinking(block: &Value) -> bool {
    matches!(text(block, "type"), "thinking" | "redacted_thinking")
}

fn has_result(message: &Value) -> bool {
    list(message, "content").iter().any(|block| block.member("type") == "tool_result")
}

/// Where the turn begins that the model has begun and not ended: behind the last words of the user.
pub(in crate::oracle::provider) fn running_turn(messages: &[Value]) -> usize {
    let is_of_loop = |message: &&Value| message.member("role") != "user" || has_result(message);
    messages.len() - messages.iter().rev().take_while(is_of_loop).count()
}

/// An earlier answer or request had thinking there, and this request has none.
pub(in crate::oracle::provider) fn thinking_missing(block: &str, found: &str) -> Breach {
    let what = format!("the thinking before the call is missing; the message begins with `{found}`");
    let mut breach = Breach::new(FIRST, format!("{block}.type"), what);
    breach.with(BreachDetail::Value(found.to_owned()));
    breach
}

/// An earlier answer or request had other thinking there. Of the latest message the API says so; others have signatures that no longer fit.
pub(in crate::oracle::provider) fn thinking_changed(block: String) -> Breach {
    Breach::new(SAME, block, "the thinking of the calls has changed, or its place among them")
}

/// The turn of a running tool loop begins with the thinking that led to its calls.
fn first(messages: &[Value], context: &RequestContext<'_>, breaches: &mut Breaches) {
    let (before, running) = messages.split_at(running_turn(messages));
    let turns = || running.iter().enumerate().filter(|(_, message)| message.member("role") == "assistant");
    let Some((position, message)) = turns().next() else { return };
    // The models answer results within their turn, then without new thinking.
    let blocks = list(message, "content");
    let thinks_late = blocks.iter().any(is_thinking);
    let thinks_at_all = turns().any(|(_, message)| list(message, "content").iter().any(is_thinking));
    let is_running = running.last().is_some_and(has_result);
    if !is_running || blocks.first().is_some_and(is_thinking) || (thinks_at_all && !thinks_late) {
        return;
    }
    let place = format!("messages[{}].content[0].type", before.len() + position);
    let found = blocks.first().map_or("text", |block| text(block, "type"));
    // One request does not show whether the answers of this turn, the last ones, had thinking.
    let said = context.thinking.unwrap_or_default().iter().rev().take(turns().count());
    let is_known = thinks_late || said.into_iter().any(|blocks| !blocks.is_empty());
    let breach = breaches.add(FIRST, place, format!("the turn begins with `{found}`"));
    breach.certain_if(is_known).with(BreachDetail::Value(found.to_owned()));
}

/// The signatures of thinking blocks, which each came from the server.
fn signatures(messages: &[Value], is_claude: bool, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let blocks = messages.iter().enumerate().flat_map(|(position, message)| {
        list(message, "content").iter().enumerate().map(move |(number, block)| (position, number, block))
    });
    for (position, number, block) in blocks.filter(|(_, _, block)| block.member("type") == "thinking") {
        let place = || format!("messages[{position}].content[{number}].signature");
        let signature = text(block, "signature");
        if signature.is_empty() {
            // Other servers with this API sign nothing.
            breaches.member(SIGN, place(), "is missing").variant("missing").certain_if(is_claude);
        } else if let Some(said) = context.thinking
            && said.iter().flatten().all(|one| text(one, "signature") != signature)
        {
            breaches.add(SIGN, place(), "no answer had this signature");
        }
    }
}

/// The thinking blocks of the latest assistant message are those of answers, whole and in order.
fn same(messages: &[Value], context: &RequestContext<'_>, breaches: &mut Breaches) {
    let Some(said) = context.thinking else { return };
    let Some((position, message)) =
        messages.iter().enumerate().rev().find(|(_, message)| message.member("role") == "assistant")
    else {
        return;
    };
    let blocks: Vec<(usize, &Value)> =
        list(message, "content").iter().enumerate().filter(|(_, block)| is_thinking(block)).collect();
    let unsigned = |block: &Value| {
        let signature = text(block, "signature");
        block.member("type") == "thinking" && said.iter().flatten().all(|one| text(one, "signature") != signature)
    };
    // Without any, ANT-THINK-FIRST has the word; with another signature, ANT-THINK-SIGN.
    let Some(&(number, _)) = blocks.first() else { return };
    if blocks.iter().any(|(_, block)| unsigned(block)) {
        return;
    }
    // Several answers in a row may have become one message.
    let is_whole = (0..said.len()).any(|start| {
        let mut rest = blocks.as_slice();
        for answer in &said[start..] {
            let Some((here, behind)) = rest.split_at_checked(answer.len()) else { return false };
            if !here.iter().zip(answer).all(|((_, block), one)| is_same(block, one)) {
                return false;
            }
            rest = behind;
            if rest.is_empty() {
                return true;
            }
        }
        false
    });
    if !is_whole {
        let place = format!("messages[{position}].content[{number}]");
        breaches.add(SAME, place, "the thinking blocks are not those of the answer");
    }
}

fn is_same(block: &Value, said: &Value) -> bool {
    SHOWN.iter().all(|name| block.member(name) == said.member(name))
}

// The forms that Anthropic Messages demands of a message and of the blocks in it.

pub(super) const ROLE: &str = "ANT-ROLE";
pub(super) const CONTENT: &str = "ANT-CONTENT-TYPE";
pub(super) const BLOCK: &str = "ANT-BLOCK-TYPE";
pub(super) const IMAGE: &str = "ANT-IMAGE";

/// Types of blocks that requests have; `*_tool_result`, of tools of the server, beside them.
const KNOWN: &[&str] = &[
    "text",
    "image",
    "document",
    "search_result",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "server_tool_use",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
    "compaction",
    "tool_addition",
    "tool_removal",
];

/// Types of parts and items of other APIs, which this one never had.
const FOREIGN: &[&str] = &[
    "image_url",
    "input_text",
    "output_text",
    "input_image",
    "input_file",
    "input_audio",
    "file",
    "refusal",
    "reasoning",
    "function",
    "function_call",
    "function_call_output",
    "tool_call",
    "tool-call",
];

pub(super) fn judge_forms(message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    role(message.member("role"), format_args!("{place}.role"), breaches);
    let place = format_args!("{place}.content");
    match message.member("content") {
        Value::String(_) => {}
        Value::Array(blocks) => {
            for (number, block) in blocks.iter().enumerate() {
                self::block(message, block, format_args!("{place}[{number}]"), breaches);
            }
        }
        other => {
            let breach = breaches.not_a("a string or an array", CONTENT, place, other);
            if message.get("content").is_none() {
                breach.variant("missing");
            }
        }
    }
}

fn role(role: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    match role.as_str() {
        Some("user" | "assistant" | "system") => {}
        Some(name) => {
            breaches.member(ROLE, place, unknown(name)).with(BreachDetail::Value(name.to_owned()));
        }
        None => {
            breaches.member(ROLE, place, "is missing").variant("missing");
        }
    }
}

fn block(message: &Value, block: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if !block.is_object() {
        breaches.not_a("an object", CONTENT, place, block).variant("block");
        return;
    }
    let kind = text(block, "type");
    let place = format_args!("{place}.type");
    if kind.is_empty() {
        breaches.member(CONTENT, place, "is missing").variant("type");
    } else if !KNOWN.contains(&kind) && !kind.ends_with("_tool_result") {
        // Types are added from time to time.
        let breach = breaches.member(BLOCK, place, unknown(kind));
        breach.certain_if(FOREIGN.contains(&kind)).with(BreachDetail::Value(kind.to_owned()));
    } else if kind == "image" && message.member("role") == "assistant" {
        breaches.add(IMAGE, place, "the assistant sends an image").with(BreachDetail::Value(kind.to_owned()));
    }
}
