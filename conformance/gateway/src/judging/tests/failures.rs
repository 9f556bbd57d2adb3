//! Answers that fail, and what the client hears of it.

use super::*;
use threadspec_golden::clause;

fn ask(api: Api, stream: bool) -> Value {
    changed(&body(api, &[]), |body| {
        if stream {
            body["stream"] = true.into();
        }
    })
}

fn of_failure(
    client: Api,
    api: Api,
    stream: bool,
    fault: Value,
    told: impl FnOnce(Option<ClientResponse>) -> Option<ClientResponse>,
) -> Vec<&'static str> {
    let turns = json!([{"content": "I look for it.", "tool_calls": [{"id": "call_a", "name": "look", "args": {"n": 1}}], "attempts": [fault]}]);
    let (sent, arrived) = (ask(client, stream), ask(api, stream));
    Wire::new(client, api, turns).exchange(&sent, |wire| told(wire.ask(&arrived))).clauses()
}

fn error(status: u16, message: &str) -> Option<ClientResponse> {
    own(status, json!({"error": {"message": message, "type": "error"}}))
}

/// A stream of chat completions with these chunks.
fn stream(chunks: &[Value], is_done: bool) -> Option<ClientResponse> {
    let mut bytes: Vec<u8> = chunks.iter().flat_map(|chunk| event(None, &chunk.to_string(), false)).collect();
    if is_done {
        bytes.extend(event(None, "[DONE]", false));
    }
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    Some(ClientResponse { status: 200, headers, pieces: vec![bytes], is_whole: true })
}

fn chunk(delta: Value, finish: Value) -> Value {
    json!({"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
}

#[test]
fn a_status_keeps_its_meaning() {
    let message = "Too many";
    for (status, told, expected) in [
        (400, 400, None),
        (400, 422, None),
        (400, 500, Some(clause::GATE_STATUS)),
        (400, 200, Some(clause::GATE_STATUS)),
        (401, 401, None),
        (401, 403, Some(clause::GATE_STATUS)),
        (404, 400, None),
        (429, 429, None),
        (429, 500, Some(clause::GATE_STATUS)),
        (429, 400, Some(clause::GATE_STATUS)),
        (500, 502, None),
        (500, 503, None),
        (500, 400, Some(clause::GATE_STATUS)),
        (529, 500, None),
        (503, 404, Some(clause::GATE_STATUS)),
    ] {
        for stream in [false, true] {
            let fault = json!({"status": status, "message": message});
            let found = of_failure(CHAT, ANTHROPIC, stream, fault, |_| error(told, message));
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{status} {told}");
        }
    }
    assert_eq!(of_failure(CHAT, ANTHROPIC, false, json!({"status": 400}), |_| None), [clause::GATE_STATUS]);
}

#[test]
fn words_and_the_time_to_wait_come_through() {
    let fault = || json!({"status": 429, "message": "Slow down, please", "retryAfterMs": 1500});
    let told = |message: &str, headers: &[(&str, &str)]| {
        let mut response = error(429, message).expect("a response");
        response.headers.extend(headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())));
        of_failure(CHAT, ANTHROPIC, false, fault(), |_| Some(response))
    };
    assert_eq!(told("gateway: Slow down, please", &[("retry-after", "2")]), [""; 0]);
    assert_eq!(told("AnthropicException: {\"message\":\"Slow down, please\"}", &[("retry-after-ms", "1500")]), [""; 0]);
    assert_eq!(told("Slow down, please", &[("retry-after", "60")]), [clause::GATE_WAIT]);
    assert_eq!(told("Slow down, please", &[("retry-after", "1")]), [clause::GATE_WAIT]);
    assert_eq!(told("Slow down, please", &[]), [clause::GATE_WAIT]);
    assert_eq!(told("Error", &[("retry-after", "2")]), [clause::GATE_WORDS]);
}

#[test]
fn no_answer_is_a_failure_that_may_pass() {
    for fault in [json!({"hang": 100}), json!({"cut": "head"})] {
        for (status, expected) in
            [(500, None), (504, None), (400, Some(clause::GATE_STATUS)), (200, Some(clause::GATE_STATUS))]
        {
            let found = of_failure(CHAT, ANTHROPIC, false, fault.clone(), |_| error(status, "no answer"));
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{fault} {status}");
        }
        assert_eq!(of_failure(CHAT, ANTHROPIC, false, fault, |_| None), [""; 0]);
    }
}

#[test]
fn an_answer_that_broke_off_does_not_end_as_a_whole_one() {
    let begin = || chunk(json!({"role": "assistant", "content": "I lo"}), Value::Null);
    let call = || {
        chunk(
            json!({"tool_calls": [{"index": 0, "id": "call_a", "type": "function", "function": {"name": "look", "arguments": "{\"n\""}}]}),
            Value::Null,
        )
    };
    let stop = || chunk(json!({}), json!("stop"));
    let failed = || json!({"error": {"message": "upstream closed", "type": "server_error"}});
    for fault in [
        json!({"cut": "text", "how": "end"}),
        json!({"cut": "arguments", "how": "end"}),
        json!({"cut": "arguments", "how": "reset"}),
        json!({"cut": "stop"}),
        json!({"event": "error", "after": "text"}),
        json!({"garbage": true}),
    ] {
        for (chunks, is_done, expected) in [
            (vec![begin(), call(), stop()], true, Some(clause::GATE_CUT)),
            (vec![begin(), stop()], true, Some(clause::GATE_CUT)),
            (vec![begin()], true, None),
            (vec![begin()], false, None),
            (vec![begin(), failed()], false, None),
            (vec![begin(), failed()], true, None),
            (vec![], false, None),
        ] {
            let found = of_failure(CHAT, ANTHROPIC, true, fault.clone(), |_| stream(&chunks, is_done));
            assert_eq!(found, expected.into_iter().collect::<Vec<_>>(), "{fault} {chunks:?}");
        }
        assert_eq!(of_failure(CHAT, ANTHROPIC, true, fault.clone(), |_| error(502, "upstream closed")), [""; 0]);
        assert_eq!(
            of_failure(CHAT, ANTHROPIC, true, fault.clone(), |_| error(400, "upstream closed")),
            [clause::GATE_STATUS]
        );
        assert_eq!(of_failure(CHAT, ANTHROPIC, true, fault, |_| None), [""; 0]);
    }
}

#[test]
fn a_plain_answer_that_broke_off_is_none() {
    let whole = || {
        own(
            200,
            json!({"id": "c", "object": "chat.completion", "model": "m", "choices": [{"index": 0, "message": {"role": "assistant", "content": "I look"}, "finish_reason": "stop"}]}),
        )
    };
    for fault in [json!({"cut": "text", "how": "end"}), json!({"cut": "text"}), json!({"garbage": true})] {
        assert_eq!(of_failure(CHAT, ANTHROPIC, false, fault.clone(), |_| whole()), [clause::GATE_CUT]);
        assert_eq!(of_failure(CHAT, ANTHROPIC, false, fault.clone(), |_| error(502, "half an answer")), [""; 0]);
        assert_eq!(of_failure(CHAT, CHAT, false, fault, |response| response), [""; 0]);
    }
}

#[test]
fn a_failure_is_not_put_into_the_mouth_of_the_model() {
    let chunks = [
        chunk(json!({"role": "assistant", "content": "I look"}), Value::Null),
        chunk(json!({"content": "\n[error: upstream closed]"}), Value::Null),
    ];
    let found = of_failure(CHAT, ANTHROPIC, true, json!({"cut": "text"}), |_| stream(&chunks, false));
    assert_eq!(found, [clause::GATE_INVENTED]);
}
