//! Records a run that somebody else answered, from what its client sent and received.

use crate::client::{ClientRequest, ClientResponse};
use crate::http::{Received, Route, without_keys};
use crate::plan::RunPlan;
use crate::record::{
    Attempt, BreachOutcome, CallPart, Came, JudgedBreach, RequestProblem, Said, SaidByModel, SaidThought, WireRecord,
};
use crate::run::{Ask, AskState, Body, Kept, Repeatable, RuleHeaders, ask_of};
use serde_json::Value;
use std::time::Duration;
use threadspec::oracle::{Api, Breach, RequestContext, StoredItems, provider_breaches_with};
use threadspec_apis::{ApiError, ApiRequest, ReadAnswer, SaidCall, Thinking, is_refused, rule_answer};
use threadspec_judge::universal::value;

/// A request of a client, with its answer.
#[derive(Clone, Copy, Debug)]
pub struct Overheard<'a> {
    /// When it was sent.
    pub began: Duration,
    /// When what came back was over.
    pub ended: Duration,
    /// The request.
    pub request: &'a ClientRequest,
    /// The answer, if one came.
    pub response: Option<&'a ClientResponse>,
}

/// Returns the record of a run as its client's side alone shows it: the answers are those that the client read. Requests that ask for no
/// answer of the model are left out. `plan` has the API that the client speaks, and what it was given. Requests that go on from an answer
/// by its id (`previous_response_id`) have the history that the client received.
///
/// ```
/// use std::time::Duration;
/// use threadspec::oracle::Api;
/// use threadspec_provider::client::{ClientRequest, ClientResponse};
/// use threadspec_provider::{Overheard, RunPlan, overheard};
///
/// let request = ClientRequest {
///     method: "POST".into(),
///     target: "/v1/chat/completions".into(),
///     headers: Vec::new(),
///     body: br#"{"model": "m", "messages": [{"role": "user", "content": "Go"}]}"#.to_vec(),
/// };
/// let response = ClientResponse { status: 503, is_whole: true, ..ClientResponse::default() };
/// let once = |at| Overheard { began: Duration::from_secs(at), ended: Duration::from_secs(at), request: &request, response: Some(&response) };
/// let record = overheard(&RunPlan::of_turns(Api::OpenAiChat, Vec::new()), [once(1), once(2)]);
/// // The client tried again.
/// assert_eq!((record.attempts.len(), record.asks(), record.attempts[0].status), (2, 1, Some(503)));
/// ```
pub fn overheard<'a>(plan: &RunPlan, exchanges: impl IntoIterator<Item = Overheard<'a>>) -> WireRecord {
    let (attempts, strays, runs) = (Vec::new(), Vec::new(), Vec::new());
    let (began, ended, key) = (Duration::ZERO, Duration::ZERO, String::new());
    let mut record = WireRecord { api: plan.api, key, began, ended, attempts, strays, runs };
    let mut asks: Vec<Ask> = Vec::new();
    let mut repeatable = Repeatable::default();
    repeatable.given(&plan.given);
    let mut kept = Kept::default();
    for exchange in exchanges {
        let Route::Answer(api) = Route::of(&exchange.request.target) else { continue };
        if exchange.request.method != "POST" {
            continue;
        }
        for ask in asks.iter_mut().filter(|ask| ask.state == AskState::Answering) {
            let last = &record.attempts[ask.last];
            if last.ended.is_some_and(|ended| ended <= exchange.began) {
                ask.state = if last.failed() { AskState::Failed } else { AskState::Over };
            }
        }
        let answer = exchange.response.filter(|response| response.status < 400).and_then(|one| one.read(api).ok());
        let mut attempt = attempt_of(api, &exchange, &repeatable, (&kept, answer.as_ref()));
        let position = record.attempts.len();
        attempt.ask = ask_of(&mut asks, &record.attempts, attempt.request.as_ref()).unwrap_or_else(|| {
            asks.push(Ask { turn: None, played: 0, last: position, state: AskState::Answering });
            asks.len() - 1
        });
        (asks[attempt.ask].last, asks[attempt.ask].state) = (position, AskState::Answering);
        let is_kept = api == Api::OpenAiResponses && attempt.came.whole;
        if let (true, Some(answer), Some(request)) = (is_kept, &answer, &attempt.request) {
            let body = value::read(&attempt.body).unwrap_or_default();
            kept.keep(attempt.ask, &body, answer.answer.plain(request));
        }
        if let Some(said) = &attempt.said {
            repeatable.said(said);
        }
        record.ended = record.ended.max(exchange.ended);
        record.attempts.push(attempt);
    }
    record.began = record.attempts.first().map(|attempt| attempt.at).unwrap_or_default();
    record
}

fn attempt_of(
    api: Api,
    exchange: &Overheard<'_>,
    repeatable: &Repeatable,
    (kept, answer): (&Kept, Option<&ReadAnswer>),
) -> Attempt {
    let Overheard { began, ended, request, response } = *exchange;
    let received = Received {
        method: request.method.clone(),
        target: request.target.clone(),
        headers: request.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect(),
        body: Ok(request.body.clone()),
    };
    let Body { text, value, resolved, request: read, mut problem, .. } = Body::read(api, kept, &received);
    let mut breaches = Vec::new();
    if let Some(body) = &value {
        let request = ApiRequest::read(api, body);
        problem = request.lacks.first().map(|name| RequestProblem::Lacks((*name).to_owned()));
        breaches = broken(&request, body, &received).0;
        for breach in &mut breaches {
            if repeatable.excuses(&breach.rule, &breach.place, body) {
                breach.outcome = BreachOutcome::Excused;
            }
        }
    }
    let status = response.map(|response| response.status);
    let error = response.filter(|response| response.status >= 400).map(|response| {
        let body = String::from_utf8_lossy(&response.body()).into_owned();
        ApiError::read(response.status, &value::read(&body).unwrap_or(Value::Null)).message
    });
    let said = answer.cloned().map(as_recorded);
    let (said, came) = said.map_or_else(Default::default, |(said, came)| (Some(said), came));
    Attempt {
        at: began,
        ended: Some(ended),
        api,
        target: without_keys(&request.target),
        beta: RuleHeaders::of(&received).beta,
        ask: 0,
        body: text,
        resolved,
        streamed: read.as_ref().is_some_and(|request| request.stream),
        request: read,
        breaches,
        problem,
        status,
        error,
        fault: None,
        said,
        came: came.whole_if(response.is_some_and(|response| response.is_whole)),
        delivered: Some(true),
    }
}

impl Came {
    fn whole_if(self, is_whole: bool) -> Self {
        Self { whole: self.whole && is_whole, ..self }
    }
}

// Converts the traffic between a client and another server into records.

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Goes on by an id that the provider behind a gateway may never have seen.
    #[test]
    fn a_request_that_goes_on_from_an_answer_has_its_history() {
        let request = |body: Value| ClientRequest {
            method: "POST".into(),
            target: "/v1/responses".into(),
            headers: Vec::new(),
            body: body.to_string().into_bytes(),
        };
        let asked = request(json!({"model": "m", "input": "Go"}));
        let result = json!({"type": "function_call_output", "call_id": "c1", "output": "one"});
        let gone_on = request(json!({"model": "m", "previous_response_id": "resp_gateway", "input": [result]}));
        let call = json!({"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": "{}", "status": "completed"});
        let answer =
            json!({"id": "resp_gateway", "object": "response", "model": "m", "status": "completed", "output": [call]});
        let response = ClientResponse {
            status: 200,
            pieces: vec![answer.to_string().into_bytes()],
            is_whole: true,
            ..ClientResponse::default()
        };
        let heard = |at, request, response| Overheard {
            began: Duration::from_secs(at),
            ended: Duration::from_secs(at),
            request,
            response,
        };
        let plan = RunPlan::of_turns(Api::OpenAiResponses, Vec::new());
        let record = overheard(&plan, [heard(1, &asked, Some(&response)), heard(2, &gone_on, None)]);
        let last = record.attempts[1].request.as_ref().expect("it can be read");
        let said: Vec<(&str, usize)> = last.messages.iter().map(|one| (&*one.content, one.calls.len())).collect();
        assert_eq!(said, [("Go", 0), ("", 1), ("one", 0)]);
        assert!(record.attempts[1].resolved.is_some() && record.attempts[0].resolved.is_none());
    }
}
