//! Streams that are none of the client's API, that are read wrongly, or that end as if nothing had happened.

use crate::gateways::prelude::*;

pub(super) fn bugs() -> Vec<Planted> {
    [forms(), bytes(), cuts()].into_iter().flatten().flatten().collect()
}

fn forms() -> Vec<Vec<Planted>> {
    vec![
        STREAM.at(ALL.from(ANTHROPIC).streams()).when(SOMETIMES).data("one-index-for-all-blocks", |data| {
            if data["index"].is_number() {
                data["index"] = 0.into();
            }
        }),
        STREAM.at(ALL.from(CHAT).streams()).data("one-index-for-all-calls", |data| {
            if let Some(index) = data.pointer_mut("/choices/0/delta/tool_calls/0/index") {
                *index = 0.into();
            }
        }),
        STREAM.at(ALL.from(ANTHROPIC).streams()).events("events-without-their-names", |_, events| {
            events.iter_mut().for_each(|event| event.name = None);
        }),
        STREAM.at(ALL.from(ANTHROPIC).streams()).events("blocks-begun-twice", |_, events| {
            let doubled = |event: ClientEvent| {
                let times = if event.data["type"] == "content_block_start" { 2 } else { 1 };
                vec![event; times]
            };
            *events = std::mem::take(events).into_iter().flat_map(doubled).collect();
        }),
        STREAM
            .at(ALL.from(ANTHROPIC).streams())
            .events_kept("blocks-not-closed", |data| data["type"] != "content_block_stop"),
        STREAM
            .at(ALL.from(ANTHROPIC).streams())
            .events_kept("stream-without-its-last-event", |data| data["type"] != "message_stop"),
        STREAM
            .at(ALL.from(CHAT).streams())
            .events_kept("stream-without-its-reason-to-end", |data| !data["choices"][0]["finish_reason"].is_string()),
        STREAM.at(ALL.from(RESPONSES_OR_ANTHROPIC).streams()).events_kept("stream-without-its-first-event", |data| {
            !matches!(data["type"].as_str(), Some("message_start" | "response.created"))
        }),
        STREAM.at(ALL.from(RESPONSES).streams()).data("stream-without-sequence-numbers", |data| {
            drop_member(data, "sequence_number");
        }),
        STREAM
            .at(ALL.from(RESPONSES).streams())
            .events_kept("items-not-added", |data| data["type"] != "response.output_item.added"),
        STREAM.at(TRANSLATING.from(CHAT).streams()).events(
            "names-of-calls-repeated-with-each-fragment",
            |_, events| {
                for event in events.iter_mut() {
                    if let Some(call) = event.data.pointer_mut("/choices/0/delta/tool_calls/0/function")
                        && call["name"].is_null()
                    {
                        call["name"] = "look".into();
                    }
                }
            },
        ),
        STREAM.at(ALL.from(CHAT).streams()).data("chunks-without-an-index-of-calls", |data| {
            if let Some(call) = data.pointer_mut("/choices/0/delta/tool_calls/0") {
                drop_member(call, "index");
            }
        }),
        STREAM.at(TRANSLATING.from(OPENAI).to(ANTHROPIC).streams()).events(
            "stream-of-another-api",
            |course, events| {
                if course.asked["tools"].is_null() {
                    return;
                }
                events.push(ClientEvent::new(Some("ping"), json!({"type": "ping"})));
            },
        ),
    ]
}

fn bytes() -> Vec<Vec<Planted>> {
    let streams = ALL.streams();
    vec![
        SAID.at(streams).piece("characters-cut-where-pieces-end", |_, bytes| {
            *bytes = String::from_utf8_lossy(bytes).into_owned().into_bytes();
        }),
        // Nothing can be read of such a stream, so that the client hears of a failure.
        STATUS.at(TRANSLATING.streams()).piece("pieces-without-a-whole-event-dropped", |_, bytes| {
            if !bytes.windows(2).any(|two| two == b"\n\n" || two == b"\n\r") {
                bytes.clear();
            }
        }),
        STATUS.at(TRANSLATING.streams()).piece("carriage-returns-kept-in-data", |_, bytes| {
            // An event ends with two line feeds alone.
            bytes.iter_mut().filter(|byte| **byte == b'\r').for_each(|byte| *byte = b' ');
        }),
        STATUS.at(TRANSLATING.streams()).piece("comments-taken-for-data-on-the-way", |_, bytes| {
            let text = String::from_utf8_lossy(bytes).into_owned();
            if text.starts_with(": ") {
                *bytes = format!("data{text}").into_bytes();
            }
        }),
        INVENTED.at(TRANSLATING.to(ANTHROPIC).streams()).plant("pings-of-the-upstream-in-the-text", |gateway, _| {
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
        SAID.at(streams).written("bytes-of-a-stream-taken-for-characters-on-the-way", |_, bytes| {
            if !bytes.is_ascii() {
                *bytes = bytes.iter().map(|&byte| char::from(byte)).collect::<String>().into_bytes();
            }
        }),
        STREAM.at(PROXY.streams()).written("all-pieces-but-the-first-of-a-write-lost", |_, bytes| {
            let end = bytes.windows(2).position(|two| two == b"\n\n");
            if let Some(end) = end.filter(|end| end + 2 < bytes.len()) {
                bytes.truncate(end + 2);
            }
        }),
    ]
}

fn cuts() -> Vec<Vec<Planted>> {
    let finish = |api: Api| -> &'static [u8] {
        match api {
            Api::OpenAiChat => {
                b"data: {\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n"
            }
            Api::Anthropic => {
                b"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":1}}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"
            }
            Api::OpenAiResponses | Api::Gemini => b"",
        }
    };
    vec![
        CUT.at(TRANSLATING.streams())
            .when(SOMETIMES)
            .takes_cuts("cut-answers-ended-as-whole", |_, takes| *takes = true),
        CUT.at(TRANSLATING.streams()).takes_errors("errors-in-streams-ended-as-whole", |_, takes| *takes = true),
        CUT.at(TRANSLATING.plain()).takes_cuts("cut-plain-answers-ended-as-whole", |_, takes| *takes = true),
        CUT.at(TRANSLATING.streams()).plant("garbage-in-streams-passed-over", |gateway, _| {
            gateway.seams.takes_garbage = Some(Arc::new(|_, takes| *takes = true));
            gateway.seams.takes_cuts = Some(Arc::new(|_, takes| *takes = true));
        }),
        CUT.at(PROXY.from(CHAT_OR_ANTHROPIC).streams()).events(
            "error-events-of-a-passing-stream-dropped-and-ended",
            move |course, events| {
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
            },
        ),
        CUT.at(TRANSLATING.streams()).plant("calls-that-broke-off-closed-with-a-brace", |gateway, _| {
            gateway.seams.takes_cuts = Some(Arc::new(|course, takes| {
                *takes = course.kept.contains_key("is calling");
            }));
            gateway.seams.news = Some(Arc::new(|course, news| {
                if news.iter().any(|news| matches!(news, AnswerNews::Call { .. })) {
                    course.kept.insert("is calling", true.into());
                }
            }));
        }),
    ]
}
