//! Reads and writes the pipes of a testee, line by line. No full or empty pipe ever blocks the judge.

#[cfg(unix)]
mod polled;
#[cfg(any(not(unix), test))]
mod threaded;

use memchr::memchr;

#[cfg(unix)]
pub(super) use polled::Pipes;
#[cfg(not(unix))]
pub(super) use threaded::Pipes;

/// The result of waiting for a testee.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// It has printed something.
    Bytes,
    /// Nothing in time, or a moment before.
    Nothing,
    /// Nobody will print anything any more.
    End,
}

/// A read from a pipe, as a length and its meaning.
type Read = (usize, Heard);

// The lines in what a testee prints.

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

#[cfg(all(test, unix))]
mod tests_of_both {
    use super::{Heard, polled, threaded};
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    const LONG: Duration = Duration::from_secs(600);

    fn child(script: &str) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a shell")
    }

    /// Forwards each method to the kind at hand.
    macro_rules! kinds {
        ($($name:ident: $kind:ident,)*) => { $(
            #[test]
            fn $name() {
                let open = |script: &str| {
                    let mut child = child(script);
                    let pipes = $kind::Pipes::new(child.stdin.take().expect("a pipe"), child.stdout.take().expect("a pipe"));
                    (child, pipes.expect("pipes"))
                };
                let mut buffer = vec![0; 1000];

                // Everything is written while nobody reads, and all of it comes back.
                let (mut child, mut pipes) = open("cat");
                let sent: Vec<u8> = (0..3_000_000_u32).map(|number| number.to_le_bytes()[0]).collect();
                pipes.write(&sent[..1_000_000]);
                pipes.write(&sent[1_000_000..]);
                pipes.close();
                let mut received = Vec::new();
                loop {
                    match pipes.read(&mut buffer, LONG) {
                        (length, Heard::Bytes) => received.extend_from_slice(&buffer[..length]),
                        (_, Heard::Nothing) => {}
                        (_, Heard::End) => break,
                    }
                }
                assert!(received == sent);
                assert_eq!(pipes.read(&mut buffer, LONG), (0, Heard::End));
                child.wait().expect("it ends");

                // Nobody reads, and nobody writes.
                let (mut child, mut pipes) = open("exec sleep 600");
                pipes.write(&sent);
                let begun = Instant::now();
                assert_eq!(pipes.read(&mut buffer, Duration::ZERO), (0, Heard::Nothing));
                assert_eq!(pipes.read(&mut buffer, Duration::from_millis(20)), (0, Heard::Nothing));
                assert!(begun.elapsed() < LONG / 4);
                child.kill().expect("a process");
                child.wait().expect("it ends");

                // What cannot be written is lost, and what was printed is not.
                let (mut child, mut pipes) = open("exec <&-; echo a");
                child.wait().expect("it ends");
                pipes.write(&sent);
                let mut heard = pipes.read(&mut buffer, LONG);
                while heard.1 == Heard::Nothing {
                    heard = pipes.read(&mut buffer, LONG);
                }
                assert_eq!((heard, &buffer[..2]), ((2, Heard::Bytes), &b"a\n"[..]));
            }
        )* };
    }

    kinds! {
        one_thread_serves_both_pipes: polled,
        each_pipe_has_a_thread: threaded,
    }
}
