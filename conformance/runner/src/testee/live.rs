//! A running testee process, and the exchange with it.

use super::children::ProcessGroup;
use super::patience::Patience;
use super::pipes::{LONGEST_LINE, Line, Lines, Pipes};
use super::{Trouble, id_and_output, interrupt, pipes};
use std::collections::{HashSet, VecDeque};
use std::ffi::OsString;
use std::io::Read;
use std::process::ExitStatus;
use std::string::FromUtf8Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{io, thread};
use threadspec_judge::corpus::Accepted;
use threadspec_judge::protocol::{Hello, JudgeProfile, Reply, Request, Transport};
use threadspec_judge::text::visible;
use threadspec_judge::verdict::{Outcome, Unready};

/// How often a wait checks whether the testee has ended or the run was interrupted.
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// How long a testee may take to exit after its stdout has ended, and its stderr to end.
const EXIT_GRACE: Duration = Duration::from_millis(500);
/// How often a wait for the end of a testee looks again.
const NAP: Duration = Duration::from_millis(2);
const STDERR_TAIL: usize = 4 << 10;
/// How many answered requests are remembered, to recognize a second reply.
const MOST_ANSWERED: usize = 1 << 20;
/// How much of a line is shown.
const SHOWN: usize = 200;
/// How many faults at its end are reported.
const MOST_TROUBLES: usize = 8;

/// A process and its pipes. A thread reads its stderr, whatever it is doing.
#[derive(Debug)]
pub(super) struct Live {
    group: ProcessGroup,
    pipes: Pipes,
    lines: Lines,
    stderr: Arc<Mutex<Tail>>,
    /// The requests that wait for their replies, in the order in which they were sent.
    waiting: VecDeque<Waiting>,
    answered: HashSet<i64>,
    /// The time left for the oldest request. It began when the testee had answered the request before, if it answers in turn.
    patience: Patience,
    /// How long the latest reply took.
    took: Duration,
}

/// A request that waits for its reply.
#[derive(Debug)]
struct Waiting {
    id: i64,
    profile: JudgeProfile,
    accepted: Accepted,
}

/// The result of waiting for a line.
enum Awaited {
    Line(Vec<u8>),
    TooLong,
    Ended,
    Silence,
    Interrupted,
}

impl Live {
    pub(super) fn start(
        command: &[OsString],
        timeout: Duration,
        provider: Option<Transport>,
    ) -> Result<(Self, Hello), Unready> {
        let mut process = Self::spawn(command)?;
        process.write(&Hello::request(provider));
        let mut patience = Patience::of(timeout);
        let line = match process.hear(&mut patience) {
            Awaited::Line(line) => line,
            Awaited::TooLong => return Err("it printed an endless line instead of a hello".to_owned().into()),
            Awaited::Ended => return Err(format!("before its hello it {}", process.last_words()).into()),
            Awaited::Silence => {
                let clock = patience.by_the_clock();
                let what = process.unended().map_or_else(
                    || {
                        format!(
                            "it did not answer `hello` within {timeout:?}{clock}; does it flush stdout after each line?"
                        )
                    },
                    |reply| format!("its hello has no line end: {reply}, and nothing more within {timeout:?}{clock}"),
                );
                return Err((what + &process.stderr_tail()).into());
            }
            Awaited::Interrupted => return Err("interrupted".to_owned().into()),
        };
        let printed = excerpt(&line);
        let wrong =
            |why: &str| -> Unready { format!("it printed {printed} instead of a hello: {}", visible(why)).into() };
        match Reply::read(line) {
            Ok((0, Reply::Ok(hello))) => {
                Ok((process, Hello::from_json(&hello).map_err(|why| wrong(&why.to_string()))?))
            }
            Ok((0, _)) => Err(wrong("`hello` must be answered with `ok`")),
            Ok((id, _)) => Err(wrong(&format!("its id is {id}, not 0"))),
            Err(why) => Err(wrong(&why.to_string())),
        }
    }

    fn spawn(command: &[OsString]) -> Result<Self, Unready> {
        let mut group = ProcessGroup::spawn(command)?;
        let stderr = Arc::new(Mutex::new(Tail::default()));
        let (Some(stdin), Some(stdout), Some(from_stderr)) = group.pipes() else {
            return Err("it has no pipes".to_owned().into());
        };
        let lacking = |error: io::Error| Unready::Shortage(error.to_string());
        let pipes = Pipes::new(stdin, stdout).map_err(lacking)?;
        let tail = Arc::clone(&stderr);
        thread::Builder::new().spawn(move || keep_tail(from_stderr, &tail)).map_err(lacking)?;
        let (waiting, answered) = (VecDeque::new(), HashSet::from([0]));
        let (patience, took) = (Patience::default(), Duration::ZERO);
        Ok(Self { group, pipes, lines: Lines::new(), stderr, waiting, answered, patience, took })
    }

    fn write(&mut self, line: &str) {
        self.pipes.write(line.as_bytes());
        self.pipes.write(b"\n");
    }

    pub(super) fn send(&mut self, request: &Request, accepted: Accepted) {
        if self.waiting.is_empty() {
            self.patience = Patience::default();
        }
        self.waiting.push_back(Waiting { id: request.id, profile: request.profile, accepted });
        self.write(&request.line());
    }

    fn hear(&mut self, patience: &mut Patience) -> Awaited {
        let mut ended = false;
        loop {
            if let Some(line) = self.lines.next() {
                return line.into();
            }
            if interrupt::requested() {
                return Awaited::Interrupted;
            }
            let left = patience.left();
            let (most, begun) = (left.min(POLL_INTERVAL), Instant::now());
            let heard = self.lines.fill(|space| self.pipes.read(space, most));
            patience.spend(most, begun.elapsed(), self.group.id());
            match heard {
                pipes::Heard::Bytes => {}
                pipes::Heard::End => return self.lines.last().map_or(Awaited::Ended, Awaited::from),
                // A grandchild may hold the pipe open, so the end of the process counts. The pipe is read once more first,
                // for what was on its way.
                pipes::Heard::Nothing if ended => return Awaited::Ended,
                pipes::Heard::Nothing if left.is_zero() => return Awaited::Silence,
                pipes::Heard::Nothing => ended = self.group.exit_status().is_some(),
            }
        }
    }

    pub(super) fn receive(&mut self, timeout: Duration) -> (i64, Outcome) {
        let Some(&Waiting { id: oldest, profile, .. }) = self.waiting.front() else {
            return (0, Outcome::Garbage("nothing was asked".into()));
        };
        let mut patience = std::mem::take(&mut self.patience).up_to(timeout);
        let heard = self.hear(&mut patience);
        self.took = patience.spent();
        let by_the_clock = patience.by_the_clock();
        self.patience = patience;
        let line = match heard {
            Awaited::Line(line) => line,
            Awaited::TooLong => {
                return (oldest, Outcome::Garbage(format!("an endless line: more than {LONGEST_LINE} bytes")));
            }
            Awaited::Ended => return (oldest, Outcome::Crash(format!("before its reply it {}", self.last_words()))),
            Awaited::Silence => {
                let unended = self.unended().map(|reply| format!(": its reply has no line end: {reply}"));
                let what = format!("no reply within {timeout:?}{by_the_clock}{}", unended.unwrap_or_default());
                return (oldest, Outcome::Timeout(what + &self.stderr_tail()));
            }
            Awaited::Interrupted => return (oldest, Outcome::Interrupted),
        };
        let line = match self.accepted(line) {
            Ok(accepted) => return accepted,
            Err(line) => line,
        };
        // The reply may be long, and is not kept.
        let beginning = beginning(&line);
        match Reply::read_for(profile, line) {
            Ok((id, reply)) => match self.waiting.iter().position(|waiting| waiting.id == id) {
                Some(place) => {
                    self.answered(place);
                    (id, Outcome::Reply(reply))
                }
                None if self.answered.contains(&id) => (oldest, Outcome::Stray { id, what: second_reply(&beginning) }),
                None => {
                    let what = format!("the reply to request {oldest} carries the id {id}: {}", excerpt(&beginning));
                    (oldest, Outcome::Garbage(what))
                }
            },
            Err(why) => (oldest, Outcome::Garbage(format!("not a reply: {why}: {}", excerpt(&beginning)))),
        }
    }

    /// The reply, if its output is accepted; else the line again.
    fn accepted(&mut self, line: Vec<u8>) -> Result<(i64, Outcome), Vec<u8>> {
        let place = id_and_output(&line).and_then(|(id, output)| {
            let place = self.waiting.iter().position(|waiting| waiting.id == id)?;
            self.waiting[place].accepted.has(output).then_some((place, id))
        });
        let Some((place, id)) = place else { return Err(line) };
        let line = String::from_utf8(line).map_err(FromUtf8Error::into_bytes)?;
        self.answered(place);
        Ok((id, Outcome::Accepted(line)))
    }

    /// How long the latest reply took, as far as that was the testee's doing.
    pub(super) fn took(&self) -> Duration {
        self.took
    }

    /// Notes that the request at a place in the queue was answered.
    fn answered(&mut self, place: usize) {
        let waiting = self.waiting.remove(place).expect("a place in the queue");
        self.patience = Patience::default();
        if self.answered.len() == MOST_ANSWERED {
            self.answered.clear();
        }
        self.answered.insert(waiting.id);
    }

    pub(super) fn overhear(&mut self, time: Duration) -> Option<Outcome> {
        match self.hear(&mut Patience::of(time)) {
            Awaited::Line(line) => {
                let beginning = beginning(&line);
                Some(match Reply::read(line) {
                    Ok((id, _)) if self.answered.contains(&id) => Outcome::Stray { id, what: second_reply(&beginning) },
                    _ => Outcome::Garbage(format!("it printed {} unasked", excerpt(&beginning))),
                })
            }
            Awaited::TooLong => Some(Outcome::Garbage("it printed an endless line unasked".into())),
            Awaited::Ended => Some(Outcome::Crash(format!("unasked it {}", self.last_words()))),
            // A prompt, for example, has no line end. White space may be before a reply.
            Awaited::Silence => {
                self.unended().map(|begun| Outcome::Garbage(format!("it printed {begun} unasked, without a line end")))
            }
            Awaited::Interrupted => Some(Outcome::Interrupted),
        }
    }

    /// Waits for the end of a process that has announced its end.
    pub(super) fn until_it_ends(mut self, timeout: Duration) -> Result<(), Outcome> {
        let mut patience = Patience::of(timeout);
        let late = |by_the_clock: &str| {
            Outcome::Timeout(format!("it sent `cut`, and did not end its process within {timeout:?}{by_the_clock}"))
        };
        match self.hear(&mut patience) {
            Awaited::Line(line) => {
                let printed = excerpt(&beginning(&line));
                return Err(Outcome::Garbage(format!(
                    "after `cut` it printed {printed}, where its process was to end"
                )));
            }
            Awaited::TooLong => return Err(Outcome::Garbage("after `cut` it printed an endless line".into())),
            Awaited::Silence => return Err(late(&patience.by_the_clock())),
            Awaited::Interrupted => return Err(Outcome::Interrupted),
            Awaited::Ended => {}
        }
        match self.wait(&mut patience) {
            Some(_) => Ok(()),
            None if interrupt::requested() => Err(Outcome::Interrupted),
            None => Err(late(&patience.by_the_clock())),
        }
    }

    pub(super) fn finish(mut self, timeout: Duration) -> Vec<Trouble> {
        self.pipes.close();
        let mut patience = Patience::of(timeout);
        let mut troubles = Vec::new();
        while troubles.len() < MOST_TROUBLES {
            match self.hear(&mut patience) {
                Awaited::Line(line) => {
                    let beginning = beginning(&line);
                    match Reply::read(line) {
                        // The run ended before these replies.
                        Ok((id, _)) if self.waiting.iter().any(|waiting| waiting.id == id) => {
                            self.waiting.retain(|waiting| waiting.id != id);
                        }
                        Ok((id, _)) if self.answered.contains(&id) => {
                            troubles.push(Trouble::Stray { id, what: second_reply(&beginning) });
                        }
                        _ => {
                            let what = format!("it printed {} after its input was closed", excerpt(&beginning));
                            troubles.push(Trouble::Unasked(what));
                            return troubles;
                        }
                    }
                }
                Awaited::TooLong => {
                    troubles.push(Trouble::Unasked("it printed an endless line after its input was closed".into()));
                    return troubles;
                }
                Awaited::Ended | Awaited::Silence | Awaited::Interrupted => break,
            }
        }
        let status = self.wait(&mut patience);
        if !status.is_some_and(|status| status.success()) && !interrupt::requested() {
            troubles.push(Trouble::Shutdown(match status {
                Some(status) => {
                    self.wait_for_stderr();
                    format!("it ended with {status} when its input was closed{}", self.stderr_tail())
                }
                None => {
                    format!("it did not end within {timeout:?}{} after its input was closed", patience.by_the_clock())
                }
            }));
        }
        troubles
    }

    /// Waits for its end.
    fn wait(&mut self, patience: &mut Patience) -> Option<ExitStatus> {
        loop {
            let status = self.group.exit_status();
            if status.is_some() || patience.left().is_zero() || interrupt::requested() {
                return status;
            }
            self.rest(patience);
        }
    }

    fn rest(&self, patience: &mut Patience) {
        let begun = Instant::now();
        thread::sleep(NAP);
        patience.spend(NAP, begun.elapsed(), self.group.id());
    }

    /// The beginning of a line that was not ended.
    fn unended(&self) -> Option<String> {
        let begun = self.lines.begun().trim_ascii();
        (!begun.is_empty()).then(|| excerpt(begun))
    }

    /// How the testee ended, and the end of its stderr.
    fn last_words(&mut self) -> String {
        let how = match self.wait(&mut Patience::of(EXIT_GRACE)) {
            Some(status) => format!("ended ({status})"),
            None => "closed its stdout".to_owned(),
        };
        self.wait_for_stderr();
        how + &self.stderr_tail()
    }

    fn wait_for_stderr(&self) {
        let mut patience = Patience::of(EXIT_GRACE);
        while !self.tail(|tail| tail.complete) && !patience.left().is_zero() {
            self.rest(&mut patience);
        }
    }

    fn stderr_tail(&self) -> String {
        let tail = self.tail(|tail| String::from_utf8_lossy(&tail.bytes).trim().to_owned());
        if tail.is_empty() {
            return tail;
        }
        // Marked, so that it cannot be taken for the runner's own words.
        let lines: Vec<String> = tail.lines().map(|line| format!("  | {}", visible(line))).collect();
        format!("; its stderr ends with:\n{}\n", lines.join("\n"))
    }

    fn tail<T>(&self, look: impl FnOnce(&Tail) -> T) -> T {
        look(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl From<Line> for Awaited {
    fn from(line: Line) -> Self {
        match line {
            Line::Whole(line) => Self::Line(line),
            Line::TooLong => Self::TooLong,
        }
    }
}

#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
    complete: bool,
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

/// As much of a line as is shown.
fn beginning(line: &[u8]) -> Vec<u8> {
    line[..line.len().min(SHOWN + 1)].to_vec()
}

fn second_reply(line: &[u8]) -> String {
    format!("a second reply to one request: {}", excerpt(line))
}

/// The beginning of a line, fit to be shown.
fn excerpt(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(&line[..line.len().min(SHOWN)]);
    let more = if line.len() > SHOWN { "…" } else { "" };
    format!("`{}{more}`", visible(&text))
}
