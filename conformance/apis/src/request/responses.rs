//! Bodies of OpenAI's Responses.

use super::message::{Joined, OpaqueContent, OpaquePart, WireCall, WireMessage, list, member_text};
use super::{ApiRequest, ItemReference};
use serde_json::Value;
use threadspec_judge::protocol::Speaker;

/// The members of a request that its response repeats.
const ECHOED: &[&str] = &[
    "instructions",
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "reasoning",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_p",
    "truncation",
    "user",
];

pub(super) fn read(body: &Value, request: &mut ApiRequest) {
    request.previous_response_id = member_text(body, "previous_response_id");
    request.conversation = member_text(body, "conversation").or_else(|| member_text(&body["conversation"], "id"));
    request.store = body["store"].as_bool();
    request.include = list(&body["include"]).iter().filter_map(|name| name.as_str().map(str::to_owned)).collect();
    let echoed = ECHOED.iter().filter_map(|name| Some(((*name).to_owned(), body.get(name)?.clone())));
    request.echo = echoed.filter(|(_, value)| !value.is_null()).collect();
    if let Some(text) = member_text(body, "instructions") {
        request.push(Speaker::System, text, "instructions".to_owned());
    }
    if let Some(text) = member_text(body, "input") {
        request.push(Speaker::Human, text, "input".to_owned());
    }
    let mut said = SaidItems::default();
    for (position, item) in list(&body["input"]).iter().enumerate() {
        let place = format!("input[{position}]");
        match item["type"].as_str().unwrap_or("message") {
            "message" => message(item, place, &mut said, request),
            "function_call" => said.call(call(item, "arguments", place)),
            "custom_tool_call" => said.call(call(item, "input", place)),
            "function_call_output" | "custom_tool_call_output" => {
                said.end(request);
                let output = Joined::of(&item["output"]);
                for (part, what) in &output.notes {
                    request.note(format!("{place}.output[{part}]"), what);
                }
                let Joined { text, seams, images, .. } = output;
                let answer = WireMessage::text(Speaker::Tool, text, place);
                let call_id = member_text(item, "call_id");
                request.messages.push(WireMessage { seams, call_id, images, ..answer });
            }
            "reasoning" => said.opaque.push(reasoning(item, place)),
            "item_reference" => {
                let id = member_text(item, "id").unwrap_or_default();
                request.references.push(ItemReference { id, place });
            }
            kind => request.note(place, format!("an item of type `{kind}` is left out")),
        }
    }
    said.end(request);
}

fn message(item: &Value, place: String, said: &mut SaidItems, request: &mut ApiRequest) {
    let content = Joined::of(&item["content"]);
    for (part, what) in &content.notes {
        request.note(format!("{place}.content[{part}]"), what);
    }
    let speaker = match item["role"].as_str() {
        Some("assistant") => return said.text(content.said(), place, request),
        Some("user") => Speaker::Human,
        Some("system" | "developer") => Speaker::System,
        _ => return request.note(place, format!("a message of role {} is left out", item["role"])),
    };
    said.end(request);
    let Joined { text, seams, images, .. } = content;
    request.messages.push(WireMessage { seams, images, ..WireMessage::text(speaker, text, place) });
}

fn call(item: &Value, arguments: &str, place: String) -> WireCall {
    let text = |name: &str| member_text(item, name).unwrap_or_default();
    let raw = text(arguments);
    if arguments == "input" {
        return WireCall { id: text("call_id"), name: text("name"), args: raw.clone().into(), raw: Some(raw), place };
    }
    WireCall::new(text("call_id"), text("name"), raw, place)
}

fn reasoning(item: &Value, place: String) -> OpaquePart {
    let content = OpaqueContent::Reasoning {
        id: member_text(item, "id"),
        summary: list(&item["summary"]).iter().filter_map(|part| part["text"].as_str()).collect(),
        encrypted: member_text(item, "encrypted_content"),
    };
    OpaquePart { content, place }
}

/// The items of the model that touch: together one message.
#[derive(Default)]
struct SaidItems {
    /// The place of the first one that shows.
    place: Option<String>,
    text: Option<String>,
    seams: Vec<usize>,
    calls: Vec<WireCall>,
    opaque: Vec<OpaquePart>,
}

impl SaidItems {
    fn text(&mut self, (text, seams): (String, Vec<usize>), place: String, request: &mut ApiRequest) {
        // A text right behind a text is the next message; one behind calls still belongs to them.
        if self.text.is_some() && self.calls.is_empty() {
            let behind = std::mem::take(&mut self.opaque);
            self.end(request);
            self.opaque = behind;
        }
        let known = self.text.get_or_insert_default();
        if !known.is_empty() && !text.is_empty() {
            self.seams.push(known.len());
        }
        self.seams.extend(seams.iter().map(|seam| known.len() + seam));
        known.push_str(&text);
        self.place.get_or_insert(place);
    }

    fn call(&mut self, call: WireCall) {
        self.place.get_or_insert_with(|| call.place.clone());
        self.calls.push(call);
    }

    fn end(&mut self, request: &mut ApiRequest) {
        let Self { place, text, seams, calls, opaque } = std::mem::take(self);
        match place {
            Some(place) => {
                let content = text.unwrap_or_default();
                let message = WireMessage::text(Speaker::Ai, content, place);
                request.messages.push(WireMessage { seams, calls, opaque, ..message });
            }
            None => request.loose.extend(opaque),
        }
    }
}
