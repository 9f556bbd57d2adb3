//! Runs through gateways whose faults are known: each test defines how they change the JSON.
// What a test writes with `json!` is given away, and tables of faults are rows of closures.
#![allow(
    clippy::needless_pass_by_value,
    clippy::type_complexity,
    clippy::semicolon_if_nothing_returned,
    clippy::needless_for_each,
    clippy::unnecessary_wraps
)]

mod answers;
mod failures;
mod forwarding;
mod history;
mod options;
mod permitted;

use super::judge;
use crate::finding::GateFinding;
use crate::run::{ClientExchange, GatewayRun};
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec::read_json;
use threadspec_apis::sse::{SseEvent, SseParser, event};
use threadspec_apis::{AnswerReader, ApiError, ApiRequest, ModelAnswer, StreamShape, argument_text, read_answer};
use threadspec_provider::client::{ClientRequest, ClientResponse};
use threadspec_provider::{
    Engine, EngineOptions, PlannedAnswer, PlannedEnd, Reaction, Received, RunPlan, WireLevel, WireTurn,
};

/// The APIs that gateways speak.
const SPOKEN: [Api; 3] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic];
const KEY: &str = "sk-threadspec-1";
const CHAT: Api = Api::OpenAiChat;
const RESPONSES: Api = Api::OpenAiResponses;
const ANTHROPIC: Api = Api::Anthropic;

/// A client, a gateway with a given behaviour, and the provider.
struct Wire {
    client: Api,
    api: Api,
    engine: Engine,
    now: Duration,
    exchanges: Vec<ClientExchange>,
}

impl Wire {
    fn new(client: Api, api: Api, turns: Value) -> Self {
        let plan = RunPlan::of_turns(api, WireTurn::read_all(&turns.to_string(), "model").expect("turns"));
        let mut engine = Engine::new(EngineOptions::default());
        engine.begin(Duration::ZERO, KEY, plan);
        Self { client, api, engine, now: Duration::from_secs(1), exchanges: Vec::new() }
    }

    /// Returns the provider's answer to a body.
    fn ask(&mut self, body: &Value) -> Option<ClientResponse> {
        self.now += Duration::from_millis(100);
        let target = target(self.api);
        let headers = [("authorization", format!("Bearer {KEY}")), ("anthropic-version", "2023-06-01".to_owned())];
        let headers = headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let body = threadspec_apis::json_text(body, false).into_bytes();
        let (id, reaction) = self
            .engine
            .receive(self.now, Received { method: "POST".into(), target: target.into(), headers, body: Ok(body) });
        self.now += Duration::from_millis(1);
        let (answer, is_whole) = match reaction {
            Reaction::Answer(answer) => {
                let is_whole = answer.ending == PlannedEnd::Whole;
                (Some(answer), is_whole)
            }
            _ => (None, false),
        };
        self.engine.delivered(self.now, id, is_whole);
        answer.map(|answer| response(&answer, is_whole))
    }

    /// One exchange: the client sends a body, the gateway does something and answers.
    fn exchange(&mut self, sent: &Value, through: impl FnOnce(&mut Self) -> Option<ClientResponse>) -> &mut Self {
        self.now += Duration::from_secs(1);
        let began = self.now;
        let response = through(self);
        self.now += Duration::from_millis(1);
        let body = threadspec_apis::json_text(sent, false).into_bytes();
        let headers = vec![("authorization".to_owned(), "Bearer sk-secret".to_owned())];
        let request = ClientRequest { method: "POST".into(), target: target(self.client).into(), headers, body };
        self.exchanges.push(ClientExchange { api: self.client, began, ended: self.now, request, response });
        self
    }

    /// An exchange in which this arrives, and the answer goes back as it is sent in the API of the client.
    fn pass(&mut self, sent: &Value, arrived: &Value) -> &mut Self {
        self.pass_with(sent, arrived, Some)
    }

    /// Passes a request on, and changes the answer.
    fn pass_with(
        &mut self,
        sent: &Value,
        arrived: &Value,
        change: impl FnOnce(ClientResponse) -> Option<ClientResponse>,
    ) -> &mut Self {
        let (from, to, request) = (self.api, self.client, ApiRequest::read(self.client, sent));
        self.exchange(sent, |wire| {
            let response = wire.ask(arrived)?;
            change(if from == to { response } else { translated(&response, from, &request) })
        })
    }

    fn found(&mut self) -> Vec<GateFinding> {
        let ended = self.engine.end(self.now, KEY).expect("the run is known");
        judge(&GatewayRun { client: self.client, plan: &ended.plan, record: &ended.record, exchanges: &self.exchanges })
    }

    /// The clauses that are broken, notes aside.
    fn clauses(&mut self) -> Vec<&'static str> {
        let found = self.found();
        let mut clauses: Vec<&str> =
            found.iter().filter(|finding| finding.level != WireLevel::Note).map(|finding| finding.clause).collect();
        clauses.dedup();
        clauses
    }
}

fn target(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat => "/v1/chat/completions",
        Api::OpenAiResponses => "/v1/responses",
        Api::Anthropic | Api::Gemini => "/v1/messages",
    }
}

fn response(answer: &PlannedAnswer, is_whole: bool) -> ClientResponse {
    ClientResponse { status: answer.status, headers: answer.headers.clone(), pieces: vec![answer.body()], is_whole }
}

/// An answer in the API of the client, as a faultless gateway makes it.
fn translated(response: &ClientResponse, from: Api, request: &ApiRequest) -> ClientResponse {
    let text = String::from_utf8(response.body()).expect("UTF-8");
    let (headers, is_whole) = (response.headers.clone(), response.is_whole);
    if response.status >= 400 {
        let error = ApiError::read(response.status, &read_json(&text).expect("JSON"));
        let pieces = vec![error.body(request.api, "req_1").to_string().into_bytes()];
        return ClientResponse { status: response.status, headers, pieces, is_whole };
    }
    let read = if request.stream {
        let mut reader = AnswerReader::new(from);
        SseParser::default().push(text.as_bytes()).iter().for_each(|event| reader.push(event).expect("an event"));
        reader.said()
    } else {
        read_answer(from, &read_json(&text).expect("JSON")).expect("an answer")
    };
    let bytes = written(&read.answer, request);
    ClientResponse { status: 200, headers, pieces: vec![bytes], is_whole }
}

/// An answer as the API of a request has it.
fn written(answer: &ModelAnswer, request: &ApiRequest) -> Vec<u8> {
    if request.stream {
        let events = answer.events(request, &StreamShape::default());
        events
            .iter()
            .filter(|one| !one.data.starts_with("keep"))
            .flat_map(|one| event(one.name, &one.data, false))
            .collect()
    } else {
        answer.plain_text(request, false).into_bytes()
    }
}

/// A plain answer with its JSON changed.
fn with_json(response: ClientResponse, change: impl FnOnce(&mut Value)) -> Option<ClientResponse> {
    let mut body = read_json(str::from_utf8(&response.body()).expect("UTF-8")).expect("JSON");
    change(&mut body);
    Some(ClientResponse { pieces: vec![threadspec_apis::json_text(&body, false).into_bytes()], ..response })
}

/// A streamed answer with its events changed.
fn with_events(response: ClientResponse, change: impl FnOnce(&mut Vec<SseEvent>)) -> Option<ClientResponse> {
    let mut events = SseParser::default().push(&response.body());
    change(&mut events);
    let bytes = events.iter().flat_map(|one| event(one.name.as_deref(), &one.data, false)).collect();
    Some(ClientResponse { pieces: vec![bytes], ..response })
}

/// A response of a gateway's own.
fn own(status: u16, body: Value) -> Option<ClientResponse> {
    let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    Some(ClientResponse { status, headers, pieces: vec![body.to_string().into_bytes()], is_whole: true })
}

/// A round of a history: calls with their ids, names and arguments, and the results.
type Round<'a> = (&'a str, Vec<(&'a str, &'a str, Value)>, Vec<&'a str>);

/// A request: a system text, then a text of the user and a round in turn, and a last text.
fn body(api: Api, rounds: &[Round<'_>]) -> Value {
    let mut list = vec![json!({"role": "user", "content": "Go"})];
    for (text, calls, results) in rounds {
        let pairs = calls.iter().zip(results);
        match api {
            Api::OpenAiChat => {
                let calls: Vec<Value> = calls.iter().map(|(id, name, args)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": argument_text(args)}})).collect();
                let mut message = json!({"role": "assistant", "content": text});
                if !calls.is_empty() {
                    message["tool_calls"] = calls.into();
                }
                list.push(message);
                list.extend(
                    pairs.map(|((id, ..), result)| json!({"role": "tool", "tool_call_id": id, "content": result})),
                );
            }
            Api::OpenAiResponses => {
                if !text.is_empty() {
                    list.push(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}));
                }
                list.extend(calls.iter().map(|(id, name, args)| json!({"type": "function_call", "call_id": id, "name": name, "arguments": argument_text(args)})));
                list.extend(pairs.map(
                    |((id, ..), result)| json!({"type": "function_call_output", "call_id": id, "output": result}),
                ));
            }
            Api::Anthropic | Api::Gemini => {
                let mut blocks: Vec<Value> =
                    if text.is_empty() { Vec::new() } else { vec![json!({"type": "text", "text": text})] };
                blocks.extend(
                    calls
                        .iter()
                        .map(|(id, name, args)| json!({"type": "tool_use", "id": id, "name": name, "input": args})),
                );
                list.push(json!({"role": "assistant", "content": blocks}));
                let results: Vec<Value> = pairs
                    .map(|((id, ..), result)| json!({"type": "tool_result", "tool_use_id": id, "content": result}))
                    .collect();
                if !results.is_empty() {
                    list.push(json!({"role": "user", "content": results}));
                }
            }
        }
        if calls.is_empty() {
            list.push(json!({"role": "user", "content": "And?"}));
        }
    }
    match api {
        Api::OpenAiChat => {
            list.insert(0, json!({"role": "system", "content": "Be brief."}));
            json!({"model": "gpt-4.1", "max_completion_tokens": 1024, "messages": list})
        }
        Api::OpenAiResponses => {
            json!({"model": "gpt-4.1", "instructions": "Be brief.", "input": list, "store": false, "max_output_tokens": 1024})
        }
        Api::Anthropic | Api::Gemini => {
            json!({"model": "claude-sonnet-5", "max_tokens": 1024, "system": "Be brief.", "messages": list})
        }
    }
}

/// Two parallel calls with their results.
fn looked() -> Vec<Round<'static>> {
    vec![("I look.", vec![("call_a", "look", json!({"n": 1})), ("call_b", "look", json!({"n": 2}))], vec!["r1", "r2"])]
}

/// A request as it is, but for this change.
fn changed(body: &Value, change: impl FnOnce(&mut Value)) -> Value {
    let mut body = body.clone();
    change(&mut body);
    body
}

/// Returns the findings where a faultless client sends one request and another arrives.
fn of_request(client: Api, sent: &Value, api: Api, arrived: &Value) -> Vec<&'static str> {
    Wire::new(client, api, json!([{"content": "Done"}])).pass(sent, arrived).clauses()
}
