//! How a run goes on and ends.

use super::*;
use std::time::{Duration, Instant};
use threadspec_golden::clause;

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
            // The last call is answered, so that the list at the end is valid.
            messages(&mut output["messages"]).truncate(1 + 2 * requests);
            let found = ruling(&input(limit), &output);
            let clauses: Vec<&str> = found.findings().iter().map(|found| found.clause).collect();
            let expected = match requests {
                _ if allowed.contains(&requests) => Vec::new(),
                few if few < *allowed.start() => vec![clause::AGENT_GOES_ON],
                _ => vec![clause::AGENT_LIMIT],
            };
            assert_eq!(clauses, expected, "limit {limit}, {requests} requests");
            messages(&mut output["messages"]).pop();
            let cut = ruling(&input(limit), &output);
            assert_eq!(cut.findings().iter().any(|found| found.clause == clause::AGENT_END), expected.is_empty());
        }
    }
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
        &["AGENT-MODEL-FAILURE: the list at the end, message 6: the model never sent \"Sorry\""],
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

/// A sound run of two rounds in which the model uses `c1` again; `new` are the ids that the second round is sent with.
fn reused(new: [&str; 2]) -> (Value, Value) {
    let (mut input, _) = sound();
    let again =
        json!({"tool_calls": [{"id": "c1", "name": "a", "args": {"x": 1}}, {"id": "c3", "name": "a", "args": {}}]});
    input["model"].as_array_mut().expect("turns").insert(1, again);
    input["tools"]["a"]["byId"]["c3"] = json!("three");
    let mut output = run(&input);
    for list in ["/requests/2", "/messages"] {
        let list = messages(output.pointer_mut(list).expect("a list"));
        for (position, new) in new.iter().enumerate() {
            list[5]["tool_calls"][position]["id"] = json!(new);
            list[6 + position]["tool_call_id"] = json!(new);
        }
    }
    (input, output)
}

#[test]
fn an_id_that_is_given_away_may_be_replaced_as_well() {
    let (input, output) = reused(["c3", "c4"]);
    assert_found(&input, &output, &[]);
    let (input, output) = reused(["c9", "c4"]);
    assert_found(&input, &output, &["AGENT-IDS: request 3, message 6: the id `c3` became `c4`"]);
}

#[test]
fn the_list_at_the_end_may_have_the_models_own_ids() {
    let (input, mut output) = reused(["c9", "c3"]);
    let own = run(&input)["messages"].clone();
    output["messages"] = own;
    assert_found(&input, &output, &[]);
    messages(&mut output["messages"])[6]["content"] = json!("two");
    let lost = "AGENT-END: the list at the end: message 7 of the last request is missing: the answer to `c9`, \"one\"";
    assert_found(&input, &output, &[lost]);
}

#[test]
fn the_list_at_the_end_of_an_aborted_run_is_not_judged() {
    let (mut input, _) = sound();
    input["tools"]["a"]["byId"]["c1"] = json!({"error": "boom"});
    let output = json!({"requests": [input["messages"]], "messages": input["messages"], "failure": "boom"});
    let found = ruling(&input, &output);
    assert!(found.findings().iter().all(|finding| finding.clause == clause::AGENT_FAILURE), "{:?}", found.findings());
}

#[test]
fn a_response_that_is_refused_at_the_limit_is_not_handed_back() {
    let (mut input, _) = sound();
    input["model"][0]["tool_calls"][1]["id"] = json!("c1");
    input["maxRecursionDepth"] = json!(0);
    let refused = json!({"requests": [input["messages"]], "messages": input["messages"], "failure": "an id twice"});
    assert_found(&input, &refused, &[]);
    input["model"][0]["tool_calls"][1]["id"] = json!("c2");
    let lost = ["AGENT-END: the list at the end: the last response is missing: \"I look.\" with its calls"];
    assert_found(&input, &refused, &lost);
}

/// A reply may be long: what is wrong in it is found in a time that grows with it, not with its square.
#[test]
fn a_long_wrong_run_is_judged_in_time() {
    const MANY: usize = 40_000;
    let input = json!({"messages": [{"type": "human", "content": "Go"}], "model": [{"error": "overloaded"}]});
    let call = |id: String| json!({"type": "ai", "content": "x", "tool_calls": [{"id": id, "name": "f", "args": {}}]});
    let list = |kind: &str| -> Vec<Value> { (0..MANY).map(|number| call(format!("{kind}{number}"))).collect() };
    let (request, end) = ([input["messages"].as_array().expect("a list").clone(), list("a")].concat(), list("b"));
    let begun = Instant::now();
    let ruling = ruling(&input, &json!({"requests": [request], "messages": end, "given": input["messages"]}));
    let of = |clause: &str| ruling.findings().iter().filter(|finding| finding.clause == clause).count();
    assert_eq!(of(clause::AGENT_MODEL_FAILURE), MANY);
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}
