//! GATE-VALID: what arrives breaks no rule of the provider's API, unless the client broke the same rule of its own.

use super::{At, Judging};
use crate::finding::Way;
use crate::sent::SentRequest;
use crate::shown;
use serde_json::Value;
use std::collections::HashSet;
use threadspec::oracle::{Api, RequestContext, provider_breaches_with};
use threadspec::surrogates::unmark_surrogates;
use threadspec_golden::clause;
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
        ],
        &[clause::GATE_MESSAGES, clause::GATE_CALLS, clause::GATE_IDS, clause::GATE_INVENTED],
    ),
    (&["id-length", "id-pattern"], &[clause::GATE_IDS]),
    (
        &["content", "trailing", "text-type"],
        &[clause::GATE_RESULT, clause::GATE_TEXT, clause::GATE_INVENTED, clause::GATE_MEDIA, clause::GATE_MESSAGES],
    ),
    (
        &["arguments", "tool-name", "tools-nonempty", "tools-unique", "tool-options"],
        &[clause::GATE_CALLS, clause::GATE_TOOLS, clause::GATE_CHOICE],
    ),
    (
        &["thinking-first", "thinking-same", "thinking-signature", "thinking-choice"],
        &[clause::GATE_OPAQUE, clause::GATE_CHOICE],
    ),
];

/// Judges an attempt, beside the other findings on it.
pub(super) fn judge(judging: &mut Judging<'_>, at: At, sent: Option<&SentRequest>, attempt: &Attempt, position: usize) {
    if let Some(problem) = &attempt.problem {
        add(judging, at, sent, attempt, None, of_problem(problem));
    }
    let broken = sent.map(families_broken).unwrap_or_default();
    let body = value::read(&attempt.body).unwrap_or_default();
    for breach in &attempt.breaches {
        let family = family(&breach.rule, attempt.api);
        let is_certain = breach.outcome != BreachOutcome::Possible;
        // Of thinking that only passes through, GATE-OPAQUE says what is wrong.
        let is_opaque = judging.run.is_plain_proxy() && family.starts_with("thinking");
        if is_certain
            && !is_opaque
            && !broken.contains(family)
            && !is_explained(judging, at, family)
            && !(breach.outcome == BreachOutcome::Excused && repeats(judging, position, breach, &body))
        {
            let JudgedBreach { rule, place, what, .. } = breach;
            let what = format!("what arrives breaks {rule} of {} ({place}): {what}", attempt.api);
            add(judging, at, sent, attempt, Some(place), what);
        }
    }
}

fn add(
    judging: &mut Judging<'_>,
    at: At,
    sent: Option<&SentRequest>,
    attempt: &Attempt,
    place: Option<&str>,
    what: String,
) {
    let exchange = &judging.run.exchanges[at.exchange];
    let behind =
        value::read(&attempt.body).map_or_else(|_| shown::quoted(&attempt.body), |body| shown::body(&body, place, ""));
    let before = sent.map(|sent| shown::body(&sent.body, None, "")).unwrap_or_default();
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
fn families_broken(sent: &SentRequest) -> HashSet<&'static str> {
    let breaches = provider_breaches_with(sent.request.api, &RequestContext::default(), &sent.body);
    breaches.iter().map(|breach| family(breach.rule, sent.request.api)).collect()
}

/// What the rule is about, whatever the API.
fn family(rule: &str, api: Api) -> &'static str {
    let _ = api;
    FAMILIES.iter().find(|(known, _)| *known == rule).map_or("", |(_, family)| family)
}

fn is_explained(judging: &Judging<'_>, at: At, family: &str) -> bool {
    let is_must = |finding: &&crate::GateFinding| finding.exchange == at.exchange && finding.level == WireLevel::Must;
    let found: Vec<&str> = judging.findings.iter().filter(is_must).map(|finding| finding.clause).collect();
    EXPLAINED
        .iter()
        .any(|(families, clauses)| families.contains(&family) && clauses.iter().any(|clause| found.contains(clause)))
}

/// Whether what breaks a rule of form is what the provider itself said before.
fn repeats(judging: &Judging<'_>, position: usize, breach: &JudgedBreach, body: &Value) -> bool {
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

const FAMILIES: [(&str, &str); 64] = [
    ("OAI-CHAT-ANSWERED", "answered"),
    ("OAI-CHAT-ORPHAN", "orphan"),
    ("OAI-CHAT-ONE-ANSWER", "once"),
    ("OAI-CHAT-RESULT-ID", "orphan"),
    ("OAI-CHAT-ID-LEN", "id-length"),
    ("OAI-CHAT-ID-UNIQUE", "once"),
    ("OAI-CHAT-NAME-PATTERN", "tool-name"),
    ("OAI-CHAT-NAME-LEN", "tool-name"),
    ("OAI-CHAT-ARGS-STRING", "arguments"),
    ("OAI-CHAT-ARGS-JSON", "arguments"),
    ("OAI-CHAT-CALLS-NONEMPTY", "calls-nonempty"),
    ("OAI-CHAT-MESSAGES-NONEMPTY", "messages-nonempty"),
    ("OAI-CHAT-TOOLS-NONEMPTY", "tools-nonempty"),
    ("OAI-CHAT-TOOLS-MAX", "tools-max"),
    ("OAI-CHAT-TOOL-OPTIONS", "tool-options"),
    ("OAI-STRICT-SCHEMA", "strict-schema"),
    ("OAI-CHAT-CONTENT-NULL", "content"),
    ("OAI-CHAT-CONTENT-MAX", "size"),
    ("OAI-CHAT-MSG-NAME", "message-name"),
    ("DS-UTF16", "utf16"),
    ("OAI-RESP-ANSWERED", "answered"),
    ("OAI-RESP-ORPHAN", "orphan"),
    ("OAI-RESP-ONE-OUTPUT", "once"),
    ("OAI-RESP-PREVIOUS", "previous-response"),
    ("OAI-RESP-INPUT-NONEMPTY", "messages-nonempty"),
    ("OAI-RESP-CALLID-LEN", "id-length"),
    ("OAI-RESP-ITEM-UNIQUE", "item-unique"),
    ("OAI-RESP-ITEM-PREFIX", "item-prefix"),
    ("OAI-RESP-REASON-NEXT", "reasoning-next"),
    ("OAI-RESP-STORE", "stored-item"),
    ("OAI-RESP-EXTRA", "extra"),
    ("OAI-RESP-TEXT-TYPE", "text-type"),
    ("OAI-RESP-OUTPUT-FORM", "content"),
    ("OAI-RESP-CONTENT-MAX", "size"),
    ("ANT-ANSWERED", "answered"),
    ("ANT-ORPHAN", "orphan"),
    ("ANT-ONE-RESULT", "once"),
    ("ANT-ID-UNIQUE", "once"),
    ("ANT-ID-PATTERN", "id-pattern"),
    ("ANT-INPUT-OBJECT", "arguments"),
    ("ANT-RESULT-FIRST", "result-first"),
    ("ANT-RESULT-TOGETHER", "result-together"),
    ("ANT-RESULT-CONTENT", "content"),
    ("ANT-TEXT-NONEMPTY", "content"),
    ("ANT-TEXT-WHITESPACE", "content"),
    ("ANT-MSG-NONEMPTY", "content"),
    ("ANT-TRAILING", "trailing"),
    ("ANT-PREFILL", "prefill"),
    ("ANT-MESSAGES-NONEMPTY", "messages-nonempty"),
    ("ANT-SYSTEM", "system"),
    ("ANT-THINK-FIRST", "thinking-first"),
    ("ANT-THINK-SAME", "thinking-same"),
    ("ANT-THINK-SIGN", "thinking-signature"),
    ("ANT-THINK-CHOICE", "thinking-choice"),
    ("ANT-UTF16", "utf16"),
    ("ANT-TOOL-NAME", "tool-name"),
    ("ANT-TOOLS-UNIQUE", "tools-unique"),
    ("ANT-EXTRA", "extra"),
    ("ANT-CACHE-MARKS", "cache-marks"),
    ("ANT-SIZE", "size"),
    ("ANT-VERSION", "version"),
    ("ANT-SAMPLING", "sampling"),
    ("ANT-NO-DOCUMENT", "assistant-document"),
    ("ANT-NO-CITATIONS", "user-citations"),
];
