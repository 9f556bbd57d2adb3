//! What shows only with size: ten times the sizes of the other families.

use super::{
    bug, calls_mut, change_text, cut, each, family, is, on_arguments, on_given, on_later_requests, on_response,
    on_structured, on_text_result,
};
use crate::agent::{Agent, RunState, ToolOutcome, answer, content, mend, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const ANSWERED: &[&str] = &[clause::AGENT_ANSWERED];
const FAILURE: &[&str] = &[clause::AGENT_FAILURE];
const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const INDEPENDENT: &[&str] = &[clause::AGENT_INDEPENDENT];
const PREFIX: &[&str] = &[clause::AGENT_PREFIX];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const START: &[&str] = &[clause::AGENT_START];
const TEXT: &[&str] = &[clause::AGENT_TEXT];

/// The number that a bug keeps in the memory of the agent, one more with each call.
fn counted(run: &mut RunState, by: u64) -> u64 {
    let count = run.memory.as_u64().unwrap_or(0) + by;
    run.memory = count.into();
    count
}

/// Cuts the texts of messages of these types.
fn given_texts_cut(agent: &mut Agent, types: &'static [&'static str], size: usize) {
    on_given(agent, move |list| {
        list.iter_mut()
            .filter(|message| is(message, types))
            .for_each(|message| change_text(message, |text| cut(text, size)));
    });
}

/// Changes each value inside structured results.
fn inside_results(agent: &mut Agent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    on_structured(agent, move |value| {
        let mut value = value.clone();
        each(&mut value, &change);
        halves::escaped(&value.to_string()).into()
    });
}

fn shortened(value: &mut Value, size: usize) {
    match value {
        Value::Array(elements) => elements.truncate(size),
        Value::Object(members) => *members = std::mem::take(members).into_iter().take(size).collect(),
        _ => {}
    }
}

/// Puts a placeholder where a value is nested more deeply.
fn pruned(value: &mut Value, depth: usize) {
    match value {
        Value::Array(_) | Value::Object(_) if depth == 0 => *value = "[Object]".into(),
        Value::Array(elements) => elements.iter_mut().for_each(|element| pruned(element, depth - 1)),
        Value::Object(members) => members.values_mut().for_each(|member| pruned(member, depth - 1)),
        _ => {}
    }
}

/// Empties results when all of them together are longer.
fn budget(agent: &mut Agent, size: usize) {
    on_later_requests(agent, move |_, request| {
        let mut left = size;
        for message in request.iter_mut().rev().filter(|message| is(message, &["tool"])) {
            let length = text(&message["content"]).len();
            if length > left {
                message["content"] = "[removed]".into();
            }
            left = left.saturating_sub(length);
        }
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = lists();
    bugs.extend(texts());
    bugs.extend(runs());
    bugs.push(bug("every-hundredth-call-unanswered", ANSWERED, |agent| {
        agent.answers = Box::new(|_, answers| {
            let mut index = 0;
            answers.retain(|_| {
                index += 1;
                index % 100 != 0
            });
        });
    }));
    bugs
}

fn lists() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = family("calls-beyond-{n}-not-repeated", RESPONSE, &[300, 2_560], |agent, size| {
        on_response(agent, move |_, message| {
            message["tool_calls"].as_array_mut().into_iter().for_each(|calls| calls.truncate(size))
        });
    })
    .collect();
    bugs.extend(family("calls-beyond-{n}-unanswered", ANSWERED, &[299, 1_024, 2_569], |agent, size| {
        agent.answers = Box::new(move |_, answers| answers.truncate(size));
    }));
    bugs.extend(family("results-beyond-{n}-wrap-around", RESULT, &[512, 2_048], |agent, size| {
        agent.answers = Box::new(move |_, answers| {
            for index in size..answers.len() {
                answers[index]["content"] = answers[index - size]["content"].clone();
            }
        });
    }));
    bugs.extend(family("answers-of-a-run-beyond-{n}-emptied", RESULT, &[500, 999], |agent, size| {
        agent.answers = Box::new(move |run, answers| {
            let before = run.list.iter().filter(|message| is(message, &["tool"])).count();
            answers.iter_mut().skip(size.saturating_sub(before)).for_each(|answer| answer["content"] = "".into());
        });
    }));
    bugs.extend(family("answers-beyond-{n}-come-first", &[clause::AGENT_ORDER], &[300, 2_048], |agent, size| {
        agent.answers = Box::new(move |_, answers| {
            let middle = size.min(answers.len());
            answers.rotate_left(middle);
        });
    }));
    bugs.extend(family("newest-{n}-messages-given", START, &[1_024, 4_096, 10_000], |agent, size| {
        on_given(agent, move |list| drop(list.drain(..list.len().saturating_sub(size))));
    }));
    bugs.extend(family("given-rounds-before-the-last-{n}-messages-dropped", START, &[128, 996], |agent, size| {
        on_given(agent, move |list| {
            let end = list.len().saturating_sub(size);
            let mut index = 0;
            list.retain(|message| {
                index += 1;
                index > end || !is(message, &["tool"]) && message["tool_calls"].is_null()
            });
        });
    }));
    bugs.extend(family("list-of-a-multiple-of-{n}-loses-its-first", START, &[16, 64, 256], |agent, size| {
        on_given(agent, move |list| {
            if list.len() == size {
                list.remove(0);
            }
        });
    }));
    bugs.extend(family("rounds-older-than-{n}-lost", PREFIX, &[125, 190], |agent, size| {
        on_later_requests(agent, move |run, request| {
            if run.turn > size + 1 {
                request.drain(1..3);
            }
        });
    }));
    bugs.extend(family("no-more-than-{n}-rounds", GOES_ON, &[128, 199], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.turn >= size {
                run.stop = Some(String::new());
            }
        });
    }));
    bugs.extend(family("members-beyond-{n}-dropped", RESULT, &[1_024, 9_999], |agent, size| {
        inside_results(agent, move |value| {
            if value.is_object() {
                shortened(value, size)
            }
        });
    }));
    bugs.extend(family("elements-beyond-{n}-dropped", RESULT, &[1_024, 9_999], |agent, size| {
        inside_results(agent, move |value| {
            if value.is_array() {
                shortened(value, size)
            }
        });
    }));
    bugs.extend(family("arguments-beyond-{n}-dropped", RESPONSE, &[256, 1_999], |agent, size| {
        on_arguments(agent, move |args| shortened(args, size))
    }));
    bugs.extend(family("elements-of-arguments-beyond-{n}-dropped", RESPONSE, &[1_024, 9_999], |agent, size| {
        on_arguments(agent, move |args| {
            each(args, &|value| {
                if value.is_array() {
                    shortened(value, size)
                }
            })
        });
    }));
    bugs.extend(family("arguments-below-level-{n}-lost", RESPONSE, &[16, 32], |agent, size| {
        on_arguments(agent, move |args| pruned(args, size))
    }));
    bugs.extend(family("results-below-level-{n}-lost", RESULT, &[16, 32], |agent, size| {
        on_structured(agent, move |value| {
            let mut value = value.clone();
            pruned(&mut value, size);
            value.to_string().into()
        });
    }));
    bugs.extend(family("tools-beyond-{n}-not-found", RESULT, &[20, 127, 512, 999], |agent, size| {
        agent.outcome = Box::new(move |run, call| {
            let at =
                run.input["tools"].as_object().and_then(|tools| tools.keys().position(|name| *name == call["name"]));
            if at.is_some_and(|at| at >= size) {
                ToolOutcome::Unknown(text(&call["name"]).to_owned())
            } else {
                outcome(run, call)
            }
        });
    }));
    bugs
}

fn texts() -> Vec<Planted> {
    let mut bugs: Vec<Planted> =
        family("results-end-at-{n}-characters", TEXT, &[300_000, 1_048_576, 2_900_000], |agent, size| {
            on_text_result(agent, move |text| cut(text, size))
        })
        .collect();
    bugs.extend(family("arguments-end-at-{n}-characters", TEXT, &[65_536, 200_000, 1_900_000], |agent, size| {
        on_arguments(agent, move |args| {
            each(args, &|value| {
                if let Value::String(text) = value {
                    *text = cut(text, size);
                }
            });
        });
    }));
    bugs.extend(family("questions-end-at-{n}-characters", TEXT, &[65_536, 300_000], |agent, size| {
        given_texts_cut(agent, &["human"], size)
    }));
    bugs.extend(family("instructions-end-at-{n}-characters", TEXT, &[32_768, 100_000], |agent, size| {
        given_texts_cut(agent, &["system"], size)
    }));
    bugs.extend(family("given-results-end-at-{n}-characters", TEXT, &[2_000, 100_000], |agent, size| {
        given_texts_cut(agent, &["tool"], size)
    }));
    bugs.extend(family("given-answers-end-at-{n}-characters", TEXT, &[2_000, 100_000], |agent, size| {
        given_texts_cut(agent, &["ai"], size)
    }));
    bugs.extend(family("texts-beside-calls-end-at-{n}-characters", TEXT, &[4_096, 100_000], |agent, size| {
        on_response(agent, move |_, message| change_text(message, |text| cut(text, size)));
    }));
    bugs.extend(family("structured-results-end-at-{n}-characters", RESULT, &[50_000, 190_000], |agent, size| {
        on_structured(agent, move |value| cut(&halves::escaped(&value.to_string()), size).into());
    }));
    bugs.extend(family(
        "errors-end-at-{n}-characters",
        &[clause::AGENT_FAILURE_TOLD],
        &[5_000, 50_000],
        |agent, size| {
            super::on_failure(agent, move |error| format!("The tool failed: {}", cut(error, size)));
        },
    ));
    bugs.extend(family("lines-beyond-{n}-left-out", TEXT, &[2_000, 19_999], |agent, size| {
        on_text_result(agent, move |text| text.split_inclusive('\n').take(size).collect());
    }));
    bugs.extend(family("long-lines-wrapped-at-{n}", TEXT, &[65_536, 2_000_000], |agent, size| {
        on_text_result(agent, move |text| {
            let long = text.is_ascii() && text.len() > size && !text.contains('\n');
            if long { format!("{}\n{}", &text[..size], &text[size..]) } else { text.to_owned() }
        });
    }));
    bugs.extend(family("results-of-a-run-beyond-{n}-characters-removed", PREFIX, &[20_000, 100_000, 400_000], budget));
    bugs.extend(family(
        "results-of-a-round-beyond-{n}-characters-emptied",
        RESULT,
        &[300_000, 1_800_000],
        |agent, size| {
            agent.answers = Box::new(move |_, answers| {
                let mut length = 0;
                for answer in answers {
                    length += text(&answer["content"]).len();
                    if length > size {
                        answer["content"] = "[too long]".into();
                    }
                }
            });
        },
    ));
    bugs.extend(family("long-ids-cut-to-{n}-characters", &[clause::AGENT_IDS], &[100, 512], |agent, size| {
        agent.response = Box::new(move |run, message| {
            for call in calls_mut(message) {
                let old = text(&call["id"]).to_owned();
                let id = cut(&old, size);
                call.insert("id".into(), (&*id).into());
                run.renamed.push((id, old));
            }
        });
    }));
    bugs
}

fn runs() -> Vec<Planted> {
    let mut bugs: Vec<Planted> = family("failures-beyond-{n}-end-the-run", FAILURE, &[10, 50, 99], |agent, size| {
        agent.after_round = Box::new(move |run| {
            if run.list.iter().filter(|message| text(&message["content"]).starts_with("The tool failed")).count() > size
            {
                run.stop = Some("too many failures".into());
            }
        });
    })
    .collect();
    bugs.extend(family("failures-beyond-{n}-unanswered", FAILURE, &[50, 99], |agent, size| {
        agent.answers = Box::new(move |_, answers| {
            let mut index = 0;
            answers.retain(|answer| {
                index += usize::from(text(&answer["content"]).starts_with("The tool failed"));
                index <= size || !text(&answer["content"]).starts_with("The tool failed")
            });
        });
    }));
    bugs.extend(family("limits-above-{n}-lowered", GOES_ON, &[25, 50, 99], |agent, size| {
        agent.is_cut = Box::new(move |run| {
            run.limit().is_some_and(|limit| run.turn > limit.min(size) + usize::from(limit > size))
        });
        agent.answers_when_cut = Box::new(|_, calls| calls.iter().map(|call| answer(call, "Limit.")).collect());
    }));
    bugs.extend(family("texts-beside-calls-beyond-{n}-dropped", RESPONSE, &[20, 99], |agent, size| {
        on_response(agent, move |run, message| {
            if run.turn > size {
                message["content"] = "".into();
            }
        });
    }));
    bugs.extend(family("run-{n}-gets-the-messages-of-the-one-before", INDEPENDENT, &[20, 101, 520], |agent, size| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            let count = run.memory["count"].as_u64().unwrap_or(0) + 1;
            if count >= size as u64 {
                let earlier = run.memory["list"].as_array().cloned().unwrap_or_default();
                run.list.splice(0..0, earlier);
            }
            run.memory = json!({"count": count, "list": run.input["messages"]});
            Ok(())
        });
    }));
    bugs.extend(family("no-run-after-{n}", GOES_ON, &[50, 100, 500], |agent, size| {
        agent.begin = Box::new(move |run| {
            mend(&mut run.list);
            if counted(run, 1) > size as u64 { Err("too many runs".into()) } else { Ok(()) }
        });
    }));
    bugs.extend(family("results-empty-after-{n}-calls", RESULT, &[100, 200, 1_000], |agent, size| {
        agent.content =
            Box::new(move |run, outcome| if counted(run, 1) > size as u64 { "".into() } else { content(outcome) });
    }));
    bugs
}
