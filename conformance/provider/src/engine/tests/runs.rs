//! Whole runs, from a case's input to the output of op `tools`.

use super::*;
use crate::compose;
use threadspec_judge::protocol::{RejectKind, Reply};

fn input() -> Value {
    json!({"messages": [{"type": "system", "content": "Be brief."}, {"type": "human", "content": "Go"}],
        "model": [look(), {"content": "Done"}], "tools": {"look": {"byId": {"call_a": "r1", "call_b": "r2"}}}})
}

fn planned(api: Api, stream: bool) -> RunPlan {
    RunPlan { stream, ..RunPlan::of_case_input(api, &input().to_string()).expect("a plan") }
}

fn composed(wire: Wire, reply: Value) -> Value {
    let EndedRun { plan, record, .. } = wire.over();
    match compose(&plan, &record, Reply::Ok(reply)) {
        Reply::Ok(output) => output,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_run_of_two_rounds_is_what_an_adapter_would_say() {
    for api in Api::ALL {
        for stream in [false, true] {
            let mut wire = Wire::of_plan(planned(api, stream));
            let first = body(api, stream);
            wire.ask(&first);
            wire.ask(&next(api, first, "I look.", &looked(), &["r1", "r2"]));
            let output = composed(wire, json!({"failure": null, "requests": "ignored"}));
            let start = json!([{"type": "system", "content": "Be brief."}, {"type": "human", "content": "Go"}]);
            let calls = json!([{"id": "call_a", "name": "look", "args": {"n": 1}}, {"id": "call_b", "name": "look", "args": {"n": 2}}]);
            let mut second = start.clone();
            second.as_array_mut().expect("messages").extend([
                json!({"type": "ai", "content": "I look.", "tool_calls": calls}),
                json!({"type": "tool", "content": "r1", "tool_call_id": "call_a"}),
                json!({"type": "tool", "content": "r2", "tool_call_id": "call_b"}),
            ]);
            assert_eq!(output["requests"], json!([start, second]), "{api}");
            let wire = &output["wire"];
            assert_eq!((&wire["api"], &wire["stream"]), (&json!(api.to_string()), &json!(stream)));
            assert_eq!(wire["said"], json!([{"content": "I look.", "tool_calls": calls}, {"content": "Done"}]));
            assert_eq!(wire.get("unsupported"), None);
        }
    }
}

#[test]
fn an_ask_that_failed_for_good_is_an_error_with_what_came() {
    let mut input = input();
    input["model"][0]["attempts"] = json!([{"cut": "call"}]);
    let plan = RunPlan { stream: true, ..RunPlan::of_case_input(Api::Anthropic, &input.to_string()).expect("a plan") };
    let mut wire = Wire::of_plan(plan);
    wire.ask(&body(Api::Anthropic, true));
    let output = composed(wire, json!({"failure": "it broke off"}));
    assert_eq!(output["requests"].as_array().map(Vec::len), Some(1));
    assert_eq!(
        output["wire"]["said"],
        json!([{"error": "the answer broke off", "content": "I look.", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}]}])
    );
    assert_eq!(output["failure"], "it broke off");
}

#[test]
fn only_the_last_attempt_of_an_ask_is_a_request() {
    let mut input = input();
    input["model"] = json!([{"content": "Done", "attempts": [{"status": 500}]}]);
    let plan = RunPlan::of_case_input(Api::OpenAiChat, &input.to_string()).expect("a plan");
    let mut wire = Wire::of_plan(plan);
    wire.ask(&body(Api::OpenAiChat, false));
    wire.ask(&body(Api::OpenAiChat, false));
    let output = composed(wire, json!({}));
    assert_eq!(
        (output["requests"].as_array().map(Vec::len), &output["wire"]["said"]),
        (Some(1), &json!([{"content": "Done"}]))
    );
}

#[test]
fn ids_and_names_that_the_api_refuses_get_their_own_back() {
    let api = Api::Anthropic;
    let mut input = input();
    input["model"][0]["tool_calls"] = json!([{"id": "a b", "name": "odd name", "args": {"n": 1}}, {"id": "call_b", "name": "look", "args": {"n": 2}}]);
    let mut wire = Wire::of_plan(RunPlan::of_case_input(api, &input.to_string()).expect("a plan"));
    let first = body(api, false);
    wire.ask(&first);
    let sent = [("a_b", "odd_name", json!({"n": 1})), ("call_b", "look", json!({"n": 2}))];
    wire.ask(&next(api, first, "I look.", &sent, &["r1", "r2"]));
    let output = composed(wire, json!({}));
    let second = &output["requests"][1];
    assert_eq!(
        (&second[2]["tool_calls"][0]["id"], &second[2]["tool_calls"][0]["name"]),
        (&json!("a b"), &json!("odd name"))
    );
    assert_eq!((&second[3]["tool_call_id"], &second[4]["tool_call_id"]), (&json!("a b"), &json!("call_b")));
}

#[test]
fn what_keeps_a_case_from_being_judged_is_said() {
    let why = |plan: RunPlan, body: Value| {
        let mut wire = Wire::of_plan(plan);
        wire.ask(&body);
        composed(wire, json!({}))["wire"]["unsupported"].take()
    };
    let chat = |members: Value| {
        let mut body = body(Api::OpenAiChat, false);
        body["tools"] = json!([{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]);
        body.as_object_mut().expect("a body").extend(members.as_object().expect("members").clone());
        body
    };
    let plain = || planned(Api::OpenAiChat, false);
    assert_eq!(why(planned(Api::OpenAiChat, true), chat(json!({}))), "no request asks the provider for a stream");
    assert_eq!(why(plain(), chat(json!({}))), Value::Null);
    for members in [
        json!({"parallel_tool_calls": false}),
        json!({"tool_choice": "none"}),
        json!({"tool_choice": {"type": "function", "function": {"name": "other"}}}),
    ] {
        assert!(why(plain(), chat(members.clone())).is_string(), "{members}");
    }
    let thinking = |on: bool| {
        let mut wanted = planned(Api::Anthropic, false);
        wanted.reasoning = true;
        let mut body = body(Api::Anthropic, false);
        if on {
            body["thinking"] = json!({"type": "enabled", "budget_tokens": 1024});
        }
        why(wanted, body)
    };
    assert_eq!((thinking(false), thinking(true)), (json!("no request switches the model's thinking on"), Value::Null));
    let mut raw = input();
    raw["model"] = json!([{"tool_calls": [{"id": "a", "name": "look", "arguments": "{\"n\":"}]}]);
    let raw = |stream| {
        let raw = RunPlan::of_case_input(Api::Anthropic, &raw.to_string()).expect("a plan");
        why(raw, body(Api::Anthropic, stream))
    };
    assert!(raw(false).is_string() && raw(true).is_null());
}

#[test]
fn who_never_asked_the_model_refused() {
    let EndedRun { plan, record, .. } = Wire::of_plan(planned(Api::OpenAiChat, false)).over();
    let refusal = Reply::Reject { kind: RejectKind::InvalidInput, message: "no messages".into() };
    assert_eq!(compose(&plan, &record, refusal.clone()), refusal);
    assert_eq!(compose(&plan, &record, Reply::Ok(json!({"failure": "no messages"}))), refusal);
    assert_eq!(compose(&plan, &record, Reply::Unsupported("why".into())), Reply::Unsupported("why".into()));
    let Reply::Ok(output) = compose(&plan, &record, Reply::Ok(json!({}))) else { panic!("an output") };
    assert_eq!(output["requests"], json!([]));
    let mut wire = Wire::of_plan(planned(Api::OpenAiChat, false));
    wire.ask(&body(Api::OpenAiChat, false));
    let EndedRun { plan, record, .. } = wire.over();
    let Reply::Ok(output) = compose(&plan, &record, refusal) else { panic!("an output") };
    assert_eq!((&output["failure"], output["requests"].as_array().map(Vec::len)), (&json!("no messages"), Some(1)));
}

#[test]
fn a_record_comes_back_from_its_transcript() {
    for api in Api::ALL {
        let mut input = input();
        input["model"][0]["attempts"] = json!([{"status": 429, "retryAfterMs": 30}, {"cut": "text"}]);
        let mut wire = Wire::of_plan(RunPlan::of_case_input(api, &input.to_string()).expect("a plan"));
        let first = body(api, true);
        (0..3).for_each(|_| drop(wire.ask(&first)));
        if api == Api::OpenAiResponses {
            let id = wire.ask(&first).events()[0]["response"]["id"].clone();
            wire.ask(&json!({"model": "gpt-4.1", "previous_response_id": id, "input": "Go on"}));
        }
        wire.ask(&json!({"not": "a request"}));
        let record = wire.over().record;
        let text = serde_json::to_string(&record).expect("JSON");
        let again: crate::WireRecord = serde_json::from_str(&text).expect("a record");
        assert_eq!(again, record);
    }
}

#[test]
fn every_case_over_the_wire_is_a_plan() {
    let (corpus, _) = threadspec_judge::corpus::embedded();
    let cases: Vec<_> = corpus.cases.iter().filter(|case| case.needs_wire()).collect();
    for case in &cases {
        let input = case.request(1, threadspec_judge::protocol::JudgeProfile::Universal).input;
        let plan = RunPlan::of_case_input(Api::OpenAiChat, &input);
        assert!(
            plan.is_ok_and(|plan| !plan.turns.is_empty()),
            "{}: {:?}",
            case.id,
            RunPlan::of_case_input(Api::OpenAiChat, &input).err()
        );
    }
    assert!(cases.len() > 120, "{}", cases.len());
}
