//! `threadspec serialize`.

use super::events_of;
use serde_json::Value;
use std::io::{self, BufRead, BufReader, IsTerminal, Read, Write};
use std::mem;
use std::path::PathBuf;
use threadspec::surrogates::repair_surrogates;
use threadspec::{EventReader, Profile, SerializeOptions, ThreadStream, write_thread};
use threadspec_cli::{Stop, at_fault, cannot_read, text_of};
use threadspec_runner::{Exit, files};

/// Write exactly the `<thread>` document of an event log
///
/// JSON Lines are written while they are read, in bounded memory: if a line is wrong, the document ends before it, and the exit
/// code is 1.
#[derive(Debug, clap::Args)]
pub(crate) struct Serialize {
    /// Event log: a JSON array, an object with `events`, or JSON Lines; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
}

impl Serialize {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let cannot_read = |error: io::Error| cannot_read(&self.file, &error);
        let input = files::open(&self.file).map_err(cannot_read)?;
        let mut log = BufReader::with_capacity(1 << 17, input);
        let mut head = Vec::new();
        let mut out = io::stdout().lock();
        let written = if begins_lines_of_events(&mut log, &mut head).map_err(cannot_read)? {
            self.stream(head.chain(log), &mut out)?
        } else {
            log.read_to_end(&mut head).map_err(cannot_read)?;
            let events = events_of(&self.file, &text_of(&self.file, head)?)?;
            let options = SerializeOptions { profile: self.profile, ..SerializeOptions::default() };
            let written = write_thread(&mut out, &events, &options);
            // The program ends here; giving back every text one by one would take a tenth of its time.
            mem::forget(events);
            written
        };
        let end = if io::stdout().is_terminal() { "\n" } else { "" };
        threadspec_cli::written(written.and_then(|()| out.write_all(end.as_bytes())).and_then(|()| out.flush()))
    }

    /// The outer result is about the log, the inner one about the writer.
    fn stream(&self, log: impl BufRead, out: &mut impl Write) -> Result<io::Result<()>, Stop> {
        let mut stream = ThreadStream::new(out, self.profile);
        for event in EventReader::new(log) {
            let event = event.map_err(|error| at_fault(&self.file, &error))?;
            if let Err(error) = stream.push(&event) {
                return Ok(Err(error));
            }
        }
        Ok(stream.finish("").map(drop))
    }
}

/// Returns whether a log has several lines, the first of which is a JSON object with a `type`, so that it can only be an event. What was
/// read to find out is left in `head`.
fn begins_lines_of_events(log: &mut impl BufRead, head: &mut Vec<u8>) -> io::Result<bool> {
    let first = loop {
        // An array is often one line of many megabytes, which needs no search for its end.
        if log.fill_buf()?.trim_ascii_start().starts_with(b"[") {
            return Ok(false);
        }
        let start = head.len();
        if log.read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
        let line = head[start..].trim_ascii();
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if !line.is_empty() {
            break line;
        }
    };
    let is_event = first.starts_with(b"{")
        && str::from_utf8(first).is_ok_and(|first| {
            serde_json::from_str::<Value>(&repair_surrogates(first)).is_ok_and(|first| first.get("type").is_some())
        });
    if !is_event {
        return Ok(false);
    }
    loop {
        let start = head.len();
        if log.read_until(b'\n', head)? == 0 {
            return Ok(false);
        }
        if !head[start..].trim_ascii().is_empty() {
            return Ok(true);
        }
    }
}
