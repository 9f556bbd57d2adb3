//! The agent and the provider in one process, without a socket and without a clock.

use crate::agent::Agent;
use crate::planted::Planted;
use crate::wire::WireAgent;
use serde_json::Value;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::json_text;
use threadspec_judge::protocol::{Endpoint, Hello, Implementation, JudgeProfile, Op, Reply, Request, Transport};
use threadspec_judge::universal::value;
use threadspec_judge::verdict::Outcome;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};
use threadspec_provider::{Engine, EngineOptions, RunPlan, ask_engine, compose, told};
use threadspec_runner::{Testee, Trouble};

/// Changes the body of a request, given its number, counted from 0.
pub(crate) type ChangeBody = Arc<dyn Fn(usize, &mut Value) + Send + Sync>;

/// Changes the body of a request on its way; `sent` counts the bodies.
pub(crate) fn change_body(change: &ChangeBody, sent: &AtomicUsize, request: &mut ClientRequest) {
    let Some(body) = str::from_utf8(&request.body).ok().and_then(|text| value::read(text).ok()) else { return };
    let mut changed = body.clone();
    change(sent.fetch_add(1, Ordering::Relaxed), &mut changed);
    if changed != body {
        request.body = json_text(&changed, false).into_bytes();
    }
}

/// A provider in this process. Its time passes only where it is told to wait.
struct InEngine {
    engine: Engine,
    now: Duration,
    /// Changes bodies on their way, and how many went.
    change: Option<ChangeBody>,
    sent: AtomicUsize,
}

impl Exchange for InEngine {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        let Some(change) = &self.change else { return ask_engine(&mut self.engine, &mut self.now, request) };
        let mut request = request.clone();
        change_body(change, &self.sent, &mut request);
        ask_engine(&mut self.engine, &mut self.now, &request)
    }

    fn wait(&mut self, time: Duration) {
        self.now += time;
    }
}

/// The agent over the wire as a testee, judged by what the provider saw.
pub(crate) struct InOneProcess {
    agent: WireAgent,
    exchange: InEngine,
    transport: Transport,
    hello: Hello,
    runs: u64,
    sent: VecDeque<Request>,
}

impl InOneProcess {
    /// With something planted, or sound.
    pub(crate) fn new(planted: Option<&Planted>, transport: Transport) -> Self {
        let mut agent = WireAgent::default();
        planted.into_iter().for_each(|planted| planted.plant_in(&mut agent));
        let (engine, now) = (Engine::new(EngineOptions::default()), Duration::from_secs(1));
        let exchange = InEngine { engine, now, change: None, sent: AtomicUsize::new(0) };
        Self { agent, exchange, transport, hello: Agent::default().hello(), runs: 0, sent: VecDeque::new() }
    }

    /// One whose bodies are changed on their way.
    pub(crate) fn changing(mut self, change: ChangeBody) -> Self {
        self.exchange.change = Some(change);
        self
    }

    fn reply(&mut self, request: &Request) -> Reply {
        let Transport { api, stream } = self.transport;
        self.runs += 1;
        let endpoint = Endpoint {
            transport: self.transport,
            base_url: if api == Api::Anthropic { "http://provider" } else { "http://provider/v1" }.to_owned(),
            api_key: format!("sk-threadspec-Aa{:022}", self.runs),
            model: if api == Api::Anthropic { "claude-sonnet-5" } else { "gpt-4.1" }.to_owned(),
            reasoning: request.reasoning,
        };
        let plan = match RunPlan::of_case_input(api, &request.input) {
            Ok(plan) => RunPlan { stream, reasoning: request.reasoning, model: Some(endpoint.model.clone()), ..plan },
            Err(error) => return Reply::Unsupported(format!("it cannot be played: {error}")),
        };
        let key = endpoint.api_key.clone();
        let Self { agent, exchange, .. } = self;
        exchange.engine.begin(exchange.now, &key, plan);
        let reply = agent.run(&told(&request.input), endpoint, exchange);
        let Some(mut ended) = exchange.engine.end(exchange.now, &key) else { return reply };
        for late in std::mem::take(&mut agent.behind) {
            let _ = exchange.exchange(&late);
        }
        ended.record.strays.extend(exchange.engine.take_strays());
        // As a reply that was read.
        let line = reply.marked_line(request.id);
        let reply = Reply::read_for(JudgeProfile::Universal, line).map_or(reply, |(_, reply)| reply);
        compose(&ended.plan, &ended.record, reply)
    }
}

impl Testee for InOneProcess {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.sent.push_back(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let request = self.sent.pop_front().expect("a request was sent");
        if request.op != Op::Tools {
            return (request.id, Outcome::Reply(Reply::Unsupported("an agent has op `tools` alone".to_owned())));
        }
        let reply = catch_unwind(AssertUnwindSafe(|| self.reply(&request)));
        (request.id, reply.map_or_else(|_| Outcome::Crash("it panicked".to_owned()), Outcome::Reply))
    }

    fn restart(&mut self) {
        self.sent.clear();
    }

    fn finish(&mut self) -> Vec<Trouble> {
        Vec::new()
    }
}
