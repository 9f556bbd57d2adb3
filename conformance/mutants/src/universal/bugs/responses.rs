//! AGENT-RESPONSE: how the words of the model are repeated.

use super::{bug, calls_mut, drop_members, each, on_arguments, on_response};
use crate::agent::{calls, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];

fn retain_calls(message: &mut Value, keep: impl FnMut(&Value) -> bool) {
    let mut keep = keep;
    if let Some(calls) = message["tool_calls"].as_array_mut() {
        calls.retain(|call| keep(call));
    }
}

fn has_calls(message: &Value) -> bool {
    !calls(message).is_empty()
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("what-is-said-beside-calls-dropped", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                if has_calls(message) {
                    message["content"] = "".into();
                }
            });
        }),
        bug("what-is-said-beside-calls-in-its-own-message", RESPONSE, |agent| {
            on_response(agent, |run, message| {
                if has_calls(message) && !text(&message["content"]).is_empty() {
                    run.list.push(json!({"type": "ai", "content": message["content"]}));
                    message["content"] = "".into();
                }
            });
        }),
        bug("text-made-up-where-there-is-none", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                if has_calls(message) && text(&message["content"]).is_empty() {
                    message["content"] = "Calling tools.".into();
                }
            });
        }),
        bug("text-kept-to-its-first-line", &[clause::AGENT_TEXT], |agent| {
            on_response(agent, |_, message| {
                let first = text(&message["content"]).trim_start().lines().next().unwrap_or_default().to_owned();
                if text(&message["content"]).trim() == text(&message["content"]) {
                    message["content"] = first.into();
                }
            });
        }),
        bug("response-not-repeated", RESPONSE, |agent| {
            agent.answers = Box::new(|run, _| drop(run.list.pop()));
        }),
        bug("response-without-text-not-repeated", RESPONSE, |agent| {
            agent.answers = Box::new(|run, _| {
                run.list.pop_if(|message| text(&message["content"]).is_empty());
            });
        }),
        bug("a-message-for-each-call", RESPONSE, |agent| {
            agent.answers = Box::new(|run, answers| {
                let Some(message) = run.list.pop() else { return };
                let each = calls(&message).into_iter().zip(std::mem::take(answers));
                for (index, (call, answer)) in each.enumerate() {
                    let content = if index == 0 { message["content"].clone() } else { "".into() };
                    run.list.extend([json!({"type": "ai", "content": content, "tool_calls": [call]}), answer]);
                }
            });
        }),
        bug("equal-calls-merged", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let mut seen: Vec<(Value, Value)> = Vec::new();
                retain_calls(message, |call| {
                    let key = (call["name"].clone(), call["args"].clone());
                    let is_new = !seen.contains(&key);
                    seen.push(key);
                    is_new
                });
            });
        }),
        bug("one-call-for-each-tool", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let own = calls(message);
                let mut index = 0;
                retain_calls(message, |call| {
                    index += 1;
                    own[index..].iter().all(|later| later["name"] != call["name"])
                });
            });
        }),
        bug("one-set-of-arguments-for-all-calls", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let first = message["tool_calls"][0]["args"].clone();
                calls_mut(message).for_each(|call| drop(call.insert("args".into(), first.clone())));
            });
        }),
        bug("names-of-parallel-calls-swapped", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                let mut names: Vec<Value> = calls(message).iter().map(|call| call["name"].clone()).collect();
                names.reverse();
                calls_mut(message).zip(names).for_each(|(call, name)| drop(call.insert("name".into(), name)));
            });
        }),
        bug("arguments-as-a-list-where-empty", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                if args.as_object().is_some_and(serde_json::Map::is_empty) {
                    *args = json!([]);
                }
            });
        }),
        bug("arguments-as-json-text", RESPONSE, |agent| {
            on_arguments(agent, |args| *args = args.to_string().into());
        }),
        bug("arguments-that-count-as-false-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                drop_members(args, |_, value| {
                    matches!(value, Value::Null | Value::Bool(false)) || value == "" || value.as_f64() == Some(0.0)
                });
            });
        }),
        bug("null-arguments-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| drop_members(args, |_, value| value.is_null()))
        }),
        bug("empty-lists-in-arguments-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| drop_members(args, |_, value| value.as_array().is_some_and(Vec::is_empty)));
        }),
        bug("nested-arguments-as-json-text", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                for value in args.as_object_mut().into_iter().flat_map(serde_json::Map::values_mut) {
                    if value.is_array() || value.is_object() {
                        *value = value.to_string().into();
                    }
                }
            });
        }),
        bug("json-text-in-arguments-parsed", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                each(args, &|value| {
                    if let Some(parsed) = value.as_str().and_then(|text| serde_json::from_str(text).ok()) {
                        *value = parsed;
                    }
                });
            });
        }),
        bug("truth-in-arguments-as-text", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                each(args, &|value| {
                    if let Value::Bool(truth) = value {
                        *value = if *truth { "True" } else { "False" }.into();
                    }
                });
            });
        }),
        bug("arguments-called-like-the-calls-members-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                drop_members(args, |name, _| matches!(name, "id" | "name" | "args" | "type" | "arguments"));
            });
        }),
        bug("arguments-with-names-in-other-scripts-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| drop_members(args, |name, _| !name.is_ascii()));
        }),
        bug("tool-names-in-lower-case", RESPONSE, |agent| {
            on_response(agent, |_, message| {
                for call in calls_mut(message) {
                    let name = text(&call["name"]).to_lowercase();
                    call.insert("name".into(), name.into());
                }
            });
        }),
    ]
}
