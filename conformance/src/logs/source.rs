//! Opens files, and reads them in chunks of whole lines.

use super::Report;
use memchr::{memchr_iter, memrchr};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

pub(super) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Opens a file; `-` is stdin.
///
/// # Errors
///
/// When it does not exist, or is no regular file: a folder, or something that may block for ever, such as a pipe without a writer.
pub fn open(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(io::stdin()));
    }
    // Checked before opening: opening a pipe waits for its writer.
    let kind = fs::metadata(path)?.file_type();
    if kind.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "a folder; name the files in it"));
    }
    if !kind.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a pipe, socket or device, not a file; `-` is stdin"));
    }
    Ok(Box::new(File::open(path)?))
}

/// Why a file is not UTF-8, if its first bytes tell: everything that can be checked begins with an ASCII character.
pub(super) fn foreign_encoding(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, 0, 0, ..] | [0, 0, 0xfe, 0xff, ..] | [_, 0, 0, 0, ..] | [0, 0, 0, _, ..] => Some("UTF-32"),
        [0xff, 0xfe, ..] | [1..=0xff, 0, ..] => Some("UTF-16 (little-endian)"),
        [0xfe, 0xff, ..] | [0, 1..=0xff, ..] => Some("UTF-16 (big-endian)"),
        [0x1f, 0x8b, ..] => Some("compressed by gzip"),
        _ => None,
    }
}

/// Whole lines of a file.
#[derive(Debug, Default)]
pub(super) struct Chunk {
    pub(super) bytes: Vec<u8>,
    /// The number of its first line.
    pub(super) line: usize,
}

/// A file, cut into chunks.
pub(super) struct Chunks {
    input: Box<dyn Read + Send>,
    /// The beginning of a line that was read with the chunk before.
    rest: Vec<u8>,
    line: usize,
    has_ended: bool,
}

impl Chunks {
    /// How many bytes are judged at once.
    pub(super) const SIZE: usize = 1 << 20;

    pub(super) fn new(input: Box<dyn Read + Send>) -> Self {
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

/// The whole file as text, with its byte order mark; if it is not UTF-8, `None`, and an error in the report.
pub(super) fn whole(first: Chunk, mut chunks: Chunks, report: &mut Report<'_>) -> io::Result<Option<String>> {
    let mut bytes = first.bytes;
    if !chunks.has_ended() {
        bytes.append(&mut chunks.rest);
        chunks.input.read_to_end(&mut bytes)?;
    }
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Some(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            let line = memchr_iter(b'\n', &error.as_bytes()[..at]).count() + 1;
            report.about("a file");
            report.error(format!("line {line}: not UTF-8 at byte {at} of the file"));
            Ok(None)
        }
    }
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
}
