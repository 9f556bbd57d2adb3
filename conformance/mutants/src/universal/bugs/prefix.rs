//! AGENT-PREFIX: what changes in a request that was sent before.

use super::{bug, calls_mut, change_text, cut, family, is, on_later_requests};
use crate::agent::{RunState, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const PREFIX: &[&str] = &[clause::AGENT_PREFIX];

/// Where each round of the run begins: at the message with its calls.
fn rounds(run: &RunState, request: &[Value]) -> Vec<usize> {
    let given = run.requests.first().map_or(0, Vec::len);
    (given..request.len()).filter(|&index| is(&request[index], &["ai"])).collect()
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
        bug("system-message-counts-steps", PREFIX, |agent| {
            agent.shown = Box::new(|run, request| {
                let step = run.turn;
                for message in request.iter_mut().filter(|message| step > 0 && is(message, &["system"])) {
                    change_text(message, |text| format!("{text}\nStep {step}"));
                }
            });
        }),
        bug("system-message-moves-behind", PREFIX, |agent| {
            on_later_requests(agent, |_, request| {
                if let Some(index) = request.iter().position(|message| is(message, &["system"])) {
                    let system = request.remove(index);
                    request.push(system);
                }
            });
        }),
        bug("system-message-only-at-first", PREFIX, |agent| {
            on_later_requests(agent, |_, request| request.retain(|message| !is(message, &["system"])));
        }),
        bug("reminder-as-a-system-message", PREFIX, |agent| {
            on_later_requests(agent, |_, request| request.push(json!({"type": "system", "content": "Answer soon."})));
        }),
        bug("question-repeated-at-the-end", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                let asked = request.iter().rfind(|message| is(message, &["human"])).cloned();
                // It moves with each request, so that none begins with the previous one.
                if run.turn > 1 {
                    request.extend(asked);
                } else if let Some(asked) = asked {
                    request.insert(0, asked);
                }
            });
        }),
        bug("texts-beside-earlier-calls-dropped", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                older(run, request, 1)
                    .filter(|message| is(message, &["ai"]))
                    .for_each(|message| change_text(message, |_| String::new()));
            });
        }),
        bug("arguments-of-earlier-calls-emptied", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                older(run, request, 1).flat_map(calls_mut).for_each(|call| drop(call.insert("args".into(), json!({}))));
            });
        }),
        bug("failed-rounds-removed-later", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                let failed = |message: &Value| text(&message["content"]).starts_with("The tool failed");
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
            });
        }),
        bug("equal-rounds-merged-later", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                let rounds = rounds(run, request);
                let key = |index: usize| {
                    request[index]["tool_calls"]
                        .as_array()
                        .map(|calls| calls.iter().map(|call| call["args"].clone()).collect::<Vec<_>>())
                };
                if let Some(pair) = rounds.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
                    request.drain(pair[0]..pair[1]);
                }
            });
        }),
        bug("ids-numbered-anew-in-each-request", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
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
            });
        }),
        // They are stamped anew when they are sent.
        bug("given-messages-sorted-by-time-behind-the-rounds", PREFIX, |agent| {
            on_later_requests(agent, |run, request| request.rotate_left(run.requests[0].len()));
        }),
        bug("parallel-answers-sorted-later", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                let rounds = rounds(run, request);
                for pair in rounds.windows(2) {
                    request[pair[0] + 1..pair[1]].reverse();
                }
            });
        }),
        bug("history-summed-up-later", PREFIX, |agent| {
            on_later_requests(agent, |run, request| {
                let given = run.requests[0].len();
                if given > 3 {
                    request.splice(..given - 1, [json!({"type": "human", "content": "Earlier: a talk."})]);
                }
            });
        }),
    ];
    bugs.extend(family("results-older-than-{n}-rounds-dropped", PREFIX, &[1, 2, 5, 17, 64, 118], |agent, size| {
        on_later_requests(agent, move |run, request| {
            older(run, request, size)
                .filter(|message| is(message, &["tool"]))
                .for_each(|message| change_text(message, |_| "[dropped]".into()));
        });
    }));
    bugs.extend(family("rounds-older-than-{n}-removed", PREFIX, &[1, 3, 10, 33, 90], |agent, size| {
        on_later_requests(agent, move |run, request| {
            let rounds = rounds(run, request);
            if rounds.len() > size {
                request.drain(rounds[0]..rounds[rounds.len() - size]);
            }
        });
    }));
    bugs.extend(family("results-cut-to-{n}-characters-later", PREFIX, &[10, 1_000, 2_000], |agent, size| {
        on_later_requests(agent, move |run, request| {
            older(run, request, 1)
                .filter(|message| is(message, &["tool"]))
                .for_each(|message| change_text(message, |text| cut(text, size)));
        });
    }));
    bugs.extend(family("only-the-last-{n}-messages-after-round-one", PREFIX, &[4, 30, 150], |agent, size| {
        on_later_requests(agent, move |_, request| {
            let cut = request.len().saturating_sub(size);
            request.drain(..cut);
        });
    }));
    bugs
}
