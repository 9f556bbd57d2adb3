//! What the model said, on its way to the client.
//! Answers that only pass, and are changed on their way.

use crate::gateways::prelude::*;

const CALLS: GatewayGroup = breaking(&[clause::GATE_STOP_CALLS]);
pub(super) const SECOND: &[ShowsWhen] = &[ShowsWhen::Always, ShowsWhen::SecondRequest, ShowsWhen::SecondRun];

pub(super) fn bugs() -> Vec<Planted> {
    [of_calls(), of_texts(), of_ends()].into_iter().flatten().flatten().collect()
}

/// Of each text in a stream, the news about it.
fn on_texts(news: &mut [AnswerNews], change: impl Fn(&mut String)) {
    for one in news {
        if let AnswerNews::Text(text) = one {
            change(text);
        }
    }
}

/// Counts something of this answer; the count of the last answer is forgotten.
pub(super) fn counted(course: &mut ExchangeCourse, name: &'static str) -> u64 {
    let (ask, count) = match course.kept.get(name) {
        Some(Value::Array(known)) if known[0] == course.ask => (course.ask, known[1].as_u64().unwrap_or_default() + 1),
        _ => (course.ask, 1),
    };
    course.kept.insert(name, json!([ask, count]));
    count
}

fn of_calls() -> Vec<Vec<Planted>> {
    vec![
        SAID.at(TRANSLATING).when(SECOND).calls_kept("third-call-of-an-answer-lost", |number| number != 2),
        SAID.at(TRANSLATING).calls_kept("first-call-of-an-answer-alone", |number| number == 0),
        SAID.at(TRANSLATING.plain()).said("calls-in-the-other-order", |_, answer| answer.calls.reverse()),
        SAID.at(TRANSLATING.to(OPENAI).streams()).news(
            "fragments-of-parallel-calls-with-the-last-one",
            |course, news| {
                for one in news {
                    match one {
                        AnswerNews::Call { number, .. } => drop(course.kept.insert("last call", (*number).into())),
                        AnswerNews::Arguments { number, .. } => {
                            let last = course.kept.get("last call").and_then(Value::as_u64);
                            *number = last.and_then(|last| usize::try_from(last).ok()).unwrap_or(*number);
                        }
                        _ => {}
                    }
                }
            },
        ),
        SAID.at(TRANSLATING).both(
            "arguments-of-all-calls-with-the-first-one",
            |_, answer| {
                let all: String = answer.calls.iter().map(|call| call.arguments.clone()).collect();
                answer.calls.iter_mut().for_each(|call| call.arguments.clear());
                if let Some(first) = answer.calls.first_mut() {
                    first.arguments = all;
                }
            },
            |_, news| {
                for one in news {
                    if let AnswerNews::Arguments { number, .. } = one {
                        *number = 0;
                    }
                }
            },
        ),
        SAID.at(TRANSLATING).when(SECOND).both(
            "arguments-of-an-answer-emptied",
            |_, answer| answer.calls.iter_mut().for_each(|call| call.arguments = "{}".to_owned()),
            |_, news| news.retain(|news| !matches!(news, AnswerNews::Arguments { .. })),
        ),
        SAID.at(TRANSLATING.plain()).said("calls-without-arguments-lost", |_, answer| {
            answer.calls.retain(|call| !matches!(&*call.arguments, "" | "{}"))
        }),
        SAID.at(TRANSLATING).named("names-in-answers-made-upper-case", |_, name| *name = name.to_uppercase()),
        IDS.at(TRANSLATING).named("calls-of-answers-with-one-id", |id, _| *id = "call_1".to_owned()),
        SAID.at(TRANSLATING.plain()).said("arguments-beyond-sixteen-kilobytes-cut", |_, answer| {
            for call in answer.calls.iter_mut().filter(|call| call.arguments.len() > 1 << 14) {
                call.arguments = SaidCall::new("", "", &json!({})).arguments;
            }
        }),
        EXACT.at(TRANSLATING.from(OPENAI).plain()).said("integers-of-answers-as-doubles", |_, answer| {
            for call in &mut answer.calls {
                let Some(mut args) = call.args() else { continue };
                deep(&mut args, &|value| {
                    #[allow(clippy::cast_precision_loss, reason = "that is the bug")]
                    if let Some(number) = value.as_u64().filter(|number| *number > 1 << 53) {
                        *value = json!(number as f64);
                    }
                });
                call.arguments = threadspec_apis::argument_text(&args);
            }
        }),
    ]
}

fn of_texts() -> Vec<Vec<Planted>> {
    vec![
        SAID.at(TRANSLATING.plain()).when(SECOND).said("text-beside-calls-of-an-answer-lost", |_, answer| {
            if !answer.calls.is_empty() {
                answer.text.clear();
            }
        }),
        SAID.at(TRANSLATING.streams()).news("text-behind-calls-of-an-answer-lost", |course, news| {
            if news.iter().any(|news| news.number().is_some()) {
                course.kept.insert("has called", course.ask.into());
            }
            if course.kept.get("has called").is_some_and(|ask| *ask == course.ask) {
                news.retain(|news| !matches!(news, AnswerNews::Text(_)));
            }
        }),
        SAID.at(TRANSLATING.streams()).when(SECOND).news("fragments-of-a-text-trimmed-on-the-way", |_, news| {
            on_texts(news, |text| *text = text.trim_start().to_owned());
        }),
        SAID.at(TRANSLATING.streams()).news("equal-neighbouring-fragments-once", |course, news| {
            news.retain(|news| {
                let AnswerNews::Text(own) = news else { return true };
                let before = course.kept.insert("fragment", own.clone().into());
                before.is_none_or(|before| before != **own)
            });
        }),
        SAID.at(TRANSLATING.streams()).news("fragments-beyond-a-hundred-lost", |course, news| {
            news.retain(|news| !matches!(news, AnswerNews::Text(_)) || counted(course, "fragments") <= 100);
        }),
        SAID.at(TRANSLATING.plain()).said("texts-of-answers-cut-to-32-kilobytes", |_, answer| {
            answer.text = answer.text.chars().take(1 << 15).collect()
        }),
        SAID.at(TRANSLATING).both(
            "line-ends-of-answers-doubled",
            |_, answer| answer.text = answer.text.replace('\n', "\n\n"),
            |_, news| on_texts(news, |text| *text = text.replace('\n', "\n\n")),
        ),
        SAID.at(TRANSLATING.to(OPENAI)).both(
            "refusals-lost",
            |_, answer| {
                if answer.refusal.is_some() {
                    (answer.refusal, answer.text) = (None, String::new());
                }
            },
            |_, news| news.retain(|news| !matches!(news, AnswerNews::Refusal(_))),
        ),
        INVENTED.at(TRANSLATING.plain()).when(SECOND).said("empty-answers-filled", |_, answer| {
            if answer.text.is_empty() && answer.calls.is_empty() && answer.refusal.is_none() {
                answer.text = "[no response]".to_owned();
            }
        }),
        INVENTED.at(TRANSLATING.plain()).said("search-added-to-plain-answers", |_, answer| {
            if answer.calls.is_empty() {
                answer.calls.push(SaidCall::new("srvtoolu_1", "web_search", &json!({"query": ""})));
                answer.finish = Finish::Calls;
            }
        }),
        INVENTED.at(TRANSLATING).both(
            "sentence-before-answers",
            |_, answer| answer.text.insert_str(0, "[gateway] "),
            |course, news| {
                if !news.is_empty() && counted(course, "news") == 1 {
                    news.insert(0, AnswerNews::Text("[gateway] ".to_owned()));
                }
            },
        ),
        THINKING.at(TRANSLATING).both(
            "thinking-of-answers-lost",
            |_, answer| answer.thinking.clear(),
            |_, news| news.retain(|news| !matches!(news, AnswerNews::Thinking(_) | AnswerNews::Seal(_))),
        ),
    ]
}

/// Replaces a reason for which an answer ends, in the words of both APIs, by the usual one.
fn told_as_the_end(value: &mut Value, words: &[&str; 2]) {
    for (name, word, usual) in [("finish_reason", words[0], "stop"), ("stop_reason", words[1], "end_turn")] {
        if value[name] == word {
            value[name] = usual.into();
        }
    }
}

fn of_ends() -> Vec<Vec<Planted>> {
    let both = |name: &'static str, breaks: GatewayGroup, change: fn(&mut Value)| {
        let breaks = breaks.at(ALL.from(CHAT_OR_ANTHROPIC));
        let streamed = format!("{name}-in-streams").leak();
        [
            breaks.at(ALL.from(CHAT_OR_ANTHROPIC).plain()).inside_plain(name, change),
            breaks.at(ALL.from(CHAT_OR_ANTHROPIC).streams()).inside_events(streamed, change),
        ]
        .concat()
    };
    vec![
        both("length-told-as-the-end", STOP, |value| told_as_the_end(value, &["length", "max_tokens"])),
        both("calls-told-as-the-end", CALLS, |value| told_as_the_end(value, &["tool_calls", "tool_use"])),
        STOP.at(ALL.from(RESPONSES).plain()).plain("incomplete-responses-told-as-complete", |_, body| {
            if body["status"] == "incomplete" {
                body["status"] = "completed".into();
                body["incomplete_details"] = Value::Null;
            }
        }),
        STOP.at(TRANSLATING.plain()).said("length-told-as-the-end-by-the-typed-form", |_, answer| {
            if answer.finish == Finish::Length {
                answer.finish = answer.usual_finish();
            }
        }),
    ]
}

/// The text of an event of chat completions or Anthropic's messages.
fn text_of(event: &mut ClientEvent) -> Option<&mut Value> {
    let data = &mut event.data;
    if data["choices"][0]["delta"]["content"].is_string() {
        return data.pointer_mut("/choices/0/delta/content");
    }
    if data["delta"]["type"] == "text_delta" { data.pointer_mut("/delta/text") } else { None }
}

/// The fragment of arguments of an event of chat completions or Anthropic's messages.
fn arguments_of(event: &mut ClientEvent) -> Option<&mut Value> {
    let data = &mut event.data;
    if data["choices"][0]["delta"]["tool_calls"][0]["function"]["arguments"].is_string() {
        return data.pointer_mut("/choices/0/delta/tool_calls/0/function/arguments");
    }
    if data["delta"]["type"] == "input_json_delta" { data.pointer_mut("/delta/partial_json") } else { None }
}

/// Each of them, in the plain proxy alone.
pub(super) fn proxies() -> Vec<Planted> {
    let tables = vec![
        SAID.at(PROXY.from(CHAT_OR_ANTHROPIC).streams()).when(SECOND).events(
            "texts-of-a-passing-stream-trimmed",
            |_, events| {
                for fragment in events.iter_mut().filter_map(text_of) {
                    *fragment = text(fragment).trim().into();
                }
            },
        ),
        SAID.at(PROXY.from(CHAT_OR_ANTHROPIC).streams()).events(
            "second-fragment-of-passing-arguments-lost",
            |course, events| {
                for fragment in events.iter_mut().filter_map(arguments_of).filter(|fragment| **fragment != "") {
                    if counted(course, "arguments") == 2 {
                        *fragment = "".into();
                    }
                }
            },
        ),
        SAID.at(PROXY.from(CHAT).streams()).events_kept("second-call-of-a-passing-stream-lost", |data| {
            data["choices"][0]["delta"]["tool_calls"][0]["index"] != 1
        }),
        SAID.at(PROXY.from(CHAT).plain()).when(SECOND).plain("text-of-passing-answers-lost-beside-calls", |_, body| {
            if let Some(message) = body.pointer_mut("/choices/0/message").filter(|one| one["tool_calls"].is_array()) {
                message["content"] = Value::Null;
            }
        }),
        SAID.at(PROXY.from(ANTHROPIC).plain()).plain("first-block-of-passing-answers-alone", |_, body| {
            if let Some(blocks) = body.get_mut("content").and_then(Value::as_array_mut) {
                blocks.truncate(1);
            }
        }),
        SAID.at(PROXY.from(RESPONSES).plain()).plain("first-item-of-passing-answers-alone", |_, body| {
            if let Some(items) = body.get_mut("output").and_then(Value::as_array_mut) {
                items.truncate(1);
            }
        }),
        OPAQUE.at(PROXY.from(ANTHROPIC).plain()).inside_plain("signatures-of-passing-answers-lost", |value| {
            if value["type"] == "thinking" {
                value["signature"] = "".into();
            }
        }),
        OPAQUE
            .at(PROXY.from(ANTHROPIC).streams())
            .events_kept("signatures-of-passing-streams-lost", |data| data["delta"]["type"] != "signature_delta"),
    ];
    tables.into_iter().flatten().collect()
}
