//! Calls that are put together wrongly: fragments, indexes, escapes, and what the reason for stopping is taken for.

use crate::over_wire::prelude::*;
use threadspec::surrogates::repair_surrogates;

impl WireGroup {
    /// Changes each fragment of arguments.
    fn fragments(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.events(name, move |_, events| {
            for fragment in events.iter_mut().filter_map(arguments_of) {
                *fragment = change(text(fragment)).into();
            }
        })
    }

    /// Keeps some fragments of each call's arguments, given their numbers among those that are not empty and how many there are.
    fn keep_fragments(self, name: &'static str, keeps: fn(usize, usize) -> bool) -> Planted {
        self.events(name, move |_, events| {
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
        })
    }

    /// Keeps some calls of an answer, given their numbers.
    fn keep_calls(self, name: &'static str, keeps: fn(usize) -> bool) -> Planted {
        self.heard(name, move |_, heard| {
            let mut number = 0;
            heard.parts.retain(|part| {
                let is_call = part["type"] == "call";
                number += usize::from(is_call);
                !is_call || keeps(number - 1)
            });
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        RESPONSE.of(STREAMS.of(OPENAI)).events("fragments-go-to-the-newest-call", |_, events| {
            let mut newest = Value::Null;
            for event in events {
                let delta = &event["choices"][0]["delta"]["tool_calls"][0];
                if delta["id"].is_string() {
                    newest = delta["index"].clone();
                } else if event["item"]["type"] == "function_call" && event["type"] == "response.output_item.added" {
                    newest = event["output_index"].clone();
                } else if delta["index"].is_number() {
                    event["choices"][0]["delta"]["tool_calls"][0]["index"] = newest.clone();
                } else if event["type"] == "response.function_call_arguments.delta" {
                    event["output_index"] = newest.clone();
                }
            }
        }),
        RESPONSE.of(STREAMS.of(CHAT)).each_event("index-of-fragments-ignored", |event| {
            if event["choices"][0]["delta"]["tool_calls"][0]["index"].is_number() {
                event["choices"][0]["delta"]["tool_calls"][0]["index"] = 0.into();
            }
        }),
        RESPONSE.of(STREAMS.of(OPENAI)).events("fragments-go-to-the-call-before", |_, events| {
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
        }),
        RESPONSE.of(STREAMS.of(CHAT)).events("names-added-up-over-fragments", |_, events| {
            let mut names: Vec<(Value, String)> = Vec::new();
            for fragment in events.iter_mut().filter_map(|event| event.pointer_mut("/choices/0/delta/tool_calls/0")) {
                let known = names.iter_mut().find(|(index, _)| *index == fragment["index"]);
                match known {
                    None => names.push((fragment["index"].clone(), text(&fragment["function"]["name"]).to_owned())),
                    Some((_, name)) => name.push('_'),
                }
            }
            for fragment in events.iter_mut().filter_map(|event| event.pointer_mut("/choices/0/delta/tool_calls/0")) {
                if fragment["id"].is_string() {
                    let name =
                        names.iter().find(|(index, _)| *index == fragment["index"]).map(|(_, name)| name.clone());
                    fragment["function"]["name"] = name.unwrap_or_default().into();
                }
            }
        }),
        IDS.of(STREAMS).parts("ids-doubled-where-there-are-fragments", "call", |part| {
            if text(&part["arguments"]).len() > 2 {
                part["id"] = text(&part["id"]).repeat(2).into();
            }
        }),
        RESPONSE
            .of(STREAMS)
            .keep_fragments("first-fragment-of-arguments-missing", |number, total| number > 0 || total < 2),
        RESPONSE
            .of(STREAMS)
            .keep_fragments("last-fragment-of-arguments-missing", |number, total| number + 1 < total || total < 2),
        RESPONSE.of(STREAMS).keep_fragments("each-second-fragment-of-arguments-missing", |number, _| number % 2 == 0),
        RESPONSE.of(STREAMS).events("equal-neighbouring-fragments-of-arguments-once", |_, events| {
            let mut before = String::new();
            for fragment in events.iter_mut().filter_map(arguments_of) {
                let own = text(fragment).to_owned();
                if own == before {
                    *fragment = "".into();
                }
                before = own;
            }
        }),
        RESPONSE.of(STREAMS).events("empty-fragment-clears-the-arguments", |_, events| {
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
        }),
        RESPONSE.of(STREAMS).fragments("fragments-of-arguments-trimmed", |text| text.trim().to_owned()),
        RESPONSE.of(STREAMS).fragments("fragments-of-arguments-joined-with-line-ends", |text| {
            if text.is_empty() { String::new() } else { format!("{text}\\n") }
        }),
        RESPONSE.of(STREAMS).fragments("escapes-cut-where-fragments-end", |text| {
            text.strip_suffix('\\').filter(|rest| !rest.ends_with('\\')).unwrap_or(text).to_owned()
        }),
        TEXT.of(STREAMS)
            .fragments("halves-of-characters-replaced-in-each-fragment", |text| repair_surrogates(text).into_owned()),
        breaking(&[clause::AGENT_NUMBERS]).of(STREAMS).fragments("fragments-of-arguments-read-as-values", |text| {
            match serde_json::from_str::<Value>(text) {
                Ok(Value::Number(number)) => {
                    number.as_f64().map_or_else(|| text.to_owned(), |double| double.to_string())
                }
                _ => text.to_owned(),
            }
        }),
        GOES_ON.of(STREAMS).parts("arguments-of-streams-cut-to-a-thousand-bytes", "call", |part| {
            part["arguments"] = cut(text(&part["arguments"]), 1000).into();
        }),
        RESPONSE.of(STREAMS).keep_calls("first-call-of-a-stream-alone", |number| number == 0),
        RESPONSE.keep_calls("third-call-of-an-answer-missing", |number| number != 2),
        RESPONSE.keep_calls("two-calls-of-an-answer-at-most", |number| number < 2),
        RESPONSE.of(STREAMS.of(CHAT)).heard("last-call-of-a-stream-not-closed", |_, heard| {
            let calls = heard.calls().count();
            if calls > 1 {
                let last = heard.parts.iter().rposition(|part| part["type"] == "call");
                last.map(|at| heard.parts.remove(at));
            }
        }),
        GOES_ON.of(STREAMS.of(ANTHROPIC)).parts("calls-without-arguments-not-read", "call", |part| {
            if part["arguments"] == "" {
                part["arguments"] = "no JSON".into();
            }
        }),
        RESPONSE.of(STREAMS).heard("calls-without-arguments-dropped", |_, heard| {
            heard.parts.retain(|part| part["type"] != "call" || !["", "{}"].contains(&text(&part["arguments"])));
        }),
        RESPONSE.of(STREAMS.of(ANTHROPIC)).events("input-as-the-block-began", |_, events| {
            events.retain(|event| event["delta"]["type"] != "input_json_delta")
        }),
        GOES_ON.of(ALL.of(&[Api::OpenAiChat, Api::Anthropic])).heard(
            "calls-known-by-the-reason-for-stopping-alone",
            |_, heard| {
                if !["tool_calls", "tool_use"].contains(&&*heard.stop) {
                    heard.parts.retain(|part| part["type"] != "call");
                }
            },
        ),
        breaking(&[clause::AGENT_STOPS]).of(ALL.of(ANTHROPIC)).plant("reason-for-stopping-taken-for-a-call", |agent| {
            agent.agent.is_last = Box::new(|run, message| {
                calls(message).is_empty() && message["wire"]["stop"] != "tool_use" || run.turn > 20
            });
        }),
        GOES_ON.of(ALL.of(&[Api::OpenAiChat, Api::Anthropic])).heard(
            "reason-for-stopping-missing-a-failure",
            |_, heard| {
                let has_calls = heard.calls().next().is_some();
                if has_calls && ["stop", "end_turn"].contains(&&*heard.stop) {
                    heard.error = Some("the model stopped in the middle".to_owned());
                }
            },
        ),
        IDS.of(ALL.of(RESPONSES)).parts("ids-of-items-for-ids-of-calls", "call", |part| {
            if part["item"].is_string() {
                part["id"] = part["item"].clone();
            }
        }),
        IDS.of(STREAMS.of(CHAT)).heard("ids-made-by-the-agent-where-fragments-have-none", |run, heard| {
            let turn = run.turn;
            for (number, part) in heard.parts_of("call").enumerate().skip(1) {
                part["id"] = format!("call_{turn}_{number}").into();
            }
        }),
        RESPONSE.of(STREAMS.of(OPENAI)).plant("calls-in-the-order-of-their-last-fragments", |agent| {
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
        RESPONSE.of(STREAMS.of(RESPONSES)).events("item-that-was-added-first-alone", |_, events| {
            events.retain(|event| event["output_index"].as_u64().is_none_or(|index| index == 0));
        }),
        RESPONSE.of(PLAIN.of(ANTHROPIC)).heard("text-block-that-came-first-alone", |_, heard| {
            if heard.parts.first().is_some_and(|part| part["type"] == "text") {
                heard.parts.truncate(1);
            }
        }),
        RESPONSE.of(ALL.of(ANTHROPIC)).heard("block-that-came-first-taken-for-the-text", |_, heard| {
            let mut is_first = true;
            heard.parts.retain(|part| std::mem::take(&mut is_first) || part["type"] != "text");
        }),
        RESPONSE.of(PLAIN.of(OPENAI)).parts("arguments-of-plain-answers-not-read", "call", |part| {
            part["arguments"] = json!({"arguments": part["arguments"]}).to_string().into();
        }),
    ]
}
