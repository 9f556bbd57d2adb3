//! A request and its answer between a client and an engine in one process.

use crate::client::{ClientRequest, ClientResponse};
use crate::engine::Engine;
use crate::exchange::{PlannedEnd, Reaction, WireStep};
use crate::received::Received;
use std::time::Duration;

/// Puts a request to an engine, without a socket. Time passes as the engine says, at once; `None` if it answers nothing.
///
/// ```
/// use std::time::Duration;
/// use threadspec_provider::client::ClientRequest;
/// use threadspec_provider::{Engine, EngineOptions, ask_engine};
///
/// let (mut engine, mut now) = (Engine::new(EngineOptions::default()), Duration::ZERO);
/// let request = ClientRequest { method: "GET".into(), target: "/v1/models".into(), ..ClientRequest::default() };
/// let response = ask_engine(&mut engine, &mut now, &request).expect("an answer");
/// assert!(response.status == 401 && response.is_whole);
/// ```
pub fn ask_engine(engine: &mut Engine, now: &mut Duration, request: &ClientRequest) -> Option<ClientResponse> {
    let ClientRequest { method, target, headers, body } = request.clone();
    let (attempt, reaction) = engine.receive(*now, Received { method, target, headers, body: Ok(body) });
    let planned = match reaction {
        Reaction::Silence { after, .. } => {
            *now += after;
            engine.delivered(*now, attempt, false);
            return None;
        }
        // Nothing is behind this provider.
        Reaction::Forward => return None,
        Reaction::Answer(planned) => planned,
    };
    *now += planned.delay;
    let mut response = ClientResponse {
        status: planned.status,
        headers: planned.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        pieces: Vec::new(),
        is_whole: planned.ending == PlannedEnd::Whole,
    };
    for step in planned.steps {
        match step {
            WireStep::Wait(time) => *now += time,
            WireStep::Write(bytes) => response.pieces.push(bytes),
        }
    }
    engine.delivered(*now, attempt, response.is_whole);
    Some(response)
}
