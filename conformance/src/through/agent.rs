//! Runs an agent whose model is behind a gateway, and separates its faults from the gateway's.

use super::MOST_ENDED;
use super::client::{EndedThrough, GatewayRoute};
use super::gateway::Gateway;
use crate::over_wire::ModelServer;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, json_text};
use threadspec_gateway::ClientExchange;
use threadspec_judge::protocol::{Endpoint, Hello, Op, Request};
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_provider::client::{ClientRequest, ClientResponse};
use threadspec_provider::{
    Answers, EndedRun, PlannedAnswer, PlannedEnd, Reaction, Received, RunPlan, Server, ServerLimits, Upstream,
    UpstreamPart, WireStep, told,
};
use threadspec_runner::{Process, Testee, Trouble};

/// An agent that asks its model through a gateway. A server of ours is between both.
#[derive(Debug)]
pub(super) struct AgentThrough {
    process: Process,
    hello: Hello,
    gateway: Arc<Gateway>,
    /// Before which URL it is.
    front: Option<(String, Server<Front>)>,
    /// The run that is under way.
    running: HashMap<i64, RunningKeys>,
    ended: VecDeque<EndedThrough>,
    /// A request that cannot be put, and what came of it.
    unfit: Option<(i64, Outcome)>,
}

/// The keys of a run.
#[derive(Debug)]
struct RunningKeys {
    /// To the server before the gateway.
    key: String,
    /// To the provider behind it.
    mark: String,
}

impl AgentThrough {
    /// Wraps a program that was started for the client's API.
    pub(super) fn new(process: Process, gateway: Arc<Gateway>) -> Self {
        let mut hello = process.hello().clone();
        // A gateway has one key for all runs.
        hello.abilities.concurrent = false;
        hello
            .ops
            .retain(|op| *op == Op::Tools && hello.apis.as_ref().is_none_or(|apis| apis.contains(&gateway.client)));
        let (running, ended) = (HashMap::new(), VecDeque::new());
        Self { process, hello, gateway, front: None, running, ended, unfit: None }
    }

    /// The server before the gateway, where that is now.
    fn front(&mut self, route: &GatewayRoute) -> Result<&Server<Front>, Unready> {
        let lacking = |error: threadspec_provider::Error| Unready::Runner(error.to_string());
        if self.front.as_ref().is_none_or(|(url, _)| url != route.url()) {
            let upstream = Upstream::read(route.url(), Some(self.gateway.client_key().to_owned())).map_err(lacking)?;
            let upstream = upstream.adding(route.headers().to_vec());
            let front = Front::new(self.gateway.client, Arc::clone(&self.gateway.server));
            let server =
                Server::start_before(Some(upstream), ([127, 0, 0, 1], 0).into(), ServerLimits::default(), front);
            self.front = Some((route.url().to_owned(), server.map_err(lacking)?));
        }
        self.front.as_ref().map(|(_, front)| front).ok_or_else(|| Unready::Runner("no server".to_owned()))
    }

    fn begin(&mut self, request: &Request) -> Result<Request, Unready> {
        let gateway = Arc::clone(&self.gateway);
        let (route, server) = (gateway.route()?, &gateway.server);
        let plan = RunPlan::of_case_input(server.transport.api, &request.input)
            .map_err(|error| Unready::Runner(format!("a case cannot be played over the wire: {error}")))?;
        let reasoning = request.reasoning || plan.reasoning;
        let stream = server.transport.stream;
        let (mark, key) = (server.mark(), server.key());
        let front = self.front(&route)?;
        front.with(|front, _| front.begin(&key, plan.turns.len()));
        let base_url = front.base_url(gateway.client);
        server.begin_as(&mark, RunPlan { stream, reasoning, model: Some(server.model.clone()), ..plan });
        let endpoint = Endpoint { base_url, api_key: key.clone(), ..gateway.endpoint(&route, stream, reasoning) };
        self.running.insert(request.id, RunningKeys { key, mark });
        Ok(Request { input: told(&request.input).into(), endpoint: Some(endpoint), ..request.clone() })
    }

    /// Ends a run, and returns the server's view before the gateway, and the run behind it.
    fn end(&mut self, id: i64) -> Option<(PassedRun, EndedRun)> {
        let RunningKeys { key, mark } = self.running.remove(&id)?;
        let (_, front) = self.front.as_ref()?;
        let passed = front.with_settled(|front, _| front.end(&key));
        Some((passed, self.gateway.server.end(&mark)?))
    }

    /// Forgets all runs: whoever made them is gone.
    fn abandon(&mut self) {
        for (_, RunningKeys { key, mark }) in self.running.drain() {
            self.gateway.server.abandon(&mark);
            if let Some((_, front)) = &self.front {
                front.with(|front, _| front.end(&key));
            }
        }
    }
}

impl Testee for AgentThrough {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        match self.begin(request) {
            Ok(told) => self.process.send(&told),
            Err(why) => self.unfit = Some((request.id, Outcome::NotReady(why))),
        }
    }

    fn receive(&mut self) -> (i64, Outcome) {
        if let Some(unfit) = self.unfit.take() {
            return unfit;
        }
        let (id, outcome) = self.process.receive();
        let Some((passed, run)) = self.end(id) else { return (id, outcome) };
        let has_failed =
            |response: Option<&ClientResponse>| response.is_none_or(|heard| !heard.is_whole || heard.status >= 500);
        let has_failed = passed.exchanges.iter().any(|exchange| has_failed(exchange.response.as_ref()));
        // An agent whose gateway is gone can do nothing.
        if let Some(words) = self.gateway.last_words(has_failed) {
            self.restart();
            return (id, Outcome::Crash(words));
        }
        match outcome {
            Outcome::Reply(reply) => {
                let ended = EndedThrough::new(&self.gateway, id, run, passed.exchanges, reply);
                let outcome = ended.outcome(&self.gateway, true);
                self.ended.push_back(ended);
                if self.ended.len() > MOST_ENDED {
                    self.ended.pop_front();
                }
                (id, outcome)
            }
            Outcome::Timeout(what) if passed.is_waiting => {
                self.abandon();
                let what = format!("{what}\nthe gateway {} owed the agent an answer", self.gateway.name);
                self.gateway.end();
                (id, Outcome::Timeout(what))
            }
            other => {
                self.abandon();
                (id, other)
            }
        }
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
        self.gateway.end();
    }

    fn overhear(&mut self, time: Duration) -> Option<Outcome> {
        self.process.overhear(time)
    }

    fn amended(&mut self) -> Vec<(i64, Outcome)> {
        EndedThrough::amend(&mut self.ended, &self.gateway, true)
    }

    fn finish(&mut self) -> Vec<Trouble> {
        self.abandon();
        self.process.finish()
    }
}

// A server before a gateway, for agents: it passes on what they send, and keeps both directions.

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
