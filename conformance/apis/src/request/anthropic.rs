//! Bodies of Anthropic's messages.

use super::ApiRequest;
use super::message::{ContentPart, Joined, OpaqueContent, OpaquePart, WireCall, WireMessage, image, list, member_text};
use serde_json::Value;
use threadspec_judge::protocol::Speaker;

pub(super) fn read(body: &Value, request: &mut ApiRequest) {
    blocks_apart(Speaker::System, &body["system"], "system", request);
    for (position, message) in list(&body["messages"]).iter().enumerate() {
        let place = format!("messages[{position}]");
        match message["role"].as_str() {
            Some("user") => blocks_apart(Speaker::Human, &message["content"], &format!("{place}.content"), request),
            Some("system") => blocks_apart(Speaker::System, &message["content"], &format!("{place}.content"), request),
            Some("assistant") => of_model(&message["content"], place, request),
            _ => request.note(place, format!("a message of role {} is left out", message["role"])),
        }
    }
}

/// Each block is a message of its own.
fn blocks_apart(speaker: Speaker, content: &Value, place: &str, request: &mut ApiRequest) {
    if let Some(text) = content.as_str() {
        let place = place.strip_suffix(".content").unwrap_or(place);
        return request.push(speaker, text.to_owned(), place.to_owned());
    }
    for (position, block) in list(content).iter().enumerate() {
        let place = format!("{place}[{position}]");
        if block["type"] == "tool_result" {
            let result = Joined::of(&block["content"]);
            for (part, what) in &result.notes {
                request.note(format!("{place}.content[{part}]"), what);
            }
            let Joined { text, seams, images, .. } = result;
            let answer = WireMessage::text(Speaker::Tool, text, place);
            let (call_id, is_error) = (member_text(block, "tool_use_id"), block["is_error"] == true);
            request.messages.push(WireMessage { seams, call_id, is_error, images, ..answer });
            continue;
        }
        let mut one = Joined::default();
        let part = ContentPart::read(block);
        one.push(position, &part);
        for (_, what) in &one.notes {
            request.note(&*place, what);
        }
        if !matches!(part, ContentPart::Unknown(_)) {
            let images = image(block).into_iter().collect();
            request.messages.push(WireMessage { images, ..WireMessage::text(speaker, one.said().0, place) });
        }
    }
}

fn of_model(content: &Value, place: String, request: &mut ApiRequest) {
    let (mut said, mut calls, mut opaque) = (Joined::default(), Vec::new(), Vec::new());
    if let Some(text) = content.as_str() {
        text.clone_into(&mut said.text);
    }
    for (position, block) in list(content).iter().enumerate() {
        let text = |name: &str| member_text(block, name).unwrap_or_default();
        let place = format!("{place}.content[{position}]");
        match block["type"].as_str() {
            Some("tool_use") => {
                let input = block.get("input").cloned().unwrap_or_default();
                calls.push(WireCall { id: text("id"), name: text("name"), args: input, raw: None, place });
            }
            Some("thinking") => {
                let content =
                    OpaqueContent::Thinking { text: text("thinking"), signature: member_text(block, "signature") };
                opaque.push(OpaquePart { content, place });
            }
            Some("redacted_thinking") => {
                opaque.push(OpaquePart { content: OpaqueContent::Redacted { data: text("data") }, place });
            }
            _ => said.push(position, &ContentPart::read(block)),
        }
    }
    for (position, what) in &said.notes {
        request.note(format!("{place}.content[{position}]"), what);
    }
    let (content, seams) = said.said();
    request.messages.push(WireMessage { seams, calls, opaque, ..WireMessage::text(Speaker::Ai, content, place) });
}
