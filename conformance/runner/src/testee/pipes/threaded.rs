//! A thread for each pipe.

use super::{Heard, Read};
use std::io::{self, Read as _, Write};
use std::process::{ChildStdin, ChildStdout};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// How much is read at once.
const CHUNK: usize = 64 << 10;
/// How many chunks may wait.
const MOST_WAITING: usize = 16;

#[derive(Debug)]
pub(in super::super) struct Pipes {
    /// `None` when it is closed.
    stdin: Option<Sender<Vec<u8>>>,
    outgoing: Vec<u8>,
    stdout: Receiver<Vec<u8>>,
    /// The input; the part from `taken` on is not taken yet.
    incoming: Vec<u8>,
    taken: usize,
}

impl Pipes {
    pub(in super::super) fn new(mut stdin: ChildStdin, mut stdout: ChildStdout) -> io::Result<Self> {
        let (to_stdin, batches) = mpsc::channel::<Vec<u8>>();
        let (chunks, from_stdout) = mpsc::sync_channel(MOST_WAITING);
        thread::Builder::new().spawn(move || {
            // A testee that can no longer be written to has ended; what is read shows how.
            while batches.recv().is_ok_and(|batch| stdin.write_all(&batch).is_ok()) {}
        })?;
        thread::Builder::new().spawn(move || {
            let mut chunk = vec![0; CHUNK];
            while let Ok(length @ 1..) = stdout.read(&mut chunk)
                && chunks.send(chunk[..length].to_vec()).is_ok()
            {}
        })?;
        Ok(Self { stdin: Some(to_stdin), outgoing: Vec::new(), stdout: from_stdout, incoming: Vec::new(), taken: 0 })
    }

    /// Takes bytes for the testee. They are written while it is read from.
    pub(in super::super) fn write(&mut self, bytes: &[u8]) {
        self.outgoing.extend_from_slice(bytes);
    }

    /// Closes stdin behind what was taken for it.
    pub(in super::super) fn close(&mut self) {
        self.flush();
        self.stdin = None;
    }

    fn flush(&mut self) {
        if let Some(stdin) = self.stdin.as_ref().filter(|_| !self.outgoing.is_empty()) {
            let _ = stdin.send(std::mem::take(&mut self.outgoing));
        }
    }

    /// Waits until there is something to read.
    pub(in super::super) fn read(&mut self, buffer: &mut [u8], patience: Duration) -> Read {
        self.flush();
        if self.taken == self.incoming.len() {
            (self.incoming, self.taken) = match self.stdout.recv_timeout(patience) {
                Ok(chunk) => (chunk, 0),
                Err(RecvTimeoutError::Timeout) => return (0, Heard::Nothing),
                Err(RecvTimeoutError::Disconnected) => return (0, Heard::End),
            };
        }
        let rest = &self.incoming[self.taken..];
        let length = rest.len().min(buffer.len());
        buffer[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        (length, Heard::Bytes)
    }
}
