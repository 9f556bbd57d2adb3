//! The agent over the wire: it asks its model over HTTP in one of three APIs, plain or streaming, and does the rest as it does without. It
//! builds its requests and reads its answers with code of its own, in which every decision is a seam that a planted bug or reading can replace.
//!
//! | module | what it does |
//! |---|---|
//! | `endpoint` | paths and headers |
//! | `write` | a list of messages as the body of a request |
//! | `sse` | the bytes of a stream as events |
//! | `heard` | what the model said, from events or from a plain body |
//! | `ask` | one answer of the model: attempts, waiting, giving up |

mod ask;
mod endpoint;
mod heard;
pub(crate) mod modes;
pub(crate) mod sse;
pub(crate) mod stored;
pub(crate) mod write;

pub(crate) use ask::{Failed, NextStep, RETRIES, as_an_sdk, backoff};
pub(crate) use heard::{HeardAnswer, arguments, whole_call};
pub(crate) use modes::Modes;
pub(crate) use sse::SseLine;

use crate::agent::{Agent, RunState, refused};
use serde_json::Value;
use std::time::Duration;
use std::{mem, thread};
use threadspec_judge::protocol::{Endpoint, Hello, Implementation, Op, Reply, Request};
use threadspec_provider::client::{ClientRequest, Connection, Exchange};

/// A seam that changes something on the wire.
type WireChange<T> = Box<dyn Fn(&mut RunState, &mut T) + Send + Sync>;

/// The agent with the seams of its wire; [`WireAgent::default`] is sound, which the corpus confirms.
pub(crate) struct WireAgent {
    /// All that does not depend on the wire.
    pub(crate) agent: Agent,
    /// The messages of an ask, before they are written.
    pub(crate) shown: WireChange<Vec<Value>>,
    /// The body of an ask.
    pub(crate) body: WireChange<Value>,
    /// The messages of an attempt behind the first one, before they are written.
    pub(crate) shown_again: WireChange<Vec<Value>>,
    /// The body of an attempt behind the first one.
    pub(crate) again: WireChange<Value>,
    /// An attempt as it is sent.
    pub(crate) sent: WireChange<ClientRequest>,
    /// The pieces of a stream as lines of events.
    pub(crate) lines: fn(&[Vec<u8>]) -> Vec<SseLine>,
    /// The events of a stream, each with its name, before they are put together.
    pub(crate) events: WireChange<Vec<Value>>,
    /// What was heard.
    pub(crate) heard: WireChange<HeardAnswer>,
    /// What comes of an attempt that failed.
    pub(crate) failed: Box<dyn Fn(&mut RunState, &Failed) -> NextStep + Send + Sync>,
    /// What is sent when the reply is out, given the last attempt.
    pub(crate) late: fn(&ClientRequest) -> Vec<ClientRequest>,
    /// What is still to be sent.
    pub(crate) behind: Vec<ClientRequest>,
}

impl Default for WireAgent {
    fn default() -> Self {
        Self {
            agent: Agent::default(),
            shown: Box::new(|_, _| {}),
            body: Box::new(|_, _| {}),
            shown_again: Box::new(|_, _| {}),
            again: Box::new(|_, _| {}),
            sent: Box::new(|_, _| {}),
            lines: sse::lines,
            events: Box::new(|_, _| {}),
            heard: Box::new(|_, _| {}),
            failed: Box::new(as_an_sdk),
            late: |_| Vec::new(),
            behind: Vec::new(),
        }
    }
}

impl WireAgent {
    /// Answers op `tools`, and asks the model at an endpoint.
    pub(crate) fn run(&mut self, input: &str, endpoint: Endpoint, exchange: &mut dyn Exchange) -> Reply {
        let mut run = match self.agent.start(input) {
            Ok(run) => run,
            Err(refusal) => return refused(refusal),
        };
        run.wire.endpoint = endpoint;
        while self.agent.step_with(&mut run, &mut |run, request| self.ask(run, request, exchange)) {}
        self.behind = (self.late)(&run.wire.last);
        let mut output = self.agent.finish(run);
        for message in output["messages"].as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
            message.remove("wire");
        }
        Reply::Ok(output)
    }
}

impl Implementation for WireAgent {
    fn hello(&self) -> Hello {
        self.agent.hello()
    }

    /// Where the request names no endpoint, the model is the script in its input.
    fn answer(&mut self, request: &Request) -> Reply {
        let Some(endpoint) = request.endpoint.clone().filter(|_| request.op == Op::Tools) else {
            return self.agent.answer(request);
        };
        let Some(mut connection) = Connection::to(&endpoint.base_url) else {
            return Reply::Unsupported("it asks over plain HTTP alone".to_owned());
        };
        let reply = self.run(&request.input, endpoint, &mut connection);
        let late = mem::take(&mut self.behind);
        if !late.is_empty() {
            thread::spawn(move || {
                thread::sleep(WHILE);
                late.iter().for_each(|request| drop(connection.exchange(request)));
            });
        }
        reply
    }

    fn line(&mut self, request: &Request) -> String {
        self.answer(request).marked_line(request.id)
    }
}

/// How long after a reply something late is sent.
const WHILE: Duration = Duration::from_millis(30);

/// The first characters of a text.
pub(crate) fn cut(text: &str, length: usize) -> String {
    text.chars().take(length).collect()
}

/// The list of messages or items of a body.
pub(crate) fn history(body: &mut Value) -> &mut Vec<Value> {
    let name = if body["input"].is_null() { "messages" } else { "input" };
    if !body[name].is_array() {
        body[name] = Value::Array(Vec::new());
    }
    body[name].as_array_mut().expect("it was just made one")
}

/// Drops a member. The order of the others stays.
pub(crate) fn without(value: &mut Value, member: &str) {
    if let Some(members) = value.as_object_mut() {
        members.shift_remove(member);
    }
}
