//! Tests the items that are kept for Responses, from one request to the next.

use super::*;

const API: Api = Api::OpenAiResponses;

fn turns() -> Value {
    json!([look(), {"content": "Done"}])
}

fn outputs() -> Value {
    json!([{"type": "function_call_output", "call_id": "call_a", "output": "r1"}, {"type": "function_call_output", "call_id": "call_b", "output": "r2"}])
}

/// The texts and ids of the messages of the last attempt.
fn messages(wire: Wire) -> Vec<Value> {
    let record = wire.over().record;
    let request = record.attempts.last().and_then(|attempt| attempt.request.clone()).expect("a request");
    request.messages.iter().map(threadspec_apis::WireMessage::to_json).collect()
}

fn expected(system: &str) -> Vec<Value> {
    vec![
        json!({"type": "system", "content": system}),
        json!({"type": "human", "content": "Go"}),
        json!({"type": "ai", "content": "I look.", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}, {"id": "call_b", "name": "look", "args": {"n": 2}}]}),
        json!({"type": "tool", "content": "r1", "tool_call_id": "call_a"}),
        json!({"type": "tool", "content": "r2", "tool_call_id": "call_b"}),
    ]
}

#[test]
fn a_request_goes_on_from_a_stored_response() {
    for stream in [false, true] {
        let mut wire = Wire::of(API, turns());
        let first = wire.ask(&body(API, stream));
        let id = if stream { first.events()[0]["response"]["id"].clone() } else { first.json()["id"].clone() };
        let second =
            json!({"model": "gpt-4.1", "instructions": "Be long.", "previous_response_id": id, "input": outputs()});
        let answered = wire.ask(&second);
        assert_eq!((answered.answer.status, &answered.json()["previous_response_id"]), (200, &id));
        assert_eq!(messages(wire), expected("Be long."));
    }
}

#[test]
fn items_are_named_by_their_ids() {
    let mut wire = Wire::of(API, turns());
    let first = wire.ask(&body(API, false)).json();
    let mut second = body(API, false);
    let items = second["input"].as_array_mut().expect("items");
    items.extend(
        first["output"]
            .as_array()
            .expect("items")
            .iter()
            .map(|item| json!({"type": "item_reference", "id": item["id"]})),
    );
    items.extend(outputs().as_array().expect("items").iter().cloned());
    assert_eq!(wire.ask(&second).answer.status, 200);
    assert_eq!(messages(wire), expected("Be brief."));
}

#[test]
fn a_conversation_is_a_list_that_grows() {
    let mut wire = Wire::of(API, turns());
    let mut first = body(API, false);
    first["conversation"] = "conv_1".into();
    wire.ask(&first);
    let second =
        json!({"model": "gpt-4.1", "instructions": "Be brief.", "conversation": {"id": "conv_1"}, "input": outputs()});
    assert_eq!(wire.ask(&second).answer.status, 200);
    assert_eq!(messages(wire), expected("Be brief."));
}

#[test]
fn what_is_stored_can_be_got_by_its_own_key_alone() {
    let mut wire = Wire::of(API, turns());
    let first = wire.ask(&body(API, false)).json();
    let path = format!("/v1/responses/{}", first["id"].as_str().expect("an id"));
    wire.engine.begin(wire.now, "other", RunPlan::of_turns(API, Vec::new()));
    for (key, status) in [(KEY, 200), ("other", 404)] {
        let (_, reaction) = wire.send("GET", &path, &[("x-api-key", key)], "");
        let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
        assert_eq!(answer.status, status);
        if status == 200 {
            assert_eq!(TakenAnswer { answer }.json(), first);
        }
    }
}

#[test]
fn what_was_not_stored_is_not_found() {
    let mut wire = Wire::of(API, turns());
    let mut first = body(API, false);
    first["store"] = false.into();
    let id = wire.ask(&first).json()["id"].clone();
    let answered = wire.ask(&json!({"model": "gpt-4.1", "previous_response_id": id, "input": outputs()}));
    let id = id.as_str().expect("an id");
    assert_eq!(
        (answered.answer.status, answered.json()["error"].take()),
        (
            400,
            json!({"message": format!("Previous response with id '{id}' not found."), "type": "invalid_request_error", "param": "previous_response_id", "code": "previous_response_not_found"})
        )
    );
    let answered = wire.ask(&json!({"model": "gpt-4.1", "input": [{"type": "item_reference", "id": "rs_1"}]}));
    let error = answered.json()["error"].take();
    assert_eq!(answered.answer.status, 404);
    assert!(
        error["message"].as_str().is_some_and(|text| text.starts_with("Item with id 'rs_1' not found. ")),
        "{error}"
    );
    let rules: Vec<String> = wire
        .over()
        .record
        .attempts
        .iter()
        .flat_map(|attempt| attempt.breaches.clone())
        .map(|breach| breach.rule)
        .collect();
    assert!(
        rules.contains(&"OAI-RESP-PREVIOUS".to_owned()) && rules.contains(&"OAI-RESP-STORE".to_owned()),
        "{rules:?}"
    );
}

#[test]
fn a_response_that_broke_off_is_not_stored() {
    let mut wire = Wire::of(API, json!([{"content": "Done", "attempts": [{"cut": "stop"}]}]));
    let first = wire.ask(&body(API, true));
    let id = first.events()[0]["response"]["id"].clone();
    let answered = wire.ask(&json!({"model": "gpt-4.1", "previous_response_id": id, "input": "Go on"}));
    assert_eq!(answered.answer.status, 400);
}
