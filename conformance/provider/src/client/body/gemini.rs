//! The body of Gemini's `generateContent`.

use super::anthropic::{texts, without_halves};
use super::{ClientAsk, ClientMessage, ClientTool, described, media_type};
use serde_json::{Value, json};
use threadspec::surrogates::unmark_surrogates;
use threadspec_apis::ToolChoice;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

pub(super) fn body(reasoning: bool, ask: &ClientAsk) -> Value {
    let mut body = json!({"contents": contents(&ask.messages)});
    let others = ask.messages.iter().filter(|told| told.speaker == Speaker::System).flat_map(texts);
    let system: Vec<Value> = ask.instructions.clone().into_iter().chain(others).map(text).collect();
    if !system.is_empty() {
        body["systemInstruction"] = json!({"parts": system});
    }
    if !ask.tools.is_empty() {
        body["tools"] = json!([{"functionDeclarations": ask.tools.iter().map(declaration).collect::<Vec<_>>()}]);
    }
    if reasoning {
        body["generationConfig"]["thinkingConfig"] = json!({"includeThoughts": true});
    }
    if let Some(most) = ask.options.most_tokens {
        body["generationConfig"]["maxOutputTokens"] = most.into();
    }
    if !ask.options.stop.is_empty() {
        body["generationConfig"]["stopSequences"] = ask.options.stop.iter().map(String::as_str).collect();
    }
    let choice = match &ask.options.choice {
        None | Some(ToolChoice::Other) => return body,
        Some(ToolChoice::Auto) => json!({"mode": "AUTO"}),
        Some(ToolChoice::None) => json!({"mode": "NONE"}),
        Some(ToolChoice::Any) => json!({"mode": "ANY"}),
        Some(ToolChoice::Named(name)) => json!({"mode": "ANY", "allowedFunctionNames": [name]}),
    };
    body["toolConfig"]["functionCallingConfig"] = choice;
    body
}

fn declaration(tool: &ClientTool) -> Value {
    described(tool, json!({"name": tool.name, "parametersJsonSchema": tool.schema()}))
}

fn text(text: String) -> Value {
    json!({"text": without_halves(&text.into())})
}

/// The contents. The results of parallel calls are in one, with what the user adds to them, and so are all neighbours of one role.
fn contents(messages: &[ClientMessage]) -> Vec<Value> {
    let mut contents: Vec<Value> = Vec::new();
    // The calls without an answer: their ids and names.
    let mut open: Vec<(&str, &str)> = Vec::new();
    for told in messages.iter().filter(|told| told.speaker != Speaker::System) {
        let (role, parts) = match told.speaker {
            Speaker::Ai => {
                open.extend(told.calls.iter().map(|call| (&*call.id, &*call.name)));
                ("model", said(told))
            }
            Speaker::Tool => ("user", vec![result(told, &mut open)]),
            Speaker::System | Speaker::Human => {
                ("user", texts(told).into_iter().map(text).chain(images(told)).collect())
            }
        };
        if parts.is_empty() {
            continue;
        }
        match contents.last_mut().filter(|last| last["role"] == role).and_then(|last| last["parts"].as_array_mut()) {
            Some(known) => known.extend(parts),
            None => contents.push(json!({"role": role, "parts": parts})),
        }
    }
    contents
}

fn images(told: &ClientMessage) -> impl Iterator<Item = Value> {
    told.images().map(|image| json!({"inlineData": {"mimeType": media_type(image), "data": image}}))
}

/// The parts of a message of the model. The signature of its thoughts is beside the first call, or else beside the text.
fn said(told: &ClientMessage) -> Vec<Value> {
    let mut parts: Vec<Value> = texts(told).into_iter().map(text).collect();
    let first = parts.len();
    for call in &told.calls {
        let args = value::read(&unmark_surrogates(&call.arguments)).unwrap_or_else(|_| call.arguments.as_str().into());
        let mut function = json!({"name": call.name, "args": without_halves(&args)});
        if !call.id.is_empty() {
            function["id"] = (&*call.id).into();
        }
        parts.push(json!({"functionCall": function}));
    }
    let is_own = |thought: &&threadspec_apis::Thinking| !thought.is_redacted && thought.item_id.is_none();
    let seal = told.thinking.iter().filter(is_own).find_map(|thought| thought.seal.as_ref());
    let at = if told.calls.is_empty() { first.saturating_sub(1) } else { first };
    if let (Some(seal), Some(part)) = (seal, parts.get_mut(at)) {
        part["thoughtSignature"] = seal.as_str().into();
    }
    parts
}

/// A result, which has the name of its call.
fn result(told: &ClientMessage, open: &mut Vec<(&str, &str)>) -> Value {
    let id = told.call_id.as_deref().unwrap_or_default();
    let name = open.iter().position(|(own, _)| *own == id).map_or("", |found| open.remove(found).1);
    let kind = if told.is_error { "error" } else { "result" };
    let mut response = json!({"name": name, "response": {kind: without_halves(&told.joined().into())}});
    if !id.is_empty() {
        response["id"] = id.into();
    }
    let images: Vec<Value> = images(told).collect();
    if !images.is_empty() {
        response["parts"] = images.into();
    }
    json!({"functionResponse": response})
}
