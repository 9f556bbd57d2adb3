//! AGENT-START: what becomes of the given list; AGENT-CALLER: what becomes of the caller's own.

use super::{bug, is, on_given};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const START: &[&str] = &[clause::AGENT_START];
const CALLER: &[&str] = &[clause::AGENT_CALLER];

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("system-messages-not-sent", START, |agent| {
            on_given(agent, |list| list.retain(|message| !is(message, &["system"])));
        }),
        bug("system-message-sent-twice", START, |agent| {
            on_given(agent, |list| {
                if let Some(system) = list.iter().find(|message| is(message, &["system"])).cloned() {
                    list.insert(0, system);
                }
            });
        }),
        bug("own-system-message-in-front", START, |agent| {
            on_given(agent, |list| {
                list.insert(0, json!({"type": "system", "content": "You are a helpful assistant."}))
            });
        }),
        bug("system-message-as-a-human-one", START, |agent| {
            on_given(agent, |list| {
                list.iter_mut()
                    .filter(|message| is(message, &["system"]))
                    .for_each(|message| message["type"] = "human".into())
            });
        }),
        bug("system-text-put-into-the-first-question", START, |agent| {
            on_given(agent, |list| {
                let systems: Vec<Value> = list.extract_if(.., |message| is(message, &["system"])).collect();
                if let (Some(system), Some(human)) =
                    (systems.first(), list.iter_mut().find(|message| is(message, &["human"])))
                {
                    human["content"] = format!(
                        "{}\n\n{}",
                        crate::agent::text(&system["content"]),
                        crate::agent::text(&human["content"])
                    )
                    .into();
                }
            });
        }),
        bug("only-the-first-system-message", START, |agent| {
            on_given(agent, |list| {
                let mut seen = false;
                list.retain(|message| !is(message, &["system"]) || !std::mem::replace(&mut seen, true));
            });
        }),
        bug("only-a-leading-system-message", START, |agent| {
            on_given(agent, |list| {
                let mut index = 0;
                list.retain(|message| {
                    index += 1;
                    index == 1 || !is(message, &["system"])
                });
            });
        }),
        bug("only-the-last-question", START, |agent| {
            on_given(agent, |list| {
                let last = list.iter().rposition(|message| is(message, &["human"])).unwrap_or(0);
                let mut index = 0;
                list.retain(|message| {
                    index += 1;
                    index > last || is(message, &["system"])
                });
            });
        }),
        bug("earlier-answers-dropped", START, |agent| {
            on_given(agent, |list| list.retain(|message| !is(message, &["ai"]) || message["tool_calls"].is_array()));
        }),
        bug("earlier-rounds-dropped", START, |agent| {
            on_given(agent, |list| list.retain(|message| !is(message, &["tool"]) && !message["tool_calls"].is_array()));
        }),
        bug("arguments-of-earlier-calls-dropped", START, |agent| {
            on_given(agent, |list| {
                for call in list.iter_mut().flat_map(super::calls_mut) {
                    call.insert("args".into(), json!({}));
                }
            });
        }),
        bug("earlier-calls-told-as-text", START, |agent| {
            on_given(agent, |list| {
                for message in list.iter_mut() {
                    if message["tool_calls"].is_array() {
                        *message = json!({"type": "ai", "content": format!("Calls: {}", message["tool_calls"])});
                    } else if is(message, &["tool"]) {
                        *message = json!({"type": "human", "content": format!("Result: {}", message["content"])});
                    }
                }
            });
        }),
        bug("questions-in-a-row-joined", START, |agent| {
            on_given(agent, |list| {
                list.dedup_by(|next, before| {
                    let joins = is(next, &["human"]) && is(before, &["human"]);
                    if joins {
                        before["content"] = format!(
                            "{}\n{}",
                            crate::agent::text(&before["content"]),
                            crate::agent::text(&next["content"])
                        )
                        .into();
                    }
                    joins
                });
            });
        }),
        bug("equal-messages-merged", START, |agent| {
            on_given(agent, |list| {
                let mut seen: Vec<Value> = Vec::new();
                list.retain(|message| {
                    let is_new = !seen.contains(message);
                    seen.push(message.clone());
                    is_new
                });
            });
        }),
        bug("tools-described-in-front", START, |agent| {
            agent.begin = Box::new(|run| {
                super::mend(&mut run.list);
                if let Some(tools) = run.input["tools"].as_object().filter(|tools| !tools.is_empty()) {
                    let names: Vec<&str> = tools.keys().map(String::as_str).collect();
                    run.list.insert(0, json!({"type": "human", "content": format!("Tools: {}", names.join(", "))}));
                }
                Ok(())
            });
        }),
        bug("answers-at-the-end-of-the-history-dropped", START, |agent| {
            on_given(agent, |list| {
                while list.last().is_some_and(|message| is(message, &["tool"]) || message["tool_calls"].is_array()) {
                    list.pop();
                }
            });
        }),
        bug("answer-invited-by-a-last-message", START, |agent| {
            on_given(agent, |list| {
                if !list.last().is_some_and(|message| is(message, &["human"])) {
                    list.push(json!({"type": "human", "content": "Continue."}));
                }
            });
        }),
        bug("callers-list-grows", CALLER, |agent| {
            agent.end = Box::new(|_, output| output["given"] = output["messages"].clone());
        }),
        bug("callers-list-gets-the-answers", CALLER, |agent| {
            agent.end = Box::new(|run, output| {
                let answers = run.list.iter().filter(|message| is(message, &["tool"])).cloned();
                output["given"].as_array_mut().into_iter().for_each(|given| given.extend(answers.clone()));
            });
        }),
        bug("callers-list-loses-its-system-message", CALLER, |agent| {
            agent.end = Box::new(|_, output| {
                output["given"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|given| given.retain(|message| !is(message, &["system"])));
            });
        }),
        bug("callers-list-is-emptied", CALLER, |agent| agent.end = Box::new(|_, output| output["given"] = json!([]))),
    ]
}
