//! Compares documents event by event, so that a difference is blamed on the clause of its place.

use super::Difference;
use super::spelling::{
    EscapedAs, SPECIAL, character_clause, differs_in_white_space, json_clause, read_back, shortened_or,
};
use super::texts::Texts;
use crate::json;
use serde_json::Value;
use std::borrow::Cow;
use threadspec::{
    Event, EventKind, EventType, Profile, escape_attribute, escape_text, is_xml_char, json_stringify, oracle,
};
use threadspec_golden::clause;

/// Names that objects of JavaScript have already, and one that is falsy (NAME-ORDINARY).
const NOT_ORDINARY: [&str; 5] = ["__proto__", "toString", "constructor", "hasOwnProperty", ""];

/// Compares outputs of `escape`.
pub(super) fn escaped(text: &str, expected: &str, actual: &str, texts: &Texts) -> Option<Difference> {
    if texts.same_escaped(text, expected, actual) {
        return None;
    }
    let clause = character_clause(text, actual, EscapedAs::Text, texts).unwrap_or(clause::ESC_3);
    Some(Difference::new(clause, texts.texts("", expected, actual)))
}

/// Compares documents and the response prefix behind them.
pub(super) fn with_prefix(
    events: &[Event],
    prefix: Option<&str>,
    expected: &str,
    actual: &str,
    texts: &Texts,
) -> Option<Difference> {
    spelled_alike(expected, actual, texts, &|expected, actual| prefixed(events, prefix, expected, actual, texts))
}

/// Compares documents in which lone surrogates are spelled in one way, so that their spelling is not blamed, unless it is all that differs.
fn spelled_alike(
    expected: &str,
    actual: &str,
    texts: &Texts,
    compare: &dyn Fn(&str, &str) -> Option<Difference>,
) -> Option<Difference> {
    let difference = compare(expected, actual)?;
    match [expected, actual].map(|document| texts.canonical_everywhere(document)) {
        [Cow::Borrowed(_), Cow::Borrowed(_)] => Some(difference),
        [expected, actual] => compare(&expected, &actual).or(Some(difference)),
    }
}

/// A document, and the response prefix behind it; `None` if that is not there.
pub(super) fn split_prefix<'a>(prefix: Option<&'a str>, actual: &'a str, texts: &Texts) -> (&'a str, Option<&'a str>) {
    match prefix {
        None => (actual, Some("")),
        Some("") => (actual.strip_suffix('\n').unwrap_or(actual), Some("")),
        // Where lone surrogates of the prefix were replaced, the document still ends at its end tag.
        Some(prefix) => match actual.split_once("</thread>\n") {
            _ if actual.ends_with(&format!("\n{prefix}")) => (&actual[..actual.len() - prefix.len() - 1], Some(prefix)),
            Some((_, behind)) if texts.same(prefix, behind) => {
                (&actual[..actual.len() - behind.len() - 1], Some(prefix))
            }
            _ => (actual, None),
        },
    }
}

fn prefixed(events: &[Event], prefix: Option<&str>, expected: &str, actual: &str, texts: &Texts) -> Option<Difference> {
    let (document, behind) = split_prefix(prefix, actual, texts);
    if behind.is_none() {
        return Some(Difference::new(clause::DOC_6, texts.texts("", expected, actual)));
    }
    let end = expected.find("</thread>").map_or(expected.len(), |at| at + "</thread>".len());
    if document.len() > end && document.starts_with(&expected[..end]) {
        let clause = if prefix.unwrap_or_default().is_empty() { clause::DOC_PREFIX_EMPTY } else { clause::DOC_6 };
        return Some(Difference::new(clause, texts.texts("", expected, actual)));
    }
    documents(events, &expected[..end], document, texts)
}

/// Compares a document with the reference's.
pub(super) fn compare(events: &[Event], expected: &str, actual: &str, texts: &Texts) -> Option<Difference> {
    spelled_alike(expected, actual, texts, &|expected, actual| documents(events, expected, actual, texts))
}

fn documents(events: &[Event], expected: &str, actual: &str, texts: &Texts) -> Option<Difference> {
    if expected == actual {
        return None;
    }
    let clause = match (elements(expected), elements(actual)) {
        (Some(expected), Some(actual)) if is_reordered(&expected, &actual) => Some(clause::DOC_2),
        (Some(expected), Some(actual)) => {
            let mut pairs = expected.iter().zip(&actual).enumerate();
            pairs
                .find_map(|(id, (expected, actual))| element(events, id, expected, actual, texts))
                .or_else(|| (actual.len() < expected.len()).then_some(clause::DOC_2))
                .or_else(|| (actual.len() > expected.len()).then_some(clause::DOC_5))
        }
        _ => Some(misshapen(events, expected, actual)),
    };
    match clause {
        Some(clause) => Some(Difference::new(clause, texts.texts("", expected, actual))),
        None => objection(events, actual, texts),
    }
}

/// Returns the objection of the library's oracles to a document in which nothing else was found.
fn objection(events: &[Event], document: &str, texts: &Texts) -> Option<Difference> {
    let document = texts.canonical_everywhere(document);
    let events: Vec<Event> = events.iter().map(|event| with_canonical_result(event, texts)).collect();
    let profile = texts.profile;
    let forbidden = document.contains(|c| !is_xml_char(c)) || document.contains("&#");
    // A reference may represent a forbidden character; how the permitted ones are spelled was compared before.
    let is_free = profile == Profile::Literal && events.iter().any(has_forbidden);
    let verdicts = oracle::document_verdicts(&events, &document, profile);
    let verdicts = verdicts.into_iter().filter(|(oracle, _)| !(is_free && *oracle == "well-escaped"));
    let (oracle, violation) = verdicts.into_iter().find_map(|(oracle, verdict)| Some((oracle, verdict.err()?)))?;
    let clause = match oracle {
        "well-formed" if forbidden => clause::ESC_FORBIDDEN,
        "well-formed" => clause::DOC_4,
        "well-shaped" => clause::DOC_1,
        "well-escaped" => clause::ESC_1,
        "no-forgery" => clause::DOC_5,
        _ => clause::DOC_2,
    };
    Some(Difference::note(clause, violation.to_string()))
}

/// Returns whether a text or a name of an event has a character that XML forbids.
fn has_forbidden(event: &Event) -> bool {
    let texts = oracle::accepted_texts(event, Profile::Literal);
    texts.iter().map(String::as_str).chain(tool_name(event)).any(|text| text.contains(|c| !is_xml_char(c)))
}

/// An event with a canonical result if that is a string, as structured results of a run are.
fn with_canonical_result(event: &Event, texts: &Texts) -> Event {
    let mut event = event.clone();
    if let EventKind::ToolResult { result: Some(Value::String(text)), .. } = &mut event.kind {
        *text = texts.canonical_everywhere(text).into_owned();
    }
    event
}

/// Returns whether the same elements are there in another order, or some of them are missing.
pub(super) fn is_reordered(expected: &[Spelled<'_>], actual: &[Spelled<'_>]) -> bool {
    let without_ids = |elements: &[Spelled<'_>]| {
        let line = |element: &Spelled<'_>| {
            let others = element.attributes.iter().filter(|(name, _)| *name != "id");
            others.fold(element.body.to_owned(), |line, (name, value)| format!("{line} {name}={value}"))
        };
        elements.iter().map(line).collect::<Vec<_>>()
    };
    let (mut expected, mut actual) = (without_ids(expected), without_ids(actual));
    if actual.len() < expected.len() {
        return is_subsequence(&actual, &expected);
    }
    let same_place = expected == actual;
    expected.sort_unstable();
    actual.sort_unstable();
    !same_place && expected == actual
}

/// Returns whether a list is another one with some elements left out.
pub(super) fn is_subsequence<T: PartialEq>(some: &[T], all: &[T]) -> bool {
    let mut all = all.iter();
    some.iter().all(|one| all.any(|element| element == one))
}

/// An element as it is spelled.
pub(super) struct Spelled<'a> {
    pub(super) attributes: Vec<(&'a str, &'a str)>,
    pub(super) body: &'a str,
}

/// The elements of a document of the right form, whatever is in their values and texts.
pub(super) fn elements(document: &str) -> Option<Vec<Spelled<'_>>> {
    let mut rest = document.strip_prefix("<thread>\n")?.strip_suffix("</thread>")?;
    let mut elements = Vec::new();
    while !rest.is_empty() {
        let (mut event, after) = rest.strip_prefix("  <event")?.split_once("</event>\n")?;
        let mut attributes = Vec::new();
        let body = loop {
            if let Some(body) = event.strip_prefix('>') {
                break body;
            }
            let (name, value) = event.strip_prefix(' ')?.split_once("=\"")?;
            let (value, after) = value.split_once('"')?;
            attributes.push((name, value));
            event = after;
        };
        elements.push(Spelled { attributes, body });
        rest = after;
    }
    Some(elements)
}

fn element<'a>(
    events: &[Event],
    id: usize,
    expected: &Spelled<'a>,
    actual: &Spelled<'a>,
    texts: &Texts,
) -> Option<&'static str> {
    let event = events.get(id)?;
    let names = |element: &Spelled<'a>| element.attributes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    let (expected_names, actual_names) = (names(expected), names(actual));
    if expected_names != actual_names {
        let missing = expected_names.iter().find(|name| !actual_names.contains(name));
        return Some(match missing {
            Some(name) => attribute_clause(name, event),
            None if actual_names.len() == expected_names.len() => clause::ATT_ORDER,
            None if tool_name(event).is_some_and(|name| name.contains('"')) => clause::ATT_ESCAPED,
            None => row(event),
        });
    }
    let values = expected.attributes.iter().zip(&actual.attributes);
    values
        .filter(|((_, expected), (_, actual))| expected != actual)
        .find_map(|((name, expected), (_, actual))| match *name {
            "name" => name_clause(events, id, expected, actual, texts),
            name => Some(attribute_clause(name, event)),
        })
        .or_else(|| body_clause(event, expected.body, actual.body, texts))
}

pub(super) fn attribute_clause(name: &str, event: &Event) -> &'static str {
    clause_of_attribute(name).unwrap_or_else(|| row(event))
}

/// The clause of an attribute that has one of its own.
pub(super) fn clause_of_attribute(name: &str) -> Option<&'static str> {
    Some(match name {
        "id" => clause::ATT_ID,
        "name" => clause::ATT_NAME,
        "iteration" => clause::ATT_ITERATION,
        "status" => clause::ATT_STATUS,
        "recoverable" => clause::ATT_RECOVERABLE,
        "summarizedIterations" => clause::ATT_SUMMARIZED,
        _ => return None,
    })
}

pub(super) fn name_clause(
    events: &[Event],
    id: usize,
    expected: &str,
    actual: &str,
    texts: &Texts,
) -> Option<&'static str> {
    let accepted = match &events[id].kind {
        EventKind::ToolResult { tool_call_id, .. } => {
            oracle::accepted_names(events, id, tool_call_id, Profile::Literal)
        }
        _ => vec![tool_name(&events[id]).unwrap_or_default().to_owned()],
    };
    let (nearest, last) = (&*accepted[0], &*accepted[accepted.len() - 1]);
    let same = |name: &str| {
        let expected = if name == nearest { expected.into() } else { escape_attribute(name, texts.profile) };
        texts.same_escaped(name, &expected, actual)
    };
    if same(nearest) || texts.profile == Profile::Literal && same(last) {
        return None;
    }
    if let EventKind::ToolResult { tool_call_id, .. } = &events[id].kind
        && let Some(read) = read_back(actual)
        && (read == "unknown" || events.iter().any(|event| tool_name(event) == Some(&read)))
    {
        let calls = events.iter().filter(|event| call_id(event) == Some(tool_call_id)).count();
        return Some(if NOT_ORDINARY.contains(&nearest) || NOT_ORDINARY.contains(&&**tool_call_id) {
            clause::NAME_ORDINARY
        } else if calls > 1 || nearest != last {
            clause::ATT_NAME_NEAREST
        } else {
            clause::ATT_NAME
        });
    }
    let odd = match &events[id].kind {
        EventKind::ToolResult { tool_call_id, .. } => tool_call_id,
        _ => nearest,
    };
    let clause = character_clause(nearest, actual, EscapedAs::Attribute, texts);
    clause.or(Some(if NOT_ORDINARY.contains(&odd) { clause::NAME_ORDINARY } else { clause::ATT_NAME }))
}

pub(super) fn body_clause(event: &Event, expected: &str, actual: &str, texts: &Texts) -> Option<&'static str> {
    let accepted = oracle::accepted_texts(event, texts.profile);
    let same = |text: &String| {
        let expected = if *text == accepted[0] { expected.into() } else { escape_text(text, texts.profile) };
        texts.same_escaped(text, &expected, actual)
    };
    if accepted.iter().any(same) {
        return None;
    }
    let original = &accepted[0];
    let read = read_back(actual);
    let is_json = match &event.kind {
        EventKind::ToolCall { .. } => true,
        EventKind::ToolResult { result: Some(value), .. } => texts.profile == Profile::Hardened && !value.is_string(),
        _ => false,
    };
    let once = |escaped: &str| escaped.replace("&amp;", "&");
    let is_twice =
        read.as_deref().is_some_and(|read| read != original && read_back(read).is_some_and(|text| text == *original));
    if is_twice || actual.len() > expected.len() && once(actual) == once(expected) {
        return Some(clause::ESC_1);
    }
    // What became of forbidden characters concerns neither JSON nor white space.
    let others = |text: &str| text.replace(|c| !is_xml_char(c) || c == '\u{fffd}', "");
    let of_tokens = || {
        let read = read.as_deref()?;
        if json::read(read).is_ok_and(|value| json::read(original) == Ok(value)) {
            return json_clause(original, read, texts);
        }
        let [original, read] = [others(original), others(read)];
        if read == original { None } else { json_clause(&original, &read, texts) }
    };
    let clause = if is_json { of_tokens() } else { None };
    if is_json && read.as_ref().is_some_and(|read| oracle::accepted_texts(event, Profile::Literal).contains(read)) {
        return Some(clause::EVT_RESULT_VALUE);
    }
    // White space between the tokens of a JSON text is a matter of JSON.
    let is_blank = |read: &str| clause.is_none() || read.trim() == original;
    if read.as_deref().is_some_and(|read| is_blank(read) && differs_in_white_space(&others(original), &others(read))) {
        return Some(clause::DOC_2);
    }
    // No character is to blame where ordinary ones are gone, too, or where another text is properly escaped.
    let is_gone = actual.is_empty() && others(original).contains(|c: char| !c.is_whitespace());
    let is_other = read.as_deref().is_some_and(|read| is_another_text(event, original, read, actual, texts.profile));
    let of_a_character =
        || if is_gone || is_other { None } else { character_clause(original, actual, EscapedAs::Text, texts) };
    if let Some(clause) = clause.or_else(of_a_character) {
        return Some(clause);
    }
    let Some(read) = read else { return Some(clause::DOC_4) };
    if read_back(expected).as_ref() == Some(&read) {
        return Some(clause::ESC_3);
    }
    Some(match &event.kind {
        EventKind::ToolResult { result: None, .. } => clause::EVT_RESULT_ABSENT,
        EventKind::ToolResult { result: Some(value), .. } => match (value, texts.profile) {
            (Value::String(_), _) => shortened_or(original, &read, clause::EVT_RESULT),
            (Value::Number(_), _) => clause::JSON_3,
            (Value::Null | Value::Bool(_), _) => clause::STR_1,
            (_, Profile::Literal) if read != json_stringify(value) => clause::STR_2,
            _ => clause::EVT_RESULT_VALUE,
        },
        _ => shortened_or(original, &read, row(event)),
    })
}

/// The clause that a document of the wrong form breaks: that of the place where it first differs.
pub(super) fn misshapen(events: &[Event], expected: &str, actual: &str) -> &'static str {
    if events.is_empty() && !actual.contains(expected) {
        return clause::DOC_3;
    }
    if !actual.starts_with("<thread>\n") || !actual.ends_with("\n</thread>") {
        return clause::DOC_1;
    }
    let same = expected.chars().zip(actual.chars()).take_while(|(one, other)| one == other);
    let same = &expected[..same.map(|(c, _)| c.len_utf8()).sum()];
    let (before, place) = same.rsplit_once("</event>\n").unwrap_or(("", same));
    let id = before.matches("</event>\n").count() + usize::from(!before.is_empty());
    let Some(event) = events.get(id) else { return clause::DOC_1 };
    let original = oracle::accepted_texts(event, Profile::Literal).swap_remove(0);
    if actual[same.len()..].starts_with("/>") {
        return clause::DOC_2;
    }
    match place.contains('>') {
        true if original.contains(SPECIAL) => clause::ESC_1,
        false if place.contains(" name=\"") => clause::ATT_ESCAPED,
        _ => clause::DOC_2,
    }
}

/// Returns whether a body is a text with more around it, or another form of a value.
fn is_another_text(event: &Event, original: &str, read: &str, actual: &str, profile: Profile) -> bool {
    let is_value = match &event.kind {
        EventKind::ToolCall { .. } => true,
        EventKind::ToolResult { result: Some(value @ Value::String(_)), .. } => read == json_stringify(value),
        EventKind::ToolResult { result: Some(value), .. } => value.is_array() || value.is_object(),
        _ => false,
    };
    let is_marked = !original.is_empty() && read.len() > original.len() && read.contains(original);
    escape_text(read, profile) == actual && (is_value || is_marked)
}

fn tool_name(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::ToolCall { tool_name, .. } => Some(tool_name),
        _ => None,
    }
}

fn call_id(event: &Event) -> Option<&String> {
    match &event.kind {
        EventKind::ToolCall { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    }
}

/// The clause of an event type.
pub(super) fn row(event: &Event) -> &'static str {
    match event.kind.event_type() {
        EventType::User => clause::EVT_USER,
        EventType::Assistant => clause::EVT_ASSISTANT,
        EventType::System => clause::EVT_SYSTEM,
        EventType::ToolCall => clause::EVT_CALL,
        EventType::ToolResult => clause::EVT_RESULT,
        EventType::Error => clause::EVT_ERROR,
        EventType::HumanInputRequested => clause::EVT_ASK,
        EventType::HumanInputReceived => clause::EVT_ANSWER,
        EventType::Completion => clause::EVT_DONE,
        EventType::Summary => clause::EVT_SUMMARY,
    }
}
