//! The forms of input items: their types, roles, contents and ids.

use super::super::breach::{BreachDetail, Breaches};
use super::super::unknown;
use super::{LONGEST_ID, LONGEST_TEXT, has, is_plain, list, text};
use crate::MemberLookup;
use serde_json::Value;
use std::fmt::Arguments;

pub(super) const TYPE: &str = "OAI-RESP-ITEM-TYPE";
pub(super) const ROLE: &str = "OAI-RESP-ROLE";
pub(super) const CHAT: &str = "OAI-RESP-CHAT-CALLS";
pub(super) const CONTENT: &str = "OAI-RESP-CONTENT-TYPE";
pub(super) const PREFIX: &str = "OAI-RESP-ITEM-PREFIX";
pub(super) const PART: &str = "OAI-RESP-TEXT-TYPE";

/// The types that the API takes, by its own words.
const TYPES: &[&str] = &[
    "additional_tools",
    "agent_message",
    "apply_patch_call",
    "apply_patch_call_output",
    "code_interpreter_call",
    "compaction",
    "compaction_summary",
    "compaction_trigger",
    "computer_call",
    "computer_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "file_search_call",
    "function_call",
    "function_call_output",
    "image_generation_call",
    "item_reference",
    "local_shell_call",
    "local_shell_call_output",
    "mcp_approval_request",
    "mcp_approval_response",
    "mcp_call",
    "mcp_list_tools",
    "message",
    "multi_agent_call",
    "multi_agent_call_output",
    "program",
    "program_output",
    "reasoning",
    "shell_call",
    "shell_call_output",
    "tool_search_call",
    "tool_search_output",
    "web_search_call",
];
const ROLES: &[&str] = &["assistant", "system", "developer", "user"];
const PARTS: &[&str] = &[
    "input_text",
    "input_image",
    "input_audio",
    "input_file",
    "output_text",
    "refusal",
    "computer_screenshot",
    "summary_text",
    "reasoning_text",
    "encrypted_content",
    "scoped_content",
    "output_audio",
];
/// Types of parts of other APIs, which this one never had.
const FOREIGN_PARTS: &[&str] = &[
    "text",
    "image_url",
    "image",
    "file",
    "audio",
    "thinking",
    "tool_use",
    "tool_result",
    "tool_call",
    "function_call",
];

/// Returns the form of an item: its type, or the role of a message without one.
pub(super) fn form(item: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    let kind = text(item, "type");
    let is_message = !has(item, "type") || kind == "message";
    if !is_message && !TYPES.contains(&kind) {
        // Types are added from time to time: calls and their outputs.
        let is_newer =
            (kind.ends_with("_call") && kind != "tool_call") || kind.ends_with("_output") || kind.contains(':');
        let breach = breaches.member(TYPE, format_args!("{place}.type"), unknown(kind));
        breach.certain_if(!is_newer).with(BreachDetail::Value(kind.to_owned()));
    }
    let role = text(item, "role");
    if is_message && !ROLES.contains(&role) {
        let fault = if has(item, "role") { unknown(role) } else { "is missing".to_owned() };
        breaches.member(ROLE, format_args!("{place}.role"), fault).with(BreachDetail::Value(role.to_owned()));
    }
    for name in ["tool_calls", "tool_call_id"].into_iter().filter(|name| item.get(*name).is_some()) {
        breaches.member(CHAT, format_args!("{place}.{name}"), "is a member of chat completions");
    }
    let content = item.member("content");
    if is_message && !content.is_string() && !content.is_array() {
        let breach = breaches.not_a("a string or an array", CONTENT, format_args!("{place}.content"), content);
        if item.get("content").is_none() {
            breach.variant("missing");
        }
    }
}

/// An item's own id.
pub(super) fn own_id(item: &Value, id: &str, place: Arguments<'_>, breaches: &mut Breaches) {
    let prefix = match text(item, "type") {
        "message" => "msg",
        "function_call" => "fc",
        "custom_tool_call" => "ctc",
        "reasoning" => "rs",
        _ => return,
    };
    let length = id.chars().count();
    if length > LONGEST_ID {
        // Seen once.
        breaches.too_long(PREFIX, place, [length, LONGEST_ID]).variant("long").certain_if(false);
    }
    if !is_plain(id) {
        // Seen once, too.
        let fault = format_args!("is not made of letters, digits, `_` and `-`: {id:?}");
        breaches.member(PREFIX, place, fault).variant("characters").certain_if(false).id(id);
    } else if !id.starts_with(prefix) {
        let breach = breaches.member(PREFIX, place, format_args!("is {id:?}, and does not begin with `{prefix}`"));
        breach.id(id).with(BreachDetail::Value(prefix.to_owned()));
    }
}

/// The parts of a message's content.
pub(super) fn parts(item: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    breaches.not_longer(LONGEST_TEXT, "OAI-RESP-CONTENT-MAX", place, text(item, "content"));
    let is_message = !has(item, "type") || item.member("type") == "message";
    for (position, part) in list(item, "content").iter().enumerate() {
        let place = format_args!("{place}[{position}]");
        breaches.not_longer(LONGEST_TEXT, "OAI-RESP-CONTENT-MAX", format_args!("{place}.text"), text(part, "text"));
        if is_message {
            self::part(item, part, place, breaches);
        }
    }
}

fn part(item: &Value, part: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if !part.is_object() {
        breaches.not_a("an object", CONTENT, place, part).variant("part");
        return;
    }
    let kind = text(part, "type");
    let at = format_args!("{place}.type");
    if kind.is_empty() {
        breaches.member(CONTENT, at, "is missing").variant("type");
        return;
    }
    let fault = format_args!("is {kind:?}, which a message with the role {} does not have", item.member("role"));
    let variant = match kind {
        _ if !PARTS.contains(&kind) => Some("unknown"),
        "input_text" | "input_image" | "input_file" | "input_audio" if item.member("role") == "assistant" => None,
        "output_text" | "refusal" if item.member("role") != "assistant" => Some("user"),
        _ => return,
    };
    let breach = breaches.member(PART, at, fault);
    breach.with(BreachDetail::Value(kind.to_owned()));
    if let Some(variant) = variant {
        // Types are added from time to time.
        breach.variant(variant).certain_if(variant != "unknown" || FOREIGN_PARTS.contains(&kind));
    }
}
