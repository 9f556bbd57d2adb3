//! The bytes of a file, as they were before somebody compressed or encoded them.
//!
//! What a file is says its beginning, not its name. It is decompressed while it is read, so that a small file with a large content takes
//! time and no memory.

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use std::error::Error;
use std::io::{self, BufRead, BufReader, Read};

const GZIP: &[u8] = &[0x1f, 0x8b];
const ZSTD: &[u8] = &[0x28, 0xb5, 0x2f, 0xfd];
/// How often something compressed is looked for inside something compressed.
const DEEPEST: usize = 2;

/// A reader of what is in the file, and the names of what it was packed in.
pub(super) fn unpack<'a>(input: Box<dyn Read + 'a>) -> io::Result<(Box<dyn Read + 'a>, Vec<&'static str>)> {
    let (mut input, mut packed) = (input, Vec::new());
    for _ in 0..DEEPEST {
        let (head, rest) = peek(input, ZSTD.len())?;
        input = if head.starts_with(GZIP) {
            packed.push("gzip");
            Box::new(MultiGzDecoder::new(rest))
        } else if head.starts_with(ZSTD) {
            packed.push("zstd");
            Box::new(Zstd::new(rest))
        } else {
            return Ok((rest, packed));
        };
    }
    Ok((input, packed))
}

/// Bytes as text, decompressed.
pub(super) fn text_of(bytes: &[u8]) -> String {
    const LONGEST: u64 = 256 << 20;
    let mut content = Vec::new();
    let read = unpack(Box::new(bytes)).and_then(|(input, _)| input.take(LONGEST).read_to_end(&mut content));
    String::from_utf8_lossy(if read.is_ok() { &content } else { bytes }).into_owned()
}

/// The first bytes, and a reader of all of them.
pub(super) fn peek<'a>(mut input: Box<dyn Read + 'a>, length: usize) -> io::Result<(Vec<u8>, Box<dyn Read + 'a>)> {
    let mut head = Vec::with_capacity(length);
    // No longer than a line: who follows a log waits for the next.
    while head.len() < length && !head.contains(&b'\n') {
        let known = head.len();
        head.resize(length, 0);
        let read = input.read(&mut head[known..])?;
        head.truncate(known + read);
        if read == 0 {
            break;
        }
    }
    let rest = io::Cursor::new(head.clone()).chain(input);
    Ok((head, Box::new(rest)))
}

/// The frames of a zstd file, one after the other.
pub(super) struct Zstd<'a> {
    input: BufReader<Box<dyn Read + 'a>>,
    decoder: FrameDecoder,
    is_in_frame: bool,
    /// Why the frame could not be read on, to be reported behind all that came.
    failed: Option<io::Error>,
}

/// An empty last block, and a checksum, which nobody compares: behind it the decoder gives what it kept for blocks to come.
const END: &[u8] = &[1, 0, 0, 0, 0, 0, 0];

impl<'a> Zstd<'a> {
    pub(super) fn new(input: Box<dyn Read + 'a>) -> Self {
        Self { input: BufReader::new(input), decoder: FrameDecoder::new(), is_in_frame: false, failed: None }
    }
}

impl Read for Zstd<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.is_in_frame {
                while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
                    let strategy = BlockDecodingStrategy::UptoBytes(buffer.len().max(1));
                    if let Err(error) = self.decoder.decode_blocks(&mut self.input, strategy) {
                        self.failed = Some(cannot_decode(&error));
                        self.decoder
                            .decode_blocks(END, BlockDecodingStrategy::All)
                            .map_err(|error| cannot_decode(&error))?;
                    }
                }
                let read = self.decoder.read(buffer)?;
                if read > 0 || buffer.is_empty() {
                    return Ok(read);
                }
                self.is_in_frame = false;
                if let Some(error) = self.failed.take() {
                    return Err(error);
                }
            }
            if self.input.fill_buf()?.is_empty() {
                return Ok(0);
            }
            match self.decoder.init(&mut self.input) {
                Ok(()) => self.is_in_frame = true,
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame { length, .. })) => {
                    io::copy(&mut (&mut self.input).take(length.into()), &mut io::sink())?;
                }
                Err(error) => return Err(cannot_decode(&error)),
            }
        }
    }
}

/// Why something cannot be decompressed, in a sentence.
fn cannot_decode(error: &FrameDecoderError) -> io::Error {
    if is_cut(error) {
        io::Error::new(io::ErrorKind::UnexpectedEof, "it ends before the compressed data does")
    } else {
        io::Error::new(io::ErrorKind::InvalidData, format!("the compressed data is broken: {error}"))
    }
}

fn is_cut(error: &(dyn Error + 'static)) -> bool {
    let is_end = |error: &io::Error| error.kind() == io::ErrorKind::UnexpectedEof;
    error.downcast_ref().is_some_and(is_end) || error.source().is_some_and(is_cut)
}
