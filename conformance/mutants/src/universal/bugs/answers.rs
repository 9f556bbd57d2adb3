//! AGENT-ANSWERED and AGENT-ORDER: which answers there are, and where they stand; AGENT-VALID: what they lack.
//! AGENT-HISTORY: what becomes of a history that no provider accepts.

use crate::universal::prelude::*;

/// Leaves out the answers to calls with such an outcome.
fn unanswered(name: &str, breaks: Clauses, is_nothing: fn(&ToolOutcome) -> bool) -> Planted {
    bug(name, breaks, move |agent| {
        agent.content =
            Box::new(move |_, outcome| if is_nothing(outcome) { json!({"nothing": true}) } else { content(outcome) });
        agent.answers = Box::new(|_, answers| answers.retain(|answer| !answer["content"].is_object()));
    })
}

fn after_round(name: &str, breaks: Clauses, message: fn(usize) -> Value) -> Planted {
    seam::after_round(name, breaks, move |run| run.list.push(message(run.turn)))
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        seam::answers("answers-in-front-of-the-response", RESPONSE, |run, answers| {
            let response = run.list.pop();
            run.list.append(answers);
            run.list.extend(response);
        }),
        unanswered("null-results-unanswered", ANSWERED, |outcome| *outcome == ToolOutcome::Result(Value::Null)),
        unanswered("empty-texts-unanswered", ANSWERED, |outcome| *outcome == ToolOutcome::Result("".into())),
        unanswered("empty-lists-unanswered", ANSWERED, |outcome| *outcome == ToolOutcome::Result(json!([]))),
        unanswered("results-that-count-as-false-unanswered", ANSWERED, |outcome| {
            [json!(null), json!(false), json!(0), json!(""), json!({})]
                .iter()
                .any(|nothing| *outcome == ToolOutcome::Result(nothing.clone()))
        }),
        after_round("round-ends-with-a-question", ANSWERED, |_| json!({"type": "human", "content": "Continue."})),
        after_round("round-ends-with-a-thought", ANSWERED, |_| json!({"type": "ai", "content": "I have the results."})),
        seam::after_round("second-round-ends-with-a-question", ANSWERED, |run| {
            if run.turn == 2 {
                run.list.push(json!({"type": "human", "content": "You are at step 2."}));
            }
        }),
        seam::answers("answers-of-the-round-before-sent-again", ANSWERED, |run, answers| {
            let before = run.memory["answers"].as_array().cloned().unwrap_or_default();
            run.memory = json!({"answers": answers});
            if run.turn > 1 {
                answers.extend(before);
            }
        }),
        seam::answers("answers-under-the-name-of-the-tool", ANSWERED, |run, answers| {
            let calls = run.list.last().map(calls).unwrap_or_default();
            answers.iter_mut().zip(calls).for_each(|(answer, call)| answer["tool_call_id"] = call["name"].clone());
        }),
        seam::answers("one-answer-for-each-tool", ANSWERED, |run, answers| {
            let mut calls = run.list.last().map(calls).unwrap_or_default().into_iter();
            let mut seen: Vec<Value> = Vec::new();
            answers.retain(|_| {
                let name = calls.next().map(|call| call["name"].clone()).unwrap_or_default();
                let is_new = !seen.contains(&name);
                seen.push(name);
                is_new
            });
        }),
        seam::answers("equal-calls-answered-once-in-a-run", ANSWERED, |run, answers| {
            let mut calls = run.list.last().map(calls).unwrap_or_default().into_iter();
            let earlier = run.list[..run.list.len() - 1].to_vec();
            answers.retain(|_| {
                let args = calls.next().map(|call| call["args"].clone()).unwrap_or_default();
                !earlier.iter().flat_map(self::calls).any(|call| call["args"] == args && args != json!({}))
            });
        }),
        seam::end("empty-texts-as-null", RESULT, |_, output| {
            for message in
                output["requests"].as_array_mut().into_iter().flatten().filter_map(Value::as_array_mut).flatten()
            {
                if message["type"] == "tool" && message["content"] == "" {
                    message["content"] = Value::Null;
                }
            }
        }),
        seam::shown("calls-without-an-id", IDS, |_, request| {
            for call in request.iter_mut().flat_map(calls_mut) {
                call.remove("id");
            }
        }),
        seam::answers("answers-grouped-by-tool", ORDER, |run, answers| {
            let calls = run.list.last().map(calls).unwrap_or_default();
            let name = |answer: &Value| {
                let called = calls.iter().find(|call| call["id"] == answer["tool_call_id"]);
                called.map(|call| text(&call["name"]).to_owned())
            };
            answers.sort_by_key(name);
        }),
    ];
    bugs.extend(family("no-answers-from-round-{n}-on", &[2, 5, 25, 100], |name, size| {
        seam::answers(name, ANSWERED, move |run, answers| {
            if run.turn >= size {
                answers.clear();
            }
        })
    }));
    bugs.push(seam::answers("answers-pile-up-until-the-end", ANSWERED, |run, answers| {
        let is_due = calls(&run.scripted(1)).is_empty();
        let mut held = run.memory["held"].as_array().cloned().unwrap_or_default();
        held.append(answers);
        if is_due {
            run.memory = Value::Null;
            *answers = held;
        } else {
            run.memory = json!({"held": held});
        }
    }));
    bugs
}

/// Deals with a broken history in another way.
fn on_broken(name: &str, breaks: Clauses, deal: fn(&mut Vec<Value>)) -> Planted {
    seam::begin(name, breaks, move |run| {
        let mut mended = run.list.clone();
        mend(&mut mended);
        if mended != run.list {
            deal(&mut run.list);
        }
        Ok(())
    })
}

/// Mends a broken history, but drops such messages.
fn mended_without(name: &str, breaks: Clauses, drops: fn(&Value) -> bool) -> Planted {
    seam::begin(name, breaks, move |run| {
        let given = run.list.clone();
        mend(&mut run.list);
        if run.list != given {
            run.list.retain(|message| !drops(message));
        }
        Ok(())
    })
}

pub(super) fn history() -> Vec<Planted> {
    vec![
        on_broken("broken-history-sent-as-it-is", HISTORY, |_| {}),
        on_broken("ids-that-repeat-in-the-history-stay", HISTORY, |list| {
            let repeats = |message: &Value| calls(message).windows(2).any(|two| two[0]["id"] == two[1]["id"]);
            if !list.iter().any(repeats) {
                mend(list);
            }
        }),
        on_broken("only-the-last-call-mended", HISTORY, |list| {
            let answers: Vec<Value> =
                list.last().map(calls).unwrap_or_default().iter().map(|call| answer(call, "Interrupted.")).collect();
            list.extend(answers);
        }),
        on_broken("only-orphans-dropped", HISTORY, |list| {
            let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
            list.retain(|message| !is(message, "tool") || ids.contains(&message["tool_call_id"]));
        }),
        on_broken("only-missing-answers-added", HISTORY, |list| {
            let answered: Vec<Value> = list.iter().map(|message| message["tool_call_id"].clone()).collect();
            for index in (0..list.len()).rev() {
                for call in calls(&list[index]).iter().rev().filter(|call| !answered.contains(&call["id"])) {
                    list.insert(index + 1, answer(call, "No result was recorded."));
                }
            }
        }),
        on_broken("missing-answers-added-at-the-end", HISTORY, |list| {
            let answered: Vec<Value> = list.iter().map(|message| message["tool_call_id"].clone()).collect();
            let open: Vec<Value> = list.iter().flat_map(calls).filter(|call| !answered.contains(&call["id"])).collect();
            list.extend(open.iter().map(|call| answer(call, "No result was recorded.")));
        }),
        on_broken("late-answers-stay-where-they-are", HISTORY, |list| {
            let given = list.clone();
            mend(list);
            let late = given.iter().position(|message| is(message, "human")).filter(|_| given.len() == list.len());
            if late.is_some() {
                *list = given;
            }
        }),
        on_broken("second-answers-kept", HISTORY, |list| {
            let second =
                list.windows(2).any(|pair| is(&pair[0], "tool") && pair[0]["tool_call_id"] == pair[1]["tool_call_id"]);
            if !second {
                mend(list);
            }
        }),
        on_broken("history-cut-at-the-gap", HISTORY, |list| {
            let gap = list.iter().position(|message| has_calls(message) || is(message, "tool")).unwrap_or(0);
            list.drain(..gap);
            mend(list);
        }),
        seam::begin("questions-of-a-broken-history-dropped", HISTORY, |run| {
            let given = run.list.clone();
            mend(&mut run.list);
            if run.list != given {
                let last = run.list.iter().rposition(|message| is(message, "human")).unwrap_or(0);
                let mut index = 0;
                run.list.retain(|message| {
                    index += 1;
                    index > last || !is(message, "human")
                });
            }
            Ok(())
        }),
        mended_without("system-message-of-a-broken-history-dropped", HISTORY, |message| is(message, "system")),
        on_broken("calls-dropped-with-their-text", HISTORY, |list| {
            list.retain(|message| calls(message).is_empty() && !is(message, "tool"))
        }),
        mended_without("plain-answers-of-a-broken-history-dropped", HISTORY, |message| {
            is(message, "ai") && calls(message).is_empty()
        }),
        on_broken("everything-but-the-last-question-dropped", HISTORY, |list| {
            let last = list.iter().rfind(|message| is(message, "human")).cloned();
            *list = last.into_iter().collect();
        }),
        seam::begin("broken-history-refused-without-a-word", HISTORY, |run| {
            let given = run.list.clone();
            mend(&mut run.list);
            if run.list == given { Ok(()) } else { Err(String::new()) }
        }),
        on_broken("orphans-answered-under-the-call-before", HISTORY, |list| {
            let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
            if let Some(id) = ids.first() {
                list.iter_mut()
                    .filter(|message| is(message, "tool") && !ids.contains(&message["tool_call_id"]))
                    .for_each(|message| message["tool_call_id"] = id.clone());
            } else {
                mend(list);
            }
        }),
        on_broken("texts-beside-open-calls-dropped", HISTORY, |list| {
            mend(list);
            for message in list.iter_mut().filter(|message| has_calls(message) && !words(message).is_empty()) {
                *message = json!({"type": "ai", "content": "", "tool_calls": message["tool_calls"]});
            }
        }),
    ]
}
