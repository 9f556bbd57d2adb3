//! Repairs lone surrogates in JSON text.

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
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(offset) = json[at..].find('\\') {
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
}
