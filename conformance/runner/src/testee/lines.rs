//! The lines in what a testee prints.

use memchr::memchr;

/// A line may be so long.
pub(super) const LONGEST_LINE: usize = 64 << 20;
/// How many bytes are read at once.
const CHUNK: usize = 64 << 10;

/// A line of stdout, without its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// More than [`LONGEST_LINE`] bytes; what follows is not looked at.
    TooLong,
}

/// The bytes that were read and are not judged yet: one chunk at most, besides the line that it continues.
#[derive(Debug)]
pub(super) struct Lines {
    chunk: Vec<u8>,
    /// The part of the chunk that is still to be looked at.
    start: usize,
    end: usize,
    /// The beginning of a line whose end is not read yet.
    begun: Vec<u8>,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { chunk: vec![0; CHUNK], start: 0, end: 0, begun: Vec::new() }
    }

    /// The next line that is complete.
    pub(super) fn next(&mut self) -> Option<Line> {
        let rest = &self.chunk[self.start..self.end];
        let length = memchr(b'\n', rest);
        let part = &rest[..length.unwrap_or(rest.len())];
        self.begun.extend_from_slice(part);
        self.start += part.len() + usize::from(length.is_some());
        if self.begun.len() > LONGEST_LINE {
            self.begun = Vec::new();
            return Some(Line::TooLong);
        }
        length.map(|_| self.whole())
    }

    /// The line that was not ended. Nothing more will come.
    pub(super) fn last(&mut self) -> Option<Line> {
        (!self.begun.is_empty()).then(|| self.whole())
    }

    /// Returns the beginning of a line that is not ended yet.
    pub(super) fn begun(&self) -> &[u8] {
        &self.begun
    }

    fn whole(&mut self) -> Line {
        let mut line = std::mem::take(&mut self.begun);
        // A long line has grown by doubling, and has room to spare.
        line.shrink_to_fit();
        Line::Whole(line)
    }

    /// Reads more, when there is no further line.
    pub(super) fn fill<T>(&mut self, read: impl FnOnce(&mut [u8]) -> (usize, T)) -> T {
        assert_eq!(self.start, self.end, "all lines have been taken");
        let (length, result) = read(&mut self.chunk);
        (self.start, self.end) = (0, length);
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]]) -> Vec<Line> {
        let mut lines = Lines::new();
        let mut found = Vec::new();
        for chunk in chunks {
            lines.fill(|space| {
                space[..chunk.len()].copy_from_slice(chunk);
                (chunk.len(), ())
            });
            found.extend(std::iter::from_fn(|| lines.next()));
        }
        found.extend(lines.last());
        found
    }

    #[test]
    fn lines_do_not_depend_on_how_they_are_read() {
        let text = "\na\n\r\nlong \u{1f600} line\nend".as_bytes();
        let expected: Vec<Line> = text.split(|&byte| byte == b'\n').map(|line| Line::Whole(line.to_vec())).collect();
        assert_eq!(lines(&[text]), expected);
        assert_eq!(lines(&text.chunks(1).collect::<Vec<_>>()), expected);
        for cut in 0..text.len() {
            assert_eq!(lines(&[&text[..cut], b"", &text[cut..]]), expected, "{cut}");
        }
    }

    #[test]
    fn a_line_has_a_greatest_length() {
        let chunk = vec![b'x'; CHUNK];
        let mut chunks = vec![&*chunk; LONGEST_LINE / CHUNK];
        chunks.push(b"\n");
        assert!(matches!(&*lines(&chunks), [Line::Whole(line)] if line.len() == LONGEST_LINE));
        chunks.insert(0, b"x");
        assert_eq!(lines(&chunks)[0], Line::TooLong);
    }
}
