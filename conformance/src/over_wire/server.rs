//! The provider of a command, and what it gives out: keys, and runs under them.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use threadspec_apis::Pieces;
use threadspec_cli::StreamPieces;
use threadspec_cli::verify::OverProvider;
use threadspec_golden::clause;
use threadspec_judge::protocol::{Endpoint, Op, Request, Transport};
use threadspec_judge::verdict::Unready;
use threadspec_provider::{
    EndedRun, Engine, EngineOptions, Error, RunPlan, Server, ServerLimits, Stray, StrayReason, WireRecord, told,
    usual_model,
};

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
    /// The source of keys that nobody guesses.
    secret: RandomState,
    keys: AtomicU64,
    /// Requests that came without a run, and that no testee has looked at yet.
    strays: Mutex<Vec<Stray>>,
}

impl ModelServer {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// When it cannot listen.
    pub(crate) fn start(asked: &OverProvider<'_>) -> Result<Self, Unready> {
        let pieces = match asked.pieces {
            StreamPieces::Usual => Pieces::Usual,
            StreamPieces::Tiny => Pieces::Tiny,
        };
        let transport = asked.transport;
        let options = EngineOptions { pieces, ..EngineOptions::default() };
        let model = asked.model.unwrap_or_else(|| usual_model(transport.api)).to_owned();
        let server = Server::start(([127, 0, 0, 1], 0).into(), ServerLimits::default(), Engine::new(options))
            .map_err(|error| Unready::Runner(error.to_string()))?;
        let (secret, keys, strays) = (RandomState::new(), AtomicU64::new(0), Mutex::default());
        Ok(Self { server, transport, model, secret, keys, strays })
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

    /// Begins a run, and gives the request as the testee gets it, and the key.
    pub(super) fn begin(&self, request: &Request) -> Result<(Request, String), Error> {
        let Transport { api, stream } = self.transport;
        let key = self.key();
        let plan = match request.op {
            Op::Session => RunPlan::of_session_input(api, &request.input)?,
            _ => RunPlan::of_case_input(api, &request.input)?,
        };
        let reasoning = request.reasoning || plan.reasoning;
        let plan = RunPlan { stream, reasoning, model: Some(self.model.clone()), ..plan };
        let endpoint = Endpoint {
            transport: self.transport,
            base_url: self.server.base_url(api),
            api_key: key.clone(),
            model: self.model.clone(),
            reasoning,
        };
        self.server.with(|engine, now| engine.begin(now, &key, plan));
        Ok((Request { input: told(&request.input).into(), endpoint: Some(endpoint), ..request.clone() }, key))
    }

    /// Begins a run under a key, as it is planned.
    pub(crate) fn begin_as(&self, key: &str, plan: RunPlan) {
        self.server.with(|engine, now| engine.begin(now, key, plan));
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
