//! AGENT-PREFIX: what changes in a request that was sent before.
//! AGENT-START: what becomes of the given list; AGENT-CALLER: what becomes of the caller's own.

use crate::universal::prelude::*;

/// Where each round of the run begins: at the message with its calls.
fn rounds(run: &RunState, request: &[Value]) -> Vec<usize> {
    let given = run.requests.first().map_or(0, Vec::len);
    (given..request.len()).filter(|&index| is(&request[index], "ai")).collect()
}

/// The messages of the rounds before the last `size`, to be changed.
fn older<'a>(run: &RunState, request: &'a mut [Value], size: usize) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    let rounds = rounds(run, request);
    let (first, end) = (
        rounds.first().copied().unwrap_or(0),
        rounds.len().checked_sub(size).map_or(0, |index| rounds.get(index).copied().unwrap_or(request.len())),
    );
    request.iter_mut().take(end).skip(first)
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        seam::shown("system-message-counts-steps", PREFIX, |run, request| {
            let step = run.turn;
            for message in request.iter_mut().filter(|message| step > 0 && is(message, "system")) {
                change_text(message, |text| format!("{text}\nStep {step}"));
            }
        }),
        on_later_requests("system-message-moves-behind", PREFIX, |_, request| {
            if let Some(index) = request.iter().position(|message| is(message, "system")) {
                let system = request.remove(index);
                request.push(system);
            }
        }),
        on_later_requests("system-message-only-at-first", PREFIX, |_, request| {
            request.retain(|message| !is(message, "system"))
        }),
        on_later_requests("reminder-as-a-system-message", PREFIX, |_, request| {
            request.push(json!({"type": "system", "content": "Answer soon."}))
        }),
        on_later_requests("question-repeated-at-the-end", PREFIX, |run, request| {
            let asked = request.iter().rfind(|message| is(message, "human")).cloned();
            // It moves with each request, so that none begins with the previous one.
            if run.turn > 1 {
                request.extend(asked);
            } else if let Some(asked) = asked {
                request.insert(0, asked);
            }
        }),
        on_later_requests("texts-beside-earlier-calls-dropped", PREFIX, |run, request| {
            older(run, request, 1)
                .filter(|message| is(message, "ai"))
                .for_each(|message| change_text(message, |_| String::new()));
        }),
        on_later_requests("arguments-of-earlier-calls-emptied", PREFIX, |run, request| {
            older(run, request, 1).flat_map(calls_mut).for_each(|call| drop(call.insert("args".into(), json!({}))));
        }),
        on_later_requests("failed-rounds-removed-later", PREFIX, |run, request| {
            let failed = |message: &Value| words(message).starts_with("The tool failed");
            let end = rounds(run, request).pop().unwrap_or(0);
            let ids: Vec<Value> = request[..end]
                .iter()
                .filter(|message| failed(message))
                .map(|message| message["tool_call_id"].clone())
                .collect();
            request.retain(|message| {
                !ids.contains(&message["tool_call_id"])
                    && !message["tool_calls"]
                        .as_array()
                        .is_some_and(|calls| calls.iter().any(|call| ids.contains(&call["id"])))
            });
        }),
        on_later_requests("equal-rounds-merged-later", PREFIX, |run, request| {
            let rounds = rounds(run, request);
            let key = |index: usize| {
                request[index]["tool_calls"]
                    .as_array()
                    .map(|calls| calls.iter().map(|call| call["args"].clone()).collect::<Vec<_>>())
            };
            if let Some(pair) = rounds.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
                request.drain(pair[0]..pair[1]);
            }
        }),
        on_later_requests("ids-numbered-anew-in-each-request", PREFIX, |run, request| {
            let turn = run.turn;
            for message in request.iter_mut() {
                for call in calls_mut(message) {
                    let id = format!("{}-{turn}", text(&call["id"]));
                    call.insert("id".into(), id.into());
                }
                if let Some(id) = message["tool_call_id"].as_str() {
                    message["tool_call_id"] = format!("{id}-{turn}").into();
                }
            }
        }),
        // They are stamped anew when they are sent.
        on_later_requests("given-messages-sorted-by-time-behind-the-rounds", PREFIX, |run, request| {
            request.rotate_left(run.requests[0].len())
        }),
        on_later_requests("parallel-answers-sorted-later", PREFIX, |run, request| {
            let rounds = rounds(run, request);
            for pair in rounds.windows(2) {
                request[pair[0] + 1..pair[1]].reverse();
            }
        }),
        on_later_requests("history-summed-up-later", PREFIX, |run, request| {
            let given = run.requests[0].len();
            if given > 3 {
                request.splice(..given - 1, [json!({"type": "human", "content": "Earlier: a talk."})]);
            }
        }),
    ];
    bugs.extend(family("results-older-than-{n}-rounds-dropped", &[1, 2, 5, 17, 64, 118], |name, size| {
        on_later_requests(name, PREFIX, move |run, request| {
            older(run, request, size)
                .filter(|message| is(message, "tool"))
                .for_each(|message| change_text(message, |_| "[dropped]".into()));
        })
    }));
    bugs.extend(family("rounds-older-than-{n}-removed", &[1, 3, 10, 33, 90], |name, size| {
        on_later_requests(name, PREFIX, move |run, request| {
            let rounds = rounds(run, request);
            if rounds.len() > size {
                request.drain(rounds[0]..rounds[rounds.len() - size]);
            }
        })
    }));
    bugs.extend(family("results-cut-to-{n}-characters-later", &[10, 1_000, 2_000], |name, size| {
        on_later_requests(name, PREFIX, move |run, request| {
            older(run, request, 1)
                .filter(|message| is(message, "tool"))
                .for_each(|message| change_text(message, |text| cut(text, size)));
        })
    }));
    bugs.extend(family("only-the-last-{n}-messages-after-round-one", &[4, 30, 150], |name, size| {
        on_later_requests(name, PREFIX, move |_, request| {
            let cut = request.len().saturating_sub(size);
            request.drain(..cut);
        })
    }));
    bugs
}

pub(super) fn start() -> Vec<Planted> {
    vec![
        given_kept("system-messages-not-sent", START, |message| !is(message, "system")),
        on_given("system-message-sent-twice", START, |list| {
            if let Some(system) = list.iter().find(|message| is(message, "system")).cloned() {
                list.insert(0, system);
            }
        }),
        on_given("own-system-message-in-front", START, |list| {
            list.insert(0, json!({"type": "system", "content": "You are a helpful assistant."}))
        }),
        on_given("system-message-as-a-human-one", START, |list| {
            list.iter_mut().filter(|message| is(message, "system")).for_each(|message| message["type"] = "human".into())
        }),
        on_given("system-text-put-into-the-first-question", START, |list| {
            let systems: Vec<Value> = list.extract_if(.., |message| is(message, "system")).collect();
            if let (Some(system), Some(human)) = (systems.first(), list.iter_mut().find(|message| is(message, "human")))
            {
                human["content"] = format!("{}\n\n{}", words(system), words(human)).into();
            }
        }),
        on_given("only-the-first-system-message", START, |list| {
            let mut seen = false;
            list.retain(|message| !is(message, "system") || !std::mem::replace(&mut seen, true));
        }),
        on_given("only-a-leading-system-message", START, |list| {
            let mut index = 0;
            list.retain(|message| {
                index += 1;
                index == 1 || !is(message, "system")
            });
        }),
        on_given("only-the-last-question", START, |list| {
            let last = list.iter().rposition(|message| is(message, "human")).unwrap_or(0);
            let mut index = 0;
            list.retain(|message| {
                index += 1;
                index > last || is(message, "system")
            });
        }),
        given_kept("earlier-answers-dropped", START, |message| !is(message, "ai") || message["tool_calls"].is_array()),
        given_kept("earlier-rounds-dropped", START, |message| {
            !is(message, "tool") && !message["tool_calls"].is_array()
        }),
        on_given("arguments-of-earlier-calls-dropped", START, |list| {
            for call in list.iter_mut().flat_map(calls_mut) {
                call.insert("args".into(), json!({}));
            }
        }),
        on_given("earlier-calls-told-as-text", START, |list| {
            for message in list.iter_mut() {
                if message["tool_calls"].is_array() {
                    *message = json!({"type": "ai", "content": format!("Calls: {}", message["tool_calls"])});
                } else if is(message, "tool") {
                    *message = json!({"type": "human", "content": format!("Result: {}", message["content"])});
                }
            }
        }),
        on_given("questions-in-a-row-joined", START, |list| {
            list.dedup_by(|next, before| {
                let joins = is(next, "human") && is(before, "human");
                if joins {
                    before["content"] = format!("{}\n{}", words(before), words(next)).into();
                }
                joins
            });
        }),
        on_given("equal-messages-merged", START, |list| {
            let mut seen: Vec<Value> = Vec::new();
            list.retain(|message| {
                let is_new = !seen.contains(message);
                seen.push(message.clone());
                is_new
            });
        }),
        begun("tools-described-in-front", START, |run| {
            if let Some(tools) = run.input["tools"].as_object().filter(|tools| !tools.is_empty()) {
                let names: Vec<&str> = tools.keys().map(String::as_str).collect();
                run.list.insert(0, json!({"type": "human", "content": format!("Tools: {}", names.join(", "))}));
            }
        }),
        on_given("answers-at-the-end-of-the-history-dropped", START, |list| {
            while list.last().is_some_and(|message| is(message, "tool") || message["tool_calls"].is_array()) {
                list.pop();
            }
        }),
        on_given("answer-invited-by-a-last-message", START, |list| {
            if !list.last().is_some_and(|message| is(message, "human")) {
                list.push(json!({"type": "human", "content": "Continue."}));
            }
        }),
        seam::end("callers-list-grows", CALLER, |_, output| output["given"] = output["messages"].clone()),
        seam::end("callers-list-gets-the-answers", CALLER, |run, output| {
            let answers = run.list.iter().filter(|message| is(message, "tool")).cloned();
            output["given"].as_array_mut().into_iter().for_each(|given| given.extend(answers.clone()));
        }),
        seam::end("callers-list-loses-its-system-message", CALLER, |_, output| {
            output["given"].as_array_mut().into_iter().for_each(|given| given.retain(|message| !is(message, "system")));
        }),
        seam::end("callers-list-is-emptied", CALLER, |_, output| output["given"] = json!([])),
    ]
}
