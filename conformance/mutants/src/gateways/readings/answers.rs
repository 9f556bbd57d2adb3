//! Answers and failures that say the same in another way.

use crate::gateways::prelude::*;
use std::collections::HashMap;

pub(super) fn readings() -> Vec<Planted> {
    [answers(), streams(), failures()].into_iter().flatten().flatten().collect()
}

fn answers() -> Vec<Vec<Planted>> {
    vec![
        FREE.at(ALL.plain()).plain("usage-in-the-gateways-own-count", |_, body| {
            if let Some(usage) = body.get_mut("usage").and_then(Value::as_object_mut) {
                usage.values_mut().filter(|count| count.is_u64()).for_each(|count| *count = 7.into());
            }
        }),
        FREE.at(ALL.plain()).plain("ids-of-answers-made-anew", |_, body| {
            if body["id"].is_string() {
                body["id"] = "gateway-1".into();
            }
        }),
        FREE.at(ALL.plain()).plain("model-named-as-the-gateway-does", |_, body| {
            if body["model"].is_string() {
                body["model"] = "gateway/model".into();
            }
        }),
        FREE.at(TRANSLATING).both(
            "refusals-as-texts",
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
        neglecting(&[clause::GATE_THINKING]).at(TRANSLATING).both(
            "thinking-left-out",
            |_, answer| answer.thinking.clear(),
            |_, news| news.retain(|news| !matches!(news, AnswerNews::Thinking(_) | AnswerNews::Seal(_))),
        ),
        FREE.at(TRANSLATING).both(
            "repeated-ids-of-an-answer-renamed",
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
        FREE.at(TRANSLATING.from(OPENAI).plain()).said("arguments-of-answers-written-with-spaces", |_, answer| {
            for call in &mut answer.calls {
                if call.args().is_some() {
                    call.arguments = format!(" {}\n", call.arguments);
                }
            }
        }),
        FREE.at(ALL.from(CHAT).plain()).plain("members-of-compatible-servers-in-answers", |_, body| {
            if body["choices"].is_array() {
                body["provider"] = "gateway".into();
                if let Some(choice) = body.pointer_mut("/choices/0") {
                    choice["native_finish_reason"] = "x".into();
                }
            }
        }),
        FREE.at(ALL.from(ANTHROPIC).plain()).plain("texts-of-answers-in-two-blocks", |_, body| {
            let Some(blocks) = body.get_mut("content").and_then(Value::as_array_mut) else { return };
            let Some(at) = blocks.iter().position(|block| block["type"] == "text") else { return };
            let text = blocks[at]["text"].as_str().unwrap_or_default().to_owned();
            let half = text.char_indices().nth(text.chars().count() / 2).map_or(0, |(half, _)| half);
            if half > 0 {
                blocks[at]["text"] = text[..half].into();
                blocks.insert(at + 1, json!({"type": "text", "text": text[half..]}));
            }
        }),
        FREE.at(ALL.from(CHAT).plain()).plain("answers-of-calls-without-the-member-content", |_, body| {
            if let Some(message) = body.pointer_mut("/choices/0/message")
                && message["tool_calls"].is_array()
                && message["content"].is_null()
            {
                drop_member(message, "content");
            }
        }),
    ]
}

fn streams() -> Vec<Vec<Planted>> {
    vec![
        FREE.at(ALL.streams()).events("usage-of-streams-in-the-gateways-own-count", |_, events| {
            for event in events {
                deep(&mut event.data, &|value| {
                    if let Some(usage) = value.get_mut("usage").and_then(Value::as_object_mut) {
                        usage.values_mut().filter(|count| count.is_u64()).for_each(|count| *count = 7.into());
                    }
                });
            }
        }),
        FREE.at(ALL.streams()).written("comments-between-events", |_, bytes| {
            if bytes.ends_with(b"\n\n") {
                bytes.extend(b": gateway\n\n");
            }
        }),
        FREE.at(TRANSLATING.streams()).written("lines-of-streams-that-end-in-cr-lf", |_, bytes| {
            if bytes.ends_with(b"\n\n") {
                *bytes = bytes
                    .iter()
                    .flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] })
                    .collect();
            }
        }),
        FREE.at(ALL.from(ANTHROPIC).streams()).events("pings-between-events", |_, events| {
            if events.first().is_some_and(|event| event.data["type"] != "error") {
                events.push(ClientEvent::new(Some("ping"), json!({"type": "ping"})));
            }
        }),
        FREE.at(TRANSLATING.streams()).news("empty-fragments-of-texts", |_, news| {
            if news.iter().any(|news| matches!(news, AnswerNews::Text(_))) {
                news.push(AnswerNews::Text(String::new()));
            }
        }),
        FREE.at(TRANSLATING.streams()).news("fragments-of-texts-divided", |_, news| {
            let divided = |news: AnswerNews| match news {
                AnswerNews::Text(text) => text.chars().map(|one| AnswerNews::Text(one.into())).collect(),
                other => vec![other],
            };
            *news = std::mem::take(news).into_iter().flat_map(divided).collect();
        }),
        FREE.at(TRANSLATING.streams()).news("first-fragment-of-arguments-empty", |_, news| {
            let with_empty = |news: AnswerNews| match news {
                AnswerNews::Call { number, id, name } => {
                    vec![AnswerNews::Call { number, id, name }, AnswerNews::Arguments { number, text: String::new() }]
                }
                other => vec![other],
            };
            *news = std::mem::take(news).into_iter().flat_map(with_empty).collect();
        }),
        FREE.at(TRANSLATING.from(CHAT).streams()).news("arguments-in-one-fragment", |course, news| {
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
        FREE.at(ALL.from(CHAT).streams()).events("first-chunk-without-a-text", |_, events| {
            for event in events.iter_mut() {
                if let Some(delta) = event.data.pointer_mut("/choices/0/delta")
                    && delta["role"] == "assistant"
                    && delta["content"] == ""
                {
                    drop_member(delta, "content");
                }
            }
        }),
        FREE.at(TRANSLATING.from(RESPONSES).streams()).events("ids-of-responses-made-anew-in-streams", |_, events| {
            for event in events.iter_mut().filter(|event| event.data["response"]["id"].is_string()) {
                event.data["response"]["id"] = "resp_gateway".into();
            }
        }),
        FREE.at(TRANSLATING.streams()).plant(
            "cut-streams-broken-off-without-an-event",
            |gateway: &mut TestGateway, _| {
                gateway.seams.events = Some(Arc::new(|_, events| {
                    events.retain(|event| !(event.data["error"].is_object() || event.data["type"] == "error"));
                }));
                gateway.seams.error =
                    Some(Arc::new(|course, _| drop(course.kept.insert("broke off", course.ask.into()))));
                gateway.seams.ended = Some(Arc::new(|course, is_whole| {
                    *is_whole &= course.kept.get("broke off").is_none_or(|ask| *ask != course.ask);
                }));
            },
        ),
    ]
}

fn failures() -> Vec<Vec<Planted>> {
    vec![
        FREE.error("words-of-the-upstream-behind-the-gateways", |_, error| {
            error.message = format!("gateway.UpstreamError: {} (provider: upstream)", error.message);
        }),
        FREE.error("failures-as-those-of-a-gateway", |_, error| {
            error.status = match error.status {
                500 => 502,
                529 => 503,
                other => other,
            };
        }),
        FREE.error("refusals-as-unprocessable", |_, error| {
            if error.status == 400 {
                error.status = 422;
            }
        }),
        FREE.at(ALL.from(OPENAI)).error("codes-of-the-gateway", |_, error| {
            error.code = Some("gateway_error".to_owned());
        }),
        FREE.error("time-to-wait-in-seconds-alone", |_, error| {
            if error.headers.iter().any(|(name, _)| *name == "retry-after") {
                error.headers.retain(|(name, _)| *name != "retry-after-ms");
            }
        }),
        FREE.error("time-to-wait-in-milliseconds-alone", |_, error| {
            if error.headers.iter().any(|(name, _)| *name == "retry-after-ms") {
                error.headers.retain(|(name, _)| *name != "retry-after");
            }
        }),
        FREE.again("failures-asked-again-as-they-were", |_, tried| {
            let may_pass = !tried.has_begun && (tried.status >= 500 || matches!(tried.status, 408 | 409 | 429));
            let pause = tried.wanted.unwrap_or(Duration::from_millis(100 << tried.tries));
            tried.pause = (may_pass && tried.tries < 3).then_some(pause);
        }),
        FREE.at(TRANSLATING.plain()).again("broken-off-answers-asked-again-before-they-are-told", |_, tried| {
            let pause = Duration::from_millis(100 << tried.tries);
            tried.pause = (tried.has_begun && tried.tries < 3).then_some(pause);
        }),
        FREE.error("types-of-errors-of-the-gateway", |_, error| {
            error.kind = "gateway_error".to_owned();
        }),
    ]
}
