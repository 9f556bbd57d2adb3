//! A list of messages as the body of a request.

use crate::agent::{RunState, calls, text};
use serde_json::{Map, Value, json};
use threadspec::oracle::Api;
use threadspec_judge::json::list;
use threadspec_judge::protocol::Endpoint;
use threadspec_judge::universal::halves;

/// The body of a request with these messages.
pub(crate) fn body(run: &RunState, messages: &[Value]) -> Value {
    let endpoint = &run.wire.endpoint;
    let mut body = match endpoint.transport.api {
        Api::OpenAiChat => chat(messages),
        Api::OpenAiResponses => responses(endpoint, messages),
        Api::Anthropic | Api::Gemini => anthropic(endpoint, messages),
    };
    body["model"] = (&*endpoint.model).into();
    let tools: Vec<Value> = declared(run).iter().map(|name| tool(endpoint.transport.api, name)).collect();
    if !tools.is_empty() {
        body["tools"] = tools.into();
    }
    if endpoint.transport.stream {
        body["stream"] = true.into();
        if endpoint.transport.api == Api::OpenAiChat {
            body["stream_options"] = json!({"include_usage": true});
        }
    }
    body
}

/// The names of the tools that the API can declare.
pub(crate) fn declared(run: &RunState) -> Vec<String> {
    let longest = if run.wire.endpoint.transport.api == Api::Anthropic { 128 } else { 64 };
    let is_fit = |name: &&String| {
        (1..=longest).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
    };
    run.input["tools"].as_object().into_iter().flat_map(Map::keys).filter(is_fit).cloned().collect()
}

/// The declaration of a tool that takes any object.
pub(crate) fn tool(api: Api, name: &str) -> Value {
    let schema = json!({"type": "object", "properties": {}, "additionalProperties": true});
    let description = format!("Runs {name}.");
    match api {
        Api::OpenAiChat => {
            json!({"type": "function", "function": {"name": name, "description": description, "parameters": schema}})
        }
        Api::OpenAiResponses => {
            json!({"type": "function", "name": name, "description": description, "parameters": schema, "strict": false})
        }
        Api::Anthropic | Api::Gemini => json!({"name": name, "description": description, "input_schema": schema}),
    }
}

/// Arguments as JSON text, in which a lone surrogate is an escape.
pub(crate) fn arguments(call: &Value) -> String {
    halves::escaped(&call["args"].to_string()).into_owned()
}

fn chat(messages: &[Value]) -> Value {
    let message = |message: &Value| {
        let content = &message["content"];
        match text(&message["type"]) {
            "human" => json!({"role": "user", "content": content}),
            "ai" => {
                let calls: Vec<Value> = calls(message)
                    .iter()
                    .map(|call| {
                        let function = json!({"name": call["name"], "arguments": arguments(call)});
                        json!({"id": call["id"], "type": "function", "function": function})
                    })
                    .collect();
                if calls.is_empty() {
                    json!({"role": "assistant", "content": content})
                } else {
                    let content = if content == "" { &Value::Null } else { content };
                    json!({"role": "assistant", "content": content, "tool_calls": calls})
                }
            }
            "tool" => json!({"role": "tool", "tool_call_id": message["tool_call_id"], "content": content}),
            role => json!({"role": role, "content": content}),
        }
    };
    json!({"messages": messages.iter().map(message).collect::<Vec<_>>()})
}

fn responses(endpoint: &Endpoint, messages: &[Value]) -> Value {
    let input: Vec<Value> = messages.iter().flat_map(items).collect();
    let mut body = json!({"input": input, "store": false});
    if endpoint.reasoning {
        body["reasoning"] = json!({"effort": "medium", "summary": "auto"});
        body["include"] = json!(["reasoning.encrypted_content"]);
    }
    body
}

/// The input items of a message.
pub(crate) fn items(message: &Value) -> Vec<Value> {
    let content = &message["content"];
    match text(&message["type"]) {
        "human" => vec![json!({"role": "user", "content": content})],
        "ai" => {
            let mut items: Vec<Value> = list(&message["wire"]["opaque"]).to_vec();
            let calls = calls(message);
            if content != "" || calls.is_empty() {
                let parts = json!([{"type": "output_text", "text": content}]);
                items.push(json!({"type": "message", "role": "assistant", "content": parts}));
            }
            items.extend(calls.iter().map(|call| {
                json!({"type": "function_call", "call_id": call["id"], "name": call["name"], "arguments": arguments(call)})
            }));
            items
        }
        "tool" => vec![json!({"type": "function_call_output", "call_id": message["tool_call_id"], "output": content})],
        role => vec![json!({"role": role, "content": content})],
    }
}

fn anthropic(endpoint: &Endpoint, messages: &[Value]) -> Value {
    let is_system = |message: &&Value| message["type"] == "system";
    let systems = messages.iter().filter(is_system).map(|message| &message["content"]);
    let systems: Vec<&Value> = systems.filter(|content| **content != "").collect();
    let mut turns: Vec<Value> = Vec::new();
    for message in messages.iter().filter(|message| !is_system(message)) {
        let is_user = message["type"] != "ai";
        let blocks = blocks(message);
        // The results of parallel calls stand in one message.
        let before =
            turns.last_mut().filter(|turn| message["type"] == "tool" && turn["content"][0]["type"] == "tool_result");
        match before.and_then(|turn| turn["content"].as_array_mut()) {
            Some(results) => results.extend(blocks),
            None if blocks.is_empty() => {}
            None => turns.push(json!({"role": if is_user { "user" } else { "assistant" }, "content": blocks})),
        }
    }
    let mut body = json!({"max_tokens": 4096, "messages": turns});
    match systems[..] {
        [] => {}
        [system] => body["system"] = system.clone(),
        _ => body["system"] = systems.iter().map(|content| json!({"type": "text", "text": content})).collect(),
    }
    if endpoint.reasoning {
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 2048});
    }
    body
}

/// The blocks of a message. An empty text is none.
fn blocks(message: &Value) -> Vec<Value> {
    let content = &message["content"];
    if message["type"] == "tool" {
        return vec![json!({"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content})];
    }
    let mut blocks = list(&message["wire"]["opaque"]).to_vec();
    if content != "" {
        blocks.push(json!({"type": "text", "text": content}));
    }
    blocks.extend(calls(message).iter().map(|call| {
        json!({"type": "tool_use", "id": call["id"], "name": call["name"], "input": without_halves(&call["args"])})
    }));
    blocks
}

/// A value without lone surrogates, which this API refuses even as escapes.
pub(crate) fn without_halves(value: &Value) -> Value {
    match value {
        Value::String(text) => halves::repaired(text).into(),
        Value::Array(elements) => elements.iter().map(without_halves).collect(),
        Value::Object(members) => {
            let member =
                |(name, value): (&String, &Value)| (halves::repaired(name).into_owned(), without_halves(value));
            members.iter().map(member).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
