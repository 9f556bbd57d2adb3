//! AGENT-FAILURE and AGENT-FAILURE-TOLD: what happens when a tool fails or does not exist; AGENT-ORDINARY: when a tool has an
//! odd name.

use super::{bug, calls_mut, cut, drop_members, each, family, on_arguments, on_failure, on_response, on_structured};
use crate::agent::{Agent, ToolOutcome, content, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const FAILURE: &[&str] = &[clause::AGENT_FAILURE];
const TOLD: &[&str] = &[clause::AGENT_FAILURE_TOLD];
const ORDINARY: &[&str] = &[clause::AGENT_ORDINARY];

fn failed(answer: &Value) -> bool {
    text(&answer["content"]).starts_with("The tool failed")
}

fn unknown(answer: &Value) -> bool {
    text(&answer["content"]).starts_with("There is no tool called")
}

/// Ends the run at such an outcome.
fn ends_at(agent: &mut Agent, ends: fn(&ToolOutcome) -> bool, says: fn(&ToolOutcome) -> String) {
    agent.content = Box::new(move |run, outcome| {
        if ends(outcome) {
            run.stop = Some(says(outcome));
        }
        content(outcome)
    });
}

fn on_answers(agent: &mut Agent, change: impl Fn(&mut Vec<Value>) + Send + Sync + 'static) {
    agent.answers = Box::new(move |_, answers| change(answers));
}

/// Does not find tools with such a name, although they exist.
fn not_found(agent: &mut Agent, name: &'static str) {
    agent.outcome =
        Box::new(
            move |run, call| {
                if call["name"] == name { ToolOutcome::Unknown(name.to_owned()) } else { outcome(run, call) }
            },
        );
}

/// A member that every JavaScript object has counts as a tool.
fn inherited(agent: &mut Agent, name: &'static str, gives: &'static str) {
    agent.outcome = Box::new(move |run, call| match outcome(run, call) {
        ToolOutcome::Unknown(called) if called == name => ToolOutcome::Result(gives.into()),
        other => other,
    });
}

fn is_odd(name: &str) -> bool {
    matches!(name, "__proto__" | "constructor" | "toString" | "hasOwnProperty")
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("failing-tool-ends-the-run", FAILURE, |agent| {
            ends_at(
                agent,
                |outcome| matches!(outcome, ToolOutcome::Failure(_)),
                |outcome| text(&content(outcome)).to_owned(),
            );
        }),
        bug("failing-tool-ends-the-run-silently", FAILURE, |agent| {
            ends_at(agent, |outcome| matches!(outcome, ToolOutcome::Failure(_)), |_| String::new());
        }),
        bug("unknown-tool-ends-the-run", FAILURE, |agent| {
            ends_at(
                agent,
                |outcome| matches!(outcome, ToolOutcome::Unknown(_)),
                |outcome| text(&content(outcome)).to_owned(),
            );
        }),
        bug("unknown-tool-ends-the-run-silently", FAILURE, |agent| {
            ends_at(agent, |outcome| matches!(outcome, ToolOutcome::Unknown(_)), |_| String::new());
        }),
        bug("failure-without-a-message-ends-the-run", FAILURE, |agent| {
            ends_at(agent, |outcome| *outcome == ToolOutcome::Failure(String::new()), |_| String::new());
        }),
        bug("run-without-tools-ends-at-a-call", FAILURE, |agent| {
            agent.content = Box::new(|run, outcome| {
                if run.input["tools"].is_null() {
                    run.stop = Some("there are no tools".to_owned());
                }
                content(outcome)
            });
        }),
        bug("failing-tool-unanswered", FAILURE, |agent| {
            on_answers(agent, |answers| answers.retain(|answer| !failed(answer)))
        }),
        bug("unknown-tool-unanswered", FAILURE, |agent| {
            on_answers(agent, |answers| answers.retain(|answer| !unknown(answer)))
        }),
        bug("failure-leaves-its-siblings-unanswered", FAILURE, |agent| {
            on_answers(agent, |answers| {
                if answers.iter().any(failed) {
                    answers.retain(failed);
                }
            });
        }),
        bug("failure-leaves-later-siblings-unanswered", FAILURE, |agent| {
            on_answers(agent, |answers| {
                if let Some(index) = answers.iter().position(failed) {
                    answers.truncate(index + 1);
                }
            });
        }),
        bug("failure-told-to-all-siblings", FAILURE, |agent| {
            on_answers(agent, |answers| {
                if let Some(content) =
                    answers.iter().find(|answer| failed(answer)).map(|answer| answer["content"].clone())
                {
                    answers.iter_mut().for_each(|answer| answer["content"] = content.clone());
                }
            });
        }),
        bug("failure-cancels-later-siblings", FAILURE, |agent| {
            on_answers(agent, |answers| {
                let index =
                    answers.iter().position(|answer| failed(answer) || unknown(answer)).unwrap_or(answers.len());
                answers.iter_mut().skip(index + 1).for_each(|answer| answer["content"] = "Cancelled.".into());
            });
        }),
        bug("unknown-tool-cancels-the-round", FAILURE, |agent| {
            on_answers(agent, |answers| {
                if answers.iter().any(unknown) {
                    answers
                        .iter_mut()
                        .filter(|answer| !unknown(answer))
                        .for_each(|answer| answer["content"] = "Not run.".into());
                }
            });
        }),
        bug("unknown-call-dropped-from-the-response", FAILURE, |agent| {
            on_response(agent, |run, message| {
                let known = |call: &Value| {
                    !matches!(
                        outcome(&mut crate::agent::RunState { input: run.input.clone(), ..Default::default() }, call),
                        ToolOutcome::Unknown(_)
                    )
                };
                if let Some(calls) = message["tool_calls"].as_array_mut() {
                    calls.retain(known);
                }
            });
        }),
        bug("failed-call-tried-again-without-an-end", FAILURE, |agent| {
            agent.content = Box::new(|run, outcome| {
                let same = run.list.iter().filter(|message| failed(message)).count();
                if matches!(outcome, ToolOutcome::Failure(_)) && same >= 1 {
                    run.stop = Some("tried twice".to_owned());
                }
                content(outcome)
            });
        }),
        bug("failures-told-in-general", TOLD, |agent| {
            on_failure(agent, |_| "The tool failed: an error occurred.".to_owned())
        }),
        bug("failures-told-by-their-first-line", TOLD, |agent| {
            on_failure(agent, |error| format!("The tool failed: {}", error.lines().next().unwrap_or_default()));
        }),
        bug("failures-told-by-their-last-line", TOLD, |agent| {
            on_failure(agent, |error| format!("The tool failed: {}", error.lines().last().unwrap_or_default()));
        }),
        bug("failures-told-without-quotes", TOLD, |agent| {
            on_failure(agent, |error| format!("The tool failed: {}", error.replace(['"', '\''], "")))
        }),
        bug("failures-told-in-ascii", TOLD, |agent| {
            on_failure(agent, |error| format!("The tool failed: {}", error.replace(|c: char| !c.is_ascii(), "?")));
        }),
        bug("failures-told-as-a-template", TOLD, |agent| {
            on_failure(agent, |error| format!("The tool failed: {}", error.replace("{{", "{").replace("}}", "}")))
        }),
        bug("failures-told-with-entities", TOLD, |agent| {
            on_failure(agent, |error| {
                format!("The tool failed: {}", error.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"))
            });
        }),
        bug("failures-told-without-markup", TOLD, |agent| {
            on_failure(agent, |error| {
                let texts: Vec<&str> =
                    error.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect();
                format!("The tool failed: {}", texts.concat())
            });
        }),
        bug("first-failure-told-for-all", TOLD, |agent| {
            on_answers(agent, |answers| {
                if let Some(first) =
                    answers.iter().find(|answer| failed(answer)).map(|answer| answer["content"].clone())
                {
                    answers
                        .iter_mut()
                        .filter(|answer| failed(answer))
                        .for_each(|answer| answer["content"] = first.clone());
                }
            });
        }),
        bug("unknown-tool-told-without-its-name", TOLD, |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Unknown(_) => "There is no tool called so.".into(),
                _ => content(outcome),
            });
        }),
        bug("proto-in-arguments-dropped", ORDINARY, |agent| {
            on_arguments(agent, |args| drop_members(args, |name, _| name == "__proto__"))
        }),
        bug("arguments-with-proto-emptied", ORDINARY, |agent| {
            on_arguments(agent, |args| {
                if args.to_string().contains("\"__proto__\"") {
                    *args = json!({});
                }
            });
        }),
        bug("constructor-in-arguments-dropped", ORDINARY, |agent| {
            on_arguments(agent, |args| drop_members(args, |name, _| name == "constructor"));
        }),
        bug("empty-names-in-arguments-dropped", ORDINARY, |agent| {
            on_arguments(agent, |args| drop_members(args, |name, _| name.is_empty()))
        }),
        bug("proto-in-nested-arguments-emptied", ORDINARY, |agent| {
            on_arguments(agent, |args| {
                each(args, &|value| {
                    if let Some(member) = value.get_mut("__proto__") {
                        *member = json!({});
                    }
                });
            });
        }),
        bug("proto-in-results-dropped", ORDINARY, |agent| {
            on_structured(agent, |value| {
                let mut value = value.clone();
                drop_members(&mut value, |name, _| name == "__proto__");
                halves::escaped(&value.to_string()).into()
            });
        }),
        bug("constructor-in-results-dropped", ORDINARY, |agent| {
            on_structured(agent, |value| {
                let mut value = value.clone();
                drop_members(&mut value, |name, _| name == "constructor" || name == "toString");
                halves::escaped(&value.to_string()).into()
            });
        }),
        bug("tool-called-proto-not-found", ORDINARY, |agent| not_found(agent, "__proto__")),
        bug("tool-called-constructor-not-found", ORDINARY, |agent| not_found(agent, "constructor")),
        bug("tool-called-to-string-not-found", ORDINARY, |agent| not_found(agent, "toString")),
        bug("tool-called-has-own-property-not-found", ORDINARY, |agent| not_found(agent, "hasOwnProperty")),
        bug("inherited-members-end-the-run", FAILURE, |agent| {
            ends_at(
                agent,
                |outcome| matches!(outcome, ToolOutcome::Unknown(name) if is_odd(name)),
                |_| "not a function".to_owned(),
            );
        }),
        bug("results-kept-in-an-object-by-id", ORDINARY, |agent| {
            agent.answers = Box::new(|_, answers| {
                for answer in answers.iter_mut().filter(|answer| is_odd(text(&answer["tool_call_id"]))) {
                    answer["content"] = "[object Object]".into();
                }
            });
        }),
        bug("ids-like-members-renamed", ORDINARY, |agent| {
            on_response(agent, |run, message| {
                for call in calls_mut(message).filter(|call| is_odd(text(&call["id"]))) {
                    let old = text(&call["id"]).to_owned();
                    run.renamed.push((format!("_{old}"), old.clone()));
                    call.insert("id".into(), format!("_{old}").into());
                }
            });
        }),
    ];
    for (name, gives) in
        [("constructor", "function Object"), ("toString", "[object Object]"), ("hasOwnProperty", "false")]
    {
        bugs.push(bug(&format!("inherited-{}-called", name.to_lowercase()), TOLD, move |agent| {
            inherited(agent, name, gives)
        }));
    }
    bugs.extend(family("run-ends-after-{n}-failures", FAILURE, &[2, 3], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.list.iter().filter(|message| failed(message)).count() >= size {
                run.stop = Some("too many failures".to_owned());
            }
        });
    }));
    bugs.extend(family("failures-told-in-{n}-characters", TOLD, &[10, 100, 500], |agent, size| {
        on_failure(agent, move |error| format!("The tool failed: {}", cut(error, size)));
    }));
    bugs
}
