//! Plays one run: its asks, the turns that answer them, and the record of it all.

mod body;
mod judge;
mod play;
mod program;

pub(crate) use body::{Body, Kept};
pub(crate) use judge::{Repeatable, RuleHeaders};
pub(crate) use program::ProgramTurns;

use crate::exchange::Reaction;
use crate::http::{Head, Received, without_keys};
use crate::plan::{EngineOptions, RunPlan, SessionPlan};
use crate::record::{Attempt, Said, SaidByModel, Stray, WireRecord};
use crate::script::WireTurn;
use play::{Acceptable, Played};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt::Debug;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{
    ApiError, ApiRequest, IdSource, NAMESPACE_END, PromptLog, PromptText, Usage, WireCall, WireMessage, json_text,
};
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::value;

/// How many strays a run keeps; the others say nothing new.
const MOST_STRAYS: usize = 1000;

/// How many requests beside the conversation are kept.
const MOST_BESIDE: usize = 32;

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
    /// The bodies of requests beside the conversation.
    pub(crate) beside: Vec<String>,
}

impl PlayedRun {
    /// A run that begins now.
    pub(crate) fn new(now: Duration, key: String, plan: RunPlan, turns: Box<dyn Turns>, ids: IdSource) -> Self {
        let (attempts, strays) = (Vec::new(), Vec::new());
        let runs = Vec::new();
        let record = WireRecord { api: plan.api, key, began: now, ended: now, attempts, strays, runs };
        let (kept, prompts, beside) = (Kept::default(), PromptLog::default(), Vec::new());
        Self { plan, record, turns, asks: Vec::new(), kept, prompts, ids, beside }
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

    /// Takes a request for an answer. Its position in the record names it; one beside the conversation has none.
    pub(crate) fn attempt(
        &mut self,
        now: Duration,
        head: &Head,
        received: &Received,
        options: &EngineOptions,
    ) -> (Option<usize>, Reaction) {
        let headers = RuleHeaders::of(received);
        let mut body = Body::read(self.plan.api, &self.kept, received);
        if let Some(request) = &body.request
            && let Some(turn) = self.turns.beside(request)
        {
            let reaction = self.play_beside(Acceptable { ask: usize::MAX, head, request, body: &body, options }, &turn);
            if self.beside.len() < MOST_BESIDE {
                self.beside.push(body.text);
            }
            return (None, reaction);
        }
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
        (Some(position), played.reaction)
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
        let counted = match head.api {
            Api::Anthropic => json!({ "input_tokens": tokens }),
            Api::Gemini => json!({ "totalTokens": tokens }),
            Api::OpenAiChat | Api::OpenAiResponses => {
                json!({ "object": "response.input_tokens", "input_tokens": tokens })
            }
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

// Asks: which attempts want the same answer.

/// One answer that the agent wants.
#[derive(Debug)]
pub(crate) struct Ask {
    /// The model's answer; `None` as long as every attempt was refused.
    pub(crate) turn: Option<WireTurn>,
    /// How many of the turn's faults were played.
    pub(crate) played: usize,
    /// The last attempt, by its position in the record.
    pub(crate) last: usize,
    pub(crate) state: AskState,
}

/// How far an ask is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AskState {
    /// The last attempt is being answered.
    Answering,
    /// The last attempt is being answered, and will fail.
    Failing,
    /// The last attempt failed.
    Failed,
    /// It has its answer, or the agent went on with a part of one.
    Over,
}

/// The ask that a request is another attempt of; `None` if it is a new one. Asks that the agent goes on from with what came whole are
/// over.
///
/// An attempt that failed is followed by another one, whatever the agent sends. Two attempts at the same time are two asks; but a client that
/// has seen its attempt fail may be faster than whoever tells that the answer was over.
pub(crate) fn ask_of(asks: &mut [Ask], attempts: &[Attempt], request: Option<&ApiRequest>) -> Option<usize> {
    let mut other = None;
    for (number, ask) in asks.iter_mut().enumerate() {
        if !matches!(ask.state, AskState::Failed | AskState::Failing) {
            continue;
        }
        let before = attempts.get(ask.last);
        if let (Some(before), Some(request)) = (before, request) {
            if goes_on(before, request) {
                ask.state = AskState::Over;
                continue;
            }
            if before.request.as_ref().is_some_and(|before| is_same(&before.messages, &request.messages)) {
                return Some(number);
            }
        }
        if ask.state == AskState::Failed {
            other.get_or_insert(number);
        }
    }
    other
}

/// Returns whether two lists say the same.
fn is_same(ones: &[WireMessage], others: &[WireMessage]) -> bool {
    ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| says_same(one, other))
}

fn says_same(one: &WireMessage, other: &WireMessage) -> bool {
    let call =
        |(one, other): (&WireCall, &WireCall)| one.id == other.id && one.name == other.name && one.args == other.args;
    one.speaker == other.speaker
        && one.content == other.content
        && one.call_id == other.call_id
        && one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(call)
}

/// Returns whether a request goes on with what came whole of an answer that broke off: behind the messages of its request are the text so
/// far, or a part of it, with calls that are closed.
fn goes_on(before: &Attempt, request: &ApiRequest) -> bool {
    let (Some(said), Some(earlier)) = (&before.said, &before.request) else { return false };
    let earlier = &earlier.messages;
    let Some(message) = request.messages.get(earlier.len()) else { return false };
    message.speaker == Speaker::Ai
        && is_same(earlier, &request.messages[..earlier.len()])
        && before.came.text.starts_with(&message.content)
        && !(message.calls.is_empty() && message.content.is_empty())
        && calls_came(said, before, message)
}

/// Returns whether all calls of a message came whole, in their order. They may have other ids now.
fn calls_came(said: &Said, before: &Attempt, message: &WireMessage) -> bool {
    let mut whole = said.whole_calls(&before.came);
    // A call that comes back has its name without the namespace.
    let is_named = |said: &SaidByModel, name: &str| said.name.rsplit(NAMESPACE_END).next() == Some(name);
    message.calls.iter().all(|call| whole.any(|said| is_named(said, &call.name) && is_sent(said, call)))
}

fn is_sent(said: &SaidByModel, call: &WireCall) -> bool {
    said.id == call.id || value::read(&said.arguments).is_ok_and(|args| args == call.args)
}

// Chooses the turn that answers an ask.

/// A source of the turns of a run.
///
/// A case has a list; a script of a provider that is alone may have rules.
pub(crate) trait Turns: Debug + Send {
    /// The turn that answers an ask, counted from 0, whose first acceptable request this is; `None` if nothing is left to say.
    fn turn(&mut self, ask: usize, request: &ApiRequest) -> Option<WireTurn>;

    /// An ask begins with this request, which may be refused.
    fn ask(&mut self, _ask: usize, _request: &ApiRequest) {}

    /// A run of a session begins, counted from 0.
    fn begin_run(&mut self, _run: usize) {}

    /// The answer to a request that is not part of the conversation; `None` if it is.
    fn beside(&mut self, _request: &ApiRequest) -> Option<WireTurn> {
        None
    }
}

/// A list: each ask has its own turn, in the order in which the asks came.
#[derive(Debug)]
pub(crate) struct Listed(pub(crate) Vec<WireTurn>);

impl Turns for Listed {
    fn turn(&mut self, ask: usize, _: &ApiRequest) -> Option<WireTurn> {
        // No ask comes twice.
        self.0.get_mut(ask).map(std::mem::take)
    }
}

// Chooses the turn that answers a request of a session: the next one of the run that began last.

/// The turns of a session.
#[derive(Debug)]
pub(crate) struct SessionTurns {
    plan: SessionPlan,
    run: usize,
    /// How many asks of the run there were, and how many of them were not for a summary.
    asks: (usize, usize),
    places: HashMap<usize, TurnPlace>,
}

/// Where the answer to an ask is.
#[derive(Clone, Copy, Debug)]
enum TurnPlace {
    Summary(usize),
    Turn(usize, usize),
}

impl SessionTurns {
    pub(crate) fn new(plan: SessionPlan) -> Self {
        Self { plan, run: 0, asks: (0, 0), places: HashMap::new() }
    }

    fn place(&mut self, ask: usize, request: &ApiRequest) -> TurnPlace {
        if let Some(place) = self.places.get(&ask) {
            return *place;
        }
        let (all, turns) = &mut self.asks;
        let is_first = *all == 0;
        *all += 1;
        let place = if self.plan.is_for_summary(self.run, is_first, request) {
            TurnPlace::Summary(self.run)
        } else {
            *turns += 1;
            TurnPlace::Turn(self.run, *turns - 1)
        };
        self.places.insert(ask, place);
        place
    }
}

impl Turns for SessionTurns {
    fn turn(&mut self, ask: usize, request: &ApiRequest) -> Option<WireTurn> {
        match self.place(ask, request) {
            TurnPlace::Summary(run) => {
                let content = self.plan.runs.get(run)?.summary.clone();
                Some(WireTurn { content, ..WireTurn::default() })
            }
            TurnPlace::Turn(run, number) => {
                let turn = self.plan.runs.get(run)?.turns.get(number)?;
                let failing = |agent| WireTurn::failing(format!("no tool hands over to {agent}"));
                Some(turn.said_to(request).unwrap_or_else(failing))
            }
        }
    }

    fn ask(&mut self, ask: usize, request: &ApiRequest) {
        // A refused request has its place, too.
        self.place(ask, request);
    }

    fn begin_run(&mut self, run: usize) {
        (self.run, self.asks) = (run, (0, 0));
    }
}
