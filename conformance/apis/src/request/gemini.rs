//! Bodies of Gemini's `generateContent`.
//!
//! The JSON is that of Protocol Buffers, which takes `functionCall` and `function_call` for the same member. Ids are optional: a call
//! without one is named by its place, and a result without one belongs to the first open call of its name.

use super::message::{ContentPart, Joined, OpaqueContent, OpaquePart, WireCall, WireMessage, list, member_text};
use super::{ApiRequest, DeclaredTool, ToolChoice};
use serde_json::{Map, Value};
use threadspec_judge::protocol::Speaker;

/// The members of a `functionResponse` that are its text, of which the SDKs write one.
const RESULTS: [&str; 4] = ["result", "output", "error", "content"];

/// Adds to a body the parts that are in the target: the model, and whether a stream is asked for, and in which form.
pub(super) fn with_target(target: &str, mut body: Value) -> Value {
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let named = path.rsplit('/').next().and_then(|name| name.split_once(':'));
    if let (Some((model, method)), Some(members)) = (named, body.as_object_mut()) {
        members.insert("model".to_owned(), model.into());
        members.insert("stream".to_owned(), (method == "streamGenerateContent").into());
        members
            .insert("alt".to_owned(), if query.split('&').any(|one| one == "alt=sse") { "sse" } else { "json" }.into());
    }
    body
}

pub(super) fn read(body: &Value, request: &mut ApiRequest) {
    for (number, part) in list(&either(body, "systemInstruction")["parts"]).iter().enumerate() {
        let text = member_text(part, "text").unwrap_or_default();
        request.push(Speaker::System, text, format!("systemInstruction.parts[{number}]"));
    }
    let mut open: Vec<(String, String)> = Vec::new();
    let contents: Vec<(usize, &Value)> = list(&body["contents"]).iter().enumerate().collect();
    let is_model = |content: &Value| content["role"] == "model";
    // Neighbours of one role are one turn: a client may keep each piece of a stream.
    for turn in contents.chunk_by(|(_, one), (_, other)| is_model(one) && is_model(other)) {
        if is_model(turn[0].1) {
            let said = of_model(turn, request);
            open = said.calls.iter().map(|call| (call.name.clone(), call.id.clone())).collect();
            request.messages.push(said);
            continue;
        }
        for (position, content) in turn {
            for (number, part) in list(&content["parts"]).iter().enumerate() {
                of_user(part, format!("contents[{position}].parts[{number}]"), &mut open, request);
            }
        }
    }
}

fn of_user(part: &Value, place: String, open: &mut Vec<(String, String)>, request: &mut ApiRequest) {
    let response = either(part, "functionResponse");
    if response.is_null() {
        let mut one = Joined::default();
        push(&mut one, 0, part);
        for (_, what) in &one.notes {
            request.note(&*place, what);
        }
        if !one.text.is_empty() || part["text"].is_string() {
            let images = std::mem::take(&mut one.images);
            request.messages.push(WireMessage { images, ..WireMessage::text(Speaker::Human, one.text, place) });
        }
        return;
    }
    let (name, id) = (member_text(response, "name").unwrap_or_default(), member_text(response, "id"));
    let is_answered = |(known, own): &(String, String)| match &id {
        Some(id) if !id.is_empty() && open.iter().any(|(_, own)| own == id) => own == id,
        _ => *known == name,
    };
    let call_id = open.iter().position(is_answered).map(|found| open.remove(found).1).or(id);
    let (text, is_error) = result(&response["response"]);
    let images = list(&response["parts"]).iter().filter_map(image).collect();
    let answer = WireMessage::text(Speaker::Tool, text, place);
    request.messages.push(WireMessage { call_id, is_error, images, ..answer });
}

/// The text of a result, and whether it is an error.
fn result(response: &Value) -> (String, bool) {
    let one = response.as_object().filter(|members| members.len() == 1).and_then(|members| members.iter().next());
    let (value, is_error) = match one {
        Some((name, value)) if RESULTS.contains(&&**name) => (value, name == "error"),
        _ => (response, false),
    };
    (value.as_str().map_or_else(|| value.to_string(), str::to_owned), is_error)
}

/// Signatures of calls that came without one: Google documents two for history of other models (ai.google.dev/gemini-api/docs/thought-signatures).
const NO_SIGNATURES: [&str; 3] = ["", "skip_thought_signature_validator", "context_engineering_is_the_way_to_go"];

fn of_model(turn: &[(usize, &Value)], request: &mut ApiRequest) -> WireMessage {
    let (mut said, mut calls, mut opaque) = (Joined::default(), Vec::new(), Vec::new());
    let begin = format!("contents[{}]", turn[0].0);
    for (position, content) in turn {
        for (number, part) in list(&content["parts"]).iter().enumerate() {
            let place = format!("contents[{position}].parts[{number}]");
            let call = either(part, "functionCall");
            if !call.is_null() {
                let (id, name) = (member_text(call, "id"), member_text(call, "name").unwrap_or_default());
                let id = id.filter(|id| !id.is_empty()).unwrap_or_else(|| place.clone());
                let args = call.get("args").cloned().unwrap_or_else(|| Map::new().into());
                calls.push(WireCall { id, name, args, raw: None, place: place.clone() });
            } else if part["thought"] != true {
                push(&mut said, number, part);
            }
            let signature = either(part, "thoughtSignature").as_str().filter(|text| !NO_SIGNATURES.contains(text));
            if let Some(signature) = signature {
                let encrypted = Some(signature.to_owned());
                let content = OpaqueContent::Reasoning { id: None, summary: String::new(), encrypted };
                opaque.push(OpaquePart { content, place: format!("{place}.thoughtSignature") });
            }
        }
    }
    for (number, what) in &said.notes {
        request.note(format!("{begin}.parts[{number}]"), what);
    }
    let (content, seams) = said.said();
    WireMessage { seams, calls, opaque, ..WireMessage::text(Speaker::Ai, content, begin) }
}

fn push(joined: &mut Joined, number: usize, part: &Value) {
    let known = ["inlineData", "fileData"].into_iter().find(|name| !either(part, name).is_null());
    match (part["text"].as_str(), known) {
        (Some(text), _) => joined.push(number, &ContentPart::Text(text)),
        (None, Some(kind)) => joined.push(number, &ContentPart::Object(kind)),
        (None, None) => {
            let kind = part.as_object().and_then(|members| members.keys().next()).map_or("", String::as_str);
            joined.push(number, &ContentPart::Unknown(kind));
        }
    }
    joined.images.extend(image(part));
}

fn image(part: &Value) -> Option<String> {
    member_text(either(part, "inlineData"), "data")
}

/// Every function and tool of the provider that a body declares.
pub(super) fn tools(body: &Value) -> Vec<DeclaredTool> {
    let mut found = Vec::new();
    for (position, tool) in list(&body["tools"]).iter().enumerate() {
        for (kind, value) in tool.as_object().into_iter().flatten() {
            let place = format!("tools[{position}].{kind}");
            let own = |kind: &str, name, raw: &Value, place| DeclaredTool {
                name,
                description: member_text(raw, "description"),
                kind: kind.to_owned(),
                schema: [&raw["parameters"], either(raw, "parametersJsonSchema")]
                    .into_iter()
                    .find(|schema| !schema.is_null())
                    .cloned(),
                strict: None,
                raw: raw.clone(),
                place,
            };
            if matches!(&**kind, "functionDeclarations" | "function_declarations") {
                found.extend(
                    list(value).iter().enumerate().map(|(number, one)| {
                        own("function", member_text(one, "name"), one, format!("{place}[{number}]"))
                    }),
                );
            } else {
                found.push(own(kind, None, value, place));
            }
        }
    }
    found
}

pub(super) fn choice(body: &Value) -> ToolChoice {
    let config = either(either(body, "toolConfig"), "functionCallingConfig");
    match (config["mode"].as_str(), list(either(config, "allowedFunctionNames"))) {
        (None | Some("AUTO" | "VALIDATED" | "MODE_UNSPECIFIED"), _) => ToolChoice::Auto,
        (Some("NONE"), _) => ToolChoice::None,
        (Some("ANY"), [Value::String(name)]) => ToolChoice::Named(name.clone()),
        (Some("ANY"), _) => ToolChoice::Any,
        _ => ToolChoice::Other,
    }
}

/// A member of `generationConfig`.
pub(super) fn config<'b>(body: &'b Value, name: &str) -> &'b Value {
    either(either(body, "generationConfig"), name)
}

pub(super) fn is_thinking(body: &Value) -> bool {
    let thinking = config(body, "thinkingConfig");
    either(thinking, "includeThoughts") == true
        || !either(thinking, "thinkingLevel").is_null()
        || either(thinking, "thinkingBudget").as_i64().is_some_and(|budget| budget != 0)
}

/// A member by the name that JSON has, or else by that of Protocol Buffers.
pub(super) fn either<'b>(value: &'b Value, camel: &str) -> &'b Value {
    if !value[camel].is_null() {
        return &value[camel];
    }
    let mut snake = String::new();
    for letter in camel.chars() {
        if letter.is_ascii_uppercase() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    &value[&*snake]
}
