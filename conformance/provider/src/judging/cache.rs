//! WIRE-CACHE: tools, system and old messages are byte for byte those of the request before.

use super::prefix::Prefix;
use super::{WireFindings, numbered};
use crate::plan::RunPlan;
use crate::record::WireRecord;
use crate::session::SessionPlan;
use threadspec_golden::clause;

pub(super) fn judge(plan: &RunPlan, record: &WireRecord, findings: &mut WireFindings) {
    // Other tools and another history have names of their own.
    if [clause::WIRE_TOOLS, clause::WIRE_RETRY].iter().any(|clause| findings.breaks(clause)) {
        return;
    }
    if plan.session.as_ref().is_some_and(SessionPlan::moves_history) {
        return;
    }
    let mut before: Option<Prefix> = None;
    for ask in 0..record.asks() {
        if record.runs.contains(&ask) {
            // What a run may leave out of the one before is a matter of the clauses SESSION-*.
            before = None;
        }
        let Some(one) = numbered(record, ask).filter(|one| one.attempt.request.is_some()).last() else { continue };
        let attempt = one.attempt;
        let now = Prefix::of(attempt.api, &attempt.body, attempt.resolved.as_deref());
        if let Some(loss) = before.as_ref().and_then(|before| before.loss(&now)) {
            findings.should(clause::WIRE_CACHE, format!("{one}: {loss}"));
        }
        before = Some(now);
    }
}
