//! Reads documents of the usual form in one pass: the quick way for what a serializer writes.
//!
//! It accepts only what the strict reader accepts, and reads the same document. Everything else (faults, other elements,
//! comments, unusual spellings) is left to the strict reader, which can say what is wrong.

use super::read::{is_space, normalize, resolve};
use super::{Document, Element};
use memchr::{memchr, memchr2, memmem};

/// The document, if it has the usual form; `None` leaves it to the strict reader. `source` holds no character that XML forbids.
pub(super) fn read(source: &str) -> Option<Document> {
    let mut elements = Vec::new();
    let mut rest = source.strip_prefix("<thread>")?.trim_start_matches(is_space);
    while let Some(tag) = rest.strip_prefix("<event") {
        let (attributes, behind) = attributes(tag)?;
        let (text, end) = behind.split_at(memchr(b'<', behind.as_bytes())?);
        elements.push(Element { attributes, text: content(text)? });
        rest = end.strip_prefix("</event>")?.trim_start_matches(is_space);
    }
    let behind = rest.strip_prefix("</thread>")?;
    behind.trim_start_matches(is_space).is_empty().then_some(Document { elements })
}

/// The attributes of a start tag, and what stands behind it.
fn attributes(mut rest: &str) -> Option<(Vec<(String, String)>, &str)> {
    /// Elements with more attributes are left to the strict reader, which finds duplicates faster.
    const MOST: usize = 8;
    let mut attributes: Vec<(String, String)> = Vec::with_capacity(5);
    loop {
        if let Some(behind) = rest.strip_prefix('>') {
            return Some((attributes, behind));
        }
        let (name, value) = rest.strip_prefix(' ')?.split_once("=\"")?;
        let is_usual = !name.is_empty() && name != "xmlns" && name.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_usual || attributes.len() == MOST || attributes.iter().any(|(other, _)| other == name) {
            return None;
        }
        let (value, behind) = value.split_at(memchr(b'"', value.as_bytes())?);
        attributes.push((name.to_owned(), normalize(value).ok()?));
        rest = &behind[1..];
    }
}

/// Character data with its references resolved and its line ends normalized.
fn content(raw: &str) -> Option<String> {
    let mut text = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr2(b'&', b'\r', rest.as_bytes()) {
        text.push_str(&rest[..at]);
        let behind = &rest[at + 1..];
        rest = if rest.as_bytes()[at] == b'&' {
            // The longest usual reference is that of a character in hexadecimal digits.
            let (reference, behind) = behind.split_at(behind.bytes().take(12).position(|byte| byte == b';')?);
            text.push(resolve(reference).ok()?);
            &behind[1..]
        } else {
            text.push('\n');
            behind.strip_prefix('\n').unwrap_or(behind)
        };
    }
    text.push_str(rest);
    (memchr(b']', raw.as_bytes()).is_none() || memmem::find(raw.as_bytes(), b"]]>").is_none()).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::xml::read::{first_forbidden, read_strictly};

    fn as_the_strict_reader(source: &str) {
        if first_forbidden(source).is_none()
            && let Some(document) = read(source)
        {
            assert_eq!(read_strictly(source), Ok(document), "{source}");
        }
    }

    #[test]
    fn the_usual_form_is_taken() {
        for source in [
            "<thread>\n</thread>",
            "<thread></thread>\n",
            "<thread>\n  <event type=\"human\" id=\"0\" iteration=\"1\">a\r\n\rb &lt;&amp;&#13;&#x1F600; ]]</event>\n</thread>",
            "<thread><event></event><event a=\"&quot;\t\">\u{fffd}</event></thread>",
        ] {
            assert_eq!(read(source), read_strictly(source).ok(), "{source}");
            assert!(read(source).is_some(), "{source}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) })]

        #[test]
        fn what_is_taken_is_the_same_document(
            pieces in prop::collection::vec(
                prop_oneof![
                    3 => Just("<event"),
                    3 => Just("</event>"),
                    3 => Just(">"),
                    2 => prop::sample::select(vec![" a=\"b\"", " b=\"&lt;\"", " c='d'", " a=\"\r\n\t>\"", " xmlns=\"a\"", " a:b=\"\"", " 1=\"\"", " a=\"<\""]),
                    2 => prop::sample::select(vec!["a", " ", "\n", "\r", "\r\n", "&amp;", "&#13;", "&#0;", "&", "&nbsp;", "&#x1F600;", "]]>", "]", "é"]),
                    1 => prop::sample::select(vec!["<!-- a -->", "<?a?>", "<![CDATA[a]]>", "/>", "<b/>", "<thread>", "</thread>", "</event >", "<event>", "\u{0}", "\u{ffff}"]),
                ],
                0..9,
            ),
        ) {
            let inner = pieces.concat();
            as_the_strict_reader(&format!("<thread>{inner}</thread>"));
            as_the_strict_reader(&format!("<thread><event>{inner}</event></thread>"));
            as_the_strict_reader(&format!("<thread>{inner}</event></thread>"));
            as_the_strict_reader(&inner);
        }
    }
}
