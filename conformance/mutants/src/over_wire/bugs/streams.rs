//! Streams whose texts are read wrongly: bytes, lines, events that say nothing.

use crate::over_wire::prelude::*;
use crate::wire::sse::events_of;

/// Reads each piece of a stream by itself.
fn each_alone(pieces: &[Vec<u8>]) -> Vec<SseLine> {
    pieces.iter().flat_map(|piece| events_of(&String::from_utf8_lossy(piece))).collect()
}

/// The lines of a text, each of which ends with a line feed alone.
fn unix_events(text: &str) -> Vec<SseLine> {
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    events.flat_map(|event| events_of(&format!("{event}\n\n"))).collect()
}

impl WireGroup {
    /// Changes each fragment of text.
    fn texts(self, name: &'static str, change: fn(&str) -> String) -> Planted {
        self.events(name, move |_, events| {
            for fragment in events.iter_mut().filter_map(text_of) {
                *fragment = change(text(fragment)).into();
            }
        })
    }

    /// Drops some fragments of text, given each with the one before it.
    fn drop_texts(self, name: &'static str, drops: fn(usize, &str, &str) -> bool) -> Planted {
        self.events(name, move |_, events| {
            let (mut before, mut number) = (String::new(), 0);
            for fragment in events.iter_mut().filter_map(text_of) {
                let own = text(fragment).to_owned();
                if drops(number, &own, &before) {
                    *fragment = "".into();
                }
                (before, number) = (own, number + 1);
            }
        })
    }
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        TEXT.of(STREAMS).plant("characters-cut-where-the-pieces-of-a-stream-end", |agent| {
            agent.lines =
                |pieces| events_of(&pieces.iter().map(|piece| String::from_utf8_lossy(piece)).collect::<String>());
        }),
        TEXT.of(STREAMS).plant("bytes-of-a-stream-taken-for-characters", |agent| {
            agent.lines = |pieces| events_of(&pieces.concat().iter().map(|&byte| char::from(byte)).collect::<String>());
        }),
        TEXT.of(STREAMS).plant("half-characters-at-the-end-of-a-piece-dropped", |agent| {
            agent.lines = |pieces| {
                let read = |piece: &Vec<u8>| String::from_utf8_lossy(piece).replace('\u{fffd}', "");
                events_of(&pieces.iter().map(read).collect::<String>())
            };
        }),
        GOES_ON.of(STREAMS).plant("events-cut-where-the-pieces-of-a-stream-end", |agent| agent.lines = each_alone),
        RESPONSE.of(STREAMS).plant("carriage-returns-not-known", |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                if text.contains("\n\n") { unix_events(&text) } else { Vec::new() }
            };
        }),
        RESPONSE.of(STREAMS.of(CHAT)).plant("events-divided-at-single-line-feeds-with-their-carriage-returns", |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                let data = text.split('\n').filter_map(|line| line.strip_prefix("data: "));
                // A value keeps the carriage return; `[DONE]` is not known with it.
                let whole = data.filter(|data| !data.starts_with("[DONE]\r"));
                whole.map(|data| SseLine { name: String::new(), data: data.to_owned() }).collect()
            };
        }),
        GOES_ON.of(STREAMS).plant("comments-taken-for-data", |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                events_of(&text.replace("\n: ", "\ndata: ").replacen(": keep-alive", "data: keep-alive", 1))
            };
        }),
        RESPONSE.of(STREAMS).plant("long-lines-cut-to-64-kilobytes", |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                let short =
                    |line: &str| if line.len() > 1 << 16 { cut(line, 1 << 16) } else { line.to_owned() };
                events_of(&(text.split('\n').map(short).collect::<Vec<_>>().join("\n")))
            };
        }),
        GOES_ON.of(STREAMS.of(CHAT)).each_event("end-of-the-stream-not-known", |event| { if event["type"] == "done" {
                    *event = json!({"type": "garbage"});
                } }),
        GOES_ON.of(STREAMS.of(CHAT)).each_event("event-without-a-choice-not-known", |event| { if event["choices"] == json!([]) {
                    *event = json!({"error": {"message": "list index out of range"}});
                } }),
        RESPONSE.of(STREAMS.of(CHAT)).events("event-without-a-choice-ends-the-answer", |_, events| {
                if let Some(at) = events.iter().position(|event| event["choices"][0]["delta"]["content"] == "") {
                    let last = events.len().saturating_sub(3).max(at + 1);
                    events.drain(at + 1..last);
                }
            }),
        GOES_ON.of(STREAMS.of(ANTHROPIC)).each_event("pings-not-known", |event| { if event["type"] == "ping" {
                    *event = json!({"type": "error", "error": {"message": "unknown event ping"}});
                } }),
        RESPONSE.of(STREAMS.of(ANTHROPIC)).events("pings-in-the-text", |_, events| {
                let mut index = Value::Null;
                for event in events.iter_mut() {
                    if event["type"] == "content_block_start" {
                        index = event["index"].clone();
                    } else if event["type"] == "ping" && !index.is_null() {
                        *event = json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": "ping"}});
                    }
                }
            }),
        GOES_ON.of(STREAMS.of(ANTHROPIC)).events("pings-end-the-answer", |_, events| {
                let is_late = |(at, event): &(usize, &Value)| *at > 2 && event["type"] == "ping";
                if let Some((at, _)) = events.iter().enumerate().find(is_late) {
                    events.truncate(at);
                }
            }),
        RESPONSE.of(STREAMS).events("empty-fragment-ends-the-text", |_, events| {
                let mut is_over = false;
                let mut seen = false;
                for fragment in events.iter_mut().filter_map(text_of) {
                    is_over |= seen && fragment == "";
                    seen |= fragment != "";
                    if is_over {
                        *fragment = "".into();
                    }
                }
            }),
        RESPONSE.of(STREAMS).events("empty-fragment-clears-the-text", |_, events| {
                let empty = events
                    .iter_mut()
                    .map(text_of)
                    .enumerate()
                    .filter(|(_, text)| text.as_deref().is_some_and(|text| text == ""));
                let last = empty.map(|(at, _)| at).max().unwrap_or(0);
                for fragment in events[..last].iter_mut().filter_map(text_of) {
                    *fragment = "".into();
                }
            }),
        RESPONSE.of(STREAMS).events("first-fragment-of-a-text-missing", |_, events| {
                if let Some(first) = events.iter_mut().filter_map(text_of).find(|fragment| **fragment != "") {
                    *first = "".into();
                }
            }),
        RESPONSE.of(STREAMS).events("last-fragment-of-a-text-missing", |_, events| {
                if let Some(last) = events.iter_mut().filter_map(text_of).rfind(|fragment| **fragment != "") {
                    *last = "".into();
                }
            }),
        RESPONSE.of(STREAMS).events("last-fragment-of-a-text-alone", |_, events| {
                let mut texts: Vec<&mut Value> =
                    events.iter_mut().filter_map(text_of).filter(|text| **text != "").collect();
                texts.pop();
                texts.into_iter().for_each(|fragment| *fragment = "".into());
            }),
        RESPONSE.of(STREAMS).drop_texts("equal-neighbouring-fragments-of-a-text-once", |number, own, before| number > 0 && own == before && !own.is_empty()),
        TEXT.of(STREAMS).drop_texts("fragments-of-white-space-dropped", |_, own, _| own.trim().is_empty()),
        TEXT.of(STREAMS).texts("fragments-of-a-text-trimmed", |text| text.trim().to_owned()),
        TEXT.of(STREAMS).texts("fragments-of-a-text-joined-with-spaces", |text| format!("{text} ")),
        TEXT.of(STREAMS).texts("line-ends-in-fragments-made-one-kind", |text| text.replace("\r\n", "\n").replace('\r', "\n")),
        RESPONSE.of(STREAMS).parts("texts-of-streams-cut-to-a-thousand-characters", "text", |part| {
                    part["text"] = cut(text(&part["text"]), 1000).into();
                }),
        RESPONSE.of(STREAMS.of(RESPONSES)).each_event("whole-text-behind-its-fragments", |event| { if event["type"] == "response.output_text.done" {
                    event["type"] = "response.output_text.delta".into();
                    event["delta"] = event["text"].take();
                } }),
        RESPONSE.of(STREAMS.of(RESPONSES)).events("parts-of-the-whole-response-behind-those-of-the-stream", |_, events| {
                let last = events.iter().find(|event| event["type"] == "response.completed");
                let items = last.map(|event| list(&event["response"]["output"]).to_vec()).unwrap_or_default();
                let texts = items.iter().flat_map(|item| list(&item["content"])).map(|part| part["text"].clone());
                let texts: Vec<Value> = texts.collect();
                let at = events.len().saturating_sub(1);
                events.splice(
                    at..at,
                    texts
                        .into_iter()
                        .map(|text| json!({"type": "response.output_text.delta", "output_index": 99, "delta": text})),
                );
            }),
        RESPONSE.of(STREAMS.of(RESPONSES)).events("response-taken-as-it-began", |_, events| {
                events.retain(|event| ["response.created", "response.completed"].contains(&text(&event["type"])));
            }),
        RESPONSE.of(STREAMS.of(OPENAI)).events("text-behind-calls-missing", |_, events| {
                let mut has_calls = false;
                for event in events {
                    has_calls |= arguments_of(event).is_some();
                    if let Some(fragment) = text_of(event).filter(|_| has_calls) {
                        *fragment = "".into();
                    }
                }
            }),
        RESPONSE.of(STREAMS).heard("text-beside-calls-missing-in-streams", |_, heard| {
                if heard.calls().next().is_some() {
                    heard.parts.retain(|part| part["type"] != "text");
                }
            }),
        RESPONSE.of(PLAIN.of(CHAT)).heard("null-text-as-a-word", |_, heard| {
                let has_calls = heard.calls().next().is_some();
                for part in heard.parts_of("text").filter(|part| has_calls && part["text"] == "") {
                    part["text"] = "None".into();
                }
            }),
        RESPONSE.of(ALL.of(ANTHROPIC)).parts("thinking-in-the-text", "opaque", |part| {
                    *part = json!({"type": "text", "text": text(&part["raw"]["thinking"])});
                }),
    ]
}
