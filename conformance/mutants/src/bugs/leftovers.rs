//! What a run leaves behind for the next one, depending on how it ended.

use super::{Planted, bug, hardened, sticky};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// The members that a request may leave out.
const OPTIONAL: [&str; 5] =
    ["contextMode", "instructions", "responsePrefix", "maxRecursionDepth", "maxToolCallsPerIteration"];

/// The calls of a script, as the names of their tools.
fn called(input: &Value) -> Vec<String> {
    let turns = input["model"].as_array().into_iter().flatten();
    let calls = turns.flat_map(|turn| turn["tool_calls"].as_array().into_iter().flatten());
    calls.filter_map(|call| call["name"].as_str().map(str::to_owned)).collect()
}

/// Whether a name was noted.
fn is_noted(memory: &Value, name: &str) -> bool {
    memory.as_array().is_some_and(|noted| noted.iter().any(|one| one == name))
}

fn note(memory: &mut Value, name: &str) {
    if !is_noted(memory, name) {
        let mut noted = memory.as_array().cloned().unwrap_or_default();
        noted.push(name.into());
        *memory = noted.into();
    }
}

pub(super) const BUGS: &[Planted] = &[
    // Only an answer clears what a request has set.
    bug(
        "members-of-a-refused-request-stay",
        &[clause::MSG_PURE, clause::DOC_PREFIX_EMPTY, clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS],
        |twin| {
            twin.before = |twin, _, input| {
                let left = twin.memory.take();
                for name in OPTIONAL {
                    if input.get(name).is_none() && !left[name].is_null() {
                        input[name] = left[name].clone();
                    }
                }
                twin.memory = input.clone();
            };
            twin.after = |twin, _, _, _| twin.memory = Value::Null;
        },
    ),
    bug("names-of-a-refused-thread-stay", &[clause::ATT_NAME], |twin| {
        twin.before = |twin, op, input| {
            let left = twin.memory.take();
            let events = input["events"].as_array_mut().filter(|_| op == Op::Serialize);
            twin.memory = events.as_ref().map_or(Value::Null, |events| events.as_slice().into());
            let is_call = |event: &&Value| event["type"] == "tool_call";
            if let (Some(events), Some(left)) = (events, left.as_array()) {
                let calls: Vec<Value> = left.iter().filter(is_call).cloned().collect();
                events.extend(calls.iter().take(1).cloned());
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("limit-on-rounds-sticks", &[clause::TOOLS_STOP], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Tools {
                sticky(&mut twin.memory, input, "maxRecursionDepth");
            }
        };
    }),
    bug("limits-of-a-run-stick", &[clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Loop {
                sticky(&mut twin.memory, input, "maxToolCallsPerIteration");
            }
        };
    }),
    bug("verifier-sticks", &[clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Loop {
                sticky(&mut twin.memory, input, "verify");
            }
        };
    }),
    bug("results-go-on-where-they-ended", &[clause::TOOLS_RESULT, clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, _, input| {
            let names = called(input);
            let Some(tools) = input["tools"].as_object_mut() else { return };
            for (name, results) in tools {
                let Some(results) = results.as_array_mut().filter(|results| results.len() > 1) else { continue };
                let taken = twin.memory[name].as_u64().unwrap_or(0);
                let now = names.iter().filter(|called| *called == name).count() as u64;
                twin.memory[name] = (taken + now).into();
                let length = results.len();
                results.rotate_left(usize::try_from(taken).unwrap_or(0) % length);
            }
        };
    }),
    bug("tools-that-failed-stay-broken", &[clause::TOOLS_RESULT, clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, _, input| {
            let Some(tools) = input["tools"].as_object_mut() else { return };
            for (name, results) in tools {
                if is_noted(&twin.memory, name) {
                    *results = json!([{"error": "broken"}]);
                } else if results[0]["error"].is_string() {
                    note(&mut twin.memory, name);
                }
            }
        };
    }),
    bug("tools-that-were-unknown-stay-unknown", &[clause::TOOLS_RESULT, clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, op, input| {
            if !matches!(op, Op::Tools | Op::Loop) {
                return;
            }
            for name in called(input) {
                if input["tools"].get(&name).is_none() {
                    note(&mut twin.memory, &name);
                }
            }
            if let Some(tools) = input["tools"].as_object_mut() {
                tools.retain(|name, _| !is_noted(&twin.memory, name));
            }
        };
    }),
    bug("scripts-go-on-after-a-failure", &[clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS], |twin| {
        twin.before = |twin, _, input| {
            let left = twin.memory.take();
            let Some(model) = input["model"].as_array_mut() else { return };
            let ends = model.last().is_none_or(|last| last["tool_calls"].is_array() || last["error"].is_string());
            if ends {
                twin.memory = json!(true);
            }
            if left == true && model.len() > 1 {
                model.remove(0);
            }
        };
    }),
    bug("messages-of-a-longer-list-stay", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.before = |twin, op, input| {
            let Some(messages) = input["messages"].as_array_mut().filter(|_| op == Op::Tools) else { return };
            let left = std::mem::replace(&mut twin.memory, messages.clone().into());
            messages.extend(left.as_array().into_iter().flatten().skip(messages.len()).cloned().collect::<Vec<_>>());
        };
    }),
    bug("failures-are-counted-on", &[clause::LOOP_ERROR], |twin| {
        twin.after = |twin, op, _, output| {
            if op != Op::Loop {
                return;
            }
            if twin.memory == true
                && let Some(events) = output["events"].as_array_mut()
            {
                events
                    .iter_mut()
                    .filter(|event| event["type"] == "error")
                    .for_each(|event| event["recoverable"] = false.into());
            }
            twin.memory = (output["stopReason"] == "max_errors").into();
        };
    }),
    hardened("given-ids-stay-taken", &[clause::TOOLS_DISTINCT], |twin| {
        twin.after = |twin, op, input, output| {
            let text = output.to_string();
            // A given id may end so, too.
            if op != Op::Tools || !text.contains("_2\"") || input.to_string().contains("_2\"") {
                return;
            }
            if twin.memory == true {
                *output = serde_json::from_str(&text.replace("_2\"", "_3\"")).unwrap_or_default();
            }
            twin.memory = true.into();
        };
    }),
    bug("regular-expression-remembers-where-it-stopped", &[clause::ESC_1], |twin| {
        twin.after = |twin, op, input, output| {
            if op != Op::Escape {
                return;
            }
            let is_again = twin.memory == input["text"];
            twin.memory = if is_again { Value::Null } else { input["text"].clone() };
            if is_again {
                *output = input["text"].clone();
            }
        };
    }),
    bug("buffer-keeps-the-end-of-a-longer-text", &[clause::ESC_1, clause::ESC_3], |twin| {
        twin.after = |twin, op, _, output| {
            let Some(text) = output.as_str().filter(|_| op == Op::Escape) else { return };
            let left = twin.memory.as_str().map(|left| left.chars().skip(text.chars().count()).collect::<String>());
            let text = text.to_owned();
            *output = (text.clone() + &left.unwrap_or_default()).into();
            twin.memory = text.into();
        };
    }),
    bug("texts-once-escaped-stay-as-they-are", &[clause::ESC_2], |twin| {
        twin.after = |twin, op, input, output| {
            let Some(text) = input["text"].as_str().filter(|_| op == Op::Escape) else { return };
            if is_noted(&twin.memory, text) {
                *output = text.into();
            } else if let Some(escaped) = output.as_str() {
                note(&mut twin.memory, escaped);
            }
        };
    }),
    bug("empty-answers-stay-empty", &[clause::ESC_1], |twin| {
        twin.after = |twin, op, _, output| {
            if op == Op::Escape {
                let is_empty = output == "";
                if twin.memory == true && !is_empty {
                    *output = "".into();
                }
                twin.memory = is_empty.into();
            }
        };
    }),
    bug("references-are-read-across-texts", &[clause::ESC_3], |twin| {
        twin.after = |twin, op, input, output| {
            let Some(text) = input["text"].as_str().filter(|_| op == Op::Escape) else { return };
            let was_open = twin.memory == true;
            twin.memory = text.ends_with('&').into();
            if let (true, Some((_, rest))) = (was_open, output.as_str().unwrap_or_default().split_once(';')) {
                *output = rest.into();
            }
        };
    }),
];
