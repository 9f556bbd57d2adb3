//! The bytes of a file that are in memory.

use super::records::WINDOW;
use std::io::{self, Read};
use std::ops::Deref;

/// How much one read asks for.
pub(super) const PIECE: usize = 1 << 16;

/// Bytes that were read. What is dropped leaves its memory to what is read next.
#[derive(Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    filled: usize,
}

impl Deref for Buffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }
}

impl Buffer {
    /// Reads on, and says how much. It is one read: what comes from somebody who is still writing is judged at once.
    pub(super) fn read(&mut self, input: &mut dyn Read) -> io::Result<usize> {
        let wanted = self.filled + PIECE;
        if self.bytes.len() < wanted {
            if self.filled > WINDOW && wanted > self.bytes.capacity() {
                // Grown by doubling, it would take twice what the longest record has.
                self.bytes.reserve_exact(WINDOW);
            }
            self.bytes.resize(wanted, 0);
        }
        loop {
            match input.read(&mut self.bytes[self.filled..wanted]) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read.inspect(|read| self.filled += read),
            }
        }
    }

    pub(super) fn drop_first(&mut self, length: usize) {
        self.bytes.copy_within(length..self.filled, 0);
        self.filled -= length;
    }

    pub(super) fn clear(&mut self) {
        self.filled = 0;
    }

    #[cfg(test)]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}
