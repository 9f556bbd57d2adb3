//! A testee that is another program.

use super::live::Live;
use super::session::{SessionHeard, Sessions, is_the_same};
use super::{Testee, Trouble, interrupt};
use std::ffi::{OsStr, OsString};
use std::time::Duration;
use threadspec_judge::corpus::Accepted;
use threadspec_judge::protocol::{Hello, Request, Transport};
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
