//! One fault, one name: the clause to which a wrong or missing answer belongs.

use super::thread::JudgedThread;
use crate::universal::script::CallOutcome;
use serde_json::Value;
use threadspec_golden::clause;

/// A fault of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerFault {
    /// It is missing, there is a second one, or it answers nothing.
    Pairing,
    /// It is not what it should be.
    Content,
}

/// The clause of a fault of the answer to a call, seen in a run.
pub(super) fn clause_of(
    thread: &JudgedThread<'_>,
    (index, number): (usize, usize),
    run: usize,
    fault: AnswerFault,
) -> &'static str {
    let item = &thread.items[index];
    let (Some(response), Some(call)) = (item.response(), thread.call((index, number))) else {
        return clause::SESSION_VALID;
    };
    let is_open_cut = response.is_open_cut();
    // What a call gave before a cut is lost by the cut, whatever was beside it.
    let is_lost_by_cut = is_open_cut
        && fault == AnswerFault::Content
        && response.had_returned(call)
        && !response.has_hand_over()
        && !response.is_passed()
        && index >= thread.compacted;
    if is_lost_by_cut {
        clause::SESSION_KEPT
    } else if response.has_raw() {
        clause::SESSION_RAW
    } else if response.has_hand_over() {
        clause::SESSION_HANDOFF
    } else if call.is_approved() && is_open_cut && !response.had_returned(call) {
        // Cut while it ran, it is a cut call.
        clause::SESSION_ANSWERED
    } else if call.is_approved() {
        clause::SESSION_APPROVED
    } else if call.is_denied() {
        clause::SESSION_DENIED
    } else if call.passed.is_some() || call.is_pending || response.is_passed() {
        clause::SESSION_PENDING
    } else if response.waits() && !is_open_cut {
        clause::SESSION_SIBLINGS
    } else if index < thread.compacted {
        clause::SESSION_COMPACT
    } else if is_open_cut {
        clause::SESSION_ANSWERED
    } else if index < thread.filtered {
        clause::SESSION_HANDOFF
    } else if image(thread, (index, number)).is_some() {
        clause::SESSION_IMAGE
    } else if item.run == run {
        if fault == AnswerFault::Pairing { clause::AGENT_ANSWERED } else { clause::AGENT_RESULT }
    } else if fault == AnswerFault::Pairing {
        clause::SESSION_VALID
    } else {
        clause::SESSION_SAID_ONCE
    }
}

/// The image that a call gives, in base64, and the text beside it.
pub(super) fn image<'a>(thread: &JudgedThread<'a>, place: (usize, usize)) -> Option<(&'a str, Option<&'a str>)> {
    let call = thread.call(place)?;
    match thread.outcome(call) {
        CallOutcome::Result(Value::Object(members)) => {
            let image = members.get("image")?.as_str()?;
            Some((image, members.get("text").and_then(Value::as_str)))
        }
        _ => None,
    }
}
