//! AGENT-SHARED: what changes in a list after it was handed to the model.

use super::{bug, calls_mut, change_text, cut, family, is};
use crate::agent::{Agent, RunState, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const SHARED: &[&str] = &[clause::AGENT_SHARED];

/// Changes the lists that were sent: each with its number, counted from 0.
fn later(agent: &mut Agent, change: impl Fn(&RunState, usize, &mut Vec<Value>) + Send + Sync + 'static) {
    agent.at_end = Box::new(move |run, mut requests| {
        let lists = requests.iter_mut().filter_map(Value::as_array_mut);
        lists.enumerate().for_each(|(number, list)| change(run, number, list));
        Some(requests)
    });
}

/// Changes each message of the lists that were sent, except where it was sent for the last time.
fn later_messages(agent: &mut Agent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    later(agent, move |run, number, list| {
        if number + 1 < run.requests.len() {
            list.iter_mut().for_each(&change);
        }
    });
}

/// The list that all requests share, as it is at the end.
fn grown(run: &RunState, list: &mut Vec<Value>) {
    list.clone_from(&run.list);
}

fn has_failure(list: &[Value]) -> bool {
    list.iter().any(|message| text(&message["content"]).starts_with("The tool failed"))
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("requests-share-a-growing-list", SHARED, |agent| later(agent, |run, _, list| grown(run, list))),
        bug("answer-slips-into-its-request", SHARED, |agent| {
            later(agent, |run, number, list| {
                if number + 1 == run.requests.len() {
                    list.extend(run.list.last().filter(|last| is(last, &["ai"])).cloned());
                }
            });
        }),
        bug("first-request-grows-on", SHARED, |agent| {
            later(agent, |run, number, list| {
                if number == 0 && run.requests.len() > 1 {
                    grown(run, list);
                }
            });
        }),
        bug("list-emptied-after-the-run", SHARED, |agent| later(agent, |_, _, list| list.clear())),
        bug("system-message-put-into-the-list-later", SHARED, |agent| {
            later(agent, |_, _, list| {
                if !list.iter().any(|message| is(message, &["system"])) {
                    list.insert(0, json!({"type": "system", "content": "You are helpful."}));
                }
            });
        }),
        bug("list-shared-where-a-tool-fails", SHARED, |agent| {
            later(agent, |run, _, list| {
                if has_failure(&run.list) {
                    grown(run, list);
                }
            });
        }),
        bug("list-shared-where-the-model-fails", SHARED, |agent| {
            later(agent, |run, _, list| {
                if run.stop.is_some() {
                    list.push(json!({"type": "ai", "content": "The model failed."}));
                }
            });
        }),
        bug("list-shared-at-the-limit", SHARED, |agent| {
            later(agent, |run, number, list| {
                if run.limit().is_some_and(|limit| run.turn > limit) && number + 1 == run.requests.len() {
                    grown(run, list);
                }
            });
        }),
        bug("arguments-popped-by-the-tool", SHARED, |agent| {
            later_messages(agent, |message| calls_mut(message).for_each(|call| call["args"] = json!({})));
        }),
        bug("nested-arguments-filled-in-by-the-tool", SHARED, |agent| {
            later_messages(agent, |message| {
                for call in calls_mut(message) {
                    let nested = call["args"].as_object_mut().into_iter().flat_map(|args| args.values_mut());
                    nested
                        .filter_map(Value::as_object_mut)
                        .for_each(|nested| drop(nested.insert("at".into(), 0.into())));
                }
            });
        }),
        bug("answers-of-a-round-sorted-in-place", SHARED, |agent| {
            later(agent, |_, _, list| {
                let is_tool = |message: &Value| is(message, &["tool"]);
                for round in list.chunk_by_mut(|one, other| is_tool(one) && is_tool(other)) {
                    round.sort_by_key(|answer| answer["tool_call_id"].to_string());
                    round.reverse();
                }
            });
        }),
        bug("texts-beside-calls-dropped-in-place", SHARED, |agent| {
            later_messages(agent, |message| {
                if calls_mut(message).next().is_some() {
                    change_text(message, |_| String::new());
                }
            });
        }),
        bug("cache-marks-put-into-the-last-question", SHARED, |agent| {
            later(agent, |_, _, list| {
                if let Some(asked) = list.iter_mut().rfind(|message| is(message, &["human"])) {
                    change_text(asked, |text| format!("{text}\n"));
                }
            });
        }),
    ];
    bugs.extend(family("list-of-more-than-{n}-rounds-shared", SHARED, &[1, 2, 10, 30, 63, 100, 118], |agent, size| {
        later(agent, move |run, number, list| {
            if run.requests.len() > size && number < size {
                grown(run, list);
            }
        });
    }));
    bugs.extend(family("requests-older-than-{n}-rounds-pruned-in-place", SHARED, &[1, 5, 25, 90], |agent, size| {
        later(agent, move |run, number, list| {
            if number + size < run.requests.len() {
                list.truncate(1);
            }
        });
    }));
    bugs.extend(family("results-cut-to-{n}-characters-in-place", SHARED, &[10, 200, 1_000, 4_000], |agent, size| {
        later_messages(agent, move |message| {
            if is(message, &["tool"]) {
                change_text(message, |text| cut(text, size));
            }
        });
    }));
    bugs.extend(family("lists-of-{n}-messages-shared", SHARED, &[5, 50, 200], |agent, size| {
        later(agent, move |run, _, list| {
            if list.len() >= size {
                grown(run, list);
            }
        });
    }));
    bugs
}
