//! GATE-VALID: what arrives breaks no rule of the provider's API, unless the client broke the same rule of its own.

use super::request::is_broken;
use super::{At, GateJudging};
use crate::finding::Way;
use crate::sent::SentByClient;
use crate::shown;
use serde_json::Value;
use std::collections::HashSet;
use threadspec::oracle::{Api, RequestContext, provider_breaches_with};
use threadspec::surrogates::{has_marks, unmark_surrogates};
use threadspec_golden::{clause, provider_rules};
use threadspec_judge::universal::value;
use threadspec_provider::{Attempt, BreachOutcome, JudgedBreach, RequestProblem, WireLevel};

/// Families of rules, and the clauses that name a breach of one of them by what was changed.
const EXPLAINED: [(&[&str], &[&str]); 5] = [
    (
        &[
            "answered",
            "orphan",
            "once",
            "result-first",
            "result-together",
            "item-unique",
            "calls-nonempty",
            "messages-nonempty",
            "prefill",
            "role",
            "item-type",
        ],
        &[clause::GATE_MESSAGES, clause::GATE_CALLS, clause::GATE_IDS, clause::GATE_INVENTED],
    ),
    (&["id-length", "id-pattern", "item-prefix"], &[clause::GATE_IDS]),
    (
        &["content", "trailing", "text-type", "image"],
        &[clause::GATE_RESULT, clause::GATE_TEXT, clause::GATE_INVENTED, clause::GATE_MEDIA, clause::GATE_MESSAGES],
    ),
    (
        &["arguments", "tool-name", "tools-nonempty", "tools-unique", "tool-options", "call-type", "chat-calls"],
        &[clause::GATE_CALLS, clause::GATE_TOOLS, clause::GATE_CHOICE],
    ),
    (
        &["thinking-first", "thinking-same", "thinking-signature", "thinking-choice"],
        &[clause::GATE_OPAQUE, clause::GATE_CHOICE],
    ),
];

/// Families of rules about which calls and results belong together.
const PAIRING: [&str; 7] =
    ["answered", "orphan", "once", "result-first", "result-together", "messages-nonempty", "prefill"];

/// Judges an attempt, beside the other findings on it.
pub(super) fn judge(
    judging: &mut GateJudging<'_>,
    at: At,
    sent: Option<&SentByClient<'_>>,
    attempt: &Attempt,
    position: usize,
) {
    if let Some(problem) = &attempt.problem {
        add(judging, at, sent, attempt, None, of_problem(problem));
    }
    if attempt.breaches.is_empty() {
        return;
    }
    let broken = sent.map(families_broken).unwrap_or_default();
    let body = value::read(&attempt.body).unwrap_or_default();
    for breach in &attempt.breaches {
        let family = family(&breach.rule, attempt.api);
        let is_certain = breach.outcome != BreachOutcome::Possible;
        // Of thinking that only passes through, GATE-OPAQUE says what is wrong.
        let is_opaque = judging.run.is_plain_proxy() && family.starts_with("thinking");
        let is_silent = is_opaque || broken.contains(family) || is_explained(judging, at, family);
        let is_repeated = || breach.outcome == BreachOutcome::Excused && repeats(judging, position, breach, &body);
        if is_certain && !is_silent && !is_repeated() {
            let JudgedBreach { rule, place, what, .. } = breach;
            let what = format!("what arrives breaks {rule} of {} ({place}): {what}", attempt.api);
            add(judging, at, sent, attempt, Some(place), what);
        }
    }
}

fn add(
    judging: &mut GateJudging<'_>,
    at: At,
    sent: Option<&SentByClient<'_>>,
    attempt: &Attempt,
    place: Option<&str>,
    what: String,
) {
    let exchange = &judging.run.exchanges[at.exchange];
    let behind =
        value::read(&attempt.body).map_or_else(|_| shown::quoted(&attempt.body), |body| shown::body(&body, place, ""));
    let before = sent.map(|sent| shown::body(sent.body(), None, "")).unwrap_or_default();
    let sides = shown::sides(Way::Request, before, behind, exchange);
    judging.add(at, clause::GATE_VALID, WireLevel::Must, what, Some(sides));
}

fn of_problem(problem: &RequestProblem) -> String {
    match problem {
        RequestProblem::Unreadable(why, _) => format!("the body that arrives cannot be read: {why}"),
        RequestProblem::NotJson(why) => format!("the body that arrives is no JSON object: {why}"),
        RequestProblem::Lacks(member) => format!("what arrives lacks `{member}`, which the API requires"),
        RequestProblem::Model(model) => {
            format!("what arrives names the model `{model}`, which is not that of the endpoint")
        }
    }
}

/// The families of the rules that a request of a client breaks, whether they are certain or not.
fn families_broken(sent: &SentByClient<'_>) -> HashSet<&'static str> {
    let breaches = provider_breaches_with(sent.request.api, &RequestContext::default(), sent.body());
    let mut families: HashSet<&str> = breaches.iter().map(|breach| family(breach.rule, sent.request.api)).collect();
    // Calls and results that do not fit together may be sent on, whatever the API says of them; so may half a surrogate pair.
    if is_broken(&sent.request) {
        families.extend(PAIRING);
    }
    if has_marks(&sent.body().to_string()) {
        families.insert("utf16");
    }
    families
}

/// Returns the family of a rule, whatever the API.
fn family(rule: &str, api: Api) -> &'static str {
    let api = api.to_string();
    let entry = provider_rules().iter().find(|known| known.id == rule && known.api == api);
    entry.map_or("", |entry| &*entry.family)
}

fn is_explained(judging: &GateJudging<'_>, at: At, family: &str) -> bool {
    let is_must = |finding: &&crate::GateFinding| finding.exchange == at.exchange && finding.level == WireLevel::Must;
    let found: Vec<&str> = judging.findings.iter().filter(is_must).map(|finding| finding.clause).collect();
    EXPLAINED
        .iter()
        .any(|(families, clauses)| families.contains(&family) && clauses.iter().any(|clause| found.contains(clause)))
}

/// Returns whether what breaks a rule of form is what the provider itself sent before.
fn repeats(judging: &GateJudging<'_>, position: usize, breach: &JudgedBreach, body: &Value) -> bool {
    let Some(value) = shown::at(body, &breach.place) else { return false };
    let is_it = |text: &str| match value {
        Value::String(own) => !own.is_empty() && own == text,
        other => value::read(&unmark_surrogates(text)).is_ok_and(|said| said == *other),
    };
    let before = judging.run.record.attempts.iter().take(position).filter_map(|attempt| attempt.said.as_ref());
    before.into_iter().any(|said| {
        let calls = said.calls.iter().any(|call| is_it(&call.id) || is_it(&call.name) || is_it(&call.arguments));
        calls || is_it(&said.text) || said.refusal.as_deref().is_some_and(is_it)
    })
}
