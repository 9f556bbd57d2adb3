//! State that a request leaves behind for the next: what sticks, what counts on, and what a refused, failing or cut request does not clear away.

use crate::plants::prelude::*;
use crate::twin::parts::calls;
use crate::twin::rounds::{distinct, outcome};

/// The members that a request may leave out.
const OPTIONAL: [&str; 5] =
    ["contextMode", "instructions", "responsePrefix", "maxRecursionDepth", "maxToolCallsPerIteration"];

/// An absent member takes the value that it had in the last request, whatever that was about.
fn sticks(name: FaultName, terms: impl IntoTerms, member: &'static str) -> Planted {
    on::before(name, terms, move |twin, _, input| match input.get(member) {
        Some(value) => twin.memory[member] = value.clone(),
        None if twin.memory[member].is_null() => {}
        None => input[member] = twin.memory[member].clone(),
    })
}

/// The same in one operation; null is absent, too, if `null` says so.
fn kept(name: FaultName, clause: &'static str, of: Op, member: &'static str, null: bool) -> Planted {
    on::before(name, clause, move |twin, op, input| {
        let own = input.get(member).filter(|value| !null || !value.is_null()).cloned();
        match own.filter(|_| op == of) {
            Some(value) => twin.memory[member] = value,
            None if op == of && !twin.memory[member].is_null() => input[member] = twin.memory[member].clone(),
            None => {}
        }
    })
}

/// What a refused request leaves: `own` is what each request notes until it is answered, and `meet` does something with what is left.
fn refused(
    name: FaultName,
    terms: impl IntoTerms,
    own: fn(Op, &Value) -> Value,
    meet: fn(Op, &mut Value, Value),
) -> Planted {
    let before = &*Box::leak(Box::new(move |twin: &mut Twin, op: Op, input: &mut Value| {
        let left = std::mem::replace(&mut twin.memory, own(op, input));
        meet(op, input, left);
    }));
    on::several(name, terms, move |twin| {
        twin.before = before;
        twin.after = &|twin, _, _, _| twin.memory = Value::Null;
    })
}

/// The events before the first one that is refused.
fn sound(events: &Value) -> Vec<Value> {
    let events = events.as_array().into_iter().flatten();
    events.take_while(|event| Event::from_json(event).is_ok()).cloned().collect()
}

fn count(value: &Value, name: &str) -> u64 {
    listed(value, name).len() as u64
}

fn noted(memory: &Value) -> u64 {
    memory.as_u64().unwrap_or(0)
}

/// What each call of a run was answered, by name and arguments.
fn answered(output: &Value) -> Vec<(String, Value)> {
    let messages = listed(output, "messages");
    let answer = |id: &Value| messages.iter().find(|message| message["tool_call_id"] == *id);
    let calls = messages.iter().flat_map(|message| listed(message, "tool_calls"));
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

/// Returns whether `maxRecursionDepth` cut a run off.
fn is_cut(input: &Value, output: &Value) -> bool {
    input["maxRecursionDepth"].as_u64().is_some_and(|depth| count(output, "requests") == depth + 1)
}

/// Gives a result of an orphan the name of its call.
fn named(output: &mut Value, index: usize, name: &Value) {
    let [unknown, known] = [&"unknown".into(), name].map(|name| format!(" id=\"{index}\" name={name}"));
    if let Some(text) = output.as_str().map(|text| text.replace(&unknown, &known)) {
        *output = text.into();
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        sticks("instructions-stick", [MSG_PURE, CTX_SYSTEM], "instructions"),
        sticks("mode-sticks", [MSG_PURE, CTX_DEFAULT], "contextMode"),
        sticks("prefix-sticks", [DOC_6, DOC_PREFIX_EMPTY], "responsePrefix"),
        kept("limit-on-rounds-sticks", TOOLS_STOP, Op::Tools, "maxRecursionDepth", false),
        kept("limits-of-a-run-stick", LOOP_EVENTS, Op::Loop, "maxToolCallsPerIteration", false),
        kept("verifier-sticks", LOOP_EVENTS, Op::Loop, "verify", false),
        kept("depth-limit-kept", TOOLS_STOP, Op::Tools, "maxRecursionDepth", true),
        kept("limit-on-requests-kept", LOOP_LIMIT, Op::Loop, "maxToolCallsPerIteration", true),
        kept("verifier-kept", LOOP_VERIFY, Op::Loop, "verify", true),
        kept("maximum-of-iterations-kept", LOOP_MAX, Op::Loop, "maxIterations", true),
        on::several("ids-count-on", [ATT_ID, MSG_PURE], |twin| {
            twin.after = &|twin, _, input, _| twin.memory = (noted(&twin.memory) + count(input, "events")).into();
            twin.id = &|twin, _, position| (noted(&twin.memory) + position as u64).to_string();
        }),
        on::before("events-pile-up", [MSG_PURE, DOC_2], |twin, op, input| {
            let Some(events) = list(input, "events").filter(|_| op != Op::Loop) else { return };
            let earlier = std::mem::replace(&mut twin.memory, Value::Array(events.clone()));
            events.splice(0..0, earlier.as_array().cloned().unwrap_or_default());
        }),
        on::after("answer-cached-by-length", MSG_PURE, |twin, op, input, output| {
            let key = format!("{op} {}", count(input, "events"));
            if twin.memory[&key].is_null() {
                twin.memory[&key] = output.clone();
            } else if op == Op::Messages {
                *output = twin.memory[&key].clone();
            }
        }),
        on::after("names-remembered", ATT_NAME, |twin, _, input, output| {
            for (index, event) in listed(input, "events").iter().enumerate() {
                let Some(id) = event["toolCallId"].as_str() else { continue };
                if event["type"] == "tool_call" {
                    twin.memory[id] = event["toolName"].clone();
                } else if twin.memory[id].is_string() {
                    named(output, index, &twin.memory[id]);
                }
            }
        }),
        on::before_messages("summaries-remembered", [MSG_PURE, CTX_SYSTEM], |twin, input| {
            let known = twin.memory["summary"].clone();
            let Some(events) = list(input, "events") else { return };
            match events.iter().find(|event| event["type"] == "summary") {
                Some(summary) => twin.memory = json!({ "summary": summary }),
                None if known.is_object() => events.push(known),
                None => {}
            }
        }),
        on::after_messages("same-thread-again-has-no-messages", MSG_PURE, |twin, input, output| {
            if count(input, "events") > 0 {
                if twin.memory == *input {
                    *output = json!([]);
                }
                twin.memory = input.clone();
            }
        }),
        on::before("names-beyond-the-table-of-names", ATT_NAME, |twin, _, input| {
            for event in each_event(input) {
                let Some(name) = event["toolName"].as_str().map(str::to_owned) else { continue };
                if twin.memory.as_object().map_or(0, Map::len) < 200 {
                    twin.memory[name] = true.into();
                } else if twin.memory[&name].is_null() {
                    event["toolName"] = "unknown".into();
                }
            }
        }),
        // What a refused request leaves. Only an answer clears what a request has set.
        on::several(
            "members-of-a-refused-request-stay",
            [MSG_PURE, DOC_PREFIX_EMPTY, TOOLS_ACCUMULATE, LOOP_EVENTS],
            |twin| {
                twin.before = &|twin, _, input| {
                    let left = twin.memory.take();
                    for name in OPTIONAL.into_iter().filter(|name| !left[name].is_null()) {
                        set_default(input, name, left[name].clone());
                    }
                    twin.memory = input.clone();
                };
                twin.after = &|twin, _, _, _| twin.memory = Value::Null;
            },
        ),
        refused("names-of-a-refused-thread-stay", ATT_NAME, of_documents, |op, input, left| {
            let mut calls = left.as_array().into_iter().flatten().filter(|event| event["type"] == "tool_call");
            if let (Some(call), Some(events)) = (calls.next(), list(input, "events").filter(|_| op == Op::Serialize)) {
                events.push(call.clone());
            }
        }),
        on::several("names-of-a-refused-thread-remembered", ATT_NAME, |twin| {
            twin.before = &|twin, _, input| {
                let left = std::mem::replace(&mut twin.memory, json!({ "own": input["events"] }));
                twin.memory["left"] = left["own"].clone();
            };
            twin.after = &|twin, op, input, output| {
                let left = std::mem::take(&mut twin.memory);
                for call in
                    listed(&left, "left").iter().filter(|event| op == Op::Serialize && event["toolName"].is_string())
                {
                    let events = listed(input, "events").iter().enumerate();
                    let own = events.filter(|(_, event)| event["toolCallId"] == call["toolCallId"]);
                    own.for_each(|(index, _)| named(output, index, &call["toolName"]));
                }
            };
        }),
        refused("lines-of-a-refused-thread-remain", DOC_2, of_documents, |op, input, left| {
            if let Some(events) = list(input, "events").filter(|_| op == Op::Serialize) {
                events.splice(0..0, sound(&left));
            }
        }),
        refused("messages-of-a-refused-thread-remain", MSG_PURE, of_messages, |op, input, left| {
            if let Some(events) = list(input, "events").filter(|_| op == Op::Messages) {
                events.splice(0..0, sound(&left));
            }
        }),
        refused(
            "summaries-of-a-refused-thread-remembered",
            MSG_PURE,
            |_, input| input["events"].clone(),
            |op, input, left| {
                if let Some(events) = list(input, "events").filter(|_| op == Op::Messages) {
                    events.extend(sound(&left).into_iter().filter(|event| event["type"] == "summary"));
                }
            },
        ),
        refused(
            "instructions-of-a-refused-request-stick",
            MSG_PURE,
            |_, input| input["instructions"].clone(),
            |op, input, left| {
                if op == Op::Messages && input.is_object() && input["instructions"].is_null() && left.is_string() {
                    input["instructions"] = left;
                }
            },
        ),
        refused(
            "mode-of-a-refused-request-sticks",
            MSG_PURE,
            |_, input| input["contextMode"].clone(),
            |op, input, left| {
                if op == Op::Messages && left == "xml" {
                    set_default(input, "contextMode", left);
                }
            },
        ),
        refused(
            "prefix-of-a-refused-request-sticks",
            DOC_PREFIX_EMPTY,
            |_, input| input["responsePrefix"].clone(),
            |op, input, left| {
                if op == Op::Serialize && left.is_string() {
                    set_default(input, "responsePrefix", left);
                }
            },
        ),
        on::several("ids-count-on-after-a-refused-thread", ATT_ID, |twin| {
            twin.before = &|twin, _, input| {
                let left = std::mem::replace(&mut twin.memory, json!({ "own": count(input, "events") }));
                twin.memory["left"] = left["own"].clone();
            };
            twin.after = &|twin, _, _, _| twin.memory = Value::Null;
            twin.id = &|twin, _, position| (noted(&twin.memory["left"]) + position as u64).to_string();
        }),
        on::several("request-after-a-refused-one-is-empty", DOC_2, |twin| {
            twin.before = &|twin, op, _| {
                let left = std::mem::replace(&mut twin.memory, json!({"op": op.to_string()}));
                twin.memory["left"] = left["op"].clone();
            };
            twin.after = &|twin, op, _, output| {
                let left = std::mem::take(&mut twin.memory)["left"].take();
                if op == Op::Serialize && left == "serialize" {
                    *output = "<thread>\n</thread>".into();
                }
            };
        }),
        // What a text leaves for the next one.
        on::before_escape("decoder-stays-lossy-after-a-half-character", ESC_3, |twin, input| {
            if let Some(Value::String(text)) = input.get_mut("text") {
                if twin.memory == true {
                    *text = text.chars().map(|c| if u32::from(c) > 0xffff { '\u{fffd}' } else { c }).collect();
                }
                twin.memory = text.contains('\u{fffd}').into();
            }
        }),
        on::after_escape("escaped-texts-not-escaped-again-later", ESC_2, |twin, input, output| {
            let text = input["text"].as_str().unwrap_or_default();
            if twin.memory[text] == true {
                *output = text.into();
            } else if *output != *text {
                twin.memory[output.as_str().unwrap_or_default()] = true.into();
            }
        }),
        // JavaScript's `test` with a global expression starts where the last match ended.
        on::after_escape("check-for-markup-begins-where-it-ended", ESC_1, |twin, input, output| {
            let text = input["text"].as_str().unwrap_or_default();
            let start = usize::try_from(noted(&twin.memory)).unwrap_or(0);
            let found = text.char_indices().find(|&(at, c)| at >= start && matches!(c, '&' | '<' | '>' | '"' | '\''));
            if found.is_none() && start > 0 && text.len() >= start {
                *output = text.into();
            }
            twin.memory = found.map_or(0, |(at, _)| at + 1).into();
        }),
        on::after_escape("regular-expression-remembers-where-it-stopped", ESC_1, |twin, input, output| {
            let is_again = twin.memory == input["text"];
            twin.memory = if is_again { Value::Null } else { input["text"].clone() };
            if is_again {
                *output = input["text"].clone();
            }
        }),
        on::after_escape("buffer-keeps-the-end-of-a-longer-text", [ESC_1, ESC_3], |twin, _, output| {
            let Some(text) = output.as_str().map(str::to_owned) else { return };
            let left: String = twin.memory.as_str().unwrap_or_default().chars().skip(text.chars().count()).collect();
            *output = (text.clone() + &left).into();
            twin.memory = text.into();
        }),
        on::after_escape("texts-once-escaped-stay-as-they-are", ESC_2, |twin, input, output| {
            let text = input["text"].as_str().unwrap_or_default();
            if twin.memory[text] == true {
                *output = text.into();
            } else if let Some(escaped) = output.as_str() {
                twin.memory[escaped] = true.into();
            }
        }),
        on::after_escape("empty-answers-stay-empty", ESC_1, |twin, _, output| {
            let was_empty = std::mem::replace(&mut twin.memory, (output == "").into());
            if was_empty == true {
                *output = "".into();
            }
        }),
        on::after_escape("references-are-read-across-texts", ESC_3, |twin, input, output| {
            let is_open = input["text"].as_str().unwrap_or_default().ends_with('&');
            let was_open = std::mem::replace(&mut twin.memory, is_open.into()) == true;
            if let (true, Some((_, rest))) = (was_open, output.as_str().unwrap_or_default().split_once(';')) {
                *output = rest.into();
            }
        }),
        // Tool rounds and the loop.
        on::before("results-go-on-where-they-ended", [TOOLS_RESULT, LOOP_EVENTS], |twin, _, input| {
            let called: Vec<Value> = calls(input).map(|call| call["name"].clone()).collect();
            for (name, results) in tools(input).into_iter().flatten() {
                let Some(results) = results.as_array_mut().filter(|results| results.len() > 1) else { continue };
                let taken = noted(&twin.memory[name]);
                twin.memory[name] = (taken + called.iter().filter(|called| *called == name).count() as u64).into();
                let length = results.len();
                results.rotate_left(usize::try_from(taken).unwrap_or(0) % length);
            }
        }),
        on::before("tools-that-failed-stay-broken", [TOOLS_RESULT, LOOP_EVENTS], |twin, _, input| {
            for (name, results) in tools(input).into_iter().flatten() {
                if twin.memory[name] == true {
                    *results = json!([{"error": "broken"}]);
                } else if results[0]["error"].is_string() {
                    twin.memory[name] = true.into();
                }
            }
        }),
        on::before("tools-that-were-unknown-stay-unknown", [TOOLS_RESULT, LOOP_EVENTS], |twin, op, input| {
            if !matches!(op, Op::Tools | Op::Loop) {
                return;
            }
            let called: Vec<String> = calls(input).filter_map(|call| Some(call["name"].as_str()?.to_owned())).collect();
            for name in called.iter().filter(|name| input["tools"].get(name).is_none()) {
                twin.memory[name] = true.into();
            }
            tools(input).into_iter().for_each(|tools| tools.retain(|name, _| twin.memory[name] != true));
        }),
        on::before("scripts-go-on-after-a-failure", [TOOLS_ACCUMULATE, LOOP_EVENTS], |twin, _, input| {
            let left = twin.memory.take();
            let Some(model) = list(input, "model") else { return };
            let goes_on = |last: &Value| last["tool_calls"].is_array() || last["error"].is_string();
            if model.last().is_none_or(goes_on) {
                twin.memory = true.into();
            }
            if left == true && model.len() > 1 {
                model.remove(0);
            }
        }),
        on::before_tools("messages-of-a-longer-list-stay", TOOLS_ACCUMULATE, |twin, input| {
            let Some(messages) = list(input, "messages") else { return };
            let left = std::mem::replace(&mut twin.memory, messages.clone().into());
            messages.extend(left.as_array().into_iter().flatten().skip(messages.len()).cloned().collect::<Vec<_>>());
        }),
        on::after_loop("failures-are-counted-on", LOOP_ERROR, |twin, _, output| {
            if twin.memory == true {
                events_of(output, "error").for_each(|event| event["recoverable"] = false.into());
            }
            twin.memory = (output["stopReason"] == "max_errors").into();
        }),
        on::after_tools("given-ids-stay-taken", hardened(TOOLS_DISTINCT), |twin, input, output| {
            let text = output.to_string();
            // A given id may end so, too.
            if !text.contains("_2\"") || input.to_string().contains("_2\"") {
                return;
            }
            if twin.memory == true {
                *output = serde_json::from_str(&text.replace("_2\"", "_3\"")).unwrap_or_default();
            }
            twin.memory = true.into();
        }),
        on::several("taken-ids-kept-over-runs", hardened(TOOLS_DISTINCT), |twin| {
            twin.after = &|twin, op, _, output| {
                if op == Op::Tools {
                    let mut ids = twin.memory.as_array().cloned().unwrap_or_default();
                    let calls = listed(output, "messages").iter().flat_map(|message| listed(message, "tool_calls"));
                    ids.extend(calls.map(|call| call["id"].clone()));
                    twin.memory = ids.into();
                }
            };
            twin.distinct = &|twin, calls, thread| {
                let own = thread.len();
                let kept = twin.memory.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned);
                let mut taken: Vec<String> = thread.iter().cloned().chain(kept).collect();
                let before = taken.len();
                distinct(twin, calls, &mut taken);
                thread.truncate(own);
                thread.extend(taken.drain(before..));
            };
        }),
        on::several("rounds-of-a-cut-run-count", TOOLS_DEPTH, |twin| {
            twin.after = &|twin, op, input, output| {
                if op == Op::Tools {
                    let rounds = || (count(output, "requests") - 1).into();
                    twin.memory = if is_cut(input, output) { rounds() } else { Value::Null };
                }
            };
            twin.is_too_deep = &|twin, rounds, depth| {
                let before = usize::try_from(noted(&twin.memory)).unwrap_or(0);
                depth.is_some_and(|depth| rounds + before >= depth)
            };
        }),
        on::after_loop("failures-of-a-stopped-run-count", LOOP_ERROR, |twin, _, output| {
            let has_failed = output["stopReason"] == "max_errors";
            twin.gives_up = if has_failed { &|_| true } else { &|failures| failures >= 3 };
            twin.is_recoverable = if has_failed { &|_| false } else { &|failures| failures < 3 };
        }),
        on::after_loop("iterations-count-on-after-a-stopped-run", LOOP_PROMPT, |twin, _, output| {
            let is_stopped = output["stopReason"] == "stop_condition";
            twin.first_iteration = 1 + output["iterations"].as_u64().filter(|_| is_stopped).unwrap_or(0);
        }),
        on::after_loop("response-of-the-run-before", LOOP_RESPONSE, |twin, _, output| {
            if output["response"] == "" && twin.memory.is_string() {
                output["response"] = twin.memory.clone();
            }
            twin.memory = output["response"].clone();
        }),
        on::after_loop("log-of-a-failed-run-remains", LOOP_EVENTS, |twin, _, output| {
            let has_failed = output["stopReason"] == "max_errors";
            if let Some(events) = list(output, "events") {
                let own = if has_failed { events.clone().into() } else { Value::Null };
                let left = std::mem::replace(&mut twin.memory, own);
                events.splice(0..0, left.as_array().cloned().unwrap_or_default());
            }
        }),
        on::several("results-cached-by-name-and-arguments-over-runs", TOOLS_RESULT, |twin| {
            twin.after = &|twin, _, _, output| {
                answered(output).into_iter().for_each(|(key, content)| twin.memory[key] = content)
            };
            twin.outcome = &|twin, call, result| match twin.memory[key_of(call)].as_str() {
                Some(known) => known.to_owned(),
                None => outcome(twin, call, result),
            };
        }),
        on::several("tools-that-failed-stay-disabled", TOOLS_RESULT, |twin| {
            twin.after = &|twin, _, _, output| {
                let has_failed =
                    |content: &Value| content.as_str().is_some_and(|text| text.starts_with("Tool error: "));
                for (key, content) in answered(output).into_iter().filter(|(_, content)| has_failed(content)) {
                    twin.memory[key.split(' ').next().unwrap_or_default()] = content;
                }
            };
            twin.outcome = &|twin, call, result| match twin.memory[format!("{:?}", call.name)].as_str() {
                Some(known) => known.to_owned(),
                None => outcome(twin, call, result),
            };
        }),
        on::several("unknown-tools-stay-unknown", TOOLS_RESULT, |twin| {
            twin.after = &|twin, _, _, output| {
                let contents =
                    answered(output).into_iter().filter_map(|(_, content)| Some(content.as_str()?.to_owned()));
                let unknown = contents.filter(|text| text.starts_with("Tool not found: \""));
                unknown.for_each(|text| twin.memory[text] = true.into());
            };
            twin.outcome = &|twin, call, result| {
                let unknown = format!("Tool not found: \"{}\"", call.name);
                if twin.memory[&unknown] == true { unknown } else { outcome(twin, call, result) }
            };
        }),
        on::before("tools-of-the-run-before-known", LOOP_TOOL_ERROR, |twin, _, input| {
            let Some(tools) = tools(input) else { return };
            let own = tools.clone();
            for (name, results) in twin.memory.as_object().into_iter().flatten() {
                tools.entry(name.clone()).or_insert_with(|| results.clone());
            }
            twin.memory = own.into();
        }),
        on::after_tools("messages-of-a-run-with-a-failing-model-remain", TOOLS_ACCUMULATE, |twin, input, output| {
            let left = twin.memory.take().as_array().cloned().unwrap_or_default();
            let asked = listed(output, "requests").len();
            if asked > 0 && input["model"].get(asked - 1).is_none_or(|turn| turn["error"].is_string()) {
                twin.memory = output["messages"].clone();
            }
            in_lists(output, |list| drop(list.splice(0..0, left.iter().cloned())));
        }),
        on::after_tools("answers-of-a-cut-run-come-later", TOOLS_ID, |twin, input, output| {
            let open = listed(output, "messages").iter().rfind(|message| message["tool_calls"].is_array());
            let open = open
                .filter(|_| is_cut(input, output))
                .map_or(Value::Null, |message| message["tool_calls"][0]["id"].clone());
            let left = std::mem::replace(&mut twin.memory, open);
            if left.is_string() {
                in_lists(output, |list| {
                    if let Some(answer) = list.iter_mut().find(|message| message["type"] == "tool") {
                        answer["tool_call_id"] = left.clone();
                    }
                });
            }
        }),
    ]
}

fn of_documents(op: Op, input: &Value) -> Value {
    if op == Op::Serialize { input["events"].clone() } else { Value::Null }
}

fn of_messages(op: Op, input: &Value) -> Value {
    if op == Op::Messages { input["events"].clone() } else { Value::Null }
}
