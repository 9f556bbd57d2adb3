//! Judges a run over the wire: a pure function on its record.
//!
//! It names each fault once: a fault that a rule of the API reports is not reported again by a clause, and a call that did not come whole is a
//! matter of WIRE-PARTIAL, not of WIRE-RETRY. What a request holds is for the judge of profile `universal`; it also decides between its own
//! findings and these.
//!
//! | module | clauses |
//! |---|---|
//! | `requests` | WIRE-REQUEST, WIRE-KEY, WIRE-RULES, WIRE-TOOLS, WIRE-TOOLS-SAME |
//! | `retries` | WIRE-RETRY, WIRE-WAIT, WIRE-BACKOFF, WIRE-PARTIAL |
//! | `cache` | WIRE-CACHE |
//! | this one | WIRE-OPAQUE, WIRE-OPAQUE-BACK |

mod cache;
mod requests;
mod retries;
#[cfg(test)]
mod tests;

use crate::plan::RunPlan;
use crate::record::{Attempt, Said, SaidThought, WireRecord};
use serde_json::{Value, json};
use std::fmt;
use threadspec::oracle::Api;
use threadspec_apis::{OpaqueContent, OpaquePart, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;

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
    requests::judge_requests(record, &mut findings);
    match &plan.session {
        Some(session) => requests::judge_session_tools(plan.api, session, record, &mut findings),
        None => requests::judge_tools(plan, record, &mut findings),
    }
    retries::judge_partial(plan, record, &mut findings);
    retries::judge(record, &mut findings);
    retries::judge_pauses(record, &mut findings);
    // In a session, SESSION-OPAQUE says it.
    if plan.session.is_none() {
        judge_opaque(record, &mut findings);
    }
    cache::judge(plan, record, &mut findings);
    findings.0
}

/// Judges how failed attempts are repeated (WIRE-RETRY, WIRE-WAIT, WIRE-BACKOFF): a part of [`judge`], for a client that tries again in
/// place of an agent.
pub fn judge_retries(record: &WireRecord) -> Vec<WireFinding> {
    let mut findings = WireFindings::default();
    retries::judge(record, &mut findings);
    retries::judge_pauses(record, &mut findings);
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
    cache::Prefix::of(api, before, None).loss(&cache::Prefix::of(api, next, None)).map(|loss| loss.to_string())
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

// WIRE-OPAQUE: what only the provider reads comes back as it was. WIRE-OPAQUE-BACK: it comes back at all.

fn judge_opaque(record: &WireRecord, findings: &mut WireFindings) {
    let answers: Vec<&Said> = (0..record.asks())
        .filter_map(|ask| record.attempts_of(ask).next_back()?.said.as_ref())
        .filter(|said| !said.calls.is_empty())
        .collect();
    for ask in 0..record.asks() {
        for one in numbered(record, ask) {
            judge_request(record.api, one, &answers, findings);
        }
    }
}

fn judge_request(api: Api, one: Numbered<'_>, answers: &[&Said], findings: &mut WireFindings) {
    let Some(request) = &one.attempt.request else { return };
    for part in &request.loose {
        if let Some(what) = changed(part, answers.iter().flat_map(|said| &said.thoughts)) {
            findings.must(clause::WIRE_OPAQUE, format!("{one}: {}: {what}", part.place));
            return;
        }
    }
    let mut next = 0;
    let turn = request.messages.iter().rposition(|message| message.speaker == Speaker::Human);
    for (position, message) in request.messages.iter().enumerate().filter(|(_, message)| message.speaker == Speaker::Ai)
    {
        // Ids may come again in each answer, so that each message belongs to the next one that fits.
        let found = answers[next..].iter().position(|said| is_of(said, message));
        next += found.map_or(0, |ahead| ahead + 1);
        let Some(said) = found.and_then(|_| answers.get(next - 1)) else {
            let all = || answers.iter().flat_map(|said| &said.thoughts);
            if let Some((part, what)) = message.opaque.iter().find_map(|part| Some((part, changed(part, all())?))) {
                findings.must(clause::WIRE_OPAQUE, format!("{one}: {}: {what}", part.place));
                return;
            }
            continue;
        };
        if let Some((place, what)) = altered(said, message) {
            findings.must(clause::WIRE_OPAQUE, format!("{one}: {place}: {what}"));
            return;
        }
        let is_on = api != Api::Anthropic || request.thinking;
        let (kept, wanted) = (message.opaque.len(), said.thoughts.len());
        let is_free = request.thinks_freely && kept == 0;
        if api != Api::OpenAiChat && is_on && kept < wanted && !is_free {
            let what = format!("{kept} of {wanted} thoughts come back with the calls that they led to");
            // What thinks in each response needs the thoughts of the turn that is open.
            let is_demanded = api == Api::Anthropic && turn.is_none_or(|turn| turn < position);
            let (clause, level) = if is_demanded {
                (clause::WIRE_OPAQUE, WireLevel::Must)
            } else {
                (clause::WIRE_OPAQUE_BACK, WireLevel::Should)
            };
            findings.add(clause, level, format!("{one}: {}: {what}", message.place));
        }
    }
}

/// Returns whether a message repeats an answer: it has its calls.
fn is_of(said: &Said, message: &WireMessage) -> bool {
    let ids = message.calls.iter().map(|call| &call.id);
    !message.calls.is_empty() && ids.eq(said.calls.iter().map(|call| &call.id))
}

/// Finds a wrong thought of a message that repeats an answer, and its place: one is changed, of another answer, or out of order.
fn altered(said: &Said, message: &WireMessage) -> Option<(String, String)> {
    let mut rest = said.thoughts.iter();
    for part in &message.opaque {
        if rest.any(|thought| is_kept(thought, part)) {
            continue;
        }
        let what = changed(part, said.thoughts.iter())
            .unwrap_or_else(|| "it is behind a thought that came later, or twice".to_owned());
        return Some((part.place.clone(), what));
    }
    None
}

/// Why a part is none of these thoughts, if so.
fn changed<'a>(part: &OpaquePart, mut thoughts: impl Iterator<Item = &'a SaidThought>) -> Option<String> {
    if thoughts.any(|thought| is_kept(thought, part)) {
        return None;
    }
    Some(match &part.content {
        OpaqueContent::Thinking { signature: None, .. } => "the signature of the thought is missing".to_owned(),
        OpaqueContent::Thinking { .. } => "the thought or its signature is not what the model sent here".to_owned(),
        OpaqueContent::Redacted { .. } => "the redacted thought is not what the model sent here".to_owned(),
        OpaqueContent::Reasoning { .. } => "the encrypted reasoning is not what the model sent here".to_owned(),
        OpaqueContent::Text(_) => return None,
    })
}

/// Returns whether a part is a thought as it was.
fn is_kept(thought: &SaidThought, part: &OpaquePart) -> bool {
    match &part.content {
        OpaqueContent::Thinking { text, signature } => {
            !thought.is_redacted && *text == thought.text && *signature == thought.opaque
        }
        OpaqueContent::Redacted { data } => thought.is_redacted && Some(data) == thought.opaque.as_ref(),
        // An item without encrypted contents is found by its id, if it is stored.
        OpaqueContent::Reasoning { encrypted, .. } => encrypted.is_none() || *encrypted == thought.opaque,
        OpaqueContent::Text(_) => true,
    }
}
