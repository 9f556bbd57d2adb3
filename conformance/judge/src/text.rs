//! Text that came from files or testees: what it is, and how it is shown so that every character is visible.

use crate::error::Error;
use memchr::memchr_iter;
use strsim::normalized_damerau_levenshtein;
use threadspec::surrogates::is_mark;

/// A number and its noun.
pub fn count(number: usize, noun: &str) -> String {
    match noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u'])) {
        _ if number == 1 => format!("{number} {noun}"),
        Some(stem) => format!("{number} {stem}ies"),
        None => format!("{number} {noun}s"),
    }
}

/// The name that is most like an unknown one; `None` if no name is like it.
pub fn closest<N: AsRef<str>>(unknown: &str, names: impl IntoIterator<Item = N>) -> Option<N> {
    const ALIKE: f64 = 0.5;
    // Comparing long ones takes long, and no name is as long.
    const LONGEST: usize = 1000;
    if unknown.len() > LONGEST {
        return None;
    }
    let unknown = unknown.to_lowercase();
    let likeness = |name: &str| normalized_damerau_levenshtein(&unknown, &name.to_lowercase());
    let alike = names.into_iter().map(|name| (likeness(name.as_ref()), name));
    let closest = alike.max_by(|(one, _), (other, _)| one.total_cmp(other))?;
    (closest.0 > ALIKE).then_some(closest.1)
}

/// Text on one line in which every character can be seen: control characters as their pictures, line ends as `⏎`, and
/// whatever else has no shape of its own (bidirectional marks, zero-width and combining characters, odd spaces) as its
/// code point. Half of a character, which marked data has as its mark, is shown as its code unit.
///
/// ```
/// use threadspec_judge::text::visible;
/// assert_eq!(visible("a\u{1b}[1m\r\n\u{202e}b\u{a0}e\u{301}"), "a␛[1m␍⏎⟨U+202E⟩b⟨U+00A0⟩e⟨U+0301⟩");
/// assert_eq!(visible("a\u{10d83d}"), "a⟨U+D83D⟩");
/// ```
pub fn visible(text: &str) -> String {
    text.chars().map(visible_char).collect()
}

/// At most so many characters of a text, and the rest of it.
pub fn cut(text: &str, longest: usize) -> (&str, &str) {
    let at = text.char_indices().nth(longest).map_or(text.len(), |(at, _)| at);
    text.split_at(at)
}

/// At most so many characters of a text, and a sign if there are more.
pub fn beginning(text: &str, longest: usize) -> String {
    let (head, rest) = cut(text, longest);
    format!("{head}{}", if rest.is_empty() { "" } else { "…" })
}

/// How many bytes two texts begin with that are the same, whole characters only.
pub fn common_beginning(one: &str, other: &str) -> usize {
    let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    (0..=same).rev().find(|&at| one.is_char_boundary(at)).unwrap_or_default()
}

fn visible_char(c: char) -> String {
    match c {
        '\n' => "⏎".to_owned(),
        '\0'..='\u{1f}' => char::from_u32(0x2400 + u32::from(c)).unwrap_or(c).to_string(),
        '\u{7f}' => "␡".to_owned(),
        // In marked data this is half of a character, which is shown as the input has it.
        _ if is_mark(c) => format!("⟨U+{:04X}⟩", u32::from(c) & 0xffff),
        // `Debug` writes as an escape what has no shape of its own.
        _ if c.escape_debug().to_string().starts_with("\\u") => format!("⟨U+{:04X}⟩", u32::from(c)),
        _ => c.to_string(),
    }
}

/// The content of a file as text.
///
/// # Errors
///
/// Says where it is not UTF-8, or what it is instead.
pub fn utf8(bytes: Vec<u8>) -> Result<String, Error> {
    if let Some(encoding) = foreign_encoding(&bytes) {
        return Err(Error::new(format_args!("it is {encoding}; convert it to UTF-8 first")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = memchr_iter(b'\n', &error.as_bytes()[..at]).count() + 1;
        Error::new(format_args!("not UTF-8 at byte {at} of the file")).at_line(line)
    })
}

/// Why a file is not UTF-8, if its first bytes tell: everything that is read begins with an ASCII character.
pub fn foreign_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [_, 0, 0, 0, ..] | [0, 0, 0, _, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [1..=0xff, 0, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] | [0, 1..=0xff, ..] => Some("UTF-16 (big-endian)"),
        [0x1f, 0x8b, ..] => Some("compressed by gzip"),
        _ => None,
    }
}

/// Returns the bytes that are written as base64, in either alphabet; `None` if it has another character. White space is passed over.
pub fn of_base64(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut count) = (Vec::with_capacity(text.len() / 4 * 3), 0_u32, 0);
    for byte in text.bytes().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 0xff).ok()?);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_its_noun() {
        let nouns = ["case", "history", "day"];
        assert_eq!(nouns.map(|noun| count(1, noun)), ["1 case", "1 history", "1 day"]);
        assert_eq!(nouns.map(|noun| count(3, noun)), ["3 cases", "3 histories", "3 days"]);
    }

    #[test]
    fn other_encodings_are_told_by_how_they_begin() {
        let utf16 = |text: &str, unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<u8>>();
        for text in ["[]", "\u{feff}[]", "<thread/>", "\u{feff}<thread/>", " {}"] {
            let (little, big) = (utf16(text, u16::to_le_bytes), utf16(text, u16::to_be_bytes));
            assert_eq!(foreign_encoding(&little), Some("UTF-16 (little-endian)"), "{text}");
            assert_eq!(foreign_encoding(&big), Some("UTF-16 (big-endian)"), "{text}");
            let utf32: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_le_bytes()).collect();
            assert_eq!(foreign_encoding(&utf32), Some("UTF-32"), "{text}");
            assert_eq!(foreign_encoding(text.as_bytes()), None, "{text}");
        }
        assert_eq!(foreign_encoding(b""), None);
        assert_eq!(foreign_encoding(b"7"), None);
    }

    /// The examples of RFC 4648, section 10, and the other alphabet.
    #[test]
    fn base64_is_read_as_the_standard_says() {
        for (text, expected) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9v\nYg==", "foob"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(of_base64(text).as_deref(), Some(expected.as_bytes()), "{text}");
        }
        assert_eq!(of_base64("_-8="), of_base64("/+8="));
        assert_eq!(of_base64("{}"), None);
    }
}
