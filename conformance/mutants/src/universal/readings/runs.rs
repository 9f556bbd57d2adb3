//! Readings of what is refused, of limits, and of models that fail.

use crate::agent::{Agent, RunState, answer, calls, content, distinct, mend, outcome, text};
use crate::planted::Planted;
use crate::universal::reading;
use serde_json::{Value, json};
use threadspec_judge::json::tokens;
use threadspec_judge::universal::{Abilities, halves};

/// Deals with a broken history in another way.
fn on_broken(agent: &mut Agent, deal: fn(&mut Vec<Value>) -> Result<(), String>) {
    agent.begin = Box::new(move |run| {
        let mut mended = run.list.clone();
        mend(&mut mended);
        if mended == run.list { Ok(()) } else { deal(&mut run.list) }
    });
}

/// Refuses the given list if something is wrong with it, with the words that say what.
fn on_refusable(agent: &mut Agent, wrong: impl Fn(&RunState) -> Option<&'static str> + Send + Sync + 'static) {
    agent.begin = Box::new(move |run| {
        if let Some(wrong) = wrong(run) {
            return Err(wrong.to_owned());
        }
        mend(&mut run.list);
        Ok(())
    });
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        reading("halves-in-the-given-list-refused", |agent| {
            on_refusable(agent, |run| {
                let given = run.input["messages"].to_string();
                (halves::escaped(&given) != given).then_some("the messages are not valid Unicode")
            });
        }),
        reading("doubles-alone", |agent| {
            agent.abilities = Abilities::default();
            agent.raw = |input| {
                let token = |token: &str| {
                    let long = token.len() > 15 && token.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
                    let double = token.parse::<f64>().ok().filter(|double| long && double.is_finite());
                    double.map_or_else(|| token.to_owned(), |double| format!("{double:.0}"))
                };
                tokens(input).map(token).collect()
            };
        }),
        reading("scripts-with-numbers-beyond-the-doubles-refused", |agent| {
            agent.raw = |input| {
                let huge = |token: &str| {
                    token.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                        && token.parse().is_ok_and(f64::is_infinite)
                };
                if tokens(input).any(huge) { "number out of range".to_owned() } else { input.to_owned() }
            };
        }),
        reading("scripts-with-nesting-beyond-50-refused", |agent| {
            agent.raw = |input| {
                let mut depth = 0;
                let is_deep = tokens(input).any(|token| {
                    depth += i32::from(matches!(token, "{" | "[")) - i32::from(matches!(token, "}" | "]"));
                    depth > 50
                });
                if is_deep { "nested too deep".to_owned() } else { input.to_owned() }
            };
        }),
        reading("responses-with-repeated-ids-refused", |agent| {
            agent.response = Box::new(|run, message| {
                let ids: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
                if (1..ids.len()).any(|index| ids[..index].contains(&ids[index])) {
                    run.stop = Some("the model repeats a call id".to_owned());
                }
            });
        }),
        reading("responses-with-empty-ids-refused", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                if calls(message).iter().any(|call| call["id"] == "") {
                    run.stop = Some("the model gave a call no id".to_owned());
                }
            });
        }),
        reading("empty-ids-in-the-given-list-refused", |agent| {
            on_refusable(agent, |run| {
                let is_empty = |id: &Value| id == "";
                let is_nameless = |message: &Value| {
                    is_empty(&message["tool_call_id"]) || calls(message).iter().any(|call| is_empty(&call["id"]))
                };
                run.list.iter().any(is_nameless).then_some("an id is empty")
            });
        }),
        reading("limit-reported-as-a-failure", |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                run.stop = Some("GraphRecursionError: the limit is reached".to_owned());
                calls.iter().map(|call| answer(call, "Not executed.")).collect()
            });
        }),
        reading("limit-raised-so-that-the-list-is-lost", |agent| {
            agent.answers_when_cut = Box::new(|run, _| {
                run.stop = Some("MaxTurnsExceeded".to_owned());
                Vec::new()
            });
            agent.end = Box::new(|run, output| {
                if run.stop.as_deref() == Some("MaxTurnsExceeded") {
                    output["messages"] = Value::Null;
                }
            });
        }),
        reading("limit-reported-after-the-last-answer", |agent| {
            agent.is_last = Box::new(|run, message| {
                let is_last = calls(message).is_empty();
                if is_last && run.limit().is_some_and(|limit| run.turn > limit) {
                    run.stop = Some("the limit is reached".to_owned());
                }
                is_last
            });
        }),
        reading("failing-model-tried-once-more-and-reported", |agent| {
            agent.failed = Box::new(|run, error| {
                let [.., last, this] = &run.requests[..] else { return true };
                let again = last != this;
                run.memory = Value::from(&**error);
                if !again {
                    run.stop = Some(error.clone());
                }
                again
            });
            agent.end = Box::new(|run, output| {
                if let Value::String(error) = run.memory.take() {
                    output["failure"] = error.into();
                }
            });
        }),
        reading("as-many-requests-as-the-limit", |agent| {
            agent.is_cut = Box::new(|run| run.limit().is_some_and(|limit| run.turn >= limit.max(1)));
        }),
        reading("calls-executed-at-the-limit", |agent| {
            agent.answers_when_cut = Box::new(|run, calls| {
                let answers = calls.iter().map(|call| {
                    let outcome = outcome(run, call);
                    answer(call, content(&outcome))
                });
                answers.collect()
            });
        }),
        reading("broken-history-refused", |agent| {
            on_broken(agent, |_| Err("the history has calls without answers, or answers without calls".to_owned()))
        }),
        reading("open-calls-of-the-history-dropped", |agent| {
            on_broken(agent, |list| {
                list.retain(|message| message["type"] != "tool");
                for message in list.iter_mut().filter_map(Value::as_object_mut) {
                    message.remove("tool_calls");
                }
                list.retain(|message| message["type"] != "ai" || !text(&message["content"]).is_empty());
                Ok(())
            });
        }),
        reading("orphans-told-as-text", |agent| {
            on_broken(agent, |list| {
                let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                let orphan = |message: &Value| message["type"] == "tool" && !ids.contains(&message["tool_call_id"]);
                for message in list.iter_mut().filter(|message| orphan(message)) {
                    *message =
                        json!({"type": "human", "content": format!("[Earlier result] {}", text(&message["content"]))});
                }
                mend(list);
                Ok(())
            });
        }),
        reading("empty-lists-refused", |agent| {
            on_refusable(agent, |run| run.list.is_empty().then_some("there is no message"));
        }),
        reading("failing-model-tried-once-more", |agent| {
            agent.failed = Box::new(|run, error| {
                let again = run.requests.len() < 2
                    || run.requests[run.requests.len() - 1] != run.requests[run.requests.len() - 2];
                if !again {
                    run.stop = Some(error.clone());
                }
                again
            });
        }),
        reading("failing-model-reported-in-other-words", |agent| {
            agent.failed = Box::new(|run, _| {
                run.stop = Some("RuntimeError: the model could not be reached".to_owned());
                false
            });
        }),
        reading("cut-calls-answered-without-words", |agent| {
            agent.answers_when_cut = Box::new(|_, calls| calls.iter().map(|call| answer(call, "")).collect());
        }),
    ]
}
