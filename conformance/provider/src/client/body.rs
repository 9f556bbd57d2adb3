//! Messages as the body of a request.

use serde_json::{Map, Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::{unmark_surrogates, without_marks};
use threadspec::{Message, ToolCall};
use threadspec_apis::Thinking;
use threadspec_judge::protocol::Endpoint;

/// A message as the model is told it, with what stands beside its text.
#[derive(Clone, Copy)]
pub(super) struct Told<'a> {
    pub(super) message: &'a Message,
    /// What the model thought before it said this.
    pub(super) thinking: &'a [Thinking],
    /// The images of a result, in base64.
    pub(super) images: &'a [String],
}

/// How many tokens an answer of Anthropic's may have, of which half are for thinking.
const MOST_TOKENS: u32 = 4096;

/// The body of a request with these messages and tools, which have one description or none.
pub(super) fn body(endpoint: &Endpoint, (tools, mark): (&[String], Option<&str>), messages: &[Told<'_>]) -> Value {
    let api = endpoint.transport.api;
    let mut body = match api {
        Api::OpenAiChat => {
            json!({"messages": chat_messages(messages)})
        }
        Api::OpenAiResponses => responses(endpoint.reasoning, messages),
        Api::Anthropic => anthropic(endpoint.reasoning, messages),
    };
    body["model"] = (&*endpoint.model).into();
    if !tools.is_empty() {
        body["tools"] = tools.iter().map(|name| declaration(api, name, mark)).collect();
    }
    if endpoint.transport.stream {
        body["stream"] = true.into();
        if api == Api::OpenAiChat {
            body["stream_options"] = json!({"include_usage": true});
        }
    }
    body
}

/// Whether an API can declare a tool of this name.
pub(super) fn is_declarable(api: Api, name: &str) -> bool {
    let longest = if api == Api::Anthropic { 128 } else { 64 };
    (1..=longest).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// A tool that takes any object.
fn declaration(api: Api, name: &str, description: Option<&str>) -> Value {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let mut function = match api {
        Api::OpenAiChat => json!({"name": name, "parameters": schema}),
        Api::OpenAiResponses => json!({"type": "function", "name": name, "parameters": schema, "strict": false}),
        Api::Anthropic => json!({"name": name, "input_schema": schema}),
    };
    if let Some(description) = description {
        function["description"] = description.into();
    }
    if api == Api::OpenAiChat { json!({"type": "function", "function": function}) } else { function }
}

/// The arguments of a call as JSON text, in which a lone surrogate is an escape.
fn arguments(call: &ToolCall) -> String {
    unmark_surrogates(&Value::Object(call.args.clone()).to_string()).into_owned()
}

/// The messages of chat completions. No answer to a call can have an image there: those of a response stand in a message behind all its answers.
fn chat_messages(messages: &[Told<'_>]) -> Vec<Value> {
    let (mut written, mut images) = (Vec::new(), Vec::new());
    for (place, told) in messages.iter().enumerate() {
        written.push(chat_message(told.message));
        images.extend(
            told.images.iter().map(|image| json!({"type": "image_url", "image_url": {"url": data_url(image)}})),
        );
        let is_followed = messages.get(place + 1).is_some_and(|next| matches!(next.message, Message::Tool { .. }));
        if !is_followed && !images.is_empty() {
            written.push(json!({"role": "user", "content": std::mem::take(&mut images)}));
        }
    }
    written
}

fn data_url(image: &str) -> String {
    format!("data:{};base64,{image}", media_type(image))
}

/// The type of an image, by how its base64 begins.
fn media_type(image: &str) -> &'static str {
    match image.get(..4) {
        Some("/9j/") => "image/jpeg",
        Some("R0lG") => "image/gif",
        Some("UklG") => "image/webp",
        _ => "image/png",
    }
}

fn chat_message(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({"role": "system", "content": content}),
        Message::Human { content } => json!({"role": "user", "content": content}),
        Message::Ai { content, tool_calls } if tool_calls.is_empty() => {
            json!({"role": "assistant", "content": content})
        }
        Message::Ai { content, tool_calls } => {
            let call = |call: &ToolCall| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments(call)}});
            let content = (!content.is_empty()).then_some(content);
            json!({"role": "assistant", "content": content, "tool_calls": tool_calls.iter().map(call).collect::<Vec<_>>()})
        }
        Message::Tool { tool_call_id, content } => {
            json!({"role": "tool", "tool_call_id": tool_call_id, "content": content})
        }
    }
}

fn responses(reasoning: bool, messages: &[Told<'_>]) -> Value {
    let input: Vec<Value> = messages.iter().flat_map(items).collect();
    let mut body = json!({"input": input, "store": false});
    if reasoning {
        body["reasoning"] = json!({"effort": "medium", "summary": "auto"});
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    body
}

/// The input items of a message.
fn items(told: &Told<'_>) -> Vec<Value> {
    match told.message {
        Message::System { content } => vec![json!({"role": "system", "content": content})],
        Message::Human { content } => vec![json!({"role": "user", "content": content})],
        Message::Tool { tool_call_id, content } if told.images.is_empty() => {
            vec![json!({"type": "function_call_output", "call_id": tool_call_id, "output": content})]
        }
        Message::Tool { tool_call_id, content } => {
            let image = |image: &String| json!({"type": "input_image", "image_url": data_url(image)});
            let text = (!content.is_empty()).then(|| json!({"type": "input_text", "text": content}));
            let output: Vec<Value> = text.into_iter().chain(told.images.iter().map(image)).collect();
            vec![json!({"type": "function_call_output", "call_id": tool_call_id, "output": output})]
        }
        Message::Ai { content, tool_calls } => {
            let mut items: Vec<Value> = told.thinking.iter().filter_map(reasoning_item).collect();
            if !content.is_empty() || tool_calls.is_empty() {
                let parts = json!([{"type": "output_text", "text": content}]);
                items.push(json!({"type": "message", "role": "assistant", "content": parts}));
            }
            items.extend(tool_calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments(call)})
            }));
            items
        }
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

fn anthropic(reasoning: bool, messages: &[Told<'_>]) -> Value {
    let systems: Vec<Value> = messages
        .iter()
        .filter_map(|told| match told.message {
            Message::System { content } if !content.is_empty() => Some(json!({"type": "text", "text": content})),
            _ => None,
        })
        .collect();
    let mut turns: Vec<Value> = Vec::new();
    let mut is_answering = false;
    for told in messages.iter().filter(|told| !matches!(told.message, Message::System { .. })) {
        let blocks = blocks(told);
        let is_answer = matches!(told.message, Message::Tool { .. });
        let last = turns.last_mut().and_then(|turn| turn["content"].as_array_mut());
        match last.filter(|_| is_answer && is_answering) {
            // The results of parallel calls stand in one message.
            Some(results) => results.extend(blocks),
            // An empty text is no message for this API.
            None if blocks.is_empty() => {}
            None => {
                let role = if matches!(told.message, Message::Ai { .. }) { "assistant" } else { "user" };
                turns.push(json!({"role": role, "content": blocks}));
            }
        }
        is_answering = is_answer;
    }
    let mut body = json!({"max_tokens": MOST_TOKENS, "messages": turns});
    if !systems.is_empty() {
        body["system"] = systems.into();
    }
    if reasoning {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": MOST_TOKENS / 2});
    }
    body
}

/// The blocks of a message that is no system message.
fn blocks(told: &Told<'_>) -> Vec<Value> {
    let said = |content: &str| (!content.is_empty()).then(|| json!({"type": "text", "text": content}));
    match told.message {
        Message::System { content } | Message::Human { content } => said(content).into_iter().collect(),
        Message::Tool { tool_call_id, content } if told.images.is_empty() => {
            vec![json!({"type": "tool_result", "tool_use_id": tool_call_id, "content": content})]
        }
        Message::Tool { tool_call_id, content } => {
            let image = |image: &String| json!({"type": "image", "source": {"type": "base64", "media_type": media_type(image), "data": image}});
            let content: Vec<Value> = said(content).into_iter().chain(told.images.iter().map(image)).collect();
            vec![json!({"type": "tool_result", "tool_use_id": tool_call_id, "content": content})]
        }
        Message::Ai { content, tool_calls } => {
            let call = |call: &ToolCall| {
                let input = without_halves(&Value::Object(call.args.clone()));
                json!({"type": "tool_use", "id": call.id, "name": call.name, "input": input})
            };
            told.thinking.iter().map(thinking_block).chain(said(content)).chain(tool_calls.iter().map(call)).collect()
        }
    }
}

fn thinking_block(thought: &Thinking) -> Value {
    if thought.is_redacted {
        return json!({"type": "redacted_thinking", "data": thought.seal});
    }
    json!({"type": "thinking", "thinking": without_marks(&thought.text), "signature": thought.seal.as_deref().unwrap_or_default()})
}

/// Marked data without lone surrogates, which Anthropic refuses even as escapes.
fn without_halves(value: &Value) -> Value {
    match value {
        Value::String(text) => without_marks(text).into(),
        Value::Array(elements) => elements.iter().map(without_halves).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (without_marks(name).into_owned(), without_halves(value));
            members.iter().map(member).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
