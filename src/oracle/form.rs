//! Oracles of a document's form.

use super::document::read;
use super::{Violation, quote};
use crate::fast::first_forbidden;
use crate::{Document, Element, Profile, is_xml_char, read_thread};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memrchr};
use std::borrow::Cow;
use std::iter;

/// A document has the form that the specification gives it: lines, indentation, attributes (DOC-1, DOC-2, DOC-3, ATT-*).
///
/// Needs no events. A response prefix must be cut off before ([`split_response_prefix`](crate::split_response_prefix)).
///
/// # Errors
/// The first line or element that has another form.
pub fn well_shaped(document: &str) -> Result<(), Violation> {
    first(misshapen(&read(document)?, document))
}

/// The first violation as an error.
pub(super) fn first(mut violations: impl Iterator<Item = Violation>) -> Result<(), Violation> {
    violations.next().map_or(Ok(()), Err)
}

/// Each element and each line of another form, in a document that was read already.
pub(super) fn misshapen(read: &Document, document: &str) -> impl Iterator<Item = Violation> {
    let elements = read.elements.iter().enumerate();
    let elements = elements.filter_map(|(id, element)| Some(Violation::of_event(id, misshapen_element(id, element)?)));
    elements.chain(misshapen_lines(document, read.elements.len()))
}

fn misshapen_element(id: usize, element: &Element) -> Option<String> {
    let Some(kind) = element.attribute("type") else {
        return Some("it has no `type`".to_owned());
    };
    let expected = match kind {
        "human" | "ai" | "system" | "human_input_requested" | "human_input_received" | "completion" => {
            "type id iteration"
        }
        "tool_input" => "type id name iteration",
        "tool_output" => "type id name status iteration",
        "error" => "type id iteration recoverable",
        "summary" => "type id iteration summarizedIterations",
        _ => return Some(format!("unknown type {}", quote(kind))),
    };
    let names = element.attributes.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ");
    if names != expected {
        return Some(format!("attributes `{names}`, expected `{expected}`"));
    }
    let (name, value) = element.attributes.iter().find(|(name, value)| {
        let number = |text: &str| text.parse().is_ok_and(|number: u64| number.to_string() == text);
        match name.as_str() {
            "id" => *value != id.to_string(),
            "iteration" => !number(value),
            "status" => value != "success",
            "recoverable" => value != "true" && value != "false",
            "summarizedIterations" => !value.is_empty() && !value.split(',').all(number),
            _ => false,
        }
    })?;
    Some(format!("{name}={}", quote(value)))
}

/// Events that do not fill their lines, and whatever else is not an event.
fn misshapen_lines(document: &str, count: usize) -> impl Iterator<Item = Violation> {
    let mut rest = document.strip_prefix("<thread>\n").and_then(|rest| rest.strip_suffix("</thread>"));
    let frame =
        rest.is_none().then(|| Violation::new("the first line is not `<thread>`, or the last one not `</thread>`"));
    // Texts hold no `<`, so that an event ends at the first end tag.
    let each = (0..=count).filter_map(move |id| {
        let lines = rest?;
        if id == count {
            return (!lines.is_empty()).then(|| Violation::new("something is behind the last event"));
        }
        let at_start = lines.strip_prefix("  <event type=\"").is_some();
        let end = lines.find("</event>").map(|at| &lines[at + "</event>".len()..]);
        let next = end.and_then(|end| end.strip_prefix('\n'));
        // After an event that does not end its line, go on after its end tag.
        rest = next.or_else(|| end.map(str::trim_start)).or(Some(""));
        (!at_start || next.is_none())
            .then(|| Violation::of_event(id, "not `  <event type=\"…\" …>…</event>` from the line's start to its end"))
    });
    frame.into_iter().chain(each)
}

/// Every violation of form in a document, each with the name of its oracle. Needs no events.
///
/// Unlike [`well_formed`](super::well_formed), [`well_shaped`] and [`well_escaped`], it goes on behind a character that XML forbids.
///
/// ```
/// use threadspec::{Profile, oracle::form_violations};
/// let document = "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">\u{7}it's</event>\n</thread>";
/// let found = form_violations(document, Profile::Literal);
/// assert_eq!(found.iter().map(|(oracle, _)| *oracle).collect::<Vec<_>>(), ["well-formed", "well-escaped"]);
/// ```
pub fn form_violations(document: &str, profile: Profile) -> Vec<(&'static str, Violation)> {
    let mut found = Vec::new();
    let (mut line, mut start_of_line, mut at) = (1, 0, 0);
    while let Some((offset, character)) = first_forbidden(&document[at..]) {
        let position = at + offset;
        let passed = &document.as_bytes()[at..position];
        line += memchr_iter(b'\n', passed).count();
        start_of_line = memrchr(b'\n', passed).map_or(start_of_line, |end| at + end + 1);
        let column = document[start_of_line..position].chars().count() + 1;
        let what = format!("column {column}: U+{:04X} is not a character of XML 1.0", u32::from(character));
        found.push(("well-formed", Violation::in_line(line, what)));
        at = position + character.len_utf8();
    }
    let permitted: Cow<'_, str> = if found.is_empty() {
        document.into()
    } else {
        document.chars().map(|character| if is_xml_char(character) { character } else { '\u{fffd}' }).collect()
    };
    match read_thread(&permitted) {
        Ok(read) => found.extend(misshapen(&read, &permitted).map(|violation| ("well-shaped", violation))),
        Err(error) => {
            let name = if error.is_not_a_thread() { "well-shaped" } else { "well-formed" };
            found.push((name, Violation::new(error.to_string())));
            if !error.is_not_a_thread() {
                return found;
            }
        }
    }
    found.extend(misspelled(&permitted, profile).map(|violation| ("well-escaped", violation)));
    found
}

/// Everything in a document is escaped as the specification spells it (ESC-1 to ESC-4, ESC-CR, ATT-WHITESPACE).
///
/// Beyond what a parser can tell: the five characters by their five references and no others, CR (in attributes TAB, LF and
/// CR) raw or by any reference in the literal profile, by exactly `&#13;` (`&#9;`, `&#10;`, `&#13;`) in the hardened one.
///
/// # Errors
/// The first character or reference of another spelling.
///
/// ```
/// use threadspec::{Profile, oracle::well_escaped};
/// let document = "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">it&#39;s</event>\n</thread>";
/// let violation = well_escaped(document, Profile::Literal).unwrap_err();
/// assert_eq!(violation.to_string(), "line 2: `&#39;` in a text");
/// ```
pub fn well_escaped(document: &str, profile: Profile) -> Result<(), Violation> {
    read(document)?;
    first(misspelled(document, profile))
}

/// Every violation of [`well_escaped`] in a document that is known to be well-formed.
pub(super) fn misspelled(document: &str, profile: Profile) -> impl Iterator<Item = Violation> {
    let (mut line, mut counted) = (1, 0);
    character_data(document).flat_map(move |(start, data, place)| {
        let white_space: &[char] = if place == "a text" { &['\r'] } else { &['\t', '\n', '\r'] };
        let found = misspellings(data, white_space, profile).into_iter().map(|(at, what)| {
            line += memchr_iter(b'\n', &document.as_bytes()[counted..start + at]).count();
            counted = start + at;
            Violation::in_line(line, format!("{what} in {place}"))
        });
        found.collect::<Vec<_>>()
    })
}

/// The texts and the values of attributes of a well-formed document, each with where it begins.
fn character_data(document: &str) -> impl Iterator<Item = (usize, &str, &'static str)> {
    // Every `<` begins a tag, and a `>` outside quotes ends it.
    let (mut at, mut in_tag) = (0, false);
    iter::from_fn(move || {
        loop {
            let rest = &document[at..];
            if !in_tag {
                let start = at;
                let end = memchr(b'<', rest.as_bytes())?;
                at += end + 1;
                in_tag = true;
                return Some((start, &rest[..end], "a text"));
            }
            let mark = memchr2(b'"', b'>', rest.as_bytes())?;
            at += mark + 1;
            if rest.as_bytes()[mark] == b'>' {
                in_tag = false;
                continue;
            }
            let (start, rest) = (at, &document[at..]);
            let end = memchr(b'"', rest.as_bytes()).unwrap_or(rest.len());
            at = (at + end + 1).min(document.len());
            return Some((start, &rest[..end], "an attribute"));
        }
    })
}

/// The characters and references of another spelling in a stretch of character data, with their positions.
fn misspellings(data: &str, white_space: &[char], profile: Profile) -> Vec<(usize, String)> {
    let hardened = profile == Profile::Hardened;
    let raw = |c: char| matches!(c, '>' | '"' | '\'') || (hardened && white_space.contains(&c));
    let bytes = data.as_bytes();
    let has_white_space =
        || hardened && white_space.iter().any(|&space| u8::try_from(space).is_ok_and(|b| memchr(b, bytes).is_some()));
    let mut found = Vec::new();
    if memchr3(b'>', b'"', b'\'', bytes).is_some() || has_white_space() {
        found.extend(data.match_indices(raw).map(|(at, character)| (at, format!("{character:?} raw"))));
    }
    for at in memchr_iter(b'&', bytes) {
        let reference = &data[at + 1..];
        let reference = reference.split([';', '&']).next().unwrap_or_default();
        let code = match (reference.strip_prefix("#x"), reference.strip_prefix('#')) {
            (Some(digits), _) => u32::from_str_radix(digits, 16).ok(),
            (None, Some(digits)) => digits.parse().ok(),
            (None, None) => None,
        };
        let character = code.and_then(char::from_u32).filter(|character| white_space.contains(character));
        let known = match character {
            Some(character) if hardened => reference == format!("#{}", u32::from(character)),
            Some(_) => true,
            None => matches!(reference, "amp" | "lt" | "gt" | "quot" | "apos"),
        };
        if !known {
            found.push((at, format!("`&{reference};`")));
        }
    }
    found.sort_by_key(|&(at, _)| at);
    found
}

/// Adding events to a thread changes no line that was already written, so that a model's prompt cache stays warm.
///
/// `before` and `after` are the documents of a thread and of the same thread with more events.
///
/// # Errors
/// The first line that changed.
///
/// ```
/// use threadspec::oracle::append_only;
/// let before = "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"0\">Hi</event>\n</thread>";
/// assert!(append_only(before, &before.replace("</thread>", "  <event/>\n</thread>")).is_ok());
/// assert!(append_only(before, "<thread>\n</thread>").is_err());
/// ```
pub fn append_only(before: &str, after: &str) -> Result<(), Violation> {
    let kept =
        before.strip_suffix("</thread>").ok_or_else(|| Violation::new("the document does not end with `</thread>`"))?;
    if after.starts_with(kept) {
        return Ok(());
    }
    let line = kept.lines().zip(after.lines()).take_while(|(before, after)| before == after).count();
    Err(Violation::in_line(line + 1, "changed when events were added"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_has_its_form() {
        let good =
            "<thread>\n  <event type=\"error\" id=\"0\" iteration=\"1\" recoverable=\"true\">a\n</event>\n</thread>";
        assert_eq!(well_shaped(good), Ok(()));
        assert_eq!(well_shaped("<thread>\n</thread>"), Ok(()));
        for (from, to) in [
            ("<thread>\n", "<thread>"),
            ("  <event", " <event"),
            ("event type", "event  type"),
            ("\n</thread>", "</thread>"),
            ("</thread>", "</thread>\n"),
            ("\"0\"", "\"1\""),
            ("\"1\"", "\"01\""),
            ("true", "True"),
            ("error", "failure"),
            (" iteration=\"1\"", ""),
        ] {
            assert!(well_shaped(&good.replacen(from, to, 1)).is_err(), "{from:?} -> {to:?}");
        }
    }

    #[test]
    fn a_spelling_is_more_than_what_a_parser_sees() {
        let event = |name: &str, text: &str| {
            format!(
                "<thread>\n  <event type=\"tool_input\" id=\"0\" name=\"{name}\" iteration=\"1\">{text}</event>\n</thread>"
            )
        };
        for (name, text, literal, hardened) in [
            ("a", "&amp;&lt;&gt;&quot;&apos;", true, true),
            ("&amp;&lt;&gt;&quot;&apos;", "a", true, true),
            ("a", ">", false, false),
            ("a", "\"", false, false),
            ("a", "'", false, false),
            (">", "a", false, false),
            ("'", "a", false, false),
            ("a", "&#38;", false, false),
            ("&#x3C;", "a", false, false),
            ("a", "\r", true, false),
            ("a", "&#xD;", true, false),
            ("a", "&#13;\t\n", true, true),
            ("a", "&#9;", false, false),
            ("\t", "a", true, false),
            ("&#9;&#10;&#13;", "a", true, true),
        ] {
            let document = event(name, text);
            assert_eq!(well_escaped(&document, Profile::Literal).is_ok(), literal, "{document}");
            assert_eq!(well_escaped(&document, Profile::Hardened).is_ok(), hardened, "{document}");
        }
    }
}
