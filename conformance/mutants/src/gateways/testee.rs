//! Client, gateway and provider in one process, without a socket and without a clock.

use crate::gateway::{Between, TestGateway, Through};
use crate::planted::Planted;
use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_gateway::{ClientExchange, ExchangeRecorder, GatewayCase, GatewayRun, compose, play};
use threadspec_judge::json;
use threadspec_judge::protocol::{Endpoint, Hello, Implementation, JudgeProfile, Op, Reply, Request, Transport};
use threadspec_judge::reference::Reference;
use threadspec_judge::universal::value;
use threadspec_judge::verdict::Outcome;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange, HttpModel};
use threadspec_provider::{Engine, EngineOptions, RunPlan, ask_engine, mark_of, told};
use threadspec_runner::{Testee, Trouble};

/// The key of the gateway, on both sides.
const KEY: &str = "sk-threadspec-gateway-0000000000";

/// The provider behind the gateway. Its time passes only where it is told to wait.
struct Behind {
    engine: Rc<RefCell<Engine>>,
    now: Rc<Cell<Duration>>,
}

impl Behind {
    fn pass(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}

impl Exchange for Behind {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        // No two things happen at once.
        self.pass(Duration::from_millis(20));
        let mut now = self.now.get();
        let response = ask_engine(&mut self.engine.borrow_mut(), &mut now, request);
        self.now.set(now);
        response
    }

    fn wait(&mut self, time: Duration) {
        self.pass(time);
    }
}

/// A test gateway as a testee, asked by a client of ours.
pub(crate) struct ThroughTestGateway {
    through: Through<Behind>,
    between: Between,
    hello: Hello,
    runs: u64,
    sent: VecDeque<Request>,
}

impl ThroughTestGateway {
    /// With something planted, or sound.
    pub(crate) fn new(planted: Option<&Planted>, between: Between) -> Self {
        let mut gateway = TestGateway::new(between.client, between.upstream);
        planted.into_iter().for_each(|planted| planted.plant_in_gateway(&mut gateway));
        Self::with(gateway, between)
    }

    /// With a gateway.
    pub(crate) fn with(gateway: TestGateway, between: Between) -> Self {
        let mut engine = Engine::new(EngineOptions::default());
        engine.take_gateway_keys(vec![KEY.to_owned()]);
        let behind = Behind { engine: Rc::new(RefCell::new(engine)), now: Rc::new(Cell::new(Duration::from_secs(1))) };
        let hello = Hello { ops: vec![Op::Tools], profiles: vec![JudgeProfile::Universal], ..Reference.hello() };
        Self { through: Through { gateway, upstream: behind }, between, hello, runs: 0, sent: VecDeque::new() }
    }

    fn reply(&mut self, request: &Request) -> Reply {
        let Between { client, upstream, stream } = self.between;
        self.runs += 1;
        let mark = format!("q{:07}", self.runs);
        let case = if json::member(&request.input, "sends").is_some() {
            match GatewayCase::read(&request.input) {
                Ok(case) => Some(case),
                Err(error) => return Reply::Unsupported(format!("it cannot be played: {error}")),
            }
        } else {
            None
        };
        let plan = match &case {
            Some(case) => case.plan(upstream, stream),
            None => match RunPlan::of_case_input(upstream, &request.input) {
                Ok(plan) => RunPlan { stream, reasoning: request.reasoning || plan.reasoning, ..plan },
                Err(error) => return Reply::Unsupported(format!("it cannot be played: {error}")),
            },
        };
        let endpoint = Endpoint {
            transport: Transport { api: client, stream },
            base_url: if client == Api::Anthropic { "http://gateway" } else { "http://gateway/v1" }.to_owned(),
            api_key: KEY.to_owned(),
            model: "test-model".to_owned(),
            reasoning: plan.reasoning,
        };
        let plan = RunPlan { model: Some(endpoint.model.clone()), ..plan };
        let (engine, now) = (Rc::clone(&self.through.upstream.engine), Rc::clone(&self.through.upstream.now));
        engine.borrow_mut().begin(now.get(), &mark, plan);
        let clock = Rc::clone(&now);
        let mut recorder = ExchangeRecorder::new(client, &mut self.through, move || clock.get());
        let reply = match &case {
            Some(case) => {
                play(case, &endpoint, Some(&mark_of(&mark)), &mut recorder);
                Reply::Ok(serde_json::json!({}))
            }
            None => ran(request, &endpoint, &mark, &mut recorder),
        };
        let exchanges: Vec<ClientExchange> = recorder.into_exchanges();
        now.set(now.get() + Duration::from_millis(20));
        let Some(mut ended) = engine.borrow_mut().end(now.get(), &mark) else { return reply };
        ended.record.strays.extend(engine.borrow_mut().take_strays());
        let run = GatewayRun { client, plan: &ended.plan, record: &ended.record, exchanges: &exchanges };
        compose(&run, "test-gateway", reply)
    }
}

/// What the reference replies with the gateway as its model.
fn ran(request: &Request, endpoint: &Endpoint, mark: &str, exchange: &mut impl Exchange) -> Reply {
    let input = value::read(&request.input).unwrap_or_default();
    let names = input["tools"].as_object().into_iter().flatten().map(|(name, _)| without_marks(name).into_owned());
    let mut model = HttpModel::new(endpoint, names, exchange).marking_tools(mark_of(mark));
    let told = Request { input: told(&request.input).into(), endpoint: Some(endpoint.clone()), ..request.clone() };
    let line = Reference.line_with(&told, &mut model);
    match Reply::read_for(request.profile, line.as_bytes()) {
        Ok((_, reply)) => reply,
        Err(why) => Reply::Unsupported(why.to_string()),
    }
}

impl Testee for ThroughTestGateway {
    fn hello(&self) -> &Hello {
        &self.hello
    }

    fn send(&mut self, request: &Request) {
        self.sent.push_back(request.clone());
    }

    fn receive(&mut self) -> (i64, Outcome) {
        let request = self.sent.pop_front().expect("a request was sent");
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
