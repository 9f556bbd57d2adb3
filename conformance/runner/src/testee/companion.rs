//! Programs that run beside this one and do not speak the protocol.

use super::children::ProcessGroup;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, PipeReader, Read, Write};
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use threadspec_judge::text::visible;
use threadspec_judge::verdict::Unready;

/// How many lines of its output are kept.
const LINES: usize = 20;
/// The longest line that is kept, in bytes.
const LONGEST: usize = 2 << 10;

/// A program that runs beside this one, in a process group of its own, and does not speak the protocol. Dropping it ends the group.
#[derive(Debug)]
pub struct Companion {
    group: ProcessGroup,
    said: Arc<Mutex<LastLines>>,
    /// Tells the thread that started it that it may end: the system ends a child with its thread.
    _held: Option<Sender<()>>,
}

/// The surroundings of a companion.
#[derive(Debug, Default)]
pub struct Surroundings<'a> {
    /// Further variables in its environment.
    pub variables: Vec<(&'a str, OsString)>,
    /// Those of this program's environment that it does not get.
    pub withheld: Vec<OsString>,
    /// Where its output is written, beside its last lines, which are kept.
    pub log: Option<File>,
}

impl Companion {
    /// Starts a command with further variables in its environment. It writes where this program writes, and reads nothing from a terminal: it
    /// is in the background there.
    ///
    /// # Errors
    ///
    /// Says why it could not be started.
    pub fn start(command: &[OsString], variables: &[(&str, String)]) -> Result<Self, Unready> {
        let group = ProcessGroup::spawn_as(command, |prepared| {
            let is_terminal = io::stdin().is_terminal();
            prepared.stdin(if is_terminal { Stdio::null() } else { Stdio::inherit() });
            prepared.envs(variables.iter().map(|(name, value)| (name, value)));
        })?;
        Ok(Self { group, said: Arc::default(), _held: None })
    }

    /// Starts a command whose output is kept, and which reads nothing. It does not end with the thread that asks for it.
    ///
    /// # Errors
    ///
    /// Says why it could not be started.
    pub fn start_apart(command: &[OsString], around: Surroundings<'_>) -> Result<Self, Unready> {
        let lacking = |error: io::Error| Unready::Shortage(error.to_string());
        let (reader, writer) = io::pipe().map_err(lacking)?;
        let other = writer.try_clone().map_err(lacking)?;
        let Surroundings { variables, withheld, log } = around;
        let variables: Vec<(String, OsString)> =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let command = command.to_vec();
        let (held, is_released) = channel();
        let (tell, started) = channel();
        let start = move || {
            let group = ProcessGroup::spawn_as(&command, |prepared| {
                prepared.stdin(Stdio::null()).stdout(writer).stderr(other);
                for name in &withheld {
                    prepared.env_remove(name);
                }
                prepared.envs(variables);
            });
            if tell.send(group).is_ok() {
                wait(&is_released);
            }
        };
        thread::Builder::new().name("companion".into()).spawn(start).map_err(lacking)?;
        let group = started.recv().map_err(|error| Unready::Runner(error.to_string()))??;
        let said = Arc::<Mutex<LastLines>>::default();
        let own = Arc::clone(&said);
        let keep = move || keep_lines(reader, &own, log);
        thread::Builder::new().name("companion's output".into()).spawn(keep).map_err(lacking)?;
        Ok(Self { group, said, _held: Some(held) })
    }

    /// How it ended, if it has.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.group.exit_status()
    }

    /// The last lines that it has printed, at most 20, if its output is kept.
    pub fn last_lines(&self) -> Vec<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).lines()
    }
}

/// Waits until whoever holds the other end lets go of it.
fn wait(is_released: &Receiver<()>) {
    let _ = is_released.recv();
}

/// The last lines of an output.
#[derive(Debug, Default)]
struct LastLines {
    lines: VecDeque<Vec<u8>>,
    /// The bytes behind the last line end.
    rest: Vec<u8>,
}

impl LastLines {
    fn push(&mut self, bytes: &[u8]) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST.saturating_sub(self.rest.len());
            self.rest.extend_from_slice(&piece[..piece.len().min(room)]);
            if piece.ends_with(b"\n") {
                let line = std::mem::take(&mut self.rest);
                if !line.trim_ascii().is_empty() {
                    self.lines.push_back(line);
                }
                if self.lines.len() > LINES {
                    self.lines.pop_front();
                }
            }
        }
    }

    fn lines(&self) -> Vec<String> {
        let text = |line: &Vec<u8>| visible(String::from_utf8_lossy(line).trim_end());
        let rest = Some(&self.rest).filter(|rest| !rest.trim_ascii().is_empty());
        let all: Vec<String> = self.lines.iter().chain(rest).map(text).collect();
        all[all.len().saturating_sub(LINES)..].to_vec()
    }
}

/// Reads an output to its end, writes it to a file, and keeps its last lines.
fn keep_lines(mut output: PipeReader, said: &Mutex<LastLines>, mut log: Option<File>) {
    let mut chunk = [0; 8 << 10];
    while let Ok(length) = output.read(&mut chunk) {
        if length == 0 {
            return;
        }
        // A full disk costs the log, not the run.
        if log.as_mut().is_some_and(|log| log.write_all(&chunk[..length]).is_err()) {
            log = None;
        }
        said.lock().unwrap_or_else(PoisonError::into_inner).push(&chunk[..length]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_lines_are_kept_however_they_are_divided() {
        let mut last = LastLines::default();
        for number in 0..30 {
            last.push(format!("line {number}").as_bytes());
            last.push(b"\n\n");
        }
        last.push(b"the \x1b[1mend");
        let lines = last.lines();
        assert_eq!(
            (lines.first().map(String::as_str), lines.last().map(String::as_str)),
            (Some("line 11"), Some("the ␛[1mend"))
        );
        last.push(&[b'x'; 2 * LONGEST]);
        assert!(last.lines().last().is_some_and(|line| line.len() < 2 * LONGEST));
    }
}
