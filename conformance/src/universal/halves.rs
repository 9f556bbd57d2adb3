//! Lone surrogates, kept visible.
//!
//! No Rust string holds half a surrogate pair, but the judge must see whether one reached a request. Reading puts a mark in
//! the place of each: the character of the last private plane whose low bits are the half (U+10D83D for `\ud83d`). No text
//! of the corpus has these characters, so a mark is always a half.

use std::borrow::Cow;
use std::collections::BTreeSet;
use threadspec::surrogates::repair_surrogates;

/// U+10D800 stands for U+D800, and so on.
const PLANE: u32 = 0x10_0000;
/// The length of an escape.
const ESCAPE: usize = 6;
/// One half may become so many characters, such as `\ud83d` or `&#xd83d;`.
const ROOM: usize = 8;

fn mark(half: u32) -> Option<char> {
    char::from_u32(PLANE + half).filter(|c| is_half(*c))
}

/// Whether the character is the mark of a half.
pub(super) fn is_half(c: char) -> bool {
    (PLANE + 0xd800..PLANE + 0xe000).contains(&u32::from(c))
}

/// Whether the text holds a mark.
pub(super) fn has_half(text: &str) -> bool {
    text.contains(is_half)
}

/// JSON text in which a mark stands for each escape of a lone surrogate.
pub(crate) fn mark_escapes(json: &str) -> Cow<'_, str> {
    let repaired = repair_surrogates(json);
    if matches!(repaired, Cow::Borrowed(_)) {
        return Cow::Borrowed(json);
    }
    let (mut marked, mut copied) = (String::new(), 0);
    // Repairing keeps positions, so that what differs is what was repaired.
    for (at, _) in repaired.match_indices("\\ufffd").filter(|&(at, escape)| !json[at..].starts_with(escape)) {
        marked += &json[copied..at];
        marked.extend(u32::from_str_radix(&json[at + 2..at + ESCAPE], 16).ok().and_then(mark));
        copied = at + ESCAPE;
    }
    Cow::Owned(marked + &json[copied..])
}

/// JSON text in which an escape stands for each mark, as [`mark_escapes`] reads it.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    if !has_half(json) {
        return Cow::Borrowed(json);
    }
    let escape = |c| if is_half(c) { format!("\\u{:04x}", u32::from(c) - PLANE) } else { c.to_string() };
    Cow::Owned(json.chars().map(escape).collect())
}

/// Bytes as text, with a mark for each lone surrogate that was written raw, as encoders that check nothing do.
///
/// # Errors
///
/// Says where the bytes are not UTF-8 for another reason.
pub(crate) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, String> {
    let (mut rest, mut decoded) = (bytes, String::new());
    loop {
        let error = match str::from_utf8(rest) {
            Ok(text) if decoded.is_empty() => return Ok(Cow::Borrowed(text)),
            Ok(text) => return Ok(Cow::Owned(decoded + text)),
            Err(error) => error,
        };
        let (valid, behind) = rest.split_at(error.valid_up_to());
        decoded += str::from_utf8(valid).unwrap_or_default();
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

/// Text in which U+FFFD stands for each half, as the other profiles read it, and for people.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    if has_half(text) { Cow::Owned(text.replace(is_half, "\u{fffd}")) } else { Cow::Borrowed(text) }
}

/// Whether a text arrived: all that is not half a character unchanged, and up to eight characters for each half.
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
            mark_escapes(r#""a\ud83d \ud83d\ude00 \\ud83d \ufffd""#),
            "\"a\u{10d83d} \\ud83d\\ude00 \\\\ud83d \\ufffd\""
        );
        assert_eq!(decode(b"\"a\xed\xa0\xbd\"").as_deref(), Ok("\"a\u{10d83d}\""));
        assert_eq!(decode("\u{fffd}é".as_bytes()).as_deref(), Ok("\u{fffd}é"));
        assert!(decode(b"\xff").is_err() && decode(b"a\xed\xa0").is_err());
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
