//! Testees whose model is the provider: the same program, the same cases, and the requests as they go over the wire.
//!
//! Runner, judge and reports need not know. A request goes out with an endpoint and without its script; the reply comes back as the
//! output that an adapter would have given, made of what the provider saw.

mod server;

pub(crate) use server::ModelServer;

use crate::through;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use threadspec_cli::verify::{Additions, Leftovers, OverProvider, Testees};
use threadspec_judge::protocol::{Hello, Reply, Request};
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_provider::{EndedRun, Error, Stray, compose};
use threadspec_runner::{Process, Testee, Trouble};

/// How many runs that are over are kept, to judge them again if requests come late.
const MOST_ENDED: usize = 64;

/// The additions of `verify`: testees that ask a provider, and every form of report.
pub(crate) const ADDITIONS: Additions = Additions { testees, write: threadspec_pages::write };

/// Starts the testees of a run whose model is the provider, perhaps behind a gateway. The first one is ready.
fn testees(asked: &OverProvider<'_>) -> Result<(Testees, Leftovers), Unready> {
    let (testees, provider) = if asked.through.is_given() { through::testees(asked)? } else { direct(asked)? };
    Ok((testees, Box::new(move || provider.leftovers())))
}

/// The processes of an agent that asks the provider itself.
fn direct(asked: &OverProvider<'_>) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let provider = Arc::new(ModelServer::start(asked)?);
    let process = Process::start_over(asked.transport, asked.command, asked.timeout)?;
    let first = OverWire::new(process, Arc::clone(&provider));
    let mut testees: Testees = Vec::new();
    testees.extend((1..asked.jobs).map(|_| Box::new(first.another()) as _));
    testees.insert(0, Box::new(first));
    Ok((testees, provider))
}

/// A program whose model is the provider.
#[derive(Debug)]
pub(crate) struct OverWire {
    process: Process,
    hello: Hello,
    provider: Arc<ModelServer>,
    /// The keys of the runs that are under way, by the ids of their requests.
    running: HashMap<i64, String>,
    /// The last runs that are over, each with its request and what the testee replied.
    ended: VecDeque<(i64, EndedRun, Reply)>,
    /// A request that cannot be put, and why.
    unfit: Option<(i64, Error)>,
}

impl OverWire {
    /// Wraps a program that was started for this provider.
    pub(crate) fn new(process: Process, provider: Arc<ModelServer>) -> Self {
        let mut hello = process.hello().clone();
        if !hello.takes(provider.transport.api) {
            // It has nothing that could be asked.
            hello.ops.clear();
        }
        let (running, ended) = (HashMap::new(), VecDeque::new());
        Self { process, hello, provider, running, ended, unfit: None }
    }

    /// Another one with the same command, which starts when it is first asked.
    pub(crate) fn another(&self) -> Self {
        Self::new(self.process.another(), Arc::clone(&self.provider))
    }

    /// Ends all runs: whoever made them is gone, or about to go, perhaps in the middle of a request.
    fn abandon(&mut self) {
        for (_, key) in self.running.drain() {
            self.provider.abandon(&key);
        }
    }
}

impl Testee for OverWire {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn window(&self) -> usize {
        self.process.window()
    }

    /// Whatever reply would be accepted without a look, it is the provider that has seen the requests.
    fn send(&mut self, request: &Request) {
        match self.provider.begin(request) {
            Ok((told, key)) => {
                self.running.insert(request.id, key);
                self.process.send(&told);
            }
            Err(error) => self.unfit = Some((request.id, error)),
        }
    }

    fn receive(&mut self) -> (i64, Outcome) {
        if let Some((id, error)) = self.unfit.take() {
            let why = format!("a case cannot be played over the wire: {error}");
            return (id, Outcome::NotReady(Unready::Runner(why)));
        }
        let (id, outcome) = self.process.receive();
        let Outcome::Reply(reply) = outcome else {
            self.abandon();
            return (id, outcome);
        };
        let run = self.running.remove(&id).and_then(|key| self.provider.end(&key));
        let Some(run) = run else { return (id, Outcome::Reply(reply)) };
        let composed = compose(&run.plan, &run.record, reply.clone());
        self.ended.push_back((id, run, reply));
        if self.ended.len() > MOST_ENDED {
            self.ended.pop_front();
        }
        (id, Outcome::Reply(composed))
    }

    fn be_patient(&mut self, times: u32) {
        self.process.be_patient(times);
    }

    fn lateness(&self) -> Option<Duration> {
        self.process.lateness()
    }

    fn restart(&mut self) {
        self.abandon();
        self.unfit = None;
        self.process.restart();
    }

    fn overhear(&mut self, time: Duration) -> Option<Outcome> {
        self.process.overhear(time)
    }

    /// Requests that came with the keys of runs that were over belong to these runs.
    fn amended(&mut self) -> Vec<(i64, Outcome)> {
        let ended = &mut self.ended;
        let is_own = |stray: &Stray| ended.iter().any(|(_, run, _)| stray.key.as_ref() == Some(&run.record.key));
        let late = self.provider.take_strays(is_own);
        let mut amended = Vec::new();
        for (id, run, reply) in ended {
            let own = late.iter().filter(|stray| stray.key.as_ref() == Some(&run.record.key));
            let before = run.record.strays.len();
            run.record.strays.extend(own.cloned());
            if run.record.strays.len() > before {
                amended.push((*id, Outcome::Reply(compose(&run.plan, &run.record, reply.clone()))));
            }
        }
        amended
    }

    fn finish(&mut self) -> Vec<Trouble> {
        self.abandon();
        self.process.finish()
    }
}
