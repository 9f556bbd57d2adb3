//! Tests the engine without a socket: requests and time are arguments.
// What a test writes with `json!` is given away.
#![allow(clippy::needless_pass_by_value)]

mod answers;
mod attempts;
mod errors;
mod faults;
mod gateway;
mod hostile;
mod judged;
mod kept;
mod paths;
mod runs;

use super::{EndedRun, Engine};
use crate::exchange::{AttemptId, PlannedAnswer, PlannedEnd, Reaction};
use crate::http::Received;
use crate::plan::{EngineOptions, RunPlan};
use crate::script::WireTurn;
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::Pieces;
use threadspec_judge::protocol::{ApiFacts, facts};

const KEY: &str = "sk-threadspec-abcdefghijklmnopqrstuvwx";

/// A client of an engine with one run.
struct Wire {
    engine: Engine,
    api: Api,
    now: Duration,
}

/// A plain answer, or the events of a stream.
#[derive(Debug)]
struct TakenAnswer {
    answer: PlannedAnswer,
}

impl Wire {
    /// A run of these turns.
    fn of(api: Api, turns: Value) -> Self {
        Self::of_plan(RunPlan::of_turns(api, WireTurn::read_all(&turns.to_string(), "model").expect("turns")))
    }

    fn of_plan(plan: RunPlan) -> Self {
        let options = EngineOptions { seed: 7, pieces: Pieces::Lengths(vec![4]), ..EngineOptions::default() };
        let (mut engine, api, now) = (Engine::new(options), plan.api, Duration::from_secs(1));
        engine.begin(now, KEY, plan);
        Self { engine, api, now }
    }

    /// Sends any request.
    fn send(&mut self, method: &str, target: &str, headers: &[(&str, &str)], body: &str) -> (AttemptId, Reaction) {
        self.now += Duration::from_millis(10);
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let received = Received {
            method: method.to_owned(),
            target: target.to_owned(),
            headers,
            body: Ok(body.as_bytes().to_vec()),
        };
        self.engine.receive(self.now, received)
    }

    /// Asks for an answer, and does not take it yet.
    fn begin(&mut self, body: &Value) -> (AttemptId, Reaction) {
        let path = path(self.api, body);
        let bearer = format!("Bearer {KEY}");
        let headers = [("authorization", bearer.as_str()), ("anthropic-version", "2026-10-21")];
        let headers = if self.api == Api::Anthropic { &headers[..] } else { &headers[..1] };
        self.send("POST", &path, headers, &body.to_string())
    }

    /// Asks for an answer, and takes it as far as it comes.
    fn ask(&mut self, body: &Value) -> TakenAnswer {
        let (id, reaction) = self.begin(body);
        let Reaction::Answer(answer) = reaction else { panic!("no answer: {reaction:?}") };
        self.end(id, answer.ending == PlannedEnd::Whole);
        TakenAnswer { answer }
    }

    fn end(&mut self, id: AttemptId, whole: bool) {
        self.now += Duration::from_millis(1);
        self.engine.delivered(self.now, id, whole);
    }

    fn over(mut self) -> EndedRun {
        self.engine.end(self.now, KEY).expect("the run is known")
    }
}

impl TakenAnswer {
    fn text(&self) -> String {
        String::from_utf8(self.answer.body()).expect("text in UTF-8")
    }

    fn json(&self) -> Value {
        serde_json::from_str(&self.text()).expect("JSON")
    }

    /// The data of the events, in JSON; what is none is a text.
    fn events(&self) -> Vec<Value> {
        let text = self.text().replace("\r\n", "\n");
        let data = text.split("\n\n").filter_map(|event| event.lines().find_map(|line| line.strip_prefix("data: ")));
        data.map(|data| serde_json::from_str(data).unwrap_or_else(|_| data.into())).collect()
    }
}

/// The path of a request with this body. Gemini has the model there, and whether it streams.
fn path(api: Api, body: &Value) -> String {
    let ApiFacts { base, path, stream_path, .. } = facts(api);
    let end = if body["stream"] == true { stream_path } else { path };
    format!("{base}{}", end.replace("{model}", body["model"].as_str().unwrap_or("m")))
}

/// The body of a first request.
fn body(api: Api, stream: bool) -> Value {
    let mut body = match api {
        Api::OpenAiChat => {
            json!({"model": "gpt-4.1", "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Go"}]})
        }
        Api::OpenAiResponses => {
            json!({"model": "gpt-4.1", "instructions": "Be brief.", "input": [{"role": "user", "content": "Go"}]})
        }
        Api::Anthropic => {
            json!({"model": "claude-sonnet-5", "max_tokens": 1024, "system": "Be brief.", "messages": [{"role": "user", "content": "Go"}]})
        }
        Api::Gemini => {
            json!({"model": "gemini-2.5-pro", "systemInstruction": {"parts": [{"text": "Be brief."}]},
                "contents": [{"role": "user", "parts": [{"text": "Go"}]}]})
        }
    };
    if stream {
        body["stream"] = true.into();
    }
    body
}

/// A body that goes on from another one with an answer of text and calls, and the results of the calls.
fn next(api: Api, mut body: Value, text: &str, calls: &[(&str, &str, Value)], results: &[&str]) -> Value {
    let pairs = calls.iter().zip(results);
    match api {
        Api::OpenAiChat => {
            let said: Vec<Value> = calls.iter().map(|(id, name, args)| json!({"id": id, "type": "function", "function": {"name": name, "arguments": args.to_string()}})).collect();
            let mut message = json!({"role": "assistant", "content": text});
            if !said.is_empty() {
                message["tool_calls"] = said.into();
            }
            let list = body["messages"].as_array_mut().expect("messages");
            list.push(message);
            list.extend(
                pairs.map(|((id, _, _), result)| json!({"role": "tool", "tool_call_id": id, "content": result})),
            );
        }
        Api::OpenAiResponses => {
            let list = body["input"].as_array_mut().expect("items");
            list.push(
                json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}),
            );
            list.extend(calls.iter().map(|(id, name, args)| json!({"type": "function_call", "call_id": id, "name": name, "arguments": args.to_string()})));
            list.extend(
                pairs.map(
                    |((id, _, _), result)| json!({"type": "function_call_output", "call_id": id, "output": result}),
                ),
            );
        }
        Api::Gemini => {
            let mut parts = vec![json!({"text": text})];
            parts.extend(
                calls.iter().map(|(id, name, args)| json!({"functionCall": {"id": id, "name": name, "args": args}})),
            );
            let result = |((id, name, _), result): (&(&str, &str, Value), &&str)| json!({"functionResponse": {"id": id, "name": name, "response": {"result": result}}});
            let results: Vec<Value> = pairs.map(result).collect();
            let list = body["contents"].as_array_mut().expect("contents");
            list.push(json!({"role": "model", "parts": parts}));
            list.push(json!({"role": "user", "parts": results}));
        }
        Api::Anthropic => {
            let mut blocks = vec![json!({"type": "text", "text": text})];
            blocks.extend(
                calls.iter().map(|(id, name, args)| json!({"type": "tool_use", "id": id, "name": name, "input": args})),
            );
            let results: Vec<Value> = pairs
                .map(|((id, _, _), result)| json!({"type": "tool_result", "tool_use_id": id, "content": result}))
                .collect();
            let list = body["messages"].as_array_mut().expect("messages");
            list.push(json!({"role": "assistant", "content": blocks}));
            list.push(json!({"role": "user", "content": results}));
        }
    }
    body
}

/// The turn of the worked exchange, with ids.
fn look() -> Value {
    json!({"content": "I look.", "tool_calls": [
        {"id": "call_a", "name": "look", "args": {"n": 1}}, {"id": "call_b", "name": "look", "args": {"n": 2}}]})
}

/// Its calls as an agent knows them.
fn looked() -> [(&'static str, &'static str, Value); 2] {
    [("call_a", "look", json!({"n": 1})), ("call_b", "look", json!({"n": 2}))]
}
