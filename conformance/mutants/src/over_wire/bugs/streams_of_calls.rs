//! Calls that are put together wrongly: fragments, indexes, escapes, and what the reason for stopping is taken for.

use super::{ANTHROPIC, CHAT, RESPONSES, arguments_of, bug, index_of, on_events};
use crate::planted::Planted;
use crate::wire::modes::{ALL, PLAIN, STREAMS};
use crate::wire::{HeardAnswer, WireAgent};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::repair_surrogates;
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const IDS: &[&str] = &[clause::AGENT_IDS];

/// Changes what was heard.
fn on_heard(agent: &mut WireAgent, change: fn(&mut HeardAnswer)) {
    agent.heard = Box::new(move |_, heard| change(heard));
}

/// Changes each fragment of arguments.
fn on_fragments(agent: &mut WireAgent, change: fn(&str) -> String) {
    on_events(agent, move |events| {
        for fragment in events.iter_mut().filter_map(arguments_of) {
            *fragment = change(text(fragment)).into();
        }
    });
}

/// Keeps some fragments of each call's arguments, given their numbers among those that are not empty and how many there are.
fn keep_fragments(agent: &mut WireAgent, keeps: fn(usize, usize) -> bool) {
    on_events(agent, move |events| {
        let mut all: Vec<(usize, Value)> = Vec::new();
        for (at, event) in events.iter_mut().enumerate() {
            if arguments_of(event).is_some_and(|fragment| *fragment != "") {
                all.push((at, index_of(event)));
            }
        }
        for (place, (at, index)) in all.iter().enumerate() {
            let number = all[..place].iter().filter(|(_, other)| other == index).count();
            let total = all.iter().filter(|(_, other)| other == index).count();
            if let Some(fragment) = arguments_of(&mut events[*at]).filter(|_| !keeps(number, total)) {
                *fragment = "".into();
            }
        }
    });
}

/// Keeps some calls of an answer, given their numbers.
fn keep_calls(agent: &mut WireAgent, keeps: fn(usize) -> bool) {
    agent.heard = Box::new(move |_, heard| {
        let mut number = 0;
        heard.parts.retain(|part| {
            let is_call = part["type"] == "call";
            number += usize::from(is_call);
            !is_call || keeps(number - 1)
        });
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("fragments-go-to-the-newest-call", RESPONSE, STREAMS.of(super::OPENAI), |agent| {
            on_events(agent, |events| {
                let mut newest = Value::Null;
                for event in events {
                    let delta = &event["choices"][0]["delta"]["tool_calls"][0];
                    if delta["id"].is_string() {
                        newest = delta["index"].clone();
                    } else if event["item"]["type"] == "function_call" && event["type"] == "response.output_item.added"
                    {
                        newest = event["output_index"].clone();
                    } else if delta["index"].is_number() {
                        event["choices"][0]["delta"]["tool_calls"][0]["index"] = newest.clone();
                    } else if event["type"] == "response.function_call_arguments.delta" {
                        event["output_index"] = newest.clone();
                    }
                }
            });
        }),
        bug("index-of-fragments-ignored", RESPONSE, STREAMS.of(CHAT), |agent| {
            on_events(agent, |events| {
                for event in events {
                    if event["choices"][0]["delta"]["tool_calls"][0]["index"].is_number() {
                        event["choices"][0]["delta"]["tool_calls"][0]["index"] = 0.into();
                    }
                }
            });
        }),
        bug("fragments-go-to-the-call-before", RESPONSE, STREAMS.of(super::OPENAI), |agent| {
            on_events(agent, |events| {
                let mut latest = Value::Null;
                for event in events {
                    let index = index_of(event);
                    if arguments_of(event).is_none_or(|fragment| *fragment == "") {
                        continue;
                    }
                    if !latest.is_null() && latest != index && event["choices"].is_array() {
                        event["choices"][0]["delta"]["tool_calls"][0]["index"] = latest.clone();
                    } else if !latest.is_null() && latest != index {
                        event["output_index"] = latest.clone();
                    }
                    latest = index;
                }
            });
        }),
        bug("names-added-up-over-fragments", RESPONSE, STREAMS.of(CHAT), |agent| {
            on_events(agent, |events| {
                let mut names: Vec<(Value, String)> = Vec::new();
                for fragment in events.iter_mut().filter_map(|event| event.pointer_mut("/choices/0/delta/tool_calls/0"))
                {
                    let known = names.iter_mut().find(|(index, _)| *index == fragment["index"]);
                    match known {
                        None => names.push((fragment["index"].clone(), text(&fragment["function"]["name"]).to_owned())),
                        Some((_, name)) => name.push('_'),
                    }
                }
                for fragment in events.iter_mut().filter_map(|event| event.pointer_mut("/choices/0/delta/tool_calls/0"))
                {
                    if fragment["id"].is_string() {
                        let name =
                            names.iter().find(|(index, _)| *index == fragment["index"]).map(|(_, name)| name.clone());
                        fragment["function"]["name"] = name.unwrap_or_default().into();
                    }
                }
            });
        }),
        bug("ids-doubled-where-there-are-fragments", IDS, STREAMS, |agent| {
            agent.heard = Box::new(|_, heard| {
                for part in heard.parts_of("call").filter(|part| text(&part["arguments"]).len() > 2) {
                    part["id"] = text(&part["id"]).repeat(2).into();
                }
            });
        }),
        bug("first-fragment-of-arguments-missing", RESPONSE, STREAMS, |agent| {
            keep_fragments(agent, |number, total| number > 0 || total < 2);
        }),
        bug("last-fragment-of-arguments-missing", RESPONSE, STREAMS, |agent| {
            keep_fragments(agent, |number, total| number + 1 < total || total < 2);
        }),
        bug("each-second-fragment-of-arguments-missing", RESPONSE, STREAMS, |agent| {
            keep_fragments(agent, |number, _| number % 2 == 0);
        }),
        bug("equal-neighbouring-fragments-of-arguments-once", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                let mut before = String::new();
                for fragment in events.iter_mut().filter_map(arguments_of) {
                    let own = text(fragment).to_owned();
                    if own == before {
                        *fragment = "".into();
                    }
                    before = own;
                }
            });
        }),
        bug("empty-fragment-clears-the-arguments", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                let places: Vec<(usize, Value, bool)> = events
                    .iter_mut()
                    .enumerate()
                    .filter_map(|(at, event)| {
                        let is_empty = arguments_of(event).map(|fragment| *fragment == "")?;
                        Some((at, index_of(event), is_empty))
                    })
                    .collect();
                for (place, (_, index, is_empty)) in places.iter().enumerate() {
                    let before = places[..place].iter().filter(|(_, other, _)| *is_empty && other == index);
                    before.for_each(|(at, ..)| {
                        if let Some(fragment) = arguments_of(&mut events[*at]) {
                            *fragment = "".into();
                        }
                    });
                }
            });
        }),
        bug("fragments-of-arguments-trimmed", RESPONSE, STREAMS, |agent| {
            on_fragments(agent, |text| text.trim().to_owned())
        }),
        bug("fragments-of-arguments-joined-with-line-ends", RESPONSE, STREAMS, |agent| {
            on_fragments(agent, |text| if text.is_empty() { String::new() } else { format!("{text}\\n") });
        }),
        bug("escapes-cut-where-fragments-end", RESPONSE, STREAMS, |agent| {
            on_fragments(agent, |text| {
                text.strip_suffix('\\').filter(|rest| !rest.ends_with('\\')).unwrap_or(text).to_owned()
            });
        }),
        bug("halves-of-characters-replaced-in-each-fragment", &[clause::AGENT_TEXT], STREAMS, |agent| {
            on_fragments(agent, |text| repair_surrogates(text).into_owned());
        }),
        bug("fragments-of-arguments-read-as-values", &[clause::AGENT_NUMBERS], STREAMS, |agent| {
            on_fragments(agent, |text| match serde_json::from_str::<Value>(text) {
                Ok(Value::Number(number)) => {
                    number.as_f64().map_or_else(|| text.to_owned(), |double| double.to_string())
                }
                _ => text.to_owned(),
            });
        }),
        bug("arguments-of-streams-cut-to-a-thousand-bytes", GOES_ON, STREAMS, |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("call") {
                    part["arguments"] = crate::wire::cut(text(&part["arguments"]), 1000).into();
                }
            });
        }),
        bug("first-call-of-a-stream-alone", RESPONSE, STREAMS, |agent| {
            keep_calls(agent, |number| number == 0);
        }),
        bug("third-call-of-an-answer-missing", RESPONSE, ALL, |agent| keep_calls(agent, |number| number != 2)),
        bug("two-calls-of-an-answer-at-most", RESPONSE, ALL, |agent| keep_calls(agent, |number| number < 2)),
        bug("last-call-of-a-stream-not-closed", RESPONSE, STREAMS.of(CHAT), |agent| {
            on_heard(agent, |heard| {
                let calls = heard.calls().count();
                if calls > 1 {
                    let last = heard.parts.iter().rposition(|part| part["type"] == "call");
                    last.map(|at| heard.parts.remove(at));
                }
            });
        }),
        bug("calls-without-arguments-not-read", GOES_ON, STREAMS.of(ANTHROPIC), |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("call").filter(|part| part["arguments"] == "") {
                    part["arguments"] = "no JSON".into();
                }
            });
        }),
        bug("calls-without-arguments-dropped", RESPONSE, STREAMS, |agent| {
            on_heard(agent, |heard| {
                heard.parts.retain(|part| part["type"] != "call" || !["", "{}"].contains(&text(&part["arguments"])));
            });
        }),
        bug("input-as-the-block-began", RESPONSE, STREAMS.of(ANTHROPIC), |agent| {
            on_events(agent, |events| events.retain(|event| event["delta"]["type"] != "input_json_delta"));
        }),
        bug(
            "calls-known-by-the-reason-for-stopping-alone",
            GOES_ON,
            ALL.of(&[Api::OpenAiChat, Api::Anthropic]),
            |agent| {
                on_heard(agent, |heard| {
                    if !["tool_calls", "tool_use"].contains(&&*heard.stop) {
                        heard.parts.retain(|part| part["type"] != "call");
                    }
                });
            },
        ),
        bug("reason-for-stopping-taken-for-a-call", &[clause::AGENT_STOPS], ALL.of(ANTHROPIC), |agent| {
            agent.agent.is_last = Box::new(|run, message| {
                crate::agent::calls(message).is_empty() && message["wire"]["stop"] != "tool_use" || run.turn > 20
            });
        }),
        bug("reason-for-stopping-missing-a-failure", GOES_ON, ALL.of(&[Api::OpenAiChat, Api::Anthropic]), |agent| {
            on_heard(agent, |heard| {
                let has_calls = heard.calls().next().is_some();
                if has_calls && ["stop", "end_turn"].contains(&&*heard.stop) {
                    heard.error = Some("the model stopped in the middle".to_owned());
                }
            });
        }),
        bug("ids-of-items-for-ids-of-calls", IDS, ALL.of(RESPONSES), |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("call").filter(|part| part["item"].is_string()) {
                    part["id"] = part["item"].clone();
                }
            });
        }),
        bug("ids-made-by-the-agent-where-fragments-have-none", IDS, STREAMS.of(CHAT), |agent| {
            agent.heard = Box::new(|run, heard| {
                let turn = run.turn;
                for (number, part) in heard.parts_of("call").enumerate().skip(1) {
                    part["id"] = format!("call_{turn}_{number}").into();
                }
            });
        }),
        bug("calls-in-the-order-of-their-last-fragments", RESPONSE, STREAMS.of(super::OPENAI), |agent| {
            agent.events = Box::new(|run, events| {
                let mut order: Vec<Value> = Vec::new();
                for event in events.iter_mut().filter(|event| !index_of(event).is_null()) {
                    let index = index_of(event);
                    if arguments_of(event).is_some_and(|fragment| *fragment != "") {
                        order.retain(|other| *other != index);
                        order.push(index);
                    }
                }
                run.memory["order"] = order.into();
            });
            agent.heard = Box::new(|run, heard| {
                let order = list(&run.memory["order"]).to_vec();
                let place = |part: &Value| order.iter().position(|index| *index == part["index"]);
                heard
                    .parts
                    .sort_by_key(|part| (part["type"] == "call", place(part).filter(|_| part["type"] == "call")));
            });
        }),
        bug("item-that-was-added-first-alone", RESPONSE, STREAMS.of(RESPONSES), |agent| {
            on_events(agent, |events| {
                events.retain(|event| event["output_index"].as_u64().is_none_or(|index| index == 0));
            });
        }),
        bug("text-block-that-came-first-alone", RESPONSE, PLAIN.of(ANTHROPIC), |agent| {
            on_heard(agent, |heard| {
                if heard.parts.first().is_some_and(|part| part["type"] == "text") {
                    heard.parts.truncate(1);
                }
            });
        }),
        bug("block-that-came-first-taken-for-the-text", RESPONSE, ALL.of(ANTHROPIC), |agent| {
            agent.heard = Box::new(|_, heard| {
                let mut is_first = true;
                heard.parts.retain(|part| std::mem::take(&mut is_first) || part["type"] != "text");
            });
        }),
        bug("arguments-of-plain-answers-not-read", RESPONSE, PLAIN.of(super::OPENAI), |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("call") {
                    part["arguments"] = json!({"arguments": part["arguments"]}).to_string().into();
                }
            });
        }),
    ]
}
