//! One run: its asks, what the model says to them, what is kept for it, and the record of it all.

mod ask;
mod body;
mod fairness;
mod judge;
mod kept;
mod play;
mod said;
mod session_turns;
mod turns;

pub(crate) use ask::{Ask, AskState, ask_of};
pub(crate) use body::Body;
pub(crate) use fairness::Repeatable;
pub(crate) use judge::RuleHeaders;
pub(crate) use kept::Kept;
pub(crate) use session_turns::SessionTurns;
pub(crate) use turns::{Listed, Turns};

use crate::exchange::Reaction;
use crate::http::{Head, without_keys};
use crate::options::EngineOptions;
use crate::plan::RunPlan;
use crate::received::Received;
use crate::record::{Attempt, Stray, WireRecord};
use play::{Acceptable, Played};
use serde_json::{Value, json};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, IdSource, PromptLog, PromptText, Usage, json_text};
use threadspec_judge::universal::value;

/// How many strays a run keeps; the others say nothing new.
const MOST_STRAYS: usize = 1000;

/// How many attempts can become old with one answer.
const MOST_AT_ONCE: usize = 100;

/// A run that is under way.
#[derive(Debug)]
pub(crate) struct PlayedRun {
    pub(crate) plan: RunPlan,
    pub(crate) record: WireRecord,
    turns: Box<dyn Turns>,
    asks: Vec<Ask>,
    kept: Kept,
    prompts: PromptLog,
    ids: IdSource,
}

impl PlayedRun {
    /// A run that begins now.
    pub(crate) fn new(now: Duration, key: String, plan: RunPlan, turns: Box<dyn Turns>, ids: IdSource) -> Self {
        let (attempts, strays) = (Vec::new(), Vec::new());
        let runs = Vec::new();
        let record = WireRecord { api: plan.api, key, began: now, ended: now, attempts, strays, runs };
        Self { plan, record, turns, asks: Vec::new(), kept: Kept::default(), prompts: PromptLog::default(), ids }
    }

    /// Forgets the bodies of all asks but the last ones. Their contents may still be repeated.
    pub(crate) fn forget_all_but(&mut self, last: usize) {
        let kept = self.asks.len().saturating_sub(last);
        let old =
            self.record.attempts.iter_mut().rev().filter(|attempt| attempt.ask < kept && !attempt.body.is_empty());
        // Those before them are forgotten already.
        for attempt in old.take(MOST_AT_ONCE) {
            (attempt.body, attempt.resolved, attempt.request) = (String::new(), None, None);
        }
    }

    /// Adds what came and should not have.
    pub(crate) fn stray(&mut self, stray: Stray) {
        if self.record.strays.len() < MOST_STRAYS {
            self.record.strays.push(stray);
        }
    }

    /// Takes a request for an answer. Its position in the record names it.
    pub(crate) fn attempt(
        &mut self,
        now: Duration,
        head: &Head,
        received: Received,
        options: &EngineOptions,
    ) -> (usize, Reaction) {
        let headers = RuleHeaders::of(&received);
        let mut body = Body::read(self.plan.api, &self.kept, received.body);
        let position = self.record.attempts.len();
        let found = ask_of(&mut self.asks, &self.record.attempts, body.request.as_ref());
        let ask = found.unwrap_or_else(|| {
            self.asks.push(Ask { turn: None, played: 0, last: position, state: AskState::Failed });
            self.asks.len() - 1
        });
        self.asks[ask].last = position;
        if let Some(request) = body.request.as_ref().filter(|_| found.is_none()) {
            self.turns.ask(ask, request);
        }
        let judged = self.judge(&mut body, &headers, found.is_none());
        let played = match (&judged.refusal, &body.request) {
            (None, Some(request)) => self.play(Acceptable { ask, head, request, body: &body, options }),
            (None, None) => Played::refused(head, &ApiError::server_error(head.api)),
            (Some(error), _) => Played::refused(head, error),
        };
        self.asks[ask].state = played.state;
        self.record.attempts.push(Attempt {
            at: now,
            ended: (played.state == AskState::Failed).then_some(now),
            api: head.api,
            target: without_keys(&received.target),
            beta: headers.beta,
            ask,
            body: body.text,
            resolved: body.resolved,
            request: body.request,
            breaches: judged.breaches,
            problem: judged.problem,
            status: played.status,
            error: played.error,
            fault: played.fault,
            said: played.said,
            came: played.came,
            streamed: played.streamed,
            delivered: None,
        });
        (position, played.reaction)
    }

    /// Takes the word that a run of a session begins, counted from 1: the next one, or again the last one.
    pub(crate) fn begin_run(&mut self, head: &Head, number: usize) -> Reaction {
        let begun = self.record.runs.len();
        let planned = self.plan.session.as_ref().map_or(0, |session| session.runs.len());
        if number == begun + 1 && number <= planned {
            self.record.runs.push(self.asks.len());
            self.turns.begin_run(begun);
            // What failed in the run before is asked again, or never again.
            self.asks.iter_mut().for_each(|ask| ask.state = AskState::Over);
        } else if number != begun || begun == 0 {
            let what = format!("run {number} cannot begin now: {begun} of {planned} have begun");
            return head.error(&ApiError::invalid(&what));
        }
        Reaction::Answer(head.json(200, json!({"run": number}).to_string()))
    }

    /// The answer to an attempt is over.
    pub(crate) fn delivered(&mut self, now: Duration, position: usize, whole: bool) {
        let Some(attempt) = self.record.attempts.get_mut(position) else { return };
        attempt.ended = Some(now);
        attempt.delivered = Some(whole);
        let failed = attempt.failed();
        let Some(ask) = self.asks.get_mut(attempt.ask).filter(|ask| ask.last == position) else { return };
        if failed && ask.state == AskState::Answering {
            self.kept.take_back(attempt.ask);
        }
        if matches!(ask.state, AskState::Answering | AskState::Failing) {
            ask.state = if failed { AskState::Failed } else { AskState::Over };
        }
    }

    /// Returns the usage of a request.
    fn usage(&mut self, body: &Body) -> Usage {
        let Some(shown) = body.whole.as_ref().or(body.value.as_ref()) else { return Usage::default() };
        self.prompts.push(self.plan.api, PromptText::of(self.plan.api, shown))
    }

    /// Says how many tokens a request has.
    pub(crate) fn count(head: &Head, received: &Received) -> Reaction {
        let text = received.body.as_ref().ok().and_then(|bytes| str::from_utf8(bytes).ok());
        let Some(body) = text.and_then(|text| value::read(text).ok()).filter(Value::is_object) else {
            return head.error(&ApiError::not_json(head.api, "it is no object"));
        };
        let tokens = PromptText::of(head.api, &body).tokens();
        let counted = if head.api == Api::Anthropic {
            json!({ "input_tokens": tokens })
        } else {
            json!({ "object": "response.input_tokens", "input_tokens": tokens })
        };
        Reaction::Answer(head.json(200, counted.to_string()))
    }

    /// Gives a response that is kept.
    pub(crate) fn stored(&self, head: &Head, id: &str) -> Reaction {
        match self.kept.response(id) {
            Some(response) => Reaction::Answer(head.json(200, json_text(response, false))),
            None => head.error(&ApiError::unknown_response(id)),
        }
    }
}
