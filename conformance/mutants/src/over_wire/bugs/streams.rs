//! Streams whose texts are read wrongly: bytes, lines, events that say nothing.

use super::{ANTHROPIC, CHAT, RESPONSES, bug, on_events, text_of};
use crate::planted::Planted;
use crate::wire::modes::{ALL, PLAIN, STREAMS};
use crate::wire::sse::events_of;
use crate::wire::{HeardAnswer, SseLine, WireAgent};
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::json::{list, text};

const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];
const GOES_ON: &[&str] = &[clause::AGENT_GOES_ON];
const TEXT: &[&str] = &[clause::AGENT_TEXT];

/// Changes what was heard.
fn on_heard(agent: &mut WireAgent, change: fn(&mut HeardAnswer)) {
    agent.heard = Box::new(move |_, heard| change(heard));
}

/// Changes each fragment of text.
fn on_texts(agent: &mut WireAgent, change: fn(&str) -> String) {
    on_events(agent, move |events| {
        for fragment in events.iter_mut().filter_map(text_of) {
            *fragment = change(text(fragment)).into();
        }
    });
}

/// Drops some fragments of text, given each with the one before it.
fn drop_texts(agent: &mut WireAgent, drops: fn(usize, &str, &str) -> bool) {
    on_events(agent, move |events| {
        let (mut before, mut number) = (String::new(), 0);
        for fragment in events.iter_mut().filter_map(text_of) {
            let own = text(fragment).to_owned();
            if drops(number, &own, &before) {
                *fragment = "".into();
            }
            (before, number) = (own, number + 1);
        }
    });
}

/// Reads each piece of a stream by itself.
fn each_alone(pieces: &[Vec<u8>]) -> Vec<SseLine> {
    pieces.iter().flat_map(|piece| events_of(&String::from_utf8_lossy(piece))).collect()
}

/// The lines of a text, each of which ends with a line feed alone.
fn unix_events(text: &str) -> Vec<SseLine> {
    let events = text.split("\n\n").filter(|event| !event.is_empty());
    events.flat_map(|event| events_of(&format!("{event}\n\n"))).collect()
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        bug("characters-cut-where-the-pieces-of-a-stream-end", TEXT, STREAMS, |agent| {
            agent.lines =
                |pieces| events_of(&pieces.iter().map(|piece| String::from_utf8_lossy(piece)).collect::<String>());
        }),
        bug("bytes-of-a-stream-taken-for-characters", TEXT, STREAMS, |agent| {
            agent.lines = |pieces| events_of(&pieces.concat().iter().map(|&byte| char::from(byte)).collect::<String>());
        }),
        bug("half-characters-at-the-end-of-a-piece-dropped", TEXT, STREAMS, |agent| {
            agent.lines = |pieces| {
                let read = |piece: &Vec<u8>| String::from_utf8_lossy(piece).replace('\u{fffd}', "");
                events_of(&pieces.iter().map(read).collect::<String>())
            };
        }),
        bug("events-cut-where-the-pieces-of-a-stream-end", GOES_ON, STREAMS, |agent| agent.lines = each_alone),
        bug("carriage-returns-not-known", RESPONSE, STREAMS, |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                if text.contains("\n\n") { unix_events(&text) } else { Vec::new() }
            };
        }),
        bug("events-divided-at-single-line-feeds-with-their-carriage-returns", RESPONSE, STREAMS.of(CHAT), |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                let data = text.split('\n').filter_map(|line| line.strip_prefix("data: "));
                // A value keeps the carriage return; `[DONE]` is not known with it.
                let whole = data.filter(|data| !data.starts_with("[DONE]\r"));
                whole.map(|data| SseLine { name: String::new(), data: data.to_owned() }).collect()
            };
        }),
        bug("comments-taken-for-data", GOES_ON, STREAMS, |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                events_of(&text.replace("\n: ", "\ndata: ").replacen(": keep-alive", "data: keep-alive", 1))
            };
        }),
        bug("long-lines-cut-to-64-kilobytes", RESPONSE, STREAMS, |agent| {
            agent.lines = |pieces| {
                let text = String::from_utf8_lossy(&pieces.concat()).into_owned();
                let short =
                    |line: &str| if line.len() > 1 << 16 { crate::wire::cut(line, 1 << 16) } else { line.to_owned() };
                events_of(&(text.split('\n').map(short).collect::<Vec<_>>().join("\n")))
            };
        }),
        bug("end-of-the-stream-not-known", GOES_ON, STREAMS.of(CHAT), |agent| {
            on_events(agent, |events| {
                for event in events.iter_mut().filter(|event| event["type"] == "done") {
                    *event = json!({"type": "garbage"});
                }
            });
        }),
        bug("event-without-a-choice-not-known", GOES_ON, STREAMS.of(CHAT), |agent| {
            on_events(agent, |events| {
                for event in events.iter_mut().filter(|event| event["choices"] == json!([])) {
                    *event = json!({"error": {"message": "list index out of range"}});
                }
            });
        }),
        bug("event-without-a-choice-ends-the-answer", RESPONSE, STREAMS.of(CHAT), |agent| {
            on_events(agent, |events| {
                if let Some(at) = events.iter().position(|event| event["choices"][0]["delta"]["content"] == "") {
                    let last = events.len().saturating_sub(3).max(at + 1);
                    events.drain(at + 1..last);
                }
            });
        }),
        bug("pings-not-known", GOES_ON, STREAMS.of(ANTHROPIC), |agent| {
            on_events(agent, |events| {
                for event in events.iter_mut().filter(|event| event["type"] == "ping") {
                    *event = json!({"type": "error", "error": {"message": "unknown event ping"}});
                }
            });
        }),
        bug("pings-in-the-text", RESPONSE, STREAMS.of(ANTHROPIC), |agent| {
            agent.events = Box::new(|_, events| {
                let mut index = Value::Null;
                for event in events.iter_mut() {
                    if event["type"] == "content_block_start" {
                        index = event["index"].clone();
                    } else if event["type"] == "ping" && !index.is_null() {
                        *event = json!({"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": "ping"}});
                    }
                }
            });
        }),
        bug("pings-end-the-answer", GOES_ON, STREAMS.of(ANTHROPIC), |agent| {
            on_events(agent, |events| {
                let is_late = |(at, event): &(usize, &Value)| *at > 2 && event["type"] == "ping";
                if let Some((at, _)) = events.iter().enumerate().find(is_late) {
                    events.truncate(at);
                }
            });
        }),
        bug("empty-fragment-ends-the-text", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                let mut is_over = false;
                let mut seen = false;
                for fragment in events.iter_mut().filter_map(text_of) {
                    is_over |= seen && fragment == "";
                    seen |= fragment != "";
                    if is_over {
                        *fragment = "".into();
                    }
                }
            });
        }),
        bug("empty-fragment-clears-the-text", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                let empty = events
                    .iter_mut()
                    .map(text_of)
                    .enumerate()
                    .filter(|(_, text)| text.as_deref().is_some_and(|text| text == ""));
                let last = empty.map(|(at, _)| at).max().unwrap_or(0);
                for fragment in events[..last].iter_mut().filter_map(text_of) {
                    *fragment = "".into();
                }
            });
        }),
        bug("first-fragment-of-a-text-missing", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                if let Some(first) = events.iter_mut().filter_map(text_of).find(|fragment| **fragment != "") {
                    *first = "".into();
                }
            });
        }),
        bug("last-fragment-of-a-text-missing", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                if let Some(last) = events.iter_mut().filter_map(text_of).rfind(|fragment| **fragment != "") {
                    *last = "".into();
                }
            });
        }),
        bug("last-fragment-of-a-text-alone", RESPONSE, STREAMS, |agent| {
            on_events(agent, |events| {
                let mut texts: Vec<&mut Value> =
                    events.iter_mut().filter_map(text_of).filter(|text| **text != "").collect();
                texts.pop();
                texts.into_iter().for_each(|fragment| *fragment = "".into());
            });
        }),
        bug("equal-neighbouring-fragments-of-a-text-once", RESPONSE, STREAMS, |agent| {
            drop_texts(agent, |number, own, before| number > 0 && own == before && !own.is_empty());
        }),
        bug("fragments-of-white-space-dropped", TEXT, STREAMS, |agent| {
            drop_texts(agent, |_, own, _| own.trim().is_empty());
        }),
        bug("fragments-of-a-text-trimmed", TEXT, STREAMS, |agent| on_texts(agent, |text| text.trim().to_owned())),
        bug("fragments-of-a-text-joined-with-spaces", TEXT, STREAMS, |agent| {
            on_texts(agent, |text| format!("{text} "))
        }),
        bug("line-ends-in-fragments-made-one-kind", TEXT, STREAMS, |agent| {
            on_texts(agent, |text| text.replace("\r\n", "\n").replace('\r', "\n"));
        }),
        bug("texts-of-streams-cut-to-a-thousand-characters", RESPONSE, STREAMS, |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("text") {
                    part["text"] = crate::wire::cut(text(&part["text"]), 1000).into();
                }
            });
        }),
        bug("whole-text-behind-its-fragments", RESPONSE, STREAMS.of(RESPONSES), |agent| {
            on_events(agent, |events| {
                for event in events.iter_mut().filter(|event| event["type"] == "response.output_text.done") {
                    event["type"] = "response.output_text.delta".into();
                    event["delta"] = event["text"].take();
                }
            });
        }),
        bug("parts-of-the-whole-response-behind-those-of-the-stream", RESPONSE, STREAMS.of(RESPONSES), |agent| {
            on_events(agent, |events| {
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
            });
        }),
        bug("response-taken-as-it-began", RESPONSE, STREAMS.of(RESPONSES), |agent| {
            on_events(agent, |events| {
                events.retain(|event| ["response.created", "response.completed"].contains(&text(&event["type"])));
            });
        }),
        bug("text-behind-calls-missing", RESPONSE, STREAMS.of(super::OPENAI), |agent| {
            on_events(agent, |events| {
                let mut has_calls = false;
                for event in events {
                    has_calls |= super::arguments_of(event).is_some();
                    if let Some(fragment) = text_of(event).filter(|_| has_calls) {
                        *fragment = "".into();
                    }
                }
            });
        }),
        bug("text-beside-calls-missing-in-streams", RESPONSE, STREAMS, |agent| {
            on_heard(agent, |heard| {
                if heard.calls().next().is_some() {
                    heard.parts.retain(|part| part["type"] != "text");
                }
            });
        }),
        bug("null-text-as-a-word", RESPONSE, PLAIN.of(CHAT), |agent| {
            on_heard(agent, |heard| {
                let has_calls = heard.calls().next().is_some();
                for part in heard.parts_of("text").filter(|part| has_calls && part["text"] == "") {
                    part["text"] = "None".into();
                }
            });
        }),
        bug("thinking-in-the-text", RESPONSE, ALL.of(ANTHROPIC), |agent| {
            on_heard(agent, |heard| {
                for part in heard.parts_of("opaque") {
                    *part = json!({"type": "text", "text": text(&part["raw"]["thinking"])});
                }
            });
        }),
    ]
}
