//! Compares each request of a client with the one that arrives: one request, one pair.
//!
//! | module | what it compares |
//! |---|---|
//! | `thread` | both requests in the form in which they are compared |
//! | `pieces` | texts in a row |
//! | `texts` | texts of system, user and model: GATE-TEXT, GATE-INVENTED, GATE-MESSAGES |
//! | `systems` | where system texts may be |
//! | `calls` | GATE-CALLS |
//! | `ids` | GATE-IDS |
//! | `results` | GATE-RESULT |
//! | `media` | GATE-MEDIA |
//! | `order` | the order of messages: GATE-MESSAGES |
//! | `tools`, `schema` | GATE-TOOLS |
//! | `choice` | GATE-CHOICE |
//! | `opaque` | GATE-OPAQUE on the way to the provider |

mod calls;
mod choice;
mod ids;
mod media;
mod opaque;
mod order;
mod pieces;
mod results;
mod schema;
mod systems;
mod texts;
mod thread;
mod tools;

pub(super) use ids::KnownIds;
pub(super) use pieces::{TextChange, common_row, compare, is_same};
pub(super) use tools::{KnownNames, marks_of};

use super::{At, GateJudging};
use crate::finding::Way;
use crate::sent::SentByClient;
use crate::shown;
use serde_json::Value;
use thread::ComparedThread;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;
use threadspec_golden::clause;
use threadspec_judge::universal::value;
use threadspec_provider::{Attempt, WireLevel};

/// A request on both sides.
struct RequestPair<'j, 'a> {
    judging: &'j mut GateJudging<'a>,
    at: At,
    sent: &'j SentByClient<'a>,
    arrived: &'j ApiRequest,
    body: &'j Value,
    /// The API in which it arrived.
    api: Api,
}

/// Where a difference is in a body, and the text that is there.
#[derive(Clone, Copy, Debug, Default)]
struct Spot<'s> {
    place: Option<&'s str>,
    text: &'s str,
}

impl<'s> Spot<'s> {
    fn new(place: &'s str, text: &'s str) -> Self {
        Self { place: Some(place), text }
    }

    /// Nothing is there.
    fn none() -> Self {
        Self::default()
    }
}

/// Compares the request of an exchange with the attempt that was made of it.
pub(super) fn judge<'a>(judging: &mut GateJudging<'a>, at: At, sent: &SentByClient<'a>, attempt: &Attempt) {
    // What the client only refers to is in neither body.
    let body = if sent.request.previous_response_id.is_some() {
        &attempt.body
    } else {
        attempt.resolved.as_ref().unwrap_or(&attempt.body)
    };
    let Some(body) = value::read(body).ok().filter(Value::is_object) else { return };
    let arrived = ApiRequest::read(attempt.api, &body);
    if is_elsewhere(&sent.request) && attempt.api != sent.request.api {
        return;
    }
    let mut pair = RequestPair { judging, at, sent, arrived: &arrived, body: &body, api: attempt.api };
    let (ours, theirs) = (ComparedThread::of(&sent.request), ComparedThread::of(&arrived));
    let begun = pair.judging.findings.len();
    tools::judge(&mut pair);
    choice::judge(&mut pair);
    opaque::judge(&mut pair, &ours, &theirs);
    let calls = calls::pair(&ours.calls, &theirs.calls, &pair.judging.names);
    let equal = ids::judge(&mut pair, &ours, &theirs, &calls);
    let results = results::judge(&mut pair, &ours, &theirs, &calls, &equal);
    let has_images = media::judge(&mut pair, &ours, &theirs, &results);
    calls::judge(&mut pair, &ours, &theirs, &calls, &equal);
    let texts = texts::judge(&mut pair, &ours, &theirs, &results);
    order::judge(&mut pair, &ours, &theirs, &calls, &results, &texts, begun);
    // What is instead of an image that is lost is no other fault.
    if has_images {
        let is_echo = |clause| [clause::GATE_RESULT, clause::GATE_TEXT, clause::GATE_INVENTED].contains(&clause);
        let mut position = 0;
        pair.judging.findings.retain(|finding| {
            position += 1;
            position <= begun || !is_echo(finding.clause)
        });
    }
}

/// Returns whether a part of the history is kept by the provider.
fn is_elsewhere(request: &ApiRequest) -> bool {
    request.previous_response_id.is_some() || request.conversation.is_some() || !request.references.is_empty()
}

/// Returns whether calls and results of a request do not fit together.
pub(super) fn is_broken(request: &ApiRequest) -> bool {
    ComparedThread::of(request).is_broken
}

impl RequestPair<'_, '_> {
    fn must(&mut self, clause: &'static str, what: impl AsRef<str>, sent: Spot<'_>, arrived: Spot<'_>) {
        self.add(clause, WireLevel::Must, what, sent, arrived);
    }

    fn should(&mut self, clause: &'static str, what: impl AsRef<str>, sent: Spot<'_>, arrived: Spot<'_>) {
        self.add(clause, WireLevel::Should, what, sent, arrived);
    }

    fn add(
        &mut self,
        clause: &'static str,
        level: WireLevel,
        what: impl AsRef<str>,
        sent: Spot<'_>,
        arrived: Spot<'_>,
    ) {
        let before = shown::body(self.sent.body(), sent.place, sent.text);
        let behind = shown::body(self.body, arrived.place, arrived.text);
        let exchange = &self.judging.run.exchanges[self.at.exchange];
        let sides = shown::sides(Way::Request, before, behind, exchange);
        self.judging.add(self.at, clause, level, what, Some(sides));
    }
}
