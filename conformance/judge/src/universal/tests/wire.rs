//! Tests runs over the wire: the provider's answers count, its findings count in every case, and each fault has one name.

use super::*;

/// The run of [`sound`] over the wire, with these findings.
fn over_wire(findings: &Value) -> (Value, Value) {
    let (input, mut output) = sound();
    output["wire"] = json!({"api": "openai-chat", "stream": false, "said": input["model"], "findings": findings});
    (input, output)
}

fn named(ruling: &Ruling) -> Vec<&str> {
    ruling.findings().iter().map(|finding| finding.clause).collect()
}

#[test]
fn a_sound_run_has_every_property_that_can_be_seen() {
    let (input, output) = over_wire(&json!([]));
    let judged = ruling(&input, &output);
    assert_eq!(judged.findings(), []);
    // Bytes that were sent cannot change, so that AGENT-SHARED holds.
    for property in Property::all().filter(|property| !property.is_of_gateway()) {
        assert_eq!(judged.holds(property), Holding::Yes, "{property}");
    }
    for property in Property::all().filter(|property| property.is_of_gateway()) {
        assert!(matches!(judged.holds(property), Holding::Unsupported(_)), "{property}");
    }
    let (input, mut output) = over_wire(&json!([]));
    output["wire"]["through"] = json!("a gateway");
    let through = ruling(&input, &output);
    for property in Property::all() {
        assert_eq!(through.holds(property), Holding::Yes, "{property}");
    }
    let (input, output) = sound();
    let off_wire = ruling(&input, &output);
    for property in Property::all().filter(|property| property.is_of_wire()) {
        assert!(matches!(off_wire.holds(property), Holding::Unsupported(_)), "{property}");
    }
}

#[test]
fn what_was_said_stands_in_the_place_of_the_script() {
    let (mut input, mut output) = over_wire(&json!([]));
    // The script gives no ids, so that the provider made them.
    input["model"][0] = json!({"content": "another text", "tool_calls": [{"name": "a"}, {"name": "b"}]});
    assert_eq!(ruling(&input, &output).findings(), []);
    output["wire"]["said"][0]["tool_calls"][1]["id"] = json!("c3");
    assert!(!named(&ruling(&input, &output)).is_empty());
    for (member, value, says) in [
        ("api", json!("palm"), "`api`"),
        ("said", json!(5), "`said`"),
        ("findings", json!([{"clause": "other", "level": "must", "what": ""}]), "`other`"),
        ("findings", json!([{"clause": clause::WIRE_KEY, "level": "may", "what": ""}]), "level"),
    ] {
        let (input, mut output) = over_wire(&json!([]));
        output["wire"][member] = value;
        let answer = AgentReply::Output(value::read(&output.to_string()).expect("JSON"));
        let error = judge(&input.to_string(), &Others::default(), Abilities::default(), answer).expect_err("no report");
        assert!(error.to_string().contains(says), "{error}");
    }
}

#[test]
fn a_tool_that_no_request_can_declare_may_be_run_or_be_unknown() {
    let name = "files.read";
    let call = json!([{"id": "c1", "name": name, "args": {}}]);
    let input = json!({"messages": [{"type": "human", "content": "Go"}], "model": [{"tool_calls": call}, {"content": "Done"}],
        "tools": {name: {"byId": {"c1": "ok"}}}});
    for (answer, over_wire, is_result) in
        [("ok", true, true), ("no such tool", true, true), ("no such tool", false, false)]
    {
        let given = json!([{"type": "human", "content": "Go"}]);
        let asked = json!([given[0], {"type": "ai", "content": "", "tool_calls": call}, {"type": "tool", "content": answer, "tool_call_id": "c1"}]);
        let mut output = json!({"requests": [given, asked]});
        if over_wire {
            output["wire"] = json!({"api": "anthropic", "stream": false, "said": input["model"], "findings": []});
        }
        let judged = ruling(&input, &output);
        assert_eq!(named(&judged) == [clause::AGENT_RESULT; 0], is_result, "{answer}: {:?}", judged.findings());
    }
}

#[test]
fn a_breach_counts_in_each_case_and_a_recommendation_where_it_is_asked_for() {
    let findings = json!([
        {"clause": clause::WIRE_WAIT, "level": "must", "what": "too early"},
        {"clause": clause::WIRE_CACHE, "level": "should", "what": "another byte"},
        {"clause": clause::WIRE_TOOLS_SAME, "level": "note", "what": "as said before"},
    ]);
    let (input, output) = over_wire(&findings);
    let ruling = ruling(&input, &output);
    assert_eq!(named(&ruling), [clause::WIRE_WAIT]);
    assert_eq!(ruling.breaches_of_wire().count(), 1);
    assert!(matches!(ruling.holds(Property::WireWait), Holding::No(_)));
    assert!(matches!(ruling.holds(Property::WireCache), Holding::No(_)));
    for property in [Property::WireToolsSame, Property::AgentResult, Property::WireRules] {
        assert_eq!(ruling.holds(property), Holding::Yes, "{property}");
    }
    assert_eq!(ruling.notes().collect::<Vec<_>>(), [format!("note: {}: as said before", clause::WIRE_TOOLS_SAME)]);
}

#[test]
fn a_refused_request_explains_an_early_end_and_is_explained_by_what_it_holds() {
    let refused = json!([{"clause": "OAI-CHAT-ORPHAN", "level": "must", "what": "messages[3]"}]);
    let (input, mut output) = over_wire(&refused);
    output["wire"]["said"] = json!([input["model"][0], {"error": "400"}]);
    output["failure"] = json!("400");
    output["messages"].as_array_mut().expect("a list").pop();
    let alone = ruling(&input, &output);
    assert_eq!(named(&alone), ["OAI-CHAT-ORPHAN"]);
    assert!(matches!(alone.holds(Property::WireRules), Holding::No(_)));
    assert!(matches!(alone.holds(Property::AgentStops), Holding::Blocked(_)));
    assert_eq!(alone.holds(Property::AgentStart), Holding::Yes);
    // The answer to a call of nobody is what the API refuses.
    output["requests"][1][3]["tool_call_id"] = json!("c9");
    let explained = ruling(&input, &output);
    let names = named(&explained);
    assert!(names.contains(&clause::AGENT_ANSWERED) && !names.contains(&"OAI-CHAT-ORPHAN"), "{names:?}");
    assert!(explained.findings()[0].what.ends_with("answered with 400 OAI-CHAT-ORPHAN"), "{explained:?}");
    // Whatever a case is about, the refusal counts.
    assert_eq!(explained.breaches_of_wire().map(|found| found.clause).collect::<Vec<_>>(), [clause::AGENT_ANSWERED]);
    assert!(matches!(explained.holds(Property::AgentStops), Holding::Blocked(_)));
    // No request came at all.
    let (input, mut output) = over_wire(&json!([{"clause": clause::WIRE_REQUEST, "level": "must", "what": "GET /v1"}]));
    (output["requests"], output["wire"]["said"]) = (json!([]), json!([]));
    let lost = ruling(&input, &output);
    assert_eq!(named(&lost), [clause::WIRE_REQUEST]);
    assert!(matches!(lost.holds(Property::AgentResult), Holding::Blocked(_)));
}

#[test]
fn a_change_and_a_part_are_named_once() {
    let (input, mut output) =
        over_wire(&json!([{"clause": clause::WIRE_RETRY, "level": "must", "what": "another request"}]));
    output["requests"][1] = output["requests"][0].clone();
    assert_eq!(named(&ruling(&input, &output)), [clause::WIRE_RETRY]);
    let (input, mut output) = over_wire(&json!([{"clause": clause::WIRE_PARTIAL, "level": "must", "what": "`c2`"}]));
    output["wire"]["said"][0]["tool_calls"].as_array_mut().expect("calls").pop();
    assert_eq!(named(&ruling(&input, &output)), [clause::WIRE_PARTIAL]);
    let (mut input, mut output) = over_wire(&json!([]));
    input["tools"]["a"]["again"] = json!({"c1": "twice"});
    assert_eq!(ruling(&input, &output).findings(), []);
    output["requests"][1][3]["content"] = json!("twice");
    assert_eq!(named(&ruling(&input, &output)), [clause::WIRE_RETRY]);
}

#[test]
fn what_came_before_a_failure_was_said() {
    let (input, mut output) = over_wire(&json!([]));
    output["wire"]["said"] = json!([input["model"][0], {"error": "the stream broke off", "content": "Do"}]);
    output["failure"] = json!("broken");
    output["messages"].as_array_mut().expect("a list").pop();
    assert_eq!(ruling(&input, &output).findings(), []);
    output["messages"].as_array_mut().expect("a list").push(json!({"type": "ai", "content": "D"}));
    assert_eq!(ruling(&input, &output).findings(), []);
    let last = output["messages"].as_array().expect("a list").len() - 1;
    output["messages"][last]["content"] = json!("Sorry");
    assert_eq!(named(&ruling(&input, &output)), [clause::AGENT_MODEL_FAILURE]);
    // Half a text is no end.
    output["messages"][last]["content"] = json!("Do");
    output["failure"] = json!("");
    assert_eq!(named(&ruling(&input, &output)), [clause::AGENT_MODEL_FAILURE]);
}

#[test]
fn a_response_that_was_cut_off_may_end_the_run_or_be_asked_for_again() {
    let (input, mut output) = over_wire(&json!([]));
    output["wire"]["said"][1]["stop"] = json!("length");
    output["failure"] = json!("cut off");
    assert_eq!(ruling(&input, &output).findings(), []);
    output["wire"]["said"][1]["stop"] = json!("stop");
    assert_eq!(named(&ruling(&input, &output)), [clause::AGENT_GOES_ON]);
    let (mut input, mut output) = over_wire(&json!([]));
    let again = json!({"content": "Done again"});
    input["model"].as_array_mut().expect("turns").push(again.clone());
    output["wire"]["said"] = json!([input["model"][0], {"content": "Do", "stop": "length"}, again]);
    let second = output["requests"][1].clone();
    output["requests"].as_array_mut().expect("requests").push(second);
    output["messages"][5]["content"] = json!("Done again");
    assert_eq!(ruling(&input, &output).findings(), []);
    output["wire"]["said"][1]["stop"] = json!("stop");
    assert!(named(&ruling(&input, &output)).contains(&clause::AGENT_STOPS));
}

#[test]
fn what_a_gateway_did_is_named_once() {
    // The answer to a call of nobody, which the provider refused: a gateway changed the id.
    let broken = |findings: Value| {
        let (input, mut output) = over_wire(&findings);
        output["wire"]["through"] = json!("a gateway");
        output["wire"]["said"] = json!([input["model"][0], {"error": "400"}]);
        output["failure"] = json!("400");
        output["messages"].as_array_mut().expect("a list").pop();
        output["requests"][1][3]["tool_call_id"] = json!("c9");
        ruling(&input, &output)
    };
    let rule = json!({"clause": "OAI-CHAT-ORPHAN", "level": "must", "what": "messages[3]"});
    let ids = json!({"clause": clause::GATE_IDS, "level": "must", "what": "`c2` became `c9`"});
    let valid = json!({"clause": clause::GATE_VALID, "level": "must", "what": "400 OAI-CHAT-ORPHAN"});
    let judged = broken(json!([ids, valid, rule]));
    assert_eq!(named(&judged), [clause::GATE_IDS, clause::GATE_VALID]);
    assert!(matches!(judged.holds(Property::GateIds), Holding::No(_)));
    assert_eq!(judged.holds(Property::GateText), Holding::Yes);
    assert_eq!(judged.breaches_of_wire().count(), 2);
    assert!(named(&broken(json!([rule]))).contains(&clause::AGENT_ANSWERED));
    // A text that it changed explains contents, and nothing that the agent does otherwise.
    let (input, mut output) =
        over_wire(&json!([{"clause": clause::GATE_TEXT, "level": "must", "what": "`Go` became `go`"}]));
    output["wire"]["through"] = json!("a gateway");
    output["requests"][0][0]["content"] = json!("go");
    output["failure"] = json!("tired");
    let judged = ruling(&input, &output);
    assert!(named(&judged).contains(&clause::GATE_TEXT), "{:?}", judged.findings());
    assert!(!named(&judged).contains(&clause::AGENT_START), "{:?}", judged.findings());
    assert!(named(&judged).iter().any(|clause| clause.starts_with("AGENT-")), "{:?}", judged.findings());
    // A recommendation that is broken is one.
    let (input, mut output) = over_wire(&json!([
        {"clause": clause::GATE_WAIT, "level": "should", "what": "no `retry-after`"},
        {"clause": clause::GATE_CACHE, "level": "should", "what": "another byte"},
        {"clause": clause::WIRE_CACHE, "level": "should", "what": "another byte"},
    ]));
    output["wire"]["through"] = json!("a gateway");
    let judged = ruling(&input, &output);
    assert_eq!(judged.findings(), []);
    assert!(matches!(judged.holds(Property::GateWait), Holding::No(_)));
    assert_eq!(judged.holds(Property::WireCache), Holding::Yes);
}

#[test]
fn a_client_that_is_no_agent_shows_what_a_gateway_does_alone() {
    let input = json!({"sends": [{"type": "human", "content": "Go"}], "turn": {"content": "Done"}});
    let asked = |answer: AgentReply<'_>| judge(&input.to_string(), &Others::default(), Abilities::default(), answer);
    let judged = |output: Value| asked(AgentReply::Output(value::read(&output.to_string()).expect("JSON")));
    let text = json!({"clause": clause::GATE_TEXT, "level": "must", "what": "`Go` became `go`"});
    let output = |findings: Value| json!({"wire": {"api": "anthropic", "through": "x", "findings": findings}});
    let sound = judged(output(json!([]))).expect("a run");
    assert_eq!((sound.findings(), sound.holds(Property::GateText)), (&[][..], Holding::Yes));
    let wrong = judged(output(json!([text]))).expect("a run");
    assert!(matches!(wrong.holds(Property::GateText), Holding::No(_)) && wrong.breaches_of_wire().count() == 1);
    let mut idle = output(json!([]));
    idle["wire"]["unsupported"] = json!("no request asks for a stream");
    assert_eq!(judged(idle).expect("a run").unsupported(), Some("no request asks for a stream"));
    assert!(judged(json!({"requests": []})).is_err_and(|error| error.to_string().contains("--through")));
    assert!(asked(AgentReply::Refusal("no")).is_err());
}

#[test]
fn a_run_that_shows_nothing_is_unsupported() {
    let (input, mut output) = over_wire(&json!([]));
    output["wire"]["unsupported"] = json!("no attempt asked for a stream");
    assert_eq!(ruling(&input, &output).unsupported(), Some("no attempt asked for a stream"));
}
