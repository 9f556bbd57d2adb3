//! From events to messages in standard mode.

use super::{Planted, bug, hardened, literal};
use crate::twin::Twin;
use crate::twin::context::{answers, call, joins, message, orphan, result_content};
use crate::twin::document::calls;
use crate::twin::text::string;
use serde_json::Value;
use threadspec::{Event, EventKind, Message, Role};
use threadspec_golden::clause;

/// The same message with another text.
fn with_content(message: Message, change: impl FnOnce(String) -> String) -> Message {
    match message {
        Message::System { content } => Message::System { content: change(content) },
        Message::Human { content } => Message::Human { content: change(content) },
        Message::Ai { content, tool_calls } => Message::Ai { content: change(content), tool_calls },
        Message::Tool { tool_call_id, content } => Message::Tool { tool_call_id, content: change(content) },
    }
}

/// The text of an event that is a message of this role.
fn said(event: &Event, by: Role) -> Option<&str> {
    match &event.kind {
        EventKind::Message { role, content } if *role == by => Some(content),
        _ => None,
    }
}

fn human_instead(twin: &Twin, event: &Event, from: &str, to: &str) -> Option<Message> {
    message(twin, event).map(|message| match message {
        Message::Human { content } => Message::Human { content: content.replacen(from, to, 1) },
        other => other,
    })
}

pub(super) const BUGS: &[Planted] = &[
    bug("empty-user-messages-dropped", &[clause::MSG_USER], |twin| {
        twin.message = |twin, event| message(twin, event).filter(|_| said(event, Role::User) != Some(""));
    }),
    bug("user-messages-trimmed", &[clause::MSG_USER], |twin| {
        twin.message = |twin, event| match said(event, Role::User) {
            Some(content) => Some(Message::human(content.trim())),
            None => message(twin, event),
        };
    }),
    bug("adjacent-user-messages-merged", &[clause::MSG_USER, clause::EQ_1], |twin| {
        twin.after = |_, _, input, output| {
            let Some(messages) = output.as_array_mut().filter(|_| input["contextMode"] != "xml") else { return };
            let mut merged: Vec<Value> = Vec::new();
            for message in messages.drain(..) {
                match merged.last_mut() {
                    Some(last) if last["type"] == "human" && message["type"] == "human" => {
                        let both =
                            [&last["content"], &message["content"]].map(|text| text.as_str().unwrap_or_default());
                        last["content"] = both.join("\n").into();
                    }
                    _ => merged.push(message),
                }
            }
            *messages = merged;
        };
    }),
    bug("user-messages-deduplicated", &[clause::MSG_USER], |twin| {
        twin.after = |_, _, _, output| {
            if let Some(messages) = output.as_array_mut() {
                messages.dedup();
            }
        };
    }),
    bug("empty-assistant-messages-dropped", &[clause::MSG_ASSISTANT], |twin| {
        twin.message = |twin, event| message(twin, event).filter(|_| said(event, Role::Assistant) != Some(""));
    }),
    bug("assistant-messages-become-human", &[clause::MSG_ASSISTANT], |twin| {
        twin.message = |twin, event| match said(event, Role::Assistant) {
            Some(content) => Some(Message::human(content)),
            None => message(twin, event),
        };
    }),
    bug("assistant-text-joins-the-next-call", &[clause::MSG_ASSISTANT, clause::MSG_CALL], |twin| {
        twin.after = |_, _, _, output| {
            let Some(messages) = output.as_array_mut() else { return };
            let joins = |pair: &[Value]| {
                pair[0]["type"] == "ai" && pair[0]["tool_calls"].is_null() && pair[1]["tool_calls"].is_array()
            };
            while let Some(at) = messages.windows(2).position(joins) {
                let text = messages.remove(at);
                messages[at]["content"] = text["content"].clone();
            }
        };
    }),
    bug("system-messages-stay-system", &[clause::MSG_SYSTEM], |twin| {
        twin.message = |twin, event| match said(event, Role::System) {
            Some(content) => Some(Message::system(content)),
            None => message(twin, event),
        };
    }),
    bug("system-messages-unmarked", &[clause::MSG_SYSTEM], |twin| {
        twin.message = |twin, event| match said(event, Role::System) {
            Some(content) => Some(Message::human(content)),
            None => message(twin, event),
        };
    }),
    bug("system-messages-dropped", &[clause::MSG_SYSTEM, clause::EQ_1], |twin| {
        twin.message = |twin, event| message(twin, event).filter(|_| said(event, Role::System).is_none());
    }),
    hardened("answers-unmarked", &[clause::MSG_ANSWER], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::HumanInputReceived { response } => Some(Message::human(response)),
            _ => message(twin, event),
        };
    }),
    bug("answers-marked-otherwise", &[clause::MSG_ANSWER], |twin| {
        twin.message = |twin, event| human_instead(twin, event, "[Human Response]:", "[Human Input]:");
    }),
    bug("answers-without-space", &[clause::MSG_ANSWER], |twin| {
        twin.message = |twin, event| human_instead(twin, event, "[Human Response]: ", "[Human Response]:");
    }),
    bug("call-with-text", &[clause::MSG_CALL], |twin| {
        twin.message = |twin, event| match call(event) {
            Some(call) => Some(Message::Ai { content: format!("Calling {}", call.name), tool_calls: vec![call] }),
            None => message(twin, event),
        };
        twin.after = |_, _, input, output| {
            // The grouped form is built elsewhere, and says the same.
            let lists = output.as_array_mut().filter(|_| input["contextMode"] != "xml");
            for message in lists.into_iter().flatten().filter(|message| message["tool_calls"].is_array()) {
                message["content"] = "Calling".into();
            }
        };
    }),
    bug("call-arguments-as-text", &[clause::MSG_CALL], |twin| {
        twin.after = |_, _, _, output| {
            for message in output.as_array_mut().into_iter().flatten() {
                for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
                    call["args"] = call["args"].to_string().into();
                }
            }
        };
    }),
    bug("call-in-the-form-of-openai", &[clause::MSG_CALL], |twin| {
        twin.after = |_, _, _, output| {
            for message in output.as_array_mut().into_iter().flatten() {
                for call in message["tool_calls"].as_array_mut().into_iter().flatten() {
                    let function = serde_json::json!({"name": call["name"], "arguments": call["args"].to_string()});
                    *call = serde_json::json!({"id": call["id"], "type": "function", "function": function});
                }
            }
        };
    }),
    bug("call-ids-made-up", &[clause::MSG_CALL, clause::EQ_1], |twin| {
        twin.after = |_, _, _, output| {
            for message in output.as_array_mut().into_iter().flatten() {
                for (index, call) in message["tool_calls"].as_array_mut().into_iter().flatten().enumerate() {
                    call["id"] = format!("call_{index}").into();
                }
            }
        };
    }),
    bug("tool-calls-empty-rather-than-absent", &[clause::MSG_ASSISTANT], |twin| {
        twin.after = |_, _, _, output| {
            for message in output.as_array_mut().into_iter().flatten().filter(|message| message["type"] == "ai") {
                if message["tool_calls"].is_null() {
                    message["tool_calls"] = serde_json::json!([]);
                }
            }
        };
    }),
    bug("calls-grouped-across-iterations", &[clause::MSG_GROUP], |twin| {
        twin.is_paired = |_| true;
        twin.joins = |group, next| {
            let id = |event: &Event| call(event).map(|call| call.id);
            group.iter().all(|event| id(event) != id(next))
        };
        twin.missing = |_| None;
        twin.orphan = |twin, id, result| Some(Message::tool(id, (twin.result_content)(twin, result)));
    }),
    hardened("calls-never-grouped", &[clause::MSG_GROUP, clause::PROVIDER_1], |twin| twin.is_paired = |_| false),
    hardened("one-message-per-call", &[clause::MSG_GROUP], |twin| twin.joins = |_, _| false),
    hardened("repeated-ids-in-one-group", &[clause::MSG_GROUP, clause::PROVIDER_1], |twin| {
        twin.joins = |group, next| group[0].iteration == next.iteration;
    }),
    hardened("groups-end-at-the-same-tool", &[clause::MSG_GROUP], |twin| {
        twin.joins = |group, next| {
            let tool = |event: &Event| call(event).map(|call| call.name);
            joins(group, next) && group.iter().all(|event| tool(event) != tool(next))
        };
    }),
    hardened("groups-of-two-at-most", &[clause::MSG_GROUP], |twin| {
        twin.joins = |group, next| group.len() < 2 && joins(group, next);
    }),
    bug("tool-results-dropped", &[clause::MSG_RESULT, clause::EQ_1], |twin| {
        twin.message =
            |twin, event| message(twin, event).filter(|_| !matches!(event.kind, EventKind::ToolResult { .. }));
    }),
    bug("results-in-python", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| match result {
            Some(structure @ (Value::Object(_) | Value::Array(_))) => {
                result_content(twin, Some(structure)).replace('"', "'").replace(',', ", ").replace(':', ": ")
            }
            _ => result_content(twin, result),
        };
    }),
    bug("results-by-string", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| result.map_or("undefined".to_owned(), |result| string(twin, result));
    }),
    bug("string-results-quoted-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| result.map_or("undefined".to_owned(), |result| twin.stringify(result));
        twin.result_text = |twin, result| match result {
            Some(Value::String(text)) => text.clone(),
            _ => crate::twin::document::result_text(twin, result),
        };
    }),
    bug("falsy-results-empty-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| match result {
            Some(Value::Null | Value::Bool(false)) => String::new(),
            Some(Value::Number(number)) if number.as_f64() == Some(0.0) => String::new(),
            _ => result_content(twin, result),
        };
    }),
    bug("results-as-structures", &[clause::MSG_RESULT], |twin| {
        twin.after = |_, _, _, output| {
            for message in output.as_array_mut().into_iter().flatten().filter(|message| message["type"] == "tool") {
                if let Some(structure) = message["content"].as_str().filter(|text| text.starts_with(['{', '['])) {
                    message["content"] = serde_json::from_str(structure).unwrap_or_default();
                }
            }
        };
    }),
    bug("results-become-human", &[clause::MSG_RESULT], |twin| {
        twin.message = |twin, event| {
            message(twin, event).map(|message| match message {
                Message::Tool { content, .. } => Message::human(content),
                other => other,
            })
        };
    }),
    bug("results-carry-their-position", &[clause::MSG_RESULT, clause::EQ_1], |twin| {
        twin.after = |_, _, _, output| {
            for (index, message) in output.as_array_mut().into_iter().flatten().enumerate() {
                if message["type"] == "tool" {
                    message["tool_call_id"] = index.to_string().into();
                }
            }
        };
    }),
    bug("long-results-shortened-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| result_content(twin, result).chars().take(1000).collect();
        twin.result_text = |twin, result| match result {
            Some(Value::String(text)) => text.clone(),
            _ => crate::twin::document::result_text(twin, result),
        };
    }),
    hardened("results-left-where-they-stand", &[clause::MSG_PAIRED, clause::PROVIDER_1], |twin| {
        twin.answers = |events, position| {
            let directly =
                events[..position].iter().rposition(|event| !matches!(event.kind, EventKind::ToolResult { .. }));
            answers(events, position).filter(|&call| {
                directly.is_some_and(|last| call <= last && matches!(events[last].kind, EventKind::ToolCall { .. }))
            })
        };
    }),
    hardened("results-in-call-order", &[clause::MSG_PAIRED], |twin| twin.order_of_results = |_| {}),
    hardened("result-answers-the-first-call", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            let EventKind::ToolResult { tool_call_id, .. } = &events[position].kind else { return None };
            let answered = |event: &Event| call(event).is_some_and(|call| call.id == *tool_call_id);
            events[..position].iter().position(answered)
        };
    }),
    hardened("result-answers-a-later-call-too", &[clause::MSG_ORPHAN], |twin| {
        twin.answers = |events, position| {
            let EventKind::ToolResult { tool_call_id, .. } = &events[position].kind else { return None };
            let answered = |event: &Event| call(event).is_some_and(|call| call.id == *tool_call_id);
            answers(events, position).or_else(|| events.iter().position(answered))
        };
    }),
    hardened("results-paired-within-an-iteration", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| {
            answers(events, position).filter(|&call| events[call].iteration == events[position].iteration)
        };
    }),
    hardened("missing-results-left-missing", &[clause::MSG_MISSING, clause::PROVIDER_1], |twin| {
        twin.missing = |_| None
    }),
    hardened("missing-results-empty", &[clause::MSG_MISSING], |twin| {
        twin.missing = |call| Some(Message::tool(&call.id, ""))
    }),
    hardened("missing-results-named", &[clause::MSG_MISSING], |twin| {
        twin.missing = |call| Some(Message::tool(&call.id, format!("[No result recorded for {}]", call.name)));
    }),
    hardened("missing-results-first", &[clause::MSG_MISSING], |twin| {
        twin.after = |_, _, _, output| {
            let Some(messages) = output.as_array_mut() else { return };
            let late = |pair: &[Value]| {
                pair.iter().all(|message| message["type"] == "tool")
                    && pair[0]["content"] != "[No result recorded]"
                    && pair[1]["content"] == "[No result recorded]"
            };
            while let Some(at) = messages.windows(2).position(late) {
                messages.swap(at, at + 1);
            }
        };
    }),
    hardened("orphans-dropped", &[clause::MSG_ORPHAN, clause::EQ_1], |twin| twin.orphan = |_, _, _| None),
    hardened("orphans-stay-tool-messages", &[clause::MSG_ORPHAN, clause::PROVIDER_1], |twin| {
        twin.orphan = |twin, id, result| Some(Message::tool(id, (twin.result_content)(twin, result)));
    }),
    hardened("orphans-marked-otherwise", &[clause::MSG_ORPHAN], |twin| {
        twin.orphan = |twin, id, result| {
            let human = orphan(twin, id, result)?;
            Some(with_content(human, |text| text.replacen("[Tool result]:", &format!("[Tool result {id}]:"), 1)))
        };
    }),
    hardened("second-results-dropped", &[clause::MSG_ORPHAN], |twin| {
        twin.orphan = |twin, id, result| orphan(twin, id, result).filter(|_| id.contains("orphan"));
    }),
    bug("errors-always-recoverable", &[clause::MSG_ERROR, clause::EQ_1], |twin| {
        twin.message = |twin, event| human_instead(twin, event, "[Error]:", "[Error (recoverable)]:");
    }),
    bug("errors-without-recoverable", &[clause::MSG_ERROR, clause::EQ_1], |twin| {
        twin.message = |twin, event| human_instead(twin, event, "[Error (recoverable)]:", "[Error]:");
    }),
    bug("errors-swapped", &[clause::MSG_ERROR], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::Error { error, recoverable } => {
                let kind = EventKind::Error { error: error.clone(), recoverable: !recoverable };
                message(twin, &Event { kind, ..event.clone() })
            }
            _ => message(twin, event),
        };
    }),
    bug("unrecoverable-errors-dropped", &[clause::MSG_ERROR], |twin| {
        twin.message = |twin, event| {
            message(twin, event).filter(|_| !matches!(event.kind, EventKind::Error { recoverable: false, .. }))
        };
    }),
    bug("errors-marked-fatal", &[clause::MSG_ERROR], |twin| {
        twin.message = |twin, event| human_instead(twin, event, "[Error]:", "[Error (fatal)]:");
    }),
    bug("completions-become-messages", &[clause::MSG_SKIP], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::Completion { result, .. } => Some(Message::ai(result)),
            _ => message(twin, event),
        };
    }),
    bug("questions-become-messages", &[clause::MSG_SKIP], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::HumanInputRequested { question } => Some(Message::ai(question)),
            _ => message(twin, event),
        };
    }),
    bug("questions-join-their-answers", &[clause::MSG_SKIP, clause::MSG_ANSWER], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::HumanInputRequested { question } => {
                Some(Message::human(format!("[Human Input Requested]: {question}")))
            }
            _ => message(twin, event),
        };
    }),
    bug("nothing-after-a-completion", &[clause::MSG_SKIP, clause::EQ_1], |twin| {
        twin.events = |events| {
            let events: Vec<Event> = events.into_iter().collect::<Result<_, _>>()?;
            let end = events.iter().position(|event| matches!(event.kind, EventKind::Completion { .. }));
            Ok(events[..end.map_or(events.len(), |end| end + 1)].to_vec())
        };
    }),
    bug("summaries-become-messages", &[clause::MSG_SUMMARY], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::Summary { summary, .. } => Some(Message::human(format!("[Summary]: {summary}"))),
            _ => message(twin, event),
        };
    }),
    bug("summaries-become-messages-only", &[clause::MSG_SUMMARY, clause::CTX_SYSTEM], |twin| {
        twin.message = |twin, event| match &event.kind {
            EventKind::Summary { summary, .. } => Some(Message::system(summary)),
            _ => message(twin, event),
        };
        twin.summaries = |_| String::new();
    }),
    bug("summarized-iterations-dropped", &[clause::MSG_SUMMARY, clause::EQ_1], |twin| {
        twin.before = |_, _, input| {
            let Some(events) = input["events"].as_array_mut() else { return };
            let gone: Vec<Value> =
                events.iter().filter_map(|event| event["summarizedIterations"].as_array()).flatten().cloned().collect();
            events.retain(|event| event["type"] == "summary" || !gone.contains(&event["iteration"]));
        };
    }),
    bug("texts-escaped-in-messages", &[clause::EQ_1, clause::MSG_USER], |twin| {
        twin.message = |twin, event| {
            message(twin, event).map(|message| with_content(message, |text| threadspec::escape_xml(&text).into_owned()))
        };
    }),
    bug("ordered-by-iteration", &[clause::EQ_2], |twin| {
        twin.xml = |twin, events| {
            let mut sorted = events.to_vec();
            sorted.sort_by_key(|event| event.iteration);
            crate::twin::context::xml(twin, &sorted)
        };
    }),
    bug("messages-ordered-by-iteration", &[clause::EQ_2], |twin| {
        twin.events = |events| {
            let mut events: Vec<Event> = events.into_iter().collect::<Result<_, _>>()?;
            events.sort_by_key(|event| event.iteration);
            Ok(events)
        };
    }),
    bug("errors-last-in-messages", &[clause::EQ_2], |twin| {
        twin.after = |_, _, _, output| {
            if let Some(messages) = output.as_array_mut() {
                messages
                    .sort_by_key(|message| message["content"].as_str().is_some_and(|text| text.starts_with("[Error")));
            }
        };
    }),
    bug("results-without-a-call-dropped", &[clause::MSG_RESULT], |twin| {
        twin.events = |events| {
            let events: Vec<Event> = events.into_iter().collect::<Result<_, _>>()?;
            let known: Vec<String> = calls(&events).map(|(id, _)| id.to_owned()).collect();
            let kept = |event: &Event| !matches!(&event.kind, EventKind::ToolResult { tool_call_id, .. } if !known.contains(tool_call_id));
            Ok(events.into_iter().filter(kept).collect())
        };
    }),
    literal("missing-results-made-up-in-literal", &[clause::MSG_CALL], |twin| twin.is_paired = |_| true),
];
