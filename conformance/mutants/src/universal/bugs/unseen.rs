//! Bugs that were written from the clauses, and from memory of real frameworks, before there was a case for any of them: what the
//! list at the end lacks, what a run leaves behind, and two conditions at once.

use crate::universal::prelude::*;

/// Gives calls other ids, and still finds their results.
pub(super) fn rename(run: &mut RunState, message: &mut Value, other: &dyn Fn(&RunState, &str) -> Option<String>) {
    for call in calls_mut(message) {
        let old = text(&call["id"]).to_owned();
        if let Some(new) = other(run, &old) {
            let origin = run.renamed.iter().find(|(new, _)| *new == old).map_or(old, |(_, old)| old.clone());
            call.insert("id".into(), (&*new).into());
            run.renamed.push((new, origin));
        }
    }
}

/// Changes the list at the end, given the number of messages that the run began with.
fn on_end(name: &str, breaks: Clauses, change: fn(&mut Vec<Value>, usize)) -> Planted {
    seam::end(name, breaks, move |run, output| {
        let given = run.requests.first().map_or(0, Vec::len);
        output["messages"].as_array_mut().into_iter().for_each(|list| change(list, given));
    })
}

/// Takes the text of a message away.
fn emptied(message: Option<&mut Value>) {
    message.into_iter().for_each(|message| message["content"] = "".into());
}

/// Takes the text beside calls away where an answer begins with these words.
fn emptied_beside(name: &str, breaks: Clauses, beginning: &'static str) -> Planted {
    seam::answers(name, breaks, move |run, answers| {
        let is_told = answers.iter().any(|answer| words(answer).starts_with(beginning));
        emptied(run.list.last_mut().filter(|_| is_told));
    })
}

/// The text of the first question.
fn question(run: &RunState) -> String {
    let first = run.list.iter().find(|message| is(message, "human"));
    first.map(|message| words(message).to_owned()).unwrap_or_default()
}

/// What the list at the end lacks.
fn endings() -> Vec<Planted> {
    vec![
        on_end("last-text-beside-calls-missing-at-the-end", END, |list, given| {
            emptied(list[given..].iter_mut().rfind(|message| has_calls(message)))
        }),
        on_end("first-text-beside-calls-missing-at-the-end", END, |list, given| {
            emptied(list[given..].iter_mut().find(|message| has_calls(message)))
        }),
        on_end("names-of-the-second-round-missing-at-the-end", END, |list, given| {
            let round = list.iter_mut().skip(given).filter(|message| has_calls(message)).nth(1);
            round.into_iter().flat_map(calls_mut).for_each(|call| drop(call.insert("name".into(), "tool".into())));
        }),
        on_end("arguments-of-the-last-call-missing-at-the-end", END, |list, given| {
            let round = list.iter_mut().skip(given).rfind(|message| calls(message).len() > 1);
            if let Some(call) = round.and_then(|message| calls_mut(message).last()) {
                call.insert("args".into(), json!({}));
            }
        }),
        on_end("ids-numbered-anew-at-the-end", END, |list, given| {
            for message in list.iter_mut().skip(given) {
                calls_mut(message)
                    .for_each(|call| drop(call.insert("id".into(), format!("end_{}", text(&call["id"])).into())));
                if message["tool_call_id"].is_string() {
                    message["tool_call_id"] = format!("end_{}", text(&message["tool_call_id"])).into();
                }
            }
        }),
        on_end("rounds-of-the-history-missing-at-the-end", END, |list, given| {
            let mut place = 0;
            list.retain(|message| {
                place += 1;
                place > given || calls(message).is_empty() && !is(message, "tool")
            });
        }),
        on_end("answer-of-a-second-sibling-missing-at-the-end", END, |list, given| {
            let second = list
                .iter()
                .skip(given)
                .find(|message| calls(message).len() > 1)
                .map(|message| calls(message)[1]["id"].clone());
            list.retain(|message| !is(message, "tool") || Some(&message["tool_call_id"]) != second.as_ref());
        }),
        on_end("last-response-trimmed-at-the-end", END, |list, _| {
            list.last_mut().into_iter().for_each(|message| change_text(message, |text| text.trim().to_owned()))
        }),
        on_end("results-cut-to-1000-characters-at-the-end", END, |list, _| {
            list.iter_mut()
                .filter(|message| is(message, "tool"))
                .for_each(|message| change_text(message, |text| cut(text, 1_000)))
        }),
        on_end("answers-of-the-last-round-missing-at-the-end-when-cut", END, |list, _| {
            while list.last().is_some_and(|message| is(message, "tool")) {
                list.pop();
            }
        }),
        seam::end("last-round-missing-at-the-end-when-the-model-fails", END, |run, output| {
            if output["failure"] != "" && run.requests.len() > 1 {
                output["messages"] = run.requests[run.requests.len() - 2].clone().into();
            }
        }),
        on_end("empty-answers-missing-at-the-end", END, |list, _| {
            list.retain(|message| !is(message, "tool") || !words(message).is_empty())
        }),
        on_end("equal-messages-once-at-the-end", END, |list, _| {
            let mut known: Vec<Value> = Vec::new();
            list.retain(|message| {
                let is_new = !is(message, "human") || !known.contains(message);
                known.push(message.clone());
                is_new
            });
        }),
    ]
}

/// What a run leaves behind.
fn leftovers() -> Vec<Planted> {
    vec![
        bug("ids-of-earlier-runs-taken", INDEPENDENT, |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                let taken = run.memory["taken"].clone();
                rename(run, message, &|_, id| taken[id].is_boolean().then(|| format!("{id}_again")));
            });
            agent.end = Box::new(|run, _| {
                for call in run.list.iter().flat_map(calls) {
                    run.memory["taken"][text(&call["id"])] = true.into();
                }
            });
        }),
        seam::outcome("results-remembered-by-arguments-over-runs", INDEPENDENT, |run, call| {
            let key = format!("{} {}", call["name"], call["args"]);
            let known = run.memory[&key].clone();
            match outcome(run, call) {
                ToolOutcome::Result(_) if !known.is_null() => ToolOutcome::Result(known["value"].clone()),
                ToolOutcome::Result(value) => {
                    run.memory[&key] = json!({"value": value});
                    ToolOutcome::Result(value)
                }
                other => other,
            }
        }),
        begun("limit-of-an-earlier-run-kept", INDEPENDENT, |run| match run.limit() {
            Some(limit) => run.memory["limit"] = limit.into(),
            None => run.input["maxRecursionDepth"] = run.memory["limit"].clone(),
        }),
        bug("note-after-a-run-with-a-failing-tool", INDEPENDENT, |agent| {
            agent.begin = Box::new(|run| {
                mend(&mut run.list);
                if run.memory.take() == "failed" {
                    run.list.push(json!({"type": "human", "content": "Mind the failure before."}));
                }
                Ok(())
            });
            agent.end = Box::new(|run, _| {
                let failed = run.list.iter().any(|message| words(message).starts_with("The tool failed"));
                run.memory = if failed { "failed".into() } else { Value::Null };
            });
        }),
        bug("cut-response-begins-the-next-run", INDEPENDENT, |agent| {
            agent.begin = Box::new(|run| {
                let left = run.memory.take();
                run.list.splice(0..0, left.as_array().cloned().unwrap_or_default());
                mend(&mut run.list);
                Ok(())
            });
            agent.answers_when_cut = Box::new(|run, calls| {
                run.memory = run.list.last().cloned().into_iter().collect();
                calls.iter().map(|call| answer(call, "Not executed.")).collect()
            });
        }),
        bug("conversation-found-by-its-first-question", INDEPENDENT, |agent| {
            agent.begin = Box::new(|run| {
                mend(&mut run.list);
                let first = question(run);
                if let Some(earlier) = run.memory[first].as_array().filter(|_| run.list.len() == 1) {
                    run.list.splice(0..0, earlier.iter().cloned());
                }
                Ok(())
            });
            agent.end = Box::new(|run, _| {
                let first = question(run);
                if let Some(last) = run.list.last().filter(|last| calls(last).is_empty() && is(last, "ai")) {
                    run.memory[first] = json!([run.list[0], last]);
                }
            });
        }),
        seam::outcome("tools-unknown-once-stay-unknown-over-runs", INDEPENDENT, |run, call| {
            let name = text(&call["name"]).to_owned();
            if run.memory[&name] == true {
                return ToolOutcome::Unknown(name);
            }
            let found = outcome(run, call);
            if matches!(found, ToolOutcome::Unknown(_)) {
                run.memory[&name] = true.into();
            }
            found
        }),
        begun("system-message-grows-with-each-run", INDEPENDENT, |run| {
            let earlier = run.memory.as_str().unwrap_or_default().to_owned();
            if let Some(message) = run.list.first_mut().filter(|message| is(message, "system")) {
                let own = words(message).to_owned();
                if !earlier.is_empty() && earlier != own {
                    message["content"] = format!("{earlier}\n{own}").into();
                }
                run.memory = own.into();
            }
        }),
        bug("arguments-of-an-earlier-run-by-id", INDEPENDENT, |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                for call in calls_mut(message) {
                    let id = text(&call["id"]).to_owned();
                    if run.memory[&id].is_object() {
                        call.insert("args".into(), run.memory[&id].clone());
                    }
                }
            });
            agent.end = Box::new(|run, _| {
                for call in run.list.iter().flat_map(calls) {
                    run.memory[text(&call["id"])] = call["args"].clone();
                }
            });
        }),
        bug("run-after-an-empty-response-ends-at-once", INDEPENDENT, |agent| {
            agent.after_round = Box::new(|run| {
                if run.memory == "empty" {
                    run.stop = Some(String::new());
                }
            });
            agent.end = Box::new(|run, _| {
                let empty = run
                    .list
                    .last()
                    .is_some_and(|last| is(last, "ai") && words(last).is_empty() && calls(last).is_empty());
                run.memory = if empty { "empty".into() } else { Value::Null };
            });
        }),
    ]
}

/// Two conditions at once.
fn pairs() -> Vec<Planted> {
    vec![
        seam::answers("results-behind-a-null-move-up", RESULT, |_, answers| {
            if answers.len() > 1 {
                let contents: Vec<Value> = answers.iter().map(|answer| answer["content"].clone()).collect();
                let mut told = contents.iter().filter(|content| **content != "null").cloned();
                answers.iter_mut().for_each(|answer| answer["content"] = told.next().unwrap_or_else(|| "null".into()));
            }
        }),
        seam::answers("failure-of-the-first-sibling-told-to-the-second", FAILURE, |_, answers| {
            if answers.len() > 1 && words(&answers[0]).starts_with("The tool failed") {
                let (first, second) = (answers[0]["content"].clone(), answers[1]["content"].clone());
                answers[0]["content"] = second;
                answers[1]["content"] = first;
            }
        }),
        seam::answers("equal-calls-of-a-response-share-a-result", RESULT, |run, answers| {
            let own = run.list.last().map(calls).unwrap_or_default();
            for index in 1..own.len().min(answers.len()) {
                let same = |other: &Value| other["name"] == own[index]["name"] && other["args"] == own[index]["args"];
                if let Some(first) = own[..index].iter().position(same) {
                    answers[index]["content"] = answers[first]["content"].clone();
                }
            }
        }),
        seam::answers("empty-result-beside-others-takes-the-first", RESULT, |_, answers| {
            let first = answers.first().map(|answer| answer["content"].clone()).unwrap_or_default();
            answers
                .iter_mut()
                .skip(1)
                .filter(|answer| answer["content"] == "")
                .for_each(|answer| answer["content"] = first.clone());
        }),
        emptied_beside("text-beside-a-failing-call-dropped", RESPONSE, "The tool failed"),
        emptied_beside("text-beside-an-unknown-tool-dropped", RESPONSE, "There is no tool"),
        seam::answers("inner-list-of-the-last-result-unwrapped", RESULT, |_, answers| {
            if let Some(last) = answers.last_mut().filter(|last| words(last).starts_with("[[")) {
                let inner = words(last).trim_start_matches('[').trim_end_matches(']').to_owned();
                last["content"] = format!("[{inner}]").into();
            }
        }),
        seam::after_round("unknown-tool-after-a-failure-ends-the-run", FAILURE, |run| {
            let told =
                |start: &str| run.list.iter().any(|message| is(message, "tool") && words(message).starts_with(start));
            if told("The tool failed") && told("There is no tool") {
                run.stop = Some("too many problems".to_owned());
            }
        }),
        on_response("third-call-takes-the-arguments-of-the-first", RESPONSE, |_, message| {
            let own = calls(message);
            for call in calls_mut(message).skip(2) {
                if own[0]["name"] == call["name"] && own[1]["name"] != call["name"] {
                    call.insert("args".into(), own[0]["args"].clone());
                }
            }
        }),
    ]
}

pub(super) fn bugs() -> Vec<Planted> {
    [endings(), leftovers(), pairs()].into_iter().flatten().collect()
}
