//! Lone surrogates: halves of characters, which JavaScript's `substring` makes and JSON carries as `"\ud83d"`.
//!
//! No Rust string holds one. Text is read without them, each as U+FFFD ([`repair_surrogates`]). Structured data (arguments,
//! results) must keep them, or two keys could become one: there a *mark* stands for each, U+FDD0 and a private character, and
//! U+FDD0 itself is doubled. [`mark_surrogates`] makes marks from escapes, [`unmark_surrogates`] the reverse,
//! and [`without_marks`] gives the text as people see it. A value without U+FDD0, as all real data, has no marks.

use memchr::{memchr, memmem};
use std::borrow::Cow;

/// Replaces every escape of a lone surrogate (`\ud83d` without its other half) in JSON text by `\ufffd`.
///
/// JavaScript's `substring` cuts characters in half and its `JSON.stringify` writes the halves, so real logs hold them, and
/// no parser of Unicode text accepts them (INP-SURROGATE). The replacement has the same length: positions in the text
/// stay what they were. Text that is not JSON comes back as it is wherever it holds no such escape.
///
/// ```
/// use threadspec::surrogates::repair_surrogates;
/// assert_eq!(repair_surrogates(r#""cut \ud83d, whole \ud83d\ude00""#), r#""cut \ufffd, whole \ud83d\ude00""#);
/// assert_eq!(repair_surrogates(r#""a backslash \\ud83d""#), r#""a backslash \\ud83d""#);
/// ```
pub fn repair_surrogates(json: &str) -> Cow<'_, str> {
    if !may_escape_half(json) {
        return Cow::Borrowed(json);
    }
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = memchr(b'\\', &json.as_bytes()[at..]) {
        at += offset;
        match (unit(json, at), unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => at += 12,
            (Some(0xd800..=0xdfff), _) => {
                repaired.push_str(&json[copied..at]);
                repaired.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            (Some(_), _) => at += 6,
            // The backslash and the character that it escapes, whatever its length.
            (None, _) => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    repaired.push_str(&json[copied..]);
    Cow::Owned(repaired)
}

/// The first character of a mark, a noncharacter. Doubled, it stands for itself.
const MARK: char = '\u{fdd0}';
/// The second character of the mark of U+D800; the others follow.
const FIRST_HALF: u32 = 0xe000;

/// Replaces every escape of a lone surrogate in JSON text by its mark, and doubles every U+FDD0.
///
/// Positions stay what they were, up to the first U+FDD0 that is not written as an escape.
///
/// ```
/// use threadspec::surrogates::{mark_surrogates, unmark_surrogates};
/// let json = r#"{"cut \ud83d": "whole \ud83d\ude00"}"#;
/// assert!(serde_json::from_str::<serde_json::Value>(json).is_err());
/// let value: serde_json::Value = serde_json::from_str(&mark_surrogates(json))?;
/// assert_eq!(unmark_surrogates(&value.to_string()), r#"{"cut \ud83d":"whole 😀"}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn mark_surrogates(json: &str) -> Cow<'_, str> {
    let has_marks = may_be_marked(json);
    if !has_marks && !may_escape_half(json) {
        return Cow::Borrowed(json);
    }
    let mut marked = String::new();
    let mut copied = 0;
    let mut at = 0;
    let next =
        |from: usize| if has_marks { json[from..].find(['\\', MARK]) } else { memchr(b'\\', &json.as_bytes()[from..]) };
    while let Some(offset) = next(at) {
        at += offset;
        let (length, mark) = match (unit(json, at), unit(json, at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, None),
            (Some(half @ 0xd800..=0xdfff), _) => (6, char::from_u32(FIRST_HALF + u32::from(half - 0xd800))),
            (Some(0xfdd0), _) => (6, Some(MARK)),
            (Some(_), _) => (6, None),
            (None, _) if json[at..].starts_with(MARK) => (MARK.len_utf8(), Some(MARK)),
            // The backslash and the character that it escapes, whatever its length.
            (None, _) => (1 + json[at + 1..].chars().next().map_or(0, char::len_utf8), None),
        };
        if let Some(mark) = mark {
            marked.push_str(&json[copied..at]);
            marked.extend([MARK, mark]);
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    marked.push_str(&json[copied..]);
    Cow::Owned(marked)
}

/// Replaces every mark in JSON text by the escape that it stands for: the reverse of [`mark_surrogates`].
pub fn unmark_surrogates(json: &str) -> Cow<'_, str> {
    replace_marks(json, |unit| format!("\\u{unit:04x}"))
}

/// A string of marked data as a text: each mark is U+FFFD.
///
/// ```
/// use threadspec::surrogates::{mark_surrogates, without_marks};
/// let cut: String = serde_json::from_str(&mark_surrogates(r#""cut \ud83d""#))?;
/// assert_eq!(without_marks(&cut), "cut \u{fffd}");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn without_marks(text: &str) -> Cow<'_, str> {
    replace_marks(text, |_| "\u{fffd}".to_owned())
}

/// A text as a string of marked data: each U+FDD0 doubled.
pub fn marked(text: &str) -> Cow<'_, str> {
    if text.contains(MARK) { Cow::Owned(text.replace(MARK, "\u{fdd0}\u{fdd0}")) } else { Cow::Borrowed(text) }
}

/// Whether a string of marked data may hold a mark.
pub(crate) fn may_be_marked(text: &str) -> bool {
    find_mark(text).is_some()
}

fn find_mark(text: &str) -> Option<usize> {
    memmem::find(text.as_bytes(), MARK.encode_utf8(&mut [0; 3]).as_bytes())
}

/// Whether JSON text may hold the escape of half a character, or of [`MARK`]. Most texts do not, and are not looked at more closely.
fn may_escape_half(json: &str) -> bool {
    let json = json.as_bytes();
    memmem::find_iter(json, b"\\u").any(|at| matches!(json.get(at + 2), Some(b'd' | b'D' | b'f' | b'F')))
}

/// Whether a string of marked data holds a lone surrogate.
pub fn has_marks(text: &str) -> bool {
    let mut found = false;
    replace_marks(text, |_| {
        found = true;
        String::new()
    });
    found
}

fn replace_marks(text: &str, mut replacement: impl FnMut(u32) -> String) -> Cow<'_, str> {
    let Some(first) = find_mark(text) else { return Cow::Borrowed(text) };
    let mut replaced = text[..first].to_owned();
    let mut rest = &text[first..];
    while let Some(at) = rest.find(MARK) {
        replaced.push_str(&rest[..at]);
        let behind = &rest[at + MARK.len_utf8()..];
        let second = behind.chars().next();
        match second.map(|second| u32::from(second).wrapping_sub(FIRST_HALF)) {
            Some(half @ ..0x800) => replaced.push_str(&replacement(0xd800 + half)),
            _ => replaced.push(MARK),
        }
        // A single U+FDD0, in data that was never marked, stays as it is.
        let marked =
            second.filter(|&second| second == MARK || (FIRST_HALF..FIRST_HALF + 0x800).contains(&second.into()));
        rest = &behind[marked.map_or(0, char::len_utf8)..];
    }
    replaced.push_str(rest);
    Cow::Owned(replaced)
}

/// The UTF-16 code unit that the escape `\uXXXX` at a byte position stands for.
fn unit(json: &str, at: usize) -> Option<u16> {
    let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u16::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_halves_are_replaced_and_pairs_are_kept() {
        for (json, repaired) in [
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\uD83D\uDE00""#, r#""\uD83D\uDE00""#),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#),
            (r#""\ud83d\n""#, r#""\ufffd\n""#),
            (r#""\\\ud83d""#, r#""\\\ufffd""#),
            (r#""\\\\ud83d""#, r#""\\\\ud83d""#),
            (r#""\ud83""#, r#""\ud83""#),
            (r"\", r"\"),
            ("\\é\\ud800", "\\é\\ufffd"),
        ] {
            assert_eq!(repair_surrogates(json), repaired);
            assert_eq!(repair_surrogates(json).len(), json.len());
        }
    }

    #[test]
    fn marks_come_and_go_without_loss() {
        for json in [
            r#""\ud83d\ude00""#,
            r#"{"\ud83d": "\ude00x\udfff", "\ud83e": 1}"#,
            r#""\\ud83d \\\ud83d""#,
            "\"\u{fdd0}\u{e03d} \u{fdd0}\u{fdd0}\u{fdd0}\"",
            "\"\\ud83d\u{fdd0}\\ud800\u{e000}\"",
            "\"plain\"",
        ] {
            let marked = mark_surrogates(json);
            assert_eq!(unmark_surrogates(&marked), json);
            assert!(serde_json::from_str::<serde_json::Value>(&marked).is_ok(), "{json}");
        }
        let text = |json: &str| -> String {
            let marked: String = serde_json::from_str(&mark_surrogates(json)).expect("a string");
            without_marks(&marked).into_owned()
        };
        assert_eq!(text(r#""a\ude00\ud83db\ud83d\ude00""#), "a\u{fffd}\u{fffd}b😀");
        assert_eq!(text(r#""\ufdd0\ue03d\ud800""#), "\u{fdd0}\u{e03d}\u{fffd}");
        assert_eq!(without_marks("\u{fdd0} alone \u{fdd0}"), "\u{fdd0} alone \u{fdd0}");
        assert!(has_marks(&mark_surrogates(r#""\ud83d""#)) && !has_marks(&mark_surrogates("\"\u{fdd0}\u{e000}\"")));
    }
}
