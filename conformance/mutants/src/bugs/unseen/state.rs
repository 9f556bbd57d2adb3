//! What a request leaves behind: caches by less than the whole input, tables that grow, counters, and what a refused, failing or
//! cut request does not clear away.

use super::{Planted, bug, events, hardened, in_lists};
use crate::twin::context::summaries;
use crate::twin::rounds::{distinct, outcome};
use serde_json::{Value, json};
use threadspec::{Event, Message, ToolCall};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// Repeats the first answer for a key.
fn cached(memory: &mut Value, key: &str, output: &mut Value) {
    if memory[key].is_null() {
        memory[key] = output.clone();
    } else {
        *output = memory[key].clone();
    }
}

/// An absent number or list keeps the value that it had in the previous request.
fn kept(memory: &mut Value, input: &mut Value, name: &str) {
    match input.get(name).filter(|value| !value.is_null()) {
        Some(value) => memory[name] = value.clone(),
        None if !memory[name].is_null() && input.is_object() => input[name] = memory[name].clone(),
        None => {}
    }
}

/// Remembers something of each request until its answer, and returns what a request without an answer left behind.
fn left_behind(memory: &mut Value, of: Value) -> Value {
    std::mem::replace(memory, of)
}

fn count(input: &Value) -> usize {
    input["events"].as_array().map_or(0, Vec::len)
}

/// The events before the first one that is refused.
fn sound(events: &Value) -> Vec<Value> {
    let events = events.as_array().into_iter().flatten();
    events.take_while(|event| Event::from_json(event).is_ok()).cloned().collect()
}

/// What each call of a run was answered, by name and arguments.
fn answered(output: &Value) -> Vec<(String, Value)> {
    let Some(messages) = output["messages"].as_array() else { return Vec::new() };
    let calls = messages.iter().flat_map(|message| message["tool_calls"].as_array().into_iter().flatten());
    let answer = |id: &Value| messages.iter().find(|message| message["tool_call_id"] == *id);
    calls
        .filter_map(|call| Some((key(&call["name"], &call["args"]), answer(&call["id"])?["content"].clone())))
        .collect()
}

fn key(name: &Value, args: &Value) -> String {
    format!("{name} {args}")
}

fn key_of(call: &ToolCall) -> String {
    key(&(&*call.name).into(), &Value::Object(call.args.clone()))
}

pub(in super::super) const BUGS: &[Planted] = &[
    bug("escaped-texts-cached-by-length-and-ends", &[clause::ESC_3], |twin| {
        twin.after = |twin, op, input, output| {
            let text: Vec<char> = input["text"].as_str().unwrap_or_default().chars().collect();
            if op == Op::Escape && text.len() > 16 {
                let ends: String = text[..8].iter().chain(&text[text.len() - 8..]).collect();
                cached(&mut twin.memory, &format!("{} {ends}", text.len()), output);
            }
        };
    }),
    bug("escaped-texts-cached-ignoring-case", &[clause::ESC_3], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Escape {
                cached(&mut twin.memory, &input["text"].to_string().to_lowercase(), output);
            }
        };
    }),
    bug("escaped-texts-not-escaped-again-later", &[clause::ESC_2], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Escape {
                let text = input["text"].as_str().unwrap_or_default();
                if twin.memory[text] == true {
                    *output = text.into();
                } else if *output != *text {
                    twin.memory[output.as_str().unwrap_or_default()] = true.into();
                }
            }
        };
    }),
    // JavaScript's `test` with a global expression starts where the last match ended.
    bug("check-for-markup-begins-where-it-ended", &[clause::ESC_1], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Escape {
                let text = input["text"].as_str().unwrap_or_default();
                let start = usize::try_from(twin.memory.as_u64().unwrap_or(0)).unwrap_or(0);
                let found =
                    text.char_indices().find(|&(at, c)| at >= start && matches!(c, '&' | '<' | '>' | '"' | '\''));
                if found.is_none() && start > 0 && text.len() >= start {
                    *output = text.into();
                }
                twin.memory = found.map_or(0, |(at, _)| at + 1).into();
            }
        };
    }),
    bug("document-cached-by-count-and-last-event", &[clause::DOC_2], |twin| {
        twin.after = |twin, op, input, output| {
            if let Some(last) =
                input["events"].as_array().and_then(|events| events.last()).filter(|_| op == Op::Serialize)
            {
                cached(&mut twin.memory, &format!("{} {last} {}", count(input), input["responsePrefix"]), output);
            }
        };
    }),
    bug("document-cached-by-texts-alone", &[clause::ATT_ITERATION], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Serialize {
                let mut input = input.clone();
                events(&mut input).for_each(|event| event["iteration"] = Value::Null);
                cached(&mut twin.memory, &input.to_string(), output);
            }
        };
    }),
    bug("document-cached-without-its-prefix", &[clause::DOC_6], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Serialize && count(input) > 0 {
                cached(&mut twin.memory, &input["events"].to_string(), output);
            }
        };
    }),
    bug("messages-cached-without-instructions", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Messages && count(input) > 0 {
                cached(&mut twin.memory, &format!("{} {}", input["contextMode"], input["events"]), output);
            }
        };
    }),
    bug("messages-cached-without-their-mode", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Messages && count(input) > 0 {
                cached(&mut twin.memory, &format!("{} {}", input["instructions"], input["events"]), output);
            }
        };
    }),
    bug("messages-cached-by-call-ids", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            let ids: Vec<String> =
                input["events"].as_array().into_iter().flatten().map(|event| event["toolCallId"].to_string()).collect();
            if op == Op::Messages && ids.iter().any(|id| id != "null") {
                cached(
                    &mut twin.memory,
                    &format!("{} {} {}", input["contextMode"], input["instructions"], ids.join(" ")),
                    output,
                );
            }
        };
    }),
    bug("arguments-cached-by-call-id", &[clause::EVT_CALL], |twin| {
        twin.before = |twin, op, input| {
            for event in events(input)
                .filter(|event| op == Op::Serialize && event["type"] == "tool_call" && event["args"].is_object())
            {
                let id = event["toolCallId"].to_string();
                cached(&mut twin.memory, &id, &mut event["args"]);
            }
        };
    }),
    bug("same-thread-again-has-no-messages", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Messages && count(input) > 0 {
                if twin.memory == *input {
                    *output = json!([]);
                }
                twin.memory = input.clone();
            }
        };
    }),
    bug("names-beyond-the-table-of-names", &[clause::ATT_NAME], |twin| {
        twin.before = |twin, _, input| {
            for event in events(input).filter(|event| event["toolName"].is_string()) {
                let name = event["toolName"].as_str().unwrap_or_default().to_owned();
                let known = twin.memory.as_object().map_or(0, serde_json::Map::len);
                if known < 200 {
                    twin.memory[name] = true.into();
                } else if twin.memory[&name].is_null() {
                    event["toolName"] = "unknown".into();
                }
            }
        };
    }),
    // What a refused request leaves.
    bug("names-of-a-refused-thread-remembered", &[clause::ATT_NAME], |twin| {
        twin.before = |twin, _, input| {
            let left = left_behind(&mut twin.memory, json!({ "own": input["events"] }));
            twin.memory["left"] = left["own"].clone();
        };
        twin.after = |twin, op, input, output| {
            let left = std::mem::take(&mut twin.memory)["left"].take();
            let calls = left.as_array().into_iter().flatten().filter(|event| event["toolName"].is_string());
            for call in calls {
                for (index, _) in input["events"]
                    .as_array()
                    .into_iter()
                    .flatten()
                    .enumerate()
                    .filter(|(_, event)| event["toolCallId"] == call["toolCallId"])
                {
                    let unknown = format!(" id=\"{index}\" name=\"unknown\"");
                    let known = format!(" id=\"{index}\" name={}", call["toolName"]);
                    if let Some(text) =
                        output.as_str().filter(|_| op == Op::Serialize).map(|text| text.replace(&unknown, &known))
                    {
                        *output = text.into();
                    }
                }
            }
        };
    }),
    bug("lines-of-a-refused-thread-remain", &[clause::DOC_2], |twin| {
        twin.before = |twin, op, input| {
            let own = if op == Op::Serialize { input["events"].clone() } else { Value::Null };
            let left = sound(&left_behind(&mut twin.memory, own));
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Serialize)
            {
                events.splice(0..0, left);
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("messages-of-a-refused-thread-remain", &[clause::MSG_PURE], |twin| {
        twin.before = |twin, op, input| {
            let own = if op == Op::Messages { input["events"].clone() } else { Value::Null };
            let left = sound(&left_behind(&mut twin.memory, own));
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                events.splice(0..0, left);
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("summaries-of-a-refused-thread-remembered", &[clause::MSG_PURE], |twin| {
        twin.before = |twin, op, input| {
            let left = sound(&left_behind(&mut twin.memory, input["events"].clone()));
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                events.extend(left.into_iter().filter(|event| event["type"] == "summary"));
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
        twin.summaries = summaries;
    }),
    bug("instructions-of-a-refused-request-stick", &[clause::MSG_PURE], |twin| {
        twin.before = |twin, op, input| {
            let left = left_behind(&mut twin.memory, input["instructions"].clone());
            if op == Op::Messages && input.is_object() && input["instructions"].is_null() && left.is_string() {
                input["instructions"] = left;
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("mode-of-a-refused-request-sticks", &[clause::MSG_PURE], |twin| {
        twin.before = |twin, op, input| {
            let left = left_behind(&mut twin.memory, input["contextMode"].clone());
            if op == Op::Messages && input.is_object() && input.get("contextMode").is_none() && left == "xml" {
                input["contextMode"] = left;
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("prefix-of-a-refused-request-sticks", &[clause::DOC_PREFIX_EMPTY], |twin| {
        twin.before = |twin, op, input| {
            let left = left_behind(&mut twin.memory, input["responsePrefix"].clone());
            if op == Op::Serialize && input.is_object() && input.get("responsePrefix").is_none() && left.is_string() {
                input["responsePrefix"] = left;
            }
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
    }),
    bug("ids-count-on-after-a-refused-thread", &[clause::ATT_ID], |twin| {
        twin.before = |twin, _, input| {
            let left = left_behind(&mut twin.memory, json!({ "own": count(input) }));
            twin.memory["left"] = left["own"].clone();
        };
        twin.after = |twin, _, _, _| twin.memory = Value::Null;
        twin.id = |twin, _, position| (twin.memory["left"].as_u64().unwrap_or(0) + position as u64).to_string();
    }),
    bug("request-after-a-refused-one-is-empty", &[clause::DOC_2], |twin| {
        twin.before = |twin, op, _| {
            let left = left_behind(&mut twin.memory, json!({"op": op.to_string()}));
            twin.memory["left"] = left["op"].clone();
        };
        twin.after = |twin, op, _, output| {
            let left = std::mem::take(&mut twin.memory)["left"].take();
            if op == Op::Serialize && left == "serialize" {
                *output = "<thread>\n</thread>".into();
            }
        };
    }),
    bug("decoder-stays-lossy-after-a-half-character", &[clause::ESC_3], |twin| {
        twin.before = |twin, op, input| {
            if let Some(Value::String(text)) = input.get_mut("text").filter(|_| op == Op::Escape) {
                if twin.memory == true {
                    *text = text.chars().map(|c| if u32::from(c) > 0xffff { '\u{fffd}' } else { c }).collect();
                }
                twin.memory = text.contains('\u{fffd}').into();
            }
        };
    }),
    // Tool rounds and the loop.
    hardened("taken-ids-kept-over-runs", &[clause::TOOLS_DISTINCT], |twin| {
        twin.after = |twin, op, _, output| {
            if op == Op::Tools {
                let mut ids = twin.memory.as_array().cloned().unwrap_or_default();
                for message in output["messages"].as_array().into_iter().flatten() {
                    ids.extend(message["tool_calls"].as_array().into_iter().flatten().map(|call| call["id"].clone()));
                }
                twin.memory = ids.into();
            }
        };
        twin.distinct = |twin, calls, thread| {
            let own = thread.len();
            let kept = twin.memory.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
            let mut taken: Vec<String> = thread.iter().cloned().chain(kept).collect();
            let before = taken.len();
            distinct(twin, calls, &mut taken);
            thread.truncate(own);
            thread.extend(taken.drain(before..));
        };
    }),
    bug("rounds-of-a-cut-run-count", &[clause::TOOLS_DEPTH], |twin| {
        twin.after = |twin, op, input, output| {
            let requests = output["requests"].as_array().map_or(0, Vec::len) as u64;
            if op == Op::Tools {
                let is_cut = input["maxRecursionDepth"].as_u64().is_some_and(|depth| requests == depth + 1);
                twin.memory = if is_cut { (requests - 1).into() } else { Value::Null };
            }
        };
        twin.is_too_deep = |twin, rounds, depth| {
            let before = usize::try_from(twin.memory.as_u64().unwrap_or(0)).unwrap_or(0);
            depth.is_some_and(|depth| rounds + before >= depth)
        };
    }),
    bug("depth-limit-kept", &[clause::TOOLS_STOP], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Tools {
                kept(&mut twin.memory, input, "maxRecursionDepth");
            }
        };
    }),
    bug("limit-on-requests-kept", &[clause::LOOP_LIMIT], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Loop {
                kept(&mut twin.memory, input, "maxToolCallsPerIteration");
            }
        };
    }),
    bug("verifier-kept", &[clause::LOOP_VERIFY], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Loop {
                kept(&mut twin.memory, input, "verify");
            }
        };
    }),
    bug("maximum-of-iterations-kept", &[clause::LOOP_MAX], |twin| {
        twin.before = |twin, op, input| {
            if op == Op::Loop {
                kept(&mut twin.memory, input, "maxIterations");
            }
        };
    }),
    bug("failures-of-a-stopped-run-count", &[clause::LOOP_ERROR], |twin| {
        twin.after = |twin, op, _, output| {
            if op == Op::Loop {
                let failed = output["stopReason"] == "max_errors";
                twin.gives_up = if failed { |_| true } else { |failures| failures >= 3 };
                twin.is_recoverable = if failed { |_| false } else { |failures| failures < 3 };
            }
        };
    }),
    bug("iterations-count-on-after-a-stopped-run", &[clause::LOOP_PROMPT], |twin| {
        twin.after = |twin, op, _, output| {
            if op == Op::Loop {
                let stopped = output["stopReason"] == "stop_condition";
                twin.first_iteration = 1 + output["iterations"].as_u64().filter(|_| stopped).unwrap_or(0);
            }
        };
    }),
    bug("response-of-the-run-before", &[clause::LOOP_RESPONSE], |twin| {
        twin.after = |twin, op, _, output| {
            if op == Op::Loop {
                if output["response"] == "" && twin.memory.is_string() {
                    output["response"] = twin.memory.clone();
                }
                twin.memory = output["response"].clone();
            }
        };
    }),
    bug("log-of-a-failed-run-remains", &[clause::LOOP_EVENTS], |twin| {
        twin.after = |twin, op, _, output| {
            let failed = output["stopReason"] == "max_errors";
            if let Some(events) = output.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Loop) {
                let own = if failed { events.clone().into() } else { Value::Null };
                let left = std::mem::replace(&mut twin.memory, own);
                events.splice(0..0, left.as_array().cloned().unwrap_or_default());
            }
        };
    }),
    bug("results-cached-by-name-and-arguments-over-runs", &[clause::TOOLS_RESULT], |twin| {
        twin.after = |twin, _, _, output| {
            for (key, content) in answered(output) {
                twin.memory[key] = content;
            }
        };
        twin.outcome = |twin, call, result| match twin.memory[key_of(call)].as_str() {
            Some(known) => known.to_owned(),
            None => outcome(twin, call, result),
        };
    }),
    bug("tools-that-failed-stay-disabled", &[clause::TOOLS_RESULT], |twin| {
        twin.after = |twin, _, _, output| {
            for (key, content) in answered(output)
                .into_iter()
                .filter(|(_, content)| content.as_str().is_some_and(|text| text.starts_with("Tool error: ")))
            {
                twin.memory[key.split(' ').next().unwrap_or_default()] = content;
            }
        };
        twin.outcome = |twin, call, result| match twin.memory[format!("{:?}", call.name)].as_str() {
            Some(known) => known.to_owned(),
            None => outcome(twin, call, result),
        };
    }),
    bug("unknown-tools-stay-unknown", &[clause::TOOLS_RESULT], |twin| {
        twin.after = |twin, _, _, output| {
            for (_, content) in answered(output) {
                if let Some(text) = content.as_str().filter(|text| text.starts_with("Tool not found: \"")) {
                    twin.memory[text] = true.into();
                }
            }
        };
        twin.outcome = |twin, call, result| {
            let unknown = format!("Tool not found: \"{}\"", call.name);
            if twin.memory[&unknown] == true { unknown } else { outcome(twin, call, result) }
        };
    }),
    bug("tools-of-the-run-before-known", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.before = |twin, _, input| {
            let Some(tools) = input.get_mut("tools").and_then(Value::as_object_mut) else { return };
            let own = tools.clone();
            for (name, results) in twin.memory.as_object().into_iter().flatten() {
                tools.entry(name.clone()).or_insert_with(|| results.clone());
            }
            twin.memory = own.into();
        };
    }),
    bug("messages-of-a-run-with-a-failing-model-remain", &[clause::TOOLS_ACCUMULATE], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Tools {
                let left = twin.memory.take().as_array().cloned().unwrap_or_default();
                let asked = output["requests"].as_array().map_or(0, Vec::len);
                let failed = asked > 0 && input["model"].get(asked - 1).is_none_or(|turn| turn["error"].is_string());
                if failed {
                    twin.memory = output["messages"].clone();
                }
                in_lists(output, |list| drop(list.splice(0..0, left.iter().cloned())));
            }
        };
    }),
    bug("answers-of-a-cut-run-come-later", &[clause::TOOLS_ID], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Tools {
                let asked = output["requests"].as_array().map_or(0, Vec::len) as u64;
                let open = output["messages"]
                    .as_array()
                    .and_then(|list| list.iter().rfind(|message| message["tool_calls"].is_array()));
                let open = open.map_or(Value::Null, |message| message["tool_calls"][0]["id"].clone());
                let is_cut = input["maxRecursionDepth"].as_u64().is_some_and(|depth| asked == depth + 1);
                let left = std::mem::replace(&mut twin.memory, if is_cut { open } else { Value::Null });
                if left.is_string() {
                    in_lists(output, |list| {
                        if let Some(answer) = list.iter_mut().find(|message| message["type"] == "tool") {
                            answer["tool_call_id"] = left.clone();
                        }
                    });
                }
            }
        };
        twin.tool_message = |call, content| Message::tool(&call.id, content);
    }),
];
