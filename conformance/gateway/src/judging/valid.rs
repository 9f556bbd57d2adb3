//! Judges GATE-VALID: what arrives breaks no rule of the provider's API, unless the client broke the same rule of its own. Lists what a gateway
//! may refuse.

use super::request::is_broken;
use super::{At, GateJudging};
use crate::finding;
use crate::finding::Way;
use crate::run::SentByClient;
use serde_json::Value;
use std::collections::HashSet;
use threadspec::oracle::{Api, RequestContext, provider_breaches_with};
use threadspec::surrogates::{has_marks, unmark_surrogates};
use threadspec_golden::{clause, provider_rules};
use threadspec_judge::json::is_extreme;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::{can_be_declared, value};
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
    let behind = value::read(&attempt.body)
        .map_or_else(|_| finding::quoted(&attempt.body), |body| finding::body(&body, place, ""));
    let before = sent.map(|sent| finding::body(sent.body(), None, "")).unwrap_or_default();
    let sides = finding::sides(Way::Request, before, behind, exchange);
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
    let Some(value) = finding::at(body, &breach.place) else { return false };
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

// Lists the requests that a gateway may refuse: those that the client's API does not allow, or the provider's cannot express.

/// The least limit of output tokens that Responses takes.
const LEAST_OUTPUT: u64 = 16;

/// Why a gateway to an API may refuse a request; `None` if it has to send it on.
pub(super) fn reason_to_refuse(sent: Option<&SentByClient<'_>>, text: &str, to: Api) -> Option<&'static str> {
    let Some(sent) = sent else { return Some("it is no JSON object") };
    let (body, request) = (sent.body(), &*sent.request);
    let breaches = provider_breaches_with(request.api, &RequestContext::default(), body);
    let messages = &request.messages;
    let calls = || messages.iter().flat_map(|message| &message.calls);
    let is_first = |speaker: Speaker| messages.iter().position(|message| message.speaker != speaker);
    let names = || calls().map(|call| &*call.name).chain(request.tools.iter().filter_map(|tool| tool.name.as_deref()));
    let mut ids = HashSet::new();
    let speaks = |speaker: Speaker| {
        messages.iter().any(|message| message.speaker == speaker && !message.content.trim().is_empty())
    };
    let is_elsewhere =
        request.previous_response_id.is_some() || request.conversation.is_some() || !request.references.is_empty();
    let reasons = [
        (!breaches.is_empty() || !request.lacks.is_empty(), "it breaks a rule of its API"),
        (is_broken(request), "its calls and results do not fit together"),
        (
            is_first(Speaker::System)
                .is_some_and(|first| messages[first..].iter().any(|message| message.speaker == Speaker::System)),
            "it has a system text in the middle",
        ),
        (calls().any(|call| !ids.insert(&*call.id)), "an id comes twice"),
        (has_marks(&body.to_string()), "it has half a surrogate pair"),
        (
            is_extreme(text) || calls().any(|call| call.raw.as_deref().is_some_and(is_extreme)),
            "it has a number that is no double",
        ),
        (messages.iter().any(|message| message.parts().any(|part| part == "\u{fffc}")), "it has an image or a file"),
        (calls().any(|call| !call.args.is_object()), "arguments in it are no object"),
        (names().any(|name| !can_be_declared(to, name)), "the API cannot declare the name of a tool"),
        (calls().any(|call| !is_takable(to, &call.id)), "the API does not take the id of a call"),
        (
            request.tools.iter().any(|tool| !tool.is_function()) && request.api != to,
            "it has a tool of the provider's own",
        ),
        (is_elsewhere && request.api != to, "it refers to what the provider keeps"),
        (
            !request.stop.is_empty() && to == Api::OpenAiResponses || request.stop.len() > 4,
            "the API does not stop at texts",
        ),
        (
            to == Api::OpenAiResponses && request.max_tokens.is_some_and(|most| most < LEAST_OUTPUT),
            "the limit is too low for the API",
        ),
        (to == Api::Anthropic && !(speaks(Speaker::Human) || calls().next().is_some()), "the user says nothing"),
        (
            to == Api::Anthropic && messages.last().is_some_and(|last| last.speaker == Speaker::Ai),
            "the model had the last word",
        ),
    ];
    reasons.into_iter().find(|(holds, _)| *holds).map(|(_, reason)| reason)
}

/// Returns whether an API takes an id as it is.
fn is_takable(api: Api, id: &str) -> bool {
    let is_plain = || id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-".contains(&byte));
    match api {
        Api::Anthropic => is_plain() && !id.is_empty(),
        Api::OpenAiChat => id.chars().count() <= 40,
        Api::Gemini => true,
        Api::OpenAiResponses => (1..=64).contains(&id.chars().count()),
    }
}
