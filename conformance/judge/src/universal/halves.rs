//! Keeps lone surrogates (here: halves) visible.
//!
//! A Rust string cannot hold one, but the judge must see whether one reached a request. So reading replaces each half by a mark: the
//! character of the last private plane with the same low bits (U+10D83D for `\ud83d`). A character that looks like a mark is read as two,
//! U+10FFFE and the character 0x800 below it, and U+10FFFE as two of itself. So a mark always stands for a half, and texts that were read
//! are equal, or contain one another, only where they did so before.

use memchr::memchr;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// U+10D800 stands for U+D800, and so on.
const PLANE: u32 = 0x10_0000;
/// Stands before a character that looks like a mark.
const APART: char = '\u{10fffe}';
/// How far such a character is moved down.
const MOVED: u32 = 0x800;
/// A half may become up to so many characters, such as `\ud83d` or `&#xd83d;`.
const ROOM: usize = 8;

fn mark(half: u32) -> Option<char> {
    char::from_u32(PLANE + half).filter(|c| is_half(*c))
}

/// Whether the character of a text that was read is the mark of a half.
pub fn is_half(c: char) -> bool {
    (PLANE + 0xd800..PLANE + 0xe000).contains(&u32::from(c))
}

/// Whether the text holds a mark.
pub(super) fn has_half(text: &str) -> bool {
    may_be_marked(text) && text.contains(is_half)
}

/// The first UTF-8 byte of each character of the last plane, to which marks and the characters that look like them belong.
const LAST_PLANE: u8 = 0xf4;

fn may_be_marked(text: &str) -> bool {
    memchr(LAST_PLANE, text.as_bytes()).is_some()
}

/// The text with parts replaced: `other` gets the rest of the text at each character of the last plane, and returns how many bytes to
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

/// The text with another text in the place of each mark.
fn without_halves(text: &str, other: impl Fn(char) -> String) -> Cow<'_, str> {
    rewritten(text, |rest| rest.chars().next().filter(|c| is_half(*c)).map(|half| (half.len_utf8(), other(half))))
}

/// The text as it was before it was read, with another text in the place of each mark.
fn original(text: &str, other: impl Fn(char) -> String) -> Cow<'_, str> {
    rewritten(text, |rest| first(rest).map(|(length, c, half)| (length, if half { other(c) } else { c.into() })))
}

/// The two characters that are read for one that looks like a mark, or for [`APART`] itself.
fn apart(c: char) -> Option<[char; 2]> {
    match c {
        APART => Some([APART, APART]),
        c if is_half(c) => char::from_u32(u32::from(c) - MOVED).map(|moved| [APART, moved]),
        _ => None,
    }
}

/// Text in which nothing looks like a mark.
fn without_marks(text: &str) -> Cow<'_, str> {
    let two = |c: char| apart(c).map(|two| (c.len_utf8(), two.iter().collect()));
    rewritten(text, |rest| rest.chars().next().and_then(two))
}

/// Whether [`marked`] may change JSON text.
pub fn reads_otherwise(json: &str) -> bool {
    may_be_marked(json) || may_escape_surrogates(json)
}

fn may_escape_surrogates(json: &str) -> bool {
    ["\\ud", "\\uD"].iter().any(|surrogate| json.contains(surrogate))
}

/// JSON text in which a mark stands for each escape of a lone surrogate, and nothing else looks like one.
pub fn marked(json: &str) -> Cow<'_, str> {
    match without_marks(json) {
        Cow::Borrowed(json) => mark_escapes(json),
        Cow::Owned(json) => Cow::Owned(mark_escapes(&json).into_owned()),
    }
}

/// The same for JSON text that stands inside a text that was read.
pub(super) fn mark_escapes(json: &str) -> Cow<'_, str> {
    if !may_escape_surrogates(json) {
        return Cow::Borrowed(json);
    }
    let unit = |at: usize| u32::from_str_radix(json.get(at..at + 6)?.strip_prefix("\\u")?, 16).ok();
    let (mut marked, mut copied, mut at) = (String::new(), 0, 0);
    while let Some(offset) = json[at..].find('\\') {
        at += offset;
        let (length, read) = match (unit(at), unit(at + 6)) {
            (Some(high @ 0xd800..=0xdbff), Some(low @ 0xdc00..=0xdfff)) => {
                let whole = char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (low - 0xdc00));
                (12, whole.and_then(apart).map(|two| two.iter().collect()))
            }
            (Some(half @ 0xd800..=0xdfff), _) => (6, mark(half).map(String::from)),
            (Some(_), _) => (6, None),
            // The backslash and the character that it escapes, whatever its length.
            (None, _) => (1 + json[at + 1..].chars().next().map_or(0, char::len_utf8), None),
        };
        if let Some(read) = read {
            marked += &json[copied..at];
            marked += &read;
            copied = at + length;
        }
        at += length;
    }
    if copied == 0 { Cow::Borrowed(json) } else { Cow::Owned(marked + &json[copied..]) }
}

/// Decodes JSON text as [`marked`] reads it, with a mark also for each lone surrogate in its bytes, as encoders that check nothing write
/// them.
///
/// # Errors
///
/// Says where the bytes are not UTF-8 for another reason.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let (mut rest, mut decoded) = (bytes, String::new());
    loop {
        let error = match str::from_utf8(rest) {
            Ok(text) if decoded.is_empty() => return Ok(marked(text)),
            Ok(text) => return Ok(Cow::Owned(mark_escapes(&(decoded + &without_marks(text))).into_owned())),
            Err(error) => error,
        };
        let (valid, behind) = rest.split_at(error.valid_up_to());
        decoded += &without_marks(str::from_utf8(valid).unwrap_or_default());
        let half = match behind {
            [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] => {
                mark(0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f))
            }
            _ => None,
        };
        decoded.push(half.ok_or_else(|| format!("not UTF-8: {error}"))?);
        rest = &behind[3..];
    }
}

/// Of the first character of a text: its length as it was read, the character as it was before, and whether it is a mark.
fn first(text: &str) -> Option<(usize, char, bool)> {
    let mut characters = text.chars();
    let (c, is_half) = match characters.next()? {
        APART => {
            let c = characters.next().unwrap_or(APART);
            let looks_like_a_mark = || char::from_u32(u32::from(c) + MOVED).filter(|c| is_half(*c));
            (looks_like_a_mark().unwrap_or(c), false)
        }
        c => (c, is_half(c)),
    };
    Some((text.len() - characters.as_str().len(), c, is_half))
}

/// The characters of a text as they were before it was read; a mark comes with `true`.
pub(super) fn characters(text: &str) -> impl Iterator<Item = (char, bool)> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (length, c, is_half) = first(rest)?;
        rest = &rest[length..];
        Some((c, is_half))
    })
}

fn escape(half: char) -> String {
    format!("\\u{:04x}", u32::from(half) - PLANE)
}

/// JSON text with an escape for each mark; all else stays as it was read.
pub fn escaped(json: &str) -> Cow<'_, str> {
    without_halves(json, escape)
}

/// JSON text as it was before [`marked`] read it.
pub fn written(json: &str) -> Cow<'_, str> {
    original(json, escape)
}

/// Text in which U+FFFD stands for each half, as the other profiles read it.
pub fn repaired(text: &str) -> Cow<'_, str> {
    without_halves(text, |_| char::REPLACEMENT_CHARACTER.into())
}

/// Text for people, with U+FFFD for each half.
pub fn shown(text: &str) -> Cow<'_, str> {
    original(text, |_| char::REPLACEMENT_CHARACTER.into())
}

/// Whether a text arrived: unchanged but for its halves, each of which may be up to eight characters.
pub(super) fn arrived(expected: &str, actual: &str) -> bool {
    expected == actual || has_half(expected) && ends(expected, actual, BTreeSet::from([0])).contains(&actual.len())
}

/// Whether a text arrived somewhere inside another.
pub(super) fn arrived_inside(expected: &str, actual: &str) -> bool {
    if !has_half(expected) {
        return actual.contains(expected);
    }
    let starts = actual.char_indices().map(|(at, _)| at).chain([actual.len()]).collect();
    !ends(expected, actual, starts).is_empty()
}

/// Where in `actual` the expected text may end, if it begins at one of the starts.
fn ends(expected: &str, actual: &str, starts: BTreeSet<usize>) -> BTreeSet<usize> {
    let (mut ends, mut rest, mut room) = (starts, expected, 0);
    loop {
        let length = rest.find(is_half).unwrap_or(rest.len());
        let (segment, behind) = rest.split_at(length);
        ends = ends
            .into_iter()
            .flat_map(|start| {
                let tail = &actual[start..];
                let begins = tail.char_indices().map(|(at, _)| at).chain([tail.len()]).take(room + 1);
                begins.filter(|&at| tail[at..].starts_with(segment)).map(move |at| start + at + segment.len())
            })
            .collect();
        let after = behind.trim_start_matches(is_half);
        room = ROOM * behind[..behind.len() - after.len()].chars().count();
        if behind.is_empty() {
            return ends;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_and_a_raw_half_are_seen_and_a_pair_is_none() {
        assert_eq!(
            marked(r#""a\ud83d \ud83d\ude00 \\ud83d \ufffd""#),
            "\"a\u{10d83d} \\ud83d\\ude00 \\\\ud83d \\ufffd\""
        );
        assert_eq!(decode(b"\"a\xed\xa0\xbd\"").as_deref(), Ok("\"a\u{10d83d}\""));
        assert_eq!(decode("\u{fffd}é".as_bytes()).as_deref(), Ok("\u{fffd}é"));
        assert!(decode(b"\xff").is_err() && decode(b"a\xed\xa0").is_err());
    }

    #[test]
    fn a_character_that_looks_like_a_mark_is_none() {
        for (json, text) in [
            ("\"\u{10d83d}\u{10fffe}\u{10d03d}\"", "\u{10d83d}\u{10fffe}\u{10d03d}"),
            (r#""\udbf6\udc3d\uDBFF\udffe\udbf4\udc3d""#, "\u{10d83d}\u{10fffe}\u{10d03d}"),
            ("\"\u{10dfff}\u{10d800}\"", "\u{10dfff}\u{10d800}"),
        ] {
            let read: String = serde_json::from_str(&marked(json)).expect("JSON");
            assert!(!has_half(&read), "{read:?}");
            assert_eq!((&*shown(&read), &*written(&read)), (text, text));
            assert_eq!(repaired(&read), read);
            assert_eq!(decode(json.as_bytes()), Ok(marked(json)));
            assert_eq!(escaped(&read), read);
        }
        let both = marked("\"\\ud83d\u{10d83d}\"").into_owned();
        assert!(has_half(&both));
        assert_eq!((&*written(&both), &*shown(&both)), ("\"\\ud83d\u{10d83d}\"", "\"\u{fffd}\u{10d83d}\""));
        let raw = decode("\"\u{10d83d}".as_bytes()).and_then(|one| Ok(one.into_owned() + &decode(b"\xed\xa0\xbd\"")?));
        assert_eq!(raw.as_deref().map(shown), Ok("\"\u{10d83d}\u{fffd}\"".into()));
    }

    #[test]
    fn only_the_half_may_change() {
        let half = "a\u{10d83d}b\u{10de00}";
        for same in [half, "ab", "a\u{fffd}b\u{fffd}", "a\\ud83db\\ude00", "a&#xD83D;b", "a??b"] {
            assert!(arrived(half, same), "{same}");
            assert!(arrived_inside(half, &format!("x{same}y")), "{same}");
        }
        for other in ["", "a", "b", "ac", "ba", "a123456789b", "xab"] {
            assert!(!arrived(half, other), "{other}");
        }
        assert!(!arrived("ab", "a\u{fffd}b") && arrived("", "") && !arrived("", "x"));
    }
}
