//! Oracles of documents against the events that went in.

use super::form::{first, misshapen, misspelled};
use super::texts::{same_attribute, same_text};
use super::{Violation, quote};
use crate::ecma::json_stringify_object;
use crate::fast::first_forbidden;
use crate::{
    Document, Element, Error, Event, EventKind, Profile, Role, ecma_string, is_xml_char, json_stringify, read_thread,
};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashMap;

/// A document is well-formed XML 1.0 (DOC-4).
///
/// # Errors
/// Why not, with line and column.
///
/// ```
/// use threadspec::oracle::well_formed;
/// assert!(well_formed("<thread>\n</thread>").is_ok());
/// let violation = well_formed("<thread>\u{1b}[0m</thread>").unwrap_err();
/// assert_eq!(violation.to_string(), "line 1, column 9: U+001B is not a character of XML 1.0");
/// ```
pub fn well_formed(document: &str) -> Result<(), Violation> {
    is_well_formed(&read_thread(document))
}

fn is_well_formed(read: &Result<Document, Error>) -> Result<(), Violation> {
    match read {
        Err(error) if !error.is_not_a_thread() => Err(Violation::new(error.to_string())),
        _ => Ok(()),
    }
}

/// A parser sees one `event` element per event, with exactly the attributes of its type, in order (DOC-5, ATT-*).
///
/// # Errors
/// The first element that is missing, too many, or has other attributes.
pub fn no_forgery(events: &[Event], document: &str, profile: Profile) -> Result<(), Violation> {
    no_forgery_in(&read(document)?, events, profile)
}

/// [`no_forgery`] of a document that was read already.
///
/// # Errors
/// The first element that is missing, too many, or has other attributes.
pub fn no_forgery_in(document: &Document, events: &[Event], profile: Profile) -> Result<(), Violation> {
    first(forged(document, events, profile))
}

/// Every element that is not what its event demands.
fn forged<'a>(document: &'a Document, events: &'a [Event], profile: Profile) -> impl Iterator<Item = Violation> + 'a {
    let names = CallNames::of(events);
    each_element(document, events, move |id, element, _| {
        let expected = attributes(events, id, &names, profile);
        let found_names: Vec<&str> = element.attributes.iter().map(|(name, _)| &**name).collect();
        let expected_names: Vec<&str> = expected.iter().map(|(name, _)| *name).collect();
        if found_names != expected_names {
            let (found, expected) = (found_names.join(" "), expected_names.join(" "));
            return Some(format!("attributes `{found}`, expected `{expected}`"));
        }
        let mut pairs = element.attributes.iter().zip(&expected);
        let ((name, value), (_, accepted)) = pairs.find(|((_, value), (_, accepted))| {
            !accepted.iter().any(|accepted| same_attribute(accepted, value, profile))
        })?;
        let expected: Vec<String> = accepted.iter().map(|accepted| quote(accepted)).collect();
        Some(format!("{name}={}, expected {}", quote(value), expected.join(" or ")))
    })
}

/// Applies `wrong` to each element with its event; if their numbers differ, reports only that.
fn each_element<'a>(
    document: &'a Document,
    events: &'a [Event],
    wrong: impl Fn(usize, &'a Element, &'a Event) -> Option<String> + 'a,
) -> impl Iterator<Item = Violation> + 'a {
    let (found, expected) = (document.elements.len(), events.len());
    let count = (found != expected).then(|| Violation::new(format!("{found} `event` elements for {expected} events")));
    let comparable = if count.is_none() { expected } else { 0 };
    let pairs = document.elements.iter().zip(events).take(comparable).enumerate();
    let each = pairs.filter_map(move |(id, (element, event))| {
        wrong(id, element, event).map(|wrong| Violation::of_event(id, wrong))
    });
    count.into_iter().chain(each)
}

/// Each text comes back from the document (DOC-2, ESC-*, EVT-*).
///
/// In the hardened profile byte for byte, with U+FFFD for each character that XML forbids; in the literal one up to the
/// normalization of line ends, and with forbidden characters dropped or replaced in whatever way.
///
/// # Errors
/// The first event whose text differs.
pub fn round_trip(events: &[Event], document: &str, profile: Profile) -> Result<(), Violation> {
    round_trip_in(&read(document)?, events, profile)
}

/// [`round_trip`] of a document that was read already.
///
/// # Errors
/// The first event whose text differs.
pub fn round_trip_in(document: &Document, events: &[Event], profile: Profile) -> Result<(), Violation> {
    first(changed_texts(events, document, profile, profile))
}

/// Every permitted character of each text is there, in order; others may be where a forbidden one was
/// (ESC-FORBIDDEN).
///
/// # Errors
/// The first event that lost something.
pub fn permitted_kept(events: &[Event], document: &str, profile: Profile) -> Result<(), Violation> {
    first(changed_texts(events, &read(document)?, profile, Profile::Literal))
}

/// A character of a thread that its document does not give back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotCarried {
    /// The position of the event.
    pub event: usize,
    /// Where in the `event` element: `text` or `name`.
    pub place: &'static str,
    /// The position in that text, in characters.
    pub position: usize,
    /// The character: one that XML 1.0 forbids or, in the literal profile, white space that a parser normalizes.
    pub character: char,
}

/// Everything in a thread that an XML document in this profile does not give back (ESC-CR, ESC-FORBIDDEN, ATT-WHITESPACE).
///
/// ```
/// use threadspec::{Event, Profile, oracle::not_carried};
/// let found = not_carried(&[Event::user(0, "a\r\u{7}")], Profile::Hardened);
/// assert_eq!((found.len(), found[0].position, found[0].character), (1, 2, '\u{7}'));
/// ```
pub fn not_carried(events: &[Event], profile: Profile) -> Vec<NotCarried> {
    let mut found = Vec::new();
    for (event, content) in events.iter().enumerate() {
        let mut scan = |place, text: &str, white_space: &[char]| {
            let white_space = if profile == Profile::Literal { white_space } else { &[] };
            // The quick way for nearly all texts.
            if first_forbidden(text).is_none() && !text.contains(white_space) {
                return;
            }
            let lost = |character: &char| !is_xml_char(*character) || white_space.contains(character);
            let lost = text.chars().enumerate().filter(|(_, character)| lost(character));
            found.extend(lost.map(|(position, character)| NotCarried { event, place, position, character }));
        };
        if let EventKind::ToolCall { tool_name, .. } = &content.kind {
            scan("name", tool_name, &['\t', '\n', '\r']);
        }
        scan("text", &texts(content, profile)[0], &['\r']);
    }
    found
}

/// The verdicts of a document's oracles, each with its name; the first that fails describes a fault best. The document is read
/// once.
pub fn document_verdicts(
    events: &[Event],
    document: &str,
    profile: Profile,
) -> [(&'static str, Result<(), Violation>); 5] {
    let read = read_thread(document);
    let of_elements = |oracle: &dyn Fn(&Document) -> Result<(), Violation>| match &read {
        Ok(elements) => oracle(elements),
        Err(error) => Err(Violation::new(error.to_string())),
    };
    [
        ("well-formed", is_well_formed(&read)),
        ("well-shaped", of_elements(&|elements| first(misshapen(elements, document)))),
        ("well-escaped", of_elements(&|_| first(misspelled(document, profile)))),
        ("no-forgery", of_elements(&|elements| no_forgery_in(elements, events, profile))),
        ("round-trip", of_elements(&|elements| round_trip_in(elements, events, profile))),
    ]
}

/// Every violation that the oracles of [`document_verdicts`] find in a document that was read already, each with the oracle's name.
pub fn document_violations(
    read: &Document,
    events: &[Event],
    document: &str,
    profile: Profile,
) -> Vec<(&'static str, Violation)> {
    let named = |name| move |violation| (name, violation);
    misshapen(read, document)
        .map(named("well-shaped"))
        .chain(misspelled(document, profile).map(named("well-escaped")))
        .chain(forged(read, events, profile).map(named("no-forgery")))
        .chain(changed_texts(events, read, profile, profile).map(named("round-trip")))
        .collect()
}

pub(super) fn read(document: &str) -> Result<Document, Violation> {
    read_thread(document).map_err(|error| Violation::new(error.to_string()))
}

/// Every text that did not come back as the profile `kept_as` demands.
fn changed_texts<'a>(
    events: &'a [Event],
    document: &'a Document,
    profile: Profile,
    kept_as: Profile,
) -> impl Iterator<Item = Violation> + 'a {
    each_element(document, events, move |_, element, event| {
        let accepted = texts(event, profile);
        let same = |text: &Cow<'_, str>| same_text(text, &element.text, kept_as);
        let kept = accepted.iter().any(same) || same_large_numbers(event, &element.text);
        (!kept).then(|| format!("text {}, expected {}", quote(&element.text), quote(&accepted[0])))
    })
}

/// The texts that an event may have in XML, before escaping; the reference's first (EVT-*).
///
/// ```
/// use threadspec::{Event, EventKind, Profile, oracle::accepted_texts};
/// let absent = EventKind::ToolResult { tool_call_id: "c1".into(), result: None };
/// let event = Event { iteration: 1, kind: absent };
/// assert_eq!(accepted_texts(&event, Profile::Literal), ["undefined", ""]);
/// assert_eq!(accepted_texts(&event, Profile::Hardened), ["undefined"]);
/// ```
pub fn accepted_texts(event: &Event, profile: Profile) -> Vec<String> {
    texts(event, profile).into_iter().map(Cow::into_owned).collect()
}

fn texts(event: &Event, profile: Profile) -> Vec<Cow<'_, str>> {
    let text = match &event.kind {
        EventKind::Message { content: text, .. }
        | EventKind::Error { error: text, .. }
        | EventKind::HumanInputRequested { question: text }
        | EventKind::HumanInputReceived { response: text }
        | EventKind::Completion { result: text, .. }
        | EventKind::Summary { summary: text, .. }
        | EventKind::ToolResult { result: Some(Value::String(text)), .. } => text.into(),
        EventKind::ToolCall { args, .. } => json_stringify_object(args).into(),
        EventKind::ToolResult { result: Some(value), .. } if profile == Profile::Hardened => {
            json_stringify(value).into()
        }
        // `String` throws for an object with its own `toString`, so that the sources do not say what to write.
        EventKind::ToolResult { result: Some(value), .. } if has_own_string(value) => {
            return vec![ecma_string(value).into(), with_own_strings(value).into()];
        }
        EventKind::ToolResult { result: Some(value), .. } => ecma_string(value).into(),
        EventKind::ToolResult { result: None, .. } if profile == Profile::Literal => {
            return vec!["undefined".into(), "".into()];
        }
        EventKind::ToolResult { result: None, .. } => "undefined".into(),
    };
    vec![text]
}

fn has_own_string(value: &Value) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(has_own_string),
        Value::Object(members) => members.contains_key("toString"),
        _ => false,
    }
}

/// `String` of a value, but with JSON text for each object that has its own `toString`.
fn with_own_strings(value: &Value) -> String {
    match value {
        Value::Array(elements) => {
            let text = |element: &Value| if element.is_null() { String::new() } else { with_own_strings(element) };
            elements.iter().map(text).collect::<Vec<_>>().join(",")
        }
        Value::Object(_) if has_own_string(value) => json_stringify(value),
        other => ecma_string(other),
    }
}

/// JSON-LARGE: the digits of an integer beyond 2^53 may differ, its value as a double may not.
fn same_large_numbers(event: &Event, read: &str) -> bool {
    let value = match &event.kind {
        EventKind::ToolCall { args, .. } => Value::Object(args.clone()),
        EventKind::ToolResult { result: Some(value), .. } if !value.is_string() => value.clone(),
        _ => return false,
    };
    let has_large =
        json_stringify(&value).split(|character: char| !character.is_ascii_digit()).any(|digits| digits.len() > 15);
    has_large && serde_json::from_str(read).is_ok_and(|read: Value| json_stringify(&read) == json_stringify(&value))
}

/// The attributes of an event in order, each with the values that the profile accepts.
fn attributes(
    events: &[Event],
    id: usize,
    names: &CallNames<'_>,
    profile: Profile,
) -> Vec<(&'static str, Vec<String>)> {
    let Event { iteration, kind } = &events[id];
    let type_attribute = match kind {
        EventKind::Message { role: Role::User, .. } => "human",
        EventKind::Message { role: Role::Assistant, .. } => "ai",
        EventKind::Message { role: Role::System, .. } => "system",
        EventKind::ToolCall { .. } => "tool_input",
        EventKind::ToolResult { .. } => "tool_output",
        EventKind::Error { .. } => "error",
        EventKind::HumanInputRequested { .. } => "human_input_requested",
        EventKind::HumanInputReceived { .. } => "human_input_received",
        EventKind::Completion { .. } => "completion",
        EventKind::Summary { .. } => "summary",
    };
    let mut attributes = vec![("type", vec![type_attribute.to_owned()]), ("id", vec![id.to_string()])];
    match kind {
        EventKind::ToolCall { tool_name, .. } => attributes.push(("name", vec![tool_name.clone()])),
        EventKind::ToolResult { tool_call_id, .. } => {
            attributes.push(("name", names.accepted(id, tool_call_id, profile)));
            attributes.push(("status", vec!["success".to_owned()]));
        }
        _ => {}
    }
    attributes.push(("iteration", vec![iteration.to_string()]));
    match kind {
        EventKind::Error { recoverable, .. } => attributes.push(("recoverable", vec![recoverable.to_string()])),
        EventKind::Summary { summarized_iterations, .. } => {
            let numbers: Vec<String> = summarized_iterations.iter().map(u64::to_string).collect();
            attributes.push(("summarizedIterations", vec![numbers.join(",")]));
        }
        _ => {}
    }
    attributes
}

/// The names that a result at a position may have if it answers a call id: that of the nearest preceding call, in
/// literal also that of the thread's last call with the id (ATT-NAME, ATT-NAME-NEAREST).
///
/// # Panics
/// When the position is beyond the thread.
pub fn accepted_names(events: &[Event], position: usize, call_id: &str, profile: Profile) -> Vec<String> {
    assert!(position <= events.len(), "position {position} of {} events", events.len());
    CallNames::of(events).accepted(position, call_id, profile)
}

/// For each call id, the positions of its calls and the names of their tools, in order.
pub(super) struct CallNames<'a>(HashMap<&'a str, Vec<(usize, &'a str)>>);

impl<'a> CallNames<'a> {
    pub(super) fn of(events: &'a [Event]) -> Self {
        let mut calls: HashMap<&str, Vec<(usize, &str)>> = HashMap::new();
        for (position, event) in events.iter().enumerate() {
            if let EventKind::ToolCall { tool_call_id, tool_name, .. } = &event.kind {
                calls.entry(tool_call_id).or_default().push((position, tool_name));
            }
        }
        Self(calls)
    }

    /// As [`accepted_names`].
    pub(super) fn accepted(&self, position: usize, call_id: &str, profile: Profile) -> Vec<String> {
        let calls = self.0.get(call_id).map_or(&[][..], Vec::as_slice);
        let name = |call: Option<&(usize, &str)>| call.map_or("unknown", |(_, name)| name).to_owned();
        let nearest = name(calls[..calls.partition_point(|(call, _)| *call < position)].last());
        match profile {
            Profile::Literal => vec![nearest, name(calls.last())],
            Profile::Hardened => vec![nearest],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SerializeOptions, serialize_thread};

    #[test]
    fn each_oracle_sees_what_it_is_for() {
        let events = [Event::user(0, "a < b\r\n\u{1b}[0m"), Event::assistant(1, "c")];
        for profile in Profile::ALL {
            let good = serialize_thread(&events, &SerializeOptions { profile, ..Default::default() });
            assert_eq!(no_forgery(&events, &good, profile), Ok(()));
            assert_eq!(round_trip(&events, &good, profile), Ok(()));
            assert_eq!(permitted_kept(&events, &good, profile), Ok(()));

            assert!(no_forgery(&events[..1], &good, profile).is_err(), "an element too many");
            assert!(no_forgery(&events, &good.replace("id=\"1\"", "id=\"2\""), profile).is_err(), "another value");
            assert!(no_forgery(&events, &good.replace(" id=", " ID="), profile).is_err(), "another name");
            assert!(round_trip(&events, &good.replace(">c<", ">d<"), profile).is_err(), "another text");
            assert!(permitted_kept(&events, &good.replace("[0m", "[m"), profile).is_err(), "a lost character");
            assert!(round_trip(&events, &good.replace("&lt;", "<"), profile).is_err(), "not well-formed");
        }
        let literal = serialize_thread(&events, &SerializeOptions::default());
        assert!(round_trip(&events, &literal, Profile::Hardened).is_err(), "a parser drops the CR");
        assert_eq!(round_trip(&events, &literal.replace('\u{fffd}', ""), Profile::Literal), Ok(()), "dropping is fine");
    }
}
