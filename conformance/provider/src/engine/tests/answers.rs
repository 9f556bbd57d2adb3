//! The worked exchanges of the specification, member by member.

use super::*;

/// Replaces the ids that the provider makes by their prefix.
fn without_ids(value: &mut Value) {
    const PREFIXES: [&str; 7] = ["chatcmpl-", "resp_", "msg_01", "msg_", "fc_", "rs_", "req_"];
    match value {
        Value::String(text) => {
            let made = PREFIXES.iter().find(|prefix| {
                let rest = text.strip_prefix(**prefix).unwrap_or_default();
                rest.len() == 24 && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
            });
            if let Some(prefix) = made {
                *text = format!("{prefix}*");
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(without_ids),
        Value::Object(members) => members.values_mut().for_each(without_ids),
        _ => {}
    }
}

fn first_answer(api: Api) -> Value {
    let mut answer = Wire::of(api, json!([look()])).ask(&body(api, false)).json();
    without_ids(&mut answer);
    answer
}

#[test]
fn a_chat_completion_is_whole() {
    let mut answer = first_answer(Api::OpenAiChat);
    let usage = answer["usage"].take();
    assert_eq!((&usage["prompt_tokens"], &usage["prompt_tokens_details"]["cached_tokens"]), (&json!(18), &json!(0)));
    let call = |id: &str, n: u64| json!({"id": id, "type": "function", "function": {"name": "look", "arguments": format!("{{\"n\":{n}}}")}});
    assert_eq!(
        answer,
        json!({
            "id": "chatcmpl-*", "object": "chat.completion", "created": 1_790_000_001, "model": "gpt-4.1",
            "service_tier": "default", "system_fingerprint": "fp_threadspec",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "I look.", "refusal": null, "annotations": [],
                "tool_calls": [call("call_a", 1), call("call_b", 2)]}, "logprobs": null, "finish_reason": "tool_calls"}],
            "usage": null,
        })
    );
}

#[test]
fn a_response_is_whole() {
    let mut answer = first_answer(Api::OpenAiResponses);
    let usage = answer["usage"].take();
    assert_eq!(
        (&usage["input_tokens_details"]["cached_tokens"], &usage["output_tokens_details"]["reasoning_tokens"]),
        (&json!(0), &json!(0))
    );
    let call = |id: &str, n: u64| json!({"id": "fc_*", "type": "function_call", "status": "completed", "arguments": format!("{{\"n\":{n}}}"), "call_id": id, "name": "look"});
    assert_eq!(
        answer["output"],
        json!([
            {"id": "msg_*", "type": "message", "status": "completed", "role": "assistant",
             "content": [{"type": "output_text", "annotations": [], "logprobs": [], "text": "I look."}]},
            call("call_a", 1), call("call_b", 2),
        ])
    );
    for (name, expected) in [
        ("id", json!("resp_*")),
        ("object", json!("response")),
        ("created_at", json!(1_790_000_001)),
        ("status", json!("completed")),
        ("error", Value::Null),
        ("incomplete_details", Value::Null),
        ("instructions", json!("Be brief.")),
        ("previous_response_id", Value::Null),
        ("parallel_tool_calls", json!(true)),
        ("tool_choice", json!("auto")),
    ] {
        assert_eq!(answer[name], expected, "{name}");
    }
}

#[test]
fn a_message_is_whole() {
    let mut answer = first_answer(Api::Anthropic);
    let usage = answer["usage"].take();
    assert_eq!((&usage["cache_read_input_tokens"], &usage["service_tier"]), (&json!(0), &json!("standard")));
    assert_eq!(
        answer,
        json!({
            "id": "msg_01*", "type": "message", "role": "assistant", "model": "claude-sonnet-5",
            "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "id": "call_a", "name": "look", "input": {"n": 1}},
                {"type": "tool_use", "id": "call_b", "name": "look", "input": {"n": 2}}],
            "stop_reason": "tool_use", "stop_sequence": null, "usage": null,
        })
    );
}

#[test]
fn streams_have_the_events_of_their_api() {
    let types = |api: Api| -> Vec<String> {
        let mut wire = Wire::of(
            api,
            json!([{"content": "I look.", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}]}]),
        );
        let answered = wire.ask(&body(api, true));
        assert!(answered.text().starts_with(": keep-alive\n\n"));
        assert_eq!(answered.answer.header("content-type"), Some("text/event-stream; charset=utf-8"));
        assert_eq!(answered.answer.length, None);
        let name = |event: &Value| match event {
            Value::String(text) => text.clone(),
            event if api == Api::OpenAiChat => event["choices"][0]["delta"].to_string(),
            event => event["type"].as_str().unwrap_or_default().to_owned(),
        };
        answered.events().iter().map(name).collect()
    };
    assert_eq!(
        types(Api::OpenAiChat),
        [
            r#"{"role":"assistant","content":"","refusal":null}"#,
            r#"{"content":"I lo"}"#,
            r#"{"content":"ok."}"#,
            r#"{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"look","arguments":""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":"{\"n\""}}]}"#,
            r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#,
            "{}",
            "[DONE]",
        ]
    );
    assert_eq!(
        types(Api::OpenAiResponses),
        [
            "response.created",
            "response.in_progress",
            "response.output_item.added",
            "response.content_part.added",
            "response.output_text.delta",
            "response.output_text.delta",
            "response.output_text.done",
            "response.content_part.done",
            "response.output_item.done",
            "response.output_item.added",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.delta",
            "response.function_call_arguments.done",
            "response.output_item.done",
            "response.completed",
        ]
    );
    assert_eq!(
        types(Api::Anthropic),
        [
            "message_start",
            "ping",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "content_block_start",
            "content_block_delta",
            "content_block_delta",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop",
        ]
    );
}

#[test]
fn every_answer_has_the_headers_of_its_api() {
    for api in Api::ALL {
        let mut wire = Wire::of(api, json!([{"content": "Done"}]));
        let answered = wire.ask(&body(api, false));
        let names: &[&str] = match api {
            Api::Anthropic => &["request-id", "anthropic-organization-id", "anthropic-ratelimit-requests-reset"],
            Api::Gemini => &["vary"],
            Api::OpenAiChat | Api::OpenAiResponses => &[
                "x-request-id",
                "openai-version",
                "openai-processing-ms",
                "openai-organization",
                "x-ratelimit-reset-tokens",
            ],
        };
        for name in names {
            assert!(answered.answer.header(name).is_some(), "{api}: {name}");
        }
        assert_eq!(answered.answer.header("content-type"), Some("application/json"));
        assert_eq!(answered.answer.length, Some(answered.answer.body().len() as u64));
    }
}

#[test]
fn a_turn_may_be_said_in_other_ways() {
    let said = |api: Api, turn: Value| Wire::of(api, json!([turn])).ask(&body(api, false)).json();
    let refused = json!({"refusal": "No."});
    assert_eq!(said(Api::OpenAiChat, refused.clone())["choices"][0]["message"]["refusal"], "No.");
    assert_eq!(said(Api::OpenAiResponses, refused.clone())["output"][0]["content"][0]["type"], "refusal");
    assert_eq!(said(Api::Anthropic, refused)["stop_reason"], "refusal");
    let long = json!({"content": "I", "stop": "length"});
    assert_eq!(said(Api::OpenAiChat, long.clone())["choices"][0]["finish_reason"], "length");
    assert_eq!(said(Api::OpenAiResponses, long.clone())["incomplete_details"]["reason"], "max_output_tokens");
    assert_eq!(said(Api::Anthropic, long)["stop_reason"], "max_tokens");
    let thought = json!({"thinking": [{"text": "Hm.", "signature": "sig"}, {"redacted": "data"}], "content": "Yes"});
    let answer = said(Api::Anthropic, thought.clone());
    assert_eq!(answer["content"][0], json!({"type": "thinking", "thinking": "Hm.", "signature": "sig"}));
    assert_eq!(answer["content"][1], json!({"type": "redacted_thinking", "data": "data"}));
    assert_eq!(said(Api::OpenAiResponses, thought)["output"][0]["type"], "reasoning");
    // A call without an id gets one, and the same one in each repetition.
    let unnamed = || said(Api::Anthropic, json!({"tool_calls": [{"name": "look"}]}))["content"][0]["id"].take();
    assert!(unnamed().as_str().is_some_and(|id| id.starts_with("toolu_01") && id.len() == 32));
    assert_eq!(unnamed(), unnamed());
}

#[test]
fn half_characters_and_long_numbers_are_said_as_they_are_written() {
    let turns = r#"[{"content": "cut \ud83d", "tool_calls": [{"id": "a", "name": "look", "args": {"n": 123456789012345678901234567890, "half": "\ud83d"}}]}]"#;
    let plan = RunPlan::of_turns(Api::OpenAiChat, WireTurn::read_all(turns, "model").expect("turns"));
    let text = Wire::of_plan(plan).ask(&body(Api::OpenAiChat, false)).text();
    assert!(text.contains(r#""content":"cut \ud83d""#), "{text}");
    assert!(text.contains(r#"{\"n\":123456789012345678901234567890,\"half\":\"\\ud83d\"}"#), "{text}");
}

#[test]
fn bytes_come_as_the_script_divides_them() {
    let turn = json!({"content": "I look around", "stream": {"chunks": 16, "delayMs": 40, "crlf": true}});
    let answered = Wire::of(Api::Anthropic, json!([turn])).ask(&body(Api::Anthropic, true));
    assert_eq!(answered.answer.delay, Duration::from_millis(40));
    assert!(answered.text().starts_with(": keep-alive\r\n\r\nevent: message_start\r\n"));
    let mut steps = answered.answer.steps.iter();
    assert!(matches!(steps.next(), Some(crate::WireStep::Write(bytes)) if bytes.len() == 16));
    assert_eq!(steps.next(), Some(&crate::WireStep::Wait(Duration::from_micros(500))));
    let paused = json!({"content": "I look around", "stream": {"pauseMs": 5}});
    let answered = Wire::of(Api::Anthropic, json!([paused])).ask(&body(Api::Anthropic, true));
    let waits = answered.answer.steps.iter().filter(|step| matches!(step, crate::WireStep::Wait(_))).count();
    assert_eq!(2 * waits + 1, answered.answer.steps.len());
    let single = json!({"content": "x".repeat(5_000), "stream": {"chunks": 1}});
    let taken = Wire::of(Api::OpenAiChat, json!([single])).ask(&body(Api::OpenAiChat, true));
    let waits = taken.answer.steps.iter().filter(|step| matches!(step, crate::WireStep::Wait(_))).count();
    assert!(waits == 500 && taken.answer.steps.len() > 5_500);
}
