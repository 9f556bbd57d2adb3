//! Tools, choices, limits and what only the provider reads, on their way to it; and what arrives that the API refuses.

use super::super::bodies::{deep, drop_member, history, on_schemas, tools};
use super::super::plant::{body, bugs as each, request, sent};
use super::{ALWAYS, ANTHROPIC, CHAT, OPENAI, RESPONSES, SOMETIMES};
use crate::gateway::places::{ALL, PROXY, TRANSLATING};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_apis::{OpaqueContent, ToolChoice};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const TOOLS: &[&str] = &[clause::GATE_TOOLS];
const FULL: &[&str] = &[clause::GATE_TOOLS_FULL];
const CHOICE: &[&str] = &[clause::GATE_CHOICE];
const OPAQUE: &[&str] = &[clause::GATE_OPAQUE];
const VALID: &[&str] = &[clause::GATE_VALID];
const CACHE: &[&str] = &[clause::GATE_CACHE];

/// The members that limit an answer.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

pub(super) fn bugs() -> Vec<Planted> {
    [of_tools(), choices(), opaque(), refused()].into_iter().flatten().flatten().collect()
}

fn of_tools() -> Vec<Vec<Planted>> {
    let on = |change: fn(&mut Value)| body(move |_, body| on_schemas(body, change));
    vec![
        each(
            "required-members-of-tools-lost",
            TOOLS,
            ALL,
            SOMETIMES,
            on(|schema| {
                if schema["required"].is_array() {
                    drop_member(schema, "required");
                }
            }),
        ),
        each(
            "enumerations-of-tools-lost",
            TOOLS,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["enum"].is_array() {
                    drop_member(schema, "enum");
                }
            }),
        ),
        each(
            "integers-of-tools-made-numbers",
            TOOLS,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["type"] == "integer" {
                    schema["type"] = "number".into();
                }
            }),
        ),
        each(
            "null-of-tools-lost",
            TOOLS,
            ALL,
            ALWAYS,
            on(|schema| {
                let first = list(&schema["type"]).iter().find(|kind| **kind != "null").cloned();
                if let Some(first) = first {
                    schema["type"] = first;
                }
                if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
                    choices.retain(|choice| choice["type"] != "null");
                }
            }),
        ),
        each(
            "references-of-tools-lost",
            TOOLS,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["$ref"].is_string() {
                    *schema = json!({});
                }
            }),
        ),
        each(
            "elements-of-lists-of-tools-lost",
            TOOLS,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["type"] == "array" {
                    drop_member(schema, "items");
                }
            }),
        ),
        each(
            "tools-beyond-thirty-two-lost",
            TOOLS,
            ALL,
            ALWAYS,
            body(|_, body| {
                if let Some(tools) = body.get_mut("tools").and_then(Value::as_array_mut) {
                    tools.truncate(32);
                }
            }),
        ),
        each(
            "tools-of-the-second-request-lost",
            TOOLS,
            ALL,
            ALWAYS,
            body(|course, body| {
                if course.ask_of_run >= 2 {
                    for name in ["tools", "tool_choice", "parallel_tool_calls"] {
                        drop_member(body, name);
                    }
                }
            }),
        ),
        each(
            "descriptions-of-tools-cut-to-their-first-line",
            FULL,
            ALL,
            ALWAYS,
            body(|_, body| {
                for tool in tools(body) {
                    let first = text(&tool["description"]).lines().next().unwrap_or_default().to_owned();
                    if first != tool["description"] {
                        tool["description"] = first.into();
                    }
                }
            }),
        ),
        each(
            "descriptions-of-members-lost",
            FULL,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["description"].is_string() {
                    drop_member(schema, "description");
                }
            }),
        ),
        each(
            "bounds-of-members-lost",
            FULL,
            ALL,
            ALWAYS,
            on(|schema| {
                for bound in
                    ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"]
                {
                    if !schema[bound].is_object() && !schema[bound].is_null() {
                        drop_member(schema, bound);
                    }
                }
            }),
        ),
        each(
            "closed-objects-of-tools-opened",
            FULL,
            ALL,
            ALWAYS,
            on(|schema| {
                if schema["additionalProperties"] == false {
                    drop_member(schema, "additionalProperties");
                }
            }),
        ),
    ]
}

fn choices() -> Vec<Vec<Planted>> {
    let on = |change: fn(&mut Value)| body(move |_, body| change(body));
    vec![
        each(
            "choice-of-tools-lost",
            CHOICE,
            ALL,
            SOMETIMES,
            on(|body| {
                let parallel = body["tool_choice"]["disable_parallel_tool_use"] == true;
                drop_member(body, "tool_choice");
                if parallel {
                    body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true});
                }
            }),
        ),
        each(
            "named-tool-made-any",
            CHOICE,
            TRANSLATING,
            ALWAYS,
            request(|_, request| {
                if let ToolChoice::Named(_) = request.choice {
                    request.choice = ToolChoice::Any;
                }
            }),
        ),
        each(
            "forbidden-calls-allowed",
            CHOICE,
            TRANSLATING,
            ALWAYS,
            request(|_, request| {
                if request.choice == ToolChoice::None {
                    request.choice = ToolChoice::Auto;
                }
            }),
        ),
        each(
            "choice-in-the-words-of-another-api",
            CHOICE,
            TRANSLATING.to(OPENAI),
            ALWAYS,
            on(|body| {
                if body["tool_choice"] == "required" {
                    body["tool_choice"] = "any".into();
                }
            }),
        ),
        each(
            "one-call-at-a-time-lost",
            CHOICE,
            ALL,
            SOMETIMES,
            on(|body| {
                drop_member(body, "parallel_tool_calls");
                if body["tool_choice"].is_object() {
                    drop_member(&mut body["tool_choice"], "disable_parallel_tool_use");
                }
            }),
        ),
        each(
            "one-call-at-a-time-lost-beside-a-named-tool",
            CHOICE,
            ALL,
            ALWAYS,
            on(|body| {
                if body["tool_choice"].is_object() && body["tool_choice"]["type"] != "auto" {
                    drop_member(body, "parallel_tool_calls");
                    drop_member(&mut body["tool_choice"], "disable_parallel_tool_use");
                }
            }),
        ),
        each(
            "limit-of-tokens-replaced",
            CHOICE,
            ALL,
            SOMETIMES,
            on(|body| {
                for name in LIMITS {
                    if body[name].is_number() {
                        body[name] = 8192.into();
                    }
                }
            }),
        ),
        each(
            "small-limits-of-tokens-raised",
            CHOICE,
            ALL,
            ALWAYS,
            on(|body| {
                for name in LIMITS {
                    if body[name].as_u64().is_some_and(|limit| limit < 32) {
                        body[name] = 32.into();
                    }
                }
            }),
        ),
        each(
            "stop-sequences-lost",
            CHOICE,
            ALL.from(&[threadspec::oracle::Api::OpenAiChat, threadspec::oracle::Api::Anthropic])
                .to(&[threadspec::oracle::Api::OpenAiChat, threadspec::oracle::Api::Anthropic]),
            SOMETIMES,
            on(|body| {
                drop_member(body, "stop");
                drop_member(body, "stop_sequences");
            }),
        ),
        each(
            "first-stop-sequence-alone",
            CHOICE,
            ALL.from(&[threadspec::oracle::Api::OpenAiChat, threadspec::oracle::Api::Anthropic])
                .to(&[threadspec::oracle::Api::OpenAiChat, threadspec::oracle::Api::Anthropic]),
            ALWAYS,
            on(|body| {
                for name in ["stop", "stop_sequences"] {
                    if let Some(stops) = body.get_mut(name).and_then(Value::as_array_mut) {
                        stops.truncate(1);
                    }
                }
            }),
        ),
    ]
}

/// The blocks of a history that only the provider reads.
fn is_thought(block: &Value) -> bool {
    matches!(text(&block["type"]), "thinking" | "redacted_thinking" | "reasoning")
}

fn opaque() -> Vec<Vec<Planted>> {
    vec![
        each(
            "thinking-of-the-history-lost",
            OPAQUE,
            PROXY.from(&[threadspec::oracle::Api::OpenAiResponses, threadspec::oracle::Api::Anthropic]),
            ALWAYS,
            body(|_, body| {
                history(body).retain(|item| !is_thought(item));
                for message in history(body) {
                    if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) {
                        blocks.retain(|block| !is_thought(block));
                    }
                }
            }),
        ),
        each(
            "redacted-thinking-lost",
            OPAQUE,
            PROXY.from(ANTHROPIC),
            ALWAYS,
            body(|_, body| {
                for message in history(body) {
                    if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) {
                        blocks.retain(|block| block["type"] != "redacted_thinking");
                    }
                }
            }),
        ),
        each(
            "signatures-of-thinking-shortened",
            OPAQUE,
            PROXY.from(ANTHROPIC),
            ALWAYS,
            body(|_, body| {
                deep(body, &|value| {
                    if let Some(signature) = value["signature"].as_str().filter(|text| text.len() > 8) {
                        value["signature"] = signature[..8].into();
                    }
                });
            }),
        ),
        each(
            "summaries-of-reasoning-lost",
            OPAQUE,
            PROXY.from(RESPONSES),
            ALWAYS,
            body(|_, body| {
                for item in history(body).iter_mut().filter(|item| item["type"] == "reasoning") {
                    item["summary"] = json!([]);
                    item["encrypted_content"] = "gone".into();
                }
            }),
        ),
        each(
            "thinking-made-without-a-signature",
            OPAQUE,
            TRANSLATING.from(RESPONSES).to(ANTHROPIC),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.body = Some(std::sync::Arc::new(|course, body| {
                    let request = threadspec_apis::ApiRequest::read(course.client, &course.asked);
                    let thoughts = request.messages.iter().flat_map(|message| &message.opaque).chain(&request.loose);
                    let thought = thoughts.into_iter().find_map(|part| match &part.content {
                        OpaqueContent::Text(text) => Some(text.clone()),
                        OpaqueContent::Reasoning { summary, .. } => Some(summary.clone()),
                        _ => None,
                    });
                    let Some(thought) = thought else { return };
                    let block = json!({"type": "thinking", "thinking": thought, "signature": ""});
                    let message = history(body).iter_mut().find(|message| message["role"] == "assistant");
                    if let Some(blocks) =
                        message.and_then(|message| message.get_mut("content").and_then(Value::as_array_mut))
                    {
                        blocks.insert(0, block);
                    }
                }));
            }),
        ),
    ]
}

fn refused() -> Vec<Vec<Planted>> {
    vec![
        each(
            "system-texts-among-the-messages",
            VALID,
            TRANSLATING.to(ANTHROPIC),
            SOMETIMES,
            body(|_, body| {
                if let Some(system) = list(&body["system"]).first().cloned() {
                    drop_member(body, "system");
                    history(body).insert(0, json!({"role": "system", "content": [system]}));
                }
            }),
        ),
        each(
            "empty-texts-sent-on",
            VALID,
            TRANSLATING.to(ANTHROPIC),
            ALWAYS,
            body(|_, body| {
                for message in history(body).iter_mut().filter(|message| message["role"] == "assistant") {
                    if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut)
                        && !blocks.iter().any(|block| block["type"] == "text")
                    {
                        blocks.insert(0, json!({"type": "text", "text": ""}));
                    }
                }
            }),
        ),
        each(
            "arguments-sent-as-a-value",
            VALID,
            TRANSLATING.to(CHAT),
            ALWAYS,
            body(|_, body| {
                for call in super::super::bodies::calls(body) {
                    if let Ok(args) = serde_json::from_str::<Value>(text(call.args)) {
                        *call.args = args;
                    }
                }
            }),
        ),
        each(
            "texts-of-the-model-as-input",
            VALID,
            TRANSLATING.to(RESPONSES),
            ALWAYS,
            body(|_, body| {
                for item in history(body).iter_mut().filter(|item| item["role"] == "assistant") {
                    if let Some(part) = item.pointer_mut("/content/0") {
                        part["type"] = "input_text".into();
                    }
                }
            }),
        ),
        each(
            "version-of-the-api-not-sent",
            VALID,
            TRANSLATING.to(ANTHROPIC),
            ALWAYS,
            sent(|_, request| {
                request.headers.retain(|(name, _)| name != "anthropic-version");
            }),
        ),
        each(
            "number-of-the-request-in-the-system-text",
            CACHE,
            ALL,
            ALWAYS,
            body(|course, body| {
                // In the place where the cache begins.
                for tool in tools(body).into_iter().take(1) {
                    let described = format!("{} {}", " ".repeat(course.ask), text(&tool["description"]));
                    tool["description"] = described.into();
                }
            }),
        ),
    ]
}
