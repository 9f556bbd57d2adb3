//! Reads written answers again, in every API and every shape, and the whole parts of an answer that broke off.

use super::*;
use crate::answer::{Cut, EventPart, Pieces, StreamEvent, StreamShape, Thinking, json_text, kept_events};
use crate::header::IdSource;
use crate::request::ApiRequest;
use crate::sse;
use crate::sse::SseParser;
use crate::usage::Usage;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use threadspec::read_json;
use threadspec_judge::protocol::ServerDialect;

fn request(api: Api) -> ApiRequest {
    let body =
        json!({"model": "m", "stream_options": {"include_usage": true}, "include": ["reasoning.encrypted_content"]});
    ApiRequest::read(api, &body)
}

fn bytes(events: &[StreamEvent], crlf: bool) -> Vec<u8> {
    let write = |event: &StreamEvent| match event.part {
        EventPart::Comment => sse::comment(&event.data, crlf),
        _ => sse::event(event.name, &event.data, crlf),
    };
    events.iter().flat_map(write).collect()
}

fn read_bytes(api: Api, bytes: &[u8], length: usize) -> ReadAnswer {
    let (mut parser, mut reader) = (SseParser::default(), AnswerReader::new(api));
    for piece in bytes.chunks(length.max(1)) {
        for event in parser.push(piece) {
            reader.push(&event).expect("an event of the API");
        }
    }
    reader.said()
}

fn read_events(api: Api, events: &[StreamEvent]) -> ReadAnswer {
    read_bytes(api, &bytes(events, false), usize::MAX)
}

/// An answer as an API can say it.
fn as_said(api: Api, mut answer: ModelAnswer) -> ModelAnswer {
    match api {
        Api::OpenAiChat => {
            let thoughts: String = answer.thinking.iter().map(|thought| &*thought.text).collect();
            let thought = Thinking { text: thoughts, ..Thinking::default() };
            answer.thinking = Some(thought).filter(|thought| !thought.text.is_empty()).into_iter().collect();
            answer.usage.written = 0;
        }
        Api::OpenAiResponses => {}
        Api::Gemini => {
            // It shows one thought, and signs it or what comes of it.
            answer.text += &answer.refusal.take().unwrap_or_default();
            let text: String = answer.thinking.iter().map(|thought| &*thought.text).collect();
            let seal = answer.thinking.iter().rev().find_map(|thought| thought.seal.clone());
            let is_one = !text.is_empty() || seal.is_some();
            answer.thinking = is_one.then_some(Thinking { text, seal, ..Thinking::default() }).into_iter().collect();
            answer.usage =
                Usage { written: 0, output: answer.usage.output.max(answer.usage.reasoning), ..answer.usage };
            answer.created = 0;
            answer.finish = if answer.finish == Finish::Refusal { Finish::Filter } else { answer.finish };
        }
        Api::Anthropic => {
            answer.text += &answer.refusal.take().unwrap_or_default();
            answer.usage.reasoning = 0;
            answer.created = 0;
        }
    }
    let named = Finish::of_name(answer.finish.name(api));
    let is_usual = matches!(api, Api::OpenAiResponses | Api::Gemini);
    answer.finish = if is_usual && named == Finish::End { answer.usual_finish() } else { named };
    if api != Api::OpenAiResponses || !answer.has_message() {
        answer.item_id = None;
    }
    answer
}

impl ModelAnswer {
    fn has_message(&self) -> bool {
        !self.text.is_empty() || self.refusal.is_some() || self.calls.is_empty()
    }
}

fn text() -> impl Strategy<Value = String> {
    // Marks and characters that look like them are among them.
    prop_oneof![
        "[a-c \"\\\\\n{}é😀]{0,12}",
        "[a\u{10d83d}é]{0,4}",
        Just(threadspec::surrogates::marked("x\u{10d83d}\u{10fffe}y").into_owned()),
        ".{0,30}".prop_map(|text| threadspec::surrogates::marked(&text).into_owned()),
    ]
}

fn calls() -> impl Strategy<Value = Vec<SaidCall>> {
    let args = (text(), any::<u32>(), any::<bool>()).prop_map(|(text, number, is_empty)| {
        if is_empty { json!({}) } else { json!({"k": text, "n": [number, {"deep": null}]}) }
    });
    vec(("[a-z]{1,8}", args), 0..4).prop_map(|calls| {
        let call =
            |(number, (name, args)): (usize, (String, Value))| SaidCall::new(format!("id_{number}"), name, &args);
        calls.into_iter().enumerate().map(call).collect()
    })
}

fn thoughts() -> impl Strategy<Value = Vec<Thinking>> {
    vec((text(), any::<bool>()), 0..3).prop_map(|thoughts| {
        let thought = |(text, is_redacted): (String, bool)| Thinking {
            is_redacted: is_redacted || text.is_empty(),
            text: if is_redacted { String::new() } else { text },
            ..Thinking::default()
        };
        thoughts.into_iter().map(thought).collect()
    })
}

fn answers() -> impl Strategy<Value = ModelAnswer> {
    let finish =
        prop_oneof![Just(None), Just(Some(Finish::End)), Just(Some(Finish::Length)), Just(Some(Finish::Filter))];
    (text(), proptest::option::weighted(0.2, "[a-z]{1,9}"), calls(), thoughts(), finish, 0_u64..9_999).prop_map(
        |(text, refusal, calls, thinking, finish, input)| {
            let text = if refusal.is_some() { String::new() } else { text };
            let answer = ModelAnswer {
                model: "m".into(),
                created: 1_790_000_000,
                text,
                refusal,
                calls,
                thinking,
                ..ModelAnswer::default()
            };
            let finish = finish.unwrap_or_else(|| answer.usual_finish());
            ModelAnswer { finish, ..answer }.with_usage(Usage {
                input: input + 3,
                cached: 1,
                written: 2,
                ..Usage::default()
            })
        },
    )
}

fn shapes() -> impl Strategy<Value = StreamShape> {
    let pieces = prop_oneof![
        Just(Pieces::Usual),
        Just(Pieces::Tiny),
        Just(Pieces::Whole),
        vec(0_usize..6, 0..4).prop_map(Pieces::Lengths)
    ];
    let dialect = proptest::option::of(prop_oneof![
        Just(ServerDialect::CumulativeArguments),
        Just(ServerDialect::RepeatedNames),
        Just(ServerDialect::StopBesideCalls)
    ]);
    (pieces, any::<[bool; 5]>(), dialect).prop_map(
        |(pieces, [interleave, text_last, ping_all, empty, ascii], dialect)| StreamShape {
            pieces,
            interleave,
            text_last,
            ping_all,
            empty,
            ascii,
            dialect,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn a_plain_answer_is_read_as_it_was_said(answer in answers(), ascii: bool) {
        for api in Api::ALL {
            let answer = answer.clone().with_ids(api, &mut IdSource::new(1));
            let body = answer.plain_text(&request(api), ascii);
            prop_assert_eq!(&body, &json_text(&answer.plain(&request(api)), ascii));
            let said = read_answer(api, &read_json(&body).expect("JSON")).expect("an answer");
            prop_assert_eq!(&said.end, &AnswerEnd::Whole);
            prop_assert!(said.whole_calls.iter().all(|is_whole| *is_whole));
            prop_assert_eq!(&said.answer, &as_said(api, answer), "{}", api);
        }
    }

    #[test]
    fn no_shape_and_no_cut_of_the_bytes_changes_what_is_said(
        answer in answers(), shape in shapes(), crlf: bool, length in 1_usize..40,
    ) {
        for api in Api::ALL {
            let answer = answer.clone().with_ids(api, &mut IdSource::new(1));
            let events = answer.events(&request(api), &shape);
            let said = read_bytes(api, &bytes(&events, crlf), length);
            prop_assert_eq!(&said.end, &AnswerEnd::Whole);
            prop_assert!(said.whole_calls.iter().all(|is_whole| *is_whole));
            prop_assert_eq!(&said.answer, &as_said(api, answer), "{}", api);
        }
    }

    /// Wherever a stream breaks off, it says a beginning of the whole, and no call that has not come whole.
    #[test]
    fn what_broke_off_is_a_beginning(answer in answers(), shape in shapes(), kept in 0_usize..200) {
        for api in Api::ALL {
            let answer = answer.clone().with_ids(api, &mut IdSource::new(1));
            let events = answer.events(&request(api), &shape);
            let stop = kept_events(&events, Cut::Stop).expect("every answer stops");
            let kept = kept % (stop + 1);
            let said = read_events(api, &events[..kept]);
            let whole = as_said(api, answer);
            prop_assert_eq!(&said.end, &AnswerEnd::Broken);
            prop_assert!(whole.text.starts_with(&said.answer.text));
            let ended = events[..kept].iter().filter(|event| event.ends_call).count();
            let came = said.came_whole();
            prop_assert_eq!(came.calls.len(), ended, "{}: {:?}", api, said);
            prop_assert!(came.calls.iter().all(|call| whole.calls.contains(call)));
        }
    }
}

fn looks() -> ModelAnswer {
    let call = |id: &str, n: u64| SaidCall::new(id, "look", &json!({ "n": n }));
    let thinking = vec![Thinking { text: "Hm, so.".into(), ..Thinking::default() }];
    ModelAnswer {
        text: "I look.".into(),
        thinking,
        calls: vec![call("a", 1), call("b", 2)],
        finish: Finish::Calls,
        ..ModelAnswer::default()
    }
}

#[test]
fn a_named_cut_says_what_it_names() {
    let shape = StreamShape { pieces: Pieces::Tiny, ..StreamShape::default() };
    for api in Api::ALL {
        let answer = looks().with_ids(api, &mut IdSource::new(1));
        let events = answer.events(&request(api), &shape);
        let said = |cut| read_events(api, &events[..kept_events(&events, cut).expect("it is there")]);
        assert_eq!(said(Cut::Head).answer, as_said(api, ModelAnswer::default()), "{api}");
        assert!(!said(Cut::Start).answer.id.is_empty());
        assert_eq!(said(Cut::Thinking).answer.thinking[0].text, "Hm,");
        assert_eq!(said(Cut::Text).answer.text, "I l");
        // Seven fragments of each call, of which seven are half.
        if api == Api::Gemini {
            // Its calls come whole.
            continue;
        }
        let arguments = said(Cut::Arguments);
        assert_eq!(arguments.answer.calls[0].arguments, "{\"n\":1}");
        let is_whole = api == Api::OpenAiChat;
        assert_eq!(arguments.whole_calls, [is_whole], "{api}");
        let call = said(Cut::Call);
        assert_eq!((call.whole_calls.clone(), &*call.came_whole().calls[0].id), (vec![true], "a"));
        let stop = said(Cut::Stop);
        assert_eq!((stop.has_ended(), stop.whole_calls), (false, vec![true, true]));
    }
}

#[test]
fn an_error_inside_a_stream_is_told() {
    for api in Api::ALL {
        let error = ApiError::in_stream(api);
        for as_failed in [false, true] {
            let answer = looks().with_ids(api, &mut IdSource::new(1));
            let mut events = answer.events(&request(api), &StreamShape::default());
            events.truncate(kept_events(&events, Cut::Text).expect("it has text"));
            events.push(answer.error_event(&request(api), &error, &events, as_failed));
            let said = read_events(api, &events);
            let AnswerEnd::Failed(told) = said.end else { panic!("{api}: {:?}", said.end) };
            assert_eq!((told.status, told.message), (error.status, error.message.clone()));
            assert_eq!((&*said.answer.text, said.answer.calls.len()), ("I ", 0));
        }
    }
}

/// As the worked exchanges write them.
#[test]
fn errors_inside_streams_are_written_as_each_api_does() {
    let data = |api, as_failed| {
        let answer = ModelAnswer { id: "resp_1".into(), ..ModelAnswer::default() };
        let sent = StreamEvent { name: None, data: String::new(), part: EventPart::Text, ends_call: false };
        let event = answer.error_event(&request(api), &ApiError::in_stream(api), &vec![sent; 9], as_failed);
        (event.name, event.data)
    };
    assert_eq!(
        data(Api::OpenAiChat, false),
        (
            None,
            r#"{"error":{"message":"The server had an error while processing your request. Sorry about that!","type":"server_error","param":null,"code":null}}"#.to_owned()
        )
    );
    assert_eq!(
        data(Api::OpenAiResponses, false),
        (
            Some("error"),
            r#"{"type":"error","code":"server_error","message":"The server had an error while processing your request. Sorry about that!","param":null,"sequence_number":9}"#.to_owned()
        )
    );
    assert_eq!(
        data(Api::Anthropic, false),
        (Some("error"), r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#.to_owned())
    );
    let (name, failed) = data(Api::OpenAiResponses, true);
    assert_eq!(name, Some("response.failed"));
    assert!(failed.starts_with(r#"{"type":"response.failed","response":{"id":"resp_1","#));
    assert!(failed.contains(
        r#""status":"failed","background":false,"error":{"code":"server_error","message":"The server had an error "#
    ));
    assert!(failed.contains(r#""output":[],"#) && failed.ends_with(r#""usage":null},"sequence_number":9}"#));
}

#[test]
fn what_a_limit_cuts_off_did_not_come_whole() {
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Gemini) {
        let cut = SaidCall::with_text("b", "look", r#"{"n":"#);
        let answer = ModelAnswer {
            calls: vec![SaidCall::new("a", "look", &json!({"n": 1})), cut],
            finish: Finish::Length,
            ..ModelAnswer::default()
        };
        let answer = answer.with_ids(api, &mut IdSource::new(1));
        let said = read_events(api, &answer.events(&request(api), &StreamShape::default()));
        assert_eq!((said.answer.finish.clone(), said.has_ended()), (Finish::Length, true), "{api}");
        assert_eq!((&*said.answer.calls[1].arguments, said.whole_calls), (r#"{"n":"#, vec![true, false]), "{api}");
        if api != Api::Anthropic {
            let said = read_answer(api, &answer.plain(&request(api))).expect("an answer");
            assert_eq!(said.whole_calls, [true, false], "{api}");
        }
    }
}

fn read_stream(api: Api, lines: &[&str]) -> ReadAnswer {
    let mut reader = AnswerReader::new(api);
    for line in lines {
        reader.push(&SseEvent { name: None, data: (*line).to_owned() }).expect("an event of the API");
    }
    reader.said()
}

/// Fragments as servers that are like OpenAI's write them (SSE-CHAT-INDEX, SSE-CHAT-USAGE).
#[test]
fn fragments_of_other_servers_are_put_together() {
    let chunk = |calls: &str| format!(r#"{{"choices":[{{"delta":{{"tool_calls":[{calls}]}}}}]}}"#);
    let begin =
        |index: &str, id: &str| chunk(&format!(r#"{{{index}"id":"{id}","function":{{"name":"t","arguments":""}}}}"#));
    let more = |index: &str, text: &str| chunk(&format!(r#"{{{index}"function":{{"arguments":"{text}"}}}}"#));
    let zero = r#""index":0,"#;
    for lines in [
        // No index.
        vec![begin("", "a"), more("", "{"), more("", "}"), begin("", "b"), more("", "{}")],
        // Every call has index 0.
        vec![begin(zero, "a"), more(zero, "{}"), begin(zero, "b"), more(zero, "{}")],
        // The id again in each fragment.
        vec![
            begin(zero, "a"),
            more(r#""index":0,"id":"a","#, "{}"),
            begin(r#""index":1,"#, "b"),
            more(r#""index":1,"id":"","#, "{}"),
        ],
        // Chunks without a choice or a delta.
        vec![
            r#"{"choices":[]}"#.to_owned(),
            begin(zero, "a"),
            more(zero, "{}"),
            r#"{"choices":[{"index":0,"finish_reason":null}]}"#.to_owned(),
            begin(r#""index":1,"#, "b"),
            more(r#""index":1,"#, "{}"),
            r#"{"choices":[{"index":1,"delta":{"content":"another choice"}}]}"#.to_owned(),
        ],
    ] {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let said = read_stream(Api::OpenAiChat, &lines);
        let calls: Vec<_> = said.answer.calls.iter().map(|call| (&*call.id, &*call.name, &*call.arguments)).collect();
        assert_eq!(calls, [("a", "t", "{}"), ("b", "t", "{}")], "{lines:?}");
        assert_eq!((&*said.answer.text, said.whole_calls), ("", vec![true, true]));
    }
}

#[test]
fn what_is_newer_than_the_reader_is_passed_over() {
    let said = read_stream(
        Api::Anthropic,
        &[
            r#"{"type":"message_start","message":{"id":"msg_1","content":[],"usage":{"input_tokens":3,"cache_read_input_tokens":2}}}"#,
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"server_tool_use","id":"s","name":"web_search","input":{}}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
            r#"{"type":"content_block_stop","index":0}"#,
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"look","input":{}}}"#,
            r#"{"type":"content_block_delta","index":1,"delta":{"type":"new_delta","x":1}}"#,
            r#"{"type":"content_block_stop","index":1}"#,
            r#"{"type":"later"}"#,
        ],
    );
    assert_eq!((said.answer.usage.input, said.answer.usage.cached), (5, 2));
    assert_eq!((&*said.answer.calls[0].arguments, said.whole_calls, said.end), ("{}", vec![true], AnswerEnd::Broken));
    let custom = json!({"id": "resp_1", "status": "completed", "output": [
        {"type": "web_search_call", "id": "ws_1", "action": {}},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "patch", "input": "*** Begin"}]});
    let said = read_answer(Api::OpenAiResponses, &custom).expect("an answer");
    assert_eq!((&*said.answer.calls[0].arguments, said.whole_calls), ("*** Begin", vec![true]));
}

#[test]
fn what_is_no_answer_is_refused() {
    for api in Api::ALL {
        for body in [json!({}), json!([]), json!({"choices": []}), json!({"output": 7}), json!({"content": "x"})] {
            assert!(read_answer(api, &body).is_err(), "{api}: {body}");
        }
        let body = ApiError::overloaded(api).body(api, "req_1");
        let said = read_answer(api, &body).expect("an error is an answer");
        assert!(matches!(said.end, AnswerEnd::Failed(_)), "{api}");
        let mut reader = AnswerReader::new(api);
        let garbage = SseEvent { name: None, data: r#"{"choices":[{"del"#.into() };
        let error = reader.push(&garbage).expect_err("garbage");
        assert!(error.to_string().starts_with("an event of the stream cannot be read: EOF"), "{error}");
    }
}

#[test]
fn a_message_says_why_the_model_refused() {
    let details = json!({"type": "refusal", "category": null, "explanation": "I cannot help with that."});
    let plain = json!({"type": "message", "content": [], "stop_reason": "refusal", "stop_details": details});
    let read = read_answer(Api::Anthropic, &plain).expect("a message");
    assert_eq!(
        (read.answer.refusal.as_deref(), &read.answer.finish),
        (Some("I cannot help with that."), &Finish::Refusal)
    );
    let events = [
        (
            "message_start",
            json!({"type": "message_start", "message": {"content": [], "stop_reason": null, "stop_details": null}}),
        ),
        (
            "message_delta",
            json!({"type": "message_delta", "delta": {"stop_reason": "refusal", "stop_details": details}}),
        ),
        ("message_stop", json!({"type": "message_stop"})),
    ];
    let bytes: Vec<u8> =
        events.iter().flat_map(|(name, data)| sse::event(Some(name), &data.to_string(), false)).collect();
    assert_eq!(read_bytes(Api::Anthropic, &bytes, usize::MAX).answer.refusal, read.answer.refusal);
}
