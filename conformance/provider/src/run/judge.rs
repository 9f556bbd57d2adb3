//! Judges a request, and chooses the words of its refusal.

use super::PlayedRun;
use super::ask::AskState;
use super::body::Body;
use super::fairness::Repeatable;
use crate::http::unreadable;
use crate::received::Received;
use crate::record::{BreachOutcome, JudgedBreach, RequestProblem, SaidThought};
use serde_json::{Value, json};
use threadspec::oracle::{Api, Breach, RequestContext, RequestHeaders, StoredItems, provider_breaches_with};
use threadspec_apis::{ApiError, is_refused, rule_answer};

/// The judgement of a request.
#[derive(Debug, Default)]
pub(super) struct RequestJudgement {
    pub(super) breaches: Vec<JudgedBreach>,
    pub(super) problem: Option<RequestProblem>,
    /// The refusal.
    pub(super) refusal: Option<ApiError>,
}

/// The headers of a request that rules speak of.
#[derive(Debug, Default)]
pub(crate) struct RuleHeaders {
    version: Option<String>,
    pub(crate) beta: String,
}

impl RuleHeaders {
    pub(crate) fn of(received: &Received) -> Self {
        let beta = received.headers.iter().filter(|(name, _)| name.eq_ignore_ascii_case("anthropic-beta"));
        let beta: Vec<&str> = beta.map(|(_, value)| value.as_str()).collect();
        Self { version: received.header("anthropic-version").map(str::to_owned), beta: beta.join(",") }
    }

    pub(crate) fn of_rules(&self) -> RequestHeaders<'_> {
        RequestHeaders { anthropic_version: self.version.as_deref(), anthropic_beta: &self.beta }
    }
}

impl PlayedRun {
    /// Judges a request. Another attempt of an ask may name another model.
    pub(super) fn judge(&self, body: &mut Body, headers: &RuleHeaders, is_first: bool) -> RequestJudgement {
        let mut judged = RequestJudgement { problem: body.problem.take(), ..RequestJudgement::default() };
        if let (Some(value), Some(request)) = (&body.value, &body.request) {
            let lacks = |name: &str| request.lacks.contains(&name);
            let other =
                request.model.as_ref().filter(|named| self.plan.model.as_ref().is_some_and(|own| own != *named));
            judged.problem = if lacks("model") {
                Some(RequestProblem::Lacks("model".to_owned()))
            } else if let Some(model) = other.filter(|_| is_first) {
                Some(RequestProblem::Model(model.clone()))
            } else {
                request.lacks.first().map(|name| RequestProblem::Lacks((*name).to_owned()))
            };
            let mut breaches = self.breaches(value, body.before.as_deref(), headers);
            let forgotten = body.forgotten.take();
            breaches.extend(forgotten.filter(|own| breaches.iter().all(|breach| breach.rule != own.rule)));
            self.sort(breaches, body, headers, &mut judged);
        }
        if let Some(problem) = &judged.problem {
            judged.refusal = Some(of_problem(self.plan.api, problem));
        }
        judged
    }

    fn breaches(&self, body: &Value, before: Option<&[Value]>, headers: &RuleHeaders) -> Vec<Breach> {
        let thinking = self.thinking();
        let context = RequestContext {
            headers: Some(headers.of_rules()),
            stored: before.map_or(StoredItems::Missing, StoredItems::Items),
            thinking: (self.plan.api == Api::Anthropic).then_some(&thinking),
        };
        provider_breaches_with(self.plan.api, &context, body)
    }

    /// The thinking blocks of each answer that the agent has, the oldest first.
    fn thinking(&self) -> Vec<Vec<Value>> {
        if self.plan.api != Api::Anthropic {
            return Vec::new();
        }
        let over = self.asks.iter().filter(|ask| matches!(ask.state, AskState::Over | AskState::Answering));
        let said = over.filter_map(|ask| self.record.attempts.get(ask.last)?.said.as_ref());
        said.map(|said| said.thoughts.iter().map(block).collect()).collect()
    }

    /// Sorts breaches by what comes of them. The first one that counts is answered.
    fn sort(&self, breaches: Vec<Breach>, body: &Body, headers: &RuleHeaders, judged: &mut RequestJudgement) {
        let (Some(value), Some(request)) = (&body.value, &body.request) else { return };
        let (api, model) = (self.plan.api, request.model.as_deref().unwrap_or_default());
        let mut repeatable = None;
        for breach in breaches {
            let outcome = if !is_refused(&breach, api, model, &headers.of_rules()) {
                BreachOutcome::Possible
            } else if repeatable.get_or_insert_with(|| self.repeatable()).excuses(breach.rule, &breach.place, value) {
                BreachOutcome::Excused
            } else if judged.problem.is_some() || judged.refusal.is_some() {
                BreachOutcome::Certain
            } else {
                judged.refusal = Some(rule_answer(&breach, api, &body.text));
                BreachOutcome::Refused
            };
            let Breach { rule, place, what, .. } = breach;
            judged.breaches.push(JudgedBreach { rule: rule.to_owned(), place, what, outcome });
        }
    }

    /// Everything that an agent may repeat, whatever its form.
    fn repeatable(&self) -> Repeatable {
        let mut repeatable = Repeatable::default();
        repeatable.given(&self.plan.given);
        self.record.attempts.iter().filter_map(|attempt| attempt.said.as_ref()).for_each(|said| repeatable.said(said));
        repeatable
    }
}

/// A thinking block as the API has it.
fn block(thought: &SaidThought) -> Value {
    let opaque = thought.opaque.as_deref().unwrap_or_default();
    if thought.is_redacted {
        json!({"type": "redacted_thinking", "data": opaque})
    } else {
        json!({"type": "thinking", "thinking": thought.text, "signature": opaque})
    }
}

/// Returns the words for a problem.
fn of_problem(api: Api, problem: &RequestProblem) -> ApiError {
    match problem {
        RequestProblem::Unreadable(why, status) => unreadable(api, why, *status),
        RequestProblem::NotJson(why) => ApiError::not_json(api, why),
        RequestProblem::Lacks(member) => ApiError::missing(api, member),
        RequestProblem::Model(model) => ApiError::unknown_model(api, model),
    }
}
