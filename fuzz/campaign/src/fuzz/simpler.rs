//! Makes simpler forms of a failing input, and smaller forms of a session: the smallest that fails in the same way shows the cause best.

use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use threadspec::surrogates::replace_surrogates;
use threadspec::{Event, is_xml_char, json_stringify};
use threadspec_golden::clause;
use threadspec_judge::corpus::session_problems;
use threadspec_judge::json::{list, read, text, tokens};
use threadspec_judge::protocol::{Op, Reply};

/// At most so many forms of an input are tried.
const MOST: usize = 100;

/// Inputs of the same operation and of those that it builds on, each with less of what may have nothing to do with the failure:
/// - each text, alone and as a message, and each value, as the arguments of a call and as its result;
/// - the events, without the rest of the request or of the run;
/// - the input without one of its events or members;
/// - with plain texts, names or numbers in place of odd ones.
pub(super) fn forms(op: Op, input: &str, expected: Option<&Reply>, ops: &BTreeSet<Op>) -> Vec<(Op, String)> {
    let Ok(value) = read(input) else { return Vec::new() };
    let members: BTreeMap<String, &RawValue> = serde_json::from_str(input).unwrap_or_default();
    let member = |name: &str| members.get(name).map(|value| format!(r#","{name}":{value}"#)).unwrap_or_default();
    let texts: BTreeSet<&str> = tokens(input).filter(|token| token.starts_with('"')).collect();
    let mut forms: Vec<(Op, String)> = Vec::new();
    forms.extend(texts.iter().map(|text| (Op::Escape, format!(r#"{{"text":{text}}}"#))));
    let events = match expected {
        Some(Reply::Ok(run)) if op == Op::Loop => Some(run["events"].to_string()),
        _ => members.get("events").map(|events| events.get().to_owned()),
    };
    if let Some(events) = events {
        let mode = member("contextMode");
        forms.push((Op::Serialize, format!(r#"{{"events":{events}}}"#)));
        forms.extend(["", &mode].map(|mode| (Op::Messages, format!(r#"{{"events":{events}{mode}}}"#))));
    }
    if let Some(prompt) = members.get("prompt") {
        let given = format!(r#""messages":[{{"type":"human","content":{prompt}}}]"#);
        forms.push((Op::Tools, format!("{{{given}{}{}}}", member("model"), member("tools"))));
    }
    let mut others = shorter(&value);
    let plain = [blank, letter, unspecial, permitted];
    others.extend(plain.map(|plain| with_texts(&value, &|text| text.chars().map(plain).collect())));
    others.push(with_turned_names(&value));
    if let Cow::Owned(whole) = replace_surrogates(input, "") {
        others.extend(read(&whole));
    }
    others.extend([json!(4_294_967_296_u64), json!(1.5e300), json!(0.1)].map(|number| with_numbers(&value, &number)));
    forms.extend(others.into_iter().map(|other| (op, other.to_string())));
    for text in texts {
        let event = format!(r#"{{"type":"message","role":"user","content":{text},"iteration":0}}"#);
        forms.extend([Op::Serialize, Op::Messages].map(|op| (op, format!(r#"{{"events":[{event}]}}"#))));
    }
    forms.extend(values(&value).into_iter().flat_map(parts).flat_map(|part| with_value(&part)));
    let mut seen = BTreeSet::from([(op, input.to_owned()), (op, value.to_string())]);
    forms.retain(|form| form.0 <= op && ops.contains(&form.0) && seen.insert(form.clone()));
    forms.truncate(MOST);
    forms
}

/// An input without what is special in it, and the clause that says what that means: for lone surrogates, unknown fields of
/// events, and repeated keys.
pub(super) fn without_specials(input: &str) -> Vec<(&'static str, String)> {
    let mut inputs = Vec::new();
    if let Cow::Owned(whole) = replace_surrogates(input, "\\ufffd") {
        inputs.push((clause::INP_SURROGATE, whole));
    }
    let Ok(mut value) = read(input) else { return inputs };
    let once = value.to_string();
    if tokens(&once).count() < tokens(input).count() {
        inputs.push((clause::JSON_4, once.clone()));
    }
    let events = value.get_mut("events").and_then(Value::as_array_mut);
    for event in events.into_iter().flatten().filter_map(Value::as_object_mut) {
        event.retain(|name, _| is_field(name));
    }
    let known = value.to_string();
    if known != once {
        inputs.push((clause::INP_2, known));
    }
    inputs
}

/// An input without the tools that nobody calls; `None` if all are called.
pub(super) fn with_called_tools(input: &str) -> Option<String> {
    let mut value = read(input).ok()?;
    let said = list(&value["model"]).iter().chain(list(&value["messages"]));
    let calls = said.flat_map(|message| list(&message["tool_calls"]));
    let called: BTreeSet<String> = calls.map(|call| text(&call["name"]).to_owned()).collect();
    let tools = value.get_mut("tools")?.as_object_mut()?;
    let all = tools.len();
    tools.retain(|name, _| called.contains(name));
    (tools.len() < all).then(|| value.to_string())
}

/// Returns whether events of any type have such a member.
fn is_field(name: &str) -> bool {
    ["type", "iteration"].contains(&name) || Event::FIELDS.iter().any(|(_, fields)| fields.contains(&name))
}

/// The arguments and results in an input.
fn values(input: &Value) -> Vec<&Value> {
    let events = list(&input["events"]).iter().flat_map(|event| [&event["args"], &event["result"]]);
    let calls = list(&input["model"]).iter().flat_map(|turn| list(&turn["tool_calls"])).map(|call| &call["args"]);
    let results = input["tools"].as_object().into_iter().flat_map(Map::values).flat_map(list);
    let mut values: Vec<&Value> = events.chain(calls).chain(results).filter(|value| !value.is_null()).collect();
    values.dedup();
    values
}

/// A value, and each of its members as the only one.
fn parts(value: &Value) -> Vec<Value> {
    let mut parts: Vec<Value> = match value {
        Value::Object(members) if members.len() > 1 || members.values().any(|value| !value.is_null()) => {
            let names = members.keys().map(|name| json!({name: null}));
            names.chain(members.values().map(|value| json!({"a": value}))).collect()
        }
        _ => Vec::new(),
    };
    parts.push(value.clone());
    parts
}

/// Logs of one call, with a value as its arguments and as its result.
fn with_value(value: &Value) -> [(Op, String); 5] {
    let call = |args: Value| json!({"type": "tool_call", "toolName": "search", "toolCallId": "call_1", "args": args, "iteration": 0});
    let args = if value.is_object() { value.clone() } else { json!({"a": value}) };
    let result = json!({"type": "tool_result", "toolCallId": "call_1", "result": value, "iteration": 0});
    let with_result = json!({"events": [call(json!({})), result]}).to_string();
    let text = json_stringify(value);
    let said = json!({"type": "message", "role": "user", "content": text, "iteration": 0});
    [
        (Op::Escape, json!({"text": text}).to_string()),
        (Op::Serialize, json!({"events": [said]}).to_string()),
        (Op::Serialize, json!({"events": [call(args)]}).to_string()),
        (Op::Serialize, with_result.clone()),
        (Op::Messages, with_result),
    ]
}

/// The input without one of its elements, with a message in place of an event, or without a member that it need not have.
fn shorter(input: &Value) -> Vec<Value> {
    let mut shorter = Vec::new();
    for name in
        ["responsePrefix", "instructions", "verify", "maxIterations", "maxToolCallsPerIteration", "maxRecursionDepth"]
    {
        let mut less = input.clone();
        if less.as_object_mut().and_then(|members| members.shift_remove(name)).is_some() {
            shorter.push(less);
        }
    }
    for name in ["events", "model", "verify"] {
        let length = list(&input[name]).len();
        if length <= MOST / 5 {
            shorter.extend((0..length).map(|at| {
                let mut less = input.clone();
                less[name].as_array_mut().map(|elements| elements.remove(at));
                less
            }));
        }
    }
    let events = list(&input["events"]);
    if events.len() <= MOST / 5 {
        shorter.extend((0..events.len()).map(|at| {
            let mut other = input.clone();
            other["events"][at] =
                json!({"type": "message", "role": "user", "content": "", "iteration": events[at]["iteration"]});
            other
        }));
    }
    shorter
}

/// White space and characters without a shape as blanks.
pub(super) fn blank(c: char) -> char {
    if c.is_whitespace() || c.is_control() || matches!(c, '\u{fffd}'..='\u{ffff}') { ' ' } else { c }
}

/// Everything but letters and digits of ASCII as one letter.
fn letter(c: char) -> char {
    if c.is_ascii_alphanumeric() { c } else { 'x' }
}

/// Everything but letters, digits and the characters that are always escaped as one letter.
fn unspecial(c: char) -> char {
    if "&<>\"'".contains(c) { c } else { letter(c) }
}

/// Replaces what XML forbids by the character for it.
fn permitted(c: char) -> char {
    if is_xml_char(c) { c } else { '\u{fffd}' }
}

/// An input in which what people and tools say is changed.
fn with_texts(input: &Value, change: &dyn Fn(&str) -> String) -> Value {
    let same = |name: &str| ["type", "role", "contextMode", "toolCallId", "id"].contains(&name);
    match input {
        Value::String(text) => change(text).into(),
        Value::Array(values) => values.iter().map(|value| with_texts(value, change)).collect(),
        Value::Object(members) => {
            let changed = |(name, value): (&String, &Value)| {
                (name.clone(), if same(name) { value.clone() } else { with_texts(value, change) })
            };
            members.iter().map(changed).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn with_numbers(input: &Value, number: &Value) -> Value {
    let changed = |name: &str, value: &Value| {
        if ["args", "result", "tools"].contains(&name) { replaced(value, number) } else { with_numbers(value, number) }
    };
    match input {
        Value::Array(values) => values.iter().map(|value| with_numbers(value, number)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), changed(name, value))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

fn replaced(value: &Value, number: &Value) -> Value {
    match value {
        Value::Number(_) => number.clone(),
        Value::Array(values) => values.iter().map(|value| replaced(value, number)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), replaced(value, number))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}

/// Names and ids of the same characters in another order, so that none has a meaning of its own.
fn with_turned_names(input: &Value) -> Value {
    let mut turned = input.clone();
    let events = turned.get_mut("events").and_then(Value::as_array_mut);
    for event in events.into_iter().flatten() {
        for name in ["toolName", "toolCallId"] {
            if let Some(Value::String(text)) = event.get_mut(name) {
                *text = if text.is_empty() { "n".to_owned() } else { text.chars().rev().collect() };
            }
        }
    }
    turned
}

// Smaller forms of a session: fewer runs first, then fewer turns and calls, then less around them, then shorter texts.

/// The smallest form that still fails, among so many that are tried.
pub(super) fn smallest(input: &Value, most: usize, fails: &mut dyn FnMut(&str) -> bool) -> Value {
    let (mut smallest, mut at, mut tried, mut is_smaller) = (input.clone(), 0, 0, false);
    let mut smaller = session_forms(input);
    while tried < most {
        let Some(form) = smaller.get(at) else {
            if !is_smaller {
                break;
            }
            // What could not go may do so now.
            (at, is_smaller) = (0, false);
            continue;
        };
        let written = form.to_string();
        let is_script = *form != smallest && session_problems(&written).is_empty();
        tried += usize::from(is_script);
        if is_script && fails(&written) {
            (smallest, is_smaller) = (form.clone(), true);
            smaller = session_forms(&smallest);
        } else {
            at += 1;
        }
    }
    smallest
}

/// Forms with one thing less. Not every one is a script.
fn session_forms(input: &Value) -> Vec<Value> {
    let mut forms = Vec::new();
    let mut less = |change: &dyn Fn(&mut Value)| {
        let mut form = input.clone();
        change(&mut form);
        tidy(&mut form);
        forms.push(form);
    };
    let runs = list(&input["runs"]);
    for run in 0..runs.len() {
        less(&|form| remove(&mut form["runs"], run));
    }
    for (number, run) in runs.iter().enumerate() {
        let turns = list(&run["model"]);
        for turn in 0..turns.len() {
            less(&|form| remove(&mut form["runs"][number]["model"], turn));
        }
        for (turn, said) in turns.iter().enumerate() {
            for call in 0..list(&said["tool_calls"]).len() {
                less(&|form| remove(&mut form["runs"][number]["model"][turn]["tool_calls"], call));
            }
        }
    }
    for (number, run) in runs.iter().enumerate() {
        for member in ["cut", "compact", "maxRecursionDepth"] {
            less(&|form| leave_out(&mut form["runs"][number], member));
        }
        if run["compact"]["summary"].is_string() {
            less(&|form| leave_out(&mut form["runs"][number]["compact"], "summary"));
        }
        if !run["message"].is_string() {
            less(&|form| {
                form["runs"][number] = json!({"message": format!("Message {}", number + 1), "model": run["model"]});
            });
        }
        for id in names(&run["decisions"]) {
            less(&|form| leave_out(&mut form["runs"][number]["decisions"], id));
            less(&|form| leave_out(&mut form["runs"][number]["decisions"][id], "args"));
            less(&|form| leave_out(&mut form["runs"][number]["decisions"][id], "reason"));
        }
        for (turn, said) in list(&run["model"]).iter().enumerate() {
            for part in 0..list(&said["opaque"]).len() {
                less(&|form| remove(&mut form["runs"][number]["model"][turn]["opaque"], part));
            }
            if !list(&said["tool_calls"]).is_empty() {
                less(&|form| leave_out(&mut form["runs"][number]["model"][turn], "content"));
            }
            for (call, asked) in list(&said["tool_calls"]).iter().enumerate() {
                let plain = json!({"id": asked["id"], "name": asked["name"], "args": {}});
                if asked["name"].is_string() {
                    less(&|form| form["runs"][number]["model"][turn]["tool_calls"][call] = plain.clone());
                }
            }
        }
    }
    less(&|form| leave_out(form, "system"));
    for tool in names(&input["tools"]) {
        let results = &input["tools"][tool]["byId"];
        for id in names(results).filter(|id| results[*id] != format!("result {id}")) {
            less(&|form| form["tools"][tool]["byId"][id] = format!("result {id}").into());
        }
    }
    for pointer in long_texts(input) {
        less(&|form| {
            if let Some(text) = form.pointer_mut(&pointer) {
                *text = shortened(text).into();
            }
        });
    }
    forms
}

/// Takes away what only something else needed that is gone.
fn tidy(input: &mut Value) {
    let runs = input.get_mut("runs").and_then(Value::as_array_mut);
    let (mut said, mut agents) = (BTreeSet::new(), BTreeSet::new());
    for run in runs.into_iter().flatten() {
        for turn in run["model"].as_array_mut().into_iter().flatten() {
            let own: BTreeSet<String> =
                list(&turn["tool_calls"]).iter().map(|call| text(&call["id"]).to_owned()).collect();
            agents.extend(list(&turn["tool_calls"]).iter().map(|call| text(&call["handoff"]).to_owned()));
            if let Some(parts) = turn.get_mut("opaque").and_then(Value::as_array_mut) {
                parts.retain(|part| part["kind"] != "signature" || own.contains(text(&part["call"])));
            }
            for member in ["opaque", "tool_calls"] {
                if turn.get(member).is_some_and(|list| *list == json!([])) {
                    leave_out(turn, member);
                }
            }
            said.extend(own);
        }
        if let Some(turns) = run.get_mut("model").and_then(Value::as_array_mut) {
            turns.retain(|turn| *turn != json!({}));
            if turns.is_empty() {
                turns.push(json!({"content": "Done."}));
            }
        }
        if run.get("cut").is_some_and(|cut| !said.contains(text(&cut["during"]))) {
            leave_out(run, "cut");
        }
        if let Some(decisions) = run.get_mut("decisions").and_then(Value::as_object_mut) {
            decisions.retain(|id, _| said.contains(id));
        }
    }
    tidy_tools(input, &said);
    if let Some(others) = input.get_mut("agents").and_then(Value::as_object_mut) {
        others.retain(|name, _| agents.contains(name));
        others.values_mut().for_each(|other| tidy_tools(other, &said));
    }
    if input.get("agents").is_some_and(|others| *others == json!({})) {
        leave_out(input, "agents");
    }
}

/// Takes away results of calls that nobody makes.
fn tidy_tools(agent: &mut Value, said: &BTreeSet<String>) {
    if let Some(tools) = agent.get_mut("tools").and_then(Value::as_object_mut) {
        for tool in tools.values_mut() {
            if let Some(results) = tool.get_mut("byId").and_then(Value::as_object_mut) {
                results.retain(|id, _| said.contains(id));
            }
        }
        tools.retain(|_, tool| tool["byId"] != json!({}));
    }
    if agent.get("tools").is_some_and(|tools| *tools == json!({})) {
        leave_out(agent, "tools");
    }
}

fn remove(list: &mut Value, at: usize) {
    if let Some(elements) = list.as_array_mut().filter(|elements| at < elements.len()) {
        elements.remove(at);
    }
}

fn leave_out(object: &mut Value, member: &str) {
    object.as_object_mut().map(|members| members.shift_remove(member));
}

fn names(object: &Value) -> impl Iterator<Item = &String> {
    object.as_object().into_iter().flat_map(Map::keys)
}

/// The places of messages and answers of more than two words.
fn long_texts(input: &Value) -> Vec<String> {
    let mut places = Vec::new();
    for (number, run) in list(&input["runs"]).iter().enumerate() {
        let turns = list(&run["model"]).iter().enumerate();
        let contents = turns.map(|(turn, said)| (format!("/runs/{number}/model/{turn}/content"), &said["content"]));
        let texts = [(format!("/runs/{number}/message"), &run["message"])].into_iter().chain(contents);
        places.extend(texts.filter(|(_, value)| shortened(value) != text(value)).map(|(place, _)| place));
    }
    places
}

/// The first two words, which tell a text apart from all others.
fn shortened(value: &Value) -> String {
    text(value).split(' ').take(2).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_fails() {
        let input = json!({
            "system": "s",
            "tools": {"look": {"byId": {"a": "ra", "b": "rb"}}, "pay": {"approval": true, "byId": {"c": "rc"}}},
            "agents": {"b": {"system": "b", "tools": {"look": {"byId": {"a": "ra", "b": "rb"}}}}},
            "runs": [
                {"message": "Message 1 and more", "cut": {"during": "a", "how": "kill"}, "model": [
                    {"content": "x", "tool_calls": [{"id": "a", "name": "look", "args": {"n": 1}}, {"id": "c", "name": "pay", "args": {}}]},
                    {"tool_calls": [{"id": "b", "name": "look", "args": {}}, {"id": "h", "handoff": "b"}]},
                ]},
                {"decisions": {"c": {"approve": true, "args": {}}}, "model": [{"content": "y"}]},
                {"message": "Message 3", "model": [{"content": "z"}]},
            ],
        });
        let smallest = smallest(&input, 400, &mut |form| form.contains("\"cut\"") && form.contains("\"id\":\"c\""));
        let expected = json!({
            "tools": {"look": {"byId": {"a": "result a"}}, "pay": {"approval": true, "byId": {"c": "result c"}}},
            "runs": [
                {"message": "Message 1", "cut": {"during": "a", "how": "kill"}, "model": [
                    {"tool_calls": [{"id": "a", "name": "look", "args": {}}, {"id": "c", "name": "pay", "args": {}}]},
                ]},
                {"message": "Message 3", "model": [{"content": "Done."}]},
            ],
        });
        assert_eq!(smallest, expected);
    }
}
