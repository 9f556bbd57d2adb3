//! Runs that report a failure, or are rejected.

use super::*;
use threadspec::surrogates::unmark_surrogates;
use threadspec_golden::clause;

fn clauses(input: &Value, answer: AgentReply<'_>) -> Vec<&'static str> {
    let ruling =
        judge(&input.to_string(), &Others::default(), Abilities::default(), answer).expect("a script and a record");
    ruling.findings().iter().map(|finding| finding.clause).collect()
}

fn failing(input: &Value) -> Value {
    let mut output = run(input);
    output["failure"] = json!("RuntimeError: gone");
    output
}

/// Returns the broken clauses when the whole run is right, but reports a failure.
fn found(input: &Value) -> Vec<&'static str> {
    clauses(input, AgentReply::Output(failing(input)))
}

#[test]
fn a_failure_that_nothing_explains_breaks_what_ended_the_run() {
    let (mut input, output) = sound();
    let what = "the model has given its last response, but the run fails; it says: \"RuntimeError: gone\"";
    assert_found(&input, &failing(&input), &[&format!("AGENT-GOES-ON: {what}")]);
    let ruling = ruling(&input, &failing(&input));
    for property in Property::all().filter(|property| property.to_string() != "agent-shared") {
        let is_judged = ["agent-start", "agent-history", "agent-caller"].contains(&&*property.to_string());
        assert_eq!(ruling.holds(property) == Holding::Yes, is_judged, "{property}");
    }
    input["tools"]["a"]["byId"]["c1"] = json!({"error": "no disk"});
    assert_eq!(found(&input), [clause::AGENT_FAILURE]);
    input["model"][1]["content"] = json!("\u{10d83d}");
    let half = |output: Value| serde_json::from_str(&output.to_string().replace('\u{10d83d}', "?")).expect("JSON");
    let input = unmark_surrogates(&input.to_string()).into_owned();
    let answer = AgentReply::Output(half(failing(&value::read(&input).expect("JSON"))));
    let ruling = judge(&input, &Others::default(), Abilities::default(), answer).expect("a run");
    assert_eq!(ruling.findings().first().map(|finding| finding.clause), Some(clause::AGENT_ENCODABLE));
    assert_eq!(clauses(&sound().0, AgentReply::Output(output)), [""; 0]);
}

#[test]
fn a_failure_may_be_reported_where_something_explains_it() {
    let (mut input, _) = sound();
    input["maxRecursionDepth"] = json!(1);
    assert_eq!(found(&input), [""; 0], "the limit is reached");
    input["maxRecursionDepth"] = json!(2);
    assert_eq!(found(&input), [clause::AGENT_GOES_ON], "the limit is not reached");
    let (mut input, _) = sound();
    input["model"].as_array_mut().expect("turns").insert(1, json!({"error": "overloaded"}));
    let retried = {
        let (plain, _) = sound();
        let mut output = failing(&plain);
        let again = output["requests"][1].clone();
        output["requests"].as_array_mut().expect("requests").insert(1, again);
        output
    };
    assert_eq!(clauses(&input, AgentReply::Output(retried)), [""; 0], "a model call failed");
    let (mut input, _) = sound();
    input["tools"]["b"]["byId"]["c2"] = (0..60).fold(json!(1), |inner, _| json!([inner]));
    assert_eq!(found(&input), [""; 0], "the input is nested too deep");
}

#[test]
fn what_a_response_holds_may_be_refused_after_it() {
    for (ids, expected) in [(["c1", "c1"], &[][..]), (["", "c2"], &[]), (["c1", "c2"], &[clause::AGENT_GOES_ON])] {
        let (mut input, _) = sound();
        for (call, id) in ids.iter().enumerate() {
            input["model"][0]["tool_calls"][call]["id"] = json!(id);
        }
        let output = json!({"requests": [input["messages"]], "messages": input["messages"], "failure": "no such id"});
        assert_eq!(clauses(&input, AgentReply::Output(output)), expected, "{ids:?}");
    }
}

/// Only what is given may be refused before the model was asked, whether the reply is a `reject` or an output without requests.
#[test]
fn a_rejection_is_a_run_without_requests() {
    let twice = || {
        let (mut input, _) = sound();
        input["model"][0]["tool_calls"][1]["id"] = json!("c1");
        input
    };
    let given = |message: Value| {
        let (mut input, _) = sound();
        input["messages"].as_array_mut().expect("a list").push(message);
        input
    };
    let with = |member: &str, value: Value| {
        let (mut input, _) = sound();
        input[member] = value;
        input
    };
    let failing_tool = with("tools", json!({"a": [{"error": "no"}], "b": ["x"]}));
    for (input, expected) in [
        (sound().0, Some(clause::AGENT_GOES_ON)),
        (twice(), Some(clause::AGENT_GOES_ON)),
        (with("maxRecursionDepth", json!(1)), Some(clause::AGENT_GOES_ON)),
        (failing_tool, Some(clause::AGENT_FAILURE)),
        (with("model", json!([{"error": "overloaded"}])), Some(clause::AGENT_MODEL_FAILURE)),
        (with("messages", json!([])), None),
        (given(json!({"type": "tool", "content": "x", "tool_call_id": "lost"})), None),
        (given(json!({"type": "tool", "content": "x", "tool_call_id": ""})), None),
    ] {
        let clauses = |answer| clauses(&input, answer).first().copied();
        assert_eq!(clauses(AgentReply::Refusal("ValueError")), expected, "{input}");
        assert_eq!(clauses(AgentReply::Output(json!({"requests": [], "failure": "ValueError"}))), expected, "{input}");
    }
    let ruling = judge(&sound().0.to_string(), &Others::default(), Abilities::default(), AgentReply::Refusal("no"))
        .expect("a run");
    assert!(ruling.findings()[0].what.contains("is `ok` with the `requests` so far and `failure`"), "how to word it");
    assert!(matches!(ruling.holds(property("agent-start")), Holding::Blocked(_)), "nothing holds unseen");
}

#[test]
fn earlier_runs_are_judged_by_every_must_clause() {
    let (input, output) = sound();
    let inputs = [input.to_string(), input.to_string()];
    let judged = |step: usize, output: Value| {
        let answer = AgentReply::Output(output);
        let earlier = judge_earlier(&inputs[step], &Others::of(&inputs), step, Abilities::default(), answer);
        earlier.expect("a run").iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(judged(0, output.clone()), [""; 0]);
    let mut out_of_order = output.clone();
    from_second(&mut out_of_order, |list| list.swap(3, 4));
    assert_eq!(judged(0, out_of_order), [""; 0], "AGENT-ORDER is a `should`");
    let mut cut = output;
    cut["requests"].as_array_mut().expect("requests").pop();
    let expected = "AGENT-GOES-ON: the run ends after request 1, although the response to it has 2 calls";
    assert_eq!(judged(1, cut), [expected]);
}

#[test]
fn the_end_of_a_run_that_fails_at_its_limit_is_judged_where_only_the_limit_can_have_ended_it() {
    let (mut input, _) = sound();
    let mut output = run(&input);
    // The response of the last request before the limit is not handed back.
    input["maxRecursionDepth"] = json!(1);
    output["requests"].as_array_mut().expect("requests").truncate(1);
    let first = output["requests"][0].clone();
    output["messages"] = first;
    assert_eq!(clauses(&input, AgentReply::Output(output.clone())), [clause::AGENT_END]);
    output["failure"] = json!("reused an id");
    assert_eq!(clauses(&input, AgentReply::Output(output.clone())), [""; 0]);
    // One request more, which the limit permits.
    input["maxRecursionDepth"] = json!(1);
    input["model"][1]["tool_calls"] = json!([{"id": "c3", "name": "a", "args": {}}]);
    let mut output = failing(&input);
    output["requests"].as_array_mut().expect("requests").truncate(2);
    output["messages"] = output["requests"][1].clone();
    assert_eq!(clauses(&input, AgentReply::Output(output)), [clause::AGENT_END]);
}
