//! Bodies of OpenAI's Responses.

use super::{WrittenPart, arguments, data_url, parts, schema, set};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, ToolChoice, WireMessage};
use threadspec_judge::protocol::Speaker;

pub(super) fn body(request: &ApiRequest) -> Value {
    let input: Vec<Value> = request.messages.iter().flat_map(items).collect();
    let mut body = json!({"input": input, "store": false});
    set(&mut body, "max_output_tokens", &request.max_tokens.into());
    if request.thinking {
        body["reasoning"] = json!({"effort": "medium", "summary": "auto"});
    }
    if request.tools.is_empty() {
        return body;
    }
    let declared = request.tools.iter().map(|tool| {
        // What says nothing is strict here.
        let strict = tool.strict.filter(|_| request.api == Api::OpenAiChat).unwrap_or(false);
        let mut declared = json!({"type": "function", "name": tool.name, "parameters": schema(tool), "strict": strict});
        set(&mut declared, "description", &tool.description.clone().into());
        declared
    });
    body["tools"] = declared.collect();
    match &request.choice {
        ToolChoice::Auto | ToolChoice::Other => {}
        ToolChoice::None => body["tool_choice"] = "none".into(),
        ToolChoice::Any => body["tool_choice"] = "required".into(),
        ToolChoice::Named(name) => body["tool_choice"] = json!({"type": "function", "name": name}),
    }
    if let Some(parallel) = request.parallel {
        body["parallel_tool_calls"] = parallel.into();
    }
    body
}

fn input_part(part: WrittenPart<'_>) -> Value {
    match part {
        WrittenPart::Text(text) => json!({"type": "input_text", "text": text}),
        WrittenPart::Image(image) => {
            json!({"type": "input_image", "detail": "auto", "image_url": data_url(image)})
        }
    }
}

/// The items of a message.
fn items(message: &WireMessage) -> Vec<Value> {
    let WireMessage { content, images, .. } = message;
    let with_images = || parts(message).into_iter().map(input_part).collect::<Vec<_>>();
    match message.speaker {
        Speaker::System => vec![json!({"role": "system", "content": content})],
        Speaker::Human if images.is_empty() => vec![json!({"role": "user", "content": content})],
        Speaker::Human => vec![json!({"role": "user", "content": with_images()})],
        Speaker::Tool => {
            let output = if images.is_empty() { content.clone().into() } else { Value::from(with_images()) };
            vec![json!({"type": "function_call_output", "call_id": message.call_id, "output": output})]
        }
        Speaker::Ai => {
            let parts = json!([{"type": "output_text", "text": content}]);
            let said = json!({"type": "message", "role": "assistant", "content": parts});
            let calls = message.calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments(call)})
            });
            // An empty message is none.
            Some(said).filter(|_| !content.is_empty()).into_iter().chain(calls).collect()
        }
    }
}
