//! AGENT-FAILURE and AGENT-FAILURE-TOLD: what happens when a tool fails or does not exist; AGENT-ORDINARY: when a tool has an
//! odd name.
//! Runs that fail although nothing in them failed: an exception after the last response, or a rejection of what the model may say.
//! The clause is that of what ended the run, otherwise AGENT-GOES-ON.

use crate::universal::prelude::*;

fn failed(answer: &Value) -> bool {
    words(answer).starts_with("The tool failed")
}

fn unknown(answer: &Value) -> bool {
    words(answer).starts_with("There is no tool called")
}

/// Ends the run at such an outcome.
fn ends_at(name: &str, says: fn(&ToolOutcome) -> String, ends: fn(&ToolOutcome) -> bool) -> Planted {
    seam::content(name, FAILURE, move |run, outcome| {
        if ends(outcome) {
            run.stop = Some(says(outcome));
        }
        content(outcome)
    })
}

fn its_words(outcome: &ToolOutcome) -> String {
    text(&content(outcome)).to_owned()
}

fn silently(_: &ToolOutcome) -> String {
    String::new()
}

/// Writes the error of a failing tool in another way.
fn told(name: &str, edit: impl Writes<str, String>) -> Planted {
    on_failure(name, TOLD, move |error| format!("The tool failed: {}", edit(error)))
}

/// Does not find tools with such a name, although they exist.
fn not_found(name: &str, called: &'static str) -> Planted {
    seam::outcome(name, ORDINARY, move |run, call| {
        if call["name"] == called { ToolOutcome::Unknown(called.to_owned()) } else { outcome(run, call) }
    })
}

/// A member that every JavaScript object has counts as a tool.
fn inherited(name: &str, member: &'static str, gives: &'static str) -> Planted {
    seam::outcome(name, TOLD, move |run, call| match outcome(run, call) {
        ToolOutcome::Unknown(called) if called == member => ToolOutcome::Result(gives.into()),
        other => other,
    })
}

fn is_odd(name: &str) -> bool {
    matches!(name, "__proto__" | "constructor" | "toString" | "hasOwnProperty")
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        ends_at("failing-tool-ends-the-run", its_words, |outcome| matches!(outcome, ToolOutcome::Failure(_))),
        ends_at("failing-tool-ends-the-run-silently", silently, |outcome| matches!(outcome, ToolOutcome::Failure(_))),
        ends_at("unknown-tool-ends-the-run", its_words, |outcome| matches!(outcome, ToolOutcome::Unknown(_))),
        ends_at("unknown-tool-ends-the-run-silently", silently, |outcome| matches!(outcome, ToolOutcome::Unknown(_))),
        ends_at("failure-without-a-message-ends-the-run", silently, |outcome| {
            *outcome == ToolOutcome::Failure(String::new())
        }),
        seam::content("run-without-tools-ends-at-a-call", FAILURE, |run, outcome| {
            if run.input["tools"].is_null() {
                run.stop = Some("there are no tools".to_owned());
            }
            content(outcome)
        }),
        answers_kept("failing-tool-unanswered", FAILURE, |answer| !failed(answer)),
        answers_kept("unknown-tool-unanswered", FAILURE, |answer| !unknown(answer)),
        on_answers("failure-leaves-its-siblings-unanswered", FAILURE, |answers| {
            if answers.iter().any(failed) {
                answers.retain(failed);
            }
        }),
        on_answers("failure-leaves-later-siblings-unanswered", FAILURE, |answers| {
            if let Some(index) = answers.iter().position(failed) {
                answers.truncate(index + 1);
            }
        }),
        on_answers("failure-told-to-all-siblings", FAILURE, |answers| {
            if let Some(content) = answers.iter().find(|answer| failed(answer)).map(|answer| answer["content"].clone())
            {
                answers.iter_mut().for_each(|answer| answer["content"] = content.clone());
            }
        }),
        on_answers("failure-cancels-later-siblings", FAILURE, |answers| {
            let index = answers.iter().position(|answer| failed(answer) || unknown(answer)).unwrap_or(answers.len());
            answers.iter_mut().skip(index + 1).for_each(|answer| answer["content"] = "Cancelled.".into());
        }),
        on_answers("unknown-tool-cancels-the-round", FAILURE, |answers| {
            if answers.iter().any(unknown) {
                answers
                    .iter_mut()
                    .filter(|answer| !unknown(answer))
                    .for_each(|answer| answer["content"] = "Not run.".into());
            }
        }),
        on_response("unknown-call-dropped-from-the-response", FAILURE, |run, message| {
            let known = |call: &Value| {
                !matches!(
                    outcome(&mut RunState { input: run.input.clone(), ..Default::default() }, call),
                    ToolOutcome::Unknown(_)
                )
            };
            if let Some(calls) = message["tool_calls"].as_array_mut() {
                calls.retain(known);
            }
        }),
        seam::content("failed-call-tried-again-without-an-end", FAILURE, |run, outcome| {
            let same = run.list.iter().filter(|message| failed(message)).count();
            if matches!(outcome, ToolOutcome::Failure(_)) && same >= 1 {
                run.stop = Some("tried twice".to_owned());
            }
            content(outcome)
        }),
        on_failure("failures-told-in-general", TOLD, |_| "The tool failed: an error occurred.".to_owned()),
        told("failures-told-by-their-first-line", |error| error.lines().next().unwrap_or_default().to_owned()),
        told("failures-told-by-their-last-line", |error| error.lines().last().unwrap_or_default().to_owned()),
        told("failures-told-without-quotes", |error| error.replace(['"', '\''], "")),
        told("failures-told-in-ascii", |error| error.replace(|c: char| !c.is_ascii(), "?")),
        told("failures-told-as-a-template", |error| error.replace("{{", "{").replace("}}", "}")),
        told("failures-told-with-entities", |error| {
            error.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
        }),
        told("failures-told-without-markup", op::without_tags),
        on_answers("first-failure-told-for-all", TOLD, |answers| {
            if let Some(first) = answers.iter().find(|answer| failed(answer)).map(|answer| answer["content"].clone()) {
                answers.iter_mut().filter(|answer| failed(answer)).for_each(|answer| answer["content"] = first.clone());
            }
        }),
        seam::content("unknown-tool-told-without-its-name", TOLD, |_, outcome| match outcome {
            ToolOutcome::Unknown(_) => "There is no tool called so.".into(),
            _ => content(outcome),
        }),
        arguments_dropped("proto-in-arguments-dropped", ORDINARY, |name, _| name == "__proto__"),
        on_arguments("arguments-with-proto-emptied", ORDINARY, |args| {
            if args.to_string().contains("\"__proto__\"") {
                *args = json!({});
            }
        }),
        arguments_dropped("constructor-in-arguments-dropped", ORDINARY, |name, _| name == "constructor"),
        arguments_dropped("empty-names-in-arguments-dropped", ORDINARY, |name, _| name.is_empty()),
        inside_arguments("proto-in-nested-arguments-emptied", ORDINARY, |value| {
            if let Some(member) = value.get_mut("__proto__") {
                *member = json!({});
            }
        }),
        results_changed("proto-in-results-dropped", ORDINARY, |value| {
            drop_members(value, |name, _| name == "__proto__");
        }),
        results_changed("constructor-in-results-dropped", ORDINARY, |value| {
            drop_members(value, |name, _| name == "constructor" || name == "toString");
        }),
        not_found("tool-called-proto-not-found", "__proto__"),
        not_found("tool-called-constructor-not-found", "constructor"),
        not_found("tool-called-to-string-not-found", "toString"),
        not_found("tool-called-has-own-property-not-found", "hasOwnProperty"),
        ends_at(
            "inherited-members-end-the-run",
            |_| "not a function".to_owned(),
            |outcome| matches!(outcome, ToolOutcome::Unknown(name) if is_odd(name)),
        ),
        seam::answers("results-kept-in-an-object-by-id", ORDINARY, |_, answers| {
            for answer in answers.iter_mut().filter(|answer| is_odd(text(&answer["tool_call_id"]))) {
                answer["content"] = "[object Object]".into();
            }
        }),
        on_response("ids-like-members-renamed", ORDINARY, |run, message| {
            for call in calls_mut(message).filter(|call| is_odd(text(&call["id"]))) {
                let old = text(&call["id"]).to_owned();
                run.renamed.push((format!("_{old}"), old.clone()));
                call.insert("id".into(), format!("_{old}").into());
            }
        }),
    ];
    for (name, gives) in
        [("constructor", "function Object"), ("toString", "[object Object]"), ("hasOwnProperty", "false")]
    {
        bugs.push(inherited(&format!("inherited-{}-called", name.to_lowercase()), name, gives));
    }
    bugs.extend(family("run-ends-after-{n}-failures", &[2, 3], |name, size| {
        seam::after_round(name, FAILURE, move |run| {
            if run.list.iter().filter(|message| failed(message)).count() >= size {
                run.stop = Some("too many failures".to_owned());
            }
        })
    }));
    bugs.extend(family("failures-told-in-{n}-characters", &[10, 100, 500], |name, size| {
        told(name, move |error| cut(error, size))
    }));
    bugs
}

/// Reports a failure after the last response, if the condition holds.
fn fails(
    name: &str,
    breaks: Clauses,
    fails: impl Fn(&RunState, &Value) -> bool + Copy + Send + Sync + 'static,
) -> Planted {
    seam::is_last(name, breaks, move |run, message| {
        let is_last = calls(message).is_empty();
        if is_last && fails(run, message) {
            run.stop = Some("RuntimeError: gone".to_owned());
        }
        is_last
    })
}

/// Reports a failure after a last response with such a text.
fn fails_at_text(name: &str, breaks: Clauses, is_bad: fn(&str) -> bool) -> Planted {
    fails(name, breaks, move |_, message| is_bad(words(message)))
}

/// Reports a failure after the last response, if there was such an answer.
fn fails_after(name: &str, breaks: Clauses, is_bad: fn(&str) -> bool) -> Planted {
    fails(name, breaks, move |run, _| {
        run.list.iter().any(|message| message["type"] == "tool" && is_bad(words(message)))
    })
}

/// Rejects a whole script for what the model says in it.
fn rejects(
    name: &str,
    breaks: Clauses,
    is_bad: impl Fn(&RunState, &Value) -> bool + Copy + Send + Sync + 'static,
) -> Planted {
    seam::begin(name, breaks, move |run| {
        if run.input["model"].as_array().into_iter().flatten().any(|turn| is_bad(run, turn)) {
            return Err("ValueError: the response is not valid".to_owned());
        }
        mend(&mut run.list);
        Ok(())
    })
}

pub(super) fn aborted() -> Vec<Planted> {
    let mut bugs = vec![
        seam::end("failure-in-every-reply", GOES_ON, |run, output| {
            if run.stop.is_none() {
                output["failure"] = "RuntimeError: gone".into();
            }
        }),
        seam::end("failure-in-every-second-reply", GOES_ON, |run, output| {
            let is_second = run.memory == true;
            run.memory = json!(!is_second);
            if is_second && run.stop.is_none() {
                output["failure"] = "RuntimeError: event loop is closed".into();
            }
        }),
        fails("failure-without-tools", GOES_ON, |run, _| run.input["tools"].is_null()),
        fails("failure-without-calls", GOES_ON, |run, _| run.turn == 1),
        fails("failure-where-a-limit-is-set", GOES_ON, |run, _| run.limit().is_some_and(|limit| run.turn <= limit)),
        fails("failure-with-a-system-message", GOES_ON, |run, _| {
            run.list.iter().any(|message| message["type"] == "system")
        }),
        fails("failure-behind-a-history", GOES_ON, |run, _| {
            run.requests[0].iter().any(|message| message["type"] == "ai")
        }),
        fails("failure-after-parallel-calls", GOES_ON, |run, _| {
            run.list.iter().any(|message| calls(message).len() > 1)
        }),
        fails_after("failure-after-a-null-result", GOES_ON, |text| text == "null"),
        fails_after("failure-after-an-empty-result", GOES_ON, str::is_empty),
        fails_at_text("failure-at-an-empty-last-answer", GOES_ON, str::is_empty),
        fails_at_text("failure-at-a-blank-last-answer", GOES_ON, |text| text.trim().is_empty() && !text.is_empty()),
        fails_at_text("failure-at-a-last-answer-outside-of-ascii", GOES_ON, |text| !text.is_ascii()),
        fails_at_text("failure-at-a-last-answer-like-json", GOES_ON, |text| {
            text.starts_with('{') && text.ends_with('}')
        }),
        fails("failure-at-a-half-in-the-last-answer", ENCODABLE, |run, _| {
            let said = run.scripted(0)["content"].as_str().map(str::to_owned).unwrap_or_default();
            halves::repaired(&said) != said
        }),
        fails_after("failure-after-a-failing-tool", FAILURE, |text| text.starts_with("The tool failed")),
        fails_after("failure-after-an-unknown-tool", FAILURE, |text| text.starts_with("There is no tool called")),
        rejects("scripts-with-repeated-ids-rejected", GOES_ON, |_, turn| {
            let ids: Vec<Value> = calls(turn).iter().map(|call| call["id"].clone()).collect();
            (1..ids.len()).any(|index| ids[..index].contains(&ids[index]))
        }),
        rejects("scripts-with-empty-ids-rejected", GOES_ON, |_, turn| calls(turn).iter().any(|call| call["id"] == "")),
        rejects("scripts-beyond-the-limit-rejected", GOES_ON, |run, _| {
            let turns = run.input["model"].as_array().into_iter().flatten();
            let rounds = turns.take_while(|turn| has_calls(turn)).count();
            run.limit().is_some_and(|limit| rounds > limit)
        }),
        rejects("scripts-with-unknown-tools-rejected", FAILURE, |run, turn| {
            calls(turn).iter().any(|call| run.input["tools"].get(text(&call["name"])).is_none())
        }),
        rejects("scripts-with-failing-models-rejected", MODEL, |_, turn| turn["error"].is_string()),
        rejects("failures-of-the-model-told-as-rejections", MODEL, |run, _| run.input["model"][0]["error"].is_string()),
    ];
    bugs.extend(family("failure-after-{n}-rounds", &[1, 2, 20, 100], |name, size| {
        fails(name, GOES_ON, move |run, _| run.turn > size)
    }));
    bugs.extend(family("failure-after-{n}-calls", &[3, 15], |name, size| {
        fails(name, GOES_ON, move |run, _| run.list.iter().flat_map(calls).count() >= size)
    }));
    bugs.extend(family("failure-after-an-answer-of-{n}-characters", &[1_000, 60_000], |name, size| {
        fails(name, GOES_ON, move |_, message| words(message).len() >= size)
    }));
    bugs
}
