use std::{borrow::Cow, io};

use crate::Profile;

/// Where a text stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Text,
    Attribute,
}

/// The literal form of a text in a document: the five replacements of `escapeXml` (ESC-1 to ESC-4), and U+FFFD for each
/// character that XML 1.0 forbids (ESC-FORBIDDEN). The same as [`escape_text`] with [`Profile::Literal`].
///
/// ```
/// assert_eq!(threadspec::escape_xml(r#"a < b && "c""#), "a &lt; b &amp;&amp; &quot;c&quot;");
/// assert_eq!(threadspec::escape_xml("\u{1b}[31mred"), "\u{fffd}[31mred");
/// ```
pub fn escape_xml(text: &str) -> Cow<'_, str> {
    escape_text(text, Profile::Literal)
}

/// The form of a text as an element's content; in [`Profile::Hardened`] CR becomes `&#13;` (ESC-CR).
pub fn escape_text(text: &str, profile: Profile) -> Cow<'_, str> {
    escape(text, Place::Text, profile)
}

/// The form of a text as an attribute's value; in [`Profile::Hardened`] TAB, LF and CR become `&#9;`, `&#10;` and `&#13;`
/// (ATT-WHITESPACE).
pub fn escape_attribute(text: &str, profile: Profile) -> Cow<'_, str> {
    escape(text, Place::Attribute, profile)
}

/// Whether XML 1.0 permits a character at all (production `Char`).
///
/// ```
/// assert!(threadspec::is_xml_char('\t') && !threadspec::is_xml_char('\u{1b}') && !threadspec::is_xml_char('\u{ffff}'));
/// ```
pub fn is_xml_char(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

fn escape(text: &str, place: Place, profile: Profile) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    for (at, character) in text.char_indices() {
        if let Some(replacement) = replacement(character, place, profile) {
            escaped.push_str(&text[copied..at]);
            escaped.push_str(replacement);
            copied = at + character.len_utf8();
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    escaped.push_str(&text[copied..]);
    Cow::Owned(escaped)
}

/// Writes the escaped form without holding it.
pub(crate) fn write_escaped(out: &mut impl io::Write, text: &str, place: Place, profile: Profile) -> io::Result<()> {
    // Pieces end at line ends, so that what is held is a line, not a text.
    text.split_inclusive('\n').try_for_each(|line| out.write_all(escape(line, place, profile).as_bytes()))
}

fn replacement(character: char, place: Place, profile: Profile) -> Option<&'static str> {
    Some(match (character, place, profile) {
        ('&', ..) => "&amp;",
        ('<', ..) => "&lt;",
        ('>', ..) => "&gt;",
        ('"', ..) => "&quot;",
        ('\'', ..) => "&apos;",
        ('\r', _, Profile::Hardened) => "&#13;",
        ('\t', Place::Attribute, Profile::Hardened) => "&#9;",
        ('\n', Place::Attribute, Profile::Hardened) => "&#10;",
        _ if !is_xml_char(character) => "\u{fffd}",
        _ => return None,
    })
}
