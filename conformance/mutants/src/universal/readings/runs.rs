//! Readings of what is refused, of limits, and of models that fail.

use crate::universal::prelude::*;
use threadspec_judge::json::tokens;
use threadspec_judge::universal::Abilities;

/// Deals with a broken history in another way.
fn on_broken(name: &str, breaks: Clauses, deal: fn(&mut Vec<Value>) -> Result<(), String>) -> Planted {
    seam::begin(name, breaks, move |run| {
        let mut mended = run.list.clone();
        mend(&mut mended);
        if mended == run.list { Ok(()) } else { deal(&mut run.list) }
    })
}

/// Refuses the given list if something is wrong with it, with the words that say what.
fn on_refusable(
    name: &str,
    breaks: Clauses,
    wrong: impl Fn(&RunState) -> Option<&'static str> + Copy + Send + Sync + 'static,
) -> Planted {
    seam::begin(name, breaks, move |run| {
        if let Some(wrong) = wrong(run) {
            return Err(wrong.to_owned());
        }
        mend(&mut run.list);
        Ok(())
    })
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        on_refusable("halves-in-the-given-list-refused", PERMITTED, |run| {
            let given = run.input["messages"].to_string();
            (halves::escaped(&given) != given).then_some("the messages are not valid Unicode")
        }),
        bug("doubles-alone", PERMITTED, |agent| {
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
        bug("scripts-with-numbers-beyond-the-doubles-refused", PERMITTED, |agent| {
            agent.raw = |input| {
                let huge = |token: &str| {
                    token.starts_with(|c: char| c == '-' || c.is_ascii_digit())
                        && token.parse().is_ok_and(f64::is_infinite)
                };
                if tokens(input).any(huge) { "number out of range".to_owned() } else { input.to_owned() }
            };
        }),
        bug("scripts-with-nesting-beyond-50-refused", PERMITTED, |agent| {
            agent.raw = |input| {
                let mut depth = 0;
                let is_deep = tokens(input).any(|token| {
                    depth += i32::from(matches!(token, "{" | "[")) - i32::from(matches!(token, "}" | "]"));
                    depth > 50
                });
                if is_deep { "nested too deep".to_owned() } else { input.to_owned() }
            };
        }),
        seam::response("responses-with-repeated-ids-refused", PERMITTED, |run, message| {
            let ids: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
            if (1..ids.len()).any(|index| ids[..index].contains(&ids[index])) {
                run.stop = Some("the model repeats a call id".to_owned());
            }
        }),
        seam::response("responses-with-empty-ids-refused", PERMITTED, |run, message| {
            distinct(run, message);
            if calls(message).iter().any(|call| call["id"] == "") {
                run.stop = Some("the model gave a call no id".to_owned());
            }
        }),
        on_refusable("empty-ids-in-the-given-list-refused", PERMITTED, |run| {
            let is_empty = |id: &Value| id == "";
            let is_nameless = |message: &Value| {
                is_empty(&message["tool_call_id"]) || calls(message).iter().any(|call| is_empty(&call["id"]))
            };
            run.list.iter().any(is_nameless).then_some("an id is empty")
        }),
        seam::answers_when_cut("limit-reported-as-a-failure", PERMITTED, |run, calls| {
            run.stop = Some("GraphRecursionError: the limit is reached".to_owned());
            calls.iter().map(|call| answer(call, "Not executed.")).collect()
        }),
        bug("limit-raised-so-that-the-list-is-lost", PERMITTED, |agent| {
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
        seam::is_last("limit-reported-after-the-last-answer", PERMITTED, |run, message| {
            let is_last = calls(message).is_empty();
            if is_last && run.limit().is_some_and(|limit| run.turn > limit) {
                run.stop = Some("the limit is reached".to_owned());
            }
            is_last
        }),
        bug("failing-model-tried-once-more-and-reported", PERMITTED, |agent| {
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
        seam::is_cut("as-many-requests-as-the-limit", PERMITTED, |run| {
            run.limit().is_some_and(|limit| run.turn >= limit.max(1))
        }),
        seam::answers_when_cut("calls-executed-at-the-limit", PERMITTED, |run, calls| {
            let answers = calls.iter().map(|call| {
                let outcome = outcome(run, call);
                answer(call, content(&outcome))
            });
            answers.collect()
        }),
        on_broken("broken-history-refused", PERMITTED, |_| {
            Err("the history has calls without answers, or answers without calls".to_owned())
        }),
        on_broken("open-calls-of-the-history-dropped", PERMITTED, |list| {
            list.retain(|message| message["type"] != "tool");
            for message in list.iter_mut().filter_map(Value::as_object_mut) {
                message.remove("tool_calls");
            }
            list.retain(|message| message["type"] != "ai" || !words(message).is_empty());
            Ok(())
        }),
        on_broken("orphans-told-as-text", PERMITTED, |list| {
            let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
            let orphan = |message: &Value| message["type"] == "tool" && !ids.contains(&message["tool_call_id"]);
            for message in list.iter_mut().filter(|message| orphan(message)) {
                *message = json!({"type": "human", "content": format!("[Earlier result] {}", words(message))});
            }
            mend(list);
            Ok(())
        }),
        on_refusable("empty-lists-refused", PERMITTED, |run| run.list.is_empty().then_some("there is no message")),
        seam::failed("failing-model-tried-once-more", PERMITTED, |run, error| {
            let again =
                run.requests.len() < 2 || run.requests[run.requests.len() - 1] != run.requests[run.requests.len() - 2];
            if !again {
                run.stop = Some(error.clone());
            }
            again
        }),
        seam::failed("failing-model-reported-in-other-words", PERMITTED, |run, _| {
            run.stop = Some("RuntimeError: the model could not be reached".to_owned());
            false
        }),
        seam::answers_when_cut("cut-calls-answered-without-words", PERMITTED, |_, calls| {
            calls.iter().map(|call| answer(call, "")).collect()
        }),
    ]
}
