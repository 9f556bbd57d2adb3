//! WIRE-PARTIAL: calls that did not come whole. AGENT-MODEL-FAILURE: half an answer that is taken for a whole one.

use super::{RESPONSES, bug, on_events};
use crate::planted::Planted;
use crate::wire::modes::{ALL, Modes, PLAIN, STREAMS};
use crate::wire::{HeardAnswer, NextStep, WireAgent, as_an_sdk};
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::text;

const PARTIAL: &[&str] = &[clause::WIRE_PARTIAL];
const FAILURE: &[&str] = &[clause::AGENT_MODEL_FAILURE];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];

/// Changes what was heard before anything is made of it.
fn on_heard(agent: &mut WireAgent, change: impl Fn(&mut HeardAnswer) + Send + Sync + 'static) {
    agent.heard = Box::new(move |_, heard| change(heard));
}

/// JSON text that ends too early, with what closes it.
fn closed(half: &str) -> String {
    let (mut open, mut is_text, mut is_escaped) = (Vec::new(), false, false);
    for character in half.chars() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            '{' if !is_text => open.push('}'),
            '[' if !is_text => open.push(']'),
            '}' | ']' if !is_text => drop(open.pop()),
            _ => {}
        }
    }
    let quote = if is_text { "\"" } else { "" };
    let rest: String = open.iter().rev().collect();
    let whole = format!("{half}{quote}{rest}");
    // A name without its value is left out, as readers of half a JSON text do.
    [whole, format!("{half}{quote}:null{rest}"), format!("{}{rest}", half.trim_end_matches([',', ':']))]
        .into_iter()
        .find(|text| serde_json::from_str::<Value>(text).is_ok())
        .unwrap_or_else(|| "{}".to_owned())
}

/// Makes something of the calls that did not come whole.
fn mend_calls(heard: &mut HeardAnswer, mend: fn(&str) -> String) {
    for call in heard.parts_of("call") {
        call["closed"] = true.into();
        if crate::wire::arguments(text(&call["arguments"])).is_none() {
            call["arguments"] = mend(text(&call["arguments"])).into();
        }
    }
}

fn nothing(_: &str) -> String {
    "{}".to_owned()
}

/// Takes an answer that the limit cut off for a whole one.
fn run_cut_off(agent: &mut WireAgent, mend: fn(&str) -> String) {
    on_heard(agent, move |heard| {
        if heard.is_cut_off() {
            heard.stop = String::new();
            mend_calls(heard, mend);
        }
    });
}

/// Goes on with an answer that broke off, as if it had ended.
fn go_on(agent: &mut WireAgent, mend: fn(&str) -> String, is_run: fn(&Value) -> bool) {
    agent.failed = Box::new(move |run, failed| match &failed.heard {
        Some(heard) if heard.calls().any(is_run) => {
            let mut heard = heard.clone();
            mend_calls(&mut heard, mend);
            NextStep::GoOn(heard.turn())
        }
        _ => as_an_sdk(run, failed),
    });
}

/// Only streams break off in the middle of a call.
const BROKEN: Modes = STREAMS;

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("half-calls-run-with-what-came", PARTIAL, BROKEN, |agent| go_on(agent, closed, |_| true)),
        bug("half-calls-run-without-arguments", PARTIAL, BROKEN, |agent| go_on(agent, nothing, |_| true)),
        bug("half-call-run-if-it-has-a-name", PARTIAL, BROKEN, |agent| {
            go_on(agent, closed, |call| call["arguments"] != "");
        }),
        bug("clean-end-in-a-call-taken-for-the-end", PARTIAL, BROKEN, |agent| {
            on_heard(agent, |heard| {
                if heard.error.is_none() && !heard.is_ended {
                    heard.is_ended = true;
                    mend_calls(heard, closed);
                }
            });
        }),
        bug("cut-off-calls-run", PARTIAL, STREAMS, |agent| run_cut_off(agent, closed)),
        bug("cut-off-calls-run-without-arguments", PARTIAL, STREAMS, |agent| run_cut_off(agent, nothing)),
        bug("cut-off-calls-of-whole-answers-run", PARTIAL, PLAIN.of(super::OPENAI), |agent| run_cut_off(agent, closed)),
        bug("unreadable-arguments-taken-for-none", PARTIAL, ALL.of(super::OPENAI), |agent| {
            on_heard(agent, |heard| mend_calls(heard, nothing));
        }),
        bug("unreadable-arguments-mended", PARTIAL, ALL.of(super::OPENAI), |agent| {
            on_heard(agent, |heard| mend_calls(heard, closed));
        }),
        bug("unreadable-arguments-of-a-stream-taken-for-none", PARTIAL, STREAMS, |agent| {
            on_heard(agent, |heard| mend_calls(heard, nothing));
        }),
        bug("unreadable-arguments-wrapped", PARTIAL, ALL.of(super::OPENAI), |agent| {
            on_heard(agent, |heard| mend_calls(heard, |half| json!({"input": half}).to_string()));
        }),
        bug("half-a-text-taken-for-the-answer", FAILURE, STREAMS, |agent| {
            agent.failed = Box::new(|run, failed| match &failed.heard {
                Some(heard) if heard.calls().next().is_none() => NextStep::GoOn(heard.turn()),
                _ => as_an_sdk(run, failed),
            });
        }),
        bug("clean-end-taken-for-the-end", FAILURE, STREAMS, |agent| {
            on_heard(agent, |heard| {
                if heard.error.is_none() && heard.calls().next().is_none() {
                    heard.is_ended = true;
                }
            });
        }),
        bug("errors-in-streams-skipped", FAILURE, STREAMS, |agent| {
            on_events(agent, |events| {
                let is_error = |event: &Value| {
                    !event["error"].is_null() || event["type"] == "error" || event["type"] == "response.failed"
                };
                events.retain(|event| !is_error(event));
            });
            on_heard(agent, |heard| heard.is_ended = true);
        }),
        bug("error-in-a-stream-ends-the-answer", FAILURE, STREAMS, |agent| {
            on_heard(agent, |heard| heard.is_ended |= heard.error.take().is_some());
        }),
        bug("failed-response-taken-for-an-answer", FAILURE, STREAMS.of(RESPONSES), |agent| {
            on_events(agent, |events| {
                for event in events.iter_mut().filter(|event| event["type"] == "response.failed") {
                    event["type"] = "response.completed".into();
                    event["response"]["error"] = Value::Null;
                }
            });
        }),
        bug("unreadable-events-skipped", FAILURE, STREAMS, |agent| {
            on_events(agent, |events| events.retain(|event| event["type"] != "garbage"));
            on_heard(agent, |heard| heard.is_ended |= heard.error.is_none());
        }),
        bug("half-an-answer-stands-before-the-next-one", RESPONSE, STREAMS, |agent| {
            agent.failed = Box::new(|run, failed| {
                let half = failed.heard.as_ref().map(|heard| heard.turn()["content"].clone()).unwrap_or_default();
                run.memory["half"] = format!("{}{}", text(&run.memory["half"]), text(&half)).into();
                as_an_sdk(run, failed)
            });
            agent.heard = Box::new(|run, heard| {
                if heard.is_ended && heard.error.is_none() {
                    let half = text(&run.memory["half"]).to_owned();
                    run.memory["half"] = Value::Null;
                    heard.parts.insert(0, json!({"type": "text", "text": half}));
                }
            });
        }),
        bug(
            "calls-of-a-broken-answer-stand-before-those-of-the-next",
            RESPONSE,
            STREAMS.of(&[Api::OpenAiResponses, Api::Anthropic]),
            |agent| {
                agent.failed = Box::new(|run, failed| {
                    let calls = failed.heard.as_ref().map(|heard| heard.calls().cloned().collect::<Vec<_>>());
                    run.memory["calls"] = calls.unwrap_or_default().into();
                    as_an_sdk(run, failed)
                });
                agent.heard = Box::new(|run, heard| {
                    if heard.is_ended && heard.error.is_none() {
                        let calls = run.memory["calls"].as_array().cloned().unwrap_or_default();
                        run.memory["calls"] = Value::Null;
                        let whole = calls.into_iter().filter(|call| crate::wire::whole_call(call).is_some());
                        let new: Vec<Value> = whole.collect();
                        heard.parts.splice(0..0, new);
                    }
                });
            },
        ),
    ]
}
