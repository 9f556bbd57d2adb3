//! Starts programs: a testee that is another program, and programs beside it that do not speak the protocol.

use super::children::ProcessGroup;
use super::live::Live;
use super::session::{SessionHeard, Sessions, is_the_same};
use super::{Testee, Trouble, interrupt};
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{IsTerminal, PipeReader, Read, Write};
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};
use threadspec_judge::corpus::Accepted;
use threadspec_judge::protocol::{Hello, Request, Transport};
use threadspec_judge::text::visible;
use threadspec_judge::verdict::{Outcome, Unready};

/// How many requests may wait in the pipe: enough that a testee never waits for the judge.
const WINDOW: usize = 16;

/// Another program as a testee.
///
/// It runs in a process group of its own, which is killed as a whole: a program that leaves children behind cannot
/// outlive the run. After anything but a reply the process is replaced.
#[derive(Debug)]
pub struct Process {
    command: Vec<OsString>,
    timeout: Duration,
    /// How it asks its model, if its requests come with an endpoint.
    provider: Option<Transport>,
    hello: Hello,
    live: Option<Live>,
    /// How many times as long it waits for a reply.
    patience: u32,
    /// How late the latest late reply was, counted from its request.
    late: Option<Duration>,
    /// The request that could not be sent because the process could not be started again, and why.
    failed: Option<(i64, Outcome)>,
    /// The sessions that it plays. Their folders are removed when the process is gone, so they come last.
    sessions: Sessions,
}

impl Process {
    /// Starts the command and shakes hands. `timeout` is for each reply.
    ///
    /// # Errors
    ///
    /// Says why it could not be started, or what is wrong with its hello.
    pub fn start(command: &[impl AsRef<OsStr>], timeout: Duration) -> Result<Self, Unready> {
        Self::start_with(command, timeout, None)
    }

    /// Starts likewise a testee for requests that come with an endpoint, of this kind.
    ///
    /// # Errors
    ///
    /// As [`Process::start`].
    pub fn start_over(provider: Transport, command: &[impl AsRef<OsStr>], timeout: Duration) -> Result<Self, Unready> {
        Self::start_with(command, timeout, Some(provider))
    }

    fn start_with(
        command: &[impl AsRef<OsStr>],
        timeout: Duration,
        provider: Option<Transport>,
    ) -> Result<Self, Unready> {
        let command: Vec<OsString> = command.iter().map(|word| word.as_ref().to_owned()).collect();
        let (live, hello) = Live::start(&command, timeout, provider)?;
        Ok(Self {
            command,
            timeout,
            provider,
            hello,
            live: Some(live),
            patience: 1,
            late: None,
            failed: None,
            sessions: Sessions::default(),
        })
    }

    /// Another one with the same command, which starts when it is first asked.
    #[must_use]
    pub fn another(&self) -> Self {
        let Self { command, timeout, provider, hello, .. } = self;
        let (command, hello) = (command.clone(), hello.clone());
        Self {
            command,
            timeout: *timeout,
            provider: *provider,
            hello,
            live: None,
            patience: 1,
            late: None,
            failed: None,
            sessions: Sessions::default(),
        }
    }

    /// The process, started afresh if necessary.
    fn live(&mut self) -> Result<&mut Live, Outcome> {
        let live = match self.live.take() {
            Some(live) => live,
            None => Live::start(&self.command, self.timeout, self.provider)
                .map(|(live, _)| live)
                .map_err(|why| if interrupt::requested() { Outcome::Interrupted } else { Outcome::NotReady(why) })?,
        };
        Ok(self.live.insert(live))
    }

    /// Gives up the process, and what it was playing.
    fn give_up(&mut self) {
        self.live = None;
        self.sessions.clear();
    }

    /// Starts the process again that ends now by itself, as it announced, and sends it a request.
    fn go_on(&mut self, request: &Request) -> Result<(), Outcome> {
        let ended = self.live.take().map(|live| live.until_it_ends(self.timeout * self.patience));
        ended.unwrap_or(Ok(()))?;
        let begun = Live::start(&self.command, self.timeout, self.provider);
        let (mut live, hello) = begun.map_err(|why| match why {
            _ if interrupt::requested() => Outcome::Interrupted,
            Unready::Testee(why) => Outcome::Crash(format!("started again after the kill, {why}")),
            why @ (Unready::Runner(_) | Unready::Shortage(_)) => Outcome::NotReady(why),
        })?;
        is_the_same(&self.hello, &hello)?;
        live.send(request, Accepted::default());
        self.live = Some(live);
        Ok(())
    }

    /// The next outcome of the process.
    fn next(&mut self) -> (i64, Outcome) {
        let timeout = self.timeout;
        let Some(live) = &mut self.live else {
            return (0, Outcome::NotReady("nothing was sent".to_owned().into()));
        };
        let received = live.receive(timeout * self.patience);
        self.late = Some(live.took()).filter(|&took| took > timeout).or(self.late);
        received
    }
}

impl Testee for Process {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn window(&self) -> usize {
        WINDOW
    }

    fn send(&mut self, request: &Request) {
        self.send_for(request, Accepted::default());
    }

    fn send_for(&mut self, request: &Request, accepted: Accepted) {
        if self.failed.is_some() {
            return;
        }
        let id = request.id;
        let asked = self.sessions.begin(request).map_err(Outcome::NotReady);
        let sent = asked.and_then(|request| self.live().map(|live| live.send(&request, accepted)));
        self.failed = sent.err().map(|outcome| (id, outcome));
    }

    fn receive(&mut self) -> (i64, Outcome) {
        if let Some(failed) = self.failed.take() {
            return failed;
        }
        loop {
            let (id, outcome) = self.next();
            let outcome = match self.sessions.heard(id, outcome) {
                SessionHeard::Whole(outcome) => outcome,
                SessionHeard::Killed(request) => match self.go_on(&request) {
                    Ok(()) => continue,
                    Err(outcome) => outcome,
                },
            };
            if !outcome.is_reply() {
                self.give_up();
            }
            return (id, outcome);
        }
    }

    fn be_patient(&mut self, times: u32) {
        (self.patience, self.late) = (times, None);
    }

    fn lateness(&self) -> Option<Duration> {
        self.late
    }

    fn restart(&mut self) {
        self.give_up();
        self.failed = None;
    }

    fn overhear(&mut self, time: Duration) -> Option<Outcome> {
        let overheard = match self.live() {
            Ok(live) => live.overhear(time),
            Err(outcome) => Some(outcome),
        };
        if overheard.is_some() {
            self.give_up();
        }
        overheard
    }

    fn finish(&mut self) -> Vec<Trouble> {
        self.live.take().map(|live| live.finish(self.timeout)).unwrap_or_default()
    }
}

// Programs that run beside this one and do not speak the protocol.

/// How many lines of its output are kept.
const LINES: usize = 20;
/// The longest line that is kept, in bytes.
const LONGEST: usize = 2 << 10;
/// How long an output may stay open behind the end of its program.
const OUTPUT_LIMIT: Duration = Duration::from_secs(10);

/// A program that runs beside this one, in a process group of its own, and does not speak the protocol. Dropping it ends the group.
#[derive(Debug)]
pub struct Companion {
    group: ProcessGroup,
    said: Arc<Mutex<LastLines>>,
    /// Closed once its output, if that is kept, was read to its end.
    output: Option<Receiver<()>>,
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
    /// True if it gets none of them.
    pub is_bare: bool,
    /// Its working folder, if not this program's.
    pub folder: Option<PathBuf>,
    /// The file that it reads as standard input, if any.
    pub input: Option<File>,
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
        Ok(Self { group, said: Arc::default(), output: None, _held: None })
    }

    /// Starts a command whose output is kept, and which reads a file or nothing. It does not end with the thread that asks for it.
    ///
    /// # Errors
    ///
    /// Says why it could not be started.
    pub fn start_apart(command: &[OsString], around: Surroundings<'_>) -> Result<Self, Unready> {
        let lacking = |error: io::Error| Unready::Shortage(error.to_string());
        let (reader, writer) = io::pipe().map_err(lacking)?;
        let other = writer.try_clone().map_err(lacking)?;
        let Surroundings { variables, withheld, is_bare, folder, input, log } = around;
        let variables: Vec<(String, OsString)> =
            variables.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let command = command.to_vec();
        let (held, is_released) = channel();
        let (tell, started) = channel();
        let start = move || {
            let group = ProcessGroup::spawn_as(&command, |prepared| {
                prepared.stdin(input.map_or_else(Stdio::null, Stdio::from)).stdout(writer).stderr(other);
                if is_bare {
                    prepared.env_clear();
                }
                if let Some(folder) = &folder {
                    prepared.current_dir(folder);
                }
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
        let (reading, output) = channel::<()>();
        let keep = move || {
            keep_lines(reader, &own, log);
            drop(reading);
        };
        thread::Builder::new().name("companion's output".into()).spawn(keep).map_err(lacking)?;
        Ok(Self { group, said, output: Some(output), _held: Some(held) })
    }

    /// How it ended, if it has.
    pub fn exit_status(&mut self) -> Option<ExitStatus> {
        self.group.exit_status()
    }

    /// Ends what is left of it, and returns the last lines of all that it printed, at most 20.
    pub fn end(self) -> Vec<String> {
        let Self { group, said, output, _held } = self;
        drop(group);
        // Only a process that left the group can hold the output open for so long.
        let _ = output.map(|output| output.recv_timeout(OUTPUT_LIMIT));
        said.lock().unwrap_or_else(PoisonError::into_inner).lines()
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
