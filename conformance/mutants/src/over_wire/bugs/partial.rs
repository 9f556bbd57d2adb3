//! WIRE-PARTIAL: calls that did not come whole. AGENT-MODEL-FAILURE: half an answer that is taken for a whole one.

use crate::over_wire::prelude::*;

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

/// Only streams break off in the middle of a call.
const BROKEN: Modes = STREAMS;

impl WireGroup {
    /// Takes an answer that the limit cut off for a whole one.
    fn run_cut_off(self, name: &'static str, mend: fn(&str) -> String) -> Planted {
        self.heard(name, move |_, heard| {
            if heard.is_cut_off() {
                heard.stop = String::new();
                mend_calls(heard, mend);
            }
        })
    }

    /// Goes on with an answer that broke off, as if it had ended.
    fn gone_on(self, name: &'static str, mend: fn(&str) -> String, is_run: fn(&Value) -> bool) -> Planted {
        self.failed(name, move |run, failed| match &failed.heard {
            Some(heard) if heard.calls().any(is_run) => {
                let mut heard = heard.clone();
                mend_calls(&mut heard, mend);
                NextStep::GoOn(heard.turn())
            }
            _ => as_an_sdk(run, failed),
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        PARTIAL.of(BROKEN).gone_on("half-calls-run-with-what-came", closed, |_| true),
        PARTIAL.of(BROKEN).gone_on("half-calls-run-without-arguments", nothing, |_| true),
        PARTIAL.of(BROKEN).gone_on("half-call-run-if-it-has-a-name", closed, |call| call["arguments"] != ""),
        PARTIAL.of(BROKEN).heard("clean-end-in-a-call-taken-for-the-end", |_, heard| {
            if heard.error.is_none() && !heard.is_ended {
                heard.is_ended = true;
                mend_calls(heard, closed);
            }
        }),
        PARTIAL.of(STREAMS).run_cut_off("cut-off-calls-run", closed),
        PARTIAL.of(STREAMS).run_cut_off("cut-off-calls-run-without-arguments", nothing),
        PARTIAL.of(PLAIN.of(OPENAI)).run_cut_off("cut-off-calls-of-whole-answers-run", closed),
        PARTIAL.of(ALL.of(OPENAI)).heard("unreadable-arguments-taken-for-none", |_, heard| mend_calls(heard, nothing)),
        PARTIAL.of(ALL.of(OPENAI)).heard("unreadable-arguments-mended", |_, heard| mend_calls(heard, closed)),
        PARTIAL
            .of(STREAMS)
            .heard("unreadable-arguments-of-a-stream-taken-for-none", |_, heard| mend_calls(heard, nothing)),
        PARTIAL.of(ALL.of(OPENAI)).heard("unreadable-arguments-wrapped", |_, heard| {
            mend_calls(heard, |half| json!({"input": half}).to_string())
        }),
        FAILURE.of(STREAMS).failed("half-a-text-taken-for-the-answer", |run, failed| match &failed.heard {
            Some(heard) if heard.calls().next().is_none() => NextStep::GoOn(heard.turn()),
            _ => as_an_sdk(run, failed),
        }),
        FAILURE.of(STREAMS).heard("clean-end-taken-for-the-end", |_, heard| {
            if heard.error.is_none() && heard.calls().next().is_none() {
                heard.is_ended = true;
            }
        }),
        FAILURE.of(STREAMS).plant("errors-in-streams-skipped", |agent| {
            agent.events = Box::new(|_, events| {
                let is_error = |event: &Value| {
                    !event["error"].is_null() || event["type"] == "error" || event["type"] == "response.failed"
                };
                events.retain(|event| !is_error(event));
            });
            agent.heard = Box::new(|_, heard| heard.is_ended = true);
        }),
        FAILURE
            .of(STREAMS)
            .heard("error-in-a-stream-ends-the-answer", |_, heard| heard.is_ended |= heard.error.take().is_some()),
        FAILURE.of(STREAMS.of(RESPONSES)).each_event("failed-response-taken-for-an-answer", |event| {
            if event["type"] == "response.failed" {
                event["type"] = "response.completed".into();
                event["response"]["error"] = Value::Null;
            }
        }),
        FAILURE.of(STREAMS).plant("unreadable-events-skipped", |agent| {
            agent.events = Box::new(|_, events| events.retain(|event| event["type"] != "garbage"));
            agent.heard = Box::new(|_, heard| heard.is_ended |= heard.error.is_none());
        }),
        RESPONSE.of(STREAMS).plant("half-an-answer-stands-before-the-next-one", |agent| {
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
        RESPONSE.of(STREAMS.of(&[Api::OpenAiResponses, Api::Anthropic])).plant(
            "calls-of-a-broken-answer-stand-before-those-of-the-next",
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
