//! All faults of a reply, where [`compare`](super::compare) names the first: events and messages are laid beside the reference's one by one.

use super::document::{
    Spelled, attribute_clause, body_clause, elements, is_reordered, misshapen, name_clause, row, split_prefix,
};
use super::fault::{AMPERSAND, BRACKETS, Fault, FaultKind, QUOTES, is_foreign};
use super::texts::Texts;
use super::{Compared, compare, messages, settled};
use crate::protocol::{ChatMessage, Op, Output, Part, RejectKind, Reply, Request, Speaker};
use crate::text::{cut, visible};
use std::collections::HashSet;
use threadspec::{Event, EventKind, escape_text, json_stringify};
use threadspec_golden::clause;

/// Names of attributes are shown up to this length.
const LONGEST_NAME: usize = 40;

/// What is wrong with a reply, as far as the reference tells, each cause once. Empty where nothing is, or where only words say it.
pub fn faults(request: &Request, actual: &Reply) -> Vec<Fault> {
    let (expected, difference) = compare(request, actual);
    let Some(difference) = difference else { return Vec::new() };
    let found = match (&expected, actual) {
        (Reply::Ok(expected), Reply::Ok(actual)) => {
            let expected = Output::read(request.op, expected.clone());
            let actual = settled(request, actual, false);
            super::compared(request, &expected, &actual, &|compared| of_outputs(&compared)).unwrap_or_default()
        }
        (Reply::Ok(_), Reply::Reject { kind, .. }) => {
            let what = if *kind == RejectKind::InvalidEvent { "event" } else { "input" };
            vec![Fault::new(difference.clause, what, FaultKind::Refused)]
        }
        (Reply::Reject { kind, .. }, _) => {
            let what = if *kind == RejectKind::InvalidEvent { "a wrong event" } else { "a wrong input" };
            vec![Fault::new(difference.clause, what, FaultKind::Accepted)]
        }
        _ => Vec::new(),
    };
    let mut found = if found.is_empty() { Fault::of(&difference).into_iter().collect() } else { found };
    let mut seen = HashSet::new();
    found.retain(|fault| {
        let (clause, place, kind) = fault.key();
        seen.insert((clause.to_owned(), place.to_owned(), kind.clone()))
    });
    found
}

fn of_outputs(Compared { request, input, events, expected, actual, texts }: &Compared<'_>) -> Vec<Fault> {
    match (expected, actual) {
        (Output::Text(expected), Output::Text(actual)) if request.op == Op::Escape => {
            let original = input.text.text().unwrap_or_default();
            let place = |clause| place_of_text(clause, original, "the text");
            let again = |escaped: &str| {
                let same = texts.same_escaped(original, expected, escaped);
                (!same).then(|| super::document::escaped(original, expected, escaped, texts).map(|found| found.clause))
            };
            let Some(clause) = again(actual).flatten() else { return Vec::new() };
            of_escaped([expected, actual], clause, texts, &place, &|text| again(text).flatten(), &[])
        }
        (Output::Text(expected), Output::Text(actual)) => {
            of_document(events, input.response_prefix.text(), expected, actual, texts)
        }
        (Output::Messages(expected), Output::Messages(actual)) => {
            let context = messages::Context { events, xml: input.is_in_xml_mode() };
            of_messages(&context, expected, actual, texts)
        }
        _ => Vec::new(),
    }
}

/// The faults of messages of which none is missing and none too many.
fn of_messages(
    context: &messages::Context<'_>,
    expected: &[Part<ChatMessage>],
    actual: &[Part<ChatMessage>],
    texts: &Texts,
) -> Vec<Fault> {
    if expected.len() != actual.len() || messages::is_reordered(expected, actual) {
        return Vec::new();
    }
    let document = |message: &Part<ChatMessage>| {
        let message = message.proper().filter(|message| context.xml && message.speaker.is(&Speaker::Human))?;
        message.content.text().map(str::to_owned)
    };
    let mut found = Vec::new();
    for index in 0..expected.len() {
        if let (Some(expected), Some(actual)) = (document(&expected[index]), document(&actual[index])) {
            found.extend(of_document(context.events, None, &expected, &actual, texts));
        } else if let Some(difference) = messages::message(context, expected, actual, index, texts) {
            found.extend(Fault::of(&difference));
        }
    }
    found
}

/// The faults of a document and the response prefix behind it.
fn of_document(events: &[Event], prefix: Option<&str>, expected: &str, actual: &str, texts: &Texts) -> Vec<Fault> {
    let (document, behind) = split_prefix(prefix, actual, texts);
    let end = expected.find("</thread>").map_or(expected.len(), |at| at + "</thread>".len());
    let mut found = Vec::new();
    if behind.is_none() {
        found.push(Fault::new(clause::DOC_6, "the response prefix", FaultKind::Missing));
    }
    let expected = &expected[..end];
    if expected == document {
        return found;
    }
    match (elements(expected), elements(document)) {
        (Some(expected), Some(actual)) if expected.len() == actual.len() && is_reordered(&expected, &actual) => {
            found.push(Fault::new(clause::DOC_2, "the events", FaultKind::Reordered));
        }
        (Some(expected), Some(actual)) if actual.len() < expected.len() => {
            found.push(Fault::new(clause::DOC_2, "an event", FaultKind::Missing));
        }
        (Some(expected), Some(actual)) if actual.len() > expected.len() => {
            found.push(Fault::new(clause::DOC_5, "an event", FaultKind::Unexpected));
        }
        (Some(expected), Some(actual)) => {
            for (id, (expected, actual)) in expected.iter().zip(&actual).enumerate() {
                found.extend(of_element(events, id, expected, actual, texts));
            }
        }
        _ => found.push(of_form(events, expected, document)),
    }
    found
}

/// The fault of a document that has another form.
fn of_form(events: &[Event], expected: &str, actual: &str) -> Fault {
    let clause = misshapen(events, expected, actual);
    match clause {
        clause::ATT_ESCAPED => Fault::new(clause, QUOTES, FaultKind::Unescaped),
        clause::ESC_1 => Fault::new(clause, BRACKETS, FaultKind::Unescaped),
        _ => Fault::between(clause, "the form of the document", FaultKind::Other, [expected, actual]),
    }
}

fn of_element<'a>(
    events: &[Event],
    id: usize,
    expected: &Spelled<'a>,
    actual: &Spelled<'a>,
    texts: &Texts,
) -> Vec<Fault> {
    let Some(event) = events.get(id) else { return Vec::new() };
    let mut found = Vec::new();
    let has = |element: &Spelled<'a>, name: &str| element.attributes.iter().any(|(own, _)| *own == name);
    let attribute = |name: &str| format!("attribute `{}`", visible(cut(name, LONGEST_NAME).0));
    let missing = expected.attributes.iter().filter(|(name, _)| !has(actual, name));
    found.extend(missing.map(|(name, _)| Fault::new(attribute_clause(name, event), attribute(name), FaultKind::Missing)));
    let added = actual.attributes.iter().filter(|(name, _)| !has(expected, name));
    found.extend(added.map(|(name, _)| Fault::new(row(event), attribute(name), FaultKind::Unexpected)));
    let names = |element: &Spelled<'a>| element.attributes.iter().map(|(name, _)| *name).collect::<Vec<_>>();
    if found.is_empty() && names(expected) != names(actual) {
        found.push(Fault::new(clause::ATT_ORDER, "attributes", FaultKind::Reordered));
    }
    for (name, value) in &expected.attributes {
        let Some((_, other)) = actual.attributes.iter().find(|(own, other)| own == name && other != value) else {
            continue;
        };
        if *name != "name" {
            let (value, other) = (unescaped(value), unescaped(other));
            let kind = if is_foreign(&[&value], &other) { FaultKind::Foreign } else { FaultKind::Other };
            found.push(Fault::between(attribute_clause(name, event), attribute(name), kind, [&value, &other]));
        } else if let Some(clause) = name_clause(events, id, value, other, texts) {
            let place = |_| attribute(name);
            let again = |text: &str| name_clause(events, id, value, text, texts);
            found.extend(of_escaped([value, other], clause, texts, &place, &again, &[]));
        }
    }
    if let Some(clause) = body_clause(event, expected.body, actual.body, texts) {
        let original = unescaped(expected.body);
        let place = |clause| place_of_text(clause, &original, place_of_body(event));
        let again = |text: &str| body_clause(event, expected.body, text, texts);
        let value = match &event.kind {
            EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => vec![json_stringify(value)],
            _ => Vec::new(),
        };
        found.extend(of_escaped([expected.body, actual.body], clause, texts, &place, &again, &value));
    }
    found
}

/// The faults of an escaped text: what is not escaped, and what else differs. `again` names the clause of another text at this place.
fn of_escaped(
    [expected, actual]: [&str; 2],
    clause: &'static str,
    texts: &Texts,
    place: &dyn Fn(&'static str) -> String,
    again: &dyn Fn(&str) -> Option<&'static str>,
    values: &[String],
) -> Vec<Fault> {
    let raw = unescaped_in(actual);
    let is_raw = !raw.is_empty();
    let mut found: Vec<Fault> = raw.into_iter().map(|what| Fault::new(clause, what, FaultKind::Unescaped)).collect();
    let (original, read) = (unescaped(expected), unescaped(actual));
    if read == original {
        if !is_raw && matches!(clause, clause::ESC_1 | clause::ATT_ESCAPED) {
            found.push(Fault::between(clause, QUOTES, FaultKind::Respelled, [expected, actual]));
        } else if !is_raw {
            found.push(Fault::between(clause, place(clause), FaultKind::Other, [expected, actual]));
        }
        return found;
    }
    if !is_raw && unescaped(&read) == original && original != unescaped(&original) || unescaped(&read) == original {
        found.push(Fault::new(clause, "the text", FaultKind::EscapedTwice));
        return found;
    }
    // Escaped as it should be, the text may still be another one.
    let clause = if is_raw {
        match again(&escape_text(&read, texts.profile)) {
            Some(clause) => clause,
            None => return found,
        }
    } else {
        clause
    };
    let candidates: Vec<&str> = [&*original].into_iter().chain(values.iter().map(String::as_str)).collect();
    if clause == clause::ESC_2 {
        found.push(Fault::new(clause, "text that looks escaped", FaultKind::Unescaped));
    } else if is_foreign(&candidates, &read) {
        found.push(Fault::between(clause, place(clause), FaultKind::Foreign, [&original, &read]));
    } else {
        found.push(Fault::between(clause, place(clause), FaultKind::Other, [&original, &read]));
    }
    found
}

/// Which of the five characters stand in a text as they are, where none should.
fn unescaped_in(escaped: &str) -> Vec<&'static str> {
    let is_reference = |behind: &str| {
        behind.split_once(';').is_some_and(|(name, _)| {
            !name.is_empty() && name.len() <= 8 && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'#')
        })
    };
    let has_ampersand = escaped.match_indices('&').any(|(at, _)| !is_reference(&escaped[at + 1..]));
    let classes = [
        (QUOTES, escaped.contains(['"', '\''])),
        (AMPERSAND, has_ampersand),
        (BRACKETS, escaped.contains(['<', '>'])),
    ];
    classes.into_iter().filter(|(_, is_there)| *is_there).map(|(class, _)| class).collect()
}

/// A text without its references, also where a parser would refuse it.
fn unescaped(escaped: &str) -> String {
    let mut text = String::new();
    let mut rest = escaped;
    while let Some(at) = rest.find('&') {
        text += &rest[..at];
        rest = &rest[at + 1..];
        let Some((name, behind)) = rest.split_once(';') else {
            text.push('&');
            continue;
        };
        let number = |digits: &str, radix| u32::from_str_radix(digits, radix).ok().and_then(char::from_u32);
        let character = match name {
            "amp" => Some('&'),
            "lt" => Some('<'),
            "gt" => Some('>'),
            "quot" => Some('"'),
            "apos" => Some('\''),
            _ => match name.strip_prefix('#').map(|digits| digits.strip_prefix('x').ok_or(digits)) {
                Some(Ok(digits)) => number(digits, 16),
                Some(Err(digits)) => number(digits, 10),
                None => None,
            },
        };
        if let Some(character) = character {
            text.push(character);
            rest = behind;
        } else {
            text.push('&');
        }
    }
    text + rest
}

/// What the body of an event is.
fn place_of_body(event: &Event) -> &'static str {
    match &event.kind {
        EventKind::ToolCall { .. } => "the JSON text of the arguments",
        EventKind::ToolResult { result: None, .. } => "an absent result",
        EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => "a result that is no string",
        _ => "the text",
    }
}

/// Where a text is wrong, by the clause that it breaks.
fn place_of_text(clause: &'static str, original: &str, otherwise: &str) -> String {
    match clause {
        clause::ESC_CR => "a carriage return",
        clause::ESC_FORBIDDEN => "text with a character that XML forbids",
        clause::INP_SURROGATE => "text with a lone surrogate",
        clause::JSON_3 | clause::JSON_LARGE => "a number",
        _ if original.is_empty() => "an empty text",
        _ => otherwise,
    }
    .to_owned()
}
