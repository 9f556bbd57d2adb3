//! Readings of what messages and lists look like, and of ids.

use crate::universal::prelude::*;

/// Changes every message of the output.
fn everywhere(name: &str, breaks: Clauses, change: impl ChangesValue<Value>) -> Planted {
    seam::end(name, breaks, move |_, output| {
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
    })
}

/// Rearranges each request as it is sent.
fn rearranged(name: &str, breaks: Clauses, change: fn(&mut Vec<Value>)) -> Planted {
    seam::shown(name, breaks, move |_, request| change(request))
}

fn systems(list: &mut Vec<Value>) -> Vec<Value> {
    list.extract_if(.., |message| message["type"] == "system").collect()
}

pub(super) fn readings() -> Vec<Planted> {
    vec![
        bug("the-agent-itself", PERMITTED, |_| {}),
        everywhere("silent-calls-with-null-content", PERMITTED, |message| {
            if has_calls(message) && words(message).is_empty() {
                message["content"] = Value::Null;
            }
        }),
        everywhere("silent-calls-without-content", PERMITTED, |message| {
            let silent = has_calls(message) && words(message).is_empty();
            if let Some(members) = message.as_object_mut().filter(|_| silent) {
                members.remove("content");
            }
        }),
        everywhere("metadata-on-every-message", PERMITTED, |message| {
            message["response_metadata"] = json!({"model": "m", "usage": {"input_tokens": 3}});
            message["name"] = "agent".into();
        }),
        everywhere("calls-null-where-there-are-none", PERMITTED, |message| {
            if message["type"] == "ai" && calls(message).is_empty() {
                message["tool_calls"] = Value::Null;
            }
        }),
        everywhere("empty-arguments-left-out", PERMITTED, |message| {
            for call in message
                .get_mut("tool_calls")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
                .filter_map(Value::as_object_mut)
            {
                call.retain(|name, value| name != "args" || value.as_object().is_some_and(|args| !args.is_empty()));
            }
        }),
        rearranged("system-messages-first", PERMITTED, |list| {
            drop({
                let systems = systems(list);
                list.splice(0..0, systems)
            })
        }),
        rearranged("system-messages-last", PERMITTED, |list| {
            let systems = systems(list);
            list.extend(systems);
        }),
        rearranged("system-messages-joined", PERMITTED, |list| {
            let systems = systems(list);
            let texts: Vec<&str> = systems.iter().map(words).collect();
            if !texts.is_empty() {
                list.insert(0, json!({"type": "system", "content": texts.join("\n\n")}));
            }
        }),
        seam::end("system-messages-kept-apart-at-the-end", PERMITTED, |_, output| {
            output["messages"]
                .as_array_mut()
                .into_iter()
                .for_each(|list| list.retain(|message| message["type"] != "system"))
        }),
        seam::response("repeated-ids-renamed-to-fresh-ones", PERMITTED, |run, message| {
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
        }),
        seam::response("ids-renamed-where-a-run-repeats-them", PERMITTED, |run, message| {
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
        }),
        seam::response("names-of-unknown-tools-replaced-where-no-provider-takes-them", PERMITTED, |run, message| {
            distinct(run, message);
            let tools = run.input["tools"].clone();
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                let name = text(&call["name"]);
                let is_taken = |c: char| c.is_ascii_alphanumeric() || "_-".contains(c);
                if tools.get(name).is_none() && !name.chars().all(is_taken) {
                    call["name"] = "unknown_tool".into();
                }
            }
        }),
        seam::response("empty-ids-filled-in", PERMITTED, |run, message| {
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
        }),
        seam::response("long-ids-shortened-by-a-hash", PERMITTED, |run, message| {
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
        }),
        seam::end("empty-last-response-left-out", PERMITTED, |_, output| {
            output["messages"].as_array_mut().into_iter().for_each(|list| {
                drop(list.pop_if(|last| last["type"] == "ai" && calls(last).is_empty() && words(last).is_empty()))
            });
        }),
        bug("nothing-that-is-optional", PERMITTED, |agent| {
            agent.at_end = Box::new(|_, _| None);
            agent.end = Box::new(|_, output| {
                if let Some(members) = output.as_object_mut() {
                    members.retain(|name, _| name == "requests" || name == "messages");
                }
            });
        }),
        seam::end("system-messages-kept-beside-the-list-at-the-end", PERMITTED, |_, output| {
            let list = output["messages"].as_array_mut();
            list.into_iter().for_each(|list| list.retain(|message| message["type"] != "system"));
        }),
        seam::end("no-list-at-the-end", PERMITTED, |_, output| {
            if let Some(members) = output.as_object_mut() {
                members.shift_remove("messages");
            }
        }),
        everywhere("parts-of-messages-in-another-order", PERMITTED, |message| {
            if let Some(members) = message.as_object_mut() {
                *members = members.clone().into_iter().rev().collect();
            }
        }),
        on_given("given-list-copied", PERMITTED, |list| *list = list.clone()),
        everywhere("minus-zero-of-arguments-as-zero", PERMITTED, |message| {
            for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
                let mut args = call["args"].take();
                each(&mut args, &|value| {
                    if value.as_f64() == Some(0.0) {
                        *value = 0.into();
                    }
                });
                call["args"] = args;
            }
        }),
    ]
}
