//! A testee that is another program.

use super::{Outcome, Testee, Trouble};
use crate::protocol::{Hello, Reply, Request};
use crate::terminal::visible;
use crate::testee::interrupt;
use process_wrap::std::{ChildWrapper, CommandWrap};
use std::collections::HashSet;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How often a wait checks whether the testee has ended or the run was interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a testee may take to end itself after its stdout has ended.
const EXIT_GRACE: Duration = Duration::from_millis(500);
const LONGEST_LINE: u64 = 64 << 20;
const STDERR_TAIL: usize = 4 << 10;

/// Another program as a testee.
///
/// It runs in a process group of its own, which is killed as a whole: a program that leaves children behind cannot
/// outlive the run. After anything but a reply the process is replaced, since what it would say next cannot be trusted.
#[derive(Debug)]
pub struct Process {
    command: Vec<String>,
    timeout: Duration,
    hello: Hello,
    live: Option<Live>,
}

impl Process {
    /// Starts the command and shakes hands.
    ///
    /// # Errors
    ///
    /// Says why there is nothing to talk to.
    pub fn start(command: &[String], timeout: Duration) -> Result<Self, String> {
        let (live, hello) = Live::start(command, timeout)?;
        Ok(Self { command: command.to_vec(), timeout, hello, live: Some(live) })
    }

    fn live(&mut self) -> Result<Live, String> {
        match self.live.take() {
            Some(live) => Ok(live),
            None => Live::start(&self.command, self.timeout).map(|(live, _)| live),
        }
    }
}

impl Testee for Process {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn ask(&mut self, request: &Request) -> Outcome {
        let mut live = match self.live() {
            Ok(live) => live,
            Err(_) if interrupt::requested() => return Outcome::Interrupted,
            Err(why) => return Outcome::Crash(format!("it could not be started again: {why}")),
        };
        live.send(request.line());
        let outcome = live.reply(request, self.timeout);
        if matches!(outcome, Outcome::Reply(_)) {
            self.live = Some(live);
        }
        outcome
    }

    fn finish(&mut self) -> Vec<Trouble> {
        self.live.take().map(|live| live.finish(self.timeout)).unwrap_or_default()
    }
}

/// A process and the threads that talk to it, so that no full pipe can ever stop the judge.
#[derive(Debug)]
struct Live {
    child: Box<dyn ChildWrapper>,
    stdin: Option<Sender<String>>,
    lines: Receiver<Line>,
    stderr: Arc<Mutex<Tail>>,
    answered: HashSet<i64>,
}

#[derive(Debug)]
enum Line {
    Whole(Vec<u8>),
    TooLong,
}

/// What waiting for a line can bring.
enum Heard {
    Line(Vec<u8>),
    TooLong,
    Ended,
    Silence,
    Interrupted,
}

impl Live {
    fn start(command: &[String], timeout: Duration) -> Result<(Self, Hello), String> {
        let mut process = Self::spawn(command)?;
        process.send(Hello::request());
        let line = match process.hear(Instant::now() + timeout) {
            Heard::Line(line) => line,
            Heard::TooLong => return Err("it printed an endless line instead of a hello".into()),
            Heard::Ended => return Err(format!("it {} before its hello", process.last_words())),
            Heard::Silence => {
                return Err(format!("it did not answer `hello` within {timeout:?}{}", process.stderr_tail()));
            }
            Heard::Interrupted => return Err("interrupted".into()),
        };
        let wrong = |why: &str| format!("it printed {} instead of a hello: {why}", excerpt(&line));
        match Reply::read(&line) {
            Ok((0, Reply::Ok(hello))) => Ok((process, Hello::from_json(&hello).map_err(|why| wrong(&why))?)),
            Ok((0, _)) => Err(wrong("`hello` must be answered with `ok`")),
            Ok((id, _)) => Err(wrong(&format!("its id is {id}, not 0"))),
            Err(why) => Err(wrong(&why)),
        }
    }

    fn spawn(command: &[String]) -> Result<Self, String> {
        let (program, arguments) = command.split_first().ok_or("no command was given")?;
        let mut prepared = Command::new(program);
        prepared.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut group = CommandWrap::from(prepared);
        #[cfg(unix)]
        group.wrap(process_wrap::std::ProcessGroup::leader());
        #[cfg(windows)]
        group.wrap(process_wrap::std::JobObject);
        let mut child = group.spawn().map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => format!("command not found: {program}"),
            _ => format!("{program}: {error}"),
        })?;
        let stderr = Arc::new(Mutex::new(Tail::default()));
        let (stdin, requests) = mpsc::channel();
        // Few lines are kept: a testee that babbles has to wait for its reader, and does not fill our memory.
        let (heard, lines) = mpsc::sync_channel(16);
        if let Some(pipe) = child.stdin().take() {
            thread::spawn(move || write_requests(pipe, &requests));
        }
        if let Some(pipe) = child.stdout().take() {
            thread::spawn(move || read_lines(pipe, |line| heard.send(line).is_ok()));
        }
        if let Some(pipe) = child.stderr().take() {
            let tail = Arc::clone(&stderr);
            thread::spawn(move || keep_tail(pipe, &tail));
        }
        Ok(Self { child, stdin: Some(stdin), lines, stderr, answered: HashSet::new() })
    }

    fn send(&mut self, line: String) {
        // A testee that can no longer be written to has ended; reading will find out.
        if let Some(stdin) = &self.stdin {
            let _ = stdin.send(line);
        }
    }

    fn hear(&mut self, deadline: Instant) -> Heard {
        let mut ended = false;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.lines.recv_timeout(left.min(POLL_INTERVAL)) {
                Ok(Line::Whole(line)) => return Heard::Line(line),
                Ok(Line::TooLong) => return Heard::TooLong,
                Err(RecvTimeoutError::Disconnected) => return Heard::Ended,
                Err(RecvTimeoutError::Timeout) if interrupt::requested() => return Heard::Interrupted,
                // A grandchild may hold the pipe open, so the end of the process counts; one more look at the pipe
                // first, for what was on its way.
                Err(RecvTimeoutError::Timeout) if ended => return Heard::Ended,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => return Heard::Silence,
                Err(RecvTimeoutError::Timeout) => ended = self.exit_status().is_some(),
            }
        }
    }

    fn reply(&mut self, request: &Request, timeout: Duration) -> Outcome {
        let id = request.id;
        let line = match self.hear(Instant::now() + timeout) {
            Heard::Line(line) => line,
            Heard::TooLong => return Outcome::Garbage(format!("an endless line: more than {LONGEST_LINE} bytes")),
            Heard::Ended => return Outcome::Crash(format!("it {} before its reply", self.last_words())),
            Heard::Silence => return Outcome::Timeout(format!("no reply within {timeout:?}{}", self.stderr_tail())),
            Heard::Interrupted => return Outcome::Interrupted,
        };
        match Reply::read_for(request.profile, &line) {
            Ok((actual, reply)) if actual == id => {
                self.answered.insert(id);
                Outcome::Reply(reply)
            }
            Ok((earlier, _)) if self.answered.contains(&earlier) => {
                Outcome::Stray { id: earlier, what: second_reply(&line) }
            }
            Ok((other, _)) => {
                Outcome::Garbage(format!("the reply to request {id} carries the id {other}: {}", excerpt(&line)))
            }
            Err(why) => Outcome::Garbage(format!("not a reply: {why}: {}", excerpt(&line))),
        }
    }

    fn finish(mut self, timeout: Duration) -> Vec<Trouble> {
        self.stdin = None;
        let deadline = Instant::now() + timeout;
        let mut troubles = Vec::new();
        loop {
            match self.hear(deadline) {
                Heard::Line(line) => match Reply::read(&line) {
                    Ok((id, _)) if self.answered.contains(&id) => {
                        troubles.push(Trouble::Stray { id, what: second_reply(&line) });
                    }
                    _ => {
                        let what = format!("it printed {} after its input was closed", excerpt(&line));
                        troubles.push(Trouble::Shutdown(what));
                        return troubles;
                    }
                },
                Heard::TooLong => troubles.push(Trouble::Shutdown("it printed an endless line".into())),
                Heard::Ended | Heard::Silence | Heard::Interrupted => break,
            }
        }
        let status = self.wait_until(deadline);
        if !status.is_some_and(|status| status.success()) && !interrupt::requested() {
            troubles.push(Trouble::Shutdown(match status {
                Some(status) => format!("it ended with {status} when its input was closed{}", self.stderr_tail()),
                None => format!("it did not end within {timeout:?} after its input was closed"),
            }));
        }
        troubles
    }

    fn exit_status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    fn wait_until(&mut self, deadline: Instant) -> Option<ExitStatus> {
        loop {
            let status = self.exit_status();
            if status.is_some() || Instant::now() >= deadline {
                return status;
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// How the testee ended, and the end of its stderr.
    fn last_words(&mut self) -> String {
        let how = match self.wait_until(Instant::now() + EXIT_GRACE) {
            Some(status) => format!("ended ({status})"),
            None => "closed its stdout".to_owned(),
        };
        let enough = Instant::now() + EXIT_GRACE;
        while !self.tail(|tail| tail.complete) && Instant::now() < enough {
            thread::sleep(Duration::from_millis(5));
        }
        how + &self.stderr_tail()
    }

    fn stderr_tail(&self) -> String {
        let tail = self.tail(|tail| String::from_utf8_lossy(&tail.bytes).trim().to_owned());
        if tail.is_empty() { tail } else { format!("; its stderr ends with:\n{tail}\n") }
    }

    fn tail<T>(&self, look: impl FnOnce(&Tail) -> T) -> T {
        look(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // The group may hold more than the testee, so it is killed even when that has ended by itself. Errors mean
        // that nobody is left.
        let _ = self.child.start_kill();
        let _ = self.child.wait();
    }
}

#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    complete: bool,
}

fn write_requests(mut pipe: ChildStdin, requests: &Receiver<String>) {
    for request in requests {
        if pipe.write_all(request.as_bytes()).and_then(|()| pipe.write_all(b"\n")).is_err() {
            return;
        }
    }
}

fn read_lines(pipe: impl Read, hear: impl Fn(Line) -> bool) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        match pipe.by_ref().take(LONGEST_LINE + 1).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(length) if length as u64 > LONGEST_LINE => {
                hear(Line::TooLong);
                return;
            }
            Ok(_) => {
                if line.last() == Some(&b'\n') {
                    line.pop();
                }
                if !hear(Line::Whole(line)) {
                    return;
                }
            }
        }
    }
}

fn keep_tail(mut pipe: impl Read, tail: &Mutex<Tail>) {
    let mut chunk = [0; STDERR_TAIL];
    loop {
        let length = pipe.read(&mut chunk).unwrap_or(0);
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if length == 0 {
            tail.complete = true;
            return;
        }
        tail.bytes.extend_from_slice(&chunk[..length]);
        let excess = tail.bytes.len().saturating_sub(STDERR_TAIL);
        tail.bytes.drain(..excess);
    }
}

fn second_reply(line: &[u8]) -> String {
    format!("a second reply to one request: {}", excerpt(line))
}

/// The beginning of a line, fit to be shown.
fn excerpt(line: &[u8]) -> String {
    const LENGTH: usize = 200;
    let text = String::from_utf8_lossy(&line[..line.len().min(LENGTH)]);
    let more = if line.len() > LENGTH { "…" } else { "" };
    format!("`{}{more}`", visible(&text))
}
