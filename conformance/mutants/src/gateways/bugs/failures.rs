//! Failures of the upstream as the client is told them.

use super::super::plant::{bugs as each, error};
use super::{ALWAYS, SOMETIMES};
use crate::gateway::places::{ALL, TRANSLATING};
use crate::planted::Planted;
use std::sync::Arc;
use threadspec_golden::clause;

const STATUS: &[&str] = &[clause::GATE_STATUS];
const WORDS: &[&str] = &[clause::GATE_WORDS];
const WAIT: &[&str] = &[clause::GATE_WAIT];

pub(super) fn bugs() -> Vec<Planted> {
    let becomes = |change: fn(u16) -> u16| error(move |_, error| error.status = change(error.status));
    let tables = vec![
        each(
            "refusals-told-as-failures",
            STATUS,
            ALL,
            SOMETIMES,
            becomes(|status| if status == 400 { 500 } else { status }),
        ),
        each(
            "rate-limits-told-as-failures",
            STATUS,
            ALL,
            SOMETIMES,
            becomes(|status| if status == 429 { 500 } else { status }),
        ),
        each(
            "rate-limits-told-as-refusals",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if status == 429 { 400 } else { status }),
        ),
        each(
            "wrong-keys-told-as-refusals",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if status == 401 { 400 } else { status }),
        ),
        each(
            "wrong-keys-told-as-failures",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if status == 401 { 502 } else { status }),
        ),
        each(
            "unknown-models-told-as-failures",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if status == 404 { 503 } else { status }),
        ),
        each(
            "failures-told-as-refusals",
            STATUS,
            ALL,
            SOMETIMES,
            becomes(|status| if status == 500 { 400 } else { status }),
        ),
        each(
            "overloads-told-as-refusals",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if matches!(status, 503 | 529) { 403 } else { status }),
        ),
        each(
            "missing-permissions-told-as-passing",
            STATUS,
            ALL,
            ALWAYS,
            becomes(|status| if status == 403 { 408 } else { status }),
        ),
        each(
            "failures-of-streams-told-with-200",
            STATUS,
            TRANSLATING.streams(),
            ALWAYS,
            becomes(|status| if status >= 400 { 200 } else { status }),
        ),
        each(
            "served-answers-told-as-failures",
            STATUS,
            TRANSLATING,
            ALWAYS,
            Box::new(|gateway, _| {
                gateway.seams.head = Some(Arc::new(|course, head| {
                    if course.ask_of_run >= 2 {
                        head.status = 500;
                    }
                }));
            }),
        ),
        each(
            "words-of-the-upstream-replaced",
            WORDS,
            ALL,
            SOMETIMES,
            error(|_, error| {
                error.message = "The upstream has refused the request.".to_owned();
            }),
        ),
        each(
            "words-of-the-upstream-cut",
            WORDS,
            ALL,
            ALWAYS,
            error(|_, error| {
                error.message = error.message.chars().take(12).collect();
            }),
        ),
        each(
            "words-of-failures-hidden",
            WORDS,
            ALL,
            ALWAYS,
            error(|_, error| {
                if error.status >= 500 {
                    error.message = "Internal error".to_owned();
                }
            }),
        ),
        each("time-to-wait-lost", WAIT, ALL, SOMETIMES, error(|_, error| error.headers.clear())),
        each(
            "time-to-wait-made-an-hour",
            WAIT,
            ALL,
            ALWAYS,
            error(|_, error| {
                for (name, value) in &mut error.headers {
                    if name.starts_with("retry-after") {
                        *value = "3600000".to_owned();
                    }
                }
            }),
        ),
    ];
    tables.into_iter().flatten().collect()
}
