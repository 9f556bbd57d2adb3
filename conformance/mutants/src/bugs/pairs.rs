//! Bugs that show only where two conditions meet: a type of event and a class of values, a place, a repetition, a mode, a profile. These were
//! written before there was a case for any of them.

use super::events::in_python;
use super::system::in_xml_mode;
use crate::plants::TwinSite::{Attributes, Given, Written};
use crate::plants::prelude::*;
use crate::twin::context::{answers, call, joins, orphan, result_content};
use crate::twin::text::string;

/// Drops the events that are like the one before them and of this type.
fn without_echoes(name: FaultName, terms: impl IntoTerms, of: &'static str) -> Planted {
    given(name, terms, Op::Messages, move |events| {
        let mut before = Value::Null;
        events.retain_mut(|event| {
            let text = text_of(event).map_or(Value::Null, |text| (&**text).into());
            let is_echo = kind(event) == of && !text.is_null() && before == json!([of, text]);
            before = json!([kind(event), text]);
            !is_echo
        });
    })
}

/// Leaves such events of a type out of messages.
fn left_out(name: FaultName, terms: impl IntoTerms, of: &'static str, is_such: fn(&Value) -> bool) -> Planted {
    given(name, terms, Op::Messages, move |events| events.retain(|event| kind(event) != of || !is_such(event)))
}

/// Edits the text of the last event, or of the first one.
fn at_end(
    name: FaultName,
    terms: impl IntoTerms,
    to: Op,
    event: fn(&mut Vec<Value>) -> Option<&mut Value>,
    change: fn(&str) -> String,
) -> Planted {
    given(name, terms, to, move |events| {
        event(events).and_then(text_of).into_iter().for_each(|text| *text = change(text));
    })
}

/// A mark is not put before texts that have it already, in standard mode.
fn marked_once(name: FaultName, terms: impl IntoTerms, of: &'static str, mark: &'static str) -> Planted {
    on::before_messages(name, terms, move |_, input| {
        if input["contextMode"] != "xml" {
            for text in each_event(input).filter(|event| kind(event) == of).filter_map(text_of) {
                *text = text.strip_prefix(mark).unwrap_or(text).to_owned();
            }
        }
    })
}

/// A text instead of an empty one.
fn filled(text: &str, with: &str) -> String {
    if text.is_empty() { with } else { text }.to_owned()
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        // A type of event and a class of texts, in the document.
        swap("apostrophes-raw-in-questions", ESC_1, Written("human_input_requested"), &[("&apos;", "'")]),
        swap("quotes-raw-in-completions", ESC_1, Written("completion"), &[("&quot;", "\"")]),
        swap("greater-than-raw-in-errors", ESC_1, Written("error"), &[("&gt;", ">")]),
        swap(
            "references-in-summaries-not-escaped-again",
            ESC_2,
            Written("summary"),
            &[("&amp;lt;", "&lt;"), ("&amp;amp;", "&amp;")],
        ),
        swap("carriage-returns-raw-in-answers", hardened(ESC_CR), Written("human_input_received"), &[("&#13;", "\r")]),
        swap("carriage-returns-raw-in-summaries", hardened(ESC_CR), Written("summary"), &[("&#13;", "\r")]),
        edit(
            "forbidden-characters-of-questions-removed",
            hardened(ESC_FORBIDDEN),
            Given(Op::Serialize, "human_input_requested"),
            |text| text.chars().filter(|&c| c >= ' ' || matches!(c, '\t' | '\n' | '\r')).collect(),
        ),
        swap(
            "line-feeds-raw-in-the-names-of-results",
            hardened(ATT_WHITESPACE),
            Attributes("tool_output"),
            &[("&#10;", "\n")],
        ),
        swap("apostrophes-raw-in-the-names-of-results", ATT_ESCAPED, Attributes("tool_output"), &[("&apos;", "'")]),
        on::attributes("names-of-results-trimmed", ATT_NAME, |list, event| {
            let names = list.iter_mut().filter(|(name, _)| *name == "name" && word(event) == "tool_result");
            names.for_each(|(_, value)| *value = value.trim().to_owned());
        }),
        on::any_given("empty-questions-in-words", EVT_ASK, |event| {
            if kind(event) == "human_input_requested" && event["question"] == "" {
                event["question"] = "(no question)".into();
            }
        }),
        edit("empty-errors-in-words", EVT_ERROR, Given(Op::Serialize, "error"), |text| filled(text, "Unknown error")),
        edit("empty-errors-in-words-in-messages", MSG_ERROR, Given(Op::Messages, "error"), |text| {
            filled(text, "Unknown error")
        }),
        edit("results-that-say-undefined-emptied", EVT_RESULT, Given(Op::Serialize, "tool_result"), |text| {
            emptied(text, matches!(text, "undefined" | "null"))
        }),
        on::attributes("errors-of-iteration-zero-unrecoverable", ATT_RECOVERABLE, |list, event| {
            let flags = list.iter_mut().filter(|(name, _)| *name == "recoverable" && event.iteration == 0);
            flags.for_each(|(_, value)| "false".clone_into(value));
        }),
        on::before("iteration-of-a-result-from-its-call", ATT_ITERATION, |_, _, input| {
            let mut calls = Map::new();
            for event in each_event(input) {
                let id = event["toolCallId"].as_str().unwrap_or_default().to_owned();
                match kind(event) {
                    "tool_call" => drop(calls.insert(id, event["iteration"].clone())),
                    "tool_result" if calls.contains_key(&id) => event["iteration"] = calls[&id].clone(),
                    _ => {}
                }
            }
        }),
        on::iteration("iteration-of-a-summary-is-its-last", ATT_ITERATION, |event| match &event.kind {
            EventKind::Summary { summarized_iterations, .. } => {
                summarized_iterations.last().unwrap_or(&event.iteration).to_string()
            }
            _ => event.iteration.to_string(),
        }),
        // A place and a class of texts.
        given("last-event-without-text-left-out", DOC_2, Op::Serialize, |events| {
            events.pop_if(|last| text_of(last).is_some_and(|text| text.is_empty()));
        }),
        at_end(
            "line-feed-in-front-of-the-first-event-lost",
            DOC_2,
            Op::Serialize,
            |events| events.first_mut(),
            |text| text.strip_prefix('\n').unwrap_or(text).to_owned(),
        ),
        at_end(
            "line-feed-behind-the-last-event-lost",
            DOC_2,
            Op::Serialize,
            |events| events.last_mut(),
            |text| text.strip_suffix('\n').unwrap_or(text).to_owned(),
        ),
        at_end(
            "blanks-behind-the-last-assistant-message-lost",
            MSG_ASSISTANT,
            Op::Messages,
            |events| events.last_mut().filter(|last| kind(last) == "assistant"),
            |text| text.trim_end().to_owned(),
        ),
        on::messages("system-message-in-front-unmarked", MSG_SYSTEM, |input, messages| {
            let is_first = kind(&input["events"][0]) == "system" && input["contextMode"] != "xml";
            if let Some(first) = messages.iter_mut().find(|message| is_first && message["type"] == "human") {
                let text = first["content"].as_str().unwrap_or_default();
                first["content"] = text.strip_prefix("[System]: ").unwrap_or(text).into();
            }
        }),
        marked_once("marked-system-messages-not-marked-again", MSG_SYSTEM, "system", "[System]: "),
        marked_once("marked-errors-not-marked-again", MSG_ERROR, "error", "[Error]: "),
        marked_once(
            "marked-answers-not-marked-again",
            hardened(MSG_ANSWER),
            "human_input_received",
            "[Human Response]: ",
        ),
        left_out("empty-answers-to-questions-left-out", MSG_ANSWER, "human_input_received", |event| {
            event["response"] == ""
        }),
        left_out("empty-system-messages-left-out", MSG_SYSTEM, "system", |event| event["content"] == ""),
        edit("user-texts-of-content-blocks-unpacked", MSG_USER, Given(Op::Messages, "user"), |text| {
            let read = serde_json::from_str::<Value>(text).unwrap_or_default();
            read.get(0).filter(|_| read.is_array()).and_then(|first| first["text"].as_str()).unwrap_or(text).to_owned()
        }),
        given("empty-assistant-message-before-a-call-dropped", MSG_ASSISTANT, Op::Messages, |events| {
            let are_calls: Vec<bool> = events.iter().skip(1).map(|next| kind(next) == "tool_call").collect();
            let mut next = are_calls.into_iter();
            events.retain(|event| next.next() != Some(true) || kind(event) != "assistant" || event["content"] != "");
        }),
        // A type of event and its repetition.
        without_echoes("error-like-the-one-before-dropped", MSG_ERROR, "error"),
        without_echoes("assistant-message-like-the-one-before-dropped", MSG_ASSISTANT, "assistant"),
        without_echoes("answer-like-the-one-before-dropped", MSG_ANSWER, "human_input_received"),
        given("event-like-the-one-before-dropped", DOC_2, Op::Serialize, Vec::dedup),
        given("summary-like-an-earlier-one-dropped", MSG_SUMMARY, Op::Messages, |events| {
            let mut known: Vec<Value> = Vec::new();
            events.retain(|event| {
                let is_new = kind(event) != "summary" || !known.contains(&event["summary"]);
                known.push(event["summary"].clone());
                is_new
            });
        }),
        given("results-seen-before-in-short", MSG_RESULT, Op::Messages, |events| {
            let mut known: Vec<String> = Vec::new();
            for text in events.iter_mut().filter(|event| kind(event) == "tool_result").filter_map(text_of) {
                if known.contains(text) && text.len() > 16 {
                    *text = "(same as before)".to_owned();
                } else {
                    known.push(text.clone());
                }
            }
        }),
        // A place in a value and a class of values.
        on::string("exponents-in-lists-without-plus", literal(STR_2), |twin, value| {
            let text = string(twin, value);
            if value.is_array() { text.replace("e+", "e") } else { text }
        }),
        on::odd_item("truth-in-lists-in-python", STR_2, |_, element| element.as_bool().map(in_python)),
        on::string("minus-zero-kept-in-results", literal(STR_1), |twin, value| {
            let is_negative = value.as_f64().is_some_and(|double| double == 0.0 && double.is_sign_negative());
            if is_negative { "-0".to_owned() } else { string(twin, value) }
        }),
        on::odd_item("null-in-inner-lists-in-words", STR_2, |twin, element| {
            let inner = element.as_array()?.iter().map(|element| (twin.string)(twin, element));
            Some(inner.collect::<Vec<_>>().join(","))
        }),
        on::result_content("index-keys-of-results-as-inserted", JSON_4, |twin, result| {
            let mut other = twin.clone();
            other.members = &|object| object.iter().collect();
            result_content(&other, result)
        }),
        // A member that belongs to another type of event.
        on::messages("content-of-a-call-is-its-text", INP_2, |input, messages| {
            let is_call = |event: &&Value| kind(event) == "tool_call" && event["content"].is_string();
            let call = listed(input, "events").iter().find(is_call);
            let message = messages.iter_mut().find(|message| message["tool_calls"].is_array());
            if let (Some(call), Some(message)) = (call, message) {
                message["content"] = call["content"].clone();
            }
        }),
        on::any_given("error-mark-of-a-result-shown", INP_2, |event| {
            if kind(event) == "tool_result" && event["isError"] == true {
                text_of(event).into_iter().for_each(|text| text.insert_str(0, "Error: "));
            }
        }),
        each_given("name-of-a-user-shown", INP_2, Op::Messages, |event| {
            let name = event["name"].as_str().filter(|_| kind(event) == "user").map(str::to_owned);
            if let (Some(name), Some(text)) = (name, text_of(event)) {
                *text = format!("{name}: {text}");
            }
        }),
        // A mode and a state of the thread.
        on::before_messages("instructions-lost-for-an-empty-thread-in-xml-mode", CTX_SYSTEM, |_, input| {
            if input["contextMode"] == "xml" && input["events"] == json!([]) {
                input["instructions"] = "".into();
            }
        }),
        in_xml_mode("summaries-without-instructions-trimmed-in-xml-mode", CTX_SYSTEM, |summaries, instructions| {
            instructions.is_empty().then(|| summaries.trim_end().to_owned())
        }),
        in_xml_mode("blank-instructions-dropped-in-xml-mode", CTX_SYSTEM, |summaries, instructions| {
            instructions.trim().is_empty().then(|| summaries.to_owned())
        }),
        on::before_messages("thread-of-a-single-event-not-in-xml", CTX_XML, |_, input| {
            let is_single = listed(input, "events").len() == 1 && kind(&input["events"][0]) == "user";
            if is_single && input["contextMode"] == "xml" {
                input["contextMode"] = "standard".into();
            }
        }),
        left_out("summary-of-no-iteration-left-out", MSG_SUMMARY, "summary", |event| {
            event["summarizedIterations"] == json!([])
        }),
        // The hardened profile and something else.
        on::joins("empty-ids-are-never-grouped", hardened(MSG_GROUP), |group, next| {
            call(next).is_none_or(|call| !call.id.is_empty()) && joins(group, next)
        }),
        on::answers("results-of-empty-ids-are-orphans", hardened(MSG_PAIRED), |events, position| {
            answers(events, position).filter(|_| answered_id(&events[position]) != Some(""))
        }),
        on::answers("result-answers-a-later-call-of-its-iteration", hardened(MSG_ORPHAN), |events, position| {
            let own = answered_id(&events[position])?;
            let iteration = events[position].iteration;
            let mut later = events[position..].iter();
            let is_it = |event: &Event| event.iteration == iteration && call(event).is_some_and(|call| call.id == own);
            answers(events, position).or_else(|| Some(position + later.position(is_it)?))
        }),
        on::joins("groups-end-where-a-call-has-no-arguments", hardened(MSG_GROUP), |group, next| {
            let is_bare = call(next).is_some_and(|call| call.args.is_empty());
            !(is_bare && group.len() > 1) && joins(group, next)
        }),
        on::messages("missing-result-at-the-end-left-out", hardened(MSG_MISSING), |_, messages| {
            messages.pop_if(|last| last["content"] == "[No result recorded]");
        }),
        on::orphan("orphans-without-text-dropped", hardened(MSG_ORPHAN), |twin, id, result| {
            orphan(twin, id, result).filter(|_| result.is_none_or(|result| *result != ""))
        }),
        on::orphan("structured-orphans-by-string", hardened(MSG_ORPHAN), |twin, id, result| match result {
            Some(value) if value.is_object() => Some(Message::human("[Tool result]: [object Object]")),
            _ => orphan(twin, id, result),
        }),
        on::orphan("absent-orphans-empty", hardened(MSG_ORPHAN), |twin, id, result| {
            if result.is_none() { Some(Message::human("[Tool result]: ")) } else { orphan(twin, id, result) }
        }),
        on::messages("equal-second-results-dropped", hardened(MSG_ORPHAN), |_, messages| {
            let answers = messages.iter().filter(|message| message["type"] == "tool");
            let answers: Vec<Value> = answers.map(|message| message["content"].clone()).collect();
            messages.retain(|message| {
                let orphan = message["content"].as_str().and_then(|text| text.strip_prefix("[Tool result]: "));
                orphan.is_none_or(|orphan| !answers.iter().any(|answer| *answer == *orphan))
            });
        }),
    ]
}
