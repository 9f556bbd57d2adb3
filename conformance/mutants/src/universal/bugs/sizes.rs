//! What shows only with size, and remembers or looks around. All else that shows with size are rows.
//! Bugs of sizes beyond the corpus, and of readers of streams, written before there was a case for any of them. Most of them are rows.
//! Two conditions at once, positions, and numbers that fill a block. Each condition is harmless alone.

use crate::universal::prelude::*;

/// The number that a bug keeps in the memory of the agent, one more with each call.
fn counted(run: &mut RunState, by: u64) -> u64 {
    let count = run.memory.as_u64().unwrap_or(0) + by;
    run.memory = count.into();
    count
}

/// Empties results when all of them together are longer.
fn budget(name: &str, size: usize) -> Planted {
    on_later_requests(name, PREFIX, move |_, request| {
        let mut left = size;
        for message in request.iter_mut().rev().filter(|message| is(message, "tool")) {
            let length = words(message).len();
            if length > left {
                message["content"] = "[removed]".into();
            }
            left = left.saturating_sub(length);
        }
    })
}

/// Does not know the tools behind so many.
fn tools_beyond(name: &str, size: usize) -> Planted {
    seam::outcome(name, RESULT, move |run, call| {
        let tools = run.input["tools"].as_object();
        let at = tools.and_then(|tools| tools.keys().position(|name| *name == call["name"]));
        let is_known = at.is_none_or(|at| at < size);
        if is_known { outcome(run, call) } else { ToolOutcome::Unknown(text(&call["name"]).to_owned()) }
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = family("failures-beyond-{n}-end-the-run", &[10, 50, 99], |name, size| {
        seam::after_round(name, FAILURE, move |run| {
            if run.list.iter().filter(|message| words(message).starts_with("The tool failed")).count() > size {
                run.stop = Some("too many failures".into());
            }
        })
    })
    .collect();
    bugs.extend(family("answers-of-a-run-beyond-{n}-emptied", &[500, 999], |name, size| {
        seam::answers(name, RESULT, move |run, answers| {
            let before = run.list.iter().filter(|message| is(message, "tool")).count();
            answers.iter_mut().skip(size.saturating_sub(before)).for_each(|answer| answer["content"] = "".into());
        })
    }));
    bugs.extend(family("rounds-older-than-{n}-lost", &[125, 190], |name, size| {
        on_later_requests(name, PREFIX, move |run, request| {
            if run.turn > size + 1 {
                request.drain(1..3);
            }
        })
    }));
    bugs.extend(family("no-more-than-{n}-rounds", &[128, 199], |name, size| {
        ends_when(name, GOES_ON, move |run| run.turn >= size)
    }));
    bugs.extend(family("tools-beyond-{n}-not-found", &[20, 127, 512, 999], tools_beyond));
    bugs.extend(family("tools-beyond-number-{n}-not-found", &[64, 128, 500], tools_beyond));
    bugs.extend(family("results-of-a-run-beyond-{n}-characters-removed", &[20_000, 100_000, 400_000], budget));
    bugs.extend(family("long-ids-cut-to-{n}-characters", &[100, 512], |name, size| {
        seam::response(name, IDS, move |run, message| {
            for call in calls_mut(message) {
                let old = text(&call["id"]).to_owned();
                let id = cut(&old, size);
                call.insert("id".into(), (&*id).into());
                run.renamed.push((id, old));
            }
        })
    }));
    bugs.extend(family("limits-above-{n}-lowered", &[25, 50, 99], |name, size| {
        bug(name, GOES_ON, move |agent| {
            agent.is_cut = Box::new(move |run| {
                run.limit().is_some_and(|limit| run.turn > limit.min(size) + usize::from(limit > size))
            });
            agent.answers_when_cut = Box::new(|_, calls| calls.iter().map(|call| answer(call, "Limit.")).collect());
        })
    }));
    bugs.extend(family("texts-beside-calls-beyond-{n}-dropped", &[20, 99], |name, size| {
        on_response(name, RESPONSE, move |run, message| {
            if run.turn > size {
                message["content"] = "".into();
            }
        })
    }));
    bugs.extend(family("run-{n}-gets-the-messages-of-the-one-before", &[20, 101, 520], |name, size| {
        begun(name, INDEPENDENT, move |run| {
            let count = run.memory["count"].as_u64().unwrap_or(0) + 1;
            if count >= size as u64 {
                let earlier = run.memory["list"].as_array().cloned().unwrap_or_default();
                run.list.splice(0..0, earlier);
            }
            run.memory = json!({"count": count, "list": run.input["messages"]});
        })
    }));
    bugs.extend(family("no-run-after-{n}", &[50, 100, 500], |name, size| {
        seam::begin(name, GOES_ON, move |run| {
            mend(&mut run.list);
            if counted(run, 1) > size as u64 { Err("too many runs".into()) } else { Ok(()) }
        })
    }));
    bugs.extend(family("results-empty-after-{n}-calls", &[100, 200, 1_000], |name, size| {
        seam::content(
            name,
            RESULT,
            move |run, outcome| if counted(run, 1) > size as u64 { "".into() } else { content(outcome) },
        )
    }));
    bugs
}

pub(super) fn unseen_sizes() -> Vec<Planted> {
    let runs = family("system-message-forgotten-from-run-{n}-on", &[10, 50, 500], |name, size| {
        begun(name, INDEPENDENT, move |run| {
            let runs = run.memory.as_u64().unwrap_or(0) + 1;
            run.memory = runs.into();
            if runs > size as u64 {
                run.list.retain(|message| !is(message, "system"));
            }
        })
    });
    let later = family("results-cut-to-{n}-characters-later", &[20_000, 200_000], |name, size| {
        on_later_requests(name, PREFIX, move |run, request| {
            let before = run.requests.last().map_or(0, Vec::len);
            let sent = request.iter_mut().take(before).filter(|message| is(message, "tool"));
            sent.for_each(|message| change_text(message, |text| cut(text, size)));
        })
    });
    let others = [
        on_response("second-call-in-a-stream-joins-the-first", RESPONSE, |_, message| {
            let own = calls(message);
            if own.len() > 1 && own[0]["name"] == own[1]["name"] && own[0]["args"] == json!({}) {
                calls_mut(message).take(1).for_each(|call| drop(call.insert("args".into(), own[1]["args"].clone())));
            }
        }),
        on_response("response-without-arguments-takes-those-before", RESPONSE, |run, message| {
            for call in calls_mut(message).filter(|call| call["args"] == json!({})) {
                let earlier = run.list.iter().rev().flat_map(calls).find(|other| other["name"] == call["name"]);
                call.insert("args".into(), earlier.map_or(json!({}), |earlier| earlier["args"].clone()));
            }
        }),
    ];
    runs.chain(later).chain(others).collect()
}

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
    let breaks = if name.starts_with("a-long-text") { TEXT } else { RESULT };
    seam::outcome(name, breaks, move |run, call| {
        let outcome = outcome(run, call);
        let both = kind(run, call, &outcome) && circumstance(run, call, &outcome);
        if both { ToolOutcome::Result("lost".into()) } else { outcome }
    })
}

/// Leaves out the answer to a call of the current response, given its position and the number of calls.
fn unanswered(
    name: &str,
    breaks: Clauses,
    lost: impl Fn(&RunState, usize, usize) -> bool + Copy + Send + Sync + 'static,
) -> Planted {
    seam::answers(name, breaks, move |run, answers| {
        let (mut at, several) = (0, answers.len());
        answers.retain(|_| {
            at += 1;
            !lost(run, at - 1, several)
        });
    })
}

fn failed(answer: &Value) -> bool {
    words(answer).starts_with("The tool failed")
}

pub(super) fn meetings() -> Vec<Planted> {
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
        seam::answers("failure-of-the-last-of-eight-unanswered", FAILURE, |_, answers| {
            drop(answers.pop_if(|answer| failed(answer)).filter(|_| answers.len() == 7));
        }),
        seam::answers("null-at-an-odd-position-shifts-the-others", RESULT, |_, answers| {
            let null = answers.iter().position(|answer| answer["content"] == "null").filter(|at| at % 2 == 1);
            if let Some(at) = null.filter(|at| at + 1 < answers.len()) {
                let (one, other) = (answers[at]["content"].clone(), answers[at + 1]["content"].clone());
                answers[at]["content"] = other;
                answers[at + 1]["content"] = one;
            }
        }),
        seam::answers("unknown-tool-in-front-fails-its-siblings", &[clause::AGENT_FAILURE, clause::AGENT_RESULT], |_, answers| {
            if answers.len() > 4 && words(&answers[0]).starts_with("There is no tool") {
                answers.iter_mut().skip(1).for_each(|answer| answer["content"] = "There is no tool called gone.".into());
            }
        }),
        seam::outcome("object-in-the-last-place-as-its-members", RESULT, |run, call| match outcome(run, call) {
            ToolOutcome::Result(Value::Object(members))
                if matches!(position(run, call), (at, several @ 4..) if at + 1 == several) =>
            {
                ToolOutcome::Result(members.values().cloned().collect())
            }
            other => other,
        }),
        seam::answers("answers-of-a-wider-round-stay", ANSWERED, |run, answers| {
            let before = run.memory.as_array().cloned().unwrap_or_default();
            run.memory = answers.clone().into();
            answers.extend(before.into_iter().skip(answers.len()).filter(|_| run.turn == 5));
        }),
        ends_when("third-failure-in-a-row-of-successes-ends-the-run", FAILURE, |run| {
            run.list.iter().filter(|message| failed(message)).count() == 3
                && run.list.iter().filter(|message| is(message, "tool")).count() == 9
        }),
        seam::content("fifth-empty-result-of-a-run-filled", RESULT, |run, outcome| {
            if *outcome != ToolOutcome::Result("".into()) {
                return content(outcome);
            }
            let empty = run.list.iter().filter(|message| is(message, "tool") && words(message).is_empty()).count();
            if empty == 4 { "(no output)".into() } else { "".into() }
        }),
        on_given("given-rounds-in-a-row-joined", START, |list| {
            let behind = |pair: &[Value]| is(&pair[0], "tool") && has_calls(&pair[1]) && words(&pair[1]).is_empty();
            if let Some(at) = list.windows(2).position(behind).map(|before| before + 1) {
                let joined = list.remove(at);
                if let Some(before) = list[..at].iter_mut().rfind(|message| has_calls(message)) {
                    let mut all = calls(before);
                    all.extend(calls(&joined));
                    before["tool_calls"] = all.into();
                }
            }
        }),
        on_given("given-answers-in-a-row-joined", START, |list| {
            let plain = |message: &Value| message["type"] == "ai" && calls(message).is_empty();
            list.dedup_by(|next, before| {
                let both = plain(next) && plain(before);
                if both {
                    before["content"] = format!("{}\n{}", words(before), words(next)).into();
                }
                both
            });
        }),
    ]);
    bugs
}

fn blocks() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = family("last-call-of-{n}-unanswered", &[4, 8, 13, 16, 32, 64, 128], |name, size| {
        unanswered(name, ANSWERED, move |_, at, several| several == size && at + 1 == size)
    })
    .collect();
    bugs.extend(family("calls-behind-full-blocks-of-{n}-unanswered", &[8, 32, 64], |name, size| {
        unanswered(name, ANSWERED, move |_, at, several| several > size && at >= several / size * size)
    }));
    bugs.extend(family("last-call-of-{n}-not-repeated", &[6, 15, 33, 129], |name, size| {
        on_response(name, RESPONSE, move |_, message| {
            message["tool_calls"].as_array_mut().into_iter().for_each(|calls| {
                if calls.len() == size {
                    calls.truncate(size - 1)
                }
            });
        })
    }));
    bugs.extend(family("lists-of-{n}-in-results-lose-their-last", &[8, 32, 127, 256], |name, size| {
        inside_results(name, RESULT, move |value| {
            if let Some(list) = value.as_array_mut().filter(|list| list.len() == size) {
                list.pop();
            }
        })
    }));
    bugs.extend(family("lists-of-{n}-in-arguments-lose-their-last", &[7, 64, 255], |name, size| {
        inside_arguments(name, RESPONSE, move |value| {
            if let Some(list) = value.as_array_mut().filter(|list| list.len() == size) {
                list.pop();
            }
        })
    }));
    bugs.extend(family("objects-of-{n}-in-arguments-lose-their-last", &[9, 65, 128], |name, size| {
        inside_arguments(name, RESPONSE, move |value| {
            if let Some(members) = value.as_object_mut().filter(|members| members.len() == size) {
                *members = std::mem::take(members).into_iter().take(size - 1).collect();
            }
        })
    }));
    bugs
}
