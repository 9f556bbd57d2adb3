//! WIRE-PARTIAL: no call that did not come whole is sent back or run.

use super::{Numbered, WireFindings, all};
use crate::plan::RunPlan;
use crate::record::{Attempt, Said, SaidByModel, WireRecord};
use threadspec::surrogates::without_marks;
use threadspec_apis::{Finish, WireMessage};
use threadspec_golden::clause;

const CLAUSE: &str = clause::WIRE_PARTIAL;

pub(super) fn judge(plan: &RunPlan, record: &WireRecord, findings: &mut WireFindings) {
    for (position, attempt) in record.attempts.iter().enumerate() {
        let Some(said) = &attempt.said else { continue };
        let parts = attempt.came.parts.iter().filter_map(|part| said.calls.get(part.call));
        for call in parts.filter(|call| !is_known(record, position, call)) {
            // Arguments that are no JSON are a matter of SESSION-RAW there.
            if plan.session.is_none() || !attempt.came.whole {
                judge_call(record, attempt, said, call, findings);
            }
        }
    }
}

fn judge_call(record: &WireRecord, attempt: &Attempt, said: &Said, call: &SaidByModel, findings: &mut WireFindings) {
    // The same call may come whole in the answer to a retry.
    let comes_whole = comes_whole(record, attempt, call);
    let is_later = |later: &Numbered<'_>| {
        later.attempt.at >= attempt.at
            && !std::ptr::eq(later.attempt, attempt)
            && (later.attempt.ask == attempt.ask || later.attempt.ask > attempt.ask && !comes_whole)
    };
    let sends = |later: &Numbered<'_>| {
        let messages = later.attempt.request.iter().flat_map(|request| &request.messages);
        messages.flat_map(|message| &message.calls).any(|sent| sent.id == call.id)
    };
    let Some(later) = all(record).filter(is_later).find(sends) else { return };
    let id = without_marks(&call.id);
    let why = if !attempt.came.whole {
        "the answer broke off before it was closed"
    } else if said.stop.as_deref().is_some_and(|stop| Finish::of_name(stop) == Finish::Length) {
        "the limit cut the answer off in it"
    } else {
        // It is closed, and no JSON: whoever tells the model so has neither run nor repaired it.
        let what = format!("{later}: the arguments of the call `{id}` are no JSON object, and it is sent back");
        findings.should(CLAUSE, what);
        return;
    };
    let answers = |message: &WireMessage| message.call_id.as_deref() == Some(&*call.id);
    let is_answered = later.attempt.request.iter().flat_map(|request| &request.messages).any(answers);
    let how = if is_answered { "sent back with an answer" } else { "sent back" };
    findings.must(CLAUSE, format!("{later}: the call `{id}` is {how}, but {why}"));
}

/// Returns whether the last answer to the same ask has the call as a whole.
fn comes_whole(record: &WireRecord, attempt: &Attempt, call: &SaidByModel) -> bool {
    let whole = |other: &Attempt| {
        let said = other.said.iter().flat_map(|said| said.whole_calls(&other.came));
        said.into_iter().any(|whole| whole.id == call.id)
    };
    record.attempts_of(attempt.ask).next_back().is_some_and(whole)
}

/// Returns whether an earlier ask has a call of this id, so that it is sent for another reason.
fn is_known(record: &WireRecord, position: usize, call: &SaidByModel) -> bool {
    let Some(attempt) = record.attempts.get(position) else { return false };
    let in_request = || {
        let messages = attempt.request.iter().flat_map(|request| &request.messages);
        messages.flat_map(|message| &message.calls).any(|sent| sent.id == call.id)
    };
    in_request()
}
