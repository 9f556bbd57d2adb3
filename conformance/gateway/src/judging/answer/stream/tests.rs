//! Streams that are none of their API, and those that are in every shape.

use super::{Excuses, faults};
use crate::judging::answer::{ClientHeard, HeardForm};
use serde_json::json;
use threadspec::oracle::Api;
use threadspec_apis::{
    ApiRequest, EventPart, Finish, IdSource, ModelAnswer, Pieces, SaidCall, StreamEvent, StreamShape, sse,
};
use threadspec_provider::WireLevel;
use threadspec_provider::client::ClientResponse;

fn answer(api: Api) -> ModelAnswer {
    let call = |id: &str, number: u32| SaidCall::new(id, "look", &json!({"n": number}));
    let calls = vec![call("call_a", 1), call("call_b", 2)];
    let answer = ModelAnswer {
        text: "I look.".into(),
        calls,
        finish: Finish::Calls,
        model: "m".into(),
        ..ModelAnswer::default()
    };
    answer.with_ids(api, &mut IdSource::new(1))
}

fn events(api: Api, shape: &StreamShape) -> Vec<StreamEvent> {
    let request =
        ApiRequest::read(api, &json!({"model": "m", "stream": true, "stream_options": {"include_usage": true}}));
    answer(api).events(&request, shape)
}

fn musts(api: Api, events: &[StreamEvent], crlf: bool) -> Vec<String> {
    musts_with(Excuses::default(), api, events, crlf)
}

fn musts_with(excuses: Excuses, api: Api, events: &[StreamEvent], crlf: bool) -> Vec<String> {
    let bytes = |event: &StreamEvent| match event.part {
        EventPart::Comment => sse::comment(&event.data, crlf),
        _ => sse::event(event.name, &event.data, crlf),
    };
    let headers = vec![("content-type".to_owned(), "text/event-stream".to_owned())];
    let response = ClientResponse { status: 200, headers, pieces: events.iter().map(bytes).collect(), is_whole: true };
    let HeardForm::Stream(stream) = ClientHeard::of(api, &response).form else { panic!("no stream") };
    let musts = faults(api, &stream, excuses).into_iter().filter(|fault| fault.level == WireLevel::Must);
    musts.map(|fault| fault.what).collect()
}

/// The events with a change of their JSON.
fn changed(events: &[StreamEvent], from: &str, to: &str) -> Vec<StreamEvent> {
    let mut events = events.to_vec();
    let mut count = 0;
    for event in &mut events {
        count += event.data.matches(from).count();
        event.data = event.data.replace(from, to);
    }
    assert!(count > 0, "{from} stands in no event");
    events
}

fn without(events: &[StreamEvent], text: &str) -> Vec<StreamEvent> {
    let kept: Vec<StreamEvent> = events.iter().filter(|event| !event.data.contains(text)).cloned().collect();
    assert!(kept.len() < events.len(), "{text} stands in no event");
    kept
}

#[test]
fn every_legal_shape_is_one() {
    let shapes = [
        StreamShape::default(),
        StreamShape { pieces: Pieces::Tiny, ping_all: true, empty: true, ..StreamShape::default() },
        StreamShape { interleave: true, text_last: true, ascii: false, ..StreamShape::default() },
    ];
    for (api, shape) in [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic]
        .into_iter()
        .flat_map(|api| shapes.iter().map(move |shape| (api, shape)))
    {
        for crlf in [false, true] {
            assert_eq!(musts(api, &events(api, shape), crlf), [""; 0], "{api} {shape:?}");
        }
    }
}

#[test]
fn the_last_line_of_a_chat_may_stand_behind_other_streams() {
    for api in [Api::OpenAiResponses, Api::Anthropic] {
        let events = events(api, &StreamShape::default());
        let mut done = events.last().expect("an event").clone();
        (done.name, done.data) = (None, "[DONE]".to_owned());
        let [mut behind, mut inside] = [events.clone(), events];
        behind.push(done.clone());
        inside.insert(1, done);
        assert_eq!(musts(api, &behind, false), [""; 0], "{api}");
        let found = musts(api, &inside, false);
        assert!(found.iter().any(|what| what.contains("no JSON")), "{api}: {found:?}");
    }
}

#[test]
fn a_chat_needs_its_indexes_and_its_end() {
    let events = events(Api::OpenAiChat, &StreamShape::default());
    for (broken, expected) in [
        (changed(&events, r#""index":1,"#, r#""index":0,"#), "starts twice"),
        (changed(&events, r#""index":1,"#, ""), "has the index null"),
        (changed(&events, r#""index":1,"#, r#""index":1,"id":"call_b","#), "comes again"),
        (changed(&events, r#""id":"call_b","#, ""), "no `id`"),
        (without(&events, "[DONE]"), "without `[DONE]`"),
        (without(&events, r#""finish_reason":"tool_calls""#), "no `finish_reason`"),
        (changed(&events, r#""role":"assistant","#, ""), "no `role`"),
        ([events.clone(), vec![events[2].clone()]].concat(), "behind `[DONE]`"),
    ] {
        let found = musts(Api::OpenAiChat, &broken, false);
        assert!(found.iter().any(|what| what.contains(expected)), "{expected}: {found:?}");
    }
}

#[test]
fn a_message_needs_its_blocks_one_after_the_other() {
    let events = events(Api::Anthropic, &StreamShape::default());
    let stops = |index: u32| format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let mut nameless = events.clone();
    for event in &mut nameless {
        event.name = None;
    }
    for (broken, expected) in [
        (without(&events, &stops(0)), "starts before block 0 stops"),
        (changed(&events, r#""index":2"#, r#""index":1"#), "starts twice"),
        (changed(&events, r#""index":2"#, r#""index":5"#), "is number 2"),
        (without(&events, "message_stop"), "without `message_stop`"),
        (without(&events, "message_delta"), "no `message_delta`"),
        (without(&events, "message_start"), "before `message_start`"),
        (changed(&events, "input_json_delta", "text_delta"), "has a fragment `text_delta`"),
        (nameless, "no line `event:`"),
    ] {
        let found = musts(Api::Anthropic, &broken, false);
        assert!(found.iter().any(|what| what.contains(expected)), "{expected}: {found:?}");
    }
}

#[test]
fn a_response_needs_its_items_and_the_whole_at_its_end() {
    let events = events(Api::OpenAiResponses, &StreamShape::default());
    for (broken, expected) in [
        (without(&events, "response.created"), "before `response.created`"),
        (without(&events, "response.completed"), "ends without"),
        (changed(&events, r#""output_index":2"#, r#""output_index":1"#), "starts twice"),
        (without(&events, "content_part.added"), "before the part"),
        (without(&events, "output_item.added"), "has not been added"),
        (without(&events, "response.output_item.done"), "before item 0 is done"),
    ] {
        let found = musts(Api::OpenAiResponses, &broken, false);
        assert!(found.iter().any(|what| what.contains(expected)), "{expected}: {found:?}");
    }
}

#[test]
fn a_model_that_makes_many_calls_needs_high_indices() {
    let api = Api::OpenAiChat;
    let request = ApiRequest::read(api, &json!({"model": "m", "stream": true}));
    let calls = (0..129).map(|number| SaidCall::new(format!("call_{number}"), "look", &json!({}))).collect();
    let answer = ModelAnswer { calls, finish: Finish::Calls, model: "m".into(), ..ModelAnswer::default() };
    let events = answer.with_ids(api, &mut IdSource::new(1)).events(&request, &StreamShape::default());
    let musts = |calls: u64| musts_with(Excuses { calls, ..Excuses::default() }, api, &events, false);
    assert_eq!(musts(129), [""; 0]);
    assert!(musts(2)[0].contains("the index 128"), "{:?}", musts(2));
}
