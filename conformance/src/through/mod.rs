//! Runs gateways, programs between a client and its model, as testees.
//!
//! A client of ours runs the same cases against them, in this process, whose model is the provider.

mod agent;
mod client;
mod gateway;

use crate::over_wire::ModelServer;
use agent::AgentThrough;
use client::{EndedThrough, RecordingExchange};
use gateway::Gateway;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use threadspec::surrogates::without_marks;
use threadspec_cli::verify::{OverProvider, Testees};
use threadspec_gateway::{GatewayCase, play};
use threadspec_judge::json;
use threadspec_judge::protocol::{Endpoint, Hello, Implementation, JudgeProfile, Op, Reply, Request, Transport};
use threadspec_judge::reference::Reference;
use threadspec_judge::universal::value;
use threadspec_judge::verdict::{Outcome, Unready};
use threadspec_provider::client::HttpModel;
use threadspec_provider::{Error, RunPlan, mark_of, told};
use threadspec_runner::{Process, Testee, Trouble, interrupt};

/// Starts a gateway, and returns the testees of a run through it, the first of them ready, and the provider.
///
/// # Errors
///
/// Says why the gateway does not get ready.
pub(crate) fn testees(asked: &OverProvider<'_>) -> Result<(Testees, Arc<ModelServer>), Unready> {
    let &OverProvider { transport, through: options, command, timeout, .. } = asked;
    let server = Arc::new(ModelServer::of(asked)?);
    if let Some(path) = options.log() {
        gateway::prepare_log(path)?;
    }
    let gateway = Arc::new(Gateway::new(options, Arc::clone(&server)));
    gateway.route()?;
    // What came until now was for nobody.
    server.take_strays(|_| true);
    if !command.is_empty() {
        let process = Process::start_over(Transport { api: gateway.client, ..transport }, command, timeout)?;
        return Ok((vec![Box::new(AgentThrough::new(process, gateway))], server));
    }
    let several = options.at_once() > 1;
    let testee = || Box::new(ThroughGateway::new(Arc::clone(&gateway), timeout, several)) as Box<dyn Testee + Send>;
    Ok(((0..options.at_once()).map(|_| testee()).collect(), server))
}

// A gateway as a testee: our client puts each case to it, in this process.

/// How many runs that are over are kept, to judge them again if requests come late.
const MOST_ENDED: usize = 64;

/// A gateway, and a client of ours that asks it.
#[derive(Debug)]
struct ThroughGateway {
    gateway: Arc<Gateway>,
    hello: Hello,
    timeout: Duration,
    /// True if others ask the gateway at the same time.
    is_one_of_several: bool,
    /// How many times as long an answer may take.
    patience: u32,
    /// How long the latest run took that took longer than it may.
    late: Option<Duration>,
    sent: VecDeque<Request>,
    /// The last runs that are over, each with its request and what the client replied.
    ended: VecDeque<EndedThrough>,
}

impl ThroughGateway {
    /// `timeout` is for each answer of the gateway.
    fn new(gateway: Arc<Gateway>, timeout: Duration, is_one_of_several: bool) -> Self {
        let (name, version) = match gateway.name.rsplit_once(' ') {
            Some((name, version)) if version.starts_with(|sign: char| sign.is_ascii_digit()) => (name, version),
            _ => (&*gateway.name, "?"),
        };
        let hello = Hello {
            name: name.to_owned(),
            version: version.to_owned(),
            language: "a gateway".to_owned(),
            url: None,
            ops: vec![Op::Tools],
            profiles: vec![JudgeProfile::Universal],
            ..Reference.hello()
        };
        let (sent, ended) = (VecDeque::new(), VecDeque::new());
        Self { gateway, hello, timeout, is_one_of_several, patience: 1, late: None, sent, ended }
    }

    /// Has a case played; again without others before it or beside it, if they may be why it fails.
    fn play(&mut self, request: &Request) -> Result<EndedThrough, Outcome> {
        let mut first = {
            let gateway = Arc::clone(&self.gateway);
            let _part = gateway.join();
            self.play_once(request)?
        };
        if !first.is_at_fault() {
            return Ok(first);
        }
        if self.is_one_of_several {
            let gateway = Arc::clone(&self.gateway);
            let _alone = gateway.be_alone();
            let second = self.play_once(request)?;
            if second.is_at_fault() {
                return Ok(second);
            }
            first.blame_others("while other runs were under way");
        } else if first.is_answered_by_gateway(self.gateway.client) && self.gateway.may_begin_anew() {
            self.gateway.end();
            let second = self.play_once(request)?;
            if !second.is_at_fault() {
                first.blame_others("after other runs");
            }
        }
        Ok(first)
    }

    fn play_once(&mut self, request: &Request) -> Result<EndedThrough, Outcome> {
        let route = self.gateway.route().map_err(Outcome::NotReady)?;
        let server = &self.gateway.server;
        let unfit =
            |error| Outcome::NotReady(Unready::Runner(format!("a case cannot be played over the wire: {error}")));
        let case = PutCase::read(request, server.transport).map_err(unfit)?;
        let plan = RunPlan { model: Some(server.model.clone()), ..case.plan() };
        let endpoint = self.gateway.endpoint(&route, server.transport.stream, plan.reasoning);
        let (mark, turns) = (server.mark(), plan.turns.len());
        server.begin_as(&mark, plan);
        let began = Instant::now();
        let allowed = self.timeout * self.patience;
        let mut exchange = RecordingExchange::new(&self.gateway, &route, (&mark, turns), allowed);
        let replied = case.play(request, &endpoint, &mark, &mut exchange);
        let (is_late, is_flooded) = (exchange.is_late(), exchange.is_flooded());
        let exchanges = exchange.into_exchanges();
        let run = server.end(&mark);
        if interrupt::requested() {
            return Err(Outcome::Interrupted);
        }
        let has_failed =
            exchanges.iter().any(|exchange| exchange.response.as_ref().is_none_or(|heard| !heard.is_whole));
        if let Some(words) = self.gateway.last_words(has_failed) {
            return Err(Outcome::Crash(words));
        }
        if is_flooded {
            // It would go on with what nobody waits for.
            self.gateway.end();
        } else if is_late {
            return Err(Outcome::Timeout(format!("no answer of the gateway within {allowed:?}")));
        }
        if self.patience > 1 {
            self.late = Some(began.elapsed());
        }
        let run = run.ok_or_else(|| Outcome::NotReady(Unready::Runner("the run was lost".to_owned())))?;
        let reply = replied
            .map_err(|why| Outcome::NotReady(Unready::Runner(format!("our client replied with no reply: {why}"))))?;
        Ok(EndedThrough::new(&self.gateway, request.id, run, exchanges, reply))
    }
}

/// A case as our client puts it.
enum PutCase {
    /// One about gateways: the requests are given.
    Given(Box<GatewayCase>, RunPlan),
    /// One about agents: the reference runs with the gateway as its model.
    OfAgent(RunPlan),
}

impl PutCase {
    fn read(request: &Request, Transport { api, stream }: Transport) -> Result<Self, Error> {
        if json::member(&request.input, "sends").is_some() {
            let case = GatewayCase::read(&request.input)?;
            let plan = case.plan(api, stream);
            return Ok(Self::Given(Box::new(case), plan));
        }
        let plan = RunPlan::of_case_input(api, &request.input)?;
        let reasoning = request.reasoning || plan.reasoning;
        Ok(Self::OfAgent(RunPlan { stream, reasoning, ..plan }))
    }

    fn plan(&self) -> RunPlan {
        let (Self::Given(_, plan) | Self::OfAgent(plan)) = self;
        plan.clone()
    }

    /// Plays a case with our client, and returns its reply.
    fn play(
        &self,
        request: &Request,
        endpoint: &Endpoint,
        mark: &str,
        exchange: &mut RecordingExchange<'_>,
    ) -> Result<Reply, String> {
        if let Self::Given(case, _) = self {
            play(case, endpoint, Some(&mark_of(mark)), exchange);
            return Ok(Reply::Ok(serde_json::json!({})));
        }
        let input = value::read(&request.input).unwrap_or_default();
        let names = input["tools"].as_object().into_iter().flatten().map(|(name, _)| without_marks(name).into_owned());
        let mut model = HttpModel::new(endpoint, names, exchange).marking_tools(mark_of(mark));
        let told = Request { input: told(&request.input).into(), endpoint: Some(endpoint.clone()), ..request.clone() };
        let line = Reference.line_with(&told, &mut model);
        Reply::read_for(request.profile, line.as_bytes()).map(|(_, reply)| reply).map_err(|why| why.to_string())
    }
}

impl Testee for ThroughGateway {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.sent.push_back(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let Some(request) = self.sent.pop_front() else {
            return (0, Outcome::NotReady(Unready::Runner("nothing was asked".to_owned())));
        };
        match self.play(&request) {
            Ok(ended) => {
                let outcome = ended.outcome(&self.gateway, false);
                self.ended.push_back(ended);
                if self.ended.len() > MOST_ENDED {
                    self.ended.pop_front();
                }
                (request.id, outcome)
            }
            Err(outcome) => {
                if matches!(outcome, Outcome::Crash(_) | Outcome::Timeout(_)) {
                    self.restart();
                }
                (request.id, outcome)
            }
        }
    }

    fn be_patient(&mut self, times: u32) {
        (self.patience, self.late) = (times, None);
    }

    fn lateness(&self) -> Option<Duration> {
        self.late.filter(|late| *late > self.timeout)
    }

    fn restart(&mut self) {
        self.sent.clear();
        let _alone = self.gateway.be_alone();
        self.gateway.end();
    }

    /// Requests with the marks of runs that were over belong to these runs.
    fn amended(&mut self) -> Vec<(i64, Outcome)> {
        EndedThrough::amend(&mut self.ended, &self.gateway, false)
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}
