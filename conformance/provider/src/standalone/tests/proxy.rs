//! A proxy: what passes is judged, and nothing else happens to it.

use super::{body_of, chat, request, result, user};
use crate::exchange::Reaction;
use crate::judging::WireLevel;
use crate::serve::{Answers, UpstreamPart};
use crate::standalone::{Proxy, header, judge_again};
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiRequest, ModelAnswer, SaidCall, StreamShape, sse};
use threadspec_golden::clause;

const API: Api = Api::OpenAiChat;

fn answer(id: &str) -> ModelAnswer {
    let mut answer = ModelAnswer { id: format!("chatcmpl-{id}"), text: "I look.".into(), ..ModelAnswer::default() };
    answer.calls.push(SaidCall::new(id, "look", &json!({"n": 1})));
    answer.finish = answer.usual_finish();
    answer
}

/// Lets a request pass, with what the upstream says to it in pieces; whether it was forwarded.
fn pass(proxy: &mut Proxy, second: u64, body: &Value, upstream: (u16, &str, Vec<u8>), piece: usize) -> bool {
    let now = Duration::from_secs(second);
    let (attempt, reaction) = proxy.receive(now, request(API, "sk-mine-0123456789", body));
    let (status, content_type, bytes) = upstream;
    let forwarded = reaction == Reaction::Forward;
    if forwarded {
        proxy.heard(now, &attempt, UpstreamPart::Head { status, content_type, headers: &[] });
        bytes.chunks(piece).for_each(|piece| proxy.heard(now, &attempt, UpstreamPart::Data(piece)));
    }
    proxy.delivered(now, attempt, true);
    forwarded
}

/// Returns an upstream's answer: plain, or as a stream.
fn said(id: &str, body: &Value) -> (u16, &'static str, Vec<u8>) {
    let asked = ApiRequest::read(API, body);
    if !asked.stream {
        return (200, "application/json", answer(id).plain(&asked).to_string().into_bytes());
    }
    let events = answer(id).events(&asked, &StreamShape::default());
    let write = |event: &threadspec_apis::StreamEvent| sse::event(event.name, &event.data, false);
    (200, "text/event-stream; charset=utf-8", events[1..].iter().flat_map(write).collect())
}

fn musts(proxy: &Proxy) -> Vec<Vec<&'static str>> {
    let counts = |talk: &crate::Talk| {
        talk.findings.iter().filter(|finding| finding.level == WireLevel::Must).map(|finding| finding.clause).collect()
    };
    proxy.talks().map(counts).collect()
}

#[test]
fn what_the_upstream_said_is_compared_with_what_comes_back() {
    for stream in [false, true] {
        for piece in [1, 7, usize::MAX] {
            for (id, answered, expected) in
                [("c1", true, None), ("c2", true, Some(clause::AGENT_IDS)), ("c1", false, Some(clause::AGENT_ANSWERED))]
            {
                let mut proxy = Proxy::new(false, 1_790_000_000, Vec::new());
                proxy.record(false);
                let mut body = chat(json!([user("Go")]));
                body["stream"] = stream.into();
                assert!(pass(&mut proxy, 1, &body, said("c1", &body), piece));
                let call = json!({"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": id, "type": "function", "function": {"name": "look", "arguments": r#"{"n":1}"#}}]});
                let last = if answered { result(id, "3") } else { user("on") };
                body["messages"] = json!([user("Go"), call, last]);
                assert!(pass(&mut proxy, 2, &body, said("c3", &body), piece), "it refuses nothing");
                let expected: Vec<&str> = expected.into_iter().collect();
                assert_eq!(musts(&proxy), std::slice::from_ref(&expected), "stream {stream}, pieces of {piece}, {id}");
                assert_eq!(proxy.talks().next().map(|talk| (talk.requests, talk.answers)), Some((2, 2)));
                // The transcript says the same, and has no key.
                let text = [header()].into_iter().chain(proxy.take_lines()).collect::<Vec<_>>().join("\n");
                let again = judge_again(text.lines()).expect("a transcript");
                let again: Vec<&str> =
                    again[0].findings.iter().filter(|one| one.level == WireLevel::Must).map(|one| one.clause).collect();
                assert!(!text.contains("sk-mine"));
                assert_eq!(again, expected);
            }
        }
    }
}

#[test]
fn one_that_enforces_answers_in_the_words_of_the_api() {
    let body = chat(json!([user("Go"), result("x", "3")]));
    for enforces in [false, true] {
        let mut proxy = Proxy::new(enforces, 1_790_000_000, Vec::new());
        assert_eq!(pass(&mut proxy, 1, &body, (400, "application/json", b"{}".to_vec()), 9), !enforces);
        assert_eq!(musts(&proxy), [["OAI-CHAT-ORPHAN"]]);
        let (_, reaction) = proxy.receive(Duration::from_secs(2), request(API, "k", &body));
        match reaction {
            Reaction::Answer(answer) => {
                assert!(enforces);
                assert_eq!(answer.status, 400);
                let error = &body_of(&answer)["error"];
                assert_eq!(error["type"], "invalid_request_error");
                assert!(error["message"].as_str().is_some_and(|words| words.contains("role 'tool'")), "{error}");
            }
            other => assert_eq!((other, enforces), (Reaction::Forward, false)),
        }
    }
}

/// An error, an answer that cannot be read, and one that breaks off: the same request again is another attempt.
#[test]
fn an_answer_that_failed_is_none() {
    let body = chat(json!([user("Go")]));
    let mut streamed = body.clone();
    streamed["stream"] = true.into();
    let (_, media, mut half) = said("c1", &streamed);
    half.truncate(half.len() / 2);
    let mut proxy = Proxy::new(false, 1_790_000_000, Vec::new());
    for (second, upstream) in [
        (1, (500, "application/json", br#"{"error": {}}"#.to_vec())),
        (9, (200, "text/html", b"<html>".to_vec())),
        (18, (200, media, half)),
        (40, (200, media, b"data: {\n\n".to_vec())),
    ] {
        assert!(pass(&mut proxy, second, &body, upstream, 5));
    }
    assert!(pass(&mut proxy, 90, &body, said("c1", &body), 5));
    assert_eq!(proxy.talks().map(|talk| (talk.requests, talk.answers)).collect::<Vec<_>>(), [(5, 1)]);
    assert_eq!(musts(&proxy), [[""; 0]]);
}

#[test]
fn a_proxy_with_a_key_takes_no_other() {
    let mut proxy = Proxy::new(false, 1_790_000_000, vec!["sk-right".into()]);
    let body = chat(json!([user("Go")]));
    for (key, expected) in [("sk-right", None), ("sk-wrong", Some(401))] {
        let (_, reaction) = proxy.receive(Duration::ZERO, request(API, key, &body));
        let status = match reaction {
            Reaction::Answer(answer) => Some(answer.status),
            _ => None,
        };
        assert_eq!(status, expected, "{key}");
    }
    assert_eq!(proxy.talks().len(), 1);
}
