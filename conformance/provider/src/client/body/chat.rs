//! The body of chat completions.

use super::{ClientAsk, ClientCall, ClientContent, ClientMessage, ClientPart, ClientTool, data_url, described};
use serde_json::{Value, json};
use threadspec_judge::protocol::Speaker;

pub(super) fn body(ask: &ClientAsk) -> Value {
    let role = if ask.options.developer { "developer" } else { "system" };
    let system = ask.instructions.iter().map(|text| json!({"role": role, "content": text}));
    let mut body = json!({"messages": system.chain(messages(&ask.messages)).collect::<Vec<_>>()});
    super::openai_choice(&ask.options, &mut body, |name| json!({"type": "function", "function": {"name": name}}));
    if let Some(most) = ask.options.most_tokens {
        body["max_completion_tokens"] = most.into();
    }
    if !ask.options.stop.is_empty() {
        body["stop"] = ask.options.stop.iter().map(String::as_str).collect();
    }
    body
}

pub(super) fn declaration(tool: &ClientTool) -> Value {
    let function = described(tool, json!({"name": tool.name, "parameters": tool.schema()}));
    json!({"type": "function", "function": function})
}

/// The messages. No answer to a call can have an image there: those of a response are in a message behind all its answers.
fn messages(messages: &[ClientMessage]) -> Vec<Value> {
    let (mut written, mut images) = (Vec::new(), Vec::new());
    for (place, told) in messages.iter().enumerate() {
        written.push(message(told));
        if told.speaker == Speaker::Tool {
            images.extend(told.images().map(image));
        }
        let is_followed = messages.get(place + 1).is_some_and(|next| next.speaker == Speaker::Tool);
        if !is_followed && !images.is_empty() {
            written.push(json!({"role": "user", "content": std::mem::take(&mut images)}));
        }
    }
    written
}

fn message(told: &ClientMessage) -> Value {
    match told.speaker {
        Speaker::System => json!({"role": "system", "content": content(told)}),
        Speaker::Human => json!({"role": "user", "content": content(told)}),
        Speaker::Ai if told.calls.is_empty() => json!({"role": "assistant", "content": content(told)}),
        Speaker::Ai => {
            let content = if told.joined().is_empty() { Value::Null } else { content(told) };
            json!({"role": "assistant", "content": content, "tool_calls": told.calls.iter().map(call).collect::<Vec<_>>()})
        }
        Speaker::Tool => json!({"role": "tool", "tool_call_id": told.call_id, "content": content(told)}),
    }
}

/// The content: a text, or a list of parts. A result has its texts alone.
fn content(told: &ClientMessage) -> Value {
    match &told.content {
        None => "".into(),
        Some(ClientContent::Text(text)) => text.as_str().into(),
        Some(ClientContent::Parts(parts)) => {
            let is_answer = told.speaker == Speaker::Tool;
            let written = |part: &ClientPart| match part {
                ClientPart::Text(text) => Some(json!({"type": "text", "text": text})),
                ClientPart::Image(_) if is_answer => None,
                ClientPart::Image(data) => Some(image(data)),
            };
            match parts.iter().filter_map(written).collect::<Vec<_>>() {
                // A list of nothing is refused.
                list if list.is_empty() => "".into(),
                // Beside images, the one text is the content.
                list if is_answer && list.len() == 1 && parts.len() > 1 => list[0]["text"].clone(),
                list => list.into(),
            }
        }
    }
}

fn image(data: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": data_url(data)}})
}

fn call(call: &ClientCall) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})
}
