//! Responses and answers: calls, ids, results and failures.

use super::*;
use threadspec_golden::clause;

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
        &["AGENT-RESPONSE: request 2, message 3: the response to request 1 should be here"],
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
        &["AGENT-ANSWERED: request 2, message 5: a human message, \"?\" is before the last answer"],
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
fn a_declared_wrapper_that_no_result_can_close_is_permitted() {
    let (input, sound) = sound();
    let faults = |words: [&str; 2], wraps_results| {
        let mut output = sound.clone();
        from_second(&mut output, |list| {
            for (message, word) in list[3..].iter_mut().zip(words) {
                let result = message["content"].as_str().unwrap_or_default();
                message["content"] = json!(format!("<untrusted0 {word}>\n{result}\n</untrusted0 {word}>"));
            }
        });
        let output = value::read(&output.to_string()).expect("JSON");
        let abilities = Abilities { wraps_results, ..Abilities::default() };
        let ruling = judge(&input.to_string(), &Others::default(), abilities, AgentReply::Output(output));
        ruling.expect("a run").findings().iter().filter(|found| found.clause == clause::AGENT_RESULT).count()
    };
    assert_eq!(faults(["a1b2c3d4", "e5f6a7b8"], true), 0);
    assert_eq!(faults(["a1b2c3d4", "e5f6a7b8"], false), 2);
    for fixed in [["", ""], ["a1b2c3d4", "a1b2c3d4"]] {
        assert_eq!(faults(fixed, true), 2, "{fixed:?}");
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
    assert_eq!(found.findings().iter().filter(|found| found.clause != clause::AGENT_END).count(), 1);
    let refusal =
        judge(&input.to_string(), &Others::default(), Abilities::default(), AgentReply::Refusal("duplicate id c1"))
            .expect("a script");
    assert_eq!(refusal.findings()[0].clause, clause::AGENT_GOES_ON, "the model was asked before");
    let mut refused = output("c1", "c1", ["c1", "c1"]);
    refused["requests"].as_array_mut().expect("requests").pop();
    assert_eq!(ruling(&input, &refused).findings()[0].clause, clause::AGENT_GOES_ON, "it must say why");
    refused["failure"] = json!("duplicate id");
    refused["messages"] = Value::Null;
    assert_found(&input, &refused, &[]);
}
