//! Answers that only pass, and are changed on their way.

use super::super::plant::{bugs as each, events, plain};
use super::answers::{SECOND, counted};
use super::{ALWAYS, ANTHROPIC, CHAT};
use crate::gateway::course::ClientEvent;
use crate::gateway::places::PROXY;
use crate::planted::Planted;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::text;

const SAID: &[&str] = &[clause::GATE_SAID];

/// The text of an event of chat completions or Anthropic's messages.
fn text_of(event: &mut ClientEvent) -> Option<&mut Value> {
    let data = &mut event.data;
    if data["choices"][0]["delta"]["content"].is_string() {
        return data.pointer_mut("/choices/0/delta/content");
    }
    if data["delta"]["type"] == "text_delta" { data.pointer_mut("/delta/text") } else { None }
}

/// The fragment of arguments of an event of chat completions or Anthropic's messages.
fn arguments_of(event: &mut ClientEvent) -> Option<&mut Value> {
    let data = &mut event.data;
    if data["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].is_string() {
        return data.pointer_mut("/choices/0/delta/tool_calls/0/function/arguments");
    }
    if data["delta"]["type"] == "input_json_delta" { data.pointer_mut("/delta/partial_json") } else { None }
}

/// Each of them, in the plain proxy alone.
pub(super) fn bugs() -> Vec<Planted> {
    const FRAGMENTED: &[Api] = &[Api::OpenAiChat, Api::Anthropic];
    let tables = vec![
        each(
            "texts-of-a-passing-stream-trimmed",
            SAID,
            PROXY.from(FRAGMENTED).streams(),
            SECOND,
            events(|_, events| {
                for fragment in events.iter_mut().filter_map(text_of) {
                    *fragment = text(fragment).trim().into();
                }
            }),
        ),
        each(
            "second-fragment-of-passing-arguments-lost",
            SAID,
            PROXY.from(FRAGMENTED).streams(),
            ALWAYS,
            events(|course, events| {
                for fragment in events.iter_mut().filter_map(arguments_of).filter(|fragment| **fragment != "") {
                    if counted(course, "arguments") == 2 {
                        *fragment = "".into();
                    }
                }
            }),
        ),
        each(
            "second-call-of-a-passing-stream-lost",
            SAID,
            PROXY.from(CHAT).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| event.data["choices"][0]["delta"]["tool_calls"][0]["index"] != 1);
            }),
        ),
        each(
            "text-of-passing-answers-lost-beside-calls",
            SAID,
            PROXY.from(CHAT).plain(),
            SECOND,
            plain(|_, body| {
                if let Some(message) = body.pointer_mut("/choices/0/message").filter(|one| one["tool_calls"].is_array())
                {
                    message["content"] = Value::Null;
                }
            }),
        ),
        each(
            "first-block-of-passing-answers-alone",
            SAID,
            PROXY.from(ANTHROPIC).plain(),
            ALWAYS,
            plain(|_, body| {
                if let Some(blocks) = body.get_mut("content").and_then(Value::as_array_mut) {
                    blocks.truncate(1);
                }
            }),
        ),
        each(
            "first-item-of-passing-answers-alone",
            SAID,
            PROXY.from(super::RESPONSES).plain(),
            ALWAYS,
            plain(|_, body| {
                if let Some(items) = body.get_mut("output").and_then(Value::as_array_mut) {
                    items.truncate(1);
                }
            }),
        ),
        each(
            "signatures-of-passing-answers-lost",
            &[clause::GATE_OPAQUE],
            PROXY.from(ANTHROPIC).plain(),
            ALWAYS,
            plain(|_, body| {
                super::super::bodies::deep(body, &|value| {
                    if value["type"] == "thinking" {
                        value["signature"] = "".into();
                    }
                });
            }),
        ),
        each(
            "signatures-of-passing-streams-lost",
            &[clause::GATE_OPAQUE],
            PROXY.from(ANTHROPIC).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| event.data["delta"]["type"] != "signature_delta");
            }),
        ),
    ];
    tables.into_iter().flatten().collect()
}
