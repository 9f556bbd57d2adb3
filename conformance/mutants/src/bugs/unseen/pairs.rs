//! Bugs that show only where two conditions meet: a type of event and a class of values, a place, a repetition, a mode, a profile.

use super::{Planted, bug, change, each, events, hardened, kind, literal, text_of};
use crate::twin::context::result_content;
use crate::twin::document::element;
use crate::twin::text::string;
use serde_json::{Map, Value, json};
use threadspec::EventKind;
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// Removes the events that are like the one before them and of this type.
fn without_echoes(input: &mut Value, of: &str) {
    let Some(events) = input.get_mut("events").and_then(Value::as_array_mut) else { return };
    let mut before = Value::Null;
    events.retain_mut(|event| {
        let text = text_of(event).map_or(Value::Null, |text| (&**text).into());
        let echo = kind(event) == of && !text.is_null() && before == json!([of, text]);
        before = json!([kind(event), text]);
        !echo
    });
}

/// The messages of an output in which something is wrong.
fn messages(output: &mut Value) -> Option<&mut Vec<Value>> {
    output.as_array_mut()
}

/// Changes each object inside the arguments of calls.
fn in_inner_objects(input: &mut Value, change: fn(&mut Map<String, Value>)) {
    for args in events(input).filter_map(|event| event.get_mut("args")?.as_object_mut()) {
        args.values_mut().for_each(|value| each(value, &|value| value.as_object_mut().into_iter().for_each(change)));
    }
}

pub(in super::super) const BUGS: &[Planted] = &[
    // A type of event and a class of texts, in the document.
    bug("apostrophes-raw-in-questions", &[clause::ESC_1], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"human_input_requested\"");
            element(attributes, &if is_one { body.replace("&apos;", "'") } else { body.to_owned() })
        };
    }),
    bug("quotes-raw-in-completions", &[clause::ESC_1], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"completion\"");
            element(attributes, &if is_one { body.replace("&quot;", "\"") } else { body.to_owned() })
        };
    }),
    bug("greater-than-raw-in-errors", &[clause::ESC_1], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"error\"");
            element(attributes, &if is_one { body.replace("&gt;", ">") } else { body.to_owned() })
        };
    }),
    bug("references-in-summaries-not-escaped-again", &[clause::ESC_2], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"summary\"");
            element(
                attributes,
                &if is_one { body.replace("&amp;lt;", "&lt;").replace("&amp;amp;", "&amp;") } else { body.to_owned() },
            )
        };
    }),
    hardened("carriage-returns-raw-in-answers", &[clause::ESC_CR], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"human_input_received\"");
            element(attributes, &if is_one { body.replace("&#13;", "\r") } else { body.to_owned() })
        };
    }),
    hardened("carriage-returns-raw-in-summaries", &[clause::ESC_CR], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"summary\"");
            element(attributes, &if is_one { body.replace("&#13;", "\r") } else { body.to_owned() })
        };
    }),
    hardened("forbidden-characters-of-questions-removed", &[clause::ESC_FORBIDDEN], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Serialize {
                change(input, "human_input_requested", |text| {
                    text.chars().filter(|&c| c >= ' ' || matches!(c, '\t' | '\n' | '\r')).collect()
                });
            }
        };
    }),
    hardened("line-feeds-raw-in-the-names-of-results", &[clause::ATT_WHITESPACE], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"tool_output\"");
            element(&if is_one { attributes.replace("&#10;", "\n") } else { attributes.to_owned() }, body)
        };
    }),
    bug("apostrophes-raw-in-the-names-of-results", &[clause::ATT_ESCAPED], |twin| {
        twin.element = |attributes, body| {
            let is_one = attributes.contains("type=\"tool_output\"");
            element(&if is_one { attributes.replace("&apos;", "'") } else { attributes.to_owned() }, body)
        };
    }),
    bug("names-of-results-trimmed", &[clause::ATT_NAME], |twin| {
        twin.attributes = |list, event| {
            for (_, value) in list
                .iter_mut()
                .filter(|(name, _)| *name == "name" && matches!(event.kind, EventKind::ToolResult { .. }))
            {
                *value = value.trim().to_owned();
            }
        };
    }),
    bug("empty-questions-in-words", &[clause::EVT_ASK], |twin| {
        twin.before = |_, _, input| {
            change(input, "human_input_requested", |text| {
                if text.is_empty() { "(no question)".to_owned() } else { text.to_owned() }
            });
        };
    }),
    bug("empty-errors-in-words", &[clause::EVT_ERROR], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Serialize {
                change(
                    input,
                    "error",
                    |text| if text.is_empty() { "Unknown error".to_owned() } else { text.to_owned() },
                );
            }
        };
    }),
    bug("empty-errors-in-words-in-messages", &[clause::MSG_ERROR], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                change(
                    input,
                    "error",
                    |text| if text.is_empty() { "Unknown error".to_owned() } else { text.to_owned() },
                );
            }
        };
    }),
    bug("results-that-say-undefined-emptied", &[clause::EVT_RESULT], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Serialize {
                change(input, "tool_result", |text| {
                    if text == "undefined" || text == "null" { String::new() } else { text.to_owned() }
                });
            }
        };
    }),
    bug("errors-of-iteration-zero-unrecoverable", &[clause::ATT_RECOVERABLE], |twin| {
        twin.attributes = |list, event| {
            for (_, value) in list.iter_mut().filter(|(name, _)| *name == "recoverable" && event.iteration == 0) {
                *value = "false".to_owned();
            }
        };
    }),
    bug("iteration-of-a-result-from-its-call", &[clause::ATT_ITERATION], |twin| {
        twin.before = |_, _, input| {
            let mut calls = Map::new();
            for event in events(input) {
                let id = event["toolCallId"].as_str().unwrap_or_default().to_owned();
                match kind(event) {
                    "tool_call" => drop(calls.insert(id, event["iteration"].clone())),
                    "tool_result" if calls.contains_key(&id) => event["iteration"] = calls[&id].clone(),
                    _ => {}
                }
            }
        };
    }),
    bug("iteration-of-a-summary-is-its-last", &[clause::ATT_ITERATION], |twin| {
        twin.iteration = |event| match &event.kind {
            EventKind::Summary { summarized_iterations, .. } => {
                summarized_iterations.last().unwrap_or(&event.iteration).to_string()
            }
            _ => event.iteration.to_string(),
        };
    }),
    // A place and a class of texts.
    bug("last-event-without-text-left-out", &[clause::DOC_2], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Serialize)
                && events.last_mut().and_then(text_of).is_some_and(|text| text.is_empty())
            {
                events.pop();
            }
        };
    }),
    bug("line-feed-in-front-of-the-first-event-lost", &[clause::DOC_2], |twin| {
        twin.before = |_, op, input| {
            if let Some(text) = events(input).next().filter(|_| op == Op::Serialize).and_then(text_of) {
                *text = text.strip_prefix('\n').unwrap_or(text).to_owned();
            }
        };
    }),
    bug("line-feed-behind-the-last-event-lost", &[clause::DOC_2], |twin| {
        twin.before = |_, op, input| {
            if let Some(text) = events(input).last().filter(|_| op == Op::Serialize).and_then(text_of) {
                *text = text.strip_suffix('\n').unwrap_or(text).to_owned();
            }
        };
    }),
    bug("blanks-behind-the-last-assistant-message-lost", &[clause::MSG_ASSISTANT], |twin| {
        twin.before = |_, op, input| {
            if let Some(last) = events(input).last().filter(|event| op == Op::Messages && kind(event) == "assistant")
                && let Some(text) = text_of(last)
            {
                *text = text.trim_end().to_owned();
            }
        };
    }),
    bug("system-message-in-front-unmarked", &[clause::MSG_SYSTEM], |twin| {
        twin.after = |_, op, input, output| {
            let is_first = kind(&input["events"][0]) == "system" && input["contextMode"] != "xml";
            if let Some(first) = messages(output)
                .filter(|_| op == Op::Messages && is_first)
                .and_then(|list| list.iter_mut().find(|message| message["type"] == "human"))
            {
                let text = first["content"].as_str().unwrap_or_default();
                first["content"] = text.strip_prefix("[System]: ").unwrap_or(text).into();
            }
        };
    }),
    bug("marked-system-messages-not-marked-again", &[clause::MSG_SYSTEM], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages && input["contextMode"] != "xml" {
                change(input, "system", |text| text.strip_prefix("[System]: ").unwrap_or(text).to_owned());
            }
        };
    }),
    bug("marked-errors-not-marked-again", &[clause::MSG_ERROR], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages && input["contextMode"] != "xml" {
                change(input, "error", |text| text.strip_prefix("[Error]: ").unwrap_or(text).to_owned());
            }
        };
    }),
    hardened("marked-answers-not-marked-again", &[clause::MSG_ANSWER], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages && input["contextMode"] != "xml" {
                change(input, "human_input_received", |text| {
                    text.strip_prefix("[Human Response]: ").unwrap_or(text).to_owned()
                });
            }
        };
    }),
    bug("empty-answers-to-questions-left-out", &[clause::MSG_ANSWER], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                events.retain(|event| kind(event) != "human_input_received" || event["response"] != "");
            }
        };
    }),
    bug("empty-system-messages-left-out", &[clause::MSG_SYSTEM], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                events.retain(|event| kind(event) != "system" || event["content"] != "");
            }
        };
    }),
    bug("user-texts-of-content-blocks-unpacked", &[clause::MSG_USER], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                change(input, "user", |text| match serde_json::from_str::<Value>(text) {
                    Ok(Value::Array(blocks)) if !blocks.is_empty() => {
                        blocks[0]["text"].as_str().unwrap_or(text).to_owned()
                    }
                    _ => text.to_owned(),
                });
            }
        };
    }),
    bug("empty-assistant-message-before-a-call-dropped", &[clause::MSG_ASSISTANT], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                let next: Vec<bool> =
                    events.iter().skip(1).map(|event| kind(event) == "tool_call").chain([false]).collect();
                let mut next = next.into_iter();
                events.retain(|event| {
                    !(next.next() == Some(true) && kind(event) == "assistant" && event["content"] == "")
                });
            }
        };
    }),
    // A type of event and its repetition.
    bug("error-like-the-one-before-dropped", &[clause::MSG_ERROR], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                without_echoes(input, "error");
            }
        };
    }),
    bug("assistant-message-like-the-one-before-dropped", &[clause::MSG_ASSISTANT], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                without_echoes(input, "assistant");
            }
        };
    }),
    bug("answer-like-the-one-before-dropped", &[clause::MSG_ANSWER], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                without_echoes(input, "human_input_received");
            }
        };
    }),
    bug("event-like-the-one-before-dropped", &[clause::DOC_2], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Serialize)
            {
                events.dedup();
            }
        };
    }),
    bug("summary-like-an-earlier-one-dropped", &[clause::MSG_SUMMARY], |twin| {
        twin.before = |_, op, input| {
            if let Some(events) = input.get_mut("events").and_then(Value::as_array_mut).filter(|_| op == Op::Messages) {
                let mut known: Vec<Value> = Vec::new();
                events.retain(|event| {
                    let is_new = kind(event) != "summary" || !known.contains(&event["summary"]);
                    known.push(event["summary"].clone());
                    is_new
                });
            }
        };
    }),
    bug("results-seen-before-in-short", &[clause::MSG_RESULT], |twin| {
        twin.before = |_, op, input| {
            let mut known: Vec<String> = Vec::new();
            for event in events(input).filter(|event| op == Op::Messages && kind(event) == "tool_result") {
                if let Some(text) = text_of(event) {
                    if known.contains(text) && text.len() > 16 {
                        *text = "(same as before)".to_owned();
                    } else {
                        known.push(text.clone());
                    }
                }
            }
        };
    }),
    // A place in a value and a class of values.
    literal("exponents-in-lists-without-plus", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(_) => string(twin, value).replace("e+", "e"),
            _ => string(twin, value),
        };
    }),
    literal("truth-in-lists-in-python", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let text = |element: &Value| match element {
                    Value::Bool(truth) => (if *truth { "True" } else { "False" }).to_owned(),
                    Value::Null => String::new(),
                    _ => (twin.string)(twin, element),
                };
                elements.iter().map(text).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    literal("minus-zero-kept-in-results", &[clause::STR_1], |twin| {
        twin.string = |twin, value| match value.as_f64() {
            Some(double) if double == 0.0 && double.is_sign_negative() => "-0".to_owned(),
            _ => string(twin, value),
        };
    }),
    literal("null-in-inner-lists-in-words", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let element = |element: &Value| match element {
                    Value::Null => String::new(),
                    Value::Array(inner) => {
                        inner.iter().map(|element| (twin.string)(twin, element)).collect::<Vec<_>>().join(",")
                    }
                    _ => (twin.string)(twin, element),
                };
                elements.iter().map(element).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    bug("keys-of-inner-objects-sorted", &[clause::JSON_4], |twin| {
        twin.before = |_, _, input| in_inner_objects(input, Map::sort_keys);
    }),
    bug("index-keys-of-results-as-inserted", &[clause::JSON_4], |twin| {
        twin.result_content = |twin, result| {
            let mut other = twin.clone();
            other.members = |object| object.iter().collect();
            result_content(&other, result)
        };
    }),
    bug("control-characters-dropped-from-keys", &[clause::JSON_2], |twin| {
        twin.before = |_, _, input| {
            super::inside(input, |value| {
                if let Value::Object(members) = value {
                    *members = super::renamed(members, |key| key.replace(|c: char| c.is_ascii_control(), ""));
                }
            });
        };
    }),
    bug("empty-keys-of-inner-objects-lost", &[clause::JSON_4], |twin| {
        twin.before = |_, _, input| in_inner_objects(input, |members| members.retain(|key, _| !key.is_empty()));
    }),
    bug("null-members-of-inner-objects-dropped", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| in_inner_objects(input, |members| members.retain(|_, member| !member.is_null()));
    }),
    // A member that belongs to another type of event.
    bug("content-of-a-call-is-its-text", &[clause::INP_2], |twin| {
        twin.after = |_, op, input, output| {
            let call = input["events"]
                .as_array()
                .into_iter()
                .flatten()
                .find(|event| kind(event) == "tool_call" && event["content"].is_string());
            if let (Some(call), Some(list), true) = (call, messages(output), op == Op::Messages)
                && let Some(message) = list.iter_mut().find(|message| message["tool_calls"].is_array())
            {
                message["content"] = call["content"].clone();
            }
        };
    }),
    bug("error-mark-of-a-result-shown", &[clause::INP_2], |twin| {
        twin.before = |_, _, input| {
            for event in events(input).filter(|event| kind(event) == "tool_result" && event["isError"] == true) {
                if let Some(text) = text_of(event) {
                    text.insert_str(0, "Error: ");
                }
            }
        };
    }),
    bug("name-of-a-user-shown", &[clause::INP_2], |twin| {
        twin.before = |_, op, input| {
            for event in events(input).filter(|event| op == Op::Messages && kind(event) == "user") {
                if let (Some(name), Some(text)) = (event["name"].as_str().map(str::to_owned), text_of(event)) {
                    *text = format!("{name}: {text}");
                }
            }
        };
    }),
];
