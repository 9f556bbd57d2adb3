//! Faults: what each of them sends, in every API, plain and as a stream.

use super::*;
use crate::exchange::WireStep;

/// Returns the reaction to the first attempt of a turn with this fault.
fn faulty(api: Api, stream: bool, fault: Value) -> (Wire, Reaction) {
    let mut turn = look();
    turn["attempts"] = json!([fault]);
    let mut wire = Wire::of(api, json!([turn]));
    let (id, reaction) = wire.begin(&body(api, stream));
    let whole = matches!(&reaction, Reaction::Answer(answer) if answer.ending == PlannedEnd::Whole);
    wire.end(id, whole);
    (wire, reaction)
}

fn answer(api: Api, stream: bool, fault: Value) -> TakenAnswer {
    let (_, reaction) = faulty(api, stream, fault);
    let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
    TakenAnswer { answer }
}

#[test]
fn a_status_is_the_error_of_its_row() {
    for stream in [false, true] {
        for (api, status, kind, code, message) in [
            (
                Api::OpenAiChat,
                429,
                "requests",
                json!("rate_limit_exceeded"),
                "Rate limit reached for gpt-4.1 in organization org-threadspec on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 50ms. Visit ",
            ),
            (
                Api::OpenAiResponses,
                500,
                "server_error",
                Value::Null,
                "The server had an error while processing your request. Sorry about that!",
            ),
            (
                Api::OpenAiChat,
                503,
                "server_error",
                Value::Null,
                "The server is currently overloaded with other requests. Sorry about that!",
            ),
            (
                Api::Anthropic,
                429,
                "rate_limit_error",
                Value::Null,
                "This request would exceed your account's rate limit. Please try again later.",
            ),
            (Api::Anthropic, 500, "api_error", Value::Null, "Internal server error"),
            (Api::Anthropic, 529, "overloaded_error", Value::Null, "Overloaded"),
        ] {
            let answered = answer(api, stream, json!({ "status": status }));
            let error = &answered.json()["error"];
            assert_eq!(
                (answered.answer.status, &error["type"], &error["code"]),
                (status, &json!(kind), &code),
                "{api}"
            );
            assert!(error["message"].as_str().is_some_and(|text| text.starts_with(message)), "{error}");
            assert_eq!(answered.answer.header("content-type"), Some("application/json"));
            let id = if api == Api::Anthropic { "request-id" } else { "x-request-id" };
            let id = answered.answer.header(id).expect("an id").to_owned();
            assert_eq!(answered.json()["request_id"], if api == Api::Anthropic { json!(id) } else { Value::Null });
        }
    }
    let fault =
        json!({"status": 429, "retryAfterMs": 1030, "type": "t", "code": "c", "message": "m", "shouldRetry": false});
    let answered = answer(Api::OpenAiChat, false, fault);
    assert_eq!(answered.json()["error"], json!({"message": "m", "type": "t", "param": null, "code": "c"}));
    for (name, value) in [("retry-after", "2"), ("retry-after-ms", "1030"), ("x-should-retry", "false")] {
        assert_eq!(answered.answer.header(name), Some(value));
    }
}

#[test]
fn silence_ends_the_connection() {
    for api in Api::ALL {
        for (fault, after, ending) in [
            (json!({"hang": 200}), 200, PlannedEnd::Close),
            (json!({"cut": "head"}), 0, PlannedEnd::Close),
            (json!({"cut": "head", "how": "reset"}), 0, PlannedEnd::Reset),
        ] {
            let (wire, reaction) = faulty(api, true, fault);
            assert_eq!(reaction, Reaction::Silence { after: Duration::from_millis(after), ending });
            let attempt = &wire.over().record.attempts[0];
            assert!(attempt.status.is_none() && attempt.failed());
        }
        let answered = answer(api, true, json!({"cut": "head", "how": "end"}));
        assert_eq!((answered.answer.status, answered.text()), (200, String::new()));
    }
}

/// The pieces have four characters: text `I lo`, `ok.`; arguments `{"n"`, `:1}`.
#[test]
fn a_stream_is_cut_where_the_script_says() {
    for (api, cut, expected) in [
        (Api::OpenAiChat, json!("start"), r#"{"role":"assistant","content":"","refusal":null}"#),
        (Api::OpenAiChat, json!("text"), r#"{"content":"I lo"}"#),
        (Api::OpenAiChat, json!("arguments"), r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#),
        (Api::OpenAiChat, json!("call"), r#"{"tool_calls":[{"index":0,"function":{"arguments":":1}"}}]}"#),
        (Api::OpenAiChat, json!("stop"), r#"{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}"#),
        (Api::OpenAiChat, json!(2), r#"{"content":"I lo"}"#),
        (Api::OpenAiResponses, json!("start"), "response.created"),
        (Api::OpenAiResponses, json!("text"), "response.output_text.delta"),
        (Api::OpenAiResponses, json!("arguments"), "response.function_call_arguments.delta"),
        (Api::OpenAiResponses, json!("call"), "response.output_item.done"),
        (Api::OpenAiResponses, json!("stop"), "response.output_item.done"),
        (Api::OpenAiResponses, json!(3), "response.output_item.added"),
        (Api::Anthropic, json!("start"), "message_start"),
        (Api::Anthropic, json!("text"), "content_block_delta"),
        (Api::Anthropic, json!("arguments"), "content_block_delta"),
        (Api::Anthropic, json!("call"), "content_block_stop"),
        (Api::Anthropic, json!("stop"), "content_block_stop"),
        (Api::Anthropic, json!(0), ""),
    ] {
        for (how, ending) in [("close", PlannedEnd::Close), ("reset", PlannedEnd::Reset), ("end", PlannedEnd::Whole)] {
            let answered = answer(api, true, json!({"cut": cut, "how": how}));
            assert_eq!((answered.answer.status, answered.answer.ending), (200, ending), "{api} {cut}");
            let last = answered.events().last().map(|event| match api {
                Api::OpenAiChat => event["choices"][0]["delta"].to_string(),
                _ => event["type"].as_str().unwrap_or_default().to_owned(),
            });
            assert_eq!(last.as_deref().unwrap_or_default(), expected, "{api} {cut}");
        }
    }
}

#[test]
fn what_came_whole_is_recorded() {
    for api in Api::ALL {
        for (cut, text, calls, parts) in [
            ("start", "", vec![], vec![]),
            ("text", "I lo", vec![], vec![]),
            ("call", "I look.", vec![0], vec![]),
            ("stop", "I look.", vec![0, 1], vec![]),
        ] {
            let (wire, _) = faulty(api, true, json!({ "cut": cut }));
            let ended = wire.over();
            let came = &ended.record.attempts[0].came;
            let found: Vec<usize> = came.parts.iter().map(|part| part.call).collect();
            assert_eq!((&*came.text, &came.calls, found), (text, &calls, parts), "{api} {cut}");
            assert!(!came.whole && ended.record.attempts[0].failed());
        }
        if api == Api::Gemini {
            // Its arguments have no fragments.
            continue;
        }
        let (wire, _) = faulty(api, true, json!({"cut": "arguments"}));
        let came = wire.over().record.attempts[0].came.clone();
        assert!(
            came.calls.len() + came.parts.len() <= 2 && !came.parts.is_empty() || !came.calls.is_empty(),
            "{came:?}"
        );
    }
}

#[test]
fn a_plain_answer_is_cut_in_half() {
    for api in Api::ALL {
        let whole = answer(api, false, json!({"cut": "stop", "how": "close"}));
        let length = whole.answer.length.expect("a length");
        assert_eq!(whole.answer.body().len() as u64, length / 2, "{api}");
        assert_eq!(whole.answer.ending, PlannedEnd::Close);
        let clean = answer(api, false, json!({"cut": "text", "how": "end"}));
        assert_eq!(clean.answer.length, Some(clean.answer.body().len() as u64));
        let garbage = answer(api, false, json!({"garbage": true}));
        let body = garbage.answer.body();
        assert_eq!(body.len() as u64, length);
        assert!(body.ends_with(&[b' '; 100]) && serde_json::from_slice::<Value>(&body).is_err());
    }
}

#[test]
fn an_error_stands_inside_a_stream() {
    let server = "The server had an error while processing your request. Sorry about that!";
    for (api, fault, expected) in [
        (
            Api::OpenAiChat,
            json!({"event": "error", "after": "text"}),
            json!({"error": {"message": server, "type": "server_error", "param": null, "code": null}}),
        ),
        (
            Api::OpenAiResponses,
            json!({"event": "error", "after": 3}),
            json!({"type": "error", "code": "server_error", "message": server, "param": null, "sequence_number": 3}),
        ),
        (
            Api::Anthropic,
            json!({"event": "error", "after": "text"}),
            json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}),
        ),
    ] {
        let answered = answer(api, true, fault.clone());
        assert_eq!(answered.events().last(), Some(&expected), "{api}");
        assert_eq!((answered.answer.status, answered.answer.ending), (200, PlannedEnd::Whole));
        let plain = answer(api, false, fault);
        assert_eq!(plain.answer.status, if api == Api::Anthropic { 529 } else { 500 });
    }
    let answered = answer(Api::OpenAiResponses, true, json!({"event": "error", "after": "text", "failed": true}));
    let events = answered.events();
    let failed = events.last().expect("an event");
    assert_eq!((&failed["type"], &failed["response"]["status"]), (&json!("response.failed"), &json!("failed")));
    assert_eq!((&failed["response"]["output"], &failed["response"]["usage"]), (&json!([]), &Value::Null));
    assert_eq!(failed["response"]["error"], json!({"code": "server_error", "message": server}));
    assert_eq!(failed["sequence_number"], events.len() - 1);
}

#[test]
fn the_json_of_an_event_breaks_off() {
    for api in Api::ALL {
        let answered = answer(api, true, json!({"garbage": true}));
        let last = answered.events().pop().expect("an event");
        assert!(last.as_str().is_some_and(|text| text.starts_with('{')), "{api}: {last}");
        assert!(
            answered.answer.steps.iter().all(|step| matches!(step, WireStep::Write(bytes) if bytes.ends_with(b"\n\n")))
        );
    }
}
