//! AGENT-INDEPENDENT: what a run leaves behind; AGENT-END: what it hands back.

use super::{bug, family, is};
use crate::agent::{Agent, ToolOutcome, calls, mend, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const INDEPENDENT: &[&str] = &[clause::AGENT_INDEPENDENT];
const END: &[&str] = &[clause::AGENT_END];

/// Changes the list at the end.
fn on_end(agent: &mut Agent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    agent.end = Box::new(move |_, output| output["messages"].as_array_mut().into_iter().for_each(&change));
}

/// Begins a run with messages that the previous run left behind.
fn taken_over(agent: &mut Agent, from: fn(&[Value]) -> Vec<Value>) {
    agent.begin = Box::new(move |run| {
        mend(&mut run.list);
        let earlier = run.memory["list"].as_array().cloned().unwrap_or_default();
        run.list.splice(0..0, from(&earlier));
        Ok(())
    });
    agent.end = Box::new(|run, _| run.memory = json!({"list": run.list}));
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("messages-pile-up-over-runs", INDEPENDENT, |agent| taken_over(agent, <[Value]>::to_vec)),
        bug("system-message-sticks", INDEPENDENT, |agent| {
            taken_over(agent, |earlier| earlier.iter().filter(|message| is(message, &["system"])).cloned().collect());
        }),
        bug("last-answer-remembered", INDEPENDENT, |agent| {
            taken_over(agent, |earlier| {
                earlier
                    .last()
                    .filter(|message| is(message, &["ai"]) && calls(message).is_empty())
                    .cloned()
                    .into_iter()
                    .collect()
            });
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
        bug("results-remembered-by-id-over-runs", INDEPENDENT, |agent| {
            agent.answers = Box::new(|run, answers| {
                let ids: Vec<String> = answers.iter().map(|answer| text(&answer["tool_call_id"]).to_owned()).collect();
                for (answer, id) in answers.iter_mut().zip(ids) {
                    if run.memory[&id].is_null() {
                        run.memory[&id] = answer["content"].clone();
                    } else {
                        answer["content"] = run.memory[&id].clone();
                    }
                }
            });
        }),
        bug("rounds-counted-over-runs", INDEPENDENT, |agent| {
            agent.is_cut = Box::new(|run| {
                let rounds = run.memory.as_u64().unwrap_or(0) + 1;
                run.memory = rounds.into();
                run.limit().is_some_and(|limit| rounds > limit as u64)
            });
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
        bug("failing-tools-remembered-over-runs", INDEPENDENT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let name = text(&call["name"]).to_owned();
                if let Some(error) = run.memory[&name].as_str() {
                    return ToolOutcome::Failure(error.to_owned());
                }
                let result = outcome(run, call);
                if let ToolOutcome::Failure(error) = &result {
                    run.memory[&name] = (&**error).into();
                }
                result
            });
        }),
        bug("cut-calls-answered-in-the-next-run", INDEPENDENT, |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                run.memory = json!({"open": calls});
                Vec::new()
            });
            agent.answers = Box::new(|run, answers| {
                let open = run.memory["open"].as_array().cloned().unwrap_or_default();
                run.memory = Value::Null;
                answers.extend(open.iter().map(|call| crate::agent::answer(call, "late")));
            });
        }),
        bug("same-script-answered-from-memory", INDEPENDENT, |agent| {
            agent.shown = Box::new(|run, request| {
                let key = run.input.to_string();
                if run.memory["key"] == key && run.turn == 0 {
                    run.stop = Some(String::new());
                    request.clear();
                }
                run.memory = json!({"key": key, "turn": run.turn});
            });
        }),
        bug("last-response-missing-at-the-end", END, |agent| on_end(agent, |list| drop(list.pop()))),
        bug("given-messages-missing-at-the-end", END, |agent| {
            agent.end = Box::new(|run, output| {
                let given = run.requests.first().map_or(0, Vec::len);
                output["messages"] = run.list[given..].to_vec().into();
            });
        }),
        bug("answers-missing-at-the-end", END, |agent| {
            on_end(agent, |list| list.retain(|message| !is(message, &["tool"])))
        }),
        bug("calls-missing-at-the-end", END, |agent| {
            on_end(agent, |list| list.retain(|message| !is(message, &["tool"]) && calls(message).is_empty()));
        }),
        bug("only-the-last-response-at-the-end", END, |agent| {
            on_end(agent, |list| drop(list.drain(..list.len().saturating_sub(1))))
        }),
        bug("texts-beside-calls-missing-at-the-end", END, |agent| {
            on_end(agent, |list| {
                list.iter_mut()
                    .filter(|message| !calls(message).is_empty())
                    .for_each(|message| message["content"] = "".into())
            });
        }),
        bug("results-in-capitals-at-the-end", END, |agent| {
            on_end(agent, |list| {
                list.iter_mut()
                    .filter(|message| is(message, &["tool"]))
                    .for_each(|message| super::change_text(message, str::to_uppercase))
            });
        }),
        bug("cut-calls-unanswered-at-the-end", END, |agent| agent.answers_when_cut = Box::new(|_, _| Vec::new())),
        bug("first-cut-call-answered-alone", END, |agent| {
            agent.answers_when_cut =
                Box::new(|_, calls| calls.iter().take(1).map(|call| crate::agent::answer(call, "Limit.")).collect());
        }),
        bug("cut-response-missing-at-the-end", END, |agent| {
            agent.answers_when_cut = Box::new(|run, _| {
                run.list.pop();
                Vec::new()
            });
        }),
        bug("cut-response-reduced-to-its-text", END, |agent| {
            agent.answers_when_cut = Box::new(|run, _| {
                if let Some(last) = run.list.last_mut().and_then(Value::as_object_mut) {
                    last.remove("tool_calls");
                }
                Vec::new()
            });
        }),
        bug("cut-response-without-its-text", END, |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                if let Some(last) = run.list.last_mut() {
                    last["content"] = "".into();
                }
                calls.iter().map(|call| crate::agent::answer(call, "Limit.")).collect()
            });
        }),
        bug("nothing-at-the-end-when-the-model-fails", END, |agent| {
            agent.end = Box::new(|_, output| {
                if output["failure"] != "" {
                    output["messages"] = json!([]);
                }
            });
        }),
        bug("round-before-a-failing-model-missing", END, |agent| {
            agent.end = Box::new(|run, output| {
                if output["failure"] != "" && run.turn > 1 {
                    output["messages"] = output["requests"][0].clone();
                }
            });
        }),
        bug("failures-missing-at-the-end", END, |agent| {
            on_end(agent, |list| {
                list.retain(|message| {
                    !text(&message["content"]).starts_with("The tool failed")
                        && !text(&message["content"]).starts_with("There is no tool")
                })
            });
        }),
        bug("rounds-at-the-end-twice", END, |agent| {
            agent.end = Box::new(|run, output| {
                let given = run.requests.first().map_or(0, Vec::len);
                let last = run.list.len().saturating_sub(1).max(given);
                let rounds = run.list[given..last].to_vec();
                output["messages"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|list| list.extend(rounds.iter().filter(|message| is(message, &["tool"])).cloned()));
            });
        }),
    ];
    bugs.extend(family("only-the-last-{n}-messages-at-the-end", END, &[2, 3, 4], |agent, size| {
        on_end(agent, move |list| drop(list.drain(..list.len().saturating_sub(size))));
    }));
    bugs
}
