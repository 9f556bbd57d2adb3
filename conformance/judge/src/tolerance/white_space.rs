//! White space that is written as a character reference (ESC-CR, ATT-WHITESPACE).

use std::borrow::Cow;

/// How a reference begins.
const REFERENCE: &str = "&#";
/// White space that may be written as a reference.
const IN_TEXT: &[char] = &['\r'];
const IN_ATTRIBUTES: &[char] = &['\t', '\n', '\r'];

/// An escaped text with its references as the characters themselves.
pub(super) fn raw_text(text: &str) -> Cow<'_, str> {
    raw(text, IN_TEXT)
}

/// A document with its references as the characters themselves; what follows the document is left alone.
pub(super) fn raw_document(document: &str) -> Cow<'_, str> {
    if !document.contains(REFERENCE) {
        return Cow::Borrowed(document);
    }
    let end = document.find("</thread>").unwrap_or(document.len());
    let (mut rest, behind) = document.split_at(end);
    let mut out = String::with_capacity(document.len());
    // Neither a text nor a value holds a raw `<`, and a tag ends at the first `>`.
    while let Some(at) = rest.find('<') {
        let (text, tag) = rest.split_at(at);
        let length = tag.find('>').map_or(tag.len(), |end| end + 1);
        out += &raw_text(text);
        out += &raw(&tag[..length], IN_ATTRIBUTES);
        rest = &tag[length..];
    }
    Cow::Owned(out + &raw_text(rest) + behind)
}

fn raw<'a>(escaped: &'a str, white_space: &[char]) -> Cow<'a, str> {
    if !escaped.contains(REFERENCE) {
        return Cow::Borrowed(escaped);
    }
    let mut parts = escaped.split(REFERENCE);
    let mut raw = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(';').and_then(|(number, rest)| Some((character(number)?, rest))) {
            Some((character, rest)) if white_space.contains(&character) => {
                raw.push(character);
                raw += rest;
            }
            _ => {
                raw += REFERENCE;
                raw += part;
            }
        }
    }
    Cow::Owned(raw)
}

/// The character that a reference represents; `None` if XML has no such reference.
fn character(number: &str) -> Option<char> {
    let (digits, radix) = number.strip_prefix('x').map_or((number, 10), |digits| (digits, 16));
    let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix));
    u32::from_str_radix(digits, radix).ok().filter(|_| is_number).and_then(char::from_u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_counts_where_it_is_permitted() {
        assert_eq!(raw_text("a&#13;b&#013;c&#xD;d&#x0d;e\rf"), "a\rb\rc\rd\re\rf");
        for other in ["&#9;", "&#XD;", "&#+13;", "&#x;", "&#;", "&amp;#13;", "&#13", "&#xfffffffffff;"] {
            assert_eq!(raw_text(other), other);
        }
    }

    #[test]
    fn a_document_is_told_from_its_attributes_and_from_what_follows() {
        let document = "<thread>\n  <event name=\"a&#9;&#x0A;&#013;\">&#13;&#10;</event>\n</thread>\n&#13;";
        let raw = "<thread>\n  <event name=\"a\t\n\r\">\r&#10;</event>\n</thread>\n&#13;";
        assert_eq!(raw_document(document), raw);
        assert_eq!(raw_document("&#13;"), "\r");
    }
}
