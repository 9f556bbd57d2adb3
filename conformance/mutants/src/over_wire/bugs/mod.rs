//! The tables of planted bugs over the wire, by what goes wrong, and what they share.

mod histories;
mod keys;
mod opaque;
mod partial;
mod requests;
mod retries;
mod stored;
mod streams;
mod streams_of_calls;
mod tools;
mod waits;
mod words;

pub(super) use opaque::drop_thinking;

use crate::agent::RunState;
use crate::planted::{Kind, OnWire, Planted};
use crate::wire::{Modes, WireAgent, without};
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_provider::client::ClientRequest;

/// OpenAI's chat completions alone.
const CHAT: &[Api] = &[Api::OpenAiChat];
/// OpenAI's Responses alone.
const RESPONSES: &[Api] = &[Api::OpenAiResponses];
/// Anthropic's messages alone.
const ANTHROPIC: &[Api] = &[Api::Anthropic];
/// Both APIs of OpenAI's.
const OPENAI: &[Api] = &[Api::OpenAiChat, Api::OpenAiResponses];

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    let tables = [
        requests::bugs(),
        keys::bugs(),
        tools::bugs(),
        retries::bugs(),
        waits::bugs(),
        partial::bugs(),
        streams::bugs(),
        streams_of_calls::bugs(),
        opaque::bugs(),
        stored::bugs(),
        words::bugs(),
        histories::bugs(),
    ];
    tables.into_iter().flatten().collect()
}

/// A bug, and where it shows.
fn bug(
    name: &'static str,
    breaks: &'static [&'static str],
    modes: Modes,
    plant: impl Fn(&mut WireAgent) + Send + Sync + 'static,
) -> Planted {
    // The tables are made once, and live as long as the program.
    let kind = Kind::WireBug(OnWire { modes, neglects: &[], plant: Box::leak(Box::new(plant)) });
    Planted { name, kind, breaks, profiles: &[JudgeProfile::Universal] }
}

/// Changes each attempt as it is sent.
pub(super) fn on_sent(
    agent: &mut WireAgent,
    change: impl Fn(&mut RunState, &mut ClientRequest) + Send + Sync + 'static,
) {
    agent.sent = Box::new(change);
}

/// Changes the body of each ask.
pub(super) fn on_bodies(agent: &mut WireAgent, change: impl Fn(&mut RunState, &mut Value) + Send + Sync + 'static) {
    agent.body = Box::new(change);
}

/// Changes the body of each ask from this one on, counted from 1.
pub(super) fn from_ask(agent: &mut WireAgent, first: usize, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    on_bodies(agent, move |run, body| {
        if run.turn >= first {
            change(body);
        }
    });
}

/// Changes the bodies of retries.
fn on_retries(agent: &mut WireAgent, change: impl Fn(&mut RunState, &mut Value) + Send + Sync + 'static) {
    agent.again = Box::new(change);
}

/// Changes the events of streams.
pub(super) fn on_events(agent: &mut WireAgent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    agent.events = Box::new(move |_, events| change(events));
}

/// The list of messages or items of a body.
pub(super) fn history(body: &mut Value) -> &mut Vec<Value> {
    let name = if body["input"].is_null() { "messages" } else { "input" };
    if !body[name].is_array() {
        body[name] = Value::Array(Vec::new());
    }
    body[name].as_array_mut().expect("it was just made one")
}

/// The tools of a body.
fn tools(body: &mut Value) -> impl Iterator<Item = &mut Value> {
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
fn index_of(event: &Value) -> Value {
    let chat = &event["choices"][0]["delta"]["tool_calls"][0]["index"];
    let of_item = if event["output_index"].is_null() { &event["index"] } else { &event["output_index"] };
    if chat.is_null() { of_item.clone() } else { chat.clone() }
}
