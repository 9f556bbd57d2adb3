//! One message, however its owner writes it, as messages of chat completions.
//!
//! Every API, framework and trace writes the same few things down: who speaks, a text, calls with their arguments, results with the id of
//! their call. Chat completions has a form for each of them, so that this is the form in which logs are judged that are no requests to an
//! API. A message that holds several results becomes several messages.

use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::HashMap;
use std::mem;
use threadspec::MemberLookup;

/// How a message is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    /// A role and a text: it could be of several.
    Plain,
    Chat,
    Anthropic,
    Responses,
    /// Everything else.
    Other,
}

/// A message in the words of chat completions.
pub(super) struct Chat {
    role: String,
    content: Vec<Value>,
    calls: Vec<Value>,
    results: Vec<Value>,
    /// A content that is neither a text nor a list.
    odd: Option<Value>,
}

impl Chat {
    pub(super) fn new(role: &str) -> Self {
        Self { role: role.to_owned(), content: Vec::new(), calls: Vec::new(), results: Vec::new(), odd: None }
    }

    pub(super) fn text(&mut self, text: &Value) {
        match text {
            Value::Null => {}
            Value::String(text) if text.is_empty() => {}
            Value::String(_) => self.content.push(json!({"type": "text", "text": text})),
            Value::Array(_) => self.content.push(text.clone()),
            other => self.odd = Some(other.clone()),
        }
    }

    pub(super) fn call(&mut self, id: &Value, name: &Value, arguments: &Value) {
        let arguments = match arguments {
            Value::Null => json!("{}"),
            Value::String(_) => arguments.clone(),
            other => json!(other.to_string()),
        };
        let mut call = json!({"type": "function", "function": {"name": name, "arguments": arguments}});
        if !id.is_null() {
            call["id"] = id.clone();
        }
        self.calls.push(call);
    }

    pub(super) fn result(&mut self, id: &Value, content: &Value) {
        let content = match content {
            Value::String(_) | Value::Null => content.clone(),
            other => json!(other.to_string()),
        };
        let mut result = json!({"role": "tool", "content": content});
        if !id.is_null() {
            result["tool_call_id"] = id.clone();
        }
        self.results.push(result);
    }

    /// Returns the message with another role.
    pub(super) fn of(self, role: &str) -> Self {
        Self { role: role.to_owned(), ..self }
    }

    pub(super) fn has_results(&self) -> bool {
        !self.results.is_empty()
    }

    /// The results first, unless there are calls, which they answer then.
    pub(super) fn in_order(self) -> Vec<Value> {
        finish_in_order(self)
    }

    /// The results first: they answer the calls before the message.
    fn finish(self) -> Vec<Value> {
        let Self { role, content, calls, results, odd } = self;
        let mut messages = results;
        let is_model = role == "assistant";
        if !calls.is_empty() || !content.is_empty() || odd.is_some() || messages.is_empty() {
            let content = match &*content {
                _ if odd.is_some() => odd.unwrap_or_default(),
                [] if is_model => Value::Null,
                [] => json!(""),
                [part] if part["type"] == "text" => part["text"].clone(),
                _ => Value::Array(content),
            };
            let mut message = json!({"role": role, "content": content});
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            messages.push(message);
        }
        messages
    }
}

/// The first member that is there and not null.
pub(super) fn any<'a>(object: &'a Value, names: &[&str]) -> &'a Value {
    names.iter().map(|name| object.member(name)).find(|value| !value.is_null()).unwrap_or(&Value::Null)
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn word<'a>(object: &'a Value, name: &str) -> &'a str {
    object.member(name).as_str().unwrap_or_default()
}

/// The JSON value that a text holds, also one that was written as a text twice; any other value as it is.
pub(super) fn unquoted(value: &Value) -> Option<Cow<'_, Value>> {
    match value {
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            threadspec::read_json(text).ok().map(Cow::Owned)
        }
        Value::String(text) if ["\"{", "\"["].iter().any(|start| text.starts_with(start)) => {
            let text: String = serde_json::from_str(text).ok()?;
            threadspec::read_json(&text).ok().map(Cow::Owned)
        }
        Value::String(_) | Value::Null => None,
        other => Some(Cow::Borrowed(other)),
    }
}

/// Names of roles that mean one of chat completions.
fn role(name: &str) -> &str {
    match name {
        "human" | "USER" | "HUMAN" | "User" => "user",
        "ai" | "model" | "ASSISTANT" | "AI" | "Assistant" | "agent" | "bot" | "chatbot" | "AIMessageChunk" => {
            "assistant"
        }
        "SYSTEM" | "System" => "system",
        "TOOL" | "Tool" | "toolResult" => "tool",
        other => other,
    }
}

/// A message of any dialect as messages of chat completions; `None` if it is no message.
pub(super) fn read(message: &Value) -> Option<(Dialect, Vec<Value>)> {
    let object = message.as_object()?;
    let other = |messages| Some((Dialect::Other, messages));
    if message["lc"].is_number() && message["kwargs"].is_object() {
        let name = list(&message["id"]).last().and_then(Value::as_str)?;
        return other(langchain(name.strip_suffix("Chunk").unwrap_or(name), &message["kwargs"])?);
    }
    if message["data"].is_object() && message["data"].get("content").is_some() && message["type"].is_string() {
        return other(langchain(word(message, "type"), &message["data"])?);
    }
    if message["parts"].is_array() && matches!(word(message, "kind"), "request" | "response") {
        return other(pydantic(message));
    }
    if message["info"]["role"].is_string() && message["parts"].is_array() {
        return other(parts(word(&message["info"], "role"), &message["parts"]));
    }
    if let Some(name) = message["role"].as_str() {
        if message["parts"].is_array() {
            return other(parts(role(name), &message["parts"]));
        }
        if message["blocks"].is_array() && !object.contains_key("content") {
            return other(llama_index(role(name), message));
        }
        return is_known_message(message).then(|| with_role(role(name), message));
    }
    if message["parts"].is_array() && !object.contains_key("kind") {
        return other(parts("user", &message["parts"]));
    }
    if object.contains_key("content")
        && matches!(word(message, "type"), "human" | "ai" | "system" | "tool" | "AIMessageChunk")
    {
        return other(langchain(word(message, "type"), message)?);
    }
    item(message).map(|messages| (Dialect::Responses, messages))
}

/// Returns whether a message with a role says something where the APIs, or those who write as they do, say it.
fn is_known_message(message: &Value) -> bool {
    const SAYS: [&str; 9] = [
        "content",
        "tool_calls",
        "toolCalls",
        "contents",
        "function_call",
        "text",
        "refusal",
        "audio",
        "additional_kwargs",
    ];
    SAYS.iter().any(|name| message.get(*name).is_some())
}

/// How a message is written, without reading it; `None` if it is no message.
pub(super) fn dialect(message: &Value) -> Option<Dialect> {
    let is_unlike = || message.as_object().into_iter().flatten().any(|(name, _)| UNLIKE.contains(&&**name));
    match message.member("role").as_str() {
        Some(name) if !is_unlike() => is_known_message(message).then(|| of_role(role(name), message)),
        _ => Some(read(message)?.0),
    }
}

/// Members of messages that are no requests', whatever role they have.
const UNLIKE: [&str; 6] = ["lc", "data", "parts", "info", "blocks", "kwargs"];

/// How a message with `role` and `content` is written.
fn of_role(role: &str, message: &Value) -> Dialect {
    let calls = any(message, &["tool_calls", "toolCalls"]);
    let extra = message.member("additional_kwargs");
    let is_chat =
        ["tool_calls", "tool_call_id", "function_call", "name"].iter().any(|name| !message.member(name).is_null())
            || matches!(role, "tool" | "function" | "developer");
    let blocks = list(message.member("content"));
    let dialect_of = |block: &Value| match word(block, "type") {
        "text" | "" if block.member("text").is_string() && block.get("type").is_some() => Dialect::Plain,
        "tool_use" | "tool_result" | "thinking" | "redacted_thinking" | "server_tool_use" | "image" | "document" => {
            Dialect::Anthropic
        }
        "image_url" | "input_audio" | "refusal" | "file" if block.member("mediaType").is_null() => Dialect::Chat,
        "input_text" | "output_text" | "input_image" | "input_file" => Dialect::Responses,
        _ => Dialect::Other,
    };
    if let Some(dialect) = blocks.iter().map(dialect_of).find(|dialect| *dialect != Dialect::Plain) {
        return dialect;
    }
    let as_chat = |call: &Value| call.member("function").is_object() || call.member("custom").is_object();
    match () {
        () if ["toolCalls", "toolCallId", "contents"].iter().any(|name| !message.member(name).is_null()) => {
            Dialect::Other
        }
        () if !extra.is_null() || message.get("content").is_none() && message.member("text").is_string() => {
            Dialect::Other
        }
        () if !list(calls).iter().all(as_chat) => Dialect::Other,
        () if word(message, "type") == "message" => Dialect::Responses,
        () if is_chat => Dialect::Chat,
        () => Dialect::Plain,
    }
}

/// A message with `role` and `content`: of chat completions, Anthropic, Bedrock, the AI SDK, or an item of Responses.
fn with_role(role: &str, message: &Value) -> (Dialect, Vec<Value>) {
    let dialect = of_role(role, message);
    let content = &message["content"];
    let calls = any(message, &["tool_calls", "toolCalls"]);
    let extra = &message["additional_kwargs"];
    if matches!(dialect, Dialect::Plain | Dialect::Chat) {
        return (dialect, vec![chat(role, message)]);
    }
    let mut said = Chat::new(role);
    if role == "tool" && any(message, &["tool_call_id", "toolCallId"]).is_string() {
        said.result(any(message, &["tool_call_id", "toolCallId"]), content);
        return (dialect, said.finish());
    }
    let content = if content.is_null() { any(message, &["contents", "text"]) } else { content };
    match content {
        Value::Array(blocks) => blocks.iter().for_each(|one| block(&mut said, one)),
        text => said.text(text),
    }
    let calls = if calls.is_null() { &extra["tool_calls"] } else { calls };
    for call in list(calls) {
        // One that is written as a block, too, is one call.
        let id = any(call, &CALL_IDS);
        if id.is_null() || said.calls.iter().all(|known| known["id"] != *id) {
            any_call(&mut said, call);
        }
    }
    if role == "tool" && !extra["tool_call_id"].is_null() {
        let content = said.content.first().map_or(Value::Null, |part| part["text"].clone());
        said.content.clear();
        said.result(&extra["tool_call_id"], &content);
    }
    (dialect, said.in_order())
}

/// A message of chat completions without what reaches no model, and with the API's own name of its role.
fn chat(role: &str, message: &Value) -> Value {
    const KEPT: [&str; 6] = ["content", "tool_calls", "tool_call_id", "name", "function_call", "refusal"];
    let members = message.as_object().into_iter().flatten().filter(|(name, _)| KEPT.contains(&&***name));
    let members = members.map(|(name, value)| (name.clone(), value.clone()));
    [("role".to_owned(), json!(role))].into_iter().chain(members).collect::<Map<_, _>>().into()
}

/// The names that the id of a call has.
const CALL_IDS: [&str; 5] = ["id", "toolCallId", "tool_call_id", "call_id", "callID"];

/// A call with its members in any of the usual places.
fn any_call(said: &mut Chat, call: &Value) {
    let function = &call["function"];
    let of = if function.is_object() { function } else { call };
    let name = if function.is_string() { function } else { any(of, &["name", "toolName", "tool_name", "tool"]) };
    let id = any(call, &CALL_IDS);
    said.call(id, name, any(of, &["arguments", "args", "input", "parameters", "tool_kwargs"]));
}

/// A block of a content: of Anthropic, Bedrock, Responses, the AI SDK, or LlamaIndex.
fn block(said: &mut Chat, block: &Value) {
    match word(block, "type") {
        "tool_use" | "server_tool_use" | "mcp_tool_use" => said.call(&block["id"], &block["name"], &block["input"]),
        "tool_result" => said.result(&block["tool_use_id"], &block["content"]),
        "tool-call" | "tool_call" | "toolCall" => any_call(said, block),
        // Goose keeps what a call or a result came to beside it.
        "toolRequest" => {
            let call = any(&block["toolCall"], &["value"]);
            said.call(&block["id"], &call["name"], &call["arguments"]);
        }
        "toolResponse" => said.result(&block["id"], &block["toolResult"]),
        "tool-result" => said.result(&block["toolCallId"], any(block, &["output", "result"])),
        "thinking" | "redacted_thinking" | "reasoning" | "redacted-reasoning" => {}
        kind if kind.ends_with("_tool_result") => said.result(&block["tool_use_id"], &block["content"]),
        // Microsoft.Extensions.AI.
        _ if block["$type"] == "functionCall" => said.call(&block["callId"], &block["name"], &block["arguments"]),
        _ if block["$type"] == "functionResult" => said.result(&block["callId"], &block["result"]),
        _ if block["toolUse"].is_object() => {
            let call = &block["toolUse"];
            said.call(&call["toolUseId"], &call["name"], &call["input"]);
        }
        _ if block["toolResult"].is_object() => {
            let result = &block["toolResult"];
            said.result(&result["toolUseId"], &result["content"]);
        }
        _ if block["reasoningContent"].is_object() || block["cachePoint"].is_object() => {}
        _ if block.is_string() => said.text(block),
        _ if block["text"].is_string() => said.text(&block["text"]),
        _ => said.content.push(block.clone()),
    }
}

/// Returns whether a part of an unknown type may be a call or a result.
pub(super) fn may_be_call(part: &Value) -> bool {
    const OTHERS: [&str; 9] =
        ["image", "file", "document", "audio", "video", "media", "source", "approval", "reference"];
    let kind = word(part, "type").to_ascii_lowercase();
    let is_named = !kind.is_empty() && part["id"].is_string() && part["name"].is_string();
    (is_named || kind.contains("tool")) && !OTHERS.iter().any(|other| kind.contains(other))
}

/// A message in parts: of OpenTelemetry, Gemini, the ADK, opencode, or the UI of the AI SDK.
fn parts(role: &str, parts: &Value) -> Vec<Value> {
    let mut said = Chat::new(role);
    let mut messages = Vec::new();
    for part in list(parts) {
        let kind = word(part, "type");
        if kind == "tool" && part["state"].is_object() {
            let state = &part["state"];
            said.call(&part["callID"], &part["tool"], &state["input"]);
            if let output @ (Value::String(_) | Value::Object(_) | Value::Array(_)) = any(state, &["output", "error"]) {
                said.result(&part["callID"], output);
            }
        } else if kind == "dynamic-tool"
            || kind.starts_with("tool-") && !part["toolCallId"].is_null() && kind != "tool-result"
        {
            let name = if kind == "dynamic-tool" { part["toolName"].clone() } else { json!(&kind[5..]) };
            said.call(&part["toolCallId"], &name, any(part, &["input", "rawInput"]));
            let is_over = word(part, "state").starts_with("output") || word(part, "state") == "result";
            if is_over && !any(part, &["output", "errorText"]).is_null() {
                said.result(&part["toolCallId"], any(part, &["output", "errorText"]));
            }
        } else if kind == "tool-call" && part["toolCallId"].is_null() {
            // TanStack AI has the output beside the call, and again as a part.
            said.call(&part["id"], &part["name"], any(part, &["arguments", "input"]));
            if !part["output"].is_null() && !list(parts).iter().any(|one| one["toolCallId"] == part["id"]) {
                said.result(&part["id"], &part["output"]);
            }
        } else if kind == "tool-result" && part["toolName"].is_null() {
            said.result(&part["toolCallId"], any(part, &["content", "error", "state"]));
        } else if kind == "tool-invocation" {
            let call = &part["toolInvocation"];
            said.call(&call["toolCallId"], &call["toolName"], &call["args"]);
            if !call["result"].is_null() {
                said.result(&call["toolCallId"], &call["result"]);
            }
        } else if kind == "tool_call" {
            said.call(&part["id"], &part["name"], any(part, &["arguments", "input"]));
        } else if kind == "tool_call_response" {
            said.result(&part["id"], any(part, &["response", "result", "output"]));
        } else if let call @ Value::Object(_) = any(part, &["functionCall", "function_call"]) {
            said.call(&gemini_id(call), &call["name"], &call["args"]);
        } else if let result @ Value::Object(_) = any(part, &["functionResponse", "function_response"]) {
            said.result(&gemini_id(result), &result["response"]);
        } else if kind == "step-start" && !said.calls.is_empty() {
            // The next answer of the model, in the same message.
            messages.extend(finish_in_order(mem::replace(&mut said, Chat::new(role))));
        } else if matches!(kind, "reasoning" | "thinking" | "step-start" | "step-finish" | "snapshot" | "patch") {
        } else if let text @ Value::String(_) = any(part, &["text", "content"]) {
            said.text(text);
        } else if !part.is_null() && (kind.is_empty() || may_be_call(part)) {
            said.content.push(part.clone());
        }
    }
    messages.extend(finish_in_order(said));
    messages
}

/// The id of a call or a result of Gemini; without one a mark with its name, until [`number`] has seen all messages.
fn gemini_id(of: &Value) -> Value {
    match &of["id"] {
        Value::String(id) if !id.is_empty() => json!(id),
        _ => json!(format!("{UNNUMBERED}{}", word(of, "name"))),
    }
}

/// How an id begins that is not there.
pub(super) const UNNUMBERED: char = '\0';

/// Gives ids to the calls and results of Gemini that have none: a result answers the first open call of its name.
pub(super) fn number<'m>(messages: impl IntoIterator<Item = &'m mut Value>) {
    let mut calls: HashMap<String, usize> = HashMap::new();
    let mut results = calls.clone();
    let named = |id: &mut Value, counts: &mut HashMap<String, usize>| {
        let Some(name) = id.as_str().and_then(|id| id.strip_prefix(UNNUMBERED)).map(str::to_owned) else { return };
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        *id = json!(format!("{name}#{count}"));
    };
    for message in messages {
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            call.get_mut("id").into_iter().for_each(|id| named(id, &mut calls));
        }
        message.get_mut("tool_call_id").into_iter().for_each(|id| named(id, &mut results));
    }
}

/// A message that holds calls and their results has the calls first.
fn finish_in_order(said: Chat) -> Vec<Value> {
    if said.calls.is_empty() || said.results.is_empty() {
        return said.finish();
    }
    let Chat { role, content, calls, results, odd } = said;
    let mut messages = Chat { role, content, calls, results: Vec::new(), odd }.finish();
    messages.extend(results);
    messages
}

/// A message of LangChain: its type, and what is in it.
fn langchain(kind: &str, data: &Value) -> Option<Vec<Value>> {
    let role = match kind {
        "HumanMessage" | "human" => "user",
        "AIMessage" | "ai" | "AIMessageChunk" => "assistant",
        "SystemMessage" | "system" => "system",
        "ToolMessage" | "tool" => "tool",
        "FunctionMessage" | "function" => "function",
        "ChatMessage" | "chat" => word(data, "role"),
        _ => return None,
    };
    let mut said = Chat::new(role);
    if role == "tool" {
        said.result(&data["tool_call_id"], &data["content"]);
        return Some(said.finish());
    }
    match &data["content"] {
        // The calls are in `tool_calls`, too.
        Value::Array(blocks) => {
            let is_call = |block: &&Value| matches!(word(block, "type"), "tool_use" | "tool_call" | "function_call");
            blocks.iter().filter(|block| !is_call(block)).for_each(|one| block(&mut said, one));
        }
        text => said.text(text),
    }
    let calls = if list(&data["tool_calls"]).is_empty() {
        &data["additional_kwargs"]["tool_calls"]
    } else {
        &data["tool_calls"]
    };
    list(calls).iter().chain(list(&data["invalid_tool_calls"])).for_each(|call| any_call(&mut said, call));
    Some(said.finish())
}

/// A message of pydantic-ai.
fn pydantic(message: &Value) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut said = Chat::new("assistant");
    for part in list(&message["parts"]) {
        let id = &part["tool_call_id"];
        match word(part, "part_kind") {
            "system-prompt" => messages.push(json!({"role": "system", "content": part["content"]})),
            "user-prompt" => messages.push(json!({"role": "user", "content": part["content"]})),
            "tool-return" | "builtin-tool-return" => {
                let mut result = Chat::new("user");
                result.result(id, &part["content"]);
                if said.calls.is_empty() {
                    messages.extend(result.finish());
                } else {
                    said.results.extend(result.results);
                }
            }
            // Without the name of a tool it asks the model again.
            "retry-prompt" if part["tool_name"].is_null() => {
                messages.push(json!({"role": "user", "content": part["content"].to_string()}));
            }
            "retry-prompt" => {
                let mut result = Chat::new("user");
                result.result(id, &part["content"]);
                messages.extend(result.finish());
            }
            "text" => said.text(&part["content"]),
            "tool-call" | "builtin-tool-call" => said.call(id, &part["tool_name"], &part["args"]),
            _ => {}
        }
    }
    if word(message, "kind") == "response" {
        messages.extend(finish_in_order(said));
    }
    messages
}

/// A message of LlamaIndex in blocks.
fn llama_index(role: &str, message: &Value) -> Vec<Value> {
    let mut said = Chat::new(role);
    for one in list(&message["blocks"]) {
        match word(one, "block_type") {
            "text" => said.text(&one["text"]),
            "tool_call" => said.call(&one["tool_call_id"], &one["tool_name"], &one["tool_kwargs"]),
            _ => {}
        }
    }
    let extra = &message["additional_kwargs"];
    if said.calls.is_empty() {
        for call in list(&extra["tool_calls"]) {
            any_call(&mut said, call);
        }
    }
    if role == "tool" {
        let content = said.content.first().map_or(json!(""), |part| part["text"].clone());
        let mut result = Chat::new("tool");
        result.result(&extra["tool_call_id"], &content);
        return result.finish();
    }
    said.finish()
}

/// An item of Responses that is no message.
fn item(item: &Value) -> Option<Vec<Value>> {
    let kind = word(item, "type");
    let id = any(item, &["call_id", "id"]);
    let mut said = Chat::new("assistant");
    match kind {
        "function_call" => said.call(id, &item["name"], &item["arguments"]),
        "custom_tool_call" => said.call(id, &item["name"], &json!({"input": item["input"]})),
        "local_shell_call" | "shell_call" | "apply_patch_call" => said.call(id, &json!(kind), &item["action"]),
        kind if kind.ends_with("_call_output") => said.result(&item["call_id"], any(item, &["output", "content"])),
        "reasoning" | "item_reference" | "compaction" => return Some(Vec::new()),
        kind if kind.ends_with("_call") => return Some(Vec::new()),
        _ => return None,
    }
    Some(said.finish())
}
