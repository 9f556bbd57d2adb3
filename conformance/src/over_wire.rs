//! Runs testees whose model is the provider: the same program, the same cases, and the requests as they go over the wire.

use crate::programs;
use crate::through;
use std::collections::hash_map::RandomState;
use std::collections::{HashMap, VecDeque};
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use threadspec_apis::Pieces;
use threadspec_cli::StreamPieces;
use threadspec_cli::verify::{Additions, Leftovers, OverProvider, Testees};
use threadspec_golden::clause;
use threadspec_judge::protocol::{Endpoint, Feature, Hello, Op, Reply, Request, ServerDialect, Transport};
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_provider::{
    EndedRun, Engine, EngineOptions, Error, Received, RunPlan, Server, ServerLimits, Stray, StrayReason, WireRecord,
    compose, told, usual_model,
};
use threadspec_runner::{Process, Testee, Trouble};

/// How many runs that are over are kept, to judge them again if requests come late.
const MOST_ENDED: usize = 64;

/// The additions of `verify`: testees that ask a provider, and every form of report.
pub(crate) const ADDITIONS: Additions = Additions { testees, write: threadspec_pages::write };

/// Starts the testees of a run whose model is the provider, perhaps behind a gateway. The first one is ready.
fn testees(asked: &OverProvider<'_>) -> Result<(Testees, Leftovers), Unready> {
    if asked.program.program().is_some() {
        let (testees, _) = programs::testees(asked)?;
        // What else a program asks for is its own business.
        return Ok((testees, Box::new(|| None)));
    }
    let (testees, provider) = if asked.through.is_given() { through::testees(asked)? } else { direct(asked)? };
    Ok((testees, Box::new(move || provider.leftovers())))
}

/// The processes of an agent that asks the provider itself.
fn direct(asked: &OverProvider<'_>) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let provider = Arc::new(ModelServer::of(asked)?);
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
    /// The outcomes of requests that never reached the program.
    unasked: VecDeque<(i64, Outcome)>,
}

impl OverWire {
    /// Wraps a program that was started for this provider.
    pub(crate) fn new(process: Process, provider: Arc<ModelServer>) -> Self {
        let mut hello = process.hello().clone();
        if !hello.takes(provider.transport.api) {
            // It has nothing that could be asked.
            hello.ops.clear();
        }
        if provider.fuzzes {
            // Each API has opaque parts of its own, and some cannot say arguments that are no JSON.
            let is_sayable = |feature: &Feature| ![Feature::Opaque, Feature::Raw].contains(feature);
            let features = &mut hello.abilities.session.features;
            *features = features.iter().filter(is_sayable).collect();
        }
        let (running, ended, unasked) = (HashMap::new(), VecDeque::new(), VecDeque::new());
        Self { process, hello, provider, running, ended, unasked }
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
        let outcome = match self.provider.begin(request) {
            Ok(Begun::Run(told, key)) => {
                self.running.insert(request.id, key);
                return self.process.send(&told);
            }
            Ok(Begun::Unaskable(why)) => Outcome::Reply(Reply::Unsupported(why.to_owned())),
            Err(error) => Outcome::NotReady(Unready::Runner(format!("a case cannot be played over the wire: {error}"))),
        };
        self.unasked.push_back((request.id, outcome));
    }

    fn receive(&mut self) -> (i64, Outcome) {
        if let Some(unasked) = self.unasked.pop_front() {
            return unasked;
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
        self.unasked.clear();
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

// The provider of a command, and what it gives out: keys, and runs under them.

/// The begin of a run.
enum Begun {
    /// The request as the testee gets it, and the key of the run.
    Run(Request, String),
    /// Why nothing that the API takes says what was given.
    Unaskable(&'static str),
}

/// How many letters and digits make a key.
const KEY_LENGTH: usize = 24;
/// Those that keys and marks are made of.
const SIGNS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// The provider of a command: one server, on a free port of this machine, for all its testees.
#[derive(Debug)]
pub(crate) struct ModelServer {
    server: Server<Engine>,
    pub(crate) transport: Transport,
    pub(crate) model: String,
    dialect: Option<ServerDialect>,
    /// The source of keys that nobody guesses.
    secret: RandomState,
    keys: AtomicU64,
    /// Requests that came without a run, and that no testee has looked at yet.
    strays: Mutex<Vec<Stray>>,
    /// True if the inputs are generated, and each decides how its streams are divided.
    fuzzes: bool,
}

impl ModelServer {
    /// Starts the one that is asked for.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub(crate) fn of(asked: &OverProvider<'_>) -> Result<Self, Unready> {
        Self::start(asked.transport, asked.model, asked.dialect, Some(asked.pieces))
    }

    /// Starts it. Without `pieces`, each input decides how its streams are divided.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub(crate) fn start(
        transport: Transport,
        model: Option<&str>,
        dialect: Option<ServerDialect>,
        pieces: Option<StreamPieces>,
    ) -> Result<Self, Unready> {
        let fuzzes = pieces.is_none();
        let pieces = match pieces.unwrap_or_default() {
            StreamPieces::Usual => Pieces::Usual,
            StreamPieces::Tiny => Pieces::Tiny,
        };
        let options = EngineOptions { pieces, ..EngineOptions::default() };
        let model = model.unwrap_or_else(|| usual_model(transport.api)).to_owned();
        let server = Server::start(([127, 0, 0, 1], 0).into(), ServerLimits::default(), Engine::new(options))
            .map_err(|error| Unready::Runner(error.to_string()))?;
        let (secret, keys, strays) = (RandomState::new(), AtomicU64::new(0), Mutex::default());
        Ok(Self { server, transport, model, dialect, secret, keys, strays, fuzzes })
    }

    /// A key that was never given out.
    pub(crate) fn key(&self) -> String {
        let number = self.keys.fetch_add(1, Ordering::Relaxed);
        let sign = |place| {
            let drawn = self.secret.hash_one((number, place)) % SIGNS.len() as u64;
            char::from(SIGNS[usize::try_from(drawn).unwrap_or_default()])
        };
        "sk-threadspec-".chars().chain((0..KEY_LENGTH).map(sign)).collect()
    }

    /// Describes the attempts that belong to no run and no case: they count against the testee as a whole.
    pub(crate) fn leftovers(&self) -> Option<String> {
        let strays = self.take_strays(|_| true);
        let Stray { method, target, key, why, .. } = strays.first()?;
        let (clause, what) = match why {
            StrayReason::Late => (clause::WIRE_KEY, "long after the run of its key"),
            StrayReason::Unasked => (clause::GATE_FORWARD, "that nobody had sent"),
            _ => (clause::WIRE_KEY, "with a key that was never given out"),
        };
        let key = key.as_deref().unwrap_or("none");
        let more = if strays.len() == 1 { String::new() } else { format!(", and {} more", strays.len() - 1) };
        Some(format!("{clause}: a request came {what}: {method} {target}, key {key}{more}"))
    }

    /// A mark that was never given out: four letters and digits.
    pub(crate) fn mark(&self) -> String {
        // The number of the mark, moved by a secret; a factor without a divisor of the modulus keeps marks apart.
        const ALL: u64 = 62_u64.pow(4);
        let number = self.keys.fetch_add(1, Ordering::Relaxed).wrapping_mul(9_999_991);
        let mut rest = (number % ALL + self.secret.hash_one("mark") % ALL) % ALL;
        let mut sign = || {
            let sign = char::from(SIGNS[usize::try_from(rest % 62).unwrap_or_default()]);
            rest /= 62;
            sign
        };
        (0..4).map(|_| sign()).collect()
    }

    /// Begins a run.
    fn begin(&self, request: &Request) -> Result<Begun, Error> {
        let Transport { api, stream } = self.transport;
        let key = self.key();
        let mut plan = match request.op {
            Op::Session => RunPlan::of_session_input(api, &request.input)?,
            _ => RunPlan::of_case_input(api, &request.input)?,
        };
        if self.fuzzes {
            if let Some(why) = plan.unaskable() {
                return Ok(Begun::Unaskable(why));
            }
            plan.divide_streams(&request.input);
        }
        let reasoning = request.reasoning || plan.reasoning;
        let plan = RunPlan { stream, reasoning, dialect: self.dialect, model: Some(self.model.clone()), ..plan };
        let endpoint = Endpoint {
            transport: self.transport,
            base_url: self.server.base_url(api),
            api_key: key.clone(),
            model: self.model.clone(),
            reasoning,
        };
        self.server.with(|engine, now| engine.begin(now, &key, plan));
        let request = Request { input: told(&request.input).into(), endpoint: Some(endpoint), ..request.clone() };
        Ok(Begun::Run(request, key))
    }

    /// Begins a run under a key, as it is planned.
    pub(crate) fn begin_as(&self, key: &str, plan: RunPlan) {
        self.server.with(|engine, now| engine.begin(now, key, plan));
    }

    /// Announces the next run of a session, counted from 1.
    pub(crate) fn begin_run(&self, key: &str, number: usize) {
        let received = Received {
            method: "POST".into(),
            target: format!("/v1/runs/{number}"),
            headers: vec![("authorization".into(), format!("Bearer {key}"))],
            body: Ok(Vec::new()),
        };
        self.server.with_settled(|engine, now| engine.receive(now, received));
    }

    /// Forgets a run whose client is gone.
    pub(crate) fn abandon(&self, key: &str) {
        self.server.with(|engine, _| engine.abandon(key));
    }

    /// Looks at what has happened so far in a run.
    pub(crate) fn so_far<T>(&self, key: &str, look: impl FnOnce(&WireRecord) -> T) -> Option<T> {
        self.server.with_settled(|engine, _| engine.record(key).map(look))
    }

    /// How many requests have come so far in a run.
    pub(crate) fn attempts(&self, key: &str) -> usize {
        self.server.with(|engine, _| engine.record(key).map_or(0, |record| record.attempts.len()))
    }

    /// Takes these keys as those of a gateway.
    pub(crate) fn take_gateway_keys(&self, keys: Vec<String>) {
        self.server.with(|engine, _| engine.take_gateway_keys(keys));
    }

    /// Returns the time on its clock.
    pub(crate) fn now(&self) -> Duration {
        self.server.with(|_, now| now)
    }

    /// Where it listens, as a URL without a path.
    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.server.address())
    }

    pub(crate) fn end(&self, key: &str) -> Option<EndedRun> {
        self.server.with_settled(|engine, now| engine.end(now, key))
    }

    /// Takes the requests without a run that are of interest.
    pub(crate) fn take_strays(&self, mut is_wanted: impl FnMut(&Stray) -> bool) -> Vec<Stray> {
        let mut strays = self.strays.lock().unwrap_or_else(PoisonError::into_inner);
        strays.extend(self.server.with_settled(|engine, _| engine.take_strays()));
        let (taken, left) = std::mem::take(&mut *strays).into_iter().partition(|stray| is_wanted(stray));
        *strays = left;
        taken
    }
}
