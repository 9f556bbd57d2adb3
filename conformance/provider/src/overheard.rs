//! The record of a run that somebody else answered: from what its client sent and heard.

use crate::client::{ClientRequest, ClientResponse};
use crate::http::{Route, without_keys};
use crate::passing::{as_recorded, broken};
use crate::plan::RunPlan;
use crate::received::Received;
use crate::record::{Attempt, BreachOutcome, Came, RequestProblem, WireRecord};
use crate::run::{Ask, AskState, Repeatable, RuleHeaders, ask_of};
use serde_json::Value;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, ApiRequest};
use threadspec_judge::universal::value;

/// A request of a client, and what it heard.
#[derive(Clone, Copy, Debug)]
pub struct Overheard<'a> {
    /// When it was sent.
    pub began: Duration,
    /// When what came back was over.
    pub ended: Duration,
    /// The request.
    pub request: &'a ClientRequest,
    /// What came back, if anything did.
    pub response: Option<&'a ClientResponse>,
}

/// The record of a run as its client's side alone shows it: what was said is what the client read. Requests that ask for no answer of the
/// model are left out. `plan` has the API that the client speaks, and what it was given.
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
        let mut attempt = attempt_of(api, &exchange, &repeatable);
        let position = record.attempts.len();
        attempt.ask = ask_of(&mut asks, &record.attempts, attempt.request.as_ref()).unwrap_or_else(|| {
            asks.push(Ask { turn: None, played: 0, last: position, state: AskState::Answering });
            asks.len() - 1
        });
        (asks[attempt.ask].last, asks[attempt.ask].state) = (position, AskState::Answering);
        if let Some(said) = &attempt.said {
            repeatable.said(said);
        }
        record.ended = record.ended.max(exchange.ended);
        record.attempts.push(attempt);
    }
    record.began = record.attempts.first().map(|attempt| attempt.at).unwrap_or_default();
    record
}

fn attempt_of(api: Api, exchange: &Overheard<'_>, repeatable: &Repeatable) -> Attempt {
    let Overheard { began, ended, request, response } = *exchange;
    let received = Received {
        method: request.method.clone(),
        target: request.target.clone(),
        headers: request.headers.iter().map(|(name, value)| (name.to_lowercase(), value.clone())).collect(),
        body: Ok(request.body.clone()),
    };
    let text = String::from_utf8_lossy(&request.body).into_owned();
    let body = value::read(&text).map_err(|error| error.to_string());
    let body = body.and_then(|body| if body.is_object() { Ok(body) } else { Err("it is no object".to_owned()) });
    let (mut breaches, mut read) = (Vec::new(), None);
    let problem = match &body {
        Ok(body) => {
            let request = ApiRequest::read(api, body);
            let problem = request.lacks.first().map(|name| RequestProblem::Lacks((*name).to_owned()));
            breaches = broken(&request, body, &received).0;
            for breach in &mut breaches {
                if repeatable.excuses(&breach.rule, &breach.place, body) {
                    breach.outcome = BreachOutcome::Excused;
                }
            }
            read = Some(request);
            problem
        }
        Err(why) => Some(RequestProblem::NotJson(why.clone())),
    };
    let status = response.map(|response| response.status);
    let error = response.filter(|response| response.status >= 400).map(|response| {
        let body = String::from_utf8_lossy(&response.body()).into_owned();
        ApiError::read(response.status, &value::read(&body).unwrap_or(Value::Null)).message
    });
    let said = response.filter(|response| response.status < 400).and_then(|response| response.read(api).ok());
    let (said, came) = said.map(as_recorded).map_or_else(Default::default, |(said, came)| (Some(said), came));
    Attempt {
        at: began,
        ended: Some(ended),
        api,
        target: without_keys(&request.target),
        beta: RuleHeaders::of(&received).beta,
        ask: 0,
        body: text,
        resolved: None,
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
