//! A server before a gateway, for agents: it passes on what they send, and keeps both directions.

use crate::over_wire::ModelServer;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, json_text};
use threadspec_gateway::ClientExchange;
use threadspec_provider::client::{ClientRequest, ClientResponse};
use threadspec_provider::{Answers, PlannedAnswer, PlannedEnd, Reaction, Received, UpstreamPart, WireStep};

/// How many requests an agent may send for an answer, and for no reason that the script knows.
const ATTEMPTS: usize = 12;
const FURTHER: usize = 40;
/// A key in a header is at most this long.
const LONGEST_KEY: usize = 1 << 10;

/// Passes on what agents send with the keys of their runs.
#[derive(Debug)]
pub(super) struct Front {
    api: Api,
    /// Whose clock counts.
    server: Arc<ModelServer>,
    /// The traffic of the runs that are under way, by their keys.
    runs: HashMap<String, Vec<Passed>>,
    /// How many requests one run may have: a gateway that answers always the same would keep an agent busy for ever.
    most: usize,
    /// The run and the place of each request.
    places: Vec<Option<(String, usize)>>,
}

/// A request and its answer.
#[derive(Debug)]
struct Passed {
    began: Duration,
    ended: Option<Duration>,
    request: ClientRequest,
    response: Option<ClientResponse>,
}

/// A front's view of a run.
#[derive(Debug)]
pub(super) struct PassedRun {
    pub(super) exchanges: Vec<ClientExchange>,
    /// True if a request waits for the end of its answer.
    pub(super) is_waiting: bool,
}

impl Front {
    pub(super) fn new(api: Api, server: Arc<ModelServer>) -> Self {
        Self { api, server, runs: HashMap::new(), most: usize::MAX, places: Vec::new() }
    }

    /// Takes what comes with this key from now on, for so many turns of the model.
    pub(super) fn begin(&mut self, key: &str, turns: usize) {
        self.runs.insert(key.to_owned(), Vec::new());
        self.most = ATTEMPTS * turns + FURTHER;
    }

    /// Ends a run, and gives what passed in it.
    pub(super) fn end(&mut self, key: &str) -> PassedRun {
        let (passed, now) = (self.runs.remove(key).unwrap_or_default(), self.server.now());
        let is_waiting = passed.last().is_some_and(|last| last.ended.is_none());
        let exchange = |Passed { began, ended, request, response }| ClientExchange {
            api: self.api,
            began,
            ended: ended.unwrap_or(now),
            request,
            response,
        };
        PassedRun { exchanges: passed.into_iter().map(exchange).collect(), is_waiting }
    }

    /// The key of a run that a request carries.
    fn key(&self, received: &Received) -> Option<String> {
        let keys = received.headers.iter().filter_map(|(name, value)| match &**name {
            "x-api-key" | "api-key" => Some(value.trim()),
            "authorization" => value.split_once(' ').map(|(_, key)| key.trim()),
            _ => None,
        });
        keys.filter(|key| key.len() <= LONGEST_KEY).find(|key| self.runs.contains_key(*key)).map(str::to_owned)
    }

    fn passed(&mut self, attempt: usize) -> Option<&mut Passed> {
        let (key, place) = self.places.get(attempt)?.as_ref()?;
        self.runs.get_mut(key)?.get_mut(*place)
    }

    fn refusal(&self, error: &ApiError) -> Reaction {
        let body = json_text(&error.body(self.api, "req_front"), false).into_bytes();
        Reaction::Answer(PlannedAnswer {
            delay: Duration::ZERO,
            status: error.status,
            headers: vec![("content-type".to_owned(), "application/json".to_owned())],
            length: Some(body.len() as u64),
            steps: vec![WireStep::Write(body)],
            ending: PlannedEnd::Whole,
        })
    }
}

impl Answers for Front {
    type Attempt = usize;

    fn receive(&mut self, _: Duration, received: Received) -> (usize, Reaction) {
        let (attempt, now) = (self.places.len(), self.server.now());
        self.places.push(None);
        let Some(key) = self.key(&received) else {
            // An agent that does not use the key of its run would not get through to any provider.
            return (attempt, self.refusal(&ApiError::wrong_key(self.api, None)));
        };
        let body = match received.body {
            Ok(body) => body,
            Err(why) => {
                let error = ApiError::new(why.status(), "invalid_request_error", why.to_string());
                return (attempt, self.refusal(&error));
            }
        };
        if received.method == "POST" {
            let Received { method, target, headers, .. } = received;
            let request = ClientRequest { method, target, headers, body };
            let most = self.most;
            let passed = self.runs.entry(key.clone()).or_default();
            if passed.len() >= most {
                return (attempt, self.refusal(&ApiError::invalid("the run has asked often enough")));
            }
            self.places[attempt] = Some((key, passed.len()));
            passed.push(Passed { began: now, ended: None, request, response: None });
        }
        (attempt, Reaction::Forward)
    }

    fn delivered(&mut self, _: Duration, attempt: usize, is_whole: bool) {
        let now = self.server.now();
        if let Some(passed) = self.passed(attempt) {
            passed.ended = Some(now);
            if let Some(response) = &mut passed.response {
                response.is_whole = is_whole;
            }
        }
    }

    fn heard(&mut self, _: Duration, attempt: &usize, heard: UpstreamPart<'_>) {
        let Some(passed) = self.passed(*attempt) else { return };
        match (heard, &mut passed.response) {
            (UpstreamPart::Head { status, headers, .. }, response) => {
                *response =
                    Some(ClientResponse { status, headers: headers.to_vec(), pieces: Vec::new(), is_whole: false });
            }
            (UpstreamPart::Data(data), Some(response)) => response.pieces.push(data.to_vec()),
            (UpstreamPart::Data(_) | UpstreamPart::Unreachable(_), _) => {}
        }
    }
}
