//! Sends our client's requests to a gateway, keeps all of both sides, and judges the run when it is over.

use super::gateway::Gateway;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use threadspec::oracle::Api;
use threadspec_gateway::{ClientExchange, ExchangeRecorder, GateFinding, GatewayRun, compose_with, judge};
use threadspec_golden::clause;
use threadspec_judge::protocol::{Reply, facts};
use threadspec_judge::verdict::Outcome;
use threadspec_provider::client::{ClientRequest, ClientResponse, Connection, Exchange};
use threadspec_provider::{EndedRun, WireLevel};
use threadspec_runner::interrupt;

/// How often a pause is looked at, and what arrives meanwhile.
const TICK: Duration = Duration::from_millis(50);
/// How many requests may arrive while a client waits for one answer: a gateway that sends more goes round in a circle.
const MOST_ATTEMPTS: usize = 50;
/// How many requests our client sends for an answer, and for no reason that the script knows.
const ATTEMPTS: usize = 3;
const FURTHER: usize = 20;

/// How a gateway is reached.
#[derive(Clone, Debug)]
pub(super) struct GatewayRoute {
    url: String,
    /// One that is never opened.
    connection: Arc<Connection>,
    /// The headers that it wants, beside those of the API.
    headers: Arc<[(String, String)]>,
}

impl GatewayRoute {
    /// The way to a URL without `/v1`; `None` if it is not one of plain HTTP.
    pub(super) fn new(url: &str, headers: Arc<[(String, String)]>) -> Option<Self> {
        Some(Self { url: url.to_owned(), connection: Arc::new(Connection::to(url)?), headers })
    }

    pub(super) fn authority(&self) -> &str {
        self.connection.authority()
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    pub(super) fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns the base URL that the SDK of an API takes.
    pub(super) fn base_url(&self, api: Api) -> String {
        format!("{}{}", self.url, facts(api).base)
    }
}

/// Until when an answer is waited for.
#[derive(Debug)]
struct AnswerWait {
    began: Instant,
    /// In milliseconds since then.
    until: AtomicU64,
    /// How many requests had arrived when the one was sent that is waited for.
    arrived: AtomicUsize,
    /// True if an answer did not come in time.
    is_late: AtomicBool,
    /// True if too many requests arrived while it was waited for.
    is_flooded: AtomicBool,
}

impl AnswerWait {
    fn is_over(&self) -> bool {
        self.began.elapsed().as_millis() > u128::from(self.until.load(Ordering::Relaxed))
    }
}

/// Sends requests to a gateway, and keeps them with what came back.
pub(super) struct RecordingExchange<'a> {
    gateway: &'a Gateway,
    route: &'a GatewayRoute,
    mark: String,
    recorder: ExchangeRecorder<Connection, Box<dyn Fn() -> Duration + 'a>>,
    /// How long one answer may take.
    allowed: Duration,
    /// How many requests are left: a gateway that answers always the same would keep a client busy for ever.
    left: usize,
    waiting: Arc<AnswerWait>,
}

impl<'a> RecordingExchange<'a> {
    /// For a run of this mark with so many turns; `allowed` is for each answer.
    pub(super) fn new(
        gateway: &'a Gateway,
        route: &'a GatewayRoute,
        (mark, turns): (&str, usize),
        allowed: Duration,
    ) -> Self {
        let waiting = Arc::new(AnswerWait {
            began: Instant::now(),
            until: AtomicU64::new(0),
            arrived: AtomicUsize::new(0),
            is_late: AtomicBool::new(false),
            is_flooded: AtomicBool::new(false),
        });
        let (own, server, run, mut looked) =
            (Arc::clone(&waiting), Arc::clone(&gateway.server), mark.to_owned(), Instant::now());
        let connection = route.connection.another().giving_up(move || {
            if looked.elapsed() >= TICK {
                looked = Instant::now();
                let arrived = server.attempts(&run).saturating_sub(own.arrived.load(Ordering::Relaxed));
                own.is_flooded.fetch_or(arrived > MOST_ATTEMPTS, Ordering::Relaxed);
                own.is_late.fetch_or(own.is_over(), Ordering::Relaxed);
            }
            interrupt::requested() || own.is_late.load(Ordering::Relaxed) || own.is_flooded.load(Ordering::Relaxed)
        });
        let clock: Box<dyn Fn() -> Duration + 'a> = Box::new(|| gateway.server.now());
        let recorder = ExchangeRecorder::new(gateway.client, connection, clock);
        Self { gateway, route, mark: mark.to_owned(), recorder, allowed, left: ATTEMPTS * turns + FURTHER, waiting }
    }

    /// Returns whether an answer did not come in time.
    pub(super) fn is_late(&self) -> bool {
        self.waiting.is_late.load(Ordering::Relaxed)
    }

    /// Returns whether the gateway asks without an end.
    pub(super) fn is_flooded(&self) -> bool {
        self.waiting.is_flooded.load(Ordering::Relaxed)
    }

    /// Returns the recorded exchanges.
    pub(super) fn into_exchanges(self) -> Vec<ClientExchange> {
        self.recorder.into_exchanges()
    }

    /// Returns whether nothing more is to be sent.
    fn is_over(&self) -> bool {
        self.is_late() || self.is_flooded() || interrupt::requested()
    }
}

impl Exchange for RecordingExchange<'_> {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        if self.is_over() || self.left == 0 {
            return None;
        }
        self.left -= 1;
        let until = (self.waiting.began.elapsed() + self.allowed).as_millis();
        self.waiting.until.store(u64::try_from(until).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.waiting.arrived.store(self.gateway.server.attempts(&self.mark), Ordering::Relaxed);
        let mut request = request.clone();
        request.headers.extend(self.route.headers.iter().cloned());
        self.recorder.exchange(&request)
    }

    fn wait(&mut self, time: Duration) {
        let until = Instant::now() + time;
        while Instant::now() < until && !self.is_over() {
            thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
    }
}

// A run through a gateway that is over.

/// A run through a gateway that is over.
#[derive(Debug)]
pub(super) struct EndedThrough {
    id: i64,
    run: EndedRun,
    exchanges: Vec<ClientExchange>,
    findings: Vec<GateFinding>,
    reply: Reply,
    /// True if others are why it failed.
    is_due_to_others: bool,
}

impl EndedThrough {
    pub(super) fn new(gateway: &Gateway, id: i64, run: EndedRun, exchanges: Vec<ClientExchange>, reply: Reply) -> Self {
        let mut ended = Self { id, run, exchanges, findings: Vec::new(), reply, is_due_to_others: false };
        ended.findings = judge(&ended.sides(gateway.client));
        ended
    }

    fn sides(&self, client: Api) -> GatewayRun<'_> {
        let EndedRun { plan, record, .. } = &self.run;
        GatewayRun { client, plan, record, exchanges: &self.exchanges }
    }

    /// Returns whether a clause is broken that counts.
    pub(super) fn is_at_fault(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == WireLevel::Must)
    }

    /// Returns whether the gateway gave an answer, or an error that passes, without having asked.
    pub(super) fn is_answered_by_gateway(&self, client: Api) -> bool {
        let attempts = self.sides(client).attempts().of_exchanges;
        attempts.iter().zip(&self.exchanges).any(|(attempts, exchange)| {
            let status = exchange.response.as_ref().map(|response| response.status);
            attempts.is_empty() && status.is_some_and(|status| status < 400 || status == 429 || status >= 500)
        })
    }

    /// Says that the run failed because of others: alone it does not.
    pub(super) fn blame_others(&mut self, when: &str) {
        let Some(found) = self.findings.iter().find(|finding| finding.level == WireLevel::Must).cloned() else {
            return;
        };
        let what = format!("{when} this failed, and alone it does not: {}: {}", found.clause, found.what);
        self.findings = vec![GateFinding { clause: clause::GATE_INDEPENDENT, what, ..found }];
        self.is_due_to_others = true;
    }

    /// Returns the outcome for a testee.
    pub(super) fn outcome(&self, gateway: &Gateway, is_of_agent: bool) -> Outcome {
        let run = self.sides(gateway.client);
        Outcome::Reply(compose_with(&run, &gateway.name, &self.findings, is_of_agent, self.reply.clone()))
    }

    /// Adds to runs what came with their marks when they were over. Returns those of which more is known now.
    pub(super) fn amend(ended: &mut VecDeque<Self>, gateway: &Gateway, is_of_agent: bool) -> Vec<(i64, Outcome)> {
        let is_own = |key: Option<&String>| ended.iter().any(|ended| key == Some(&ended.run.record.key));
        let late = gateway.server.take_strays(|stray| is_own(stray.key.as_ref()));
        let mut amended = Vec::new();
        for ended in ended {
            let own = late.iter().filter(|stray| stray.key.as_ref() == Some(&ended.run.record.key));
            let before = ended.run.record.strays.len();
            ended.run.record.strays.extend(own.cloned());
            if ended.run.record.strays.len() > before {
                if !ended.is_due_to_others {
                    ended.findings = judge(&ended.sides(gateway.client));
                }
                amended.push((ended.id, ended.outcome(gateway, is_of_agent)));
            }
        }
        amended
    }
}
