//! Compares lists of messages.

use super::document::{self, is_subsequence};
use super::spelling::json_clause;
use super::texts::Texts;
use super::{Difference, as_message, departure, side, text};
use crate::corpus::mismatch::Side;
use crate::protocol::{ChatMessage, Part, Speaker};
use std::borrow::Cow;
use threadspec::{Event, EventKind, Profile};
use threadspec_golden::clause;

/// The text that represents the result of a call without one.
const MISSING: &str = "[No result recorded]";

/// The source of the messages.
pub(super) struct Context<'a> {
    pub(super) events: &'a [Event],
    pub(super) xml: bool,
}

/// Compares the messages that present a thread.
pub(super) fn messages(
    context: &Context<'_>,
    expected: &[Part<ChatMessage>],
    actual: &[Part<ChatMessage>],
    texts: &Texts,
) -> Option<Difference> {
    let differing = (0..expected.len()).find_map(|index| message(context, expected, actual, index, texts));
    if differing.is_some() {
        return differing;
    }
    if let Some(more) = actual.get(expected.len()) {
        let clause = if context.xml { clause::CTX_XML } else { added_clause(context.events, as_message(Some(more))) };
        let path = format!("/{}", expected.len());
        return Some(Difference::values(clause, &path, Side::nothing(), side(more)));
    }
    None
}

/// Compares the messages at one place.
pub(super) fn message(
    context: &Context<'_>,
    expected: &[Part<ChatMessage>],
    actual: &[Part<ChatMessage>],
    index: usize,
    texts: &Texts,
) -> Option<Difference> {
    let (path, expected_message) = (format!("/{index}"), expected.get(index)?);
    let Some(actual_message) = actual.get(index) else {
        let clause = if context.xml { clause::CTX_XML } else { clause(context, expected, actual, index, texts) };
        return Some(Difference::values(clause, &path, side(expected_message), Side::nothing()));
    };
    if context.xml
        && let Some(difference) = documents(context, expected_message, actual_message, texts)
    {
        return Some(difference);
    }
    let expected_message = accepted(expected_message, actual_message, context.xml);
    let mismatch = departure(&expected_message, actual_message, &path, texts)?;
    Some(Difference::new(clause(context, expected, actual, index, texts), mismatch))
}

/// Compares the documents of two messages.
fn documents(
    context: &Context<'_>,
    expected: &Part<ChatMessage>,
    actual: &Part<ChatMessage>,
    texts: &Texts,
) -> Option<Difference> {
    let [expected, actual] = [expected, actual].map(|message| as_message(Some(message)));
    let document = expected.content.text().filter(|_| expected.speaker.is(&Speaker::Human))?;
    document::compare(context.events, document, actual.content.text()?, texts)
}

/// The expected message, with the actual text where that has been judged already.
fn accepted<'a>(
    expected: &'a Part<ChatMessage>,
    actual: &Part<ChatMessage>,
    is_judged: bool,
) -> Cow<'a, Part<ChatMessage>> {
    let is_human = |message: &&ChatMessage| message.speaker.is(&Speaker::Human);
    let actual = actual.proper().filter(is_human).and_then(|actual| actual.content.text());
    match (expected.proper().filter(is_human), actual) {
        (Some(expected), Some(text)) if is_judged => {
            Cow::Owned(ChatMessage { content: text.into(), ..expected.clone() }.into())
        }
        _ => Cow::Borrowed(expected),
    }
}

/// The clause of a message that differs.
fn clause(
    context: &Context<'_>,
    expected: &[Part<ChatMessage>],
    actual: &[Part<ChatMessage>],
    index: usize,
    texts: &Texts,
) -> &'static str {
    let expected_message = as_message(expected.get(index));
    let expected_text = text(&expected_message.content);
    let actual_message = as_message(actual.get(index));
    let actual_text = text(&actual_message.content);
    let speakers = [expected_message, actual_message].map(|message| message.speaker.proper().copied());
    let hardened = texts.profile == Profile::Hardened;
    if context.xml && speakers[0] != Some(Speaker::System) {
        return clause::CTX_XML;
    }
    if !context.xml && actual_text.starts_with("<thread>\n") {
        return clause::CTX_DEFAULT;
    }
    match speakers.map(|speaker| speaker == Some(Speaker::System)) {
        [false, true] if expected_text.starts_with("[System]: ") => return clause::MSG_SYSTEM,
        [false, true] | [true, false] => return clause::CTX_SYSTEM,
        [false, false] | [true, true] => {}
    }
    if is_reordered(expected, actual) {
        let missing = [expected_text, actual_text].contains(&MISSING);
        let results = speakers.contains(&Some(Speaker::Tool));
        return match (hardened, missing, results) {
            (true, true, _) => clause::MSG_MISSING,
            (true, false, true) => clause::MSG_PAIRED,
            _ => clause::EQ_2,
        };
    }
    if speakers[0] == speakers[1] && texts.is_half_lost(expected_text, actual_text) {
        return clause::INP_SURROGATE;
    }
    if actual.len() > expected.len() && is_subsequence(expected, actual) {
        return added_clause(context.events, actual_message);
    }
    match speakers[0] {
        Some(Speaker::System) => system_clause(context.events, expected_text, actual_message),
        Some(Speaker::Ai) => match [expected_message, actual_message].map(|message| message.calls.list().len()) {
            [0, _] => clause::MSG_ASSISTANT,
            [expected, actual] if actual > 0 && actual != expected => clause::MSG_GROUP,
            _ => clause::MSG_CALL,
        },
        Some(Speaker::Tool) if speakers[1] != Some(Speaker::Tool) && hardened => {
            if expected_text == MISSING {
                clause::MSG_MISSING
            } else {
                clause::MSG_PAIRED
            }
        }
        Some(Speaker::Tool) if actual_message.call_id != expected_message.call_id && hardened => clause::MSG_PAIRED,
        Some(Speaker::Tool) if hardened && expected_text != MISSING && actual_text == MISSING => clause::MSG_PAIRED,
        Some(Speaker::Tool) => match expected_text {
            MISSING if hardened => clause::MSG_MISSING,
            "undefined" if hardened => clause::EVT_RESULT_ABSENT,
            _ => tool_text_clause(expected_text, actual_text, texts),
        },
        _ if expected_text.starts_with("[Tool result]: ") && hardened => clause::MSG_ORPHAN,
        _ if expected_text.starts_with("[System]: ") => clause::MSG_SYSTEM,
        _ if expected_text.starts_with("[Human Response]: ") => clause::MSG_ANSWER,
        _ if expected_text.starts_with("[Error") => clause::MSG_ERROR,
        _ => clause::MSG_USER,
    }
}

/// The clause of a message that should not be there.
fn added_clause(events: &[Event], added: &ChatMessage) -> &'static str {
    let content = text(&added.content);
    let summarizes = |event: &Event| match &event.kind {
        EventKind::Summary { summary, .. } => content.contains(&**summary),
        _ => false,
    };
    if events.iter().any(summarizes) { clause::MSG_SUMMARY } else { clause::MSG_SKIP }
}

/// Returns whether these are the same messages in another order.
pub(super) fn is_reordered(expected: &[Part<ChatMessage>], actual: &[Part<ChatMessage>]) -> bool {
    let sorted = |messages: &[Part<ChatMessage>]| {
        let mut lines: Vec<String> = messages.iter().map(|message| message.to_json().to_string()).collect();
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

fn system_clause(events: &[Event], expected: &str, actual: &ChatMessage) -> &'static str {
    let Some(actual) = actual.content.text().filter(|_| actual.speaker.is(&Speaker::System)) else {
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
