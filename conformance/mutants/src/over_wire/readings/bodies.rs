//! What stands in a request beside its messages, and how it is written.

use super::{neglecting, reading};
use crate::over_wire::bugs::{drop_thinking, history};
use crate::planted::Planted;
use crate::wire::modes::ALL;
use crate::wire::{Modes, WireAgent, without};
use serde_json::{Map, Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::text;

const OPENAI: Modes = ALL.of(&[Api::OpenAiChat, Api::OpenAiResponses]);
const ANTHROPIC: Modes = ALL.of(&[Api::Anthropic]);

/// Adds members to each body.
fn with(agent: &mut WireAgent, members: fn() -> Value) {
    agent.body = Box::new(move |_, body| {
        if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members()) {
            body.extend(members);
        }
    });
}

/// Adds a header to each attempt.
fn with_header(agent: &mut WireAgent, name: &'static str, value: &'static str) {
    agent.sent = Box::new(move |_, request| request.headers.push((name.to_owned(), value.to_owned())));
}

/// Changes the declaration of each tool, which for chat stands one level deeper.
fn on_tools(agent: &mut WireAgent, change: fn(&mut Value)) {
    agent.body = Box::new(move |_, body| {
        for tool in body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
            change(if tool["function"].is_object() { &mut tool["function"] } else { tool });
        }
    });
}

/// The schema of a declaration.
fn schema(tool: &mut Value) -> &mut Value {
    let name = if tool["input_schema"].is_object() { "input_schema" } else { "parameters" };
    &mut tool[name]
}

/// Writes the body in another way.
fn rewritten(agent: &mut WireAgent, rewrite: fn(&str) -> String) {
    agent.sent = Box::new(move |_, request| {
        request.body = rewrite(&String::from_utf8_lossy(&request.body)).into_bytes();
    });
}

/// JSON text with an escape for each character beyond ASCII.
fn ascii(json: &str) -> String {
    let mut escaped = String::new();
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            let units =
                character.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
            escaped.push_str(&units);
        }
    }
    escaped
}

/// Replaces the credentials.
fn with_key(agent: &mut WireAgent, name: &'static str) {
    agent.sent = Box::new(move |run, request| {
        request.headers.retain(|(name, _)| name != "authorization");
        request.headers.push((name.to_owned(), run.wire.endpoint.api_key.clone()));
    });
}

/// Changes the target of each attempt.
fn on_target(agent: &mut WireAgent, change: fn(&str) -> String) {
    agent.sent = Box::new(move |_, request| request.target = change(&request.target));
}

/// Marks what the provider may keep: the last block of the last two messages.
fn mark(body: &mut Value) {
    for message in history(body).iter_mut().rev().take(2) {
        let last = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut());
        if let Some(block) = last.filter(|block| block["text"] != "" && !text(&block["type"]).contains("thinking")) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        reading("user-and-metadata-named", OPENAI, |agent| {
            with(agent, || json!({"user": "u-1", "metadata": {"session": "s-1"}, "safety_identifier": "x"}));
        }),
        reading("user-named-in-metadata", ANTHROPIC, |agent| with(agent, || json!({"metadata": {"user_id": "u-1"}}))),
        reading("temperature-and-the-like-set", OPENAI, |agent| {
            with(agent, || json!({"temperature": 0.2, "top_p": 1}))
        }),
        reading("temperature-set-for-an-older-version", ANTHROPIC, |agent| {
            with(agent, || json!({"temperature": 1.0}));
            agent.sent = Box::new(|_, request| {
                for (_, value) in request.headers.iter_mut().filter(|(name, _)| name == "anthropic-version") {
                    *value = "2023-06-01".to_owned();
                }
            });
        }),
        reading("thinking-left-out-where-the-model-thinks-as-it-likes", ANTHROPIC, |agent| {
            agent.body = Box::new(|_, body| {
                if body["thinking"].is_object() {
                    body["thinking"] = json!({"type": "adaptive"});
                    drop_thinking(history(body));
                }
            });
        }),
        reading("usage-not-asked-for-in-streams", ALL.of(&[Api::OpenAiChat]), |agent| {
            agent.body = Box::new(|_, body| without(body, "stream_options"));
        }),
        reading("choice-of-tools-left-to-the-model", ALL, |agent| {
            agent.body = Box::new(|run, body| {
                if !body["tools"].is_null() {
                    let is_anthropic = run.wire.endpoint.transport.api == Api::Anthropic;
                    body["tool_choice"] = if is_anthropic { json!({"type": "auto"}) } else { "auto".into() };
                }
            });
        }),
        reading("parallel-calls-allowed", OPENAI, |agent| {
            agent.body = Box::new(|_, body| {
                if !body["tools"].is_null() {
                    body["parallel_tool_calls"] = true.into();
                }
            });
        }),
        reading("limit-of-tokens-varies", ALL, |agent| {
            agent.body = Box::new(|run, body| {
                let name = match run.wire.endpoint.transport.api {
                    Api::OpenAiChat => "max_completion_tokens",
                    Api::OpenAiResponses => "max_output_tokens",
                    Api::Anthropic | Api::Gemini => "max_tokens",
                };
                body[name] = (4096 + run.turn).into();
            });
        }),
        reading("prompt-cache-key-named", OPENAI, |agent| with(agent, || json!({"prompt_cache_key": "k"}))),
        reading("cache-marks-on-the-last-messages", ANTHROPIC, |agent| agent.body = Box::new(|_, body| mark(body))),
        reading("cache-marks-on-system-and-tools", ANTHROPIC, |agent| {
            agent.body = Box::new(|_, body| {
                let mark = json!({"type": "ephemeral"});
                if body["system"].is_string() {
                    body["system"] = json!([{"type": "text", "text": body["system"], "cache_control": mark}]);
                }
                if let Some(tool) =
                    body.get_mut("tools").and_then(Value::as_array_mut).and_then(|tools| tools.last_mut())
                {
                    tool["cache_control"] = mark;
                }
            });
        }),
        reading("headers-of-a-beta", ALL, |agent| with_header(agent, "anthropic-beta", "context-1m-2025-08-07")),
        reading("headers-of-an-application", ALL, |agent| with_header(agent, "x-title", "An application")),
        reading("request-ids-of-the-client", ALL, |agent| {
            with_header(agent, "idempotency-key", "stainless-node-retry-1")
        }),
        reading("key-in-x-api-key", ALL, |agent| with_key(agent, "x-api-key")),
        reading("key-in-both-headers", ANTHROPIC, |agent| {
            agent.sent = Box::new(|run, request| {
                request.headers.push(("x-api-key".to_owned(), run.wire.endpoint.api_key.clone()));
            });
        }),
        reading("query-in-the-path", ALL, |agent| on_target(agent, |target| format!("{target}?beta=true"))),
        reading("version-twice-in-the-path", ALL, |agent| {
            on_target(agent, |target| target.replacen("/v1", "/v1/v1", 1))
        }),
        reading("slash-twice-in-the-path", ALL, |agent| on_target(agent, |target| format!("/{target}"))),
        reading("body-over-several-lines", ALL, |agent| {
            rewritten(agent, |body| {
                let pretty = serde_json::from_str::<Value>(body).and_then(|body| serde_json::to_string_pretty(&body));
                pretty.unwrap_or_else(|_| body.to_owned())
            });
        }),
        reading("body-in-ascii", ALL, |agent| rewritten(agent, ascii)),
        reading("tools-without-descriptions", ALL, |agent| on_tools(agent, |tool| without(tool, "description"))),
        reading("schemas-that-say-no-more-than-object", ALL, |agent| {
            on_tools(agent, |tool| *schema(tool) = json!({"type": "object", "properties": {}}));
        }),
        reading("schemas-with-titles-and-their-dialect", ALL, |agent| {
            on_tools(agent, |tool| {
                schema(tool)["title"] = "Arguments".into();
                schema(tool)["$schema"] = "http://json-schema.org/draft-07/schema#".into();
            });
        }),
        neglecting("tools-sorted-by-their-last-use", &[clause::WIRE_TOOLS_SAME, clause::WIRE_CACHE], ALL, |agent| {
            agent.body = Box::new(|run, body| {
                if let Some(tools) = body["tools"].as_array_mut() {
                    let places = tools.len().max(1);
                    tools.rotate_left(run.turn % places);
                }
            });
        }),
        reading("tools-sorted-by-name", ALL, |agent| {
            agent.body = Box::new(|_, body| {
                if let Some(tools) = body["tools"].as_array_mut() {
                    tools.sort_by_key(|tool| format!("{}{}", text(&tool["name"]), text(&tool["function"]["name"])));
                }
            });
        }),
        reading("members-sorted-by-name", ALL, |agent| {
            agent.body = Box::new(|_, body| *body = sorted(body));
        }),
    ]
}

/// A value with the members of its objects in the order of their names.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(String, Value)> =
                members.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            members.into_iter().collect::<Map<_, _>>().into()
        }
        Value::Array(elements) => elements.iter().map(sorted).collect(),
        other => other.clone(),
    }
}
