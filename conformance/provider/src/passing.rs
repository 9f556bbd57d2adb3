//! Converts the traffic between a client and another server into records.

use crate::received::Received;
use crate::record::{BreachOutcome, CallPart, Came, JudgedBreach, Said, SaidByModel, SaidThought};
use crate::run::RuleHeaders;
use serde_json::Value;
use threadspec::oracle::{Breach, RequestContext, StoredItems, provider_breaches_with};
use threadspec_apis::{ApiError, ApiRequest, ReadAnswer, SaidCall, Thinking, is_refused, rule_answer};

/// The rules of its API that a request breaks, and how the API would refuse it.
pub(crate) fn broken(request: &ApiRequest, body: &Value, received: &Received) -> (Vec<JudgedBreach>, Option<ApiError>) {
    let headers = RuleHeaders::of(received);
    // What the upstream keeps, and what it thought before this conversation was seen, is not known here.
    let context = RequestContext { headers: Some(headers.of_rules()), stored: StoredItems::Unknown, thinking: None };
    let model = request.model.as_deref().unwrap_or_default();
    let text = String::from_utf8_lossy(received.body.as_deref().unwrap_or_default());
    let mut refusal = None;
    let mut found = Vec::new();
    for breach in provider_breaches_with(request.api, &context, body) {
        let is_certain = is_refused(&breach, request.api, model, &headers.of_rules());
        if is_certain && refusal.is_none() {
            refusal = Some(rule_answer(&breach, request.api, &text));
        }
        let outcome = if is_certain { BreachOutcome::Certain } else { BreachOutcome::Possible };
        let Breach { rule, place, what, .. } = breach;
        found.push(JudgedBreach { rule: rule.to_owned(), place, what, outcome });
    }
    (found, refusal)
}

/// Converts an upstream's answer into its record.
pub(crate) fn as_recorded(said: ReadAnswer) -> (Said, Came) {
    let whole = said.has_ended();
    let answer = said.answer;
    let calls: Vec<SaidByModel> = answer
        .calls
        .into_iter()
        .map(|SaidCall { id, name, arguments, .. }| SaidByModel { id, name, arguments })
        .collect();
    let is_whole = |position: &usize| said.whole_calls.get(*position).copied().unwrap_or_default();
    let (closed, open): (Vec<usize>, Vec<usize>) = (0..calls.len()).partition(is_whole);
    let parts = open.iter().map(|&call| CallPart { call, arguments: calls[call].arguments.clone() }).collect();
    let thought = |Thinking { text, seal, is_redacted, .. }: Thinking| SaidThought { text, opaque: seal, is_redacted };
    let thoughts = answer.thinking.into_iter().map(thought).collect();
    let came = Came { whole, text: answer.text.clone(), calls: closed, parts };
    (Said { id: answer.id, text: answer.text, calls, thoughts, refusal: answer.refusal, stop: None }, came)
}
