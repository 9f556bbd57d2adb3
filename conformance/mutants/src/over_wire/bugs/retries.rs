//! WIRE-RETRY: what comes after a failed attempt. AGENT-MODEL-FAILURE: what is told of one that was the last.

use super::{bug, history, on_retries};
use crate::agent::{RunState, calls, content, outcome};
use crate::planted::Planted;
use crate::wire::modes::{ALL, STREAMS};
use crate::wire::{Failed, NextStep, WireAgent, as_an_sdk, backoff};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::text;

const RETRY: &[&str] = &[clause::WIRE_RETRY];
const FAILURE: &[&str] = &[clause::AGENT_MODEL_FAILURE];

/// Changes the messages of retries.
fn on_messages(agent: &mut WireAgent, change: impl Fn(&mut RunState, &mut Vec<Value>) + Send + Sync + 'static) {
    agent.shown_again = Box::new(change);
}

/// Changes the messages of retries, and of everything behind them.
fn for_good(agent: &mut WireAgent, change: fn(&mut RunState, &mut Vec<Value>)) {
    on_messages(agent, move |run, messages| {
        change(run, messages);
        run.list.clone_from(messages);
    });
}

/// Tries again so often where an attempt fails in such a way.
fn again(agent: &mut WireAgent, times: usize, fits: fn(&Failed) -> bool) {
    agent.failed = Box::new(move |run, failed| {
        if fits(failed) && run.wire.attempt < times {
            NextStep::Again(backoff(run.wire.attempt))
        } else {
            as_an_sdk(run, failed)
        }
    });
}

/// Gives this answer in place of one that failed for good.
fn instead(agent: &mut WireAgent, answer: impl Fn(&Failed) -> Value + Send + Sync + 'static) {
    agent.failed = Box::new(move |run, failed| match as_an_sdk(run, failed) {
        NextStep::GiveUp => NextStep::GoOn(answer(failed)),
        next => next,
    });
}

/// Runs the calls of the last response a second time.
fn run_again(run: &mut RunState, messages: &mut [Value]) {
    let Some(at) = messages.iter().rposition(|message| !calls(message).is_empty()) else { return };
    for call in calls(&messages[at]) {
        let result = outcome(run, &call);
        let answers = messages[at..].iter_mut().filter(|message| message["tool_call_id"] == call["id"]);
        answers.for_each(|answer| answer["content"] = content(&result));
    }
}

fn human(text: &str) -> Value {
    json!({"type": "human", "content": text})
}

fn is(message: &Value, kind: &str) -> bool {
    message["type"] == kind
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("refused-requests-sent-again", RETRY, ALL, |agent| {
            again(agent, 2, |failed| failed.status().is_some_and(|status| (400..500).contains(&status)));
        }),
        bug("refused-requests-sent-again-once", RETRY, ALL, |agent| {
            again(agent, 1, |failed| failed.status().is_some_and(|status| (400..500).contains(&status)));
        }),
        bug("bad-requests-sent-again", RETRY, ALL, |agent| again(agent, 2, |failed| failed.status() == Some(400))),
        bug("tried-again-without-end", RETRY, ALL, |agent| again(agent, 40, Failed::is_passing)),
        bug("tried-fifteen-times", RETRY, ALL, |agent| again(agent, 14, Failed::is_passing)),
        bug("last-message-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                if messages.len() > 1 {
                    messages.pop();
                }
            });
        }),
        bug("first-message-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                if messages.len() > 1 {
                    messages.remove(0);
                }
            });
        }),
        bug("system-messages-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| messages.retain(|message| !is(message, "system")));
        }),
        bug("system-messages-missing-on-the-second-retry", RETRY, ALL, |agent| {
            on_messages(agent, |run, messages| {
                messages.retain(|message| run.wire.attempt < 2 || !is(message, "system"))
            });
        }),
        bug("rounds-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                messages.retain(|message| !is(message, "tool") && calls(message).is_empty())
            });
        }),
        bug("oldest-round-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                if let Some(at) = messages.iter().position(|message| !calls(message).is_empty()) {
                    let end = at + 1 + messages[at + 1..].iter().take_while(|message| is(message, "tool")).count();
                    if end < messages.len() {
                        messages.drain(at..end);
                    }
                }
            });
        }),
        bug("failure-told-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| messages.push(human("The last request failed. Please try again.")));
        }),
        bug("failure-told-from-a-retry-on", RETRY, ALL, |agent| {
            for_good(agent, |_, messages| messages.push(human("The last request failed. Please try again.")));
        }),
        bug("failure-told-as-the-models-words-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                messages.extend([json!({"type": "ai", "content": "Connection error."}), human("Continue.")]);
            });
        }),
        bug("last-human-message-repeated-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                let last = messages.iter().rfind(|message| is(message, "human")).cloned();
                messages.extend(last);
            });
        }),
        bug("results-missing-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                messages
                    .iter_mut()
                    .filter(|message| is(message, "tool"))
                    .for_each(|message| message["content"] = "".into());
            });
        }),
        bug("results-as-references-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                for message in messages.iter_mut().filter(|message| is(message, "tool")) {
                    message["content"] = "[as before]".into();
                }
            });
        }),
        bug("results-in-another-order-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                for answers in messages.chunk_by_mut(|one, other| is(one, "tool") && is(other, "tool")) {
                    answers.reverse();
                }
            });
        }),
        bug("calls-run-again-on-a-retry", RETRY, ALL, |agent| {
            for_good(agent, |run, messages| run_again(run, messages));
        }),
        bug("calls-run-again-on-a-retry-of-a-later-round", RETRY, ALL, |agent| {
            for_good(agent, |run, messages| {
                if run.turn > 2 {
                    run_again(run, messages);
                }
            });
        }),
        bug("run-begun-again-after-a-failure", RETRY, ALL, |agent| {
            for_good(agent, |run, messages| messages.truncate(run.input["messages"].as_array().map_or(0, Vec::len)));
        }),
        bug("request-before-sent-on-a-retry", RETRY, ALL, |agent| {
            on_retries(agent, |run, body| {
                let bodies = &run.wire.bodies;
                if let Some(other) = bodies.iter().rev().find(|other| **other != *body) {
                    *body = other.clone();
                }
            });
        }),
        bug("first-request-sent-on-a-retry", RETRY, ALL, |agent| {
            on_retries(agent, |run, body| body.clone_from(&run.wire.bodies[0]));
        }),
        bug("history-as-one-text-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                let told: Vec<&str> = messages.iter().map(|message| text(&message["content"])).collect();
                *messages = vec![human(&told.join("\n"))];
            });
        }),
        bug("ids-renewed-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |run, messages| {
                let new = |id: &mut Value| *id = format!("{}r{}", text(id), run.wire.attempt).into();
                for message in messages {
                    if message["tool_call_id"].is_string() {
                        new(&mut message["tool_call_id"]);
                    }
                    message["tool_calls"].as_array_mut().into_iter().flatten().for_each(|call| new(&mut call["id"]));
                }
            });
        }),
        bug("long-results-cut-on-a-retry", RETRY, ALL, |agent| {
            on_messages(agent, |_, messages| {
                for message in messages.iter_mut().filter(|message| is(message, "tool")) {
                    message["content"] = crate::wire::cut(text(&message["content"]), 100).into();
                }
            });
        }),
        bug("history-cut-to-two-messages-on-a-retry", RETRY, ALL, |agent| {
            on_retries(agent, |_, body| {
                let history = history(body);
                history.drain(..history.len().saturating_sub(2));
            });
        }),
        bug("half-answer-and-a-call-to-go-on-sent-on-a-retry", RETRY, STREAMS, |agent| {
            agent.failed = Box::new(|run, failed| {
                let half = failed.heard.as_ref().map(|heard| heard.turn()["content"].clone());
                run.memory["half"] = half.unwrap_or_default();
                as_an_sdk(run, failed)
            });
            on_messages(agent, |run, messages| {
                if run.memory["half"].as_str().is_some_and(|half| !half.is_empty()) {
                    let half = format!("{} [interrupted]", text(&run.memory["half"]));
                    messages.extend([json!({"type": "ai", "content": half}), human("Continue.")]);
                }
            });
        }),
        bug("failing-model-quoted-as-its-answer", FAILURE, ALL, |agent| {
            instead(agent, |failed| json!({"content": format!("Error: {}", failed.why)}));
        }),
        bug("failing-model-taken-for-a-silent-one", FAILURE, ALL, |agent| instead(agent, |_| json!({"content": ""}))),
        bug("failing-model-excused-in-the-models-place", FAILURE, ALL, |agent| {
            instead(agent, |_| json!({"content": "Sorry, I cannot help with that right now."}));
        }),
        bug("failing-model-not-reported", FAILURE, ALL, |agent| {
            agent.agent.failed = Box::new(|run, _| {
                run.stop = Some(String::new());
                false
            });
        }),
        bug("overloaded-model-taken-for-a-silent-one", FAILURE, ALL, |agent| {
            agent.failed = Box::new(|run, failed| match as_an_sdk(run, failed) {
                NextStep::GiveUp if failed.status().is_some_and(|status| status >= 500) => {
                    NextStep::GoOn(json!({"content": ""}))
                }
                next => next,
            });
        }),
    ]
}
