//! AGENT-INDEPENDENT: what a run leaves behind; AGENT-END: what it hands back.
//! AGENT-SHARED: what changes in a list after it was handed to the model.

use crate::universal::prelude::*;

/// Changes the list at the end.
fn on_end(name: &str, breaks: Clauses, change: impl ChangesValue<Vec<Value>>) -> Planted {
    seam::end(name, breaks, move |_, output| output["messages"].as_array_mut().into_iter().for_each(&change))
}

/// Begins a run with messages that the previous run left behind.
fn taken_over(name: &str, breaks: Clauses, from: fn(&[Value]) -> Vec<Value>) -> Planted {
    bug(name, breaks, move |agent| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            let earlier = run.memory["list"].as_array().cloned().unwrap_or_default();
            run.list.splice(0..0, from(&earlier));
            Ok(())
        });
        agent.end = Box::new(|run, _| run.memory = json!({"list": run.list}));
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        taken_over("messages-pile-up-over-runs", INDEPENDENT, <[Value]>::to_vec),
        taken_over("system-message-sticks", INDEPENDENT, |earlier| {
            earlier.iter().filter(|message| is(message, "system")).cloned().collect()
        }),
        taken_over("last-answer-remembered", INDEPENDENT, |earlier| {
            earlier
                .last()
                .filter(|message| is(message, "ai") && calls(message).is_empty())
                .cloned()
                .into_iter()
                .collect()
        }),
        bug("tools-remembered-over-runs", INDEPENDENT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let result = outcome(run, call);
                let known = run.memory["tools"][text(&call["name"])].clone();
                match result {
                    ToolOutcome::Unknown(_) if !known.is_null() => {
                        run.input["tools"][text(&call["name"])] = known;
                        outcome(run, call)
                    }
                    other => other,
                }
            });
            agent.end = Box::new(|run, _| run.memory = json!({"tools": run.input["tools"]}));
        }),
        seam::answers("results-remembered-by-id-over-runs", INDEPENDENT, |run, answers| {
            let ids: Vec<String> = answers.iter().map(|answer| text(&answer["tool_call_id"]).to_owned()).collect();
            for (answer, id) in answers.iter_mut().zip(ids) {
                if run.memory[&id].is_null() {
                    run.memory[&id] = answer["content"].clone();
                } else {
                    answer["content"] = run.memory[&id].clone();
                }
            }
        }),
        seam::is_cut("rounds-counted-over-runs", INDEPENDENT, |run| {
            let rounds = run.memory.as_u64().unwrap_or(0) + 1;
            run.memory = rounds.into();
            run.limit().is_some_and(|limit| rounds > limit as u64)
        }),
        bug("calls-of-a-tool-counted-over-runs", INDEPENDENT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let is_spent = run.memory[text(&call["name"])].as_u64().is_some_and(|count| count > 1);
                if is_spent { ToolOutcome::Failure("called too often".to_owned()) } else { outcome(run, call) }
            });
            agent.end = Box::new(|run, _| {
                for call in run.list.iter().flat_map(calls) {
                    let count = &mut run.memory[text(&call["name"])];
                    *count = (count.as_u64().unwrap_or(0) + 1).into();
                }
            });
        }),
        bug("no-run-after-a-failing-model", INDEPENDENT, |agent| {
            agent.begin = Box::new(|run| {
                if run.memory == "failed" {
                    Err("the model is down".to_owned())
                } else {
                    mend(&mut run.list);
                    Ok(())
                }
            });
            agent.failed = Box::new(|run, error| {
                run.memory = "failed".into();
                run.stop = Some(error.clone());
                false
            });
        }),
        seam::outcome("failing-tools-remembered-over-runs", INDEPENDENT, |run, call| {
            let name = text(&call["name"]).to_owned();
            if let Some(error) = run.memory[&name].as_str() {
                return ToolOutcome::Failure(error.to_owned());
            }
            let result = outcome(run, call);
            if let ToolOutcome::Failure(error) = &result {
                run.memory[&name] = (&**error).into();
            }
            result
        }),
        bug("cut-calls-answered-in-the-next-run", INDEPENDENT, |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                run.memory = json!({"open": calls});
                Vec::new()
            });
            agent.answers = Box::new(|run, answers| {
                let open = run.memory["open"].as_array().cloned().unwrap_or_default();
                run.memory = Value::Null;
                answers.extend(open.iter().map(|call| answer(call, "late")));
            });
        }),
        seam::shown("same-script-answered-from-memory", INDEPENDENT, |run, request| {
            let key = run.input.to_string();
            if run.memory["key"] == key && run.turn == 0 {
                run.stop = Some(String::new());
                request.clear();
            }
            run.memory = json!({"key": key, "turn": run.turn});
        }),
        on_end("last-response-missing-at-the-end", END, |list| drop(list.pop())),
        seam::end("given-messages-missing-at-the-end", END, |run, output| {
            let given = run.requests.first().map_or(0, Vec::len);
            output["messages"] = run.list[given..].to_vec().into();
        }),
        on_end("answers-missing-at-the-end", END, |list| list.retain(|message| !is(message, "tool"))),
        on_end("calls-missing-at-the-end", END, |list| {
            list.retain(|message| !is(message, "tool") && calls(message).is_empty())
        }),
        on_end("only-the-last-response-at-the-end", END, |list| drop(list.drain(..list.len().saturating_sub(1)))),
        on_end("texts-beside-calls-missing-at-the-end", END, |list| {
            list.iter_mut().filter(|message| has_calls(message)).for_each(|message| message["content"] = "".into())
        }),
        on_end("results-in-capitals-at-the-end", END, |list| {
            list.iter_mut()
                .filter(|message| is(message, "tool"))
                .for_each(|message| change_text(message, str::to_uppercase))
        }),
        seam::answers_when_cut("cut-calls-unanswered-at-the-end", END, |_, _| Vec::new()),
        seam::answers_when_cut("first-cut-call-answered-alone", END, |_, calls| {
            calls.iter().take(1).map(|call| answer(call, "Limit.")).collect()
        }),
        seam::answers_when_cut("cut-response-missing-at-the-end", END, |run, _| {
            run.list.pop();
            Vec::new()
        }),
        seam::answers_when_cut("cut-response-reduced-to-its-text", END, |run, _| {
            if let Some(last) = run.list.last_mut().and_then(Value::as_object_mut) {
                last.remove("tool_calls");
            }
            Vec::new()
        }),
        seam::answers_when_cut("cut-response-without-its-text", END, |run, calls| {
            if let Some(last) = run.list.last_mut() {
                last["content"] = "".into();
            }
            calls.iter().map(|call| answer(call, "Limit.")).collect()
        }),
        seam::end("nothing-at-the-end-when-the-model-fails", END, |_, output| {
            if output["failure"] != "" {
                output["messages"] = json!([]);
            }
        }),
        seam::end("round-before-a-failing-model-missing", END, |run, output| {
            if output["failure"] != "" && run.turn > 1 {
                output["messages"] = output["requests"][0].clone();
            }
        }),
        on_end("failures-missing-at-the-end", END, |list| {
            list.retain(|message| {
                !words(message).starts_with("The tool failed") && !words(message).starts_with("There is no tool")
            })
        }),
        seam::end("rounds-at-the-end-twice", END, |run, output| {
            let given = run.requests.first().map_or(0, Vec::len);
            let last = run.list.len().saturating_sub(1).max(given);
            let rounds = run.list[given..last].to_vec();
            output["messages"]
                .as_array_mut()
                .into_iter()
                .for_each(|list| list.extend(rounds.iter().filter(|message| is(message, "tool")).cloned()));
        }),
    ];
    bugs.extend(family("only-the-last-{n}-messages-at-the-end", &[2, 3, 4], |name, size| {
        on_end(name, END, move |list| drop(list.drain(..list.len().saturating_sub(size))))
    }));
    bugs
}

/// Changes the lists that were sent: each with its number, counted from 0.
fn later(
    name: &str,
    breaks: Clauses,
    change: impl Fn(&RunState, usize, &mut Vec<Value>) + Copy + Send + Sync + 'static,
) -> Planted {
    seam::at_end(name, breaks, move |run, mut requests| {
        let lists = requests.iter_mut().filter_map(Value::as_array_mut);
        lists.enumerate().for_each(|(number, list)| change(run, number, list));
        Some(requests)
    })
}

/// Changes each message of the lists that were sent, except where it was sent for the last time.
fn later_messages(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    later(name, breaks, move |run, number, list| {
        if number + 1 < run.requests.len() {
            list.iter_mut().for_each(&change);
        }
    })
}

/// The list that all requests share, as it is at the end.
fn grown(run: &RunState, list: &mut Vec<Value>) {
    list.clone_from(&run.list);
}

fn has_failure(list: &[Value]) -> bool {
    list.iter().any(|message| words(message).starts_with("The tool failed"))
}

pub(super) fn shared() -> Vec<Planted> {
    let mut bugs = vec![
        later("requests-share-a-growing-list", SHARED, |run, _, list| grown(run, list)),
        later("answer-slips-into-its-request", SHARED, |run, number, list| {
            if number + 1 == run.requests.len() {
                list.extend(run.list.last().filter(|last| is(last, "ai")).cloned());
            }
        }),
        later("first-request-grows-on", SHARED, |run, number, list| {
            if number == 0 && run.requests.len() > 1 {
                grown(run, list);
            }
        }),
        later("list-emptied-after-the-run", SHARED, |_, _, list| list.clear()),
        later("system-message-put-into-the-list-later", SHARED, |_, _, list| {
            if !list.iter().any(|message| is(message, "system")) {
                list.insert(0, json!({"type": "system", "content": "You are helpful."}));
            }
        }),
        later("list-shared-where-a-tool-fails", SHARED, |run, _, list| {
            if has_failure(&run.list) {
                grown(run, list);
            }
        }),
        later("list-shared-where-the-model-fails", SHARED, |run, _, list| {
            if run.stop.is_some() {
                list.push(json!({"type": "ai", "content": "The model failed."}));
            }
        }),
        later("list-shared-at-the-limit", SHARED, |run, number, list| {
            if run.limit().is_some_and(|limit| run.turn > limit) && number + 1 == run.requests.len() {
                grown(run, list);
            }
        }),
        later_messages("arguments-popped-by-the-tool", SHARED, |message| {
            calls_mut(message).for_each(|call| call["args"] = json!({}))
        }),
        later_messages("nested-arguments-filled-in-by-the-tool", SHARED, |message| {
            for call in calls_mut(message) {
                let nested = call["args"].as_object_mut().into_iter().flat_map(|args| args.values_mut());
                nested.filter_map(Value::as_object_mut).for_each(|nested| drop(nested.insert("at".into(), 0.into())));
            }
        }),
        later("answers-of-a-round-sorted-in-place", SHARED, |_, _, list| {
            let is_tool = |message: &Value| is(message, "tool");
            for round in list.chunk_by_mut(|one, other| is_tool(one) && is_tool(other)) {
                round.sort_by_key(|answer| answer["tool_call_id"].to_string());
                round.reverse();
            }
        }),
        later_messages("texts-beside-calls-dropped-in-place", SHARED, |message| {
            if calls_mut(message).next().is_some() {
                change_text(message, |_| String::new());
            }
        }),
        later("cache-marks-put-into-the-last-question", SHARED, |_, _, list| {
            if let Some(asked) = list.iter_mut().rfind(|message| is(message, "human")) {
                change_text(asked, |text| format!("{text}\n"));
            }
        }),
    ];
    bugs.extend(family("list-of-more-than-{n}-rounds-shared", &[1, 2, 10, 30, 63, 100, 118], |name, size| {
        later(name, SHARED, move |run, number, list| {
            if run.requests.len() > size && number < size {
                grown(run, list);
            }
        })
    }));
    bugs.extend(family("requests-older-than-{n}-rounds-pruned-in-place", &[1, 5, 25, 90], |name, size| {
        later(name, SHARED, move |run, number, list| {
            if number + size < run.requests.len() {
                list.truncate(1);
            }
        })
    }));
    bugs.extend(family("results-cut-to-{n}-characters-in-place", &[10, 200, 1_000, 4_000], |name, size| {
        later_messages(name, SHARED, move |message| {
            if is(message, "tool") {
                change_text(message, |text| cut(text, size));
            }
        })
    }));
    bugs.extend(family("lists-of-{n}-messages-shared", &[5, 50, 200], |name, size| {
        later(name, SHARED, move |run, _, list| {
            if list.len() >= size {
                grown(run, list);
            }
        })
    }));
    bugs
}
