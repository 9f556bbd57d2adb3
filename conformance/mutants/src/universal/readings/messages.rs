//! Readings of what messages and lists look like, and of ids.

use crate::agent::{Agent, calls, distinct, text};
use crate::planted::Planted;
use crate::universal::bugs::{cut, each, on_given};
use crate::universal::reading;
use serde_json::{Value, json};

/// Changes every message of the output.
fn everywhere(agent: &mut Agent, change: impl Fn(&mut Value) + Send + Sync + 'static) {
    agent.end = Box::new(move |_, output| {
        let requests = output["requests"].as_array().cloned().unwrap_or_default();
        let changed: Vec<Value> = requests
            .into_iter()
            .map(|mut request| {
                request.as_array_mut().into_iter().flatten().for_each(&change);
                request
            })
            .collect();
        output["requests"] = changed.into();
        output["messages"].as_array_mut().into_iter().flatten().for_each(&change);
    });
}

/// Rearranges each request as it is sent.
fn rearranged(agent: &mut Agent, change: fn(&mut Vec<Value>)) {
    agent.shown = Box::new(move |_, request| change(request));
}

fn systems(list: &mut Vec<Value>) -> Vec<Value> {
    list.extract_if(.., |message| message["type"] == "system").collect()
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        reading("the-agent-itself", |_| {}),
        reading("silent-calls-with-null-content", |agent| {
            everywhere(agent, |message| {
                if !calls(message).is_empty() && text(&message["content"]).is_empty() {
                    message["content"] = Value::Null;
                }
            });
        }),
        reading("silent-calls-without-content", |agent| {
            everywhere(agent, |message| {
                let silent = !calls(message).is_empty() && text(&message["content"]).is_empty();
                if let Some(members) = message.as_object_mut().filter(|_| silent) {
                    members.remove("content");
                }
            });
        }),
        reading("metadata-on-every-message", |agent| {
            everywhere(agent, |message| {
                message["response_metadata"] = json!({"model": "m", "usage": {"input_tokens": 3}});
                message["name"] = "agent".into();
            });
        }),
        reading("calls-null-where-there-are-none", |agent| {
            everywhere(agent, |message| {
                if message["type"] == "ai" && calls(message).is_empty() {
                    message["tool_calls"] = Value::Null;
                }
            });
        }),
        reading("empty-arguments-left-out", |agent| {
            everywhere(agent, |message| {
                for call in message
                    .get_mut("tool_calls")
                    .and_then(Value::as_array_mut)
                    .into_iter()
                    .flatten()
                    .filter_map(Value::as_object_mut)
                {
                    call.retain(|name, value| name != "args" || value.as_object().is_some_and(|args| !args.is_empty()));
                }
            });
        }),
        reading("system-messages-first", |agent| {
            rearranged(agent, |list| {
                drop({
                    let systems = systems(list);
                    list.splice(0..0, systems)
                })
            })
        }),
        reading("system-messages-last", |agent| {
            rearranged(agent, |list| {
                let systems = systems(list);
                list.extend(systems);
            });
        }),
        reading("system-messages-joined", |agent| {
            rearranged(agent, |list| {
                let systems = systems(list);
                let texts: Vec<&str> = systems.iter().map(|message| text(&message["content"])).collect();
                if !texts.is_empty() {
                    list.insert(0, json!({"type": "system", "content": texts.join("\n\n")}));
                }
            });
        }),
        reading("system-messages-kept-apart-at-the-end", |agent| {
            agent.end = Box::new(|_, output| {
                output["messages"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|list| list.retain(|message| message["type"] != "system"))
            });
        }),
        reading("repeated-ids-renamed-to-fresh-ones", |agent| {
            agent.response = Box::new(|run, message| {
                let own: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
                let turn = run.turn;
                for (index, call) in
                    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
                {
                    if own.iter().filter(|id| **id == own[index]).count() > 1 {
                        let id = format!("fresh-{turn}-{index}");
                        run.renamed.push((id.clone(), text(&own[index]).to_owned()));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("ids-renamed-where-a-run-repeats-them", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                let used: Vec<Value> = run.list.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                let turn = run.turn;
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    if used.contains(&call["id"]) {
                        let id = format!("{}-r{turn}", text(&call["id"]));
                        run.renamed.push((id.clone(), text(&call["id"]).to_owned()));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("names-of-unknown-tools-replaced-where-no-provider-takes-them", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                let tools = run.input["tools"].clone();
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let name = text(&call["name"]);
                    let is_taken = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                    if tools.get(name).is_none() && !name.chars().all(is_taken) {
                        call["name"] = "unknown_tool".into();
                    }
                }
            });
        }),
        reading("empty-ids-filled-in", |agent| {
            agent.response = Box::new(|run, message| {
                let turn = run.turn;
                for (index, call) in
                    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten().enumerate()
                {
                    if call["id"] == "" {
                        let id = format!("made-up-{turn}-{index}");
                        run.renamed.push((id.clone(), String::new()));
                        call["id"] = id.into();
                    }
                }
                distinct(run, message);
            });
        }),
        reading("long-ids-shortened-by-a-hash", |agent| {
            agent.response = Box::new(|run, message| {
                distinct(run, message);
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let old = text(&call["id"]).to_owned();
                    if old.len() > 40 {
                        let sum = old.bytes().fold(5381_u64, |sum, byte| sum.wrapping_mul(33) ^ u64::from(byte));
                        let id = format!("{}{sum:016x}", cut(&old, 8));
                        run.renamed.push((id.clone(), old));
                        call["id"] = id.into();
                    }
                }
            });
        }),
        reading("empty-last-response-left-out", |agent| {
            agent.end = Box::new(|_, output| {
                output["messages"].as_array_mut().into_iter().for_each(|list| {
                    drop(list.pop_if(|last| {
                        last["type"] == "ai" && calls(last).is_empty() && text(&last["content"]).is_empty()
                    }))
                });
            });
        }),
        reading("nothing-that-is-optional", |agent| {
            agent.at_end = Box::new(|_, _| None);
            agent.end = Box::new(|_, output| {
                if let Some(members) = output.as_object_mut() {
                    members.retain(|name, _| name == "requests" || name == "messages");
                }
            });
        }),
        reading("system-messages-kept-beside-the-list-at-the-end", |agent| {
            agent.end = Box::new(|_, output| {
                let list = output["messages"].as_array_mut();
                list.into_iter().for_each(|list| list.retain(|message| message["type"] != "system"));
            });
        }),
        reading("no-list-at-the-end", |agent| {
            agent.end = Box::new(|_, output| {
                if let Some(members) = output.as_object_mut() {
                    members.shift_remove("messages");
                }
            });
        }),
        reading("parts-of-messages-in-another-order", |agent| {
            everywhere(agent, |message| {
                if let Some(members) = message.as_object_mut() {
                    *members = members.clone().into_iter().rev().collect();
                }
            });
        }),
        reading("given-list-copied", |agent| on_given(agent, |list| *list = list.clone())),
        reading("minus-zero-of-arguments-as-zero", |agent| {
            everywhere(agent, |message| {
                for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                    let mut args = call["args"].take();
                    each(&mut args, &|value| {
                        if value.as_f64() == Some(0.0) {
                            *value = 0.into();
                        }
                    });
                    call["args"] = args;
                }
            });
        }),
    ]
}
