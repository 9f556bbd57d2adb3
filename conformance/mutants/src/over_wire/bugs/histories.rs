//! What goes wrong between the agent's list and the body: messages that are lost, joined, moved or renamed when they are written.

use super::{ANTHROPIC, CHAT, RESPONSES, bug, from_ask, history, on_bodies};
use crate::planted::Planted;
use crate::wire::modes::ALL;
use crate::wire::{Modes, WireAgent};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::text;

const ANSWERED: &[&str] = &[clause::AGENT_ANSWERED];
const PREFIX: &[&str] = &[clause::AGENT_PREFIX];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];

/// Whether an element of a history answers a call.
fn is_answer(element: &Value) -> bool {
    element["role"] == "tool" || element["type"] == "function_call_output" || element["type"] == "tool_result"
}

/// Changes the list in which the answers stand: the blocks of a message for Anthropic, else the history itself.
fn on_answers(agent: &mut WireAgent, first: usize, change: fn(&mut Vec<Value>)) {
    from_ask(agent, first, move |body| {
        let messages = history(body);
        let is_of_blocks =
            |message: &Value| message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_answer));
        if messages.iter().any(is_of_blocks) {
            for message in messages.iter_mut().filter(|message| is_of_blocks(message)) {
                message["content"].as_array_mut().into_iter().for_each(change);
            }
            messages.retain(|message| message["content"].as_array().is_none_or(|blocks| !blocks.is_empty()));
        } else {
            change(messages);
        }
    });
}

/// Changes the messages of an ask from this one on.
fn shown(agent: &mut WireAgent, first: usize, change: fn(&mut Vec<Value>)) {
    agent.shown = Box::new(move |run, messages| {
        if run.turn >= first {
            change(messages);
        }
    });
}

fn is(message: &Value, kind: &str) -> bool {
    message["type"] == kind
}

/// Keeps the element or not, by its number among the answers.
fn keep_answers(elements: &mut Vec<Value>, keeps: fn(usize) -> bool) {
    let mut number = 0;
    elements.retain(|element| {
        let is_answer = is_answer(element);
        number += usize::from(is_answer);
        !is_answer || keeps(number - 1)
    });
}

/// The APIs in which answers stand in one list with everything else.
const FLAT: Modes = ALL.of(super::OPENAI);

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("answers-not-written", ANSWERED, ALL, |agent| {
            on_answers(agent, 2, |elements| keep_answers(elements, |_| false))
        }),
        bug("answers-not-written-from-the-third-ask-on", ANSWERED, ALL, |agent| {
            on_answers(agent, 3, |elements| keep_answers(elements, |_| false));
        }),
        bug("first-answer-alone-written", ANSWERED, ALL, |agent| {
            on_answers(agent, 2, |elements| keep_answers(elements, |number| number == 0));
        }),
        bug("third-answer-not-written", ANSWERED, ALL, |agent| {
            on_answers(agent, 2, |elements| keep_answers(elements, |number| number != 2));
        }),
        bug("answers-written-twice", ANSWERED, ALL, |agent| {
            on_answers(agent, 2, |elements| {
                let twice = elements.drain(..).flat_map(|element| {
                    if is_answer(&element) { vec![element.clone(), element] } else { vec![element] }
                });
                let twice: Vec<Value> = twice.collect();
                elements.extend(twice);
            });
        }),
        bug("answers-with-the-id-of-the-first-call", ANSWERED, ALL, |agent| {
            on_answers(agent, 2, |elements| {
                for answers in elements.chunk_by_mut(|one, other| is_answer(one) && is_answer(other)) {
                    for member in ["tool_call_id", "call_id", "tool_use_id"] {
                        let first = answers[0][member].clone();
                        answers
                            .iter_mut()
                            .filter(|answer| answer[member].is_string())
                            .for_each(|answer| answer[member] = first.clone());
                    }
                }
            });
        }),
        bug("ids-of-answers-swapped", RESULT, ALL, |agent| {
            on_answers(agent, 2, |elements| {
                for answers in elements.chunk_by_mut(|one, other| is_answer(one) && is_answer(other)) {
                    for member in ["tool_call_id", "call_id", "tool_use_id"] {
                        let ids: Vec<Value> = answers.iter().map(|answer| answer[member].clone()).collect();
                        if ids[0].is_string() {
                            answers.iter_mut().zip(ids.into_iter().rev()).for_each(|(answer, id)| answer[member] = id);
                        }
                    }
                }
            });
        }),
        bug("answers-without-ids", ANSWERED, FLAT.of(CHAT), |agent| {
            on_answers(agent, 2, |elements| {
                elements
                    .iter_mut()
                    .filter(|element| is_answer(element))
                    .for_each(|answer| super::without(answer, "tool_call_id"));
            });
        }),
        bug("answers-as-messages-of-the-user", ANSWERED, ALL, |agent| {
            shown(agent, 2, |messages| {
                for message in messages.iter_mut().filter(|message| is(message, "tool")) {
                    *message = json!({"type": "human", "content": message["content"]});
                }
            });
        }),
        bug("calls-not-written", RESPONSE, ALL, |agent| {
            shown(agent, 2, |messages| {
                for message in messages.iter_mut().filter(|message| is(message, "ai")) {
                    super::without(message, "tool_calls");
                }
                messages.retain(|message| !(is(message, "tool") || is(message, "ai") && message["content"] == ""));
            });
        }),
        bug("responses-not-written", RESPONSE, ALL, |agent| {
            shown(agent, 2, |messages| {
                messages.retain(|message| !is(message, "ai") || crate::agent::calls(message).is_empty())
            });
        }),
        bug("texts-beside-calls-not-written", RESPONSE, ALL, |agent| {
            shown(agent, 2, |messages| {
                messages
                    .iter_mut()
                    .filter(|message| !crate::agent::calls(message).is_empty())
                    .for_each(|message| message["content"] = "".into());
            });
        }),
        bug("window-of-four-messages", PREFIX, ALL, |agent| {
            shown(agent, 2, |messages| drop(messages.drain(..messages.len().saturating_sub(4))));
        }),
        bug("window-that-keeps-the-system-message", PREFIX, ALL, |agent| {
            shown(agent, 3, |messages| {
                let end = messages.len().saturating_sub(2);
                let mut at = 0;
                messages.retain(|message| {
                    at += 1;
                    at > end || is(message, "system")
                });
            });
        }),
        bug("human-messages-in-the-first-request-alone", PREFIX, ALL, |agent| {
            shown(agent, 2, |messages| messages.retain(|message| !is(message, "human")));
        }),
        bug("system-messages-in-the-first-request-alone", PREFIX, ALL, |agent| {
            shown(agent, 2, |messages| messages.retain(|message| !is(message, "system")));
        }),
        bug(
            "system-messages-from-the-second-request-on-at-the-end",
            PREFIX,
            ALL.of(&[Api::OpenAiChat, Api::OpenAiResponses]),
            |agent| {
                shown(agent, 2, |messages| messages.sort_by_key(|message| is(message, "system")));
            },
        ),
        bug("rounds-before-the-last-one-told-as-text", PREFIX, ALL, |agent| {
            shown(agent, 3, |messages| {
                let last = messages.iter().rposition(|message| is(message, "ai")).unwrap_or(0);
                let before = messages[..last].iter().position(|message| !crate::agent::calls(message).is_empty());
                let Some(first) = before else { return };
                let told: Vec<&str> = messages[first..last].iter().map(|message| text(&message["content"])).collect();
                let told = json!({"type": "human", "content": format!("Earlier: {}", told.join("; "))});
                messages.splice(first..last, [told]);
            });
        }),
        bug("results-of-earlier-rounds-left-out", PREFIX, ALL, |agent| {
            shown(agent, 3, |messages| {
                let last = messages.iter().rposition(|message| is(message, "ai")).unwrap_or(0);
                for message in messages[..last].iter_mut().filter(|message| is(message, "tool")) {
                    message["content"] = "[left out]".into();
                }
            });
        }),
        bug("empty-results-not-written", ANSWERED, ALL, |agent| {
            shown(agent, 2, |messages| messages.retain(|message| !(is(message, "tool") && message["content"] == "")));
        }),
        bug("empty-results-as-null", &[clause::WIRE_RULES], ALL.of(CHAT), |agent| {
            on_bodies(agent, |_, body| {
                for message in
                    history(body).iter_mut().filter(|message| message["role"] == "tool" && message["content"] == "")
                {
                    message["content"] = Value::Null;
                }
            });
        }),
        bug("arguments-as-objects", &[clause::WIRE_RULES], ALL.of(CHAT), |agent| {
            on_bodies(agent, |_, body| {
                for message in history(body) {
                    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                        let arguments = text(&call["function"]["arguments"]).to_owned();
                        call["function"]["arguments"] = serde_json::from_str(&arguments).unwrap_or_default();
                    }
                }
            });
        }),
        bug("input-as-json-text", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
                for block in blocks.filter(|block| block["type"] == "tool_use") {
                    block["input"] = block["input"].to_string().into();
                }
            });
        }),
        bug("no-calls-as-an-empty-list", &[clause::WIRE_RULES], ALL.of(CHAT), |agent| {
            on_bodies(agent, |_, body| {
                for message in history(body)
                    .iter_mut()
                    .filter(|message| message["role"] == "assistant" && message["tool_calls"].is_null())
                {
                    message["tool_calls"] = json!([]);
                }
            });
        }),
        bug("members-of-the-stream-kept-in-blocks", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let blocks = history(body).iter_mut().filter_map(|message| message["content"].as_array_mut()).flatten();
                for (index, block) in blocks.filter(|block| block["type"] == "tool_use").enumerate() {
                    block["index"] = index.into();
                }
            });
        }),
        bug("texts-before-results", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_answers(agent, 2, |blocks| blocks.insert(0, json!({"type": "text", "text": "Here are the results."})));
        }),
        bug("system-messages-among-the-others", &[clause::WIRE_RULES], ALL.of(ANTHROPIC), |agent| {
            on_bodies(agent, |_, body| {
                let system = body["system"].clone();
                if system.is_string() {
                    super::without(body, "system");
                    history(body).insert(0, json!({"role": "system", "content": system}));
                }
            });
        }),
        bug("texts-of-the-model-as-texts-of-the-user", &[clause::WIRE_RULES], ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| {
                for item in history(body).iter_mut().filter(|item| item["role"] == "assistant") {
                    item["content"][0]["type"] = "input_text".into();
                }
            });
        }),
        bug("results-as-lists-of-values", &[clause::WIRE_RULES], ALL.of(RESPONSES), |agent| {
            on_bodies(agent, |_, body| {
                for item in history(body).iter_mut().filter(|item| item["type"] == "function_call_output") {
                    item["output"] = json!([item["output"]]);
                }
            });
        }),
        bug("messages-of-the-run-before-shown", &[clause::AGENT_INDEPENDENT], ALL, |agent| {
            agent.shown = Box::new(|run, messages| {
                let before = run.memory["list"].as_array().cloned().unwrap_or_default();
                if run.turn == 1 && !before.is_empty() {
                    run.memory["shown"] = before.clone().into();
                }
                if run.turn == 1 {
                    run.memory["list"] = messages.clone().into();
                }
                let shown = run.memory["shown"].as_array().cloned().unwrap_or_default();
                messages.splice(0..0, shown);
            });
        }),
        bug("failed-attempts-counted-as-rounds", &[clause::AGENT_LIMIT], ALL, |agent| {
            agent.agent.is_cut = Box::new(|run| {
                let failures = run.wire.failures;
                run.limit().is_some_and(|limit| run.turn + failures > limit)
            });
        }),
    ]
}
