//! WIRE-WAIT: a retry does not come before the time that the answer names. WIRE-BACKOFF: where it names none, pauses are no tight loop.

use super::{Numbered, WireFindings, is_final, neighbours};
use crate::record::WireRecord;
use std::time::Duration;
use threadspec_golden::clause;

/// The most that a clock may be off.
const TOLERANCE: Duration = Duration::from_millis(5);
/// The shortest pause that is one.
const SHORTEST: Duration = Duration::from_millis(50);

pub(super) fn judge(record: &WireRecord, findings: &mut WireFindings) {
    // The pause before, and the ask that it was for.
    let mut last: Option<(usize, Duration)> = None;
    for (before, next) in neighbours(record) {
        let waited = pause(before, next);
        let fault = before.attempt.fault.as_ref();
        if let Some(wanted) = fault.and_then(|fault| fault.retry_after) {
            last = None;
            if waited + TOLERANCE < wanted {
                let what = format!("it comes {} ms after an answer that says to wait {}", ms(waited), ms(wanted));
                findings.must(clause::WIRE_WAIT, format!("{next}: {what}"));
            }
            continue;
        }
        // What is changed need not wait.
        if before.attempt.status.is_some_and(is_final) {
            last = None;
            continue;
        }
        let ask = before.attempt.ask;
        let earlier = last.filter(|(other, _)| *other == ask).map(|(_, pause)| pause);
        if waited < SHORTEST {
            let what = format!("it comes {} ms after a failed attempt", ms(waited));
            findings.should(clause::WIRE_BACKOFF, format!("{next}: {what}"));
        } else if let Some(earlier) = earlier.filter(|earlier| waited * 2 < *earlier) {
            let what = format!("the pause before it is {} ms, and the one before that was {}", ms(waited), ms(earlier));
            findings.should(clause::WIRE_BACKOFF, format!("{next}: {what}"));
        }
        last = Some((ask, waited));
    }
}

/// How long it took from the end of one attempt to the next.
fn pause(before: Numbered<'_>, next: Numbered<'_>) -> Duration {
    let end = before.attempt.ended.unwrap_or(before.attempt.at);
    next.attempt.at.saturating_sub(end)
}

fn ms(time: Duration) -> u128 {
    time.as_millis()
}
