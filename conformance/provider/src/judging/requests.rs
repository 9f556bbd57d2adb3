//! WIRE-REQUEST: what came is a request that the API can answer. WIRE-KEY: it carries the key of its run, in time. WIRE-RULES: it breaks no
//! rule of the API that is certain; such a breach has the name of the rule.

use super::{Numbered, WireFindings, WireLevel, all};
use crate::record::{BreachOutcome, JudgedBreach, RequestProblem, Stray, StrayReason, WireRecord};
use threadspec::oracle::provider_rules;
use threadspec_golden::clause;

pub(super) fn judge(record: &WireRecord, findings: &mut WireFindings) {
    for stray in &record.strays {
        judge_stray(stray, findings);
    }
    for one in all(record) {
        if let Some(problem) = &one.attempt.problem {
            findings.must(clause::WIRE_REQUEST, format!("{one}: {}", of_problem(problem)));
        }
        for breach in &one.attempt.breaches {
            judge_breach(record, one, breach, findings);
        }
    }
}

fn judge_stray(stray: &Stray, findings: &mut WireFindings) {
    let Stray { method, target, status, .. } = stray;
    let what = |why: &str| format!("{method} {target} {why}; it was answered with {status}");
    match stray.why {
        StrayReason::NoKey => findings.must(clause::WIRE_KEY, what("has no key")),
        StrayReason::UnknownKey => findings.must(clause::WIRE_KEY, what("has a key that nobody gave out")),
        StrayReason::Late => findings.must(clause::WIRE_KEY, what("came after the reply")),
        StrayReason::Unasked => findings.must(clause::WIRE_KEY, what("belongs to no run")),
        // Programs look around before they ask.
        StrayReason::Path | StrayReason::Method if method != "POST" => {
            findings.add(clause::WIRE_REQUEST, WireLevel::Note, what("is no request of the API"));
        }
        StrayReason::Path => findings.must(clause::WIRE_REQUEST, what("has a path with nothing behind it")),
        StrayReason::Method => findings.must(clause::WIRE_REQUEST, what("has a method that the path does not take")),
        StrayReason::OtherApi => findings.must(clause::WIRE_REQUEST, what("is a request of another API")),
        StrayReason::Unreadable => findings.must(clause::WIRE_REQUEST, what("could not be read")),
    }
}

fn of_problem(problem: &RequestProblem) -> String {
    match problem {
        RequestProblem::Unreadable(why, status) => format!("the body cannot be read: {why}; answered with {status}"),
        RequestProblem::NotJson(why) => format!("the body is no JSON object: {why}; answered with 400"),
        RequestProblem::Lacks(member) => format!("`{member}` is missing, which the API requires; answered with 400"),
        RequestProblem::Model(model) => format!("the model `{model}` is not that of the endpoint; answered with 404"),
    }
}

fn judge_breach(record: &WireRecord, one: Numbered<'_>, breach: &JudgedBreach, findings: &mut WireFindings) {
    let JudgedBreach { rule, place, what, outcome } = breach;
    let Some(rule) = provider_rules().map(|known| known.id).find(|known| known == rule) else { return };
    // Later requests repeat what is wrong.
    if *outcome == BreachOutcome::Excused || findings.0.iter().any(|finding| finding.clause == rule) {
        return;
    }
    let answered = one.attempt.status.map(|status| format!("; answered with {status}"));
    let what = format!("{one}: {place}: {what}{}", answered.filter(|_| is_certain(*outcome)).unwrap_or_default());
    let level = match outcome {
        // A client may find out what a server takes: what was refused once, and then sent in another way, harms nobody.
        BreachOutcome::Refused | BreachOutcome::Certain if is_mended(record, one, rule) => WireLevel::Note,
        BreachOutcome::Refused | BreachOutcome::Certain => WireLevel::Must,
        BreachOutcome::Possible | BreachOutcome::Excused => WireLevel::Note,
    };
    findings.add(rule, level, what);
}

fn is_certain(outcome: BreachOutcome) -> bool {
    matches!(outcome, BreachOutcome::Refused | BreachOutcome::Certain)
}

/// Returns whether a later attempt of the same ask no longer breaks the rule.
fn is_mended(record: &WireRecord, one: Numbered<'_>, rule: &str) -> bool {
    let last = record.attempts_of(one.attempt.ask).next_back();
    last.is_some_and(|last| last.request.is_some() && last.breaches.iter().all(|breach| breach.rule != rule))
}
