//! Bodies of OpenAI's chat completions.

use super::ApiRequest;
use super::message::{Joined, OpaqueContent, OpaquePart, WireCall, WireMessage, list, member_text};
use serde_json::Value;
use threadspec_judge::protocol::Speaker;

pub(super) fn read(body: &Value, request: &mut ApiRequest) {
    for (position, message) in list(&body["messages"]).iter().enumerate() {
        let place = format!("messages[{position}]");
        let content = Joined::of(&message["content"]);
        for (part, what) in &content.notes {
            request.note(format!("{place}.content[{part}]"), what);
        }
        match message["role"].as_str() {
            Some("system" | "developer") => {
                let text = WireMessage::text(Speaker::System, content.text, place);
                request.messages.push(WireMessage { seams: content.seams, ..text });
            }
            Some("user") => {
                let Joined { text, seams, images, .. } = content;
                let message = WireMessage::text(Speaker::Human, text, place);
                request.messages.push(WireMessage { seams, images, ..message });
            }
            Some("tool") => {
                let Joined { text, seams, images, .. } = content;
                let answer = WireMessage::text(Speaker::Tool, text, place);
                let call_id = member_text(message, "tool_call_id");
                request.messages.push(WireMessage { seams, call_id, images, ..answer });
            }
            Some("assistant") => {
                let said = of_model(message, content, place);
                request.messages.push(said);
            }
            _ => request.note(place, format!("a message of role {} is left out", message["role"])),
        }
    }
}

fn of_model(message: &Value, content: Joined, place: String) -> WireMessage {
    let calls = list(&message["tool_calls"]).iter().enumerate();
    let calls = calls.map(|(number, call)| call_of(call, format!("{place}.tool_calls[{number}]"))).collect();
    let (said, seams) = content.said();
    let refusal = || member_text(message, "refusal");
    let content = if said.is_empty() { refusal().unwrap_or_default() } else { said };
    let thought = |name: &str| {
        let text = member_text(message, name)?;
        Some(OpaquePart { content: OpaqueContent::Text(text), place: format!("{place}.{name}") })
    };
    // Servers call it the one or the other.
    let opaque = thought("reasoning_content").or_else(|| thought("reasoning")).into_iter().collect();
    WireMessage { seams, calls, opaque, ..WireMessage::text(Speaker::Ai, content, place) }
}

fn call_of(call: &Value, place: String) -> WireCall {
    let id = member_text(call, "id").unwrap_or_default();
    let (function, arguments) = if call["type"] == "custom" || call["custom"].is_object() {
        let input = member_text(&call["custom"], "input").unwrap_or_default();
        let name = member_text(&call["custom"], "name").unwrap_or_default();
        return WireCall { id, name, args: input.clone().into(), raw: Some(input), place };
    } else {
        (&call["function"], &call["function"]["arguments"])
    };
    let name = member_text(function, "name").unwrap_or_default();
    match arguments {
        Value::String(text) => WireCall::new(id, name, text.clone(), place),
        Value::Null => WireCall::new(id, name, String::new(), place),
        // Some servers take the value itself.
        other => WireCall { id, name, args: other.clone(), raw: None, place },
    }
}
