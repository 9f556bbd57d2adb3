//! Both pipes served by the thread that judges.

use super::{Heard, Read};
use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::io::{self, ErrorKind, Read as _, Write};
use std::os::fd::AsFd;
use std::process::{ChildStdin, ChildStdout};
use std::time::Duration;

/// The room for requests that is kept.
const USUAL: usize = 1 << 20;

#[derive(Debug)]
pub(in super::super) struct Pipes {
    /// `None` when it is closed, or broken.
    stdin: Option<ChildStdin>,
    stdout: ChildStdout,
    /// The output; the part from `written` on is not written yet.
    outgoing: Vec<u8>,
    written: usize,
    /// True if stdin is closed when all is written.
    is_last: bool,
}

impl Pipes {
    pub(in super::super) fn new(stdin: ChildStdin, stdout: ChildStdout) -> io::Result<Self> {
        // That of the testee, its other end, still blocks.
        fcntl(&stdin, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok(Self { stdin: Some(stdin), stdout, outgoing: Vec::new(), written: 0, is_last: false })
    }

    /// Takes bytes for the testee. They are written while it is read from.
    pub(in super::super) fn write(&mut self, bytes: &[u8]) {
        if self.stdin.is_some() {
            self.outgoing.extend_from_slice(bytes);
        }
    }

    /// Closes stdin behind what was taken for it.
    pub(in super::super) fn close(&mut self) {
        self.is_last = true;
    }

    /// Writes what the pipe has room for.
    fn flush(&mut self) {
        let Some(stdin) = &mut self.stdin else { return };
        while self.written < self.outgoing.len() {
            match stdin.write(&self.outgoing[self.written..]) {
                Ok(length) => self.written += length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A testee that can no longer be written to has ended; what is read shows how.
                Err(_) => {
                    self.stdin = None;
                    break;
                }
            }
        }
        self.outgoing.clear();
        self.outgoing.shrink_to(USUAL);
        self.written = 0;
        if self.is_last {
            self.stdin = None;
        }
    }

    /// Waits until there is something to read.
    pub(in super::super) fn read(&mut self, buffer: &mut [u8], patience: Duration) -> Read {
        if self.is_last || !self.outgoing.is_empty() {
            self.flush();
        }
        let reading = PollFd::new(self.stdout.as_fd(), PollFlags::POLLIN);
        let writing = self.stdin.as_ref().filter(|_| !self.outgoing.is_empty());
        // Rounded up: what is left of a millisecond is waited for, too.
        let patience = PollTimeout::try_from(patience.as_micros().div_ceil(1000)).unwrap_or(PollTimeout::MAX);
        let polled = match writing.map(|stdin| PollFd::new(stdin.as_fd(), PollFlags::POLLOUT)) {
            None => wait(&mut [reading], patience),
            Some(writing) => wait(&mut [reading, writing], patience),
        };
        match polled {
            Ok(true) => match self.stdout.read(buffer) {
                Ok(0) => (0, Heard::End),
                Ok(length) => (length, Heard::Bytes),
                Err(error) if error.kind() == ErrorKind::Interrupted => (0, Heard::Nothing),
                Err(_) => (0, Heard::End),
            },
            Ok(false) | Err(Errno::EINTR) => (0, Heard::Nothing),
            Err(_) => (0, Heard::End),
        }
    }
}

/// Waits, and returns whether something can be read from the first.
fn wait(pipes: &mut [PollFd<'_>], patience: PollTimeout) -> nix::Result<bool> {
    poll(pipes, patience)?;
    // Its end is something that can be read.
    Ok(pipes.first().and_then(PollFd::any).unwrap_or(false))
}
