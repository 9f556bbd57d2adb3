//! AGENT-END: what the list at the end lacks, repeats or changes.

use crate::universal::prelude::*;

fn on_end(name: &str, change: impl ChangesValue<Vec<Value>>) -> Planted {
    seam::end(name, END, move |_, output| output["messages"].as_array_mut().into_iter().for_each(change))
}

/// Changes the list of a run whose last model call failed.
fn on_failing_model(name: &str, change: fn(&mut Vec<Value>)) -> Planted {
    seam::end(name, END, move |_, output| {
        if output["failure"] != "" {
            output["messages"].as_array_mut().into_iter().for_each(change);
        }
    })
}

/// Changes the response that the limit cuts off, in the list at the end.
fn on_cut(name: &str, change: fn(&mut Value)) -> Planted {
    seam::answers_when_cut(name, END, move |run, _| {
        run.list.last_mut().into_iter().for_each(change);
        run.list.last().map(calls).unwrap_or_default().iter().map(|call| answer(call, "Limit.")).collect()
    })
}

/// Keeps only the first of the messages that count as equal.
fn once(list: &mut Vec<Value>, key: impl Fn(&Value) -> Option<Value>) {
    let mut seen: Vec<Value> = Vec::new();
    list.retain(|message| {
        let Some(key) = key(message) else { return true };
        let is_new = !seen.contains(&key);
        seen.push(key);
        is_new
    });
}

fn answers(list: &mut [Value]) -> impl Iterator<Item = &mut Value> {
    list.iter_mut().filter(|message| is(message, "tool"))
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on_end("last-answer-twice-at-the-end", |list| list.extend(list.last().cloned())),
        on_end("question-twice-at-the-end", |list| {
            list.splice(0..0, list.iter().find(|message| is(message, "human")).cloned()).for_each(drop)
        }),
        on_end("equal-texts-once-at-the-end", |list| {
            once(list, |message| calls(message).is_empty().then(|| message.clone()))
        }),
        on_end("equal-answers-of-the-assistant-once-at-the-end", |list| {
            once(list, |message| (is(message, "ai") && calls(message).is_empty()).then(|| message["content"].clone()));
        }),
        on_end("equal-texts-beside-calls-once-at-the-end", |list| {
            let mut seen: Vec<Value> = Vec::new();
            for message in list.iter_mut().filter(|message| has_calls(message)) {
                if seen.contains(&message["content"]) {
                    message["content"] = "".into();
                }
                seen.push(message["content"].clone());
            }
        }),
        on_end("equal-results-once-at-the-end", |list| {
            once(list, |message| is(message, "tool").then(|| message["content"].clone()))
        }),
        on_end("messages-by-id-at-the-end", |list| {
            once(list, |message| is(message, "tool").then(|| message["tool_call_id"].clone()))
        }),
        on_end("equal-calls-once-at-the-end", |list| {
            once(list, |message| {
                calls(message).first().map(|call| call["args"].clone()).filter(|args| *args != json!({}))
            });
        }),
        on_end("answer-that-repeats-a-result-missing-at-the-end", |list| {
            let results: Vec<Value> = answers(list).map(|message| message["content"].clone()).collect();
            list.pop_if(|message| results.contains(&message["content"]));
        }),
        on_end("answer-that-repeats-the-question-missing-at-the-end", |list| {
            let asked = list.iter().rfind(|message| is(message, "human")).map(|message| message["content"].clone());
            list.pop_if(|message| is(message, "ai") && Some(&message["content"]) == asked.as_ref());
        }),
        on_end("answer-said-beside-calls-missing-at-the-end", |list| {
            let said: Vec<Value> =
                list.iter().filter(|message| has_calls(message)).map(|message| message["content"].clone()).collect();
            list.pop_if(|message| !words(message).is_empty() && said.contains(&message["content"]));
        }),
        on_end("text-beside-calls-replaced-by-the-answer-at-the-end", |list| {
            let last = list.last().map(|message| words(message).to_owned()).unwrap_or_default();
            for message in list.iter_mut().filter(|message| has_calls(message)) {
                if !words(message).is_empty() && last.starts_with(words(message)) {
                    message["content"] = "".into();
                }
            }
        }),
        on_end("answers-that-count-as-false-missing-at-the-end", |list| {
            drop(list.pop_if(|message| message["content"] == "0"))
        }),
        on_end("calls-without-arguments-missing-at-the-end", |list| {
            let lost: Vec<Value> = list
                .iter()
                .flat_map(calls)
                .filter(|call| call["args"] == json!({}))
                .map(|call| call["id"].clone())
                .collect();
            list.retain(|message| !lost.contains(&message["tool_call_id"]));
        }),
        on_end("arguments-as-text-at-the-end", |list| {
            list.iter_mut().flat_map(calls_mut).for_each(|call| {
                let text = call["args"].to_string();
                call.insert("args".into(), text.into());
            });
        }),
        on_end("arguments-that-count-as-false-missing-at-the-end", |list| {
            for call in list.iter_mut().flat_map(calls_mut) {
                drop_members(&mut call["args"], |_, value| {
                    value.is_null() || *value == json!(false) || *value == json!(0)
                });
            }
        }),
        on_end("arguments-missing-at-the-end", |list| {
            list.iter_mut().flat_map(calls_mut).for_each(|call| drop(call.insert("args".into(), json!({}))))
        }),
        on_end("ids-of-its-own-at-the-end", |list| {
            for message in list {
                calls_mut(message).for_each(|call| call["id"] = format!("x{}", text(&call["id"])).into());
                if let Some(id) = message["tool_call_id"].as_str() {
                    message["tool_call_id"] = format!("x{id}").into();
                }
            }
        }),
        on_end("names-of-calls-missing-at-the-end", |list| {
            list.iter_mut().flat_map(calls_mut).for_each(|call| call["name"] = "tool".into())
        }),
        on_end("results-of-null-missing-at-the-end", |list| {
            answers(list)
                .filter(|message| message["content"] == "null")
                .for_each(|message| message["content"] = "".into())
        }),
        on_end("results-in-another-notation-at-the-end", |list| {
            answers(list)
                .for_each(|message| change_text(message, |text| text.replace("true", "True").replace("null", "None")))
        }),
        on_end("texts-trimmed-at-the-end", |list| {
            list.iter_mut().for_each(|message| change_text(message, |text| text.trim().to_owned()))
        }),
        on_end("texts-escaped-at-the-end", |list| {
            list.iter_mut()
                .for_each(|message| change_text(message, |text| text.replace('&', "&amp;").replace('<', "&lt;")))
        }),
        on_end("control-characters-missing-at-the-end", |list| {
            list.iter_mut().for_each(|message| change_text(message, |text| text.replace('\u{1b}', "")))
        }),
        on_end("calls-of-the-history-missing-at-the-end", |list| {
            if let Some(first) = list.iter().position(|message| is(message, "human")) {
                let end = list.iter().rposition(|message| is(message, "human")).unwrap_or(first);
                let mut index = 0;
                list.retain(|message| {
                    index += 1;
                    index > end || !is(message, "tool") && calls(message).is_empty()
                });
            }
        }),
        on_end("failing-calls-missing-at-the-end", |list| {
            let is_failure = |message: &Value| words(message).starts_with("The tool failed");
            list.retain(|message| !is_failure(message));
        }),
        on_end("last-failure-missing-at-the-end", |list| {
            let at = list.len().saturating_sub(2);
            if list.get(at).is_some_and(|message| words(message).starts_with("The tool failed")) {
                list.remove(at);
            }
        }),
        on_end("parallel-answers-sorted-at-the-end", |list| {
            let mut tools: Vec<Value> = answers(list).map(|message| message.clone()).collect();
            tools.sort_by_key(|message| words(message).to_owned());
            answers(list).zip(tools).for_each(|(message, other)| *message = other);
        }),
        on_failing_model("last-round-missing-when-the-model-fails", |list| {
            if let Some(at) = list.iter().rposition(has_calls) {
                list.truncate(at);
            }
        }),
        on_failing_model("texts-missing-when-the-model-fails", |list| {
            list.iter_mut().filter(|message| has_calls(message)).for_each(|message| message["content"] = "".into());
        }),
        on_failing_model("history-missing-when-the-model-fails", |list| {
            let at = list.iter().rposition(|message| is(message, "human")).unwrap_or(0);
            list.drain(..at);
        }),
        on_failing_model("failures-missing-when-the-model-fails", |list| {
            list.retain(|message| !words(message).starts_with("The tool failed"))
        }),
        on_cut("arguments-of-cut-calls-missing", |message| {
            calls_mut(message).for_each(|call| call["args"] = json!({}))
        }),
        on_cut("names-of-cut-calls-mixed-up", |message| {
            let mut names: Vec<Value> = calls(message).iter().map(|call| call["name"].clone()).collect();
            names.reverse();
            calls_mut(message).zip(names).for_each(|(call, name)| call["name"] = name);
        }),
        on_cut("ids-of-cut-calls-made-up", |message| {
            calls_mut(message).enumerate().for_each(|(index, call)| call["id"] = format!("cut_{index}").into())
        }),
        on_cut("deep-arguments-of-cut-calls-as-text", |message| {
            for call in calls_mut(message) {
                if let Some(deep) = call["args"].get_mut("deep") {
                    *deep = deep.to_string().into();
                }
            }
        }),
        seam::answers_when_cut("history-missing-where-the-limit-cuts", END, |run, calls| {
            let at = run.list.iter().rposition(|message| is(message, "human")).unwrap_or(0);
            run.list.drain(..at);
            calls.iter().map(|call| answer(call, "Limit.")).collect()
        }),
        seam::answers_when_cut("failures-missing-where-the-limit-cuts", END, |run, calls| {
            run.list.retain(|message| !words(message).starts_with("The tool failed"));
            calls.iter().map(|call| answer(call, "Limit.")).collect()
        }),
        seam::answers_when_cut("first-rounds-missing-where-the-limit-cuts", END, |run, calls| {
            if run.turn > 9 {
                run.list.drain(1..5);
            }
            calls.iter().map(|call| answer(call, "Limit.")).collect()
        }),
    ];
    bugs.extend(family("newest-{n}-messages-at-the-end", &[20, 50, 101, 120, 250], |name, size| {
        on_end(name, move |list| drop(list.drain(..list.len().saturating_sub(size))))
    }));
    bugs.extend(family("texts-cut-at-{n}-characters-at-the-end", &[1_000, 30_000], |name, size| {
        seam::end(name, END, move |_, output| {
            let list = output["messages"].as_array_mut().into_iter().flatten();
            list.for_each(|message| change_text(message, |text| cut(text, size)));
        })
    }));
    bugs
}
