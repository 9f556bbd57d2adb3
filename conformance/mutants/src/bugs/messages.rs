//! From events to messages in standard mode.

use super::events::{in_text, is_falsy};
use crate::plants::TwinSite::{Content, Human};
use crate::plants::prelude::*;
use crate::twin::context::{answers, call, joins, message, orphan, result_content, xml};
use crate::twin::document::calls;
use crate::twin::text::string;
use crate::universal::operators::first;

/// The calls of a message.
fn calls_of(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    message["tool_calls"].as_array_mut().into_iter().flatten()
}

/// Drops or changes the message of each event of a type, given its text.
fn of_type(name: FaultName, terms: impl IntoTerms, of: &'static str, written: fn(&str) -> Option<Message>) -> Planted {
    odd_message(name, terms, move |kind, text| (kind == of).then(|| written(text)))
}

/// Drops the messages of a type whose text is such.
fn dropped(name: FaultName, terms: impl IntoTerms, of: &'static str, is_such: fn(&str) -> bool) -> Planted {
    odd_message(name, terms, move |kind, text| (kind == of && is_such(text)).then_some(None))
}

/// Writes results in another way in messages alone: in documents, texts stay as they are.
fn in_messages_alone(name: FaultName, written: fn(&Twin, Option<&Value>) -> String) -> Planted {
    let written = &*Box::leak(Box::new(written));
    on::several(name, MSG_RESULT, move |twin| {
        twin.result_content = written;
        twin.result_text = &|twin, result| match result {
            Some(Value::String(text)) => text.clone(),
            _ => crate::twin::document::result_text(twin, result),
        };
    })
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        dropped("empty-user-messages-dropped", MSG_USER, "user", str::is_empty),
        edit("user-messages-trimmed", MSG_USER, Content("user"), |text| text.trim().to_owned()),
        on::messages("adjacent-user-messages-merged", [MSG_USER, EQ_1], |input, messages| {
            if input["contextMode"] == "xml" {
                return;
            }
            messages.dedup_by(|message, last| {
                let are_both = last["type"] == "human" && message["type"] == "human";
                if are_both {
                    let both = [&last["content"], &message["content"]].map(|text| text.as_str().unwrap_or_default());
                    last["content"] = both.join("\n").into();
                }
                are_both
            });
        }),
        on::messages("user-messages-deduplicated", MSG_USER, |_, messages| messages.dedup()),
        dropped("empty-assistant-messages-dropped", MSG_ASSISTANT, "assistant", str::is_empty),
        dropped("blank-assistant-messages-dropped", MSG_ASSISTANT, "assistant", |text| text.trim().is_empty()),
        of_type("assistant-messages-become-human", MSG_ASSISTANT, "assistant", |text| Some(Message::human(text))),
        on::messages("assistant-text-joins-the-next-call", [MSG_ASSISTANT, MSG_CALL], |_, messages| {
            let joins = |pair: &[Value]| {
                pair[0]["type"] == "ai" && pair[0]["tool_calls"].is_null() && pair[1]["tool_calls"].is_array()
            };
            while let Some(at) = messages.windows(2).position(joins) {
                let text = messages.remove(at);
                messages[at]["content"] = text["content"].clone();
            }
        }),
        of_type("system-messages-stay-system", MSG_SYSTEM, "system", |text| Some(Message::system(text))),
        of_type("system-messages-unmarked", MSG_SYSTEM, "system", |text| Some(Message::human(text))),
        dropped("system-messages-dropped", [MSG_SYSTEM, EQ_1], "system", |_| true),
        of_type("answers-unmarked", hardened(MSG_ANSWER), "human_input_received", |text| Some(Message::human(text))),
        swap("answers-marked-otherwise", MSG_ANSWER, Human, &[("[Human Response]:", "[Human Input]:")]),
        swap("answers-without-space", MSG_ANSWER, Human, &[("[Human Response]: ", "[Human Response]:")]),
        // The grouped form says the same.
        on::messages("call-with-text", MSG_CALL, |input, messages| {
            let calling = messages.iter_mut().filter(|message| message["tool_calls"].is_array());
            calling.filter(|_| input["contextMode"] != "xml").for_each(|message| message["content"] = "Calling".into());
        }),
        each_message("call-arguments-as-text", MSG_CALL, |message| {
            calls_of(message).for_each(|call| call["args"] = call["args"].to_string().into());
        }),
        each_message("call-in-the-form-of-openai", MSG_CALL, |message| {
            for call in calls_of(message) {
                let function = json!({"name": call["name"], "arguments": call["args"].to_string()});
                *call = json!({"id": call["id"], "type": "function", "function": function});
            }
        }),
        each_message("call-ids-made-up", [MSG_CALL, EQ_1], |message| {
            calls_of(message).enumerate().for_each(|(index, call)| call["id"] = format!("call_{index}").into());
        }),
        each_message("tool-calls-empty-rather-than-absent", MSG_ASSISTANT, |message| {
            if message["type"] == "ai" && message["tool_calls"].is_null() {
                message["tool_calls"] = json!([]);
            }
        }),
        on::several("calls-grouped-across-iterations", MSG_GROUP, |twin| {
            twin.is_paired = &|_| true;
            twin.joins = &|group, next| group.iter().all(|event| id_of(event) != id_of(next));
            twin.missing = &|_| None;
            twin.orphan = &|twin, id, result| Some(Message::tool(id, (twin.result_content)(twin, result)));
        }),
        on::is_paired("calls-never-grouped", hardened([MSG_GROUP, PROVIDER_1]), |_| false),
        on::joins("one-message-per-call", hardened(MSG_GROUP), |_, _| false),
        on::joins("repeated-ids-in-one-group", hardened([MSG_GROUP, PROVIDER_1]), |group, next| {
            group[0].iteration == next.iteration
        }),
        on::joins("groups-end-at-the-same-tool", hardened(MSG_GROUP), |group, next| {
            let tool = |event: &Event| call(event).map(|call| call.name);
            joins(group, next) && group.iter().all(|event| tool(event) != tool(next))
        }),
        on::joins("groups-of-two-at-most", hardened(MSG_GROUP), |group, next| group.len() < 2 && joins(group, next)),
        dropped("tool-results-dropped", [MSG_RESULT, EQ_1], "tool_result", |_| true),
        odd_content("results-in-python", MSG_RESULT, |twin, result| {
            let structure = result.filter(|result| result.is_array() || result.is_object())?;
            let text = result_content(twin, Some(structure));
            Some(text.replace('"', "'").replace(',', ", ").replace(':', ": "))
        }),
        on::result_content("results-by-string", MSG_RESULT, |twin, result| {
            in_text(result, |result| string(twin, result))
        }),
        in_messages_alone("string-results-quoted-in-messages", |twin, result| {
            in_text(result, |result| twin.stringify(result))
        }),
        in_messages_alone("long-results-shortened-in-messages", |twin, result| {
            first(&result_content(twin, result), 1000)
        }),
        in_messages_alone("empty-results-in-words", |twin, result| match result_content(twin, result) {
            text if text.is_empty() => "(no output)".to_owned(),
            text => text,
        }),
        odd_content("falsy-results-empty-in-messages", MSG_RESULT, |_, result| {
            result.is_some_and(is_falsy).then(String::new)
        }),
        each_message("results-as-structures", MSG_RESULT, |message| {
            let text = message["content"].as_str().filter(|text| text.starts_with(['{', '[']));
            if let Some(structure) = text.filter(|_| message["type"] == "tool") {
                message["content"] = serde_json::from_str(structure).unwrap_or_default();
            }
        }),
        on::message("results-become-human", MSG_RESULT, |twin, event| {
            message(twin, event).map(|message| match message {
                Message::Tool { content, .. } => Message::human(content),
                other => other,
            })
        }),
        on::messages("results-carry-their-position", [MSG_RESULT, EQ_1], |_, messages| {
            let results = messages.iter_mut().enumerate().filter(|(_, message)| message["type"] == "tool");
            results.for_each(|(index, message)| message["tool_call_id"] = index.to_string().into());
        }),
        on::answers("results-left-where-they-stand", hardened([MSG_PAIRED, PROVIDER_1]), |events, position| {
            let last = events[..position].iter().rposition(|event| word(event) != "tool_result")?;
            answers(events, position).filter(|&call| call <= last && is_call(&events[last]))
        }),
        on::order_of_results("results-in-call-order", hardened(MSG_PAIRED), |_| {}),
        on::answers("result-answers-the-first-call", hardened(MSG_PAIRED), |events, position| {
            let own = answered_id(&events[position])?;
            events[..position].iter().position(|event| is_call(event) && id_of(event) == Some(own))
        }),
        on::answers("result-answers-a-later-call-too", hardened(MSG_ORPHAN), |events, position| {
            let own = answered_id(&events[position])?;
            let later = || events.iter().position(|event| is_call(event) && id_of(event) == Some(own));
            answers(events, position).or_else(later)
        }),
        on::answers("results-paired-within-an-iteration", hardened(MSG_PAIRED), |events, position| {
            answers(events, position).filter(|&call| events[call].iteration == events[position].iteration)
        }),
        on::answers("results-behind-other-calls-are-orphans", hardened(MSG_PAIRED), |events, position| {
            let call = answers(events, position)?;
            let group = events[call..position].iter().take_while(|event| is_call(event)).count();
            (!events[call + group..position].iter().any(is_call)).then_some(call)
        }),
        on::missing("missing-results-left-missing", hardened([MSG_MISSING, PROVIDER_1]), |_| None),
        on::missing("missing-results-empty", hardened(MSG_MISSING), |call| Some(Message::tool(&call.id, ""))),
        on::missing("missing-results-named", hardened(MSG_MISSING), |call| {
            Some(Message::tool(&call.id, format!("[No result recorded for {}]", call.name)))
        }),
        on::messages("missing-results-first", hardened(MSG_MISSING), |_, messages| {
            let are_late = |pair: &[Value]| {
                pair.iter().all(|message| message["type"] == "tool")
                    && pair[0]["content"] != "[No result recorded]"
                    && pair[1]["content"] == "[No result recorded]"
            };
            while let Some(at) = messages.windows(2).position(are_late) {
                messages.swap(at, at + 1);
            }
        }),
        on::orphan("orphans-dropped", hardened([MSG_ORPHAN, EQ_1]), |_, _, _| None),
        on::orphan("orphans-stay-tool-messages", hardened([MSG_ORPHAN, PROVIDER_1]), |twin, id, result| {
            Some(Message::tool(id, (twin.result_content)(twin, result)))
        }),
        on::orphan("orphans-marked-otherwise", hardened(MSG_ORPHAN), |twin, id, result| {
            let mark = |text: &str| text.replacen("[Tool result]:", &format!("[Tool result {id}]:"), 1);
            Some(with_content(orphan(twin, id, result)?, mark))
        }),
        on::orphan("second-results-dropped", hardened(MSG_ORPHAN), |twin, id, result| {
            orphan(twin, id, result).filter(|_| id.contains("orphan"))
        }),
        swap("errors-always-recoverable", [MSG_ERROR, EQ_1], Human, &[("[Error]:", "[Error (recoverable)]:")]),
        swap("errors-without-recoverable", [MSG_ERROR, EQ_1], Human, &[("[Error (recoverable)]:", "[Error]:")]),
        swap("errors-marked-fatal", MSG_ERROR, Human, &[("[Error]:", "[Error (fatal)]:")]),
        on::message("errors-swapped", MSG_ERROR, |twin, event| {
            let mut event = event.clone();
            if let EventKind::Error { recoverable, .. } = &mut event.kind {
                *recoverable = !*recoverable;
            }
            message(twin, &event)
        }),
        on::message("unrecoverable-errors-dropped", MSG_ERROR, |twin, event| {
            message(twin, event).filter(|_| !matches!(event.kind, EventKind::Error { recoverable: false, .. }))
        }),
        of_type("completions-become-messages", MSG_SKIP, "completion", |text| Some(Message::ai(text))),
        of_type("questions-become-messages", MSG_SKIP, "human_input_requested", |text| Some(Message::ai(text))),
        of_type("questions-join-their-answers", [MSG_SKIP, MSG_ANSWER], "human_input_requested", |text| {
            Some(Message::human(format!("[Human Input Requested]: {text}")))
        }),
        on::read("nothing-after-a-completion", [MSG_SKIP, EQ_1], |events| {
            let end = events.iter().position(|event| word(event) == "completion");
            events.truncate(end.map_or(events.len(), |end| end + 1));
        }),
        of_type("summaries-become-messages", MSG_SUMMARY, "summary", |text| {
            Some(Message::human(format!("[Summary]: {text}")))
        }),
        on::several("summaries-become-messages-only", [MSG_SUMMARY, CTX_SYSTEM], |twin| {
            twin.message = &|twin, event| match &event.kind {
                EventKind::Summary { summary, .. } => Some(Message::system(summary)),
                _ => message(twin, event),
            };
            twin.summaries = &|_| String::new();
        }),
        on::before("summarized-iterations-dropped", [MSG_SUMMARY, EQ_1], |_, _, input| {
            let Some(events) = list(input, "events") else { return };
            let gone: Vec<Value> =
                events.iter().flat_map(|event| listed(event, "summarizedIterations")).cloned().collect();
            events.retain(|event| event["type"] == "summary" || !gone.contains(&event["iteration"]));
        }),
        edit("texts-escaped-in-messages", [EQ_1, MSG_USER], Content(""), |text| {
            threadspec::escape_xml(text).into_owned()
        }),
        on::xml("ordered-by-iteration", EQ_2, |twin, events| {
            let mut sorted = events.to_vec();
            sorted.sort_by_key(|event| event.iteration);
            xml(twin, &sorted)
        }),
        on::read("messages-ordered-by-iteration", EQ_2, |events| events.sort_by_key(|event| event.iteration)),
        on::messages("errors-last-in-messages", EQ_2, |_, messages| {
            let is_error = |text: &str| text.starts_with("[Error");
            messages.sort_by_key(|message| message["content"].as_str().is_some_and(is_error));
        }),
        on::read("results-without-a-call-dropped", MSG_RESULT, |events| {
            let known: Vec<String> = calls(events).map(|(id, _)| id.to_owned()).collect();
            events.retain(|event| {
                word(event) != "tool_result" || id_of(event).is_some_and(|id| known.iter().any(|own| own == id))
            });
        }),
        on::is_paired("missing-results-made-up-in-literal", literal(MSG_CALL), |_| true),
    ]
}
