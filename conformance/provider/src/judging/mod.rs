//! Judges a run over the wire: a pure function on its record.
//!
//! Each module judges the clauses that its name says, and names each fault once: a fault that a rule of the API reports is not reported again by a clause,
//! and a call that did not come whole is a matter of WIRE-PARTIAL, not of WIRE-RETRY. What a request holds is for the judge of profile
//! `universal`; it also decides between its own findings and these.
//!
//! | module | clauses |
//! |---|---|
//! | `requests` | WIRE-REQUEST, WIRE-KEY, WIRE-RULES |
//! | `tools` | WIRE-TOOLS, WIRE-TOOLS-SAME |
//! | `sessions` | WIRE-TOOLS of several runs on one thread |
//! | `retries` | WIRE-RETRY |
//! | `pauses` | WIRE-WAIT, WIRE-BACKOFF |
//! | `partial` | WIRE-PARTIAL |
//! | `opaque` | WIRE-OPAQUE, WIRE-OPAQUE-BACK |
//! | `cache` | WIRE-CACHE |
//! | `prefix` | requests as the text that a prompt cache sees |

mod cache;
mod opaque;
mod partial;
mod pauses;
mod prefix;
mod requests;
mod retries;
mod sessions;
#[cfg(test)]
mod tests;
mod tools;

use crate::plan::RunPlan;
use crate::record::{Attempt, WireRecord};
use serde_json::{Value, json};
use std::fmt;
use threadspec::oracle::Api;

/// How much a finding counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireLevel {
    /// It breaks a `must`, in whatever case.
    Must,
    /// It breaks a `should`.
    Should,
    /// It breaks nothing.
    Note,
}

impl fmt::Display for WireLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Must => "must",
            Self::Should => "should",
            Self::Note => "note",
        })
    }
}

/// Something that an agent did wrong on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireFinding {
    /// The clause, or the provider's rule, that is broken.
    pub clause: &'static str,
    /// How much it counts.
    pub level: WireLevel,
    /// The fault.
    pub what: String,
}

impl WireFinding {
    /// The finding as `wire.findings` has it.
    pub fn to_json(&self) -> Value {
        json!({"clause": self.clause, "level": self.level.to_string(), "what": self.what})
    }
}

/// The findings so far.
#[derive(Debug, Default)]
struct WireFindings(Vec<WireFinding>);

impl WireFindings {
    fn add(&mut self, clause: &'static str, level: WireLevel, what: impl Into<String>) {
        let finding = WireFinding { clause, level, what: what.into() };
        if !self.0.contains(&finding) {
            self.0.push(finding);
        }
    }

    fn must(&mut self, clause: &'static str, what: impl Into<String>) {
        self.add(clause, WireLevel::Must, what);
    }

    fn should(&mut self, clause: &'static str, what: impl Into<String>) {
        self.add(clause, WireLevel::Should, what);
    }

    fn breaks(&self, clause: &str) -> bool {
        self.0.iter().any(|finding| finding.clause == clause && finding.level == WireLevel::Must)
    }
}

/// Everything that is wrong with a run.
pub fn judge(plan: &RunPlan, record: &WireRecord) -> Vec<WireFinding> {
    let mut findings = WireFindings::default();
    requests::judge(record, &mut findings);
    match &plan.session {
        Some(session) => sessions::judge_tools(plan.api, session, record, &mut findings),
        None => tools::judge(plan, record, &mut findings),
    }
    partial::judge(plan, record, &mut findings);
    retries::judge(record, &mut findings);
    pauses::judge(record, &mut findings);
    // In a session, SESSION-OPAQUE says it.
    if plan.session.is_none() {
        opaque::judge(record, &mut findings);
    }
    cache::judge(plan, record, &mut findings);
    findings.0
}

/// Judges how failed attempts are repeated (WIRE-RETRY, WIRE-WAIT, WIRE-BACKOFF): a part of [`judge`], for a client that tries again in
/// place of an agent.
pub fn judge_retries(record: &WireRecord) -> Vec<WireFinding> {
    let mut findings = WireFindings::default();
    retries::judge(record, &mut findings);
    pauses::judge(record, &mut findings);
    findings.0
}

/// Where a prompt cache is lost between two requests of which the second goes on from the first, in one sentence.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_provider::cache_loss;
/// let body = |text: &str| format!(r#"{{"messages": [{{"role": "user", "content": "{text}"}}]}}"#);
/// assert_eq!(cache_loss(Api::OpenAiChat, &body("Go"), &body("Go")), None);
/// assert!(cache_loss(Api::OpenAiChat, &body("Go"), &body("No")).is_some_and(|what| what.contains("messages[0]")));
/// ```
pub fn cache_loss(api: Api, before: &str, next: &str) -> Option<String> {
    prefix::Prefix::of(api, before, None).loss(&prefix::Prefix::of(api, next, None)).map(|loss| loss.to_string())
}

/// Each attempt of an ask with the one that follows it.
fn neighbours(record: &WireRecord) -> impl Iterator<Item = (Numbered<'_>, Numbered<'_>)> {
    (0..record.asks()).flat_map(|ask| {
        let attempts: Vec<Numbered<'_>> = numbered(record, ask).collect();
        attempts.windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>()
    })
}

/// An attempt and its number among those of its ask, counted from 1.
#[derive(Clone, Copy, Debug)]
struct Numbered<'a> {
    attempt: &'a Attempt,
    number: usize,
}

/// The attempts of an ask, in the order in which they came.
fn numbered(record: &WireRecord, ask: usize) -> impl Iterator<Item = Numbered<'_>> {
    record.attempts_of(ask).zip(1..).map(|(attempt, number)| Numbered { attempt, number })
}

/// All attempts.
fn all(record: &WireRecord) -> impl Iterator<Item = Numbered<'_>> {
    (0..record.asks()).flat_map(|ask| numbered(record, ask))
}

/// "request 2", or "request 2, attempt 3".
impl fmt::Display for Numbered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "request {}", self.attempt.ask + 1)?;
        if self.number > 1 { write!(f, ", attempt {}", self.number) } else { Ok(()) }
    }
}

/// Returns whether a status says that the request is refused for good.
fn is_final(status: u16) -> bool {
    (400..500).contains(&status) && ![408, 409, 429].contains(&status)
}
