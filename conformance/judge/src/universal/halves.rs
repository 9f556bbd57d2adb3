//! Keeps lone surrogates (here: halves) visible.
//!
//! A Rust string cannot hold one, but the judge must see whether one reached a request. So it reads inputs and outputs as marked data
//! (`threadspec::surrogates`): a mark always represents a half, and texts that were read are equal, or contain one another, only where they
//! did so before.

use std::borrow::Cow;
use std::collections::BTreeSet;
use threadspec::surrogates::{has_marks, is_mark, mark_surrogates, marked, unmark_surrogates, without_marks};

/// A half may become up to so many characters, such as `\ud83d` or `&#xd83d;`.
const ROOM: usize = 8;

/// Decodes JSON text as marked data, with a mark also for each lone surrogate in its bytes, as encoders that check nothing write them.
///
/// # Errors
///
/// Says where the bytes are not UTF-8 for another reason.
pub fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let (mut rest, mut decoded) = (bytes, String::new());
    loop {
        let error = match str::from_utf8(rest) {
            Ok(text) if decoded.is_empty() => return Ok(mark_surrogates(text)),
            Ok(text) => return Ok(Cow::Owned(decoded + &mark_surrogates(text))),
            Err(error) => error,
        };
        let (valid, behind) = rest.split_at(error.valid_up_to());
        decoded += &mark_surrogates(str::from_utf8(valid).unwrap_or_default());
        let [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, ..] = behind else {
            return Err(format!("not UTF-8: {error}"));
        };
        let half = 0xd000 | u32::from(second & 0x3f) << 6 | u32::from(third & 0x3f);
        decoded += &mark_surrogates(&format!("\\u{half:04x}"));
        rest = &behind[3..];
    }
}

/// Returns whether marked data may differ from what other readers make of JSON text.
pub fn reads_otherwise(json: &str) -> bool {
    matches!(mark_surrogates(json), Cow::Owned(_))
}

/// Marked JSON text with an escape for each mark.
pub fn escaped(json: &str) -> Cow<'_, str> {
    again(unmark_surrogates(json))
}

/// Marked text in which U+FFFD represents each half, as the other profiles read it.
pub fn repaired(text: &str) -> Cow<'_, str> {
    again(without_marks(text))
}

/// Text without marks as marked data again.
fn again(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(text),
        Cow::Owned(text) => Cow::Owned(marked(&text).into_owned()),
    }
}

/// Returns whether a text arrived: unchanged but for its halves, each of which may be up to eight characters.
pub fn arrived(expected: &str, actual: &str) -> bool {
    expected == actual || has_marks(expected) && ends(expected, actual, BTreeSet::from([0])).contains(&actual.len())
}

/// Returns whether a text arrived somewhere inside another.
pub(crate) fn arrived_inside(expected: &str, actual: &str) -> bool {
    if !has_marks(expected) {
        return actual.contains(expected);
    }
    let starts = actual.char_indices().map(|(at, _)| at).chain([actual.len()]).collect();
    !ends(expected, actual, starts).is_empty()
}

/// Where in `actual` the expected text may end, if it begins at one of the starts.
pub(crate) fn ends(expected: &str, actual: &str, starts: BTreeSet<usize>) -> BTreeSet<usize> {
    let (mut ends, mut rest, mut room) = (starts, expected, 0);
    loop {
        let length = rest.find(is_mark).unwrap_or(rest.len());
        let (segment, behind) = rest.split_at(length);
        ends = ends
            .into_iter()
            .flat_map(|start| {
                let tail = &actual[start..];
                let begins = tail.char_indices().map(|(at, _)| at).chain([tail.len()]).take(room + 1);
                begins.filter(|&at| tail[at..].starts_with(segment)).map(move |at| start + at + segment.len())
            })
            .collect();
        let after = behind.trim_start_matches(is_mark);
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
        let escaped = decode(br#""a\ud83d \ud83d\ude00""#);
        assert_eq!(escaped.as_deref(), Ok("\"a\u{10d83d} \\ud83d\\ude00\""));
        assert_eq!(decode(b"\"a\xed\xa0\xbd\"").as_deref(), Ok("\"a\u{10d83d}\""));
        assert_eq!(decode(b"\"\xed\xa0\xbd\xed\xb8\x80\"").as_deref(), Ok("\"\u{10d83d}\u{10de00}\""));
        assert_eq!(decode("\u{fffd}é".as_bytes()).as_deref(), Ok("\u{fffd}é"));
        assert!(decode(b"\xff").is_err() && decode(b"a\xed\xa0").is_err());
    }

    #[test]
    fn a_character_that_looks_like_a_mark_stays_apart() {
        let json = "\"\u{10d83d}\u{10fffe}\u{10d03d}\"";
        let read = decode(json.as_bytes()).expect("UTF-8");
        assert!(!has_marks(&read));
        assert!(escaped(&read) == read && repaired(&read) == read);
        let both = [b"\xed\xa0\xbd", "\u{10d83d}".as_bytes()].concat();
        let both = decode(&both).expect("UTF-8 but for the half");
        assert_eq!((&*escaped(&both), &*without_marks(&both)), ("\\ud83d\u{10fffe}\u{10d03d}", "\u{fffd}\u{10d83d}"));
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
