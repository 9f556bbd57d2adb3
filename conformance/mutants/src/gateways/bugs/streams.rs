//! Streams that are none of the client's API, that are read wrongly, or that end as if nothing had happened.

use super::super::plant::{bugs as each, events, pieces, written};
use super::{ALWAYS, ANTHROPIC, CHAT, OPENAI, RESPONSES, SOMETIMES};
use crate::gateway::course::ClientEvent;
use crate::gateway::places::{ALL, PROXY, TRANSLATING};
use crate::gateway::said::AnswerNews;
use crate::planted::Planted;
use serde_json::{Value, json};
use std::sync::Arc;
use threadspec_golden::clause;

const STREAM: &[&str] = &[clause::GATE_STREAM];
const SAID: &[&str] = &[clause::GATE_SAID];
/// Nothing can be read of such a stream, so that the client hears of a failure.
const STATUS: &[&str] = &[clause::GATE_STATUS];
const CUT: &[&str] = &[clause::GATE_CUT];

pub(super) fn bugs() -> Vec<Planted> {
    [forms(), bytes(), cuts()].into_iter().flatten().flatten().collect()
}

fn forms() -> Vec<Vec<Planted>> {
    let on_data =
        |change: fn(&mut Value)| events(move |_, events| events.iter_mut().for_each(|event| change(&mut event.data)));
    vec![
        each(
            "one-index-for-all-blocks",
            STREAM,
            ALL.from(ANTHROPIC).streams(),
            SOMETIMES,
            on_data(|data| {
                if data["index"].is_number() {
                    data["index"] = 0.into();
                }
            }),
        ),
        each(
            "one-index-for-all-calls",
            STREAM,
            ALL.from(CHAT).streams(),
            ALWAYS,
            on_data(|data| {
                if let Some(index) = data.pointer_mut("/choices/0/delta/tool_calls/0/index") {
                    *index = 0.into();
                }
            }),
        ),
        each(
            "events-without-their-names",
            STREAM,
            ALL.from(ANTHROPIC).streams(),
            ALWAYS,
            events(|_, events| {
                events.iter_mut().for_each(|event| event.name = None);
            }),
        ),
        each(
            "blocks-begun-twice",
            STREAM,
            ALL.from(ANTHROPIC).streams(),
            ALWAYS,
            events(|_, events| {
                let doubled = |event: ClientEvent| {
                    let times = if event.data["type"] == "content_block_start" { 2 } else { 1 };
                    vec![event; times]
                };
                *events = std::mem::take(events).into_iter().flat_map(doubled).collect();
            }),
        ),
        each(
            "blocks-not-closed",
            STREAM,
            ALL.from(ANTHROPIC).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| event.data["type"] != "content_block_stop");
            }),
        ),
        each(
            "stream-without-its-last-event",
            STREAM,
            ALL.from(ANTHROPIC).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| event.data["type"] != "message_stop");
            }),
        ),
        each(
            "stream-without-its-reason-to-end",
            STREAM,
            ALL.from(CHAT).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| !event.data["choices"][0]["finish_reason"].is_string());
            }),
        ),
        each(
            "stream-without-its-first-event",
            STREAM,
            ALL.from(&[threadspec::oracle::Api::OpenAiResponses, threadspec::oracle::Api::Anthropic]).streams(),
            ALWAYS,
            events(|_, events| {
                events
                    .retain(|event| !matches!(event.data["type"].as_str(), Some("message_start" | "response.created")));
            }),
        ),
        each(
            "stream-without-sequence-numbers",
            STREAM,
            ALL.from(RESPONSES).streams(),
            ALWAYS,
            on_data(|data| {
                super::super::bodies::drop_member(data, "sequence_number");
            }),
        ),
        each(
            "items-not-added",
            STREAM,
            ALL.from(RESPONSES).streams(),
            ALWAYS,
            events(|_, events| {
                events.retain(|event| event.data["type"] != "response.output_item.added");
            }),
        ),
        each(
            "names-of-calls-repeated-with-each-fragment",
            STREAM,
            TRANSLATING.from(CHAT).streams(),
            ALWAYS,
            events(|_, events| {
                for event in events.iter_mut() {
                    if let Some(call) = event.data.pointer_mut("/choices/0/delta/tool_calls/0/function")
                        && call["name"].is_null()
                    {
                        call["name"] = "look".into();
                    }
                }
            }),
        ),
        each(
            "chunks-without-an-index-of-calls",
            STREAM,
            ALL.from(CHAT).streams(),
            ALWAYS,
            on_data(|data| {
                if let Some(call) = data.pointer_mut("/choices/0/delta/tool_calls/0") {
                    super::super::bodies::drop_member(call, "index");
                }
            }),
        ),
        each(
            "stream-of-another-api",
            STREAM,
            TRANSLATING.from(OPENAI).to(ANTHROPIC).streams(),
            ALWAYS,
            events(|course, events| {
                if course.asked["tools"].is_null() {
                    return;
                }
                events.push(ClientEvent::new(Some("ping"), json!({"type": "ping"})));
            }),
        ),
    ]
}

fn bytes() -> Vec<Vec<Planted>> {
    let streams = ALL.streams();
    vec![
        each(
            "characters-cut-where-pieces-end",
            SAID,
            streams,
            ALWAYS,
            pieces(|_, bytes| {
                *bytes = String::from_utf8_lossy(bytes).into_owned().into_bytes();
            }),
        ),
        each(
            "pieces-without-a-whole-event-dropped",
            STATUS,
            TRANSLATING.streams(),
            ALWAYS,
            pieces(|_, bytes| {
                if !bytes.windows(2).any(|two| two == b"\n\n" || two == b"\n\r") {
                    bytes.clear();
                }
            }),
        ),
        each(
            "carriage-returns-kept-in-data",
            STATUS,
            TRANSLATING.streams(),
            ALWAYS,
            pieces(|_, bytes| {
                // An event ends with two line feeds alone.
                bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
            }),
        ),
        each(
            "comments-taken-for-data-on-the-way",
            STATUS,
            TRANSLATING.streams(),
            ALWAYS,
            pieces(|_, bytes| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                if text.starts_with(": ") {
                    *bytes = format!("data{text}").into_bytes();
                }
            }),
        ),
        each(
            "pings-of-the-upstream-in-the-text",
            &[clause::GATE_INVENTED],
            TRANSLATING.to(ANTHROPIC).streams(),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.piece = Some(Arc::new(|course, bytes| {
                    if String::from_utf8_lossy(bytes).contains("event: ping") {
                        course.kept.insert("ping", true.into());
                    }
                }));
                gateway.seams.news = Some(Arc::new(|course, news| {
                    for one in news {
                        if let AnswerNews::Text(text) = one
                            && course.kept.remove("ping").is_some()
                        {
                            text.push_str(" [ping] ");
                        }
                    }
                }));
            }),
        ),
        each(
            "bytes-of-a-stream-taken-for-characters-on-the-way",
            SAID,
            streams,
            ALWAYS,
            written(|_, bytes| {
                if !bytes.is_ascii() {
                    *bytes = bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes();
                }
            }),
        ),
        each(
            "all-pieces-but-the-first-of-a-write-lost",
            STREAM,
            PROXY.streams(),
            ALWAYS,
            written(|_, bytes| {
                let end = bytes.windows(2).position(|two| two == b"\n\n");
                if let Some(end) = end.filter(|end| end + 2 < bytes.len()) {
                    bytes.truncate(end + 2);
                }
            }),
        ),
    ]
}

fn cuts() -> Vec<Vec<Planted>> {
    let finish = |api: threadspec::oracle::Api| -> &'static [u8] {
        match api {
            threadspec::oracle::Api::OpenAiChat => {
                b"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
            }
            threadspec::oracle::Api::Anthropic => {
                b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
            }
            threadspec::oracle::Api::OpenAiResponses | threadspec::oracle::Api::Gemini => b"",
        }
    };
    vec![
        each(
            "cut-answers-ended-as-whole",
            CUT,
            TRANSLATING.streams(),
            SOMETIMES,
            Box::new(|gateway, shows| {
                gateway.seams.takes_cuts = Some(Arc::new(move |course, takes| *takes |= shows.holds(course)));
            }),
        ),
        each(
            "errors-in-streams-ended-as-whole",
            CUT,
            TRANSLATING.streams(),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.takes_errors = Some(Arc::new(|_, takes| *takes = true));
            }),
        ),
        each(
            "cut-plain-answers-ended-as-whole",
            CUT,
            TRANSLATING.plain(),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.takes_cuts = Some(Arc::new(|_, takes| *takes = true));
            }),
        ),
        each(
            "garbage-in-streams-passed-over",
            CUT,
            TRANSLATING.streams(),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.takes_garbage = Some(Arc::new(|_, takes| *takes = true));
                gateway.seams.takes_cuts = Some(Arc::new(|_, takes| *takes = true));
            }),
        ),
        each(
            "error-events-of-a-passing-stream-dropped-and-ended",
            CUT,
            PROXY.from(&[threadspec::oracle::Api::OpenAiChat, threadspec::oracle::Api::Anthropic]).streams(),
            ALWAYS,
            events(move |course, events| {
                let is_error = |event: &ClientEvent| event.data["error"].is_object();
                if events.iter().any(is_error) {
                    events.retain(|event| !is_error(event));
                    let mut parser = threadspec_apis::sse::SseParser::default();
                    let end = parser.push(finish(course.client)).into_iter();
                    events.extend(end.map(|event| ClientEvent {
                        name: event.name,
                        data: serde_json::from_str(&event.data).unwrap_or_else(|_| event.data.into()),
                    }));
                }
            }),
        ),
        each(
            "calls-that-broke-off-closed-with-a-brace",
            CUT,
            TRANSLATING.streams(),
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.takes_cuts = Some(Arc::new(|course, takes| {
                    *takes = course.kept.contains_key("is calling");
                }));
                gateway.seams.news = Some(Arc::new(|course, news| {
                    if news.iter().any(|news| matches!(news, AnswerNews::Call { .. })) {
                        course.kept.insert("is calling", true.into());
                    }
                }));
            }),
        ),
    ]
}
