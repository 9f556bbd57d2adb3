//! WIRE-OPAQUE and WIRE-OPAQUE-BACK: what only the provider reads.

use super::{ANTHROPIC, RESPONSES, bug, history, on_bodies};
use crate::planted::Planted;
use crate::wire::modes::{ALL, STREAMS};
use crate::wire::{HeardAnswer, WireAgent};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const OPAQUE: &[&str] = &[clause::WIRE_OPAQUE];
const BACK: &[&str] = &[clause::WIRE_OPAQUE_BACK];

/// Changes what only the provider reads.
fn on_opaque(agent: &mut WireAgent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    agent.heard = Box::new(move |_, heard| heard.parts_of("opaque").for_each(|part| change(&mut part["raw"])));
}

/// Changes each text in it that is its own proof.
fn on_proofs(agent: &mut WireAgent, change: fn(&str) -> String) {
    on_opaque(agent, move |raw| {
        for member in ["signature", "data", "encrypted_content"] {
            if raw[member].is_string() {
                raw[member] = change(text(&raw[member])).into();
            }
        }
    });
}

/// Drops parts of an answer.
fn drop_parts(agent: &mut WireAgent, drops: fn(&Value) -> bool) {
    agent.heard = Box::new(move |_, heard: &mut HeardAnswer| {
        heard.parts.retain(|part| part["type"] != "opaque" || !drops(&part["raw"]))
    });
}

/// Changes the blocks of each assistant message that has calls.
fn on_blocks(agent: &mut WireAgent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    on_bodies(agent, move |_, body| {
        for message in history(body).iter_mut().filter(|message| message["role"] == "assistant") {
            if let Some(blocks) = message["content"].as_array_mut() {
                change(blocks);
            }
        }
    });
}

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

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("signatures-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_opaque(agent, |raw| super::without(raw, "signature"))
        }),
        bug("signatures-emptied", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_opaque(agent, |raw| {
                if raw["signature"].is_string() {
                    raw["signature"] = "".into();
                }
            });
        }),
        bug("proofs-without-their-padding", OPAQUE, ALL.of(&[Api::OpenAiResponses, Api::Anthropic]), |agent| {
            on_proofs(agent, |proof| proof.trim_end_matches('=').to_owned());
        }),
        bug("proofs-for-urls", OPAQUE, ALL.of(&[Api::OpenAiResponses, Api::Anthropic]), |agent| {
            on_proofs(agent, |proof| proof.replace('+', "-").replace('/', "_"));
        }),
        bug("proofs-cut-to-16-characters", OPAQUE, ALL.of(&[Api::OpenAiResponses, Api::Anthropic]), |agent| {
            on_proofs(agent, |proof| crate::wire::cut(proof, 16));
        }),
        bug("proofs-in-lower-case", OPAQUE, ALL.of(&[Api::OpenAiResponses, Api::Anthropic]), |agent| {
            on_proofs(agent, str::to_lowercase);
        }),
        bug("redacted-thinking-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            drop_parts(agent, |raw| raw["type"] == "redacted_thinking");
        }),
        bug("thinking-beside-redacted-thinking-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|_, heard| {
                if heard.parts.iter().any(|part| part["raw"]["type"] == "redacted_thinking") {
                    heard.parts.retain(|part| part["raw"]["type"] != "thinking");
                }
            });
        }),
        bug("thinking-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| drop_parts(agent, |_| true)),
        bug("second-thinking-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|_, heard| {
                let mut number = 0;
                heard.parts.retain(|part| {
                    number += usize::from(part["type"] == "opaque");
                    part["type"] != "opaque" || number < 2
                });
            });
        }),
        bug("thinking-trimmed", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_opaque(agent, |raw| {
                if raw["thinking"].is_string() {
                    raw["thinking"] = text(&raw["thinking"]).trim().into();
                }
            });
        }),
        bug("thinking-emptied", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_opaque(agent, |raw| {
                if raw["thinking"].is_string() {
                    raw["thinking"] = "".into();
                }
            });
        }),
        bug("thinking-joined", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|_, heard| {
                let all: String =
                    heard.parts_of("opaque").map(|part| text(&part["raw"]["thinking"]).to_owned()).collect();
                let mut is_first = true;
                heard.parts.retain_mut(|part| {
                    if part["raw"]["type"] != "thinking" {
                        return true;
                    }
                    part["raw"]["thinking"] = (&*all).into();
                    std::mem::take(&mut is_first)
                });
            });
        }),
        bug("thinking-in-the-opposite-order", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|_, heard| {
                let raws: Vec<Value> = heard.parts_of("opaque").map(|part| part["raw"].clone()).collect();
                heard.parts_of("opaque").zip(raws.into_iter().rev()).for_each(|(part, raw)| part["raw"] = raw);
            });
        }),
        bug("thinking-behind-the-calls", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_blocks(agent, |blocks| blocks.sort_by_key(is_thinking));
        }),
        bug("thinking-behind-the-text", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_blocks(agent, |blocks| {
                if let Some(text) = blocks.iter().position(|block| block["type"] == "text") {
                    blocks[..=text].rotate_right(1);
                }
            });
        }),
        bug("thinking-of-the-last-response-dropped", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let messages = history(body);
                if let Some(last) = messages.iter().rposition(|message| message["role"] == "assistant") {
                    drop_thinking(&mut messages[last..=last]);
                }
            });
        }),
        bug("thinking-as-text", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_blocks(agent, |blocks| {
                for block in blocks.iter_mut().filter(|block| block["type"] == "thinking") {
                    *block =
                        json!({"type": "text", "text": format!("<thinking>{}</thinking>", text(&block["thinking"]))});
                }
            });
        }),
        bug("signature-of-the-first-thinking-everywhere", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|run, heard| {
                for part in heard.parts_of("opaque").filter(|part| part["raw"]["signature"].is_string()) {
                    if run.memory["signature"].is_null() {
                        run.memory["signature"] = part["raw"]["signature"].clone();
                    }
                    part["raw"]["signature"] = run.memory["signature"].clone();
                }
            });
        }),
        bug("thinking-dropped-on-a-retry", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            agent.again = Box::new(|_, body| drop_thinking(history(body)));
        }),
        bug("signature-events-not-known", OPAQUE, STREAMS.of(ANTHROPIC), |agent| {
            super::on_events(agent, |events| events.retain(|event| event["delta"]["type"] != "signature_delta"));
        }),
        bug("last-fragment-of-thinking-missing", OPAQUE, STREAMS.of(ANTHROPIC), |agent| {
            super::on_events(agent, |events| {
                if let Some(last) = events.iter().rposition(|event| event["delta"]["type"] == "thinking_delta") {
                    events.remove(last);
                }
            });
        }),
        bug("encrypted-reasoning-of-the-first-response-everywhere", OPAQUE, ALL.of(RESPONSES), |agent| {
            agent.heard = Box::new(|run, heard| {
                for part in heard.parts_of("opaque") {
                    if run.memory["reasoning"].is_null() {
                        run.memory["reasoning"] = part["raw"]["encrypted_content"].clone();
                    }
                    part["raw"]["encrypted_content"] = run.memory["reasoning"].clone();
                }
            });
        }),
        bug("encrypted-reasoning-not-sent-back", BACK, ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| drop_reasoning(body))
        }),
        bug("encrypted-reasoning-not-asked-for", BACK, ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| super::without(body, "include"));
        }),
        bug("encrypted-reasoning-sent-back-in-the-next-request-alone", BACK, ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| {
                let items = history(body);
                let last = items.iter().rposition(|item| item["type"] == "reasoning");
                let mut at = 0;
                items.retain(|item| {
                    at += 1;
                    item["type"] != "reasoning" || Some(at - 1) == last
                });
            });
        }),
        bug("thinking-dropped-but-for-the-last-response", OPAQUE, ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let messages = history(body);
                let last = messages.iter().rposition(|message| message["role"] == "assistant").unwrap_or(0);
                drop_thinking(&mut messages[..last]);
            });
        }),
        bug("reasoning-items-with-their-status", &[clause::WIRE_RULES], ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| {
                for item in history(body).iter_mut().filter(|item| item["type"] == "reasoning") {
                    item["status"] = "completed".into();
                }
            });
        }),
        bug("items-with-an-id-twice", &[clause::WIRE_RULES], ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| {
                let items = history(body);
                let reasoning =
                    list(&Value::from(items.clone())).iter().find(|item| item["type"] == "reasoning").cloned();
                for item in items.iter_mut().filter(|item| item["type"] == "function_call") {
                    if let Some(reasoning) = &reasoning {
                        item["id"] = reasoning["id"].clone();
                    }
                }
            });
        }),
    ]
}
