//! Escapes text for XML.

use crate::Profile;
use crate::buffer::{self, Buffer, Escapes};
use std::borrow::Cow;
use std::mem;

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
    escape(text, in_text(profile))
}

/// Appends what [`escape_text`] gives, without a string of its own for it.
///
/// ```
/// let mut document = "<p>".to_owned();
/// threadspec::escape_text_into(&mut document, "a < b", threadspec::Profile::Literal);
/// assert_eq!(document, "<p>a &lt; b");
/// ```
pub fn escape_text_into(out: &mut String, text: &str, profile: Profile) {
    let mut buffer = Buffer::from(mem::take(out));
    buffer.push_escaped(text, in_text(profile));
    *out = buffer.into_string();
}

/// The form of a text as an attribute's value; in [`Profile::Hardened`] TAB, LF and CR become `&#9;`, `&#10;` and `&#13;`
/// (ATT-WHITESPACE).
pub fn escape_attribute(text: &str, profile: Profile) -> Cow<'_, str> {
    escape(text, in_attribute(profile))
}

/// Whether XML 1.0 permits a character at all (production `Char`).
///
/// ```
/// assert!(threadspec::is_xml_char('\t') && !threadspec::is_xml_char('\u{1b}') && !threadspec::is_xml_char('\u{ffff}'));
/// ```
pub fn is_xml_char(character: char) -> bool {
    !matches!(character, '\0'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{fffe}' | '\u{ffff}')
}

fn escape<'a>(text: &'a str, escapes: &Escapes) -> Cow<'a, str> {
    escapes.escape(text).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// What a profile escapes in an element's content.
pub(super) fn in_text(profile: Profile) -> &'static Escapes {
    match profile {
        Profile::Literal => &buffer::TEXT,
        Profile::Hardened => &buffer::TEXT_HARDENED,
    }
}

/// What a profile escapes in an attribute's value.
pub(super) fn in_attribute(profile: Profile) -> &'static Escapes {
    match profile {
        Profile::Literal => &buffer::TEXT,
        Profile::Hardened => &buffer::ATTRIBUTE_HARDENED,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::json_stringify;

    /// The plain version: one character after the other.
    fn plain(text: &str, replacement: impl Fn(char) -> Option<&'static str>) -> String {
        let mut escaped = String::new();
        for character in text.chars() {
            match replacement(character) {
                Some(replacement) => escaped.push_str(replacement),
                None => escaped.push(character),
            }
        }
        escaped
    }

    fn replacement(character: char, kept: &str) -> Option<&'static str> {
        match character {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '"' => Some("&quot;"),
            '\'' => Some("&apos;"),
            '\t' | '\n' | '\r' if kept.contains(character) => None,
            '\t' => Some("&#9;"),
            '\n' => Some("&#10;"),
            '\r' => Some("&#13;"),
            _ if !is_xml_char(character) => Some("\u{fffd}"),
            _ => None,
        }
    }

    fn same_as_plain(text: &str) {
        for (profile, in_text, in_attribute) in
            [(Profile::Literal, "\t\n\r", "\t\n\r"), (Profile::Hardened, "\t\n", "")]
        {
            assert_eq!(escape_text(text, profile), plain(text, |character| replacement(character, in_text)));
            assert_eq!(escape_attribute(text, profile), plain(text, |character| replacement(character, in_attribute)));
        }
        assert_eq!(escape_text(text, Profile::Literal) == text, matches!(escape_xml(text), Cow::Borrowed(_)));
        let mut appended = "before".to_owned();
        escape_text_into(&mut appended, text, Profile::Literal);
        assert_eq!(appended, format!("before{}", escape_xml(text)));
        let json = json_stringify(&text.into());
        let mut buffer = Buffer::default();
        buffer.push_str("before");
        buffer.push_escaped(text, &buffer::JSON_TEXT);
        buffer.push_str("behind");
        let expected = plain(&json[1..json.len() - 1], |character| replacement(character, ""));
        assert_eq!(buffer.into_string(), format!("before{expected}behind"));
    }

    /// Every character, at every place of a block and of the rest behind the last block.
    #[test]
    fn blocks_are_escaped_as_characters_are() {
        let ascii = (0..128).map(|byte| char::from(byte).to_string());
        let odd = ["é", "\u{f000}", "\u{fffc}", "\u{fffd}", "\u{fffe}", "\u{ffff}", "\u{10000}", "\u{10ffff}", ""];
        // Miri is slow; the ends of blocks are what it is for.
        let lengths: &[usize] =
            if cfg!(miri) { &[0, 62, 63, 126, 127, 130] } else { &[0, 1, 61, 62, 63, 64, 126, 127, 128, 200] };
        for special in ascii.chain(odd.map(str::to_owned)).step_by(if cfg!(miri) { 17 } else { 1 }) {
            for before in lengths {
                for behind in lengths {
                    same_as_plain(&format!("{}{special}{}", "a".repeat(*before), "b".repeat(*behind)));
                }
                same_as_plain(&special.repeat(*before));
                same_as_plain(&format!("{special}c").repeat(*before));
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 500 }) })]

        #[test]
        fn any_text_is_escaped_as_its_characters_are(
            text in r#"([a-z ]{0,40}|[&<>"'\\\x00-\x1f]|[\u{ff00}-\u{ffff}]|\PC){0,60}"#,
        ) {
            same_as_plain(&text);
        }
    }
}
