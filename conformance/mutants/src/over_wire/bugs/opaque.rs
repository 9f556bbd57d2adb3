//! WIRE-OPAQUE and WIRE-OPAQUE-BACK: what only the provider reads.
//! WIRE-CACHE: the same in other words, so that the provider must read it all again.

use crate::over_wire::prelude::*;

fn is_thinking(block: &Value) -> bool {
    ["thinking", "redacted_thinking"].contains(&text(&block["type"]))
}

/// Drops the thinking of messages.
pub(in crate::over_wire) fn drop_thinking(messages: &mut [Value]) {
    for blocks in messages.iter_mut().filter_map(|message| message["content"].as_array_mut()) {
        blocks.retain(|block| !is_thinking(block));
    }
}

/// Drops the reasoning items of a body.
fn drop_reasoning(body: &mut Value) {
    history(body).retain(|item| item["type"] != "reasoning");
}

impl WireGroup {
    /// Changes what only the provider reads.
    fn opaque(self, name: &'static str, change: impl Fn(&mut Value) + Copy + Send + Sync + 'static) -> Planted {
        self.heard(name, move |_, heard| heard.parts_of("opaque").for_each(|part| change(&mut part["raw"])))
    }

    /// Changes each text in it that is its own proof.
    fn proofs(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.opaque(name, move |raw| {
            for member in ["signature", "data", "encrypted_content"] {
                if raw[member].is_string() {
                    raw[member] = change(text(&raw[member])).into();
                }
            }
        })
    }

    /// Drops parts of an answer.
    fn drop_parts(self, name: &'static str, drops: fn(&Value) -> bool) -> Planted {
        self.heard(name, move |_, heard: &mut HeardAnswer| {
            heard.parts.retain(|part| part["type"] != "opaque" || !drops(&part["raw"]))
        })
    }

    /// Changes the blocks of each assistant message that has calls.
    fn blocks(self, name: &'static str, change: impl Fn(&mut Vec<Value>) + Copy + Send + Sync + 'static) -> Planted {
        self.body(name, move |_, body| {
            for message in history(body).iter_mut().filter(|message| message["role"] == "assistant") {
                if let Some(blocks) = message["content"].as_array_mut() {
                    change(blocks);
                }
            }
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        OPAQUE.of(ALL.of(ANTHROPIC)).opaque("signatures-dropped", |raw| without(raw, "signature")),
        OPAQUE.of(ALL.of(ANTHROPIC)).opaque("signatures-emptied", |raw| {
            if raw["signature"].is_string() {
                raw["signature"] = "".into();
            }
        }),
        OPAQUE
            .of(ALL.of(&[Api::OpenAiResponses, Api::Anthropic]))
            .proofs("proofs-without-their-padding", |proof| proof.trim_end_matches('=').to_owned()),
        OPAQUE
            .of(ALL.of(&[Api::OpenAiResponses, Api::Anthropic]))
            .proofs("proofs-for-urls", |proof| proof.replace('+', "-").replace('/', "_")),
        OPAQUE
            .of(ALL.of(&[Api::OpenAiResponses, Api::Anthropic]))
            .proofs("proofs-cut-to-16-characters", |proof| cut(proof, 16)),
        OPAQUE.of(ALL.of(&[Api::OpenAiResponses, Api::Anthropic])).proofs("proofs-in-lower-case", str::to_lowercase),
        OPAQUE.of(ALL.of(ANTHROPIC)).drop_parts("redacted-thinking-dropped", |raw| raw["type"] == "redacted_thinking"),
        OPAQUE.of(ALL.of(ANTHROPIC)).heard("thinking-beside-redacted-thinking-dropped", |_, heard| {
            if heard.parts.iter().any(|part| part["raw"]["type"] == "redacted_thinking") {
                heard.parts.retain(|part| part["raw"]["type"] != "thinking");
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).drop_parts("thinking-dropped", |_| true),
        OPAQUE.of(ALL.of(ANTHROPIC)).heard("second-thinking-dropped", |_, heard| {
            let mut number = 0;
            heard.parts.retain(|part| {
                number += usize::from(part["type"] == "opaque");
                part["type"] != "opaque" || number < 2
            });
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).opaque("thinking-trimmed", |raw| {
            if raw["thinking"].is_string() {
                raw["thinking"] = text(&raw["thinking"]).trim().into();
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).opaque("thinking-emptied", |raw| {
            if raw["thinking"].is_string() {
                raw["thinking"] = "".into();
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).heard("thinking-joined", |_, heard| {
            let all: String = heard.parts_of("opaque").map(|part| text(&part["raw"]["thinking"]).to_owned()).collect();
            let mut is_first = true;
            heard.parts.retain_mut(|part| {
                if part["raw"]["type"] != "thinking" {
                    return true;
                }
                part["raw"]["thinking"] = (&*all).into();
                std::mem::take(&mut is_first)
            });
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).heard("thinking-in-the-opposite-order", |_, heard| {
            let raws: Vec<Value> = heard.parts_of("opaque").map(|part| part["raw"].clone()).collect();
            heard.parts_of("opaque").zip(raws.into_iter().rev()).for_each(|(part, raw)| part["raw"] = raw);
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).blocks("thinking-behind-the-calls", |blocks| blocks.sort_by_key(is_thinking)),
        OPAQUE.of(ALL.of(ANTHROPIC)).blocks("thinking-behind-the-text", |blocks| {
            if let Some(text) = blocks.iter().position(|block| block["type"] == "text") {
                blocks[..=text].rotate_right(1);
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).body("thinking-of-the-last-response-dropped", |_, body| {
            let messages = history(body);
            if let Some(last) = messages.iter().rposition(|message| message["role"] == "assistant") {
                drop_thinking(&mut messages[last..=last]);
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).blocks("thinking-as-text", |blocks| {
            for block in blocks.iter_mut().filter(|block| block["type"] == "thinking") {
                *block = json!({"type": "text", "text": format!("<thinking>{}</thinking>", text(&block["thinking"]))});
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).heard("signature-of-the-first-thinking-everywhere", |run, heard| {
            for part in heard.parts_of("opaque").filter(|part| part["raw"]["signature"].is_string()) {
                if run.memory["signature"].is_null() {
                    run.memory["signature"] = part["raw"]["signature"].clone();
                }
                part["raw"]["signature"] = run.memory["signature"].clone();
            }
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).again("thinking-dropped-on-a-retry", |_, body| drop_thinking(history(body))),
        OPAQUE.of(STREAMS.of(ANTHROPIC)).events("signature-events-not-known", |_, events| {
            events.retain(|event| event["delta"]["type"] != "signature_delta")
        }),
        OPAQUE.of(STREAMS.of(ANTHROPIC)).events("last-fragment-of-thinking-missing", |_, events| {
            if let Some(last) = events.iter().rposition(|event| event["delta"]["type"] == "thinking_delta") {
                events.remove(last);
            }
        }),
        OPAQUE.of(ALL.of(RESPONSES)).heard("encrypted-reasoning-of-the-first-response-everywhere", |run, heard| {
            for part in heard.parts_of("opaque") {
                if run.memory["reasoning"].is_null() {
                    run.memory["reasoning"] = part["raw"]["encrypted_content"].clone();
                }
                part["raw"]["encrypted_content"] = run.memory["reasoning"].clone();
            }
        }),
        BACK.of(ALL.of(RESPONSES)).body("encrypted-reasoning-not-sent-back", |_, body| drop_reasoning(body)),
        BACK.of(ALL.of(RESPONSES)).body("encrypted-reasoning-not-asked-for", |_, body| without(body, "include")),
        BACK.of(ALL.of(RESPONSES)).body("encrypted-reasoning-sent-back-in-the-next-request-alone", |_, body| {
            let items = history(body);
            let last = items.iter().rposition(|item| item["type"] == "reasoning");
            let mut at = 0;
            items.retain(|item| {
                at += 1;
                item["type"] != "reasoning" || Some(at - 1) == last
            });
        }),
        OPAQUE.of(ALL.of(ANTHROPIC)).body("thinking-dropped-but-for-the-last-response", |_, body| {
            let messages = history(body);
            let last = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
            drop_thinking(&mut messages[..last]);
        }),
        RULES.of(ALL.of(RESPONSES)).elements("reasoning-items-with-their-status", |item| {
            if item["type"] == "reasoning" {
                item["status"] = "completed".into();
            }
        }),
        RULES.of(ALL.of(RESPONSES)).body("items-with-an-id-twice", |_, body| {
            let items = history(body);
            let reasoning = list(&Value::from(items.clone())).iter().find(|item| item["type"] == "reasoning").cloned();
            for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
                if let Some(reasoning) = &reasoning {
                    item["id"] = reasoning["id"].clone();
                }
            }
        }),
    ]
}

/// An object with its members in the opposite order.
fn reversed(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            members.iter().rev().map(|(name, value)| (name.clone(), reversed(value))).collect::<Map<_, _>>().into()
        }
        Value::Array(elements) => elements.iter().map(reversed).collect(),
        other => other.clone(),
    }
}

fn is_even(turn: usize) -> bool {
    turn.is_multiple_of(2)
}

fn is_late(turn: usize) -> bool {
    turn > 2
}

impl WireGroup {
    /// Changes the JSON text of arguments in the bodies of some asks.
    fn arguments(self, name: &'static str, changes: fn(usize) -> bool, change: fn(&Value) -> String) -> Planted {
        self.body(name, move |run, body| {
            if !changes(run.turn) {
                return;
            }
            for message in history(body) {
                let own = &mut message["arguments"];
                let rewritten = |json: &Value| serde_json::from_str::<Value>(text(json)).ok().map(|args| change(&args));
                if let Some(arguments) = rewritten(own) {
                    *own = arguments.into();
                } else if own.is_null() {
                    without(message, "arguments");
                }
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    if let Some(arguments) = rewritten(&call["function"]["arguments"]) {
                        call["function"]["arguments"] = arguments.into();
                    }
                }
            }
        })
    }
}

pub(super) fn words() -> Vec<Planted> {
    vec![
        CACHE
            .of(ALL.of(OPENAI))
            .arguments("members-of-arguments-in-an-order-of-chance", is_even, |args| reversed(args).to_string()),
        CACHE.of(ALL.of(OPENAI)).arguments(
            "members-of-arguments-in-another-order-from-the-third-ask-on",
            is_late,
            |args| reversed(args).to_string(),
        ),
        CACHE.of(ALL.of(OPENAI)).arguments("arguments-written-with-spaces-from-the-third-ask-on", is_late, |args| {
            args.to_string().replacen("{\"", "{ \"", 1)
        }),
        CACHE.of(ALL.of(OPENAI)).arguments("arguments-written-over-several-lines-by-chance", is_even, |args| {
            serde_json::to_string_pretty(args).unwrap_or_default()
        }),
        CACHE.of(ALL.of(ANTHROPIC)).body("members-of-input-in-an-order-of-chance", |run, body| {
            let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
            for block in blocks.filter(|block| is_even(run.turn) && block["type"] == "tool_use") {
                block["input"] = reversed(&block["input"]);
            }
        }),
        PREFIX.shown("time-in-the-system-message", |run, messages| {
            for message in messages.iter_mut().filter(|message| message["type"] == "system").take(1) {
                message["content"] = format!("{}\nIt is 12:{:02}.", text(&message["content"]), run.turn % 60).into();
            }
        }),
        PREFIX.shown("time-in-front-of-everything", |run, messages| {
            let time = json!({"type": "system", "content": format!("It is 12:{:02}.", run.turn % 60)});
            messages.insert(0, time);
        }),
        PREFIX.shown("round-counted-in-the-first-human-message", |run, messages| {
            for message in messages.iter_mut().filter(|message| message["type"] == "human").take(1) {
                message["content"] = format!("{} (round {})", text(&message["content"]), run.turn).into();
            }
        }),
        CACHE.of(ALL.of(CHAT)).body("old-texts-divided-into-parts", |run, body| {
            for message in history(body).iter_mut().filter(|message| run.turn > 1 && message["role"] == "user") {
                if let Some(own) = message["content"].as_str().map(str::to_owned).filter(|own| own.chars().count() > 1)
                {
                    let (first, rest) = own.split_at(own.char_indices().nth(1).map_or(0, |(at, _)| at));
                    message["content"] = json!([{"type": "text", "text": first}, {"type": "text", "text": rest}]);
                }
            }
        }),
        RULES.of(ALL.of(ANTHROPIC)).body("five-cache-marks", |_, body| {
            let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
            blocks.for_each(|block| block["cache_control"] = json!({"type": "ephemeral"}));
        }),
    ]
}
