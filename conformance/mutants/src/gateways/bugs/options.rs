//! Tools, choices, limits and what only the provider reads, on their way to it; and what arrives that the API refuses.

use crate::gateways::prelude::*;

/// The members that limit an answer.
const LIMITS: [&str; 3] = ["max_tokens", "max_completion_tokens", "max_output_tokens"];

pub(super) fn bugs() -> Vec<Planted> {
    [of_tools(), choices(), opaque(), refused()].into_iter().flatten().flatten().collect()
}

fn of_tools() -> Vec<Vec<Planted>> {
    vec![
        TOOLS.when(SOMETIMES).schemas_without("required-members-of-tools-lost", "required", Value::is_array),
        TOOLS.schemas_without("enumerations-of-tools-lost", "enum", Value::is_array),
        TOOLS.schemas("integers-of-tools-made-numbers", |schema| {
            if schema["type"] == "integer" {
                schema["type"] = "number".into();
            }
        }),
        TOOLS.schemas("null-of-tools-lost", |schema| {
            let first = list(&schema["type"]).iter().find(|kind| **kind != "null").cloned();
            if let Some(first) = first {
                schema["type"] = first;
            }
            if let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) {
                choices.retain(|choice| choice["type"] != "null");
            }
        }),
        TOOLS.schemas("references-of-tools-lost", |schema| {
            if schema["$ref"].is_string() {
                *schema = json!({});
            }
        }),
        TOOLS.schemas("elements-of-lists-of-tools-lost", |schema| {
            if schema["type"] == "array" {
                drop_member(schema, "items");
            }
        }),
        TOOLS.bodies("tools-beyond-thirty-two-lost", |body| {
            if let Some(tools) = body.get_mut("tools").and_then(Value::as_array_mut) {
                tools.truncate(32);
            }
        }),
        TOOLS.body("tools-of-the-second-request-lost", |course, body| {
            if course.ask_of_run >= 2 {
                for name in ["tools", "tool_choice", "parallel_tool_calls"] {
                    drop_member(body, name);
                }
            }
        }),
        FULL.bodies("descriptions-of-tools-cut-to-their-first-line", |body| {
            for tool in tools(body) {
                let first = text(&tool["description"]).lines().next().unwrap_or_default().to_owned();
                if first != tool["description"] {
                    tool["description"] = first.into();
                }
            }
        }),
        FULL.schemas_without("descriptions-of-members-lost", "description", Value::is_string),
        FULL.schemas("bounds-of-members-lost", |schema| {
            for bound in ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "pattern", "format"] {
                if !schema[bound].is_object() && !schema[bound].is_null() {
                    drop_member(schema, bound);
                }
            }
        }),
        FULL.schemas_without("closed-objects-of-tools-opened", "additionalProperties", |value| *value == false),
    ]
}

fn choices() -> Vec<Vec<Planted>> {
    vec![
        CHOICE.when(SOMETIMES).bodies("choice-of-tools-lost", |body| {
            let parallel = body["tool_choice"]["disable_parallel_tool_use"] == true;
            drop_member(body, "tool_choice");
            if parallel {
                body["tool_choice"] = json!({"type": "auto", "disable_parallel_tool_use": true});
            }
        }),
        CHOICE.at(TRANSLATING).request("named-tool-made-any", |_, request| {
            if let ToolChoice::Named(_) = request.choice {
                request.choice = ToolChoice::Any;
            }
        }),
        CHOICE.at(TRANSLATING).request("forbidden-calls-allowed", |_, request| {
            if request.choice == ToolChoice::None {
                request.choice = ToolChoice::Auto;
            }
        }),
        CHOICE.at(TRANSLATING.to(OPENAI)).bodies("choice-in-the-words-of-another-api", |body| {
            if body["tool_choice"] == "required" {
                body["tool_choice"] = "any".into();
            }
        }),
        CHOICE.when(SOMETIMES).bodies("one-call-at-a-time-lost", |body| {
            drop_member(body, "parallel_tool_calls");
            if body["tool_choice"].is_object() {
                drop_member(&mut body["tool_choice"], "disable_parallel_tool_use");
            }
        }),
        CHOICE.bodies("one-call-at-a-time-lost-beside-a-named-tool", |body| {
            if body["tool_choice"].is_object() && body["tool_choice"]["type"] != "auto" {
                drop_member(body, "parallel_tool_calls");
                drop_member(&mut body["tool_choice"], "disable_parallel_tool_use");
            }
        }),
        CHOICE.when(SOMETIMES).bodies("limit-of-tokens-replaced", |body| {
            for name in LIMITS {
                if body[name].is_number() {
                    body[name] = 8192.into();
                }
            }
        }),
        CHOICE.bodies("small-limits-of-tokens-raised", |body| {
            for name in LIMITS {
                if body[name].as_u64().is_some_and(|limit| limit < 32) {
                    body[name] = 32.into();
                }
            }
        }),
        CHOICE.at(ALL.from(CHAT_OR_ANTHROPIC).to(CHAT_OR_ANTHROPIC)).when(SOMETIMES).bodies(
            "stop-sequences-lost",
            |body| {
                drop_member(body, "stop");
                drop_member(body, "stop_sequences");
            },
        ),
        CHOICE.at(ALL.from(CHAT_OR_ANTHROPIC).to(CHAT_OR_ANTHROPIC)).bodies("first-stop-sequence-alone", |body| {
            for name in ["stop", "stop_sequences"] {
                if let Some(stops) = body.get_mut(name).and_then(Value::as_array_mut) {
                    stops.truncate(1);
                }
            }
        }),
    ]
}

/// The blocks of a history that only the provider reads.
fn is_thought(block: &Value) -> bool {
    matches!(text(&block["type"]), "thinking" | "redacted_thinking" | "reasoning")
}

fn opaque() -> Vec<Vec<Planted>> {
    vec![
        OPAQUE.at(PROXY.from(RESPONSES_OR_ANTHROPIC)).bodies("thinking-of-the-history-lost", |body| {
            history(body).retain(|item| !is_thought(item));
            for message in history(body) {
                if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) {
                    blocks.retain(|block| !is_thought(block));
                }
            }
        }),
        OPAQUE.at(PROXY.from(ANTHROPIC)).bodies("redacted-thinking-lost", |body| {
            for message in history(body) {
                if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut) {
                    blocks.retain(|block| block["type"] != "redacted_thinking");
                }
            }
        }),
        OPAQUE.at(PROXY.from(ANTHROPIC)).inside("signatures-of-thinking-shortened", |value| {
            if let Some(signature) = value["signature"].as_str().filter(|text| text.len() > 8) {
                value["signature"] = signature[..8].into();
            }
        }),
        OPAQUE.at(PROXY.from(RESPONSES)).items("summaries-of-reasoning-lost", "reasoning", |item| {
            item["summary"] = json!([]);
            item["encrypted_content"] = "gone".into();
        }),
        OPAQUE.at(TRANSLATING.from(RESPONSES).to(ANTHROPIC)).body(
            "thinking-made-without-a-signature",
            |course, body| {
                let request = ApiRequest::read(course.client, &course.asked);
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
            },
        ),
    ]
}

fn refused() -> Vec<Vec<Planted>> {
    vec![
        VALID.at(TRANSLATING.to(ANTHROPIC)).when(SOMETIMES).bodies("system-texts-among-the-messages", |body| {
            if let Some(system) = list(&body["system"]).first().cloned() {
                drop_member(body, "system");
                history(body).insert(0, json!({"role": "system", "content": [system]}));
            }
        }),
        VALID.at(TRANSLATING.to(ANTHROPIC)).said_by("empty-texts-sent-on", "assistant", |message| {
            if let Some(blocks) = message.get_mut("content").and_then(Value::as_array_mut)
                && !blocks.iter().any(|block| block["type"] == "text")
            {
                blocks.insert(0, json!({"type": "text", "text": ""}));
            }
        }),
        VALID.at(TRANSLATING.to(CHAT)).bodies("arguments-sent-as-a-value", |body| {
            for call in calls(body) {
                if let Ok(args) = serde_json::from_str::<Value>(text(call.args)) {
                    *call.args = args;
                }
            }
        }),
        VALID.at(TRANSLATING.to(RESPONSES)).said_by("texts-of-the-model-as-input", "assistant", |item| {
            if let Some(part) = item.pointer_mut("/content/0") {
                part["type"] = "input_text".into();
            }
        }),
        VALID.at(TRANSLATING.to(ANTHROPIC)).sent("version-of-the-api-not-sent", |_, request| {
            request.headers.retain(|(name, _)| name != "anthropic-version");
        }),
        CACHE.body("number-of-the-request-in-the-system-text", |course, body| {
            // In the place where the cache begins.
            for tool in tools(body).into_iter().take(1) {
                let described = format!("{} {}", " ".repeat(course.ask), text(&tool["description"]));
                tool["description"] = described.into();
            }
        }),
    ]
}
