//! Each oracle on a run that is right and on runs that are wrong in one way.

use super::*;
use serde_json::json;
use strum::IntoEnumIterator;

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
    judge(&input.to_string(), &[], Abilities::default(), Answer::Output(&output)).expect("a script and a record")
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
    let (input, output) = sound();
    let ruling = ruling(&input, &output);
    for property in Property::iter() {
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
        let found: Vec<&Finding> = ruling.findings().iter().filter(|found| found.clause != "AGENT-ORDER").collect();
        assert!(found.is_empty(), "{index}: {found:?}");
    }
}

#[test]
fn start() {
    broken(
        |output| {
            *output = run(
                &json!({"messages": [{"type": "human", "content": "Go"}], "model": sound().0["model"], "tools": sound().0["tools"]}),
            );
        },
        &[
            "AGENT-START: system: request 1: the system messages [\"Be brief.\"] became []",
            "AGENT-CALLER: the caller's list had 2 messages before the run, and 1 after it",
        ],
    );
    broken(
        |output| {
            for list in output["requests"].as_array_mut().expect("requests") {
                list[1]["content"] = json!("go");
            }
            output["messages"][1]["content"] = json!("go");
        },
        &["AGENT-START: request 1, message 2: the text \"Go\" became \"go\""],
    );
}

#[test]
fn prefix() {
    broken(
        |output| output["requests"][1][1]["content"] = json!("Go on"),
        &[
            "AGENT-PREFIX: request 2, message 2: expected a human message, \"Go\", as in request 1, found a human message, \"Go on\"",
        ],
    );
    broken(
        |output| messages(&mut output["requests"][1]).rotate_left(1),
        &["AGENT-PREFIX: request 2: the system message stands elsewhere than before"],
    );
    broken(
        |output| {
            let list = output["messages"].clone();
            output["requests"] = json!([list, list]);
        },
        &["AGENT-PREFIX: request 1 holds the response to it: the requests share one list, which grew on"],
    );
}

#[test]
fn response() {
    broken(
        |output| from_second(output, |list| list[2]["content"] = json!("")),
        &["AGENT-RESPONSE: request 2, message 3: the text \"I look.\" became \"\""],
    );
    broken(
        |output| from_second(output, |list| list[2]["tool_calls"][0]["args"] = json!({})),
        &["AGENT-RESPONSE: request 2, message 3: the arguments of `c1`: the member \"x\" is missing"],
    );
    broken(
        |output| from_second(output, |list| list[2]["tool_calls"][0]["args"] = json!({"x": 2})),
        &["AGENT-NUMBERS: request 2, message 3: the arguments of `c1`: at /x: 1 became 2"],
    );
    broken(
        |output| from_second(output, |list| drop(list.remove(2))),
        &["AGENT-RESPONSE: request 2, message 3: the response to request 1 should stand here"],
    );
}

#[test]
fn ids() {
    broken(
        |output| {
            from_second(output, |list| {
                list[2]["tool_calls"][0]["id"] = json!("x1");
                list[3]["tool_call_id"] = json!("x1");
            });
        },
        &["AGENT-IDS: request 2, message 3: the id `c1` became `x1`"],
    );
    broken(
        |output| {
            from_second(output, |list| {
                list[2]["tool_calls"][0]["id"] = json!("c2");
                list[3]["tool_call_id"] = json!("c2");
            });
        },
        &[
            "AGENT-IDS: request 2, message 3: the id `c1` became `c2`",
            "AGENT-IDS: request 2, message 3: two calls get one id: `c2`",
        ],
    );
}

#[test]
fn answered_and_order() {
    broken(
        |output| from_second(output, |list| drop(list.remove(3))),
        &["AGENT-ANSWERED: request 2: the call `c1` is not answered"],
    );
    broken(
        |output| {
            from_second(output, |list| {
                let answer = list[4].clone();
                list.insert(5, answer);
            });
        },
        &["AGENT-ANSWERED: request 2, message 6: `c2` was answered twice"],
    );
    broken(
        |output| from_second(output, |list| list.insert(4, json!({"type": "human", "content": "?"}))),
        &["AGENT-ANSWERED: request 2, message 5: a human message, \"?\" stands before the last answer"],
    );
    broken(
        |output| from_second(output, |list| list.swap(3, 4)),
        &["AGENT-ORDER: request 2, message 4: `c2` is answered before `c1`, which was called first"],
    );
}

#[test]
fn result() {
    broken(
        |output| from_second(output, |list| list[3]["content"] = json!("\"one\"")),
        &["AGENT-RESULT: request 2, message 4: the result \"one\" became \"\\\"one\\\"\""],
    );
    broken(
        |output| from_second(output, |list| list[4]["content"] = json!("{'k': [1, True, None]}")),
        &[
            "AGENT-RESULT: request 2, message 5: the result {\"k\":[1,true,null]} became \"{'k': [1, True, None]}\", which is no JSON text",
        ],
    );
    broken(
        |output| from_second(output, |list| list[4]["content"] = Value::Null),
        &["AGENT-RESULT: request 2, message 5: the result {\"k\":[1,true,null]} became a message without content"],
    );
}

#[test]
fn valid_names_only_what_nothing_else_explains() {
    broken(
        |output| from_second(output, |list| drop(list[3].as_object_mut().expect("a message").remove("tool_call_id"))),
        &["AGENT-VALID: request 2, message 4: it answers a call, but has no `tool_call_id`"],
    );
    broken(
        |output| from_second(output, |list| drop(list[3].as_object_mut().expect("a message").remove("content"))),
        &["AGENT-RESULT: request 2, message 4: the result \"one\" became null"],
    );
}

#[test]
fn going_on_and_stopping() {
    let (mut input, mut output) = sound();
    output["requests"].as_array_mut().expect("requests").pop();
    assert_found(
        &input,
        &output,
        &["AGENT-GOES-ON: the run ends after request 1, although the response to it has 2 calls"],
    );
    input["tools"]["a"]["byId"]["c1"] = json!({"error": "no disk"});
    assert_found(
        &input,
        &output,
        &["AGENT-FAILURE: the run ends after request 1, although the response to it has 2 calls"],
    );
    assert!(
        matches!(ruling(&input, &output).holds(property("agent-result")), Holding::Blocked(_)),
        "nothing holds unseen"
    );
    assert_eq!(ruling(&input, &output).holds(property("agent-start")), Holding::Yes);
    broken(
        |output| {
            let list = output["messages"].clone();
            output["requests"].as_array_mut().expect("requests").push(list);
        },
        &["AGENT-STOPS: request 3 follows a response without calls"],
    );
}

#[test]
fn limits_allow_what_the_clause_says() {
    let call = |id: &str| json!({"tool_calls": [{"id": id, "name": "a", "args": {}}]});
    let input = |limit: usize| {
        json!({
            "messages": [{"type": "human", "content": "Go"}],
            "model": [call("c1"), call("c2"), call("c3"), call("c4")],
            "tools": {"a": {"byId": {"c1": "1", "c2": "2", "c3": "3", "c4": "4"}}},
            "maxRecursionDepth": limit,
        })
    };
    for (limit, allowed) in [(0, 1..=1), (1, 1..=2), (2, 2..=3)] {
        for requests in 1..=4 {
            let mut output = run(&input(limit));
            output["requests"].as_array_mut().expect("requests").truncate(requests);
            // Answered to the last call: what is handed back at the end is valid then.
            messages(&mut output["messages"]).truncate(1 + 2 * requests);
            let found = ruling(&input(limit), &output);
            let clauses: Vec<&str> = found.findings().iter().map(|found| found.clause).collect();
            let expected = match requests {
                _ if allowed.contains(&requests) => Vec::new(),
                few if few < *allowed.start() => vec!["AGENT-GOES-ON"],
                _ => vec!["AGENT-LIMIT"],
            };
            assert_eq!(clauses, expected, "limit {limit}, {requests} requests");
            messages(&mut output["messages"]).pop();
            let cut = ruling(&input(limit), &output);
            assert_eq!(cut.findings().iter().any(|found| found.clause == "AGENT-END"), expected.is_empty());
        }
    }
}

#[test]
fn failures_are_answered_and_told() {
    let (mut input, _) = sound();
    input["tools"]["a"]["byId"]["c1"] = json!({"error": "no \"disk\"\n"});
    input["tools"].as_object_mut().expect("tools").remove("b");
    let sound = run(&input);
    assert_found(&input, &sound, &[]);
    let with = |index: usize, content: &str| {
        let mut output = sound.clone();
        from_second(&mut output, |list| list[index]["content"] = json!(content));
        output
    };
    for told in ["Error: no \"disk\"", "{\"error\":\"no \\\"disk\\\"\\n\"}", "Error('no \"disk\"\\n')", "[no \"disk\"]"]
    {
        assert_found(&input, &with(3, told), &[]);
    }
    let untold = "AGENT-FAILURE-TOLD: request 2, message 4: the answer does not name the error \"no \\\"disk\\\"\\n\": \"Error\"";
    assert_found(&input, &with(3, "Error"), &[untold]);
    let untold = "AGENT-FAILURE-TOLD: request 2, message 5: the answer does not name the unknown tool \"b\": \"?\"";
    assert_found(&input, &with(4, "?"), &[untold]);
    let mut output = sound.clone();
    from_second(&mut output, |list| drop(list.remove(4)));
    assert_found(
        &input,
        &output,
        &["AGENT-FAILURE: request 2: the call `c2`, whose tool fails or is unknown, is not answered"],
    );
}

#[test]
fn escapes_nobody_needs() {
    let (mut input, _) = sound();
    input["tools"]["b"]["byId"]["c2"] = json!({"k": "é\u{2028}😀"});
    let answered = |content: &str| {
        let mut output = run(&input);
        from_second(&mut output, |list| list[4]["content"] = json!(content));
        output
    };
    assert_found(&input, &answered("{\"k\":\"é\\u2028😀\"}"), &[]);
    for escape in ["{\"k\":\"\\u00e9\u{2028}😀\"}", "{\"k\":\"é\u{2028}\\ud83d\\ude00\"}"] {
        let found = ruling(&input, &answered(escape));
        assert!(matches!(found.holds(property("agent-result-compact")), Holding::No(_)), "{escape}");
        assert_eq!(found.holds(property("agent-result")), Holding::Yes);
    }
}

#[test]
fn halves_are_seen() {
    let input = r#"{"messages":[{"type":"human","content":"Go"}],"model":[{"tool_calls":[{"id":"c1","name":"a"}]},{}],
        "tools":{"a":{"byId":{"c1":"cut \ud83d"}}}}"#;
    let output = |content: &str| {
        let output = format!(
            r#"{{"requests":[[{{"type":"human","content":"Go"}}],[{{"type":"human","content":"Go"}},
            {{"type":"ai","content":null,"tool_calls":[{{"id":"c1","name":"a"}}]}},
            {{"type":"tool","content":{content},"tool_call_id":"c1"}}]],"messages":null}}"#
        );
        value::read(&output).expect("JSON")
    };
    let found = |output: Value| {
        let ruling = judge(input, &[], Abilities::default(), Answer::Output(&output)).expect("a run");
        ruling.findings().iter().map(|found| found.clause).collect::<Vec<_>>()
    };
    assert_eq!(found(output(r#""cut \ud83d""#)), ["AGENT-ENCODABLE"]);
    assert!(found(output(r#""cut \ufffd""#)).is_empty() && found(output(r#""cut \\ud83d""#)).is_empty());
    assert_eq!(found(output(r#""cu \ufffd""#)), ["AGENT-TEXT"]);
    let refusal = judge(input, &[], Abilities::default(), Answer::Refusal("surrogates not allowed")).expect("a script");
    assert_eq!(refusal.findings()[0].clause, "AGENT-ENCODABLE", "in the middle of a run");
}

#[test]
fn histories_are_mended_or_refused() {
    let (mut input, _) = sound();
    input["messages"] = json!([
        {"type": "human", "content": "A"},
        {"type": "ai", "content": "hm", "tool_calls": [{"id": "h1", "name": "a", "args": {}}]},
        {"type": "human", "content": "B"},
        {"type": "tool", "content": "late", "tool_call_id": "h9"},
    ]);
    let as_it_is = run(&input);
    let found = ruling(&input, &as_it_is);
    assert_eq!(found.findings().iter().filter(|found| found.clause == "AGENT-HISTORY").count(), 2);
    assert_eq!(found.findings()[0].what, "request 1, message 2: its call `h1` is not answered directly behind it");
    let mended = |list: Value| {
        let mut script = input.clone();
        script["messages"] = list;
        let mut output = run(&script);
        output["given"] = input["messages"].clone();
        output
    };
    let sound =
        json!([{"type": "human", "content": "A"}, {"type": "ai", "content": "hm"}, {"type": "human", "content": "B"}]);
    assert_found(&input, &mended(sound), &[]);
    let lost = json!([{"type": "human", "content": "A"}, {"type": "ai", "content": "hm"}]);
    assert_found(
        &input,
        &mended(lost),
        &["AGENT-HISTORY: request 1: the human message \"B\" of the given list is lost"],
    );
    let lost = json!([{"type": "human", "content": "A"}, {"type": "human", "content": "B"}]);
    assert_found(
        &input,
        &mended(lost),
        &["AGENT-HISTORY: request 1: the assistant's text \"hm\" of the given list is lost"],
    );
    let refusal = |why| judge(&input.to_string(), &[], Abilities::default(), Answer::Refusal(why)).expect("a script");
    assert_eq!(refusal("call h1 has no answer").holds(property("agent-history")), Holding::Yes);
    assert!(!refusal("").findings().is_empty(), "a refusal says why");
}

#[test]
fn a_failing_model_ends_the_run() {
    let (mut input, _) = sound();
    input["model"][1] = json!({"error": "overloaded"});
    let sound = run(&input);
    assert_found(&input, &sound, &[]);
    let mut output = sound.clone();
    let again = output["requests"][1].clone();
    output["requests"].as_array_mut().expect("requests").push(again.clone());
    assert_found(&input, &output, &[]);
    output["requests"].as_array_mut().expect("requests").push(again);
    assert_found(
        &input,
        &output,
        &["AGENT-MODEL-FAILURE: request 4: the model call before it failed, and so did the retry"],
    );
    let mut output = sound.clone();
    messages(&mut output["messages"]).push(json!({"type": "ai", "content": "Sorry"}));
    assert_found(
        &input,
        &output,
        &["AGENT-MODEL-FAILURE: the list at the end, message 6: the model never said \"Sorry\""],
    );
    let mut output = sound.clone();
    output["failure"] = json!("");
    assert_found(
        &input,
        &output,
        &["AGENT-MODEL-FAILURE: the model call failed, but the run ends as if nothing had happened"],
    );
    output["failure"] = Value::Null;
    assert!(matches!(ruling(&input, &output).holds(property("agent-model-failure-reported")), Holding::Unsupported(_)));
    assert_eq!(ruling(&input, &output).holds(property("agent-model-failure")), Holding::Yes);
}

#[test]
fn repeated_ids_are_renamed_or_refused() {
    let mut input = sound().0;
    input["model"][0]["tool_calls"][1]["id"] = json!("c1");
    input["tools"] = json!({"a": {"byArgs": [[{"x": 1}, "one"]]}, "b": {"byArgs": [[{}, "two"]]}});
    let output = |first: &str, second: &str, answers: [&str; 2]| {
        let mut script = sound().0;
        script["tools"] = json!({"a": {"byId": {first: "one"}}, "b": {"byId": {second: "two"}}});
        script["model"][0]["tool_calls"][0]["id"] = json!(first);
        script["model"][0]["tool_calls"][1]["id"] = json!(second);
        let mut output = run(&script);
        from_second(&mut output, |list| {
            list[3]["tool_call_id"] = json!(answers[0]);
            list[4]["tool_call_id"] = json!(answers[1]);
        });
        output
    };
    assert_found(&input, &output("c1", "c1_2", ["c1", "c1_2"]), &[]);
    assert_found(&input, &output("x", "y", ["x", "y"]), &[]);
    let kept = "AGENT-IDS: request 2, message 3: the model repeats an id, and both calls keep it: `c1`";
    let found = ruling(&input, &output("c1", "c1", ["c1", "c1"]));
    assert_eq!(found.findings()[0].what, kept[11..]);
    assert_eq!(found.findings().iter().filter(|found| found.clause != "AGENT-END").count(), 1);
    let refusal =
        judge(&input.to_string(), &[], Abilities::default(), Answer::Refusal("duplicate id c1")).expect("a script");
    assert_eq!(refusal.findings(), []);
    let mut refused = output("c1", "c1", ["c1", "c1"]);
    refused["requests"].as_array_mut().expect("requests").pop();
    assert_eq!(ruling(&input, &refused).findings()[0].clause, "AGENT-GOES-ON", "it must say why");
    refused["failure"] = json!("duplicate id");
    refused["messages"] = Value::Null;
    assert_found(&input, &refused, &[]);
}

#[test]
fn what_cannot_be_seen_is_unsupported() {
    let (input, mut output) = sound();
    output["messages"] = Value::Null;
    output["given"] = Value::Null;
    let output = value::read(&output.to_string()).expect("JSON");
    let abilities = Abilities { adapter_snapshots: true, ..Abilities::default() };
    let ruling = judge(&input.to_string(), &[], abilities, Answer::Output(&output)).expect("a run");
    for name in ["agent-end", "agent-caller", "agent-snapshots"] {
        assert!(matches!(ruling.holds(property(name)), Holding::Unsupported(_)), "{name}");
    }
    assert_eq!(ruling.holds(property("agent-prefix")), Holding::Yes);
}

#[test]
fn the_callers_list_and_other_runs() {
    broken(
        |output| output["given"] = output["messages"].clone(),
        &["AGENT-CALLER: the caller's list had 2 messages before the run, and 6 after it"],
    );
    let (input, mut output) = sound();
    let other = input.to_string().replace("one", "another");
    let judged = |output: &Value| {
        let ruling = judge(&input.to_string(), &[&other], Abilities::default(), Answer::Output(output)).expect("a run");
        ruling.findings().iter().map(|found| found.clause).collect::<Vec<_>>()
    };
    assert!(judged(&output).is_empty());
    from_second(&mut output, |list| list[3]["content"] = json!("another"));
    assert_eq!(judged(&output), ["AGENT-RESULT", "AGENT-INDEPENDENT"]);
}

#[test]
fn the_list_at_the_end() {
    broken(
        |output| drop(messages(&mut output["messages"]).pop()),
        &["AGENT-END: the list at the end: the last response is missing: \"Done\""],
    );
    broken(
        |output| drop(messages(&mut output["messages"]).remove(4)),
        &[
            "AGENT-END: the list at the end: message 5 of the last request is missing: the answer to `c2`, \"{\\\"k\\\":[1,true,null]}\"",
        ],
    );
}

#[test]
fn what_is_no_run_is_an_error() {
    let judge = |output: Value| judge(&sound().0.to_string(), &[], Abilities::default(), Answer::Output(&output)).err();
    assert_eq!(judge(json!({})).as_deref(), Some("it has no list of `requests`"));
    let error = judge(json!({"requests": [[{"type": "ai", "content": 5}]]}));
    assert_eq!(error.as_deref(), Some("request 1: message 1: its `content` is not a string"));
}
