//! The test of the tests: a client that talks to the provider itself, with nothing between, passes every case of `golden/gateway/` in each
//! API, plain and streaming.

use std::cell::{Cell, RefCell};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::AnswerEnd;
use threadspec_gateway::{ClientExchange, ExchangeRecorder, GateFinding, GatewayCase, GatewayRun, judge, play};
use threadspec_judge::corpus::{Case, embedded};
use threadspec_judge::json::on_deep_stack;
use threadspec_judge::protocol::{Endpoint, Transport, facts};
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};
use threadspec_provider::{EndedRun, Engine, EngineOptions, WireLevel, ask_engine, usual_model};

/// A provider in this process, whose time passes only where something waits.
struct Provider {
    engine: RefCell<Engine>,
    now: Cell<Duration>,
}

impl Provider {
    fn new() -> Self {
        let now = Cell::new(Duration::from_secs(1));
        Self { engine: RefCell::new(Engine::new(EngineOptions::default())), now }
    }

    fn pass(&self, time: Duration) {
        self.now.set(self.now.get() + time);
    }
}

impl Exchange for &Provider {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        self.pass(Duration::from_millis(1));
        let mut now = self.now.get();
        let response = ask_engine(&mut self.engine.borrow_mut(), &mut now, request);
        self.now.set(now);
        response
    }

    fn wait(&mut self, time: Duration) {
        self.pass(time);
    }
}

/// What both sides saw of one input.
fn run(provider: &Provider, transport: Transport, number: usize, input: &str) -> (EndedRun, Vec<ClientExchange>) {
    let Transport { api, stream } = transport;
    let case = GatewayCase::read(input).expect("lint has read it");
    let endpoint = Endpoint {
        transport,
        base_url: format!("http://provider{}", facts(api).base),
        api_key: format!("sk-threadspec-Aa{number:022}"),
        model: usual_model(api).to_owned(),
        reasoning: false,
    };
    let plan = threadspec_provider::RunPlan { model: Some(endpoint.model.clone()), ..case.plan(api, stream) };
    provider.engine.borrow_mut().begin(provider.now.get(), &endpoint.api_key, plan);
    let mut recorder = ExchangeRecorder::new(api, provider, || provider.now.get());
    play(&case, &endpoint, Some("threadspec run q8Zr"), &mut recorder);
    let exchanges = recorder.into_exchanges();
    provider.pass(Duration::from_millis(1));
    let ended = provider.engine.borrow_mut().end(provider.now.get(), &endpoint.api_key).expect("the run is known");
    (ended, exchanges)
}

/// What is found in a case and in the runs before it, and what the client heard of the last one.
fn findings(case: &Case, transport: Transport) -> (Vec<GateFinding>, Vec<ClientExchange>) {
    let provider = Provider::new();
    let (mut found, mut heard) = (Vec::new(), Vec::new());
    for (number, input) in case.inputs().enumerate() {
        let (ended, exchanges) = run(&provider, transport, number, input);
        let run = GatewayRun { client: transport.api, plan: &ended.plan, record: &ended.record, exchanges: &exchanges };
        found.extend(judge(&run));
        heard = exchanges;
    }
    (found, heard)
}

/// Those that gateways speak.
fn transports() -> impl Iterator<Item = Transport> {
    Transport::all().filter(|transport| transport.api != Api::Gemini)
}

fn cases() -> Vec<&'static Case> {
    embedded().0.cases.iter().filter(|case| case.needs_gateway()).collect()
}

#[test]
fn every_case_passes_without_a_gateway() {
    let wrong = on_deep_stack(|| {
        let mut wrong = Vec::new();
        for transport in transports() {
            for case in cases().into_iter().filter(|case| case.is_for(transport.api, transport.stream)) {
                let (found, heard) = findings(case, transport);
                // Notes accuse nobody.
                let found = found.iter().filter(|finding| finding.level != WireLevel::Note);
                wrong.extend(found.map(|finding| format!("{transport} {}: {finding}", case.id)));
                if heard.is_empty() {
                    wrong.push(format!("{transport} {}: nothing was asked", case.id));
                }
            }
        }
        wrong
    });
    let wrong = wrong.expect("a thread can be started");
    assert!(wrong.is_empty(), "{}: {:#?}", wrong.len(), &wrong[..wrong.len().min(20)]);
}

/// What a client sends in the other cases, its own API takes: otherwise nothing would be shown.
#[test]
fn only_what_is_broken_is_refused() {
    let mut refused = Vec::new();
    for transport in transports() {
        for case in cases().into_iter().filter(|case| case.is_for(transport.api, transport.stream)) {
            let input = GatewayCase::read(case.input()).expect("lint has read it");
            let fails = input.rounds.iter().any(|round| !round.turn.attempts.is_empty() || round.turn.error.is_some());
            if fails || case.id.starts_with("gateway/broken-histories/") {
                continue;
            }
            let (_, heard) = findings(case, transport);
            let is_served = |exchange: &ClientExchange| {
                let response = exchange.response.as_ref().filter(|response| response.status == 200);
                response
                    .is_some_and(|response| response.read(transport.api).is_ok_and(|read| read.end == AnswerEnd::Whole))
            };
            if heard.len() != input.rounds.len() || !heard.iter().all(is_served) {
                refused.push(format!("{transport} {}", case.id));
            }
        }
    }
    assert!(refused.is_empty(), "{}: {refused:#?}", refused.len());
}
