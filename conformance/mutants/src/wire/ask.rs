//! One answer of the model: attempts, waiting between them, and giving up.

use super::heard::{error_of, plain, streamed, values};
use super::{HeardAnswer, WireAgent, endpoint, write};
use crate::agent::RunState;
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::universal::halves;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};

/// How often the official SDKs try again.
pub(crate) const RETRIES: usize = 2;

/// An attempt that failed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Failed {
    /// What was answered, if anything was.
    pub(crate) response: Option<ClientResponse>,
    /// What was heard before it broke off; nothing if the status was an error.
    pub(crate) heard: Option<HeardAnswer>,
    /// In words.
    pub(crate) why: String,
}

/// What comes of an attempt that failed.
#[derive(Clone, Debug)]
pub(crate) enum NextStep {
    /// The same again, after a pause.
    Again(Duration),
    /// The model failed.
    GiveUp,
    /// This turn counts as the answer.
    GoOn(Value),
}

impl Failed {
    /// The status of an error; `None` where an answer began, or nothing came.
    pub(crate) fn status(&self) -> Option<u16> {
        self.response.as_ref().filter(|_| self.heard.is_none()).map(|response| response.status)
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.response.as_ref().and_then(|response| response.header(name))
    }

    /// Returns whether an SDK tries again: not after a refusal.
    pub(crate) fn is_passing(&self) -> bool {
        match self.header("x-should-retry").filter(|_| self.heard.is_none()) {
            Some("true") => true,
            Some("false") => false,
            _ => self.status().is_none_or(|status| matches!(status, 408 | 409 | 429 | 500..)),
        }
    }

    /// How long to wait before the next attempt; `attempt` is the number of this one, from 0.
    pub(crate) fn pause(&self, attempt: usize) -> Duration {
        let milliseconds =
            self.header("retry-after-ms").and_then(|value| value.parse().ok()).map(Duration::from_millis);
        let seconds = || self.header("retry-after").and_then(|value| value.parse().ok()).map(Duration::from_secs);
        milliseconds.or_else(seconds).unwrap_or_else(|| backoff(attempt))
    }
}

/// Half a second, and twice as long each time.
pub(crate) fn backoff(attempt: usize) -> Duration {
    Duration::from_millis(500 << attempt.min(4))
}

/// Tries again twice, after what passes.
pub(crate) fn as_an_sdk(run: &mut RunState, failed: &Failed) -> NextStep {
    let attempt = run.wire.attempt;
    if attempt < RETRIES && failed.is_passing() { NextStep::Again(failed.pause(attempt)) } else { NextStep::GiveUp }
}

impl WireAgent {
    /// Asks the model: its answer as a turn of a script.
    pub(super) fn ask(&self, run: &mut RunState, messages: &[Value], exchange: &mut dyn Exchange) -> Value {
        let mut messages = messages.to_vec();
        (self.shown)(run, &mut messages);
        run.wire.attempt = 0;
        let body = self.written(run, &messages);
        loop {
            let mut attempt = body.clone();
            if run.wire.attempt > 0 {
                let mut again = messages.clone();
                (self.shown_again)(run, &mut again);
                if again != messages {
                    attempt = self.written(run, &again);
                }
                (self.again)(run, &mut attempt);
            }
            let failed = match self.attempt(run, attempt, exchange) {
                Ok(heard) => return turn(run, messages.len(), &heard),
                Err(failed) => failed,
            };
            run.wire.failures += 1;
            match (self.failed)(run, &failed) {
                NextStep::Again(pause) => exchange.wait(pause),
                NextStep::GoOn(turn) => return turn,
                NextStep::GiveUp => return json!({"error": failed.why}),
            }
            run.wire.attempt += 1;
        }
    }

    fn written(&self, run: &mut RunState, messages: &[Value]) -> Value {
        let mut body = write::body(run, messages);
        (self.body)(run, &mut body);
        body
    }

    fn attempt(
        &self,
        run: &mut RunState,
        body: Value,
        exchange: &mut dyn Exchange,
    ) -> Result<HeardAnswer, Box<Failed>> {
        let mut request = ClientRequest {
            method: "POST".to_owned(),
            target: endpoint::target(&run.wire.endpoint),
            headers: endpoint::headers(&run.wire.endpoint),
            body: bytes(&body),
        };
        run.wire.bodies.push(body);
        (self.sent)(run, &mut request);
        run.wire.last = request.clone();
        let Some(response) = exchange.exchange(&request) else {
            let why = "the model's provider did not answer".to_owned();
            return Err(Box::new(Failed { why, ..Failed::default() }));
        };
        self.hear(run, response)
    }

    /// Reads an answer.
    pub(crate) fn hear(&self, run: &mut RunState, response: ClientResponse) -> Result<HeardAnswer, Box<Failed>> {
        if response.status >= 400 {
            let why = format!("{}: {}", response.status, error_of(&response.body()));
            return Err(Box::new(Failed { response: Some(response), heard: None, why }));
        }
        let api = run.wire.endpoint.transport.api;
        let is_stream = response.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"));
        let mut heard = if is_stream {
            let mut events = values((self.lines)(&response.pieces));
            (self.events)(run, &mut events);
            streamed(api, &events)
        } else {
            plain(api, &response.body())
        };
        heard.is_ended &= response.is_whole || is_stream;
        (self.heard)(run, &mut heard);
        let why = match &heard.error {
            Some(error) => format!("the answer holds an error: {error}"),
            None if !heard.is_ended => "the answer broke off".to_owned(),
            None => return Ok(heard),
        };
        Err(Box::new(Failed { response: Some(response), heard: Some(heard), why }))
    }
}

/// A body as bytes. No lone surrogate is in it but as an escape.
pub(crate) fn bytes(body: &Value) -> Vec<u8> {
    unmark_surrogates(&body.to_string()).into_owned().into_bytes()
}

/// What comes of an answer that ended.
fn turn(run: &mut RunState, length: usize, heard: &HeardAnswer) -> Value {
    run.wire.answers.push((heard.id.clone(), length));
    match heard.fault() {
        Some(fault) => json!({"error": halves::repaired(&fault)}),
        None => heard.turn(),
    }
}
