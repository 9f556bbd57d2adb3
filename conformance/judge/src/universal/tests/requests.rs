//! Tests requests: the given list, the beginning of requests, and lists that no provider takes.

use super::*;
use threadspec_golden::clause;

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
        &["AGENT-PREFIX: request 2: the system message is elsewhere than before"],
    );
}

#[test]
fn requests_that_change_after_they_were_sent() {
    let changed = |change: fn(&mut Value)| {
        let (input, mut output) = sound();
        output["requestsAtEnd"] = output["requests"].clone();
        change(&mut output["requestsAtEnd"]);
        ruling(&input, &output).findings().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(changed(|_| {}), [""; 0]);
    let grown = ["AGENT-SHARED: request 1 had 2 messages when it was sent, and has 5 at the end"];
    assert_eq!(changed(|at_end| at_end[0] = at_end[1].clone()), grown);
    assert_eq!(changed(|at_end| messages(&mut at_end[1]).truncate(1)).len(), 1);
    let says = "an ai message with the calls `c1`, `c2`, \"I look.\"";
    let emptied = format!(
        "AGENT-SHARED: request 2, message 3: after it was sent, {says}: [\"a\",{{\"x\":1}}] became {says}: [\"a\",{{}}]"
    );
    assert_eq!(changed(|at_end| at_end[1][2]["tool_calls"][0]["args"] = json!({})), [emptied]);
}

/// An adapter that describes the requests after the run cannot say what they were: they are distinguished, and nobody is accused.
#[test]
fn requests_that_look_shared_are_noted() {
    let (input, mut output) = sound();
    let list = output["messages"].clone();
    output["requests"] = json!([list, list]);
    for at_end in [Value::Null, output["requests"].clone()] {
        output["requestsAtEnd"] = at_end;
        assert_found(&input, &output, &[]);
        let ruling = ruling(&input, &output);
        assert!(ruling.notes().any(|note| note.contains("copy each")));
        assert!(matches!(ruling.holds(property("agent-shared")), Holding::Unsupported(_)));
        assert_eq!(ruling.holds(property("agent-prefix")), Holding::Yes);
    }
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
        let ruling = judge(input, &Others::default(), Abilities::default(), AgentReply::Output(output)).expect("a run");
        ruling.findings().iter().map(|found| found.clause).collect::<Vec<_>>()
    };
    assert_eq!(found(output(r#""cut \ud83d""#)), [clause::AGENT_ENCODABLE]);
    assert!(found(output(r#""cut \ufffd""#)).is_empty() && found(output(r#""cut \\ud83d""#)).is_empty());
    assert_eq!(found(output(r#""cu \ufffd""#)), [clause::AGENT_TEXT]);
    let refusal = judge(input, &Others::default(), Abilities::default(), AgentReply::Refusal("surrogates not allowed"))
        .expect("a script");
    assert_eq!(refusal.findings()[0].clause, clause::AGENT_ENCODABLE, "in the middle of a run");
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
    assert_eq!(found.findings().iter().filter(|found| found.clause == clause::AGENT_HISTORY).count(), 2);
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
    let refusal = |why| {
        judge(&input.to_string(), &Others::default(), Abilities::default(), AgentReply::Refusal(why)).expect("a script")
    };
    assert_eq!(refusal("call h1 has no answer").holds(property("agent-history")), Holding::Yes);
    assert!(!refusal("").findings().is_empty(), "a refusal says why");
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
        let ruling =
            judge(&input.to_string(), &Others::of([&other]), Abilities::default(), AgentReply::Output(output.clone()))
                .expect("a run");
        ruling.findings().iter().map(|found| found.clause).collect::<Vec<_>>()
    };
    assert!(judged(&output).is_empty());
    from_second(&mut output, |list| list[3]["content"] = json!("another"));
    assert_eq!(judged(&output), [clause::AGENT_RESULT, clause::AGENT_INDEPENDENT]);
}

#[test]
fn what_half_a_character_becomes_may_be_what_another_run_says() {
    let run = |text: &str| {
        format!(r#"{{"messages":[{{"type":"human","content":"{text}"}}],"model":[{{"content":"Done"}}]}}"#)
    };
    let (input, other) = (run(r"\ud83d0"), run(r"\ufffd0"));
    let given = json!([{"type": "human", "content": "\u{fffd}0"}]);
    let end = json!([given[0], {"type": "ai", "content": "Done"}]);
    let output = json!({"requests": [given], "messages": end, "given": given, "failure": null});
    let ruling = judge(&input, &Others::of([&other]), Abilities::default(), AgentReply::Output(output)).expect("a run");
    assert!(ruling.findings().iter().all(|found| found.clause != clause::AGENT_INDEPENDENT), "{:?}", ruling.findings());
}
