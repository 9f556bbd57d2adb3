//! AGENT-HISTORY: what becomes of a history that no provider accepts.

use super::{bug, is};
use crate::agent::{Agent, answer, calls, mend, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const HISTORY: &[&str] = &[clause::AGENT_HISTORY];

/// Deals with a broken history in another way.
fn on_broken(agent: &mut Agent, deal: fn(&mut Vec<Value>)) {
    agent.begin = Box::new(move |run| {
        let mut mended = run.list.clone();
        mend(&mut mended);
        if mended != run.list {
            deal(&mut run.list);
        }
        Ok(())
    });
}

/// Mends a broken history, but drops such messages.
fn mended_without(agent: &mut Agent, drops: fn(&Value) -> bool) {
    agent.begin = Box::new(move |run| {
        let given = run.list.clone();
        mend(&mut run.list);
        if run.list != given {
            run.list.retain(|message| !drops(message));
        }
        Ok(())
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("broken-history-sent-as-it-is", HISTORY, |agent| on_broken(agent, |_| {})),
        bug("ids-that-repeat-in-the-history-stay", HISTORY, |agent| {
            on_broken(agent, |list| {
                let repeats = |message: &Value| calls(message).windows(2).any(|two| two[0]["id"] == two[1]["id"]);
                if !list.iter().any(repeats) {
                    mend(list);
                }
            });
        }),
        bug("only-the-last-call-mended", HISTORY, |agent| {
            on_broken(agent, |list| {
                let answers: Vec<Value> = list
                    .last()
                    .map(calls)
                    .unwrap_or_default()
                    .iter()
                    .map(|call| answer(call, "Interrupted."))
                    .collect();
                list.extend(answers);
            });
        }),
        bug("only-orphans-dropped", HISTORY, |agent| {
            on_broken(agent, |list| {
                let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                list.retain(|message| !is(message, &["tool"]) || ids.contains(&message["tool_call_id"]));
            });
        }),
        bug("only-missing-answers-added", HISTORY, |agent| {
            on_broken(agent, |list| {
                let answered: Vec<Value> = list.iter().map(|message| message["tool_call_id"].clone()).collect();
                for index in (0..list.len()).rev() {
                    for call in calls(&list[index]).iter().rev().filter(|call| !answered.contains(&call["id"])) {
                        list.insert(index + 1, answer(call, "No result was recorded."));
                    }
                }
            });
        }),
        bug("missing-answers-added-at-the-end", HISTORY, |agent| {
            on_broken(agent, |list| {
                let answered: Vec<Value> = list.iter().map(|message| message["tool_call_id"].clone()).collect();
                let open: Vec<Value> =
                    list.iter().flat_map(calls).filter(|call| !answered.contains(&call["id"])).collect();
                list.extend(open.iter().map(|call| answer(call, "No result was recorded.")));
            });
        }),
        bug("late-answers-stay-where-they-are", HISTORY, |agent| {
            on_broken(agent, |list| {
                let given = list.clone();
                mend(list);
                let late =
                    given.iter().position(|message| is(message, &["human"])).filter(|_| given.len() == list.len());
                if late.is_some() {
                    *list = given;
                }
            });
        }),
        bug("second-answers-kept", HISTORY, |agent| {
            on_broken(agent, |list| {
                let second = list
                    .windows(2)
                    .any(|pair| is(&pair[0], &["tool"]) && pair[0]["tool_call_id"] == pair[1]["tool_call_id"]);
                if !second {
                    mend(list);
                }
            });
        }),
        bug("history-cut-at-the-gap", HISTORY, |agent| {
            on_broken(agent, |list| {
                let gap =
                    list.iter().position(|message| !calls(message).is_empty() || is(message, &["tool"])).unwrap_or(0);
                list.drain(..gap);
                mend(list);
            });
        }),
        bug("questions-of-a-broken-history-dropped", HISTORY, |agent| {
            agent.begin = Box::new(|run| {
                let given = run.list.clone();
                mend(&mut run.list);
                if run.list != given {
                    let last = run.list.iter().rposition(|message| is(message, &["human"])).unwrap_or(0);
                    let mut index = 0;
                    run.list.retain(|message| {
                        index += 1;
                        index > last || !is(message, &["human"])
                    });
                }
                Ok(())
            });
        }),
        bug("system-message-of-a-broken-history-dropped", HISTORY, |agent| {
            mended_without(agent, |message| is(message, &["system"]))
        }),
        bug("calls-dropped-with-their-text", HISTORY, |agent| {
            on_broken(agent, |list| list.retain(|message| calls(message).is_empty() && !is(message, &["tool"])));
        }),
        bug("plain-answers-of-a-broken-history-dropped", HISTORY, |agent| {
            mended_without(agent, |message| is(message, &["ai"]) && calls(message).is_empty());
        }),
        bug("everything-but-the-last-question-dropped", HISTORY, |agent| {
            on_broken(agent, |list| {
                let last = list.iter().rfind(|message| is(message, &["human"])).cloned();
                *list = last.into_iter().collect();
            });
        }),
        bug("broken-history-refused-without-a-word", HISTORY, |agent| {
            agent.begin = Box::new(|run| {
                let given = run.list.clone();
                mend(&mut run.list);
                if run.list == given { Ok(()) } else { Err(String::new()) }
            });
        }),
        bug("orphans-answered-under-the-call-before", HISTORY, |agent| {
            on_broken(agent, |list| {
                let ids: Vec<Value> = list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                if let Some(id) = ids.first() {
                    list.iter_mut()
                        .filter(|message| is(message, &["tool"]) && !ids.contains(&message["tool_call_id"]))
                        .for_each(|message| message["tool_call_id"] = id.clone());
                } else {
                    mend(list);
                }
            });
        }),
        bug("texts-beside-open-calls-dropped", HISTORY, |agent| {
            on_broken(agent, |list| {
                mend(list);
                for message in list
                    .iter_mut()
                    .filter(|message| !calls(message).is_empty() && !text(&message["content"]).is_empty())
                {
                    *message = json!({"type": "ai", "content": "", "tool_calls": message["tool_calls"]});
                }
            });
        }),
    ]
}
