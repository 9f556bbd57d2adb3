//! Programs at a provider that is alone, without a socket.

#![allow(clippy::needless_pass_by_value, reason = "what `json!` makes is made for the call")]

mod conversations;
mod proxy;
mod rules;
mod transcript;

use super::{Script, Standalone};
use crate::exchange::{PlannedAnswer, Reaction};
use crate::http::Received;
use crate::plan::EngineOptions;
use crate::serve::Answers;
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_judge::protocol::facts;

/// A request for an answer of an API.
fn request(api: Api, key: &str, body: &Value) -> Received {
    let target = format!("{}{}", facts(api).base, facts(api).path.replace("{model}", "gemini-2.5-pro"));
    let headers = [("authorization", format!("Bearer {key}")), ("anthropic-version", "2023-06-01".to_owned())];
    Received {
        method: "POST".into(),
        target,
        headers: headers.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        body: Ok(body.to_string().into_bytes()),
    }
}

/// A body for chat completions, with a tool `look`.
fn chat(messages: Value) -> Value {
    json!({"model": "gpt-4.1", "messages": messages, "tools": [tool("look", json!({"type": "object"}))]})
}

fn tool(name: &str, schema: Value) -> Value {
    json!({"type": "function", "function": {"name": name, "parameters": schema}})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

fn result(id: &str, text: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": text})
}

/// A provider, and the time.
struct Desk {
    provider: Standalone,
    now: Duration,
}

impl Desk {
    fn new(script: &Value) -> Self {
        Self::with_keys(script, &[])
    }

    fn with_keys(script: &Value, keys: &[&str]) -> Self {
        let script = Script::read(&script.to_string()).expect("a script");
        let keys = keys.iter().map(|key| (*key).to_owned()).collect();
        Self { provider: Standalone::new(EngineOptions::default(), script, keys), now: Duration::ZERO }
    }

    /// Sends a request, and takes all of the answer.
    fn send(&mut self, received: Received) -> (u16, Value) {
        self.now += Duration::from_secs(2);
        let (attempt, reaction) = self.provider.receive(self.now, received);
        self.now += Duration::from_millis(1);
        self.provider.delivered(self.now, attempt, true);
        match reaction {
            Reaction::Answer(answer) => (answer.status, body_of(&answer)),
            other => panic!("no answer: {other:?}"),
        }
    }

    fn ask(&mut self, api: Api, body: &Value) -> (u16, Value) {
        self.send(request(api, "sk-any", body))
    }

    /// Returns the answer in chat completions.
    fn chat(&mut self, messages: Value) -> Value {
        let (status, answer) = self.ask(Api::OpenAiChat, &chat(messages));
        assert_eq!(status, 200, "{answer}");
        answer["choices"][0]["message"].clone()
    }

    /// Lists, for each conversation, the broken `must` clauses.
    fn broken(&self) -> Vec<Vec<&'static str>> {
        let musts = |talk: &super::Talk| {
            let counts = talk.findings.iter().filter(|finding| finding.level == crate::judging::WireLevel::Must);
            counts.map(|finding| finding.clause).collect()
        };
        self.provider.talks().map(musts).collect()
    }
}

fn body_of(answer: &PlannedAnswer) -> Value {
    serde_json::from_slice(&answer.body()).unwrap_or_default()
}

/// A script of turns.
fn turns(turns: Value) -> Value {
    json!({ "model": turns })
}

/// Returns the script that most tests play: a call, and then a text.
fn call_and_text() -> Value {
    turns(
        json!([{"content": "I look.", "tool_calls": [{"id": "c1", "name": "look", "args": {"n": 1}}]}, {"content": "Done"}]),
    )
}
