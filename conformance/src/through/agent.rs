//! Runs an agent whose model is behind a gateway, and separates its faults from the gateway's.

use super::client::GatewayRoute;
use super::front::{Front, PassedRun};
use super::gateway::Gateway;
use super::over::EndedThrough;
use super::testee::MOST_ENDED;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;
use threadspec_judge::protocol::{Endpoint, Hello, Op, Request};
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_provider::{EndedRun, RunPlan, Server, ServerLimits, Upstream, told};
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
        let has_failed = |response: Option<&threadspec_provider::client::ClientResponse>| {
            response.is_none_or(|heard| !heard.is_whole || heard.status >= 500)
        };
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
