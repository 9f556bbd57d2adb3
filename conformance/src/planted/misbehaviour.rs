//! Processes that misbehave, whatever they answer: served for real by `threadspec serve --bug NAME`.

use crate::protocol::serve;
use crate::testee::Reference;
use std::io::{self, BufReader, Read, Write};
use std::process::exit;
use std::thread::sleep;
use std::time::Duration;

/// A way to misbehave.
#[derive(Clone, Copy, Debug)]
pub struct Misbehaviour {
    /// In kebab-case.
    pub name: &'static str,
    /// What happens before the first request is read.
    start: fn(),
    /// What is written instead of a reply line, which ends with LF. The first line is the hello.
    write: fn(&[u8], bool) -> Vec<u8>,
    /// What happens when the requests have ended.
    end: fn(),
}

const POLITE: Misbehaviour = Misbehaviour { name: "", start: || {}, write: |line, _| line.to_vec(), end: || {} };

/// Every misbehaviour.
pub const ALL: &[Misbehaviour] = &[
    Misbehaviour { name: "dies-at-once", start: || exit(1), ..POLITE },
    Misbehaviour { name: "says-nothing", start: || forever(), ..POLITE },
    Misbehaviour { name: "prints-a-banner", start: || print(b"Listening on stdio\n"), ..POLITE },
    Misbehaviour {
        name: "newer-protocol",
        write: |line, hello| edit(line, hello, "\"protocol\":1", "\"protocol\":2"),
        ..POLITE
    },
    Misbehaviour {
        name: "no-profiles",
        write: |line, hello| edit(line, hello, "[\"literal\",\"hardened\",\"universal\"]", "[]"),
        ..POLITE
    },
    Misbehaviour {
        name: "dies-at-the-first-request",
        write: |line, hello| if hello { line.to_vec() } else { exit(1) },
        ..POLITE
    },
    Misbehaviour {
        name: "ends-politely-too-early",
        write: |line, hello| if hello { line.to_vec() } else { exit(0) },
        ..POLITE
    },
    Misbehaviour {
        name: "hangs-at-the-first-request",
        write: |line, hello| if hello { line.to_vec() } else { forever() },
        ..POLITE
    },
    Misbehaviour { name: "answers-too-late", write: |line, hello| late(line, hello), ..POLITE },
    Misbehaviour { name: "answers-twice", write: |line, hello| line.repeat(if hello { 1 } else { 2 }), ..POLITE },
    Misbehaviour { name: "logs-to-stdout", write: |line, _| [b"INFO answering\n", line].concat(), ..POLITE },
    Misbehaviour { name: "breaks-lines-in-replies", write: |line, hello| edit(line, !hello, ",", ",\n"), ..POLITE },
    Misbehaviour { name: "not-json", write: |line, hello| edit(line, !hello, "\"", "'"), ..POLITE },
    Misbehaviour {
        name: "not-utf-8",
        write: |line, hello| if hello { line.to_vec() } else { [b"\xff", line].concat() },
        ..POLITE
    },
    Misbehaviour {
        name: "id-as-text",
        write: |line, hello| edit(line, !hello, "\"id\":", "\"id\":\"\",\"was\":"),
        ..POLITE
    },
    Misbehaviour { name: "wrong-id", write: |line, hello| edit(line, !hello, "\"id\":", "\"id\":47"), ..POLITE },
    Misbehaviour {
        name: "neither-ok-nor-reject",
        write: |line, hello| edit(line, !hello, "\"ok\":", "\"result\":"),
        ..POLITE
    },
    Misbehaviour { name: "endless-line", write: |line, hello| if hello { line.to_vec() } else { endless() }, ..POLITE },
    Misbehaviour { name: "goodbye-on-stdout", end: || print(b"goodbye\n"), ..POLITE },
    Misbehaviour { name: "fails-in-ending", end: || exit(3), ..POLITE },
    Misbehaviour { name: "stays-after-its-input", end: || forever(), ..POLITE },
];

impl Misbehaviour {
    /// Serves stdin and stdout, in this way.
    ///
    /// # Errors
    ///
    /// When stdin or stdout fails.
    pub fn serve(&self) -> io::Result<()> {
        (self.start)();
        let replies = Lines { write: self.write, is_first: true, line: Vec::new() };
        serve(&mut Reference, BufReader::new(io::stdin().lock()), replies)?;
        (self.end)();
        Ok(())
    }
}

/// Stdout, but for what becomes of each line.
struct Lines {
    write: fn(&[u8], bool) -> Vec<u8>,
    is_first: bool,
    line: Vec<u8>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let written = (self.write)(&self.line, self.is_first);
        self.is_first = false;
        self.line.clear();
        let mut stdout = io::stdout().lock();
        stdout.write_all(&written)?;
        stdout.flush()
    }
}

fn print(bytes: &[u8]) {
    let mut stdout = io::stdout().lock();
    let _ = stdout.write_all(bytes).and_then(|()| stdout.flush());
}

fn edit(line: &[u8], here: bool, from: &str, to: &str) -> Vec<u8> {
    let line = String::from_utf8_lossy(line);
    if here { line.replacen(from, to, 1).into_bytes() } else { line.into_owned().into_bytes() }
}

fn late(line: &[u8], hello: bool) -> Vec<u8> {
    if !hello {
        sleep(Duration::from_secs(1));
    }
    line.to_vec()
}

fn forever() -> ! {
    // Whoever starts a process that never ends will kill it; should he be gone, its input has ended.
    let mut rest = Vec::new();
    let _ = io::stdin().lock().read_to_end(&mut rest);
    sleep(Duration::from_secs(60));
    exit(0)
}

fn endless() -> ! {
    let chunk = [b'x'; 1 << 12];
    while io::stdout().write_all(&chunk).is_ok() {}
    exit(0)
}
