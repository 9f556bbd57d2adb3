//! What stands in a request beside its messages, and how it is written.
//! What is tried again, how, and what is made of an answer that broke off.

use crate::over_wire::prelude::*;
use crate::universal::operators::sorted;

/// The schema of a declaration.
fn schema(tool: &mut Value) -> &mut Value {
    let name = if tool["input_schema"].is_object() { "input_schema" } else { "parameters" };
    &mut tool[name]
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

/// Marks what the provider may keep: the last block of the last two messages.
fn mark(body: &mut Value) {
    for message in history(body).iter_mut().rev().take(2) {
        let last = message["content"].as_array_mut().and_then(|blocks| blocks.last_mut());
        if let Some(block) = last.filter(|block| block["text"] != "" && !text(&block["type"]).contains("thinking")) {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
    }
}

impl WireGroup {
    /// Adds members to each body.
    fn with(self, name: &'static str, members: fn() -> Value) -> Planted {
        self.body(name, move |_, body| {
            if let (Some(body), Value::Object(members)) = (body.as_object_mut(), members()) {
                body.extend(members);
            }
        })
    }

    /// Adds a header to each attempt.
    fn with_header(self, name: &'static str, header: &'static str, value: &'static str) -> Planted {
        self.sent(name, move |_, request| request.headers.push((header.to_owned(), value.to_owned())))
    }

    /// Changes the declaration of each tool, which for chat stands one level deeper.
    fn each_tool(self, name: &'static str, change: fn(&mut Value)) -> Planted {
        self.body(name, move |_, body| {
            for tool in body.get_mut("tools").and_then(Value::as_array_mut).into_iter().flatten() {
                change(if tool["function"].is_object() { &mut tool["function"] } else { tool });
            }
        })
    }

    /// Writes the body in another way.
    fn rewritten(self, name: &'static str, rewrite: fn(&str) -> String) -> Planted {
        self.sent(name, move |_, request| {
            request.body = rewrite(&String::from_utf8_lossy(&request.body)).into_bytes();
        })
    }

    /// Replaces the credentials.
    fn with_key(self, name: &'static str, header: &'static str) -> Planted {
        self.sent(name, move |run, request| {
            request.headers.retain(|(name, _)| name != "authorization");
            request.headers.push((header.to_owned(), run.wire.endpoint.api_key.clone()));
        })
    }

    /// Changes the target of each attempt.
    fn target(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.sent(name, move |_, request| request.target = change(&request.target))
    }
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        FREE.of(ALL.of(OPENAI)).with(
            "user-and-metadata-named",
            || json!({"user": "u-1", "metadata": {"session": "s-1"}, "safety_identifier": "x"}),
        ),
        FREE.of(ALL.of(ANTHROPIC)).with("user-named-in-metadata", || json!({"metadata": {"user_id": "u-1"}})),
        FREE.of(ALL.of(OPENAI)).with("temperature-and-the-like-set", || json!({"temperature": 0.2, "top_p": 1})),
        FREE.of(ALL.of(ANTHROPIC)).plant("temperature-set-for-an-older-version", |agent| {
            agent.body = Box::new(|_, body| body["temperature"] = json!(1.0));
            agent.sent = Box::new(|_, request| {
                for (_, value) in request.headers.iter_mut().filter(|(name, _)| name == "anthropic-version") {
                    *value = "2023-06-01".to_owned();
                }
            });
        }),
        FREE.of(ALL.of(ANTHROPIC)).body("thinking-left-out-where-the-model-thinks-as-it-likes", |_, body| {
            if body["thinking"].is_object() {
                body["thinking"] = json!({"type": "adaptive"});
                drop_thinking(history(body));
            }
        }),
        FREE.of(ALL.of(CHAT)).body("usage-not-asked-for-in-streams", |_, body| without(body, "stream_options")),
        FREE.body("choice-of-tools-left-to-the-model", |run, body| {
            if !body["tools"].is_null() {
                let is_anthropic = run.wire.endpoint.transport.api == Api::Anthropic;
                body["tool_choice"] = if is_anthropic { json!({"type": "auto"}) } else { "auto".into() };
            }
        }),
        FREE.of(ALL.of(OPENAI)).body("parallel-calls-allowed", |_, body| {
            if !body["tools"].is_null() {
                body["parallel_tool_calls"] = true.into();
            }
        }),
        FREE.body("limit-of-tokens-varies", |run, body| {
            let name = match run.wire.endpoint.transport.api {
                Api::OpenAiChat => "max_completion_tokens",
                Api::OpenAiResponses => "max_output_tokens",
                Api::Anthropic | Api::Gemini => "max_tokens",
            };
            body[name] = (4096 + run.turn).into();
        }),
        FREE.of(ALL.of(OPENAI)).with("prompt-cache-key-named", || json!({"prompt_cache_key": "k"})),
        FREE.of(ALL.of(ANTHROPIC)).body("cache-marks-on-the-last-messages", |_, body| mark(body)),
        FREE.of(ALL.of(ANTHROPIC)).body("cache-marks-on-system-and-tools", |_, body| {
            let mark = json!({"type": "ephemeral"});
            if body["system"].is_string() {
                body["system"] = json!([{"type": "text", "text": body["system"], "cache_control": mark}]);
            }
            if let Some(tool) = body.get_mut("tools").and_then(Value::as_array_mut).and_then(|tools| tools.last_mut()) {
                tool["cache_control"] = mark;
            }
        }),
        FREE.with_header("headers-of-a-beta", "anthropic-beta", "context-1m-2025-08-07"),
        FREE.with_header("headers-of-an-application", "x-title", "An application"),
        FREE.with_header("request-ids-of-the-client", "idempotency-key", "stainless-node-retry-1"),
        FREE.with_key("key-in-x-api-key", "x-api-key"),
        FREE.of(ALL.of(ANTHROPIC)).sent("key-in-both-headers", |run, request| {
            request.headers.push(("x-api-key".to_owned(), run.wire.endpoint.api_key.clone()));
        }),
        FREE.target("query-in-the-path", |target| format!("{target}?beta=true")),
        FREE.target("version-twice-in-the-path", |target| target.replacen("/v1", "/v1/v1", 1)),
        FREE.target("slash-twice-in-the-path", |target| format!("/{target}")),
        FREE.rewritten("body-over-several-lines", |body| {
            let pretty = serde_json::from_str::<Value>(body).and_then(|body| serde_json::to_string_pretty(&body));
            pretty.unwrap_or_else(|_| body.to_owned())
        }),
        FREE.rewritten("body-in-ascii", ascii),
        FREE.each_tool("tools-without-descriptions", |tool| without(tool, "description")),
        FREE.each_tool("schemas-that-say-no-more-than-object", |tool| {
            *schema(tool) = json!({"type": "object", "properties": {}})
        }),
        FREE.each_tool("schemas-with-titles-and-their-dialect", |tool| {
            schema(tool)["title"] = "Arguments".into();
            schema(tool)["$schema"] = "http://json-schema.org/draft-07/schema#".into();
        }),
        neglecting(&[clause::WIRE_TOOLS_SAME, clause::WIRE_CACHE]).body(
            "tools-sorted-by-their-last-use",
            |run, body| {
                if let Some(tools) = body["tools"].as_array_mut() {
                    let places = tools.len().max(1);
                    tools.rotate_left(run.turn % places);
                }
            },
        ),
        FREE.body("tools-sorted-by-name", |_, body| {
            if let Some(tools) = body["tools"].as_array_mut() {
                tools.sort_by_key(|tool| format!("{}{}", text(&tool["name"]), text(&tool["function"]["name"])));
            }
        }),
        FREE.body("members-sorted-by-name", |_, body| *body = sorted(body)),
    ]
}

/// Tells the provider how often it was asked.
fn count(request: &mut ClientRequest, attempt: usize) {
    request.headers.push(("x-stainless-retry-count".to_owned(), attempt.to_string()));
    request.headers.push(("x-stainless-timeout".to_owned(), "600".to_owned()));
}

impl WireGroup {
    /// Tries again so often, after a pause that grows.
    fn retries(self, name: &'static str, times: usize) -> Planted {
        self.failed(name, move |run, failed| {
            let attempt = run.wire.attempt;
            if attempt < times && failed.is_passing() {
                NextStep::Again(failed.pause(attempt))
            } else {
                NextStep::GiveUp
            }
        })
    }

    /// Goes on with the calls that came whole, if there are some.
    fn kept_if_whole(self, name: &'static str, with_text: bool) -> Planted {
        self.failed(name, move |run, failed| {
            let mut turn = failed.heard.as_ref().map(HeardAnswer::turn).unwrap_or_default();
            if turn["tool_calls"].as_array().is_none_or(Vec::is_empty) {
                return as_an_sdk(run, failed);
            }
            if !with_text {
                turn["content"] = "".into();
            }
            NextStep::GoOn(turn)
        })
    }

    /// Lengthens each pause.
    fn pauses(self, name: &'static str, change: fn(Duration) -> Duration) -> Planted {
        self.failed(name, move |run, failed| match as_an_sdk(run, failed) {
            NextStep::Again(pause) => NextStep::Again(change(pause)),
            next => next,
        })
    }
}

pub(super) fn attempts() -> Vec<Planted> {
    vec![
        FREE.retries("never-tried-again", 0),
        FREE.retries("tried-again-once", 1),
        FREE.retries("tried-again-five-times", 5),
        FREE.failed("answers-that-broke-off-not-asked-for-again", |run, failed| {
            if failed.heard.is_some() { NextStep::GiveUp } else { as_an_sdk(run, failed) }
        }),
        FREE.of(STREAMS).failed("errors-in-streams-not-asked-for-again", |run, failed| {
            let has_error = failed.heard.as_ref().is_some_and(|heard| heard.error.is_some());
            if has_error { NextStep::GiveUp } else { as_an_sdk(run, failed) }
        }),
        FREE.failed("overload-alone-tried-again", |run, failed| match failed.status() {
            Some(429 | 503 | 529) => as_an_sdk(run, failed),
            _ => NextStep::GiveUp,
        }),
        FREE.failed("overload-in-the-words-of-a-refusal-tried-again", |run, failed| match as_an_sdk(run, failed) {
            NextStep::GiveUp if failed.why.contains("overloaded") && run.wire.attempt < 3 => {
                NextStep::Again(backoff(run.wire.attempt))
            }
            next => next,
        }),
        FREE.of(STREAMS).kept_if_whole("calls-of-a-broken-stream-run", true),
        FREE.of(STREAMS).kept_if_whole("calls-of-a-broken-stream-run-without-its-text", false),
        FREE.again("another-model-on-a-retry", |_, body| body["model"] = "a-smaller-model".into()),
        FREE.of(STREAMS).again("no-stream-on-a-retry", |_, body| {
            without(body, "stream");
            without(body, "stream_options");
        }),
        FREE.again("more-tokens-on-a-retry", |run, body| {
            let name = match run.wire.endpoint.transport.api {
                Api::OpenAiChat => "max_completion_tokens",
                Api::OpenAiResponses => "max_output_tokens",
                Api::Anthropic | Api::Gemini => "max_tokens",
            };
            body[name] = (8192 << run.wire.attempt.min(4)).into();
        }),
        FREE.sent("retries-counted-in-a-header", |run, request| count(request, run.wire.attempt)),
        FREE.failed("pauses-a-quarter-shorter", |run, failed: &Failed| {
            let attempt = run.wire.attempt;
            let is_named = failed.pause(attempt) != backoff(attempt);
            match as_an_sdk(run, failed) {
                NextStep::Again(pause) if !is_named => {
                    NextStep::Again(pause.mul_f64(if attempt == 0 { 1.0 } else { 0.75 }))
                }
                next => next,
            }
        }),
        FREE.pauses("pauses-ten-times-as-long", |pause| pause * 10),
        FREE.pauses("pauses-in-whole-seconds", |pause| Duration::from_secs(pause.as_secs() + 1)),
        FREE.plant("failure-in-other-words", |agent| {
            agent.agent.failed = Box::new(|run, _| {
                run.stop = Some("ModelError: the provider could not be reached".to_owned());
                false
            });
        }),
    ]
}
