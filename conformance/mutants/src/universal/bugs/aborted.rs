//! Runs that fail although nothing in them failed: an exception after the last response, or a rejection of what the model may say.
//! The clause is that of what ended the run, otherwise AGENT-GOES-ON.

use super::{bug, family};
use crate::agent::{Agent, RunState, calls, mend, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const FAILURE: &[&str] = &[clause::AGENT_FAILURE];
const ENCODABLE: &[&str] = &[clause::AGENT_ENCODABLE];

/// Reports a failure after the last response, if the condition holds.
fn fails(agent: &mut Agent, fails: impl Fn(&RunState, &Value) -> bool + Send + Sync + 'static) {
    agent.is_last = Box::new(move |run, message| {
        let is_last = calls(message).is_empty();
        if is_last && fails(run, message) {
            run.stop = Some("RuntimeError: gone".to_owned());
        }
        is_last
    });
}

/// Reports a failure after a last response with such a text.
fn fails_at_text(agent: &mut Agent, is_bad: fn(&str) -> bool) {
    fails(agent, move |_, message| is_bad(text(&message["content"])));
}

/// Reports a failure after the last response, if there was such an answer.
fn fails_after(agent: &mut Agent, is_bad: fn(&str) -> bool) {
    fails(agent, move |run, _| {
        run.list.iter().any(|message| message["type"] == "tool" && is_bad(text(&message["content"])))
    });
}

/// Rejects a whole script for what the model says in it.
fn rejects(agent: &mut Agent, is_bad: impl Fn(&RunState, &Value) -> bool + Send + Sync + 'static) {
    agent.begin = Box::new(move |run| {
        if run.input["model"].as_array().into_iter().flatten().any(|turn| is_bad(run, turn)) {
            return Err("ValueError: the response is not valid".to_owned());
        }
        mend(&mut run.list);
        Ok(())
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("failure-in-every-reply", GOES_ON, |agent| {
            agent.end = Box::new(|run, output| {
                if run.stop.is_none() {
                    output["failure"] = "RuntimeError: gone".into();
                }
            });
        }),
        bug("failure-in-every-second-reply", GOES_ON, |agent| {
            agent.end = Box::new(|run, output| {
                let is_second = run.memory == true;
                run.memory = json!(!is_second);
                if is_second && run.stop.is_none() {
                    output["failure"] = "RuntimeError: event loop is closed".into();
                }
            });
        }),
        bug("failure-without-tools", GOES_ON, |agent| fails(agent, |run, _| run.input["tools"].is_null())),
        bug("failure-without-calls", GOES_ON, |agent| fails(agent, |run, _| run.turn == 1)),
        bug("failure-where-a-limit-is-set", GOES_ON, |agent| {
            fails(agent, |run, _| run.limit().is_some_and(|limit| run.turn <= limit));
        }),
        bug("failure-with-a-system-message", GOES_ON, |agent| {
            fails(agent, |run, _| run.list.iter().any(|message| message["type"] == "system"));
        }),
        bug("failure-behind-a-history", GOES_ON, |agent| {
            fails(agent, |run, _| run.requests[0].iter().any(|message| message["type"] == "ai"));
        }),
        bug("failure-after-parallel-calls", GOES_ON, |agent| {
            fails(agent, |run, _| run.list.iter().any(|message| calls(message).len() > 1));
        }),
        bug("failure-after-a-null-result", GOES_ON, |agent| fails_after(agent, |text| text == "null")),
        bug("failure-after-an-empty-result", GOES_ON, |agent| fails_after(agent, str::is_empty)),
        bug("failure-at-an-empty-last-answer", GOES_ON, |agent| fails_at_text(agent, str::is_empty)),
        bug("failure-at-a-blank-last-answer", GOES_ON, |agent| {
            fails_at_text(agent, |text| text.trim().is_empty() && !text.is_empty());
        }),
        bug("failure-at-a-last-answer-outside-of-ascii", GOES_ON, |agent| {
            fails_at_text(agent, |text| !text.is_ascii())
        }),
        bug("failure-at-a-last-answer-like-json", GOES_ON, |agent| {
            fails_at_text(agent, |text| text.starts_with('{') && text.ends_with('}'));
        }),
        bug("failure-at-a-half-in-the-last-answer", ENCODABLE, |agent| {
            fails(agent, |run, _| {
                let said = run.scripted(0)["content"].as_str().map(str::to_owned).unwrap_or_default();
                halves::repaired(&said) != said
            });
        }),
        bug("failure-after-a-failing-tool", FAILURE, |agent| {
            fails_after(agent, |text| text.starts_with("The tool failed"));
        }),
        bug("failure-after-an-unknown-tool", FAILURE, |agent| {
            fails_after(agent, |text| text.starts_with("There is no tool called"));
        }),
        bug("scripts-with-repeated-ids-rejected", GOES_ON, |agent| {
            rejects(agent, |_, turn| {
                let ids: Vec<Value> = calls(turn).iter().map(|call| call["id"].clone()).collect();
                (1..ids.len()).any(|index| ids[..index].contains(&ids[index]))
            });
        }),
        bug("scripts-with-empty-ids-rejected", GOES_ON, |agent| {
            rejects(agent, |_, turn| calls(turn).iter().any(|call| call["id"] == ""));
        }),
        bug("scripts-beyond-the-limit-rejected", GOES_ON, |agent| {
            rejects(agent, |run, _| {
                let turns = run.input["model"].as_array().into_iter().flatten();
                let rounds = turns.take_while(|turn| !calls(turn).is_empty()).count();
                run.limit().is_some_and(|limit| rounds > limit)
            });
        }),
        bug("scripts-with-unknown-tools-rejected", FAILURE, |agent| {
            rejects(agent, |run, turn| {
                calls(turn).iter().any(|call| run.input["tools"].get(text(&call["name"])).is_none())
            });
        }),
        bug("scripts-with-failing-models-rejected", &[clause::AGENT_MODEL_FAILURE], |agent| {
            rejects(agent, |_, turn| turn["error"].is_string());
        }),
        bug("failures-of-the-model-told-as-rejections", &[clause::AGENT_MODEL_FAILURE], |agent| {
            rejects(agent, |run, _| run.input["model"][0]["error"].is_string());
        }),
    ];
    bugs.extend(family("failure-after-{n}-rounds", GOES_ON, &[1, 2, 20, 100], |agent, size| {
        fails(agent, move |run, _| run.turn > size);
    }));
    bugs.extend(family("failure-after-{n}-calls", GOES_ON, &[3, 15], |agent, size| {
        fails(agent, move |run, _| run.list.iter().flat_map(calls).count() >= size);
    }));
    bugs.extend(family("failure-after-an-answer-of-{n}-characters", GOES_ON, &[1_000, 60_000], |agent, size| {
        fails(agent, move |_, message| text(&message["content"]).len() >= size);
    }));
    bugs
}
