//! AGENT-RESPONSE: how the words of the model are repeated.
//! AGENT-IDS: what becomes of the ids of calls.

use crate::universal::prelude::*;

fn retain_calls(message: &mut Value, keep: impl FnMut(&Value) -> bool) {
    let mut keep = keep;
    if let Some(calls) = message["tool_calls"].as_array_mut() {
        calls.retain(|call| keep(call));
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        on_response("what-is-said-beside-calls-dropped", RESPONSE, |_, message| {
            if has_calls(message) {
                message["content"] = "".into();
            }
        }),
        on_response("what-is-said-beside-calls-in-its-own-message", RESPONSE, |run, message| {
            if has_calls(message) && !words(message).is_empty() {
                run.list.push(json!({"type": "ai", "content": message["content"]}));
                message["content"] = "".into();
            }
        }),
        on_response("text-made-up-where-there-is-none", RESPONSE, |_, message| {
            if has_calls(message) && words(message).is_empty() {
                message["content"] = "Calling tools.".into();
            }
        }),
        on_response("text-kept-to-its-first-line", TEXT, |_, message| {
            let first = words(message).trim_start().lines().next().unwrap_or_default().to_owned();
            if words(message).trim() == words(message) {
                message["content"] = first.into();
            }
        }),
        seam::answers("response-not-repeated", RESPONSE, |run, _| drop(run.list.pop())),
        seam::answers("response-without-text-not-repeated", RESPONSE, |run, _| {
            run.list.pop_if(|message| words(message).is_empty());
        }),
        seam::answers("a-message-for-each-call", RESPONSE, |run, answers| {
            let Some(message) = run.list.pop() else { return };
            let each = calls(&message).into_iter().zip(std::mem::take(answers));
            for (index, (call, answer)) in each.enumerate() {
                let content = if index == 0 { message["content"].clone() } else { "".into() };
                run.list.extend([json!({"type": "ai", "content": content, "tool_calls": [call]}), answer]);
            }
        }),
        on_response("equal-calls-merged", RESPONSE, |_, message| {
            let mut seen: Vec<(Value, Value)> = Vec::new();
            retain_calls(message, |call| {
                let key = (call["name"].clone(), call["args"].clone());
                let is_new = !seen.contains(&key);
                seen.push(key);
                is_new
            });
        }),
        on_response("one-call-for-each-tool", RESPONSE, |_, message| {
            let own = calls(message);
            let mut index = 0;
            retain_calls(message, |call| {
                index += 1;
                own[index..].iter().all(|later| later["name"] != call["name"])
            });
        }),
        on_response("one-set-of-arguments-for-all-calls", RESPONSE, |_, message| {
            let first = message["tool_calls"][0]["args"].clone();
            calls_mut(message).for_each(|call| drop(call.insert("args".into(), first.clone())));
        }),
        on_response("names-of-parallel-calls-swapped", RESPONSE, |_, message| {
            let mut names: Vec<Value> = calls(message).iter().map(|call| call["name"].clone()).collect();
            names.reverse();
            calls_mut(message).zip(names).for_each(|(call, name)| drop(call.insert("name".into(), name)));
        }),
        on_arguments("arguments-as-a-list-where-empty", RESPONSE, |args| {
            if args.as_object().is_some_and(Map::is_empty) {
                *args = json!([]);
            }
        }),
        on_arguments("arguments-as-json-text", RESPONSE, |args| *args = args.to_string().into()),
        arguments_dropped("arguments-that-count-as-false-dropped", RESPONSE, |_, value| {
            matches!(value, Value::Null | Value::Bool(false)) || value == "" || value.as_f64() == Some(0.0)
        }),
        arguments_dropped("null-arguments-dropped", RESPONSE, |_, value| value.is_null()),
        arguments_dropped("empty-lists-in-arguments-dropped", RESPONSE, |_, value| {
            value.as_array().is_some_and(Vec::is_empty)
        }),
        on_arguments("nested-arguments-as-json-text", RESPONSE, |args| {
            for value in args.as_object_mut().into_iter().flat_map(Map::values_mut) {
                if value.is_array() || value.is_object() {
                    *value = value.to_string().into();
                }
            }
        }),
        arguments_become("json-text-in-arguments-parsed", RESPONSE, |value| {
            value.as_str().and_then(|text| serde_json::from_str(text).ok())
        }),
        inside_arguments("truth-in-arguments-as-text", RESPONSE, |value| {
            if let Value::Bool(truth) = value {
                *value = if *truth { "True" } else { "False" }.into();
            }
        }),
        arguments_dropped("arguments-called-like-the-calls-members-dropped", RESPONSE, |name, _| {
            matches!(name, "id" | "name" | "args" | "type" | "arguments")
        }),
        arguments_dropped("arguments-with-names-in-other-scripts-dropped", RESPONSE, |name, _| !name.is_ascii()),
        on_response("tool-names-in-lower-case", RESPONSE, |_, message| {
            for call in calls_mut(message) {
                let name = text(&call["name"]).to_lowercase();
                call.insert("name".into(), name.into());
            }
        }),
    ]
}

/// Gives each call a new id, and still finds its result.
fn renamed(
    name: &str,
    breaks: Clauses,
    new: impl Fn(&RunState, &str, usize) -> String + Copy + Send + Sync + 'static,
) -> Planted {
    on_response(name, breaks, move |run, message| {
        for (index, call) in calls_mut(message).enumerate() {
            let old = text(&call["id"]).to_owned();
            let id = new(run, &old, index);
            let origin =
                run.renamed.iter().find(|(new, _)| *new == old).map_or_else(|| old.clone(), |(_, old)| old.clone());
            call.insert("id".into(), (&*id).into());
            run.renamed.retain(|(known, _)| *known != id);
            run.renamed.push((id, origin));
        }
    })
}

/// Renames the ids that a response repeats, in another way.
fn repeats(name: &str, breaks: Clauses, new: fn(&str, usize) -> String) -> Planted {
    seam::response(name, breaks, move |run, message| {
        let own: Vec<Value> = calls(message).iter().map(|call| call["id"].clone()).collect();
        for (index, call) in calls_mut(message).enumerate() {
            let before = own[..index].iter().filter(|id| **id == own[index]).count();
            if before > 0 {
                let id = new(text(&own[index]), before);
                call.insert("id".into(), (&*id).into());
                run.renamed.push((id, text(&own[index]).to_owned()));
            }
        }
    })
}

pub(super) fn ids() -> Vec<Planted> {
    let mut bugs = vec![
        renamed("ids-of-its-own", IDS, |run, _, index| format!("call_{}_{index}", run.turn)),
        renamed("ids-in-lower-case", IDS, |_, id, _| id.to_lowercase()),
        renamed("ids-fitted-to-anthropics-pattern", IDS, |_, id, _| {
            id.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_' && c != '-', "_")
        }),
        renamed("ids-without-what-is-not-ascii", IDS, |_, id, _| id.chars().filter(char::is_ascii).collect()),
        renamed("ids-with-the-round-in-front", IDS, |run, id, _| format!("{}:{id}", run.turn)),
        renamed("ids-without-hyphens", IDS, |_, id, _| id.replace('-', "")),
        renamed("short-ids-filled-up", IDS, |_, id, _| format!("{id:0>9}")),
        renamed("ids-split-at-a-bar", IDS, |_, id, _| {
            id.split_once('|').map_or(id.to_owned(), |(first, _)| format!("fc_{first}"))
        }),
        seam::response("repeated-ids-stay", IDS, |_, _| {}),
        bug("repeated-ids-renamed-in-the-call-alone", IDS, |agent| {
            agent.response = Box::new(distinct);
            agent.answers = Box::new(|run, answers| {
                for answer in answers {
                    let id = text(&answer["tool_call_id"]);
                    if let Some((_, old)) = run.renamed.iter().find(|(new, _)| new == id) {
                        answer["tool_call_id"] = (&**old).into();
                    }
                }
            });
        }),
        repeats("repeated-ids-renamed-to-ones-that-are-taken", IDS, |id, before| format!("{id}_{}", before + 1)),
        repeats("all-repeats-get-one-id", IDS, |id, _| format!("{id}_again")),
        seam::response("empty-ids-stay-however-many", IDS, |run, message| {
            if calls(message).iter().any(|call| call["id"] != "") {
                distinct(run, message);
            }
        }),
    ];
    bugs.extend(family("ids-cut-to-{n}-characters", &[2, 8, 9, 40, 64], |name, size| {
        renamed(name, IDS, move |_, id, _| cut(id, size))
    }));
    bugs
}
