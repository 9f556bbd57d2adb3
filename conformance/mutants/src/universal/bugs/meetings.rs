//! Two conditions at once, positions, and numbers that fill a block. Each condition is harmless alone.

use super::{bug, each, family, on_arguments, on_given, on_response, on_structured};
use crate::agent::{Agent, RunState, ToolOutcome, calls, content, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const ANSWERED: &[&str] = &[clause::AGENT_ANSWERED];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];

/// Whether a call of the current response, with its outcome, meets a condition.
type Condition = fn(&RunState, &Value, &ToolOutcome) -> bool;

fn position(run: &RunState, call: &Value) -> (usize, usize) {
    let own = run.list.last().map(calls).unwrap_or_default();
    (own.iter().position(|other| other["id"] == call["id"]).unwrap_or(0), own.len())
}

const KINDS: [(&str, Condition); 8] = [
    ("null", |_, _, outcome| *outcome == ToolOutcome::Result(Value::Null)),
    ("nothing", |_, _, outcome| *outcome == ToolOutcome::Result("".into())),
    ("false", |_, _, outcome| *outcome == ToolOutcome::Result(false.into())),
    ("zero", |_, _, outcome| *outcome == ToolOutcome::Result(0.into())),
    ("an-object", |_, _, outcome| matches!(outcome, ToolOutcome::Result(Value::Object(_)))),
    ("a-list", |_, _, outcome| matches!(outcome, ToolOutcome::Result(Value::Array(_)))),
    (
        "digits",
        |_, _, outcome| matches!(outcome, ToolOutcome::Result(Value::String(text)) if !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())),
    ),
    ("a-long-text", |_, _, outcome| matches!(outcome, ToolOutcome::Result(Value::String(text)) if text.len() > 2_000)),
];

const CIRCUMSTANCES: [(&str, Condition); 10] = [
    ("first-of-several", |run, call, _| matches!(position(run, call), (0, 2..))),
    ("last-of-several", |run, call, _| matches!(position(run, call), (at, several @ 2..) if at + 1 == several)),
    ("in-the-middle", |run, call, _| matches!(position(run, call), (at @ 1.., several) if at + 1 < several)),
    ("in-round-three", |run, _, _| run.turn == 3),
    ("beside-a-text", |run, _, _| run.scripted(0)["content"].as_str().is_some_and(|text| !text.is_empty())),
    ("without-arguments", |_, call, _| call["args"] == json!({})),
    ("with-nested-arguments", |_, call, _| call["args"]["a"].is_object()),
    ("under-instructions", |run, _, _| run.list.iter().any(|message| message["type"] == "system")),
    ("behind-a-given-round", |run, _, _| run.requests[0].iter().any(|message| message["type"] == "tool")),
    ("in-a-limited-run", |run, _, _| run.limit().is_some()),
];

/// Replaces the result of a call where both conditions hold.
fn meeting(name: &str, kind: Condition, circumstance: Condition) -> Planted {
    let breaks = if name.starts_with("a-long-text") { &[clause::AGENT_TEXT] } else { RESULT };
    bug(name, breaks, move |agent| {
        agent.outcome = Box::new(move |run, call| {
            let outcome = outcome(run, call);
            let both = kind(run, call, &outcome) && circumstance(run, call, &outcome);
            if both { ToolOutcome::Result("lost".into()) } else { outcome }
        });
    })
}

/// Leaves out the answer to a call of the current response, given its position and the number of calls.
fn unanswered(agent: &mut Agent, lost: impl Fn(&RunState, usize, usize) -> bool + Send + Sync + 'static) {
    agent.answers = Box::new(move |run, answers| {
        let (mut at, several) = (0, answers.len());
        answers.retain(|_| {
            at += 1;
            !lost(run, at - 1, several)
        });
    });
}

fn failed(answer: &Value) -> bool {
    text(&answer["content"]).starts_with("The tool failed")
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = KINDS
        .iter()
        .enumerate()
        .flat_map(|(turn, &(kind, is_kind))| {
            // Half of the pairs, so that each condition meets several others.
            let others = CIRCUMSTANCES.iter().enumerate().filter(move |(other, _)| (turn + other) % 2 == 0);
            others.map(move |(_, &(name, is_so))| meeting(&format!("{kind}-{name}-lost"), is_kind, is_so))
        })
        .collect();
    bugs.extend(blocks());
    bugs.extend([
        bug("failure-of-the-last-of-eight-unanswered", &[clause::AGENT_FAILURE], |agent| {
            agent.answers = Box::new(|_, answers| drop(answers.pop_if(|answer| failed(answer)).filter(|_| answers.len() == 7)));
        }),
        bug("null-at-an-odd-position-shifts-the-others", RESULT, |agent| {
            agent.answers = Box::new(|_, answers| {
                let null = answers.iter().position(|answer| answer["content"] == "null").filter(|at| at % 2 == 1);
                if let Some(at) = null.filter(|at| at + 1 < answers.len()) {
                    let (one, other) = (answers[at]["content"].clone(), answers[at + 1]["content"].clone());
                    answers[at]["content"] = other;
                    answers[at + 1]["content"] = one;
                }
            });
        }),
        bug("unknown-tool-in-front-fails-its-siblings", &[clause::AGENT_FAILURE, clause::AGENT_RESULT], |agent| {
            agent.answers = Box::new(|_, answers| {
                if answers.len() > 4 && text(&answers[0]["content"]).starts_with("There is no tool") {
                    answers.iter_mut().skip(1).for_each(|answer| answer["content"] = "There is no tool called gone.".into());
                }
            });
        }),
        bug("object-in-the-last-place-as-its-members", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| match outcome(run, call) {
                ToolOutcome::Result(Value::Object(members)) if matches!(position(run, call), (at, several @ 4..) if at + 1 == several) => {
                    ToolOutcome::Result(members.values().cloned().collect())
                }
                other => other,
            });
        }),
        bug("answers-of-a-wider-round-stay", ANSWERED, |agent| {
            agent.answers = Box::new(|run, answers| {
                let before = run.memory.as_array().cloned().unwrap_or_default();
                run.memory = answers.clone().into();
                answers.extend(before.into_iter().skip(answers.len()).filter(|_| run.turn == 5));
            });
        }),
        bug("third-failure-in-a-row-of-successes-ends-the-run", &[clause::AGENT_FAILURE], |agent| {
            agent.after_round = Box::new(|run| {
                if run.list.iter().filter(|message| failed(message)).count() == 3 && run.list.iter().filter(|message| message["type"] == "tool").count() == 9 {
                    run.stop = Some(String::new());
                }
            });
        }),
        bug("fifth-empty-result-of-a-run-filled", RESULT, |agent| {
            agent.content = Box::new(|run, outcome| {
                if *outcome != ToolOutcome::Result("".into()) {
                    return content(outcome);
                }
                let empty = run.list.iter().filter(|message| message["type"] == "tool" && message["content"] == "").count();
                if empty == 4 { "(no output)".into() } else { "".into() }
            });
        }),
        bug("given-rounds-in-a-row-joined", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| {
                let behind = |at: usize, list: &[Value]| at > 0 && list[at - 1]["type"] == "tool" && !calls(&list[at]).is_empty() && text(&list[at]["content"]).is_empty();
                if let Some(at) = (0..list.len()).find(|&at| behind(at, list)) {
                    let joined = list.remove(at);
                    if let Some(before) = list[..at].iter_mut().rfind(|message| !calls(message).is_empty()) {
                        let mut all = calls(before);
                        all.extend(calls(&joined));
                        before["tool_calls"] = all.into();
                    }
                }
            });
        }),
        bug("given-answers-in-a-row-joined", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| {
                let plain = |message: &Value| message["type"] == "ai" && calls(message).is_empty();
                list.dedup_by(|next, before| {
                    let both = plain(next) && plain(before);
                    if both {
                        before["content"] = format!("{}\n{}", text(&before["content"]), text(&next["content"])).into();
                    }
                    both
                });
            });
        }),
    ]);
    bugs
}

fn blocks() -> Vec<Planted> {
    let mut bugs: Vec<Planted> =
        family("last-call-of-{n}-unanswered", ANSWERED, &[4, 8, 13, 16, 32, 64, 128], |agent, size| {
            unanswered(agent, move |_, at, several| several == size && at + 1 == size);
        })
        .collect();
    bugs.extend(family("calls-behind-full-blocks-of-{n}-unanswered", ANSWERED, &[8, 32, 64], |agent, size| {
        unanswered(agent, move |_, at, several| several > size && at >= several / size * size);
    }));
    bugs.extend(family("last-call-of-{n}-not-repeated", RESPONSE, &[6, 15, 33, 129], |agent, size| {
        on_response(agent, move |_, message| {
            message["tool_calls"].as_array_mut().into_iter().for_each(|calls| {
                if calls.len() == size {
                    calls.truncate(size - 1)
                }
            });
        });
    }));
    bugs.extend(family("lists-of-{n}-in-results-lose-their-last", RESULT, &[8, 32, 127, 256], |agent, size| {
        on_structured(agent, move |value| {
            let mut value = value.clone();
            each(&mut value, &|value| {
                if let Some(list) = value.as_array_mut().filter(|list| list.len() == size) {
                    list.pop();
                }
            });
            halves::escaped(&value.to_string()).into()
        });
    }));
    bugs.extend(family("lists-of-{n}-in-arguments-lose-their-last", RESPONSE, &[7, 64, 255], |agent, size| {
        on_arguments(agent, move |args| {
            each(args, &|value| {
                if let Some(list) = value.as_array_mut().filter(|list| list.len() == size) {
                    list.pop();
                }
            });
        });
    }));
    bugs.extend(family("objects-of-{n}-in-arguments-lose-their-last", RESPONSE, &[9, 65, 128], |agent, size| {
        on_arguments(agent, move |args| {
            each(args, &|value| {
                if let Some(members) = value.as_object_mut().filter(|members| members.len() == size) {
                    *members = std::mem::take(members).into_iter().take(size - 1).collect();
                }
            });
        });
    }));
    bugs
}
