//! Escapes text for XML (clauses ESC-* and ATT-WHITESPACE).

use crate::Profile;

/// The form of a text as an element's content: the plain form of [`escape_text`](crate::escape_text).
///
/// ```
/// use threadspec::{Profile, plain};
/// assert_eq!(plain::escape_text("a < b\r\u{1b}", Profile::Literal), "a &lt; b\r\u{fffd}");
/// assert_eq!(plain::escape_text("a < b\r\u{1b}", Profile::Hardened), "a &lt; b&#13;\u{fffd}");
/// ```
pub fn escape_text(text: &str, profile: Profile) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            // ESC-CR
            '\r' if profile == Profile::Hardened => escaped.push_str("&#13;"),
            _ => push_escaped(&mut escaped, character),
        }
    }
    escaped
}

/// The form of a text as an attribute's value: the plain form of [`escape_attribute`](crate::escape_attribute).
///
/// ```
/// use threadspec::{Profile, plain};
/// assert_eq!(plain::escape_attribute("a\t\"b\"", Profile::Literal), "a\t&quot;b&quot;");
/// assert_eq!(plain::escape_attribute("a\t\"b\"", Profile::Hardened), "a&#9;&quot;b&quot;");
/// ```
pub fn escape_attribute(text: &str, profile: Profile) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        match character {
            // ATT-WHITESPACE
            '\t' if profile == Profile::Hardened => escaped.push_str("&#9;"),
            '\n' if profile == Profile::Hardened => escaped.push_str("&#10;"),
            '\r' if profile == Profile::Hardened => escaped.push_str("&#13;"),
            _ => push_escaped(&mut escaped, character),
        }
    }
    escaped
}

/// Writes a character by the rules that text and attribute values share (ESC-1 to ESC-4, ESC-FORBIDDEN).
fn push_escaped(escaped: &mut String, character: char) {
    match character {
        '&' => escaped.push_str("&amp;"),
        '<' => escaped.push_str("&lt;"),
        '>' => escaped.push_str("&gt;"),
        '"' => escaped.push_str("&quot;"),
        '\'' => escaped.push_str("&apos;"),
        _ if is_xml_char(character) => escaped.push(character),
        _ => escaped.push('\u{fffd}'),
    }
}

/// Returns whether XML 1.0 permits a character at all (production `Char`).
///
/// ```
/// assert!(threadspec::is_xml_char('\t') && !threadspec::is_xml_char('\u{1b}') && !threadspec::is_xml_char('\u{ffff}'));
/// ```
pub fn is_xml_char(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}
