//! Compares lists of messages.

use super::Difference;
use super::document::{self, is_subsequence};
use super::spelling::json_clause;
use super::texts::Texts;
use crate::corpus::expectation::NOTHING;
use crate::json::text;
use serde_json::Value;
use threadspec::{Event, EventKind, Profile};
use threadspec_golden::clause;

/// The text that stands for the result of a call without one.
const MISSING: &str = "[No result recorded]";

/// What the messages are built from.
pub(super) struct Context<'a> {
    pub(super) events: &'a [Event],
    pub(super) xml: bool,
}

/// Compares the messages that present a thread.
pub(super) fn messages(
    context: &Context<'_>,
    expected: &[Value],
    actual: &[Value],
    texts: &Texts,
) -> Option<Difference> {
    for (index, expected_message) in expected.iter().enumerate() {
        let path = format!("/{index}");
        let Some(actual_message) = actual.get(index) else {
            let clause = if context.xml { clause::CTX_XML } else { clause(context, expected, actual, index, texts) };
            return Some(Difference::values(clause, &path, expected_message, &NOTHING));
        };
        if context.xml
            && expected_message["type"] == "human"
            && let (Some(expected_text), Some(document)) =
                (expected_message["content"].as_str(), actual_message["content"].as_str())
            && let Some(difference) = document::compare(context.events, expected_text, document, texts)
        {
            return Some(difference);
        }
        let expected_message = accepted(expected_message, actual_message, context.xml);
        if let Some(mismatch) = texts.mismatch(&expected_message, actual_message, &path) {
            return Some(Difference::new(clause(context, expected, actual, index, texts), mismatch));
        }
    }
    if let Some(more) = actual.get(expected.len()) {
        let clause = if context.xml { clause::CTX_XML } else { clause::MSG_SKIP };
        let clause = if clause == clause::MSG_SKIP { added_clause(context.events, more) } else { clause };
        let path = format!("/{}", expected.len());
        return Some(Difference::values(clause, &path, &NOTHING, more));
    }
    None
}

/// The expected message, with the actual text where that has been judged already.
fn accepted(expected: &Value, actual: &Value, is_judged: bool) -> Value {
    let mut expected = expected.clone();
    if is_judged && expected["type"] == "human" && actual["type"] == "human" && actual["content"].is_string() {
        expected["content"] = actual["content"].clone();
    }
    expected
}

/// The clause of a message that differs.
fn clause(context: &Context<'_>, expected: &[Value], actual: &[Value], index: usize, texts: &Texts) -> &'static str {
    let expected_message = &expected[index];
    let expected_text = text(&expected_message["content"]);
    let actual_message = actual.get(index).unwrap_or(&Value::Null);
    let hardened = texts.profile == Profile::Hardened;
    if context.xml && expected_message["type"] != "system" {
        return clause::CTX_XML;
    }
    if !context.xml && actual_message["content"].as_str().is_some_and(|text| text.starts_with("<thread>\n")) {
        return clause::CTX_DEFAULT;
    }
    if expected_message["type"] != "system" && actual_message["type"] == "system" {
        return if expected_text.starts_with("[System]: ") { clause::MSG_SYSTEM } else { clause::CTX_SYSTEM };
    }
    if expected_message["type"] == "system" && actual_message["type"] != "system" {
        return clause::CTX_SYSTEM;
    }
    if is_reordered(expected, actual) {
        let missing = [expected_text, text(&actual_message["content"])].contains(&MISSING);
        let results = [expected_message, actual_message].iter().any(|message| message["type"] == "tool");
        return match (hardened, missing, results) {
            (true, true, _) => clause::MSG_MISSING,
            (true, false, true) => clause::MSG_PAIRED,
            _ => clause::EQ_2,
        };
    }
    if expected_message["type"] == actual_message["type"]
        && texts.is_half_lost(expected_text, text(&actual_message["content"]))
    {
        return clause::INP_SURROGATE;
    }
    if actual.len() > expected.len() && is_subsequence(expected, actual) {
        return added_clause(context.events, actual_message);
    }
    match expected_message["type"].as_str() {
        Some("system") => system_clause(context.events, expected_text, actual_message),
        Some("ai") if expected_message["tool_calls"].is_null() => clause::MSG_ASSISTANT,
        Some("ai") => {
            let calls = |message: &Value| message["tool_calls"].as_array().map_or(0, Vec::len);
            if calls(actual_message) > 0 && calls(actual_message) != calls(expected_message) {
                clause::MSG_GROUP
            } else {
                clause::MSG_CALL
            }
        }
        Some("tool") if actual_message["type"] != "tool" && hardened => {
            if expected_text == MISSING {
                clause::MSG_MISSING
            } else {
                clause::MSG_PAIRED
            }
        }
        Some("tool") if actual_message["tool_call_id"] != expected_message["tool_call_id"] && hardened => {
            clause::MSG_PAIRED
        }
        Some("tool") if hardened && expected_text != MISSING && text(&actual_message["content"]) == MISSING => {
            clause::MSG_PAIRED
        }
        Some("tool") => match expected_text {
            MISSING if hardened => clause::MSG_MISSING,
            "undefined" if hardened => clause::EVT_RESULT_ABSENT,
            _ => tool_text_clause(expected_text, text(&actual_message["content"]), texts),
        },
        _ if expected_text.starts_with("[Tool result]: ") && hardened => clause::MSG_ORPHAN,
        _ if expected_text.starts_with("[System]: ") => clause::MSG_SYSTEM,
        _ if expected_text.starts_with("[Human Response]: ") => clause::MSG_ANSWER,
        _ if expected_text.starts_with("[Error") => clause::MSG_ERROR,
        _ => clause::MSG_USER,
    }
}

/// The clause of a message that should not be there.
fn added_clause(events: &[Event], added: &Value) -> &'static str {
    let content = text(&added["content"]);
    let summarizes = |event: &Event| match &event.kind {
        EventKind::Summary { summary, .. } => content.contains(&**summary),
        _ => false,
    };
    if events.iter().any(summarizes) { clause::MSG_SUMMARY } else { clause::MSG_SKIP }
}

/// Whether these are the same messages in another order.
fn is_reordered(expected: &[Value], actual: &[Value]) -> bool {
    let sorted = |messages: &[Value]| {
        let mut lines: Vec<String> = messages.iter().map(Value::to_string).collect();
        lines.sort_unstable();
        lines
    };
    expected.len() == actual.len() && sorted(expected) == sorted(actual)
}

/// The clause of the text of a tool message.
pub(super) fn tool_text_clause(expected: &str, actual: &str, texts: &Texts) -> &'static str {
    let structured = expected.starts_with(['{', '[']);
    structured.then(|| json_clause(expected, actual, texts)).flatten().unwrap_or(clause::MSG_RESULT)
}

fn system_clause(events: &[Event], expected: &str, actual: &Value) -> &'static str {
    let Some(actual) = actual["content"].as_str().filter(|_| actual["type"] == "system") else {
        return clause::CTX_SYSTEM;
    };
    let mut rest = actual;
    let mut summaries = 0;
    for event in events {
        if let EventKind::Summary { summary, .. } = &event.kind {
            summaries += 1;
            match rest.find(&**summary) {
                Some(at) => rest = &rest[at + summary.len()..],
                None => return clause::MSG_SUMMARY,
            }
        }
    }
    let instructions = expected.rsplit_once("\n\n\n\n").map_or("", |(_, instructions)| instructions);
    if summaries > 0 && actual.ends_with(instructions) { clause::CTX_SUMMARIES } else { clause::CTX_SYSTEM }
}
