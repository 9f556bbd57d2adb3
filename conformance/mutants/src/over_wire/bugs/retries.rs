//! WIRE-RETRY: what comes after a failed attempt. AGENT-MODEL-FAILURE: what is told of one that was the last.

use crate::agent::{content, outcome};
use crate::over_wire::prelude::*;

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

impl WireGroup {
    /// Changes the messages of retries, and of everything behind them.
    fn for_good(self, name: &'static str, change: fn(&mut RunState, &mut Vec<Value>)) -> Planted {
        self.shown_again(name, move |run, messages| {
            change(run, messages);
            run.list.clone_from(messages);
        })
    }

    /// Tries again so often where an attempt fails in such a way.
    fn tried_again(self, name: &'static str, times: usize, fits: fn(&Failed) -> bool) -> Planted {
        self.failed(name, move |run, failed| {
            if fits(failed) && run.wire.attempt < times {
                NextStep::Again(backoff(run.wire.attempt))
            } else {
                as_an_sdk(run, failed)
            }
        })
    }

    /// Gives this answer in place of one that failed for good.
    fn instead(self, name: &'static str, answer: impl Fn(&Failed) -> Value + Copy + Send + Sync + 'static) -> Planted {
        self.failed(name, move |run, failed| match as_an_sdk(run, failed) {
            NextStep::GiveUp => NextStep::GoOn(answer(failed)),
            next => next,
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        RETRY.tried_again("refused-requests-sent-again", 2, |failed| {
            failed.status().is_some_and(|status| (400..500).contains(&status))
        }),
        RETRY.tried_again("refused-requests-sent-again-once", 1, |failed| {
            failed.status().is_some_and(|status| (400..500).contains(&status))
        }),
        RETRY.tried_again("bad-requests-sent-again", 2, |failed| failed.status() == Some(400)),
        RETRY.tried_again("tried-again-without-end", 40, Failed::is_passing),
        RETRY.tried_again("tried-fifteen-times", 14, Failed::is_passing),
        RETRY.shown_again("last-message-missing-on-a-retry", |_, messages| {
            if messages.len() > 1 {
                messages.pop();
            }
        }),
        RETRY.shown_again("first-message-missing-on-a-retry", |_, messages| {
            if messages.len() > 1 {
                messages.remove(0);
            }
        }),
        RETRY.shown_again("system-messages-missing-on-a-retry", |_, messages| {
            messages.retain(|message| !is(message, "system"))
        }),
        RETRY.shown_again("system-messages-missing-on-the-second-retry", |run, messages| {
            messages.retain(|message| run.wire.attempt < 2 || !is(message, "system"))
        }),
        RETRY.shown_again("rounds-missing-on-a-retry", |_, messages| {
            messages.retain(|message| !is(message, "tool") && calls(message).is_empty())
        }),
        RETRY.shown_again("oldest-round-missing-on-a-retry", |_, messages| {
            if let Some(at) = messages.iter().position(|message| !calls(message).is_empty()) {
                let end = at + 1 + messages[at + 1..].iter().take_while(|message| is(message, "tool")).count();
                if end < messages.len() {
                    messages.drain(at..end);
                }
            }
        }),
        RETRY.shown_again("failure-told-on-a-retry", |_, messages| {
            messages.push(human("The last request failed. Please try again."))
        }),
        RETRY.for_good("failure-told-from-a-retry-on", |_, messages| {
            messages.push(human("The last request failed. Please try again."))
        }),
        RETRY.shown_again("failure-told-as-the-models-words-on-a-retry", |_, messages| {
            messages.extend([json!({"type": "ai", "content": "Connection error."}), human("Continue.")]);
        }),
        RETRY.shown_again("last-human-message-repeated-on-a-retry", |_, messages| {
            let last = messages.iter().rfind(|message| is(message, "human")).cloned();
            messages.extend(last);
        }),
        RETRY.shown_again("results-missing-on-a-retry", |_, messages| {
            messages
                .iter_mut()
                .filter(|message| is(message, "tool"))
                .for_each(|message| message["content"] = "".into());
        }),
        RETRY.retold("results-as-references-on-a-retry", |message| {
            if is(message, "tool") {
                message["content"] = "[as before]".into();
            }
        }),
        RETRY.shown_again("results-in-another-order-on-a-retry", |_, messages| {
            for answers in messages.chunk_by_mut(|one, other| is(one, "tool") && is(other, "tool")) {
                answers.reverse();
            }
        }),
        RETRY.for_good("calls-run-again-on-a-retry", |run, messages| run_again(run, messages)),
        RETRY.for_good("calls-run-again-on-a-retry-of-a-later-round", |run, messages| {
            if run.turn > 2 {
                run_again(run, messages);
            }
        }),
        RETRY.for_good("run-begun-again-after-a-failure", |run, messages| {
            messages.truncate(run.input["messages"].as_array().map_or(0, Vec::len))
        }),
        RETRY.again("request-before-sent-on-a-retry", |run, body| {
            let bodies = &run.wire.bodies;
            if let Some(other) = bodies.iter().rev().find(|other| **other != *body) {
                *body = other.clone();
            }
        }),
        RETRY.again("first-request-sent-on-a-retry", |run, body| body.clone_from(&run.wire.bodies[0])),
        RETRY.shown_again("history-as-one-text-on-a-retry", |_, messages| {
            let told: Vec<&str> = messages.iter().map(|message| text(&message["content"])).collect();
            *messages = vec![human(&told.join("\n"))];
        }),
        RETRY.shown_again("ids-renewed-on-a-retry", |run, messages| {
            let new = |id: &mut Value| *id = format!("{}r{}", text(id), run.wire.attempt).into();
            for message in messages {
                if message["tool_call_id"].is_string() {
                    new(&mut message["tool_call_id"]);
                }
                message["tool_calls"].as_array_mut().into_iter().flatten().for_each(|call| new(&mut call["id"]));
            }
        }),
        RETRY.retold("long-results-cut-on-a-retry", |message| {
            if is(message, "tool") {
                message["content"] = cut(text(&message["content"]), 100).into();
            }
        }),
        RETRY.again("history-cut-to-two-messages-on-a-retry", |_, body| {
            let history = history(body);
            history.drain(..history.len().saturating_sub(2));
        }),
        RETRY.of(STREAMS).plant("half-answer-and-a-call-to-go-on-sent-on-a-retry", |agent| {
            agent.failed = Box::new(|run, failed| {
                let half = failed.heard.as_ref().map(|heard| heard.turn()["content"].clone());
                run.memory["half"] = half.unwrap_or_default();
                as_an_sdk(run, failed)
            });
            agent.shown_again = Box::new(|run, messages| {
                if run.memory["half"].as_str().is_some_and(|half| !half.is_empty()) {
                    let half = format!("{} [interrupted]", text(&run.memory["half"]));
                    messages.extend([json!({"type": "ai", "content": half}), human("Continue.")]);
                }
            });
        }),
        FAILURE.instead(
            "failing-model-quoted-as-its-answer",
            |failed| json!({"content": format!("Error: {}", failed.why)}),
        ),
        FAILURE.instead("failing-model-taken-for-a-silent-one", |_| json!({"content": ""})),
        FAILURE.instead(
            "failing-model-excused-in-the-models-place",
            |_| json!({"content": "Sorry, I cannot help with that right now."}),
        ),
        FAILURE.plant("failing-model-not-reported", |agent| {
            agent.agent.failed = Box::new(|run, _| {
                run.stop = Some(String::new());
                false
            });
        }),
        FAILURE.failed("overloaded-model-taken-for-a-silent-one", |run, failed| match as_an_sdk(run, failed) {
            NextStep::GiveUp if failed.status().is_some_and(|status| status >= 500) => {
                NextStep::GoOn(json!({"content": ""}))
            }
            next => next,
        }),
    ]
}
