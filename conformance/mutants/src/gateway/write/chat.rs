//! Bodies of OpenAI's chat completions.

use super::{WrittenPart, arguments, data_url, parts, schema, set, texts};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, ToolChoice, WireMessage};
use threadspec_judge::protocol::Speaker;

pub(super) fn body(request: &ApiRequest) -> Value {
    let mut body = json!({"messages": messages(request)});
    set(&mut body, "max_completion_tokens", &request.max_tokens.into());
    set(&mut body, "stop", &request.stop.clone().into());
    if request.thinking {
        body["reasoning_effort"] = "medium".into();
    }
    if request.stream {
        body["stream_options"] = json!({"include_usage": true});
    }
    if request.tools.is_empty() {
        return body;
    }
    let declared = request.tools.iter().map(|tool| {
        let mut function = json!({"name": tool.name, "parameters": schema(tool)});
        set(&mut function, "description", &tool.description.clone().into());
        if let Some(strict) = tool.strict.filter(|_| request.api == Api::OpenAiResponses) {
            function["strict"] = strict.into();
        }
        json!({"type": "function", "function": function})
    });
    body["tools"] = declared.collect();
    match &request.choice {
        ToolChoice::Auto | ToolChoice::Other => {}
        ToolChoice::None => body["tool_choice"] = "none".into(),
        ToolChoice::Any => body["tool_choice"] = "required".into(),
        ToolChoice::Named(name) => body["tool_choice"] = json!({"type": "function", "function": {"name": name}}),
    }
    if let Some(parallel) = request.parallel {
        body["parallel_tool_calls"] = parallel.into();
    }
    body
}

/// No result can have an image: those of a group stand in a message behind it.
fn messages(request: &ApiRequest) -> Vec<Value> {
    let (mut written, mut images) = (Vec::new(), Vec::new());
    for (place, message) in request.messages.iter().enumerate() {
        written.push(one(message));
        if message.speaker == Speaker::Tool {
            images.extend(message.images.iter().map(|image| image_part(image)));
        }
        let is_followed = request.messages.get(place + 1).is_some_and(|next| next.speaker == Speaker::Tool);
        if !is_followed && !images.is_empty() {
            written.push(json!({"role": "user", "content": std::mem::take(&mut images)}));
        }
    }
    written
}

fn image_part(image: &str) -> Value {
    json!({"type": "image_url", "image_url": {"url": data_url(image)}})
}

fn one(message: &WireMessage) -> Value {
    let WireMessage { content, images, .. } = message;
    match message.speaker {
        Speaker::System => json!({"role": "system", "content": content}),
        Speaker::Human if images.is_empty() => json!({"role": "user", "content": content}),
        Speaker::Human => {
            let part = |part| match part {
                WrittenPart::Text(text) => json!({"type": "text", "text": text}),
                WrittenPart::Image(image) => image_part(image),
            };
            json!({"role": "user", "content": parts(message).into_iter().map(part).collect::<Vec<_>>()})
        }
        Speaker::Tool => {
            let content = texts(message);
            json!({"role": "tool", "tool_call_id": message.call_id, "content": content})
        }
        Speaker::Ai if message.calls.is_empty() => json!({"role": "assistant", "content": content}),
        Speaker::Ai => {
            let calls = message.calls.iter().map(|call| {
                let function = json!({"name": call.name, "arguments": arguments(call)});
                json!({"id": call.id, "type": "function", "function": function})
            });
            let said = Some(content).filter(|content| !content.is_empty());
            json!({"role": "assistant", "content": said, "tool_calls": calls.collect::<Vec<_>>()})
        }
    }
}
