//! Answers and failures that say the same in another way.

use super::super::bugs::{ANTHROPIC, CHAT, OPENAI, RESPONSES};
use super::super::plant::{self, neglecting, reading};
use crate::gateway::course::{ClientEvent, TestGateway};
use crate::gateway::places::{ALL, TRANSLATING};
use crate::gateway::said::AnswerNews;
use crate::planted::Planted;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use threadspec_golden::clause;
use threadspec_judge::universal::value;

pub(super) fn readings() -> Vec<Planted> {
    [answers(), streams(), failures()].into_iter().flatten().collect()
}

fn answers() -> Vec<Planted> {
    vec![
        reading(
            "usage-in-the-gateways-own-count",
            ALL.plain(),
            plant::plain(|_, body| {
                if let Some(usage) = body.get_mut("usage").and_then(Value::as_object_mut) {
                    usage.values_mut().filter(|count| count.is_u64()).for_each(|count| *count = 7.into());
                }
            }),
        ),
        reading(
            "ids-of-answers-made-anew",
            ALL.plain(),
            plant::plain(|_, body| {
                if body["id"].is_string() {
                    body["id"] = "gateway-1".into();
                }
            }),
        ),
        reading(
            "model-named-as-the-gateway-does",
            ALL.plain(),
            plant::plain(|_, body| {
                if body["model"].is_string() {
                    body["model"] = "gateway/model".into();
                }
            }),
        ),
        reading(
            "refusals-as-texts",
            TRANSLATING,
            plant::said(
                |_, answer| {
                    if let Some(refusal) = answer.refusal.take() {
                        answer.text += &refusal;
                        answer.finish = answer.usual_finish();
                    }
                },
                |_, news| {
                    for one in news {
                        if let AnswerNews::Refusal(text) = one {
                            *one = AnswerNews::Text(std::mem::take(text));
                        }
                    }
                },
            ),
        ),
        neglecting(
            "thinking-left-out",
            &[clause::GATE_THINKING],
            TRANSLATING,
            plant::said(
                |_, answer| answer.thinking.clear(),
                |_, news| news.retain(|news| !matches!(news, AnswerNews::Thinking(_) | AnswerNews::Seal(_))),
            ),
        ),
        reading(
            "repeated-ids-of-an-answer-renamed",
            TRANSLATING,
            plant::said(
                |_, answer| {
                    let mut seen = HashMap::new();
                    for call in &mut answer.calls {
                        let times = seen.entry(call.id.clone()).or_insert(0);
                        if *times > 0 {
                            call.id = format!("{}_again_{times}", call.id);
                        }
                        *times += 1;
                    }
                },
                |course, news| {
                    for one in news {
                        let AnswerNews::Call { id, .. } = one else { continue };
                        let key = json!([course.ask, id]).to_string();
                        let seen = course.kept.entry("ids of the answer").or_insert_with(|| json!({}));
                        let times = seen[&key].as_u64().unwrap_or_default();
                        seen[&key] = (times + 1).into();
                        if times > 0 {
                            *id = format!("{id}_again_{times}");
                        }
                    }
                },
            ),
        ),
        reading(
            "arguments-of-answers-written-with-spaces",
            TRANSLATING.from(OPENAI).plain(),
            plant::said(
                |_, answer| {
                    for call in &mut answer.calls {
                        if call.args().is_some() {
                            call.arguments = format!(" {}\n", call.arguments);
                        }
                    }
                },
                |_, _| {},
            ),
        ),
        reading(
            "members-of-compatible-servers-in-answers",
            ALL.from(CHAT).plain(),
            plant::plain(|_, body| {
                if body["choices"].is_array() {
                    body["provider"] = "gateway".into();
                    if let Some(choice) = body.pointer_mut("/choices/0") {
                        choice["native_finish_reason"] = "x".into();
                    }
                }
            }),
        ),
        reading(
            "texts-of-answers-in-two-blocks",
            ALL.from(ANTHROPIC).plain(),
            plant::plain(|_, body| {
                let Some(blocks) = body.get_mut("content").and_then(Value::as_array_mut) else { return };
                let Some(at) = blocks.iter().position(|block| block["type"] == "text") else { return };
                let text = blocks[at]["text"].as_str().unwrap_or_default().to_owned();
                let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(half, _)| half);
                if half > 0 {
                    blocks[at]["text"] = text[..half].into();
                    blocks.insert(at + 1, json!({"type": "text", "text": text[half..]}));
                }
            }),
        ),
        reading(
            "answers-of-calls-without-the-member-content",
            ALL.from(CHAT).plain(),
            plant::plain(|_, body| {
                if let Some(message) = body.pointer_mut("/choices/0/message")
                    && message["tool_calls"].is_array()
                    && message["content"].is_null()
                {
                    super::super::bodies::drop_member(message, "content");
                }
            }),
        ),
    ]
}

fn streams() -> Vec<Planted> {
    vec![
        reading(
            "usage-of-streams-in-the-gateways-own-count",
            ALL.streams(),
            plant::events(|_, events| {
                for event in events {
                    super::super::bodies::deep(&mut event.data, &|value| {
                        if let Some(usage) = value.get_mut("usage").and_then(Value::as_object_mut) {
                            usage.values_mut().filter(|count| count.is_u64()).for_each(|count| *count = 7.into());
                        }
                    });
                }
            }),
        ),
        reading(
            "comments-between-events",
            ALL.streams(),
            plant::written(|_, bytes| {
                if bytes.ends_with(b"\n\n") {
                    bytes.extend(b": gateway\n\n");
                }
            }),
        ),
        reading(
            "lines-of-streams-that-end-in-cr-lf",
            TRANSLATING.streams(),
            plant::written(|_, bytes| {
                if bytes.ends_with(b"\n\n") {
                    *bytes = bytes
                        .iter()
                        .flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] })
                        .collect();
                }
            }),
        ),
        reading(
            "pings-between-events",
            ALL.from(ANTHROPIC).streams(),
            plant::events(|_, events| {
                if events.first().is_some_and(|event| event.data["type"] != "error") {
                    events.push(ClientEvent::new(Some("ping"), json!({"type": "ping"})));
                }
            }),
        ),
        reading(
            "empty-fragments-of-texts",
            TRANSLATING.streams(),
            plant::news(|_, news| {
                if news.iter().any(|news| matches!(news, AnswerNews::Text(_))) {
                    news.push(AnswerNews::Text(String::new()));
                }
            }),
        ),
        reading(
            "fragments-of-texts-divided",
            TRANSLATING.streams(),
            plant::news(|_, news| {
                let divided = |news: AnswerNews| match news {
                    AnswerNews::Text(text) => text.chars().map(|one| AnswerNews::Text(one.into())).collect(),
                    other => vec![other],
                };
                *news = std::mem::take(news).into_iter().flat_map(divided).collect();
            }),
        ),
        reading(
            "first-fragment-of-arguments-empty",
            TRANSLATING.streams(),
            plant::news(|_, news| {
                let with_empty = |news: AnswerNews| match news {
                    AnswerNews::Call { number, id, name } => {
                        vec![
                            AnswerNews::Call { number, id, name },
                            AnswerNews::Arguments { number, text: String::new() },
                        ]
                    }
                    other => vec![other],
                };
                *news = std::mem::take(news).into_iter().flat_map(with_empty).collect();
            }),
        ),
        reading(
            "arguments-in-one-fragment",
            TRANSLATING.from(CHAT).streams(),
            plant::news(|course, news| {
                let mut out = Vec::new();
                for one in std::mem::take(news) {
                    match one {
                        AnswerNews::Arguments { number, text } => {
                            let key = json!([course.ask, number]).to_string();
                            let kept = course.kept.entry("arguments").or_insert_with(|| json!({}));
                            let all = kept[&key].as_str().unwrap_or_default().to_owned() + &text;
                            // They are told when they are the JSON of an object.
                            let is_whole = value::read(&all).is_ok_and(|arguments| arguments.is_object());
                            kept[&key] = if is_whole { "".into() } else { (&*all).into() };
                            if is_whole {
                                out.push(AnswerNews::Arguments { number, text: all });
                            }
                        }
                        other => out.push(other),
                    }
                }
                *news = out;
            }),
        ),
        reading(
            "first-chunk-without-a-text",
            ALL.from(CHAT).streams(),
            plant::events(|_, events| {
                for event in events.iter_mut() {
                    if let Some(delta) = event.data.pointer_mut("/choices/0/delta")
                        && delta["role"] == "assistant"
                        && delta["content"] == ""
                    {
                        super::super::bodies::drop_member(delta, "content");
                    }
                }
            }),
        ),
        reading(
            "ids-of-responses-made-anew-in-streams",
            TRANSLATING.from(RESPONSES).streams(),
            plant::events(|_, events| {
                for event in events.iter_mut().filter(|event| event.data["response"]["id"].is_string()) {
                    event.data["response"]["id"] = "resp_gateway".into();
                }
            }),
        ),
        reading("cut-streams-broken-off-without-an-event", TRANSLATING.streams(), |gateway: &mut TestGateway, _| {
            gateway.seams.events = Some(Arc::new(|_, events| {
                events.retain(|event| !(event.data["error"].is_object() || event.data["type"] == "error"));
            }));
            gateway.seams.error = Some(Arc::new(|course, _| drop(course.kept.insert("broke off", course.ask.into()))));
            gateway.seams.ended = Some(Arc::new(|course, is_whole| {
                *is_whole &= course.kept.get("broke off").is_none_or(|ask| *ask != course.ask);
            }));
        }),
    ]
}

fn failures() -> Vec<Planted> {
    vec![
        reading(
            "words-of-the-upstream-behind-the-gateways",
            ALL,
            plant::error(|_, error| {
                error.message = format!("gateway.UpstreamError: {} (provider: upstream)", error.message);
            }),
        ),
        reading(
            "failures-as-those-of-a-gateway",
            ALL,
            plant::error(|_, error| {
                error.status = match error.status {
                    500 => 502,
                    529 => 503,
                    other => other,
                };
            }),
        ),
        reading(
            "refusals-as-unprocessable",
            ALL,
            plant::error(|_, error| {
                if error.status == 400 {
                    error.status = 422;
                }
            }),
        ),
        reading(
            "codes-of-the-gateway",
            ALL.from(OPENAI),
            plant::error(|_, error| {
                error.code = Some("gateway_error".to_owned());
            }),
        ),
        reading(
            "time-to-wait-in-seconds-alone",
            ALL,
            plant::error(|_, error| {
                if error.headers.iter().any(|(name, _)| *name == "retry-after") {
                    error.headers.retain(|(name, _)| *name != "retry-after-ms");
                }
            }),
        ),
        reading(
            "time-to-wait-in-milliseconds-alone",
            ALL,
            plant::error(|_, error| {
                if error.headers.iter().any(|(name, _)| *name == "retry-after-ms") {
                    error.headers.retain(|(name, _)| *name != "retry-after");
                }
            }),
        ),
        reading(
            "failures-asked-again-as-they-were",
            ALL,
            plant::again(|_, tried| {
                let may_pass = !tried.has_begun && (tried.status >= 500 || matches!(tried.status, 408 | 409 | 429));
                let pause = tried.wanted.unwrap_or(Duration::from_millis(100 << tried.tries));
                tried.pause = (may_pass && tried.tries < 3).then_some(pause);
            }),
        ),
        reading(
            "broken-off-answers-asked-again-before-they-are-told",
            TRANSLATING.plain(),
            plant::again(|_, tried| {
                let pause = Duration::from_millis(100 << tried.tries);
                tried.pause = (tried.has_begun && tried.tries < 3).then_some(pause);
            }),
        ),
        reading(
            "types-of-errors-of-the-gateway",
            ALL,
            plant::error(|_, error| {
                error.kind = "gateway_error".to_owned();
            }),
        ),
    ]
}
