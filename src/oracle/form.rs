//! Oracles of a document's form.

use super::document::read;
use super::{Violation, quote};
use crate::{Document, Profile};
use memchr::{memchr, memchr_iter, memchr3};

/// A document has the form that the specification gives it: lines, indentation, attributes (DOC-1, DOC-2, DOC-3, ATT-*).
///
/// For documents whose events are not at hand; a response prefix behind the document is not its part.
///
/// # Errors
/// The first line or element that has another form.
pub fn well_shaped(document: &str) -> Result<(), Violation> {
    well_shaped_in(&read(document)?, document)
}

/// [`well_shaped`] of a document that was read already.
pub(super) fn well_shaped_in(read: &Document, document: &str) -> Result<(), Violation> {
    let elements = &read.elements;
    for (id, element) in elements.iter().enumerate() {
        let fault = |what: String| Err(Violation::new(format!("event {id}: {what}")));
        let Some(kind) = element.attribute("type") else {
            return fault("it has no `type`".to_owned());
        };
        let expected = match kind {
            "human" | "ai" | "system" | "human_input_requested" | "human_input_received" | "completion" => {
                "type id iteration"
            }
            "tool_input" => "type id name iteration",
            "tool_output" => "type id name status iteration",
            "error" => "type id iteration recoverable",
            "summary" => "type id iteration summarizedIterations",
            _ => return fault(format!("unknown type {}", quote(kind))),
        };
        let names = element.attributes.iter().map(|(name, _)| &**name).collect::<Vec<_>>().join(" ");
        if names != expected {
            return fault(format!("attributes `{names}`, expected `{expected}`"));
        }
        for (name, value) in &element.attributes {
            let number = |text: &str| text.parse().is_ok_and(|number: u64| number.to_string() == text);
            let valid = match name.as_str() {
                "id" => *value == id.to_string(),
                "iteration" => number(value),
                "status" => value == "success",
                "recoverable" => value == "true" || value == "false",
                "summarizedIterations" => value.is_empty() || value.split(',').all(number),
                _ => true,
            };
            if !valid {
                return fault(format!("{name}={}", quote(value)));
            }
        }
    }
    let framed = document.strip_prefix("<thread>\n").and_then(|rest| rest.strip_suffix("</thread>"));
    let Some(mut rest) = framed else {
        return Err(Violation::new("the first line is not `<thread>`, or the last one not `</thread>`"));
    };
    // Texts hold no `<`, so that an event ends at the first end tag.
    for id in 0..elements.len() {
        let end = rest.strip_prefix("  <event type=\"").and_then(|event| event.split_once("</event>\n"));
        let Some((_, after)) = end else {
            return Err(Violation::new(format!(
                "event {id}: not `  <event type=\"…\" …>…</event>` from the line's start to its end"
            )));
        };
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err(Violation::new("something stands behind the last event")) }
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
    well_escaped_in(document, profile)
}

/// [`well_escaped`] of a document that is known to be well-formed.
pub(super) fn well_escaped_in(document: &str, profile: Profile) -> Result<(), Violation> {
    // The document is well-formed, so that every `<` begins a tag, and a `>` outside quotes ends it.
    let mut rest = document;
    let line = |rest: &str| document[..document.len() - rest.len()].matches('\n').count() + 1;
    while let Some((text, tag)) = rest.split_once('<') {
        spelled(text, &['\r'], profile)
            .map_err(|what| Violation::new(format!("line {}: {what} in a text", line(rest))))?;
        rest = tag;
        while let Some(at) = rest.find(['"', '>']) {
            let (mark, after) = (rest.as_bytes()[at], &rest[at + 1..]);
            rest = after;
            if mark == b'>' {
                break;
            }
            let (value, after) = rest.split_once('"').unwrap_or((rest, ""));
            spelled(value, &['\t', '\n', '\r'], profile)
                .map_err(|what| Violation::new(format!("line {}: {what} in an attribute", line(rest))))?;
            rest = after;
        }
    }
    Ok(())
}

/// Why a stretch of character data is not spelled as it must be.
fn spelled(data: &str, white_space: &[char], profile: Profile) -> Result<(), String> {
    let hardened = profile == Profile::Hardened;
    let raw = |c: &char| matches!(c, '>' | '"' | '\'') || (hardened && white_space.contains(c));
    let bytes = data.as_bytes();
    let has_white_space =
        || hardened && white_space.iter().any(|&space| u8::try_from(space).is_ok_and(|b| memchr(b, bytes).is_some()));
    if memchr3(b'>', b'"', b'\'', bytes).is_some() || has_white_space() {
        let character = data.chars().find(raw).unwrap_or_default();
        return Err(format!("{character:?} raw"));
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
            return Err(format!("`&{reference};`"));
        }
    }
    Ok(())
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
    Err(Violation::new(format!("line {} changed when events were added", line + 1)))
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
