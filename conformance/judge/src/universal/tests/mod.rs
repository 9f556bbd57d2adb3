//! Each oracle on a run that is right and on runs that are wrong in one way.

mod aborted;
mod answers;
mod requests;
mod runs;
mod wire;

use super::*;
use serde_json::json;
use threadspec_golden::clause;

/// A question, two calls at once, a last answer; and the record of a sound run of it.
fn sound() -> (Value, Value) {
    let input = json!({
        "messages": [{"type": "system", "content": "Be brief."}, {"type": "human", "content": "Go"}],
        "model": [
            {"content": "I look.", "tool_calls": [
                {"id": "c1", "name": "a", "args": {"x": 1}},
                {"id": "c2", "name": "b", "args": {}},
            ]},
            {"content": "Done"},
        ],
        "tools": {"a": {"byId": {"c1": "one"}}, "b": {"byId": {"c2": {"k": [1, true, null]}}}},
    });
    (input.clone(), run(&input))
}

/// The record of a sound run: what the specification says, in the plainest way.
fn run(input: &Value) -> Value {
    let mut list = input["messages"].as_array().expect("messages").clone();
    let mut requests = Vec::new();
    for turn in input["model"].as_array().expect("turns") {
        requests.push(json!(list));
        if turn["error"].is_string() {
            return json!({"requests": requests, "messages": list, "given": input["messages"], "failure": turn["error"]});
        }
        let mut message = json!({"type": "ai", "content": turn["content"].as_str().unwrap_or_default()});
        let calls = turn["tool_calls"].as_array().cloned().unwrap_or_default();
        if !calls.is_empty() {
            message["tool_calls"] = turn["tool_calls"].clone();
        }
        list.push(message);
        if calls.is_empty() {
            break;
        }
        for call in calls {
            let name = call["name"].as_str().expect("a name");
            let result = &input["tools"][name]["byId"][call["id"].as_str().expect("an id")];
            let content = match (&input["tools"][name], result) {
                (Value::Null, _) => format!("There is no {name}"),
                (_, Value::String(text)) => text.clone(),
                (_, result) if result["error"].is_string() => {
                    format!("Failed: {}", result["error"].as_str().expect("a string"))
                }
                (_, result) => result.to_string(),
            };
            list.push(json!({"type": "tool", "content": content, "tool_call_id": call["id"]}));
        }
    }
    json!({"requests": requests, "messages": list, "given": input["messages"]})
}

fn property(name: &str) -> Property {
    name.parse().expect("a property")
}

fn ruling(input: &Value, output: &Value) -> Ruling {
    let output = value::read(&output.to_string()).expect("JSON");
    judge(&input.to_string(), &Others::default(), Abilities::default(), AgentReply::Output(output))
        .expect("a script and a record")
}

#[track_caller]
fn assert_found(input: &Value, output: &Value, expected: &[&str]) {
    let ruling = ruling(input, output);
    let found: Vec<String> =
        ruling.findings().iter().map(|found| format!("{}: {}", found.clause, found.what)).collect();
    assert_eq!(found, expected);
}

/// Changes the sound run and says what must be found.
#[track_caller]
fn broken(change: impl FnOnce(&mut Value), expected: &[&str]) {
    let (input, mut output) = sound();
    change(&mut output);
    assert_found(&input, &output, expected);
}

fn messages(request: &mut Value) -> &mut Vec<Value> {
    request.as_array_mut().expect("a list")
}

/// Changes the second request and the list at the end in the same way.
fn from_second(output: &mut Value, change: impl Fn(&mut Vec<Value>)) {
    change(messages(&mut output["requests"][1]));
    change(messages(&mut output["messages"]));
}

#[test]
fn a_sound_run_holds_every_property() {
    let (input, mut output) = sound();
    output["requestsAtEnd"] = output["requests"].clone();
    let ruling = ruling(&input, &output);
    for property in Property::all().filter(|property| !property.is_of_wire() && !property.is_of_gateway()) {
        assert_eq!(ruling.holds(property), Holding::Yes, "{property}");
    }
}

#[test]
fn what_the_fairness_rules_allow_is_no_fault() {
    let changes: [fn(&mut Value); 6] = [
        |output| from_second(output, |list| list.swap(3, 4)),
        |output| from_second(output, |list| list[4]["content"] = json!("{\n \"k\": [1.0, true, null] }")),
        |output| from_second(output, |list| list[2]["extra"] = json!({"a": 1})),
        |output| {
            for list in output["requests"].as_array_mut().expect("requests") {
                messages(list).rotate_left(1);
            }
        },
        |output| output["requests"][1][2]["tool_calls"][1]["args"] = Value::Null,
        |output| output["messages"].as_array_mut().expect("a list").retain(|message| message["type"] != "system"),
    ];
    for (index, change) in changes.iter().enumerate() {
        let (input, mut output) = sound();
        change(&mut output);
        let ruling = ruling(&input, &output);
        let found: Vec<&Finding> =
            ruling.findings().iter().filter(|found| found.clause != clause::AGENT_ORDER).collect();
        assert!(found.is_empty(), "{index}: {found:?}");
    }
}

#[test]
fn what_cannot_be_seen_is_unsupported() {
    let (input, mut output) = sound();
    output["messages"] = Value::Null;
    output["given"] = Value::Null;
    let output = value::read(&output.to_string()).expect("JSON");
    let ruling =
        judge(&input.to_string(), &Others::default(), Abilities::default(), AgentReply::Output(output)).expect("a run");
    for name in ["agent-end", "agent-caller", "agent-shared"] {
        assert!(matches!(ruling.holds(property(name)), Holding::Unsupported(_)), "{name}");
    }
    assert_eq!(ruling.holds(property("agent-prefix")), Holding::Yes);
}

#[test]
fn what_is_no_run_is_an_error() {
    let judge = |output: Value| {
        let ruling =
            judge(&sound().0.to_string(), &Others::default(), Abilities::default(), AgentReply::Output(output));
        ruling.err().map(|error| error.to_string())
    };
    assert_eq!(judge(json!({})).as_deref(), Some("it has no list of `requests`"));
    let error = judge(json!({"requests": [[{"type": "ai", "content": 5}]]}));
    assert_eq!(error.as_deref(), Some("request 1: message 1: its `content` is not a string"));
    let error = judge(json!({"requests": [[], []], "requestsAtEnd": [[]]}));
    assert_eq!(error.as_deref(), Some("its `requestsAtEnd` is not a list of as many requests as `requests`"));
}
