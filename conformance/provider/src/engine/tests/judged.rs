//! Requests are judged before they are answered.

use super::*;
use crate::record::BreachOutcome;

/// Returns the outcome of each breach of the last attempt.
fn outcomes(wire: Wire) -> Vec<(String, BreachOutcome)> {
    let record = wire.over().record;
    let attempt = record.attempts.last().expect("an attempt");
    attempt.breaches.iter().map(|breach| (breach.rule.clone(), breach.outcome)).collect()
}

#[test]
fn a_broken_rule_is_answered_in_its_words() {
    for (api, list, wrong, status, message, rule) in [
        (
            Api::OpenAiChat,
            "messages",
            json!([{"role": "user", "content": "Go"}, {"role": "tool", "tool_call_id": "x", "content": "r"}]),
            400,
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
            "OAI-CHAT-ORPHAN",
        ),
        (
            Api::OpenAiResponses,
            "input",
            json!([{"role": "user", "content": "Go"}, {"type": "function_call_output", "call_id": "x", "output": "r"}]),
            400,
            "No tool call found for function call output with call_id x.",
            "OAI-RESP-ORPHAN",
        ),
        (
            Api::Anthropic,
            "messages",
            json!([{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "r"}]}]),
            400,
            "messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: x. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.",
            "ANT-ORPHAN",
        ),
    ] {
        let mut wire = Wire::of(api, json!([{"content": "Done"}]));
        let mut body = body(api, false);
        body[list] = wrong;
        let answered = wire.ask(&body);
        assert_eq!((answered.answer.status, &answered.json()["error"]["message"]), (status, &json!(message)));
        assert_eq!(outcomes(wire), [(rule.to_owned(), BreachOutcome::Refused)]);
    }
}

#[test]
fn the_version_of_anthropic_is_required() {
    let mut wire = Wire::of(Api::Anthropic, json!([{"content": "Done"}]));
    let (_, reaction) =
        wire.send("POST", "/v1/messages", &[("x-api-key", KEY)], &body(Api::Anthropic, false).to_string());
    let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
    assert_eq!(
        (answer.status, &TakenAnswer { answer }.json()["error"]["message"]),
        (400, &json!("anthropic-version: header is required"))
    );
    assert_eq!(outcomes(wire), [("ANT-VERSION".to_owned(), BreachOutcome::Refused)]);
}

#[test]
fn what_only_some_servers_refuse_is_answered_and_noted() {
    let api = Api::OpenAiChat;
    let mut wire = Wire::of(api, json!([{"content": "Done"}]));
    let mut body = body(api, false);
    body["messages"].as_array_mut().expect("messages").extend([
        json!({"role": "assistant", "content": null, "tool_calls": [{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"n\":"}}]}),
        json!({"role": "tool", "tool_call_id": "a", "content": "r"}),
    ]);
    assert_eq!(wire.ask(&body).answer.status, 200);
    assert_eq!(outcomes(wire), [("OAI-CHAT-ARGS-JSON".to_owned(), BreachOutcome::Possible)]);
}

#[test]
fn whoever_repeats_what_was_said_or_given_breaks_no_rule_of_form() {
    let api = Api::Anthropic;
    let said = json!({"tool_calls": [{"id": "a b", "name": "odd name", "args": {}}]});
    let input =
        json!({"messages": [{"type": "human", "content": " "}], "model": [said, {"content": "Done"}], "tools": {}});
    let plan = RunPlan::of_case_input(api, &input.to_string()).expect("a plan");
    let mut wire = Wire::of_plan(plan);
    let mut first = body(api, false);
    first["messages"] = json!([{"role": "user", "content": " "}]);
    assert_eq!(wire.ask(&first).answer.status, 200);
    first["messages"].as_array_mut().expect("messages").extend([
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "a b", "name": "odd name", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a b", "content": "r"}]}),
    ]);
    assert_eq!(wire.ask(&first).answer.status, 200);
    let found = outcomes(wire);
    // Of a name in a call with other characters it is not known that the API refuses it.
    let is_no_fault = |outcome| matches!(outcome, BreachOutcome::Excused | BreachOutcome::Possible);
    assert!(found.len() >= 3 && found.iter().all(|(_, outcome)| is_no_fault(*outcome)), "{found:?}");
    // Nobody said this id.
    let mut wire = Wire::of(api, json!([{"content": "Done"}]));
    let mut other = body(api, false);
    other["messages"].as_array_mut().expect("messages").extend([
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": "c d", "name": "look", "input": {}}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c d", "content": "r"}]}),
    ]);
    assert_eq!(wire.ask(&other).answer.status, 400);
}

#[test]
fn thinking_comes_back_as_it_was() {
    let api = Api::Anthropic;
    let turn = json!({"thinking": [{"text": "Hm.", "signature": "sig"}], "tool_calls": [{"id": "a", "name": "look", "args": {}}]});
    for (signature, status) in [("sig", 200), ("forged", 400)] {
        let mut wire = Wire::of(api, json!([turn, {"content": "Done"}]));
        let mut body = body(api, false);
        body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
        wire.ask(&body);
        body["messages"].as_array_mut().expect("messages").extend([
            json!({"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm.", "signature": signature}, {"type": "tool_use", "id": "a", "name": "look", "input": {}}]}),
            json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]}),
        ]);
        assert_eq!(wire.ask(&body).answer.status, status, "{signature}");
    }
}

/// Claude Code sends such messages, and the API takes them; an empty message of the user it refuses.
#[test]
fn a_system_message_between_others_may_be_empty() {
    let api = Api::Anthropic;
    for (role, content, status) in
        [("system", json!(""), 200), ("system", json!([]), 200), ("user", json!(""), 400), ("user", json!([]), 400)]
    {
        let mut wire = Wire::of(api, json!([{"content": "Done"}]));
        let mut body = body(api, false);
        body["model"] = json!("claude-opus-5");
        body["messages"].as_array_mut().expect("messages").push(json!({"role": role, "content": content}));
        assert_eq!(wire.ask(&body).answer.status, status, "{role}: {content}");
    }
}

/// With `display` `omitted` the API sends a thought without its text, which comes back so.
#[test]
fn omitted_thinking_comes_back_empty() {
    let api = Api::Anthropic;
    let turn = json!({"thinking": [{"text": "Hm.", "signature": "sig"}], "tool_calls": [{"id": "a", "name": "look", "args": {}}]});
    for stream in [false, true] {
        for (text, status) in [("", 200), ("Hm.", 400)] {
            let mut wire = Wire::of(api, json!([turn, {"content": "Done"}]));
            let mut body = body(api, stream);
            body["thinking"] = json!({"type": "adaptive", "display": "omitted"});
            let said = wire.ask(&body).answer;
            assert_eq!(said.status, 200);
            body["messages"].as_array_mut().expect("messages").extend([
                json!({"role": "assistant", "content": [{"type": "thinking", "thinking": text, "signature": "sig"}, {"type": "tool_use", "id": "a", "name": "look", "input": {}}]}),
                json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "r"}]}),
            ]);
            assert_eq!(wire.ask(&body).answer.status, status, "{text:?}");
        }
    }
}
