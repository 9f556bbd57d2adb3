//! What a gateway asks again by itself: what was refused for good, with another request, too early, or behind half an answer.

use super::super::bodies::{history, tools};
use super::super::plant::{again, bugs as each};
use super::{ALWAYS, CHAT};
use crate::gateway::course::{ExchangeCourse, TriedRequest};
use crate::gateway::places::{ALL, PROXY, TRANSLATING};
use crate::planted::Planted;
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::json_text;
use threadspec_golden::clause;
use threadspec_judge::universal::value;

const RETRY: &[&str] = &[clause::WIRE_RETRY];
const SAID: &[&str] = &[clause::GATE_SAID];
const STREAM: &[&str] = &[clause::GATE_STREAM];
/// The APIs whose streams are events of more than one type.
const WITH_EVENTS: &[Api] = &[Api::OpenAiResponses, Api::Anthropic];
/// Long enough to be no tight loop.
const PAUSE: Duration = Duration::from_millis(200);

/// Whether it failed in a way that may pass, and nothing of an answer came.
fn has_failed(tried: &TriedRequest) -> bool {
    !tried.has_begun && (tried.status >= 500 || tried.status == 429)
}

/// Once more, with another body.
fn with(tried: &mut TriedRequest, change: impl FnOnce(&mut Value)) {
    let text = String::from_utf8_lossy(&tried.request.body).into_owned();
    let Ok(mut body) = value::read(&text) else { return };
    change(&mut body);
    (tried.request.body, tried.pause) = (json_text(&body, false).into_bytes(), Some(PAUSE));
}

pub(super) fn bugs() -> Vec<Planted> {
    let tables = vec![
        each(
            "refusals-asked-again",
            RETRY,
            ALL,
            ALWAYS,
            again(|_, tried| {
                tried.pause =
                    matches!(tried.status, 400 | 403 | 404 | 422).then_some(PAUSE).filter(|_| tried.tries < 3);
            }),
        ),
        each(
            "wrong-keys-asked-again",
            RETRY,
            ALL,
            ALWAYS,
            again(|_, tried| tried.pause = (tried.status == 401 && tried.tries < 3).then_some(PAUSE)),
        ),
        each(
            "failures-asked-again-with-a-hint",
            RETRY,
            ALL,
            ALWAYS,
            again(|_, tried| {
                if has_failed(tried) && tried.tries < 3 {
                    with(tried, |body| history(body).push(json!({"role": "user", "content": "Please go on."})));
                }
            }),
        ),
        each(
            "failures-asked-again-without-tools",
            RETRY,
            ALL,
            ALWAYS,
            again(|_, tried| {
                if has_failed(tried) && tried.tries < 3 {
                    with(tried, |body| {
                        if !tools(body).is_empty() {
                            body["tools"] = Value::Null;
                            body.as_object_mut().map(|members| members.remove("tools"));
                        }
                    });
                }
            }),
        ),
        each(
            "rate-limits-asked-again-too-early",
            &[clause::WIRE_WAIT],
            ALL,
            ALWAYS,
            again(|_, tried| {
                if tried.status == 429 && tried.tries < 3 {
                    tried.pause = tried.wanted.map(|wanted| wanted / 2);
                }
            }),
        ),
        each(
            "failures-asked-again-at-once",
            &[clause::WIRE_BACKOFF],
            ALL,
            ALWAYS,
            again(|_, tried| {
                tried.pause = (has_failed(tried) && tried.tries < 3).then_some(tried.wanted.unwrap_or_default())
            }),
        ),
        each(
            "answers-that-broke-off-begun-again-in-their-middle",
            SAID,
            TRANSLATING.from(WITH_EVENTS).streams(),
            ALWAYS,
            again(begun_again),
        ),
        // Bytes that pass begin the stream a second time, and in chunks an id that comes again is appended: no client reads them.
        each(
            "passing-answers-that-broke-off-begun-again-in-their-middle",
            STREAM,
            PROXY.streams(),
            ALWAYS,
            again(begun_again),
        ),
        each(
            "chunks-that-broke-off-begun-again-in-their-middle",
            STREAM,
            TRANSLATING.from(CHAT).streams(),
            ALWAYS,
            again(begun_again),
        ),
    ];
    tables.into_iter().flatten().collect()
}

/// Asks again though the client has the beginning.
fn begun_again(_: &mut ExchangeCourse, tried: &mut TriedRequest) {
    tried.pause = (tried.has_begun && tried.tries < 3).then_some(PAUSE);
}
