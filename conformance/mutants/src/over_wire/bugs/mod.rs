//! The tables of planted bugs over the wire, by what goes wrong, and what they share.

mod histories;
mod opaque;
mod partial;
mod requests;
mod retries;
mod streams;
mod streams_of_calls;
mod tools;

pub(super) use crate::wire::history;
pub(super) use opaque::drop_thinking;

use crate::planted::Planted;
use serde_json::Value;
use threadspec::oracle::Api;

/// OpenAI's chat completions alone.
pub(super) const CHAT: &[Api] = &[Api::OpenAiChat];
/// OpenAI's Responses alone.
pub(super) const RESPONSES: &[Api] = &[Api::OpenAiResponses];
/// Anthropic's messages alone.
pub(super) const ANTHROPIC: &[Api] = &[Api::Anthropic];
/// Both APIs of OpenAI's.
pub(super) const OPENAI: &[Api] = &[Api::OpenAiChat, Api::OpenAiResponses];

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    let tables = [
        requests::bugs(),
        requests::keys(),
        tools::bugs(),
        retries::bugs(),
        requests::waits(),
        partial::bugs(),
        streams::bugs(),
        streams_of_calls::bugs(),
        opaque::bugs(),
        histories::stored(),
        opaque::words(),
        histories::bugs(),
    ];
    tables.into_iter().flatten().collect()
}

/// Returns whether a message is of a type.
pub(super) fn is(message: &Value, of_type: &str) -> bool {
    message["type"] == of_type
}

/// The tools of a body.
pub(super) fn tools(body: &mut Value) -> impl Iterator<Item = &mut Value> {
    body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten()
}

/// The text deltas of an event of any API.
pub(super) fn text_of(event: &mut Value) -> Option<&mut Value> {
    if event["choices"][0]["delta"]["content"].is_string() {
        return event.pointer_mut("/choices/0/delta/content");
    }
    if event["type"] == "response.output_text.delta" {
        return event.get_mut("delta");
    }
    if event["delta"]["type"] == "text_delta" {
        return event.pointer_mut("/delta/text");
    }
    None
}

/// The fragment of arguments in an event of any API.
pub(super) fn arguments_of(event: &mut Value) -> Option<&mut Value> {
    if event["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].is_string() {
        return event.pointer_mut("/choices/0/delta/tool_calls/0/function/arguments");
    }
    if event["type"] == "response.function_call_arguments.delta" {
        return event.get_mut("delta");
    }
    if event["delta"]["type"] == "input_json_delta" {
        return event.pointer_mut("/delta/partial_json");
    }
    None
}

/// The call to which a fragment in an event belongs.
pub(super) fn index_of(event: &Value) -> Value {
    let chat = &event["choices"][0]["delta"]["tool_calls"][0]["index"];
    let of_item = if event["output_index"].is_null() { &event["index"] } else { &event["output_index"] };
    if chat.is_null() { of_item.clone() } else { chat.clone() }
}
