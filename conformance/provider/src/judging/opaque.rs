//! WIRE-OPAQUE: what only the provider reads comes back as it was. WIRE-OPAQUE-BACK: it comes back at all.

use super::{Numbered, WireFindings, numbered};
use crate::record::{Said, SaidThought, WireRecord};
use threadspec::oracle::Api;
use threadspec_apis::{OpaqueContent, OpaquePart, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;

pub(super) fn judge(record: &WireRecord, findings: &mut WireFindings) {
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
    for message in request.messages.iter().filter(|message| message.speaker == Speaker::Ai) {
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
        if api != Api::OpenAiChat && is_on && kept < wanted {
            let what = format!("{kept} of {wanted} thoughts come back with the calls that they led to");
            findings.should(clause::WIRE_OPAQUE_BACK, format!("{one}: {}: {what}", message.place));
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
