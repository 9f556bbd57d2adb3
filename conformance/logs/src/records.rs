//! The records of a file: JSON values, one a line, one behind the other, or the elements of one large value; and recorded streams.
//!
//! The file is never held as a whole. A value is read into memory up to a size; of a larger one the elements of the lists that
//! [`ENVELOPES`](super::forms::ENVELOPES) names are records, and the rest is passed over. What is broken is told with its place, and reading goes on behind it.

use super::scan::Buffer;
use super::scan::Large;
use super::scan::{Scan, ScanStep};
use memchr::{memchr, memchr_iter};
use std::io::{self, Read};
use std::ops::Range;

/// So many bytes that were passed are dropped at once.
const STEP: usize = 1 << 16;
/// So many bytes, or a whole line, tell what a file is.
const HEAD: usize = 64;
/// A larger value is read element by element, if it has any.
pub(super) const WINDOW: usize = 32 << 20;
/// A record that is larger than this is not read.
const LONGEST: usize = 256 << 20;

/// The next part of a file.
#[derive(Debug)]
pub(super) enum RecordItem<'a> {
    /// A JSON value as it is written, as far as brackets and quotes tell.
    Record { bytes: &'a [u8], line: usize },
    /// A recorded stream of events.
    Stream { bytes: &'a [u8], line: usize },
    /// Something that is no JSON.
    Broken { bytes: &'a [u8], line: usize },
    /// A record that is too long.
    TooLong { line: usize },
    /// The file ends in the middle of a value that begins in this line.
    CutOff { line: usize, end: usize },
}

/// Cuts a file into records.
pub(super) struct Records<'a> {
    input: Box<dyn Read + 'a>,
    buffer: Buffer,
    /// Where the next item begins in the buffer, and in which line.
    start: usize,
    line: usize,
    /// Where the line ends in the buffer that was looked at last.
    line_end: usize,
    has_ended: bool,
    /// Why the input could not be read on, to be reported behind all that came.
    failed: Option<io::Error>,
    /// Every line is judged alone, since a value broke off.
    by_line: bool,
    /// The value that is being read element by element.
    large: Option<Large>,
}

impl<'a> Records<'a> {
    pub(super) fn new(input: Box<dyn Read + 'a>) -> Self {
        let (buffer, failed) = (Buffer::default(), None);
        Self { input, buffer, start: 0, line: 1, line_end: 0, has_ended: false, failed, by_line: false, large: None }
    }

    /// The line that is being read, and why reading has failed there, if it has.
    pub(super) fn end(&mut self) -> (usize, Option<io::Error>) {
        (self.line, self.failed.take())
    }

    /// The first bytes, to know what the file is.
    pub(super) fn head(&mut self) -> &[u8] {
        while self.buffer.trim_ascii_start().len() < HEAD && !self.buffer.contains(&b'\n') && self.fill() {
            // Space before the first line is no part of it, however much there is.
            if self.buffer.iter().all(|byte| byte.is_ascii_whitespace() && *byte != b'\n') {
                self.buffer.clear();
            }
        }
        &self.buffer
    }

    /// As many bytes from the beginning, and whether the file has no more.
    pub(super) fn beginning(&mut self, length: usize) -> (&[u8], bool) {
        while self.buffer.len() < length && self.fill() {}
        (&self.buffer, self.has_ended)
    }

    /// Reads everything, up to the longest record; for what is no sequence of records.
    pub(super) fn all(&mut self) -> &[u8] {
        while self.buffer.len() <= LONGEST && self.fill() {}
        &self.buffer
    }

    /// Reads on; whether there was anything.
    fn fill(&mut self) -> bool {
        if self.has_ended {
            return false;
        }
        if self.start > STEP {
            self.buffer.drop_first(self.start);
            self.start = 0;
        }
        let read = self.buffer.read(&mut self.input).unwrap_or_else(|error| {
            self.failed = Some(error);
            0
        });
        self.has_ended |= read == 0;
        read > 0
    }

    /// The byte so far behind the start, if the file has one.
    fn byte(&mut self, at: usize) -> Option<u8> {
        while self.start + at >= self.buffer.len() {
            if !self.fill() {
                return None;
            }
        }
        Some(self.buffer[self.start + at])
    }

    /// Passes over so many bytes.
    fn pass(&mut self, length: usize) -> Range<usize> {
        let range = self.start..self.start + length;
        self.line += memchr_iter(b'\n', &self.buffer[range.clone()]).count();
        self.start = range.end;
        range
    }

    /// The length of the line, with its end; `None` if it is longer than this.
    fn line_length(&mut self, longest: usize) -> Option<usize> {
        let mut known = 0;
        loop {
            if let Some(end) = memchr(b'\n', &self.buffer[self.start + known..]) {
                return Some(known + end + 1);
            }
            known = self.buffer.len() - self.start;
            if known > longest {
                return None;
            }
            if !self.fill() {
                return Some(known);
            }
        }
    }

    /// The first byte of what comes next, without what separates records.
    fn begin(&mut self) -> Option<u8> {
        loop {
            let byte = self.byte(0)?;
            if !byte.is_ascii_whitespace() && byte != b',' && byte != 0x1e {
                return Some(byte);
            }
            self.pass(1);
        }
    }

    /// The line that comes next and its number, if it begins with an object and is not too long; it remains what comes next.
    pub(super) fn line(&mut self) -> Option<(&[u8], usize)> {
        if self.large.is_some() || self.begin()? != b'{' {
            return None;
        }
        // Reading on may move what is in the buffer.
        let length = self.line_length(WINDOW)?;
        self.line_end = self.start + length;
        Some((self.buffer[self.start..self.line_end].trim_ascii(), self.line))
    }

    /// Passes over the line that was looked at.
    pub(super) fn pass_line(&mut self) {
        self.start = self.line_end;
        self.line += 1;
    }

    /// The next item; `None` at the end.
    pub(super) fn next(&mut self) -> Option<RecordItem<'_>> {
        if self.large.is_some() {
            if let Some(found) = self.next_element() {
                return Some(self.item(found));
            }
            self.large = None;
        }
        loop {
            let byte = self.begin()?;
            if self.line == 1
                && byte == 0xef
                && self.byte(2).is_some()
                && self.buffer[self.start..].starts_with(b"\xef\xbb\xbf")
            {
                self.pass(3);
                continue;
            }
            let line = self.line;
            let found = match byte {
                b'{' | b'[' => self.value(),
                _ if self.is_stream_line() => FoundPart::Stream(self.stream()),
                _ => match self.line_length(LONGEST) {
                    Some(length) => self.broken(length),
                    None => self.pass_too_long(),
                },
            };
            if let FoundPart::Entered = found {
                return self.next();
            }
            return Some(self.item((found, line)));
        }
    }

    fn item(&self, (found, line): (FoundPart, usize)) -> RecordItem<'_> {
        match found {
            FoundPart::Record(range) => RecordItem::Record { bytes: self.buffer[range].trim_ascii(), line },
            FoundPart::Stream(range) => RecordItem::Stream { bytes: &self.buffer[range], line },
            FoundPart::Broken(range) => RecordItem::Broken { bytes: self.buffer[range].trim_ascii(), line },
            FoundPart::TooLong => RecordItem::TooLong { line },
            FoundPart::CutOff | FoundPart::Entered => RecordItem::CutOff { line, end: self.line },
        }
    }

    /// The value that begins here.
    fn value(&mut self) -> FoundPart {
        // Most logs have one value a line.
        let is_line = self.line_length(WINDOW);
        let length = is_line.unwrap_or(self.buffer.len() - self.start);
        let mut scan = Scan::default();
        match scan.run(&self.buffer[self.start..self.start + length]) {
            ScanStep::End(end) => return FoundPart::Record(self.pass(end)),
            ScanStep::Broken => return self.broken(length),
            ScanStep::More if self.by_line && is_line.is_some() => return self.broken(length),
            ScanStep::More => {}
        }
        loop {
            let known = scan.at;
            if known > WINDOW && !scan.was_entered {
                scan.was_entered = true;
                if let Some(found) = self.enter() {
                    return found;
                }
            }
            if known > LONGEST {
                return self.pass_too_long();
            }
            let end = self.buffer.len() - self.start;
            if end == known && !self.fill() {
                return self.cut_off(length);
            }
            match scan.run(&self.buffer[self.start..]) {
                ScanStep::End(end) => return FoundPart::Record(self.pass(end)),
                ScanStep::Broken => return self.broken(length),
                ScanStep::More => {}
            }
        }
    }

    /// A line that is no JSON: the others are judged alone.
    fn broken(&mut self, length: usize) -> FoundPart {
        FoundPart::Broken(self.pass(length))
    }

    /// The file ends inside a value. Its elements are read; without any, every line behind the first is judged alone.
    fn cut_off(&mut self, length: usize) -> FoundPart {
        if let Some(found) = self.enter() {
            return found;
        }
        let is_one_line = self.start + length >= self.buffer.len();
        if is_one_line || !self.has_whole_line(length) {
            let rest = self.buffer.len() - self.start;
            self.pass(rest);
            return FoundPart::CutOff;
        }
        self.by_line = true;
        self.broken(length)
    }

    /// Returns whether a line behind this place is a whole object.
    fn has_whole_line(&self, behind: usize) -> bool {
        let lines = self.buffer[self.start + behind..].split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
        lines
            .filter(|line| line.starts_with(b"{"))
            .any(|line| matches!(Scan::default().run(line), ScanStep::End(end) if end == line.len()))
    }

    /// Passes over a record that is too long.
    fn pass_too_long(&mut self) -> FoundPart {
        let mut scan = Scan::default();
        let is_value = matches!(self.byte(0), Some(b'{' | b'['));
        loop {
            let bytes = &self.buffer[self.start..];
            if is_value {
                scan.at = 0;
                if let ScanStep::End(end) = scan.run(bytes) {
                    self.pass(end);
                    return FoundPart::TooLong;
                }
            } else if let Some(end) = memchr(b'\n', bytes) {
                self.pass(end + 1);
                return FoundPart::TooLong;
            }
            let length = bytes.len();
            self.pass(length);
            if !self.fill() {
                return FoundPart::TooLong;
            }
        }
    }

    /// Begins to read a value element by element, if it has an element within what is known of it.
    fn enter(&mut self) -> Option<FoundPart> {
        let (line, start) = (self.line, self.start);
        self.large = Some(Large { path: String::new(), stack: Vec::new(), line });
        // Only what is in memory is looked at.
        let has_ended = std::mem::replace(&mut self.has_ended, true);
        let found = self.next_element();
        self.has_ended = has_ended;
        if matches!(found, Some((FoundPart::Record(_), _))) {
            (self.line, self.start) = (line, start);
            self.large = Some(Large { path: String::new(), stack: Vec::new(), line });
            return Some(FoundPart::Entered);
        }
        (self.line, self.start, self.large) = (line, start, None);
        None
    }

    /// The next element of the value that is read element by element, and its line.
    fn next_element(&mut self) -> Option<(FoundPart, usize)> {
        let mut large = self.large.take()?;
        let found = self.step(&mut large);
        self.large = Some(large);
        found
    }

    fn step(&mut self, large: &mut Large) -> Option<(FoundPart, usize)> {
        let line = large.line;
        let found = self.element(large);
        if matches!(found, Some((FoundPart::CutOff, _))) {
            // Nothing comes behind it.
            large.stack.clear();
            return Some((FoundPart::CutOff, line));
        }
        found
    }

    fn element(&mut self, large: &mut Large) -> Option<(FoundPart, usize)> {
        let cut_off = |line| Some((FoundPart::CutOff, line));
        loop {
            while self.byte(0).is_some_and(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b':')) {
                self.pass(1);
            }
            let Some(byte) = self.byte(0) else {
                return if large.stack.is_empty() { None } else { cut_off(large.line) };
            };
            let line = self.line;
            match byte {
                b'}' | b']' => {
                    self.pass(1);
                    let length = large.stack.pop()?;
                    large.path.truncate(length);
                    if large.stack.is_empty() {
                        return None;
                    }
                    large.leave_member();
                    continue;
                }
                b'"' if large.wants_name() => {
                    let Some(range) = self.scalar() else { return cut_off(large.line) };
                    let name = String::from_utf8_lossy(&self.buffer[range]).trim_matches('"').to_owned();
                    large.enter_member(&name);
                    continue;
                }
                _ => {}
            }
            let is_container = matches!(byte, b'{' | b'[');
            if is_container && large.leads_on(byte) {
                self.pass(1);
                large.stack.push(large.path.len());
                if byte == b'[' {
                    large.path.push_str("[]");
                }
                continue;
            }
            let is_element = large.is_element();
            let range = if is_container { self.whole(is_element) } else { self.scalar() };
            large.leave_member();
            match range {
                Some(range) if is_container && is_element => return Some((FoundPart::Record(range), line)),
                Some(_) => {}
                None if self.byte(0).is_none() => return cut_off(large.line),
                None => return Some((FoundPart::TooLong, line)),
            }
        }
    }

    /// Passes over a string, a number or a word.
    fn scalar(&mut self) -> Option<Range<usize>> {
        let mut length = 0;
        let is_string = self.byte(0) == Some(b'"');
        if is_string {
            length = 1;
            loop {
                match self.byte(length).filter(|_| length <= LONGEST) {
                    Some(b'\\') => length += 2,
                    Some(b'"') => return Some(self.pass(length + 1)),
                    Some(_) => length += 1,
                    None => {
                        self.pass(length.min(self.buffer.len() - self.start));
                        return None;
                    }
                }
            }
        }
        while self.byte(length).is_some_and(|byte| !matches!(byte, b',' | b'}' | b']') && !byte.is_ascii_whitespace()) {
            length += 1;
        }
        (length > 0).then(|| self.pass(length))
    }

    /// Passes over a list or an object; one that nobody wants is not kept in memory.
    fn whole(&mut self, is_wanted: bool) -> Option<Range<usize>> {
        let mut scan = Scan::default();
        loop {
            if let ScanStep::End(end) = scan.run(&self.buffer[self.start..]) {
                return Some(self.pass(end));
            }
            if !is_wanted {
                let length = self.buffer.len() - self.start;
                self.pass(length);
                scan.at = 0;
            } else if scan.at > LONGEST {
                self.pass_too_long();
                return None;
            }
            if !self.fill() {
                let length = self.buffer.len() - self.start;
                self.pass(length);
                return None;
            }
        }
    }

    /// Returns whether a recorded stream of events begins here.
    fn is_stream_line(&mut self) -> bool {
        self.byte(8);
        let bytes = &self.buffer[self.start..];
        [&b"data:"[..], b"event:", b"id:", b"retry:", b": "].iter().any(|field| bytes.starts_with(field))
    }

    /// The lines of a stream.
    fn stream(&mut self) -> Range<usize> {
        let mut length = 0;
        while length < LONGEST {
            let rest = self.start + length;
            let line = match memchr(b'\n', self.buffer.get(rest..).unwrap_or_default()) {
                Some(end) => &self.buffer[rest..=rest + end],
                None if self.fill() => continue,
                None => self.buffer.get(rest..).unwrap_or_default(),
            };
            let is_of_stream = line.trim_ascii().is_empty()
                || [&b"data"[..], b"event", b"id", b"retry", b":"].iter().any(|field| line.starts_with(field));
            if line.is_empty() || !is_of_stream {
                break;
            }
            length += line.len();
        }
        self.pass(length)
    }
}

/// The part that was found in the buffer.
enum FoundPart {
    Record(Range<usize>),
    Stream(Range<usize>),
    Broken(Range<usize>),
    TooLong,
    CutOff,
    /// The value is being read element by element.
    Entered,
}

#[cfg(test)]
mod tests {
    use super::super::scan::PIECE;
    use super::*;

    #[test]
    fn space_before_the_first_record_is_not_kept() {
        let (space, rest) = (io::repeat(b' ').take(20 << 20), &b"{\"a\": 1}\n"[..]);
        let mut records = Records::new(Box::new(space.chain(rest)));
        assert!(records.head().ends_with(rest));
        assert!(records.buffer.capacity() < 8 * PIECE, "{}", records.buffer.capacity());
        assert!(records.next().is_some());
    }
}
