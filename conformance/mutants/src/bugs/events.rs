//! Types, bodies and results of events in the document.

use super::{Planted, bug, hardened, literal};
use crate::twin::context::result_content;
use crate::twin::document::{body, kind, result_text};
use crate::twin::text::string;
use serde_json::Value;
use threadspec::{EventKind, Role};
use threadspec_golden::clause;

pub(super) const BUGS: &[Planted] = &[
    bug("user-messages-typed-user", &[clause::EVT_USER], |twin| {
        twin.kind = |event| if let EventKind::Message { role: Role::User, .. } = event { "user" } else { kind(event) };
    }),
    bug("user-text-cut-at-a-newline", &[clause::EVT_USER, clause::DOC_2], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::Message { role: Role::User, content } => {
                content.split('\n').next().unwrap_or_default().to_owned()
            }
            _ => body(twin, event),
        };
    }),
    bug("assistant-messages-typed-assistant", &[clause::EVT_ASSISTANT], |twin| {
        twin.kind = |event| {
            if let EventKind::Message { role: Role::Assistant, .. } = event { "assistant" } else { kind(event) }
        };
    }),
    bug("empty-assistant-messages-left-out", &[clause::EVT_ASSISTANT, clause::DOC_2], |twin| {
        twin.thread = |lines| {
            let empty = |line: &&String| line.contains("<event type=\"ai\"") && line.ends_with("></event>");
            crate::twin::document::thread(&lines.iter().filter(|line| !empty(line)).cloned().collect::<Vec<_>>())
        };
    }),
    bug("system-messages-typed-human", &[clause::EVT_SYSTEM], |twin| {
        twin.kind =
            |event| if let EventKind::Message { role: Role::System, .. } = event { "human" } else { kind(event) };
    }),
    bug("system-messages-marked-in-xml", &[clause::EVT_SYSTEM], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::Message { role: Role::System, content } => format!("[System]: {content}"),
            _ => body(twin, event),
        };
    }),
    bug("system-messages-left-out", &[clause::EVT_SYSTEM], |twin| {
        twin.thread = |lines| {
            let system = |line: &&String| line.starts_with("  <event type=\"system\"");
            crate::twin::document::thread(&lines.iter().filter(|line| !system(line)).cloned().collect::<Vec<_>>())
        };
    }),
    bug("calls-typed-tool-call", &[clause::EVT_CALL], |twin| {
        twin.kind = |event| if let EventKind::ToolCall { .. } = event { "tool_call" } else { kind(event) };
    }),
    bug("call-name-left-out", &[clause::EVT_CALL], |twin| {
        twin.attributes = |list, event| {
            if matches!(event.kind, EventKind::ToolCall { .. }) {
                list.remove(2);
            }
        };
    }),
    bug("empty-arguments-give-empty-text", &[clause::EVT_CALL], |twin| {
        twin.body = |twin, event| Some(body(twin, event)).filter(|text| text != "{}").unwrap_or_default();
    }),
    bug("call-with-its-id", &[clause::EVT_CALL], |twin| {
        twin.attributes = |list, event| {
            if let EventKind::ToolCall { tool_call_id, .. } = &event.kind {
                list.push(("toolCallId", tool_call_id.clone()));
            }
        };
    }),
    bug("results-typed-tool-result", &[clause::EVT_RESULT], |twin| {
        twin.kind = |event| if let EventKind::ToolResult { .. } = event { "tool_result" } else { kind(event) };
    }),
    bug("string-results-quoted", &[clause::EVT_RESULT], |twin| {
        twin.result_text = |twin, result| match result {
            Some(text @ Value::String(_)) => twin.stringify(text),
            _ => result_text(twin, result),
        };
    }),
    bug("string-results-read-as-json", &[clause::EVT_RESULT], |twin| {
        twin.result_text = |twin, result| match result {
            Some(Value::String(text)) => {
                serde_json::from_str(text).map_or_else(|_| text.clone(), |value: Value| twin.stringify(&value))
            }
            _ => result_text(twin, result),
        };
    }),
    literal("results-always-stringified", &[clause::EVT_RESULT_VALUE], |twin| twin.result_text = result_content),
    hardened("results-never-stringified", &[clause::EVT_RESULT_VALUE, clause::EQ_1], |twin| {
        twin.result_text = |twin, result| result.map_or("undefined".to_owned(), |result| string(twin, result));
    }),
    hardened("arrays-never-stringified", &[clause::EVT_RESULT_VALUE], |twin| {
        twin.result_text = |twin, result| match result {
            Some(array @ Value::Array(_)) => string(twin, array),
            _ => result_text(twin, result),
        };
    }),
    bug("falsy-results-are-empty", &[clause::EVT_RESULT_VALUE, clause::STR_1], |twin| {
        twin.result_text = |twin, result| match result {
            Some(Value::Null | Value::Bool(false)) => String::new(),
            Some(Value::Number(number)) if number.as_f64() == Some(0.0) => String::new(),
            _ => result_text(twin, result),
        };
    }),
    bug("null-results-are-undefined", &[clause::EVT_RESULT_VALUE, clause::STR_1], |twin| {
        twin.result_text = |twin, result| result_text(twin, result.filter(|result| !result.is_null()));
    }),
    bug("null-in-python", &[clause::STR_1, clause::EVT_RESULT_VALUE], |twin| {
        twin.result_text = |twin, result| match result {
            Some(Value::Null) => "None".to_owned(),
            _ => result_text(twin, result),
        };
    }),
    bug("booleans-in-python", &[clause::STR_1, clause::EVT_RESULT_VALUE], |twin| {
        twin.result_text = |twin, result| match result {
            Some(Value::Bool(true)) => "True".to_owned(),
            Some(Value::Bool(false)) => "False".to_owned(),
            _ => result_text(twin, result),
        };
    }),
    bug("numbers-with-a-fraction", &[clause::STR_1], |twin| {
        twin.result_text = |twin, result| match result {
            Some(Value::Number(number)) if number.is_i64() => format!("{number}.0"),
            _ => result_text(twin, result),
        };
    }),
    literal("objects-in-python", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Object(_) => twin.stringify(value).replace('"', "'").replace(':', ": "),
            _ => string(twin, value),
        };
    }),
    literal("objects-of-java", &[clause::STR_2], |twin| {
        twin.string = |twin, value| string(twin, value).replace("[object Object]", "{}");
    }),
    literal("objects-with-to-string-called", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value.get("toString") {
            Some(own) => twin.stringify(own),
            None => string(twin, value),
        };
    }),
    literal("arrays-in-brackets", &[clause::STR_2], |twin| {
        twin.string =
            |twin, value| if value.is_array() { format!("[{}]", string(twin, value)) } else { string(twin, value) };
    }),
    literal("arrays-with-spaces", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let text =
                    |element: &Value| if element.is_null() { String::new() } else { (twin.string)(twin, element) };
                elements.iter().map(text).collect::<Vec<_>>().join(", ")
            }
            _ => string(twin, value),
        };
    }),
    literal("null-elements-in-words", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                elements.iter().map(|element| (twin.string)(twin, element)).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    literal("null-elements-dropped", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let kept = elements.iter().filter(|element| !element.is_null());
                kept.map(|element| (twin.string)(twin, element)).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    literal("inner-arrays-in-brackets", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let text = |element: &Value| match element {
                    Value::Null => String::new(),
                    Value::Array(_) => twin.stringify(element),
                    _ => (twin.string)(twin, element),
                };
                elements.iter().map(text).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    literal("elements-stringified", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                elements.iter().map(|element| twin.stringify(element)).collect::<Vec<_>>().join(",")
            }
            _ => string(twin, value),
        };
    }),
    hardened("absent-result-empty", &[clause::EVT_RESULT_ABSENT], |twin| {
        twin.result_text = |twin, result| result.map_or(String::new(), |result| result_text(twin, Some(result)));
    }),
    bug("absent-result-is-null", &[clause::EVT_RESULT_ABSENT], |twin| {
        twin.result_text = |twin, result| result_text(twin, result.or(Some(&Value::Null)));
    }),
    bug("absent-result-left-out", &[clause::EVT_RESULT_ABSENT], |twin| {
        twin.event = |event| {
            if event["type"] == "tool_result" && event.get("result").is_none() {
                *event = serde_json::json!({"type": "completion", "result": "", "iteration": event["iteration"]});
            }
        };
    }),
    hardened("absent-result-empty-in-messages", &[clause::EVT_RESULT_ABSENT], |twin| {
        twin.result_content = |twin, result| result.map_or(String::new(), |result| result_content(twin, Some(result)));
    }),
    bug("error-without-recoverable", &[clause::EVT_ERROR, clause::ATT_RECOVERABLE], |twin| {
        twin.attributes = |list, _| list.retain(|(name, _)| *name != "recoverable");
    }),
    bug("error-marked-in-text", &[clause::EVT_ERROR], |twin| {
        twin.body = |twin, event| {
            let text = body(twin, event);
            if matches!(event.kind, EventKind::Error { .. }) { format!("Error: {text}") } else { text }
        };
    }),
    bug("questions-typed-human-input", &[clause::EVT_ASK], |twin| {
        twin.kind = |event| if let EventKind::HumanInputRequested { .. } = event { "human_input" } else { kind(event) };
    }),
    bug("questions-left-empty", &[clause::EVT_ASK], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::HumanInputRequested { .. } => String::new(),
            _ => body(twin, event),
        };
    }),
    bug("answers-typed-human", &[clause::EVT_ANSWER], |twin| {
        twin.kind = |event| if let EventKind::HumanInputReceived { .. } = event { "human" } else { kind(event) };
    }),
    bug("answers-marked-in-xml", &[clause::EVT_ANSWER], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::HumanInputReceived { response } => format!("[Human Response]: {response}"),
            _ => body(twin, event),
        };
    }),
    bug("completions-with-verified", &[clause::EVT_DONE], |twin| {
        twin.attributes = |list, event| {
            if let EventKind::Completion { verified: Some(verified), .. } = event.kind {
                list.push(("verified", verified.to_string()));
            }
        };
    }),
    bug("completions-left-empty", &[clause::EVT_DONE], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::Completion { .. } => String::new(),
            _ => body(twin, event),
        };
    }),
    bug("summaries-without-their-iterations", &[clause::EVT_SUMMARY, clause::ATT_SUMMARIZED], |twin| {
        twin.attributes = |list, _| list.retain(|(name, _)| *name != "summarizedIterations");
    }),
    bug("summaries-left-empty", &[clause::EVT_SUMMARY], |twin| {
        twin.body = |twin, event| match &event.kind {
            EventKind::Summary { .. } => String::new(),
            _ => body(twin, event),
        };
    }),
];
