//! Writes server-sent events, and reads them from bytes that come in any pieces.

use memchr::memchr2;
use std::mem;

// Reads events from bytes that come in any pieces.

/// How many bytes an event may have, unless the reader says otherwise.
const LONGEST: usize = 64 << 20;

/// An event that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SseEvent {
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Its data; the lines are joined by line feeds.
    pub data: String,
}

/// A reader of a stream of events. However the bytes are cut, the events are the same.
///
/// It reads as the standard says (WHATWG HTML, 9.2.6): lines end with LF, CR or both, an empty line ends an event, and an event without data
/// is none. Bytes that are not UTF-8 become U+FFFD.
#[derive(Clone, Debug)]
pub struct SseParser {
    /// The line so far.
    line: Vec<u8>,
    /// True if the last byte was CR: LF after it belongs to the same end of a line.
    after_cr: bool,
    /// True if a line has been read.
    has_begun: bool,
    name: Option<String>,
    data: Option<String>,
    /// The bytes of the event so far.
    length: usize,
    longest: usize,
    is_too_long: bool,
}

impl Default for SseParser {
    fn default() -> Self {
        Self::with_limit(LONGEST)
    }
}

impl SseParser {
    /// A reader that gives up at an event of more than `longest` bytes.
    pub fn with_limit(longest: usize) -> Self {
        Self {
            line: Vec::new(),
            after_cr: false,
            has_begun: false,
            name: None,
            data: None,
            length: 0,
            longest,
            is_too_long: false,
        }
    }

    /// The events that end in these bytes, which follow those of the last call.
    pub fn push(&mut self, bytes: &[u8]) -> Vec<SseEvent> {
        let (mut events, mut rest) = (Vec::new(), bytes);
        while !rest.is_empty() && !self.is_too_long {
            if mem::take(&mut self.after_cr) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let end = memchr2(b'\n', b'\r', rest);
            let (part, behind) = rest.split_at(end.unwrap_or(rest.len()));
            self.length += part.len();
            if self.length > self.longest {
                self.is_too_long = true;
                self.line = Vec::new();
                break;
            }
            self.line.extend_from_slice(part);
            rest = behind;
            if end.is_some() {
                self.after_cr = rest[0] == b'\r';
                rest = &rest[1..];
                events.extend(self.end_line());
            }
        }
        events
    }

    /// Returns whether nothing of an event has come that has not ended.
    pub fn is_between_events(&self) -> bool {
        self.line.is_empty() && self.data.is_none() && self.name.is_none()
    }

    /// Returns whether an event was longer than the limit; nothing is read behind it.
    pub fn is_too_long(&self) -> bool {
        self.is_too_long
    }

    fn end_line(&mut self) -> Option<SseEvent> {
        let line = mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let is_first = !mem::replace(&mut self.has_begun, true);
        let line = if is_first { line.trim_start_matches('\u{feff}') } else { &line };
        if line.is_empty() {
            self.length = 0;
            let name = self.name.take().filter(|name| !name.is_empty());
            return self.data.take().map(|data| SseEvent { name, data });
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => self.name = Some(value.to_owned()),
            "data" => match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            },
            // A comment, an id, a time before the next attempt.
            _ => {}
        }
        None
    }
}

// Writes events and comments.

/// An event: its name, if it has one, and its data, each line of which becomes a line. `crlf` ends lines with CR LF instead of LF.
pub fn event(name: Option<&str>, data: &str, crlf: bool) -> Vec<u8> {
    let end = end_of_line(crlf);
    let mut bytes = Vec::with_capacity(data.len() + 64);
    if let Some(name) = name {
        line(&mut bytes, "event: ", name, end);
    }
    // What ends a line inside the data must not end the field.
    for part in data.split('\n') {
        line(&mut bytes, "data: ", part.strip_suffix('\r').unwrap_or(part), end);
    }
    bytes.extend(end.as_bytes());
    bytes
}

/// A comment, which no reader shows.
pub fn comment(text: &str, crlf: bool) -> Vec<u8> {
    let end = end_of_line(crlf);
    let mut bytes = Vec::new();
    text.lines().for_each(|text| line(&mut bytes, ": ", text, end));
    bytes.extend(end.as_bytes());
    bytes
}

fn line(bytes: &mut Vec<u8>, field: &str, value: &str, end: &str) {
    bytes.extend(field.as_bytes());
    bytes.extend(value.as_bytes());
    bytes.extend(end.as_bytes());
}

fn end_of_line(crlf: bool) -> &'static str {
    if crlf { "\r\n" } else { "\n" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use super::{comment, event};
    use proptest::prelude::*;

    fn read(pieces: &[&[u8]]) -> Vec<SseEvent> {
        let mut parser = SseParser::default();
        pieces.iter().flat_map(|piece| parser.push(piece)).collect()
    }

    fn named(name: &str, data: &str) -> SseEvent {
        SseEvent { name: (!name.is_empty()).then(|| name.to_owned()), data: data.to_owned() }
    }

    #[test]
    fn lines_and_fields_are_those_of_the_standard() {
        for (text, expected) in [
            ("data: a\n\n", vec![named("", "a")]),
            ("data:a\r\rdata:  b\r\n\r\n", vec![named("", "a"), named("", " b")]),
            ("\u{feff}data: a\n\n", vec![named("", "a")]),
            ("data\ndata\n\n", vec![named("", "\n")]),
            ("data: a\ndata: b\n\n", vec![named("", "a\nb")]),
            (": comment\nevent: e\nid: 7\nretry: 9\nodd: x\ndata: a: b\n\n", vec![named("e", "a: b")]),
            // Without data it is none, and its name is forgotten.
            ("event: e\n\ndata: a\n\n", vec![named("", "a")]),
            ("data: a", vec![]),
            ("data: a\n", vec![]),
        ] {
            assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
        }
        assert_eq!(read(&[b"data: \xff\n\n"]), [named("", "\u{fffd}")]);
    }

    #[test]
    fn what_has_no_end_is_seen() {
        let mut parser = SseParser::default();
        for (bytes, between) in [(&b"data: a"[..], false), (b"\n", false), (b"\n", true), (b"event: e\n", false)] {
            parser.push(bytes);
            assert_eq!(parser.is_between_events(), between, "{bytes:?}");
        }
        let mut parser = SseParser::with_limit(10);
        assert_eq!(parser.push(b"data: 1234\n\ndata: 12345\n\ndata: 1\n\n"), [named("", "1234")]);
        assert!(parser.is_too_long());
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            text in r"(data|event|id|:|x)?:? ?[a-zé\r\n{}:]{0,12}(\r\n|\n|\r){0,3}(data: [a\r\n]{0,5}(\r\n\r\n|\n\n|\r\r)){0,3}",
            cuts in proptest::collection::vec(0_usize..64, 0..8),
        ) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.sort_unstable();
            let (mut pieces, mut begun) = (Vec::new(), 0);
            for cut in cuts {
                pieces.push(&bytes[begun..cut]);
                begun = cut;
            }
            pieces.push(&bytes[begun..]);
            prop_assert_eq!(read(&pieces), read(&[bytes]));
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            prop_assert_eq!(read(&single), read(&[bytes]));
        }

        #[test]
        fn what_is_written_is_read_again(name in "[a-z._]{0,9}", data in "[^\r]{0,40}", crlf: bool) {
            let mut bytes = comment("keep-alive", crlf);
            bytes.extend(event(Some(&*name).filter(|name| !name.is_empty()), &data, crlf));
            prop_assert_eq!(read(&[&bytes]), [named(&name, &data)]);
        }
    }
}
