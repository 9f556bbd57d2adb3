//! GATE-FORWARD: what the client asks is asked once, and nothing else is.

use super::{At, Judging};
use threadspec_golden::clause;
use threadspec_provider::{Stray, StrayReason};

const CLAUSE: &str = clause::GATE_FORWARD;

pub(super) fn judge(judging: &mut Judging<'_>) {
    let run = judging.run;
    for stray in &run.record.strays {
        judge_stray(judging, stray);
    }
    for position in judging.pairs.unasked.clone() {
        let Some(attempt) = run.attempt(position) else { continue };
        let before = run.exchanges.iter().rposition(|exchange| exchange.began <= attempt.at).unwrap_or_default();
        let what = format!("POST {} arrived while nobody asked; it was answered", attempt.target);
        judging.must(At::attempt(before, position), CLAUSE, what);
    }
}

fn judge_stray(judging: &mut Judging<'_>, stray: &Stray) {
    let Stray { at, method, target, status, why, .. } = stray;
    // Programs look around before they ask.
    if method != "POST" {
        return;
    }
    let exchange = judging.run.exchanges.iter().rposition(|exchange| exchange.began <= *at).unwrap_or_default();
    let (clause, why) = match why {
        StrayReason::NoKey => (CLAUSE, "arrived without a key"),
        StrayReason::UnknownKey => (CLAUSE, "arrived with a key that nobody gave out"),
        StrayReason::Late => (clause::GATE_INDEPENDENT, "belongs to a run that was over"),
        StrayReason::Unasked => (CLAUSE, "arrived while nobody asked"),
        StrayReason::Path => (CLAUSE, "arrived, and nothing is behind that path"),
        StrayReason::Method => (CLAUSE, "arrived with a method that the path does not take"),
        StrayReason::OtherApi => (CLAUSE, "arrived, which is a request of another API"),
        StrayReason::Unreadable => (CLAUSE, "arrived, and could not be read"),
    };
    judging.must(At::exchange(exchange), clause, format!("{method} {target} {why}; it was answered with {status}"));
}
