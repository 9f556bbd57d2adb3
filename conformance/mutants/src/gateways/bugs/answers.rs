//! What the model said, on its way to the client.

use super::super::plant::{bugs as each, events, plain, said};
use super::{ALWAYS, OPENAI};
use crate::gateway::course::ExchangeCourse;
use crate::gateway::places::{ALL, Places, ShowsWhen, TRANSLATING};
use crate::gateway::said::AnswerNews;
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{Finish, SaidCall};
use threadspec_golden::clause;

const SAID: &[&str] = &[clause::GATE_SAID];
const INVENTED: &[&str] = &[clause::GATE_INVENTED];
const STOP: &[&str] = &[clause::GATE_STOP];
const CALLS: &[&str] = &[clause::GATE_STOP_CALLS];
const THINKING: &[&str] = &[clause::GATE_THINKING];
const EXACT: &[&str] = &[clause::GATE_CALLS_EXACT];
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

/// Whether news are about a call.
fn number_of(news: &AnswerNews) -> Option<usize> {
    match news {
        AnswerNews::Call { number, .. } | AnswerNews::Arguments { number, .. } | AnswerNews::Closed { number } => {
            Some(*number)
        }
        _ => None,
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
        each(
            "third-call-of-an-answer-lost",
            SAID,
            TRANSLATING,
            SECOND,
            said(
                |_, answer| {
                    if answer.calls.len() > 2 {
                        answer.calls.remove(2);
                    }
                },
                |_, news| news.retain(|news| number_of(news) != Some(2)),
            ),
        ),
        each(
            "first-call-of-an-answer-alone",
            SAID,
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.calls.truncate(1),
                |_, news| news.retain(|news| number_of(news).is_none_or(|number| number == 0)),
            ),
        ),
        each(
            "calls-in-the-other-order",
            SAID,
            TRANSLATING.plain(),
            ALWAYS,
            said(|_, answer| answer.calls.reverse(), |_, _| {}),
        ),
        each(
            "fragments-of-parallel-calls-with-the-last-one",
            SAID,
            TRANSLATING.to(OPENAI).streams(),
            ALWAYS,
            said(
                |_, _| {},
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
        ),
        each(
            "arguments-of-all-calls-with-the-first-one",
            SAID,
            TRANSLATING,
            ALWAYS,
            said(
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
        ),
        each(
            "arguments-of-an-answer-emptied",
            SAID,
            TRANSLATING,
            SECOND,
            said(
                |_, answer| answer.calls.iter_mut().for_each(|call| call.arguments = "{}".to_owned()),
                |_, news| news.retain(|news| !matches!(news, AnswerNews::Arguments { .. })),
            ),
        ),
        each(
            "calls-without-arguments-lost",
            SAID,
            TRANSLATING.plain(),
            ALWAYS,
            said(|_, answer| answer.calls.retain(|call| !matches!(&*call.arguments, "" | "{}")), |_, _| {}),
        ),
        each(
            "names-in-answers-made-upper-case",
            SAID,
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.calls.iter_mut().for_each(|call| call.name = call.name.to_uppercase()),
                |_, news| {
                    for one in news {
                        if let AnswerNews::Call { name, .. } = one {
                            *name = name.to_uppercase();
                        }
                    }
                },
            ),
        ),
        each(
            "calls-of-answers-with-one-id",
            &[clause::GATE_IDS],
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.calls.iter_mut().for_each(|call| call.id = "call_1".to_owned()),
                |_, news| {
                    for one in news {
                        if let AnswerNews::Call { id, .. } = one {
                            *id = "call_1".to_owned();
                        }
                    }
                },
            ),
        ),
        each(
            "arguments-beyond-sixteen-kilobytes-cut",
            SAID,
            TRANSLATING.plain(),
            ALWAYS,
            said(
                |_, answer| {
                    for call in answer.calls.iter_mut().filter(|call| call.arguments.len() > 1 << 14) {
                        call.arguments = SaidCall::new("", "", &json!({})).arguments;
                    }
                },
                |_, _| {},
            ),
        ),
        each(
            "integers-of-answers-as-doubles",
            EXACT,
            TRANSLATING.from(OPENAI).plain(),
            ALWAYS,
            said(
                |_, answer| {
                    for call in &mut answer.calls {
                        let Some(mut args) = call.args() else { continue };
                        super::super::bodies::deep(&mut args, &|value| {
                            #[allow(clippy::cast_precision_loss, reason = "that is the bug")]
                            if let Some(number) = value.as_u64().filter(|number| *number > 1 << 53) {
                                *value = json!(number as f64);
                            }
                        });
                        call.arguments = threadspec_apis::argument_text(&args);
                    }
                },
                |_, _| {},
            ),
        ),
    ]
}

fn of_texts() -> Vec<Vec<Planted>> {
    vec![
        each(
            "text-beside-calls-of-an-answer-lost",
            SAID,
            TRANSLATING.plain(),
            SECOND,
            said(
                |_, answer| {
                    if !answer.calls.is_empty() {
                        answer.text.clear();
                    }
                },
                |_, _| {},
            ),
        ),
        each(
            "text-behind-calls-of-an-answer-lost",
            SAID,
            TRANSLATING.streams(),
            ALWAYS,
            said(
                |_, _| {},
                |course, news| {
                    if news.iter().any(|news| number_of(news).is_some()) {
                        course.kept.insert("has called", course.ask.into());
                    }
                    if course.kept.get("has called").is_some_and(|ask| *ask == course.ask) {
                        news.retain(|news| !matches!(news, AnswerNews::Text(_)));
                    }
                },
            ),
        ),
        each(
            "fragments-of-a-text-trimmed-on-the-way",
            SAID,
            TRANSLATING.streams(),
            SECOND,
            said(
                |_, _| {},
                |_, news| {
                    on_texts(news, |text| *text = text.trim_start().to_owned());
                },
            ),
        ),
        each(
            "equal-neighbouring-fragments-once",
            SAID,
            TRANSLATING.streams(),
            ALWAYS,
            said(
                |_, _| {},
                |course, news| {
                    news.retain(|news| {
                        let AnswerNews::Text(own) = news else { return true };
                        let before = course.kept.insert("fragment", own.clone().into());
                        before.is_none_or(|before| before != **own)
                    });
                },
            ),
        ),
        each(
            "fragments-beyond-a-hundred-lost",
            SAID,
            TRANSLATING.streams(),
            ALWAYS,
            said(
                |_, _| {},
                |course, news| {
                    news.retain(|news| !matches!(news, AnswerNews::Text(_)) || counted(course, "fragments") <= 100);
                },
            ),
        ),
        each(
            "texts-of-answers-cut-to-32-kilobytes",
            SAID,
            TRANSLATING.plain(),
            ALWAYS,
            said(|_, answer| answer.text = answer.text.chars().take(1 << 15).collect(), |_, _| {}),
        ),
        each(
            "line-ends-of-answers-doubled",
            SAID,
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.text = answer.text.replace('\n', "\n\n"),
                |_, news| on_texts(news, |text| *text = text.replace('\n', "\n\n")),
            ),
        ),
        each(
            "refusals-lost",
            SAID,
            TRANSLATING.to(OPENAI),
            ALWAYS,
            said(
                |_, answer| {
                    if answer.refusal.is_some() {
                        (answer.refusal, answer.text) = (None, String::new());
                    }
                },
                |_, news| news.retain(|news| !matches!(news, AnswerNews::Refusal(_))),
            ),
        ),
        each(
            "empty-answers-filled",
            INVENTED,
            TRANSLATING.plain(),
            SECOND,
            said(
                |_, answer| {
                    if answer.text.is_empty() && answer.calls.is_empty() && answer.refusal.is_none() {
                        answer.text = "[no response]".to_owned();
                    }
                },
                |_, _| {},
            ),
        ),
        each(
            "search-added-to-plain-answers",
            INVENTED,
            TRANSLATING.plain(),
            ALWAYS,
            said(
                |_, answer| {
                    if answer.calls.is_empty() {
                        answer.calls.push(SaidCall::new("srvtoolu_1", "web_search", &json!({"query": ""})));
                        answer.finish = Finish::Calls;
                    }
                },
                |_, _| {},
            ),
        ),
        each(
            "sentence-before-answers",
            INVENTED,
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.text.insert_str(0, "[gateway] "),
                |course, news| {
                    if !news.is_empty() && counted(course, "news") == 1 {
                        news.insert(0, AnswerNews::Text("[gateway] ".to_owned()));
                    }
                },
            ),
        ),
        each(
            "thinking-of-answers-lost",
            THINKING,
            TRANSLATING,
            ALWAYS,
            said(
                |_, answer| answer.thinking.clear(),
                |_, news| news.retain(|news| !matches!(news, AnswerNews::Thinking(_) | AnswerNews::Seal(_))),
            ),
        ),
    ]
}

/// Changes the reason for which an answer ends: the words of the three APIs.
fn on_reason(value: &mut Value, change: fn(&str) -> Option<&'static str>) {
    super::super::bodies::deep(value, &|value| {
        for name in ["finish_reason", "stop_reason"] {
            if let Some(other) = value[name].as_str().and_then(change) {
                value[name] = other.into();
            }
        }
    });
}

fn of_ends() -> Vec<Vec<Planted>> {
    const REASONED: &[Api] = &[Api::OpenAiChat, Api::Anthropic];
    let both = |name, breaks, change: fn(&str) -> Option<&'static str>| {
        let of = |places: Places| places.from(REASONED);
        let in_plain = each(name, breaks, of(ALL.plain()), ALWAYS, plain(move |_, body| on_reason(body, change)));
        let streamed: &'static str = format!("{name}-in-streams").leak();
        let in_streams = each(
            streamed,
            breaks,
            of(ALL.streams()),
            ALWAYS,
            events(move |_, events| {
                events.iter_mut().for_each(|event| on_reason(&mut event.data, change));
            }),
        );
        [in_plain, in_streams].concat()
    };
    vec![
        both("length-told-as-the-end", STOP, |word| match word {
            "length" => Some("stop"),
            "max_tokens" => Some("end_turn"),
            _ => None,
        }),
        both("calls-told-as-the-end", CALLS, |word| match word {
            "tool_calls" => Some("stop"),
            "tool_use" => Some("end_turn"),
            _ => None,
        }),
        each(
            "incomplete-responses-told-as-complete",
            STOP,
            ALL.from(super::RESPONSES).plain(),
            ALWAYS,
            plain(|_, body| {
                if body["status"] == "incomplete" {
                    body["status"] = "completed".into();
                    body["incomplete_details"] = Value::Null;
                }
            }),
        ),
        each(
            "length-told-as-the-end-by-the-typed-form",
            STOP,
            TRANSLATING.plain(),
            ALWAYS,
            said(
                |_, answer| {
                    if answer.finish == Finish::Length {
                        answer.finish = answer.usual_finish();
                    }
                },
                |_, _| {},
            ),
        ),
    ]
}
