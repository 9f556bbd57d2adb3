//! Answers of Gemini's `generateContent`.
//!
//! Calls come whole. The signature of what the model thought is beside the first call, or else beside the end of the text.

use super::anthropic::{input, texts};
use super::shape::{EventPart, StreamEvent, StreamShape};
use super::{ModelAnswer, SaidCall, event, json};
use crate::failure::ApiError;
use serde_json::{Value, json};
use threadspec::oracle::Api;

/// A response, or a piece of one, with these parts.
fn response(answer: &ModelAnswer, parts: &[Value], is_last: bool) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}});
    if is_last {
        candidate["finishReason"] = answer.finish.name(Api::Gemini).into();
    }
    candidate["index"] = 0.into();
    let usage = &answer.usage;
    let said = if is_last { usage.output - usage.reasoning.min(usage.output) } else { 0 };
    let mut counted = json!({"promptTokenCount": usage.input});
    let counts = [
        ("candidatesTokenCount", said),
        ("cachedContentTokenCount", usage.cached),
        ("thoughtsTokenCount", usage.reasoning),
    ];
    for (name, count) in counts.into_iter().filter(|(_, count)| *count > 0) {
        counted[name] = count.into();
    }
    counted["totalTokenCount"] = (usage.input + if is_last { usage.output } else { 0 }).into();
    json!({"candidates": [candidate], "usageMetadata": counted, "modelVersion": answer.model, "responseId": answer.id})
}

fn call(call: &SaidCall) -> Value {
    let mut function = json!({"name": call.name, "args": input(call)});
    if !call.id.is_empty() {
        function["id"] = (&*call.id).into();
    }
    json!({"functionCall": function})
}

fn calls(answer: &ModelAnswer) -> Vec<Value> {
    let mut calls: Vec<Value> = answer.calls.iter().map(call).collect();
    if let (Some(first), Some(seal)) = (calls.first_mut(), seal(answer)) {
        first["thoughtSignature"] = seal.into();
    }
    calls
}

fn seal(answer: &ModelAnswer) -> Option<&str> {
    answer.thinking.iter().rev().find_map(|thought| thought.seal.as_deref())
}

/// The last part of an answer without calls.
fn end(answer: &ModelAnswer, text: &str) -> Value {
    let mut part = json!({"text": text});
    if let Some(seal) = seal(answer).filter(|_| answer.calls.is_empty()) {
        part["thoughtSignature"] = seal.into();
    }
    part
}

pub(super) fn plain(answer: &ModelAnswer) -> Value {
    let thoughts = answer.thinking.iter().filter(|thought| !thought.text.is_empty());
    let mut parts: Vec<Value> = thoughts.map(|thought| json!({"text": thought.text, "thought": true})).collect();
    parts.extend(texts(answer).map(|text| end(answer, text)));
    parts.extend(calls(answer));
    if parts.iter().all(|part| part["thoughtSignature"].is_null()) && seal(answer).is_some() {
        parts.push(end(answer, ""));
    }
    response(answer, &parts, true)
}

pub(super) fn events(answer: &ModelAnswer, shape: &StreamShape) -> Vec<StreamEvent> {
    let text = |text: &str| json!({"text": text});
    let thoughts = answer.thinking.iter().flat_map(|thought| shape.fragments(&thought.text));
    let said = texts(answer).flat_map(|said| shape.fragments(said)).map(|said| (text(said), EventPart::Text));
    let calls = calls(answer).into_iter().map(|call| (call, EventPart::Call));
    let mut parts = vec![(text(""), EventPart::Start)];
    parts.extend(thoughts.map(|thought| (json!({"text": thought, "thought": true}), EventPart::Thinking)));
    if shape.text_last {
        parts.extend(calls.chain(said));
    } else {
        parts.extend(said.chain(calls));
    }
    parts.push((end(answer, ""), EventPart::Stop));
    let event = |(content, part)| {
        let data = json(&response(answer, &[content], part == EventPart::Stop), shape.ascii);
        StreamEvent { name: None, data, part, ends_call: part == EventPart::Call }
    };
    parts.into_iter().map(event).collect()
}

pub(super) fn error_event(error: &ApiError) -> StreamEvent {
    event(None, &error.body(Api::Gemini, ""), EventPart::Error)
}
