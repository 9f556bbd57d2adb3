//! Standard input, whose reading can be interrupted.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;
use threadspec_runner::interrupt;

/// How soon Ctrl-C is noticed while nothing comes.
const PAUSE: Duration = Duration::from_millis(50);

/// Standard input. The system's reads begin again behind a signal, so that a thread waits for them.
pub(super) struct Stdin {
    pieces: Receiver<io::Result<Vec<u8>>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Stdin {
    pub(super) fn new() -> Self {
        // A few pieces ahead, whatever the size of what comes.
        let (send, pieces) = sync_channel(4);
        thread::spawn(move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut piece = vec![0; 1 << 16];
                let read = stdin.read(&mut piece);
                let is_last = !matches!(read, Ok(1..));
                let piece = read.map(|length| {
                    piece.truncate(length);
                    piece
                });
                if send.send(piece).is_err() || is_last {
                    return;
                }
            }
        });
        Self { pieces, piece: io::Cursor::default() }
    }
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                return Ok(read);
            }
            if interrupt::requested() {
                return Err(io::Error::other("interrupted"));
            }
            match self.pieces.recv_timeout(PAUSE) {
                Ok(piece) => self.piece = io::Cursor::new(piece?),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Ok(0),
            }
            if self.piece.get_ref().is_empty() {
                return Ok(0);
            }
        }
    }
}
