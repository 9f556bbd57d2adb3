//! The body of the Responses API.

use super::{ClientAsk, ClientCall, ClientContent, ClientMessage, ClientPart, ClientTool, data_url, described};
use serde_json::{Value, json};
use threadspec::surrogates::without_marks;
use threadspec_apis::Thinking;
use threadspec_judge::protocol::Speaker;

pub(super) fn body(reasoning: bool, ask: &ClientAsk) -> Value {
    let (developer, instructions) =
        if ask.options.developer { (&ask.instructions, &None) } else { (&None, &ask.instructions) };
    let developer = developer.iter().map(|text| json!({"role": "developer", "content": text}));
    let input: Vec<Value> = developer.chain(ask.messages.iter().flat_map(items)).collect();
    let mut body = json!({"input": input, "store": false});
    if let Some(text) = instructions {
        body["instructions"] = text.as_str().into();
    }
    if reasoning {
        body["reasoning"] = json!({"effort": "medium", "summary": "auto"});
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    super::openai_choice(&ask.options, &mut body, |name| json!({"type": "function", "name": name}));
    if let Some(most) = ask.options.most_tokens {
        body["max_output_tokens"] = most.into();
    }
    body
}

pub(super) fn declaration(tool: &ClientTool) -> Value {
    let declaration = json!({"type": "function", "name": tool.name, "parameters": tool.schema(), "strict": false});
    described(tool, declaration)
}

/// The input items of a message.
fn items(told: &ClientMessage) -> Vec<Value> {
    match told.speaker {
        Speaker::System => vec![json!({"role": "system", "content": content(told)})],
        Speaker::Human => vec![json!({"role": "user", "content": content(told)})],
        Speaker::Tool => {
            vec![json!({"type": "function_call_output", "call_id": told.call_id, "output": content(told)})]
        }
        Speaker::Ai => {
            let mut items: Vec<Value> = told.thinking.iter().filter_map(reasoning_item).collect();
            if told.calls.is_empty() || !told.joined().is_empty() {
                items.push(json!({"type": "message", "role": "assistant", "content": said(told)}));
            }
            items.extend(told.calls.iter().map(call));
            items
        }
    }
}

fn call(call: &ClientCall) -> Value {
    json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": call.arguments})
}

fn said(told: &ClientMessage) -> Vec<Value> {
    let text = |text: &str| json!({"type": "output_text", "text": text});
    match &told.content {
        Some(ClientContent::Parts(parts)) => parts.iter().filter_map(ClientPart::as_text).map(text).collect(),
        _ => vec![text(&told.joined())],
    }
}

fn content(told: &ClientMessage) -> Value {
    let part = |part: &ClientPart| match part {
        ClientPart::Text(text) => json!({"type": "input_text", "text": text}),
        ClientPart::Image(image) => json!({"type": "input_image", "image_url": data_url(image)}),
    };
    match &told.content {
        None => "".into(),
        Some(ClientContent::Text(text)) => text.as_str().into(),
        Some(ClientContent::Parts(parts)) => parts.iter().map(part).collect(),
    }
}

/// A reasoning item as it came; none if the provider was to remember it.
fn reasoning_item(thought: &Thinking) -> Option<Value> {
    let seal = thought.seal.as_ref()?;
    let text = without_marks(&thought.text);
    let summary = if text.is_empty() { json!([]) } else { json!([{"type": "summary_text", "text": text}]) };
    let mut item = json!({"type": "reasoning", "summary": summary, "encrypted_content": seal});
    if let Some(id) = &thought.item_id {
        item["id"] = (&**id).into();
    }
    Some(item)
}
