//! The forms that Anthropic Messages demands of a message and of the blocks in it.

use crate::MemberLookup;
use crate::oracle::provider::breach::{BreachDetail, Breaches};
use crate::oracle::provider::text;
use serde_json::Value;
use std::fmt::Arguments;

pub(super) const ROLE: &str = "ANT-ROLE";
pub(super) const CONTENT: &str = "ANT-CONTENT-TYPE";
pub(super) const BLOCK: &str = "ANT-BLOCK-TYPE";
pub(super) const IMAGE: &str = "ANT-IMAGE";

/// Types of blocks that requests have; `*_tool_result`, of tools of the server, beside them.
const KNOWN: [&str; 15] = [
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
const FOREIGN: [&str; 14] = [
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

pub(super) fn judge(message: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
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
            let breach = breaches.add(CONTENT, place, "neither a string nor an array").kind(other);
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
            breaches.add(ROLE, place, format!("{name:?}")).with(BreachDetail::Value(name.to_owned()));
        }
        None => {
            breaches.add(ROLE, place, "there is none").variant("missing");
        }
    }
}

fn block(message: &Value, block: &Value, place: Arguments<'_>, breaches: &mut Breaches) {
    if !block.is_object() {
        breaches.add(CONTENT, place, "no object").kind(block).variant("block");
        return;
    }
    let kind = text(block, "type");
    let place = format_args!("{place}.type");
    if kind.is_empty() {
        breaches.add(CONTENT, place, "there is none").variant("type");
    } else if !KNOWN.contains(&kind) && !kind.ends_with("_tool_result") {
        // Types are added from time to time.
        let breach = breaches.add(BLOCK, place, format!("{kind:?} is no type of a block"));
        breach.certain_if(FOREIGN.contains(&kind)).with(BreachDetail::Value(kind.to_owned()));
    } else if kind == "image" && message.member("role") == "assistant" {
        breaches.add(IMAGE, place, "an image of the assistant").with(BreachDetail::Value(kind.to_owned()));
    }
}
