//! Types, bodies and results of events in the document.

use super::document::without;
use crate::plants::TwinSite::Body;
use crate::plants::prelude::*;
use crate::twin::context::result_content;
use crate::twin::document::{kind, result_text};
use crate::twin::text::string;

/// A result that is written as text: a text as it is, absent ones as `undefined`.
pub(super) fn in_text(result: Option<&Value>, written: impl Fn(&Value) -> String) -> String {
    result.map_or_else(|| "undefined".to_owned(), written)
}

/// Returns whether JavaScript takes a result for false, though it is no text.
pub(super) fn is_falsy(result: &Value) -> bool {
    result.is_null() || *result == false || result.as_f64() == Some(0.0)
}

pub(super) fn bugs() -> Vec<Planted> {
    vec![
        typed("user-messages-typed-user", EVT_USER, "human", "user"),
        typed("assistant-messages-typed-assistant", EVT_ASSISTANT, "ai", "assistant"),
        typed("system-messages-typed-human", EVT_SYSTEM, "system", "human"),
        typed("calls-typed-tool-call", EVT_CALL, "tool_input", "tool_call"),
        typed("results-typed-tool-result", EVT_RESULT, "tool_output", "tool_result"),
        typed("questions-typed-human-input", EVT_ASK, "human_input_requested", "human_input"),
        typed("answers-typed-human", EVT_ANSWER, "human_input_received", "human"),
        edit("user-text-cut-at-a-newline", [EVT_USER, DOC_2], Body("user"), |text| {
            text.split('\n').next().unwrap_or_default().to_owned()
        }),
        edit("system-messages-marked-in-xml", EVT_SYSTEM, Body("system"), |text| format!("[System]: {text}")),
        edit("empty-arguments-give-empty-text", EVT_CALL, Body(""), |text| {
            if text == "{}" { String::new() } else { text.to_owned() }
        }),
        edit("error-marked-in-text", EVT_ERROR, Body("error"), |text| format!("Error: {text}")),
        edit("questions-left-empty", EVT_ASK, Body("human_input_requested"), |_| String::new()),
        edit("questions-say-that-they-wait", EVT_ASK, Body("human_input_requested"), |text| {
            format!("{text} (waiting)")
        }),
        edit("answers-marked-in-xml", EVT_ANSWER, Body("human_input_received"), |text| {
            format!("[Human Response]: {text}")
        }),
        edit("completions-left-empty", EVT_DONE, Body("completion"), |_| String::new()),
        edit("summaries-left-empty", EVT_SUMMARY, Body("summary"), |_| String::new()),
        on::thread("empty-assistant-messages-left-out", [EVT_ASSISTANT, DOC_2], |lines| {
            without(lines, |line| line.contains("<event type=\"ai\"") && line.ends_with("></event>"))
        }),
        on::thread("system-messages-left-out", EVT_SYSTEM, |lines| {
            without(lines, |line| line.starts_with("  <event type=\"system\""))
        }),
        on::attributes("call-name-left-out", EVT_CALL, |list, event| {
            list.retain(|(name, _)| *name != "name" || kind(&event.kind) != "tool_input");
        }),
        on::attributes("call-with-its-id", EVT_CALL, |list, event| {
            if let EventKind::ToolCall { tool_call_id, .. } = &event.kind {
                list.push(("toolCallId", tool_call_id.clone()));
            }
        }),
        on::attributes("error-without-recoverable", [EVT_ERROR, ATT_RECOVERABLE], |list, _| {
            list.retain(|(name, _)| *name != "recoverable");
        }),
        on::attributes("completions-with-verified", EVT_DONE, |list, event| {
            if let EventKind::Completion { verified: Some(verified), .. } = event.kind {
                list.push(("verified", verified.to_string()));
            }
        }),
        on::attributes("summaries-without-their-iterations", [EVT_SUMMARY, ATT_SUMMARIZED], |list, _| {
            list.retain(|(name, _)| *name != "summarizedIterations")
        }),
        odd_result("string-results-quoted", EVT_RESULT, |twin, result| {
            result.is_string().then(|| twin.stringify(result))
        }),
        odd_result("string-results-read-as-json", EVT_RESULT, |twin, result| {
            Some(twin.stringify(&serde_json::from_str(result.as_str()?).ok()?))
        }),
        on::result_text("results-always-stringified", literal(EVT_RESULT_VALUE), result_content),
        on::result_text("results-never-stringified", hardened([EVT_RESULT_VALUE, EQ_1]), |twin, result| {
            in_text(result, |result| string(twin, result))
        }),
        odd_result("arrays-never-stringified", hardened(EVT_RESULT_VALUE), |twin, result| {
            result.is_array().then(|| string(twin, result))
        }),
        odd_result("falsy-results-are-empty", [EVT_RESULT_VALUE, STR_1], |_, result| {
            is_falsy(result).then(String::new)
        }),
        odd_result("null-results-are-undefined", [EVT_RESULT_VALUE, STR_1], |twin, result| {
            result.is_null().then(|| result_text(twin, None))
        }),
        odd_result("null-in-python", [STR_1, EVT_RESULT_VALUE], |_, result| {
            result.is_null().then(|| "None".to_owned())
        }),
        odd_result("booleans-in-python", [STR_1, EVT_RESULT_VALUE], |_, result| result.as_bool().map(in_python)),
        odd_result("numbers-with-a-fraction", STR_1, |_, result| {
            result.as_number().filter(|number| number.is_i64()).map(|number: &Number| format!("{number}.0"))
        }),
        on::string("objects-in-python", literal(STR_2), |twin, value| match value {
            Value::Object(_) => twin.stringify(value).replace('"', "'").replace(':', ": "),
            _ => string(twin, value),
        }),
        on::string("objects-of-java", literal(STR_2), |twin, value| {
            string(twin, value).replace("[object Object]", "{}")
        }),
        on::string("objects-with-to-string-called", literal(STR_2), |twin, value| {
            value.get("toString").map_or_else(|| string(twin, value), |own| twin.stringify(own))
        }),
        on::string("arrays-in-brackets", literal(STR_2), |twin, value| {
            if value.is_array() { format!("[{}]", string(twin, value)) } else { string(twin, value) }
        }),
        on::string("arrays-with-spaces", literal(STR_2), |twin, value| match value {
            Value::Array(elements) => {
                elements.iter().filter_map(|element| (twin.item)(twin, element)).collect::<Vec<_>>().join(", ")
            }
            _ => string(twin, value),
        }),
        on::item("null-elements-in-words", literal(STR_2), |twin, element| Some((twin.string)(twin, element))),
        on::item("null-elements-dropped", literal(STR_2), |twin, element| {
            (!element.is_null()).then(|| (twin.string)(twin, element))
        }),
        on::odd_item("inner-arrays-in-brackets", STR_2, |twin, element| {
            element.is_array().then(|| twin.stringify(element))
        }),
        on::item("elements-stringified", literal(STR_2), |twin, element| Some(twin.stringify(element))),
        on::odd_item("objects-in-arrays-stringified", STR_2, |twin, element| {
            element.is_object().then(|| twin.stringify(element))
        }),
        on::result_text("absent-result-empty", hardened(EVT_RESULT_ABSENT), |twin, result| {
            result.map_or_else(String::new, |result| result_text(twin, Some(result)))
        }),
        on::result_text("absent-result-is-null", EVT_RESULT_ABSENT, |twin, result| {
            result_text(twin, result.or(Some(&Value::Null)))
        }),
        on::event("absent-result-left-out", EVT_RESULT_ABSENT, |event| {
            if event["type"] == "tool_result" && event.get("result").is_none() {
                *event = json!({"type": "completion", "result": "", "iteration": event["iteration"]});
            }
        }),
        on::result_content("absent-result-empty-in-messages", hardened(EVT_RESULT_ABSENT), |twin, result| {
            result.map_or_else(String::new, |result| result_content(twin, Some(result)))
        }),
    ]
}

/// A truth value in Python.
pub(super) fn in_python(truth: bool) -> String {
    if truth { "True" } else { "False" }.to_owned()
}
