//! Reads files in chunks of whole lines.

use super::finding::{Output, Place};
use super::rules::finding;
use memchr::{memchr_iter, memrchr};
use std::io::{self, Read};
use threadspec_judge::text;

pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Whole lines of a file.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// The number of its first line.
    pub(super) line: usize,
}

/// A file, cut into chunks.
pub(super) struct Chunks<'a> {
    input: Box<dyn Read + Send + 'a>,
    /// The beginning of a line that was read with the chunk before.
    rest: Vec<u8>,
    line: usize,
    has_ended: bool,
}

impl<'a> Chunks<'a> {
    /// How many bytes are judged at once.
    pub(super) const SIZE: usize = 1 << 20;

    pub(super) fn new(input: Box<dyn Read + Send + 'a>) -> Self {
        Self { input, rest: Vec::new(), line: 1, has_ended: false }
    }

    /// Whether the chunks so far are the whole file.
    pub(super) fn has_ended(&self) -> bool {
        self.has_ended && self.rest.is_empty()
    }

    /// Reads up to the size of a chunk, and returns whether the file has ended.
    fn read(&mut self) -> io::Result<bool> {
        let read = (&mut self.input).take(Self::SIZE as u64).read_to_end(&mut self.rest)?;
        Ok(read < Self::SIZE)
    }

    /// The next chunk; a longer line is a chunk of its own.
    pub(super) fn next(&mut self) -> io::Result<Option<Chunk>> {
        let mut bytes = std::mem::take(&mut self.rest);
        bytes.reserve(Self::SIZE);
        let mut end = None;
        while end.is_none() && !self.has_ended {
            let known = bytes.len();
            self.has_ended = self.read()?;
            bytes.append(&mut self.rest);
            end = memrchr(b'\n', &bytes[known..]).map(|at| known + at + 1);
        }
        if !self.has_ended {
            self.rest = bytes.split_off(end.unwrap_or(bytes.len()));
        }
        if !self.has_ended && self.rest.is_empty() {
            // Reads on, to know whether this chunk is the last.
            self.has_ended = self.read()?;
        }
        if bytes.is_empty() {
            return Ok(None);
        }
        let line = self.line;
        self.line += memchr_iter(b'\n', &bytes).count();
        Ok(Some(Chunk { bytes, line }))
    }
}

/// The whole file as text, with its byte order mark; if it is not UTF-8, `None`, and an error in the output.
pub(super) fn whole(first: Chunk, mut chunks: Chunks<'_>, output: &mut Output<'_>) -> io::Result<Option<String>> {
    let mut bytes = first.bytes;
    if !chunks.has_ended() {
        bytes.append(&mut chunks.rest);
        chunks.input.read_to_end(&mut bytes)?;
    }
    Ok(match text::utf8(bytes) {
        Ok(text) => Some(text),
        Err(why) => {
            output.found(finding("LOG-UTF8", Place::default(), why.to_string()));
            None
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_whole_lines() -> io::Result<()> {
        let long = "x".repeat(3 * Chunks::SIZE);
        let text = format!("{}{long}\n{}end", "line\n".repeat(Chunks::SIZE / 4), "\r\n".repeat(Chunks::SIZE));
        let mut chunks = Chunks::new(Box::new(io::Cursor::new(text.clone())));
        let mut read = Vec::new();
        while let Some(chunk) = chunks.next()? {
            assert_eq!(chunk.line, memchr_iter(b'\n', &read).count() + 1);
            read.extend_from_slice(&chunk.bytes);
            assert!(read.ends_with(b"\n") || chunks.has_ended());
        }
        assert!(read == text.as_bytes());
        Ok(())
    }
}
