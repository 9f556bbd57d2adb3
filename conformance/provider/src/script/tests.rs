//! Scripts: all that they may say, and where they are refused.

use super::*;
use threadspec_apis::Cut;

#[test]
fn a_turn_may_have_every_member() {
    let turn = WireTurn::read(
        r#"{"content": "I \ud83d", "tool_calls": [{"id": "a", "name": "look", "args": {"n": 1.0, "n": 1e400}}, {"name": "raw", "arguments": "{\"n\":"},
            {"name": "none"}, {"name": "null", "id": null, "args": null}],
            "thinking": [{"text": "Hm."}, {"text": "", "signature": "s"}, {"redacted": "d"}], "stop": "length",
            "stream": {"pieces": [1, 2], "chunks": 3, "interleave": true, "textLast": true, "ping": "all", "empty": true, "crlf": true, "utf8": true,
                "delayMs": 4, "pauseMs": 5}}"#,
    )
    .expect("a turn");
    assert_eq!(turn.content.as_deref(), Some("I \u{10d83d}"));
    let arguments: Vec<&str> = turn.calls.iter().map(|call| call.arguments.as_str()).collect();
    assert_eq!(arguments, [r#"{"n":1.0,"n":1e400}"#, r#"{"n":"#, "{}", "{}"]);
    let ids: Vec<Option<&str>> = turn.calls.iter().map(|call| call.id.as_deref()).collect();
    assert_eq!(ids, [Some("a"), None, None, None]);
    assert_eq!(turn.thinking[2], PlayedThought::Redacted("d".into()));
    assert_eq!(turn.thinking[0], PlayedThought::Open { text: "Hm.".into(), signature: None });
    let Pace { shape, has_pieces, crlf, chunks, delay, pause } = turn.stream;
    assert_eq!((chunks, delay.as_millis(), pause.as_millis()), (Some(3), 4, 5));
    assert!(has_pieces && crlf && !shape.ascii && shape.empty && shape.interleave && shape.text_last && shape.ping_all);
    assert_eq!(shape.pieces, Pieces::Lengths(vec![1, 2]));
    assert_eq!(WireTurn::read("{}").expect("a turn"), WireTurn::default());
    assert_eq!(WireTurn::read(r#"{"error": "m"}"#).expect("a turn"), WireTurn::failing("m"));
    assert_eq!(WireTurn::read(r#"{"refusal": "No."}"#).expect("a turn").refusal.as_deref(), Some("No."));
}

#[test]
fn every_fault_is_read() {
    let read =
        |fault: &str| WireTurn::read(&format!(r#"{{"attempts": [{fault}]}}"#)).map(|turn| turn.attempts[0].clone());
    let cut = |at, how| Fault::Cut { at, how };
    for (fault, expected) in [
        (r#"{"hang": 200}"#, Fault::Hang(Duration::from_millis(200))),
        (r#"{"cut": "head"}"#, cut(Cut::Head, CutEnd::Close)),
        (r#"{"cut": "start", "how": "reset"}"#, cut(Cut::Start, CutEnd::Reset)),
        (r#"{"cut": "text", "how": "end"}"#, cut(Cut::Text, CutEnd::Clean)),
        (r#"{"cut": "thinking", "how": "close"}"#, cut(Cut::Thinking, CutEnd::Close)),
        (r#"{"cut": "arguments"}"#, cut(Cut::Arguments, CutEnd::Close)),
        (r#"{"cut": "call"}"#, cut(Cut::Call, CutEnd::Close)),
        (r#"{"cut": "stop"}"#, cut(Cut::Stop, CutEnd::Close)),
        (r#"{"cut": 7}"#, cut(Cut::Events(7), CutEnd::Close)),
        (r#"{"event": "error"}"#, Fault::Event { after: Cut::Start, failed: false }),
        (r#"{"event": "error", "after": 2, "failed": true}"#, Fault::Event { after: Cut::Events(2), failed: true }),
        (r#"{"garbage": true}"#, Fault::Garbage),
    ] {
        assert_eq!(read(fault), Ok(expected), "{fault}");
    }
    let status =
        read(r#"{"status": 429, "retryAfterMs": 30, "type": "t", "code": "c", "message": "m", "shouldRetry": false}"#);
    assert_eq!(status.map(|fault| fault.retry_after()), Ok(Some(Duration::from_millis(30))));
}

#[test]
fn what_is_no_script_is_refused_where_it_stands() {
    for (text, expected) in [
        (r#"{"contents": "x"}"#, "`contents` is no member that is known here"),
        (r#"{"error": "m", "content": "x"}"#, "`content` is no member that is known here"),
        (r#"{"content": 1}"#, "content: 1 is not a string"),
        (r#"{"content": "a", "content": "b"}"#, "`content` is there twice"),
        (r#"{"refusal": "No.", "content": "x"}"#, "a refusal replaces content and calls"),
        (r#"{"tool_calls": {}}"#, "tool_calls: {} is not a list"),
        (r#"{"tool_calls": [{"args": {}, "arguments": ""}]}"#, "tool_calls[0]: `args` and `arguments` are the same"),
        (r#"{"tool_calls": [{}, {"arg": {}}]}"#, "tool_calls[1]: `arg` is no member that is known here"),
        (r#"{"thinking": [{"signature": "s"}]}"#, "thinking[0]: `text` is missing"),
        (
            r#"{"stop": "end"}"#,
            "stop: `end` is none of stop, length, tool_calls, content_filter, function_call, end_turn, max_tokens, stop_sequence, tool_use, pause_turn, refusal",
        ),
        (r#"{"stream": {"pieces": []}}"#, "stream: `pieces` is empty"),
        (r#"{"stream": {"pieces": [0]}}"#, "stream.pieces[0]: 0 is not a whole number from 1 on"),
        (r#"{"stream": {"crlf": 1}}"#, "stream.crlf: 1 is not true or false"),
        (r#"{"stream": {"ping": "some"}}"#, "stream.ping: `some` is none of all"),
        (r#"{"attempts": [{}]}"#, "attempts[0]: a fault is one of status, hang, cut, event, garbage"),
        (r#"{"attempts": [{"status": 200}]}"#, "attempts[0].status: 200 is not a whole number from 400 on"),
        (r#"{"attempts": [{"status": 700}]}"#, "attempts[0].status: 700 is no status of an error"),
        (r#"{"attempts": [{"hang": -1}]}"#, "attempts[0].hang: -1 is not a whole number from 0 on"),
        (r#"{"attempts": [{"cut": "text", "how": "fin"}]}"#, "attempts[0].how: `fin` is none of close, reset, end"),
        (r#"{"attempts": [{"cut": true}]}"#, "attempts[0].cut: neither a place nor a number of events"),
        (
            r#"{"attempts": [{"event": "error", "after": "head"}]}"#,
            "attempts[0]: an event cannot come before the head of the answer",
        ),
        (r#"{"attempts": [{"event": "ping"}]}"#, "attempts[0].event: `ping` is none of error"),
        (r#"{"attempts": [{"garbage": false}]}"#, "attempts[0]: `garbage` is true where it is present"),
        (r#"{"attempts": [{"hang": 1, "cut": "head"}]}"#, "attempts[0]: `cut` is no member that is known here"),
    ] {
        assert_eq!(WireTurn::read(text).map_err(|error| error.to_string()), Err(expected.to_owned()), "{text}");
    }
    let error = WireTurn::read_all(r#"[{}, {"x": 1}]"#, "model")
        .err()
        .map(|error| (error.to_string(), error.place().to_owned()));
    assert_eq!(error, Some(("model[1]: `x` is no member that is known here".to_owned(), "model[1]".to_owned())));
    assert!(WireTurn::read("[").err().is_some_and(|error| error.to_string().starts_with("not JSON: ")));
    let error = crate::RunPlan::of_case_input(threadspec::oracle::Api::OpenAiChat, r#"{"messages": []}"#).err();
    assert_eq!(error.map(|error| error.to_string()).as_deref(), Some("model: it is missing"));
}
