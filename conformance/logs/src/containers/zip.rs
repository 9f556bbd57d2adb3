//! The files in a zip archive, one after the other, as inspect writes its `.eval` logs.
//!
//! The archive is read from its beginning: what is before each file says enough, so that an archive from a pipe, or one that is cut off,
//! is read as well.

use crate::input::Zstd;
use flate2::bufread::DeflateDecoder;
use std::io::{self, BufRead, Read};

/// How an archive begins.
pub(in super::super) const MAGIC: &[u8] = b"PK\x03\x04";
const DESCRIPTOR: &[u8] = b"PK\x07\x08";

/// Gives each file of an archive, with its name, to `each`.
pub(in super::super) fn entries(
    mut input: impl BufRead,
    each: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    loop {
        let mut magic = [0; 4];
        match input.read_exact(&mut magic) {
            Ok(()) if magic == MAGIC => {}
            // The list of the files, which is behind them.
            Ok(()) => return Ok(()),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            Err(error) => return Err(error),
        }
        let mut header = [0; 26];
        input.read_exact(&mut header)?;
        let number = |at: usize, bytes: usize| {
            header[at..at + bytes].iter().rev().fold(0_u64, |number, byte| number << 8 | u64::from(*byte))
        };
        let (has_descriptor, method) = (number(2, 2) & 8 != 0, number(4, 2));
        let mut name = vec![0; usize::try_from(number(22, 2)).unwrap_or_default()];
        input.read_exact(&mut name)?;
        let mut extra = vec![0; usize::try_from(number(24, 2)).unwrap_or_default()];
        input.read_exact(&mut extra)?;
        let is_large = number(14, 4) == u64::from(u32::MAX);
        let size = if is_large { large_size(&extra) } else { number(14, 4) };
        let name = String::from_utf8_lossy(&name).into_owned();
        let mut file: Box<dyn Read + '_> = match method {
            8 => Box::new(DeflateDecoder::new(&mut input)),
            0 if !has_descriptor => Box::new((&mut input).take(size)),
            93 if !has_descriptor => Box::new(Zstd::new(Box::new((&mut input).take(size)))),
            _ => {
                let text = format!("{name} is packed in a way (method {method}) that is not read");
                return Err(io::Error::new(io::ErrorKind::Unsupported, text));
            }
        };
        each(&name, &mut *file)?;
        io::copy(&mut *file, &mut io::sink())?;
        drop(file);
        if has_descriptor {
            let starts = input.fill_buf()?.starts_with(DESCRIPTOR);
            let length = if starts { 16 } else { 12 } + if is_large { 8 } else { 0 };
            io::copy(&mut (&mut input).take(length), &mut io::sink())?;
        }
    }
}

/// The packed size of a file of 4 GB and more, from the field of zip64.
fn large_size(extra: &[u8]) -> u64 {
    let mut rest = extra;
    while let [one, other, low, high, behind @ ..] = rest {
        let length = usize::from(u16::from_le_bytes([*low, *high]));
        if u16::from_le_bytes([*one, *other]) == 1 {
            return behind
                .get(8..16)
                .map_or(0, |bytes| bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)));
        }
        rest = behind.get(length..).unwrap_or_default();
    }
    0
}
