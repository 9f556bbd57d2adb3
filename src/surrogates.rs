//! Lone surrogates: halves of characters, which JavaScript's `substring` makes and JSON carries as `"\ud83d"`.
//!
//! No Rust string holds one. Text is read without them, each as U+FFFD ([`repair_surrogates`]). Structured data (arguments,
//! results) must keep them, or two keys could become one: there a *mark* represents each, the character of the last private
//! plane with the same low bits (U+10D83D for `\ud83d`). A character that looks like a mark is set apart: it becomes two,
//! U+10FFFE and the character 0x800 below it, and U+10FFFE two of itself. [`mark_surrogates`] makes marks from escapes,
//! [`unmark_surrogates`] the reverse, and [`without_marks`] gives the text as people see it. Data without characters of that
//! plane, as nearly all real data, has no marks.

use memchr::{memchr, memchr2, memmem};
use std::borrow::Cow;
use std::iter;
use std::ops::Range;

/// How long the escape of a lone surrogate is.
const ESCAPE: usize = 6;

/// Where JSON text has escapes of lone surrogates (`\ud83d` without its other half), each of six bytes.
///
/// ```
/// use threadspec::surrogates::lone_surrogates;
/// assert_eq!(lone_surrogates(r#""\ud83d\ud83d\ude00\\ud83d""#).collect::<Vec<_>>(), [1]);
/// ```
pub fn lone_surrogates(json: &str) -> impl Iterator<Item = usize> {
    let halves = || specials(json).filter(|special| SURROGATES.contains(&special.code)).map(|special| special.at);
    may_escape_half(json).then(halves).into_iter().flatten()
}

/// Replaces every escape of a lone surrogate in JSON text by `\ufffd`.
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
    replace_surrogates(json, "\\ufffd")
}

/// Replaces every escape of a lone surrogate in JSON text by a text that can be inside a JSON string.
pub fn replace_surrogates<'a>(json: &'a str, replacement: &str) -> Cow<'a, str> {
    let halves = lone_surrogates(json).count();
    if halves == 0 {
        return Cow::Borrowed(json);
    }
    // Allocated at once: a text that grows by doubling is held twice for a moment.
    let mut replaced = String::with_capacity(json.len() - halves * ESCAPE + halves * replacement.len());
    let mut copied = 0;
    for at in lone_surrogates(json) {
        replaced += &json[copied..at];
        replaced += replacement;
        copied = at + ESCAPE;
    }
    Cow::Owned(replaced + &json[copied..])
}

/// The code units that are halves of characters.
const SURROGATES: Range<u32> = 0xd800..0xe000;
/// The distance of a mark from the code unit that it represents.
const PLANE: u32 = 0x10_0000;
/// Comes before a character that looked like a mark.
const APART: char = '\u{10fffe}';
/// How far such a character is moved down.
const MOVED: u32 = 0x800;
/// The first byte of each character of the last plane, to which marks and what looks like them belong.
const LAST_PLANE: u8 = 0xf4;

/// Returns whether a character of marked data is a mark.
pub fn is_mark(character: char) -> bool {
    u32::from(character).checked_sub(PLANE).is_some_and(|unit| SURROGATES.contains(&unit))
}

/// The two characters that set one apart that looks like a mark; `None` for any other.
fn apart(character: char) -> Option<[char; 2]> {
    let second = if is_mark(character) { char::from_u32(u32::from(character) - MOVED)? } else { character };
    (second != character || character == APART).then_some([APART, second])
}

/// Replaces every escape of a lone surrogate in JSON text by its mark, and sets apart what looks like one.
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
    if !may_be_marked(json) && !may_escape_half(json) {
        return Cow::Borrowed(json);
    }
    let (mut marked, mut copied) = (String::new(), 0);
    for Special { at, length, code } in specials(json) {
        let read = match char::from_u32(code) {
            Some(character) => apart(character).map(String::from_iter),
            None => char::from_u32(PLANE + code).map(String::from),
        };
        if let Some(read) = read {
            marked += &json[copied..at];
            marked += &read;
            copied = at + length;
        }
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(marked + &json[copied..]) }
}

/// Replaces every mark in JSON text by the escape that it represents: the reverse of [`mark_surrogates`].
pub fn unmark_surrogates(json: &str) -> Cow<'_, str> {
    replace_marks(json, |mark| format!("\\u{:04x}", u32::from(mark) - PLANE))
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
    replace_marks(text, |_| char::REPLACEMENT_CHARACTER.into())
}

/// A text as a string of marked data: what looks like a mark is set apart.
pub fn marked(text: &str) -> Cow<'_, str> {
    rewritten(text, |rest| {
        let character = rest.chars().next()?;
        Some((character.len_utf8(), apart(character)?.iter().collect()))
    })
}

/// Returns whether a string of marked data holds a lone surrogate.
pub fn has_marks(text: &str) -> bool {
    may_be_marked(text) && text.contains(is_mark)
}

/// Returns whether a string of marked data may hold a mark, or what was set apart.
pub(crate) fn may_be_marked(text: &str) -> bool {
    /// In shorter texts, as nearly all names are, it costs more to begin.
    const SHORT: usize = 16;
    if text.len() < SHORT {
        text.bytes().any(|byte| byte == LAST_PLANE)
    } else {
        memchr(LAST_PLANE, text.as_bytes()).is_some()
    }
}

/// Returns whether JSON text may hold the escape of half a character. Most texts do not, and are not looked at more closely.
fn may_escape_half(json: &str) -> bool {
    let json = json.as_bytes();
    memmem::find_iter(json, b"\\u").any(|at| matches!(json.get(at + 2), Some(b'd' | b'D')))
}

fn replace_marks(text: &str, replacement: impl Fn(char) -> String) -> Cow<'_, str> {
    rewritten(text, |rest| {
        let mut characters = rest.chars();
        let first = characters.next()?;
        if is_mark(first) {
            return Some((first.len_utf8(), replacement(first)));
        }
        // A single U+10FFFE, in data that was never marked, stays as it is.
        let second = characters.next().filter(|_| first == APART)?;
        let moved = char::from_u32(u32::from(second) + MOVED).filter(|&moved| is_mark(moved));
        let character = moved.or((second == APART).then_some(APART))?;
        Some((first.len_utf8() + second.len_utf8(), character.into()))
    })
}

/// A text with parts replaced: `other` gets the rest of the text at each character of the last plane, and says how many bytes to
/// replace, and by what.
fn rewritten(text: &str, other: impl Fn(&str) -> Option<(usize, String)>) -> Cow<'_, str> {
    let (mut out, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(offset) = memchr(LAST_PLANE, &text.as_bytes()[at..]) {
        at += offset;
        let Some((length, other)) = other(&text[at..]) else {
            at += APART.len_utf8();
            continue;
        };
        out += &text[copied..at];
        out += &other;
        at += length;
        copied = at;
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[copied..]) }
}

/// A character or half of one in JSON text that is written as an escape, or belongs to the last plane.
struct Special {
    at: usize,
    length: usize,
    code: u32,
}

fn specials(json: &str) -> impl Iterator<Item = Special> {
    let mut end = 0;
    iter::from_fn(move || {
        loop {
            let at = end + memchr2(b'\\', LAST_PLANE, &json.as_bytes()[end..])?;
            let (length, code) = match (unit(json, at), unit(json, at + ESCAPE)) {
                (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                    (2 * ESCAPE, Some(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00)))
                }
                (Some(unit), _) => (ESCAPE, Some(unit)),
                // The backslash and the character that it escapes, whatever its length.
                (None, _) if json.as_bytes()[at] == b'\\' => {
                    (1 + json[at + 1..].chars().next().map_or(0, char::len_utf8), None)
                }
                (None, _) => (APART.len_utf8(), json[at..].chars().next().map(u32::from)),
            };
            end = at + length;
            if let Some(code) = code {
                return Some(Special { at, length, code });
            }
        }
    })
}

/// The UTF-16 code unit that the escape `\uXXXX` at a byte position represents.
fn unit(json: &str, at: usize) -> Option<u32> {
    let digits = json.get(at..at + ESCAPE)?.strip_prefix("\\u")?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    u32::from_str_radix(digits, 16).ok()
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
            assert_eq!(replace_surrogates(json, "\\ufffd"), repaired);
            assert_eq!(lone_surrogates(json).count(), repaired.matches("\\ufffd").count());
        }
    }

    #[test]
    fn marks_come_and_go_without_loss() {
        for json in [
            r#""\ud83d\ude00""#,
            r#"{"\ud83d": "\ude00x\udfff", "\ud83e": 1}"#,
            r#""\\ud83d \\\ud83d""#,
            "\"\u{10d83d}\u{10d03d} \u{10fffe}\u{10fffe}\u{10d03d}\"",
            "\"\\ud83d\u{10d83d}\\ud800\u{10d800}\u{10ffff}\"",
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
        assert_eq!(text(r#""\udbf6\udc3d\uDBFF\udffe\udbf4\udc3d\ud800""#), "\u{10d83d}\u{10fffe}\u{10d03d}\u{fffd}");
        assert_eq!(without_marks("\u{10fffe} alone \u{10fffe}"), "\u{10fffe} alone \u{10fffe}");
        assert_eq!(without_marks(&marked("\u{10dfff}\u{10fffe}\u{10d7ff}")), "\u{10dfff}\u{10fffe}\u{10d7ff}");
        assert!(has_marks(&mark_surrogates(r#""\ud83d""#)) && !has_marks(&mark_surrogates("\"\u{10d83d}\"")));
    }
}
