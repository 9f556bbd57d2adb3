//! AGENT-ANSWERED and AGENT-ORDER: which answers there are, and where they stand; AGENT-VALID: what they lack.

use super::{bug, calls_mut, family};
use crate::agent::{Agent, ToolOutcome, calls, content, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const ANSWERED: &[&str] = &[clause::AGENT_ANSWERED];
const ORDER: &[&str] = &[clause::AGENT_ORDER];

fn on_answers(agent: &mut Agent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    agent.answers = Box::new(move |_, answers| change(answers));
}

/// Leaves out the answers to calls with such an outcome.
fn unanswered(agent: &mut Agent, is_nothing: fn(&ToolOutcome) -> bool) {
    agent.content =
        Box::new(move |_, outcome| if is_nothing(outcome) { json!({"nothing": true}) } else { content(outcome) });
    on_answers(agent, |answers| answers.retain(|answer| !answer["content"].is_object()));
}

fn after_round(agent: &mut Agent, message: fn(usize) -> Value) {
    agent.after_round = Box::new(move |run| run.list.push(message(run.turn)));
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("answers-in-front-of-the-response", &[clause::AGENT_RESPONSE], |agent| {
            agent.answers = Box::new(|run, answers| {
                let response = run.list.pop();
                run.list.append(answers);
                run.list.extend(response);
            });
        }),
        bug("null-results-unanswered", ANSWERED, |agent| {
            unanswered(agent, |outcome| *outcome == ToolOutcome::Result(Value::Null));
        }),
        bug("empty-texts-unanswered", ANSWERED, |agent| {
            unanswered(agent, |outcome| *outcome == ToolOutcome::Result("".into()))
        }),
        bug("empty-lists-unanswered", ANSWERED, |agent| {
            unanswered(agent, |outcome| *outcome == ToolOutcome::Result(json!([])));
        }),
        bug("results-that-count-as-false-unanswered", ANSWERED, |agent| {
            unanswered(agent, |outcome| {
                [json!(null), json!(false), json!(0), json!(""), json!({})]
                    .iter()
                    .any(|nothing| *outcome == ToolOutcome::Result(nothing.clone()))
            });
        }),
        bug("round-ends-with-a-question", ANSWERED, |agent| {
            after_round(agent, |_| json!({"type": "human", "content": "Continue."}));
        }),
        bug("round-ends-with-a-thought", ANSWERED, |agent| {
            after_round(agent, |_| json!({"type": "ai", "content": "I have the results."}));
        }),
        bug("second-round-ends-with-a-question", ANSWERED, |agent| {
            agent.after_round = Box::new(|run| {
                if run.turn == 2 {
                    run.list.push(json!({"type": "human", "content": "You are at step 2."}));
                }
            });
        }),
        bug("answers-of-the-round-before-sent-again", ANSWERED, |agent| {
            agent.answers = Box::new(|run, answers| {
                let before = run.memory["answers"].as_array().cloned().unwrap_or_default();
                run.memory = json!({"answers": answers});
                if run.turn > 1 {
                    answers.extend(before);
                }
            });
        }),
        bug("answers-under-the-name-of-the-tool", ANSWERED, |agent| {
            agent.answers = Box::new(|run, answers| {
                let calls = run.list.last().map(calls).unwrap_or_default();
                answers.iter_mut().zip(calls).for_each(|(answer, call)| answer["tool_call_id"] = call["name"].clone());
            });
        }),
        bug("one-answer-for-each-tool", ANSWERED, |agent| {
            agent.answers = Box::new(|run, answers| {
                let mut calls = run.list.last().map(calls).unwrap_or_default().into_iter();
                let mut seen: Vec<Value> = Vec::new();
                answers.retain(|_| {
                    let name = calls.next().map(|call| call["name"].clone()).unwrap_or_default();
                    let is_new = !seen.contains(&name);
                    seen.push(name);
                    is_new
                });
            });
        }),
        bug("equal-calls-answered-once-in-a-run", ANSWERED, |agent| {
            agent.answers = Box::new(|run, answers| {
                let mut calls = run.list.last().map(calls).unwrap_or_default().into_iter();
                let earlier = run.list[..run.list.len() - 1].to_vec();
                answers.retain(|_| {
                    let args = calls.next().map(|call| call["args"].clone()).unwrap_or_default();
                    !earlier.iter().flat_map(self::calls).any(|call| call["args"] == args && args != json!({}))
                });
            });
        }),
        bug("empty-texts-as-null", &[clause::AGENT_RESULT], |agent| {
            agent.end = Box::new(|_, output| {
                for message in
                    output["requests"].as_array_mut().into_iter().flatten().filter_map(Value::as_array_mut).flatten()
                {
                    if message["type"] == "tool" && message["content"] == "" {
                        message["content"] = Value::Null;
                    }
                }
            });
        }),
        bug("calls-without-an-id", &[clause::AGENT_IDS], |agent| {
            agent.shown = Box::new(|_, request| {
                for call in request.iter_mut().flat_map(calls_mut) {
                    call.remove("id");
                }
            });
        }),
        bug("answers-grouped-by-tool", ORDER, |agent| {
            agent.answers = Box::new(|run, answers| {
                let calls = run.list.last().map(calls).unwrap_or_default();
                let name = |answer: &Value| {
                    let called = calls.iter().find(|call| call["id"] == answer["tool_call_id"]);
                    called.map(|call| text(&call["name"]).to_owned())
                };
                answers.sort_by_key(name);
            });
        }),
    ];
    bugs.extend(family("no-answers-from-round-{n}-on", ANSWERED, &[2, 5, 25, 100], |agent, size| {
        agent.answers = Box::new(move |run, answers| {
            if run.turn >= size {
                answers.clear();
            }
        });
    }));
    bugs.push(bug("answers-pile-up-until-the-end", ANSWERED, |agent| {
        agent.answers = Box::new(|run, answers| {
            let is_due = calls(&run.scripted(1)).is_empty();
            let mut held = run.memory["held"].as_array().cloned().unwrap_or_default();
            held.append(answers);
            if is_due {
                run.memory = Value::Null;
                *answers = held;
            } else {
                run.memory = json!({"held": held});
            }
        });
    }));
    bugs
}
