//! Smaller forms of a session: fewer runs first, then fewer turns and calls, then less around them, then shorter texts.

use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use threadspec_judge::corpus::session_problems;
use threadspec_judge::json::{list, text};

/// The smallest form that still fails, among so many that are tried.
pub(super) fn smallest(input: &Value, most: usize, fails: &mut dyn FnMut(&str) -> bool) -> Value {
    let (mut smallest, mut at, mut tried, mut is_smaller) = (input.clone(), 0, 0, false);
    let mut smaller = forms(input);
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
            smaller = forms(&smallest);
        } else {
            at += 1;
        }
    }
    smallest
}

/// Forms with one thing less. Not every one is a script.
fn forms(input: &Value) -> Vec<Value> {
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
