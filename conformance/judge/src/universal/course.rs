//! The course of a run: its requests laid beside the script, so that each oracle finds what it judges.

use super::message::{AgentCall, Conversation, Placed, Speaker};
use super::record::Record;
use super::script::{ModelTurn, RunScript};

/// How a run ended, compared with its script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CourseEnd {
    /// A response had no calls; `extra` requests follow it.
    Stopped { extra: usize },
    /// A model call failed; `extra` requests follow it, apart from one retry that failed, too.
    ModelFailed { extra: usize },
    /// The limit was reached; `extra` requests follow.
    Limited { extra: usize },
    /// Another request was due; `after` is the last turn, `None` if there was no request at all.
    TooEarly { after: Option<usize> },
}

/// A call of a response, with what came of it.
#[derive(Clone, Debug)]
pub(crate) struct CallRecord<'a> {
    /// As the model sent it.
    pub(crate) call: &'a AgentCall,
    /// As the next request has it.
    pub(crate) sent: Option<&'a AgentCall>,
    /// The answers to it.
    pub(crate) answers: Vec<Placed<'a>>,
    /// True if another call of the response is sent with the same id, so that their answers cannot be distinguished.
    pub(crate) is_ambiguous: bool,
    /// True if the answer has the id that the model gave, although the call was sent with another.
    pub(crate) answered_by_old_id: bool,
}

/// A response with calls, and what follows it in the next request.
#[derive(Clone, Debug)]
pub(crate) struct Round<'a> {
    /// The number of the request that it answers, counted from 0; that is also the number of its turn.
    pub(crate) turn: usize,
    /// Where the next request stops repeating the request that was answered; `None` if it repeats all of it.
    pub(crate) broken_prefix: Option<usize>,
    /// The text of the response.
    pub(crate) content: &'a str,
    /// The message that repeats the response.
    pub(crate) response: Option<Placed<'a>>,
    pub(crate) calls: Vec<CallRecord<'a>>,
    /// Answers without a `tool_call_id`.
    pub(crate) nameless: Vec<Placed<'a>>,
    /// All other messages behind the response.
    pub(crate) others: Vec<Placed<'a>>,
}

/// A run beside its script.
#[derive(Debug)]
pub(crate) struct Course<'a> {
    pub(crate) script: &'a RunScript,
    pub(crate) record: &'a Record,
    /// True if integers up to 2^64 must stay exact.
    pub(crate) exact: bool,
    pub(crate) requests: Vec<Conversation<'a>>,
    pub(crate) rounds: Vec<Round<'a>>,
    pub(crate) end: CourseEnd,
    /// The requests that repeat a failed one.
    pub(crate) retries: Vec<usize>,
}

impl<'a> Course<'a> {
    pub(crate) fn of(script: &'a RunScript, record: &'a Record, exact: bool) -> Self {
        let requests: Vec<Conversation<'a>> = record.requests.iter().map(|request| Conversation::of(request)).collect();
        let (end, retries) = end(script, record);
        let follows = |turn: &usize| turn + 1 < requests.len() && !script.calls(*turn).is_empty();
        let rounds = (0..requests.len()).filter(follows).map(|turn| round(script, &requests, turn)).collect();
        Self { script, record, exact, requests, rounds, end, retries }
    }

    /// The turns behind which the model is asked again, each with where the next request stops repeating the one that was answered.
    pub(crate) fn broken_prefixes(&self) -> impl Iterator<Item = (usize, usize)> {
        let rounds = self.rounds.iter().filter_map(|round| Some((round.turn, round.broken_prefix?)));
        let asked_on = (0..self.requests.len().saturating_sub(1))
            .filter(|turn| self.script.goes_on_behind(*turn) && self.script.calls(*turn).is_empty());
        rounds.chain(asked_on.filter_map(|turn| Some((turn, broken_prefix(&self.requests, turn)?))))
    }

    /// Returns whether each call of each round is answered exactly once, so that contents can be judged.
    pub(crate) fn pairs_up(&self) -> bool {
        self.rounds.iter().all(|round| {
            let answered = round.calls.iter().all(|asked| asked.sent.is_some() && asked.answers.len() == 1);
            answered && round.response.is_some() && round.nameless.is_empty()
        })
    }
}

fn end(script: &RunScript, record: &Record) -> (CourseEnd, Vec<usize>) {
    let made = record.requests.len();
    let mut retries = Vec::new();
    for turn in 0..made {
        let extra = made - turn - 1;
        match script.turn(turn) {
            ModelTurn::Failure => {
                let repeated = |next: &Vec<_>| is_same(next, &record.requests[turn]);
                let again = record.requests.get(turn + 1).is_some_and(repeated) && !retries.contains(&turn);
                if !again {
                    return (CourseEnd::ModelFailed { extra }, retries);
                }
                retries.push(turn + 1);
            }
            // What was cut off may be asked for again, and so may a call that nobody can read.
            ModelTurn::Response { calls, .. } if calls.is_empty() && extra > 0 && script.goes_on_behind(turn) => {}
            ModelTurn::Response { calls, .. } if calls.is_empty() => return (CourseEnd::Stopped { extra }, retries),
            ModelTurn::Response { .. } => {
                let asked = turn + 1 - retries.len();
                if script.limit.is_some_and(|limit| asked > limit || asked == limit.max(1) && extra == 0) {
                    return (CourseEnd::Limited { extra }, retries);
                }
            }
        }
    }
    (CourseEnd::TooEarly { after: made.checked_sub(1) }, retries)
}

fn is_same(one: &[super::message::AgentMessage], other: &[super::message::AgentMessage]) -> bool {
    one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.is(other))
}

fn broken_prefix(requests: &[Conversation<'_>], turn: usize) -> Option<usize> {
    let (before, next) = (&requests[turn], &requests[turn + 1]);
    let same = before.rest.iter().zip(&next.rest).take_while(|(one, other)| one.message.is(other.message)).count();
    (same < before.rest.len()).then_some(same)
}

fn round<'a>(script: &'a RunScript, requests: &[Conversation<'a>], turn: usize) -> Round<'a> {
    let (before, next) = (&requests[turn], &requests[turn + 1]);
    let broken_prefix = broken_prefix(requests, turn);
    let scripted = script.calls(turn);
    let repeats = |placed: &Placed<'_>| {
        let ids = placed.message.calls.iter().map(AgentCall::id);
        !placed.message.calls.is_empty() && ids.eq(scripted.iter().map(AgentCall::id))
    };
    let start = if broken_prefix.is_none() {
        before.rest.len()
    } else {
        // The response may be there all the same: take the last message with its calls.
        next.rest.iter().rposition(repeats).unwrap_or(next.rest.len())
    };
    let behind = next.rest.get(start..).unwrap_or_default();
    let (response, behind) = match behind.split_first() {
        Some((first, behind)) if first.message.speaker == Speaker::Ai => (Some(*first), behind),
        _ => (None, behind),
    };
    let content = match script.turns.get(turn) {
        Some(ModelTurn::Response { content, .. }) => content.as_str(),
        _ => "",
    };
    let mut round =
        Round { turn, broken_prefix, content, response, calls: Vec::new(), nameless: Vec::new(), others: Vec::new() };
    let sent: &'a [AgentCall] = response.map_or(&[], |response| &response.message.calls);
    for (position, call) in scripted.iter().enumerate() {
        let by_id = || sent.iter().find(|sent| sent.id == call.id);
        let own = if sent.len() == scripted.len() { sent.get(position) } else { by_id() };
        let is_ambiguous = own.is_some_and(|own| sent.iter().filter(|other| other.id == own.id).count() > 1);
        round.calls.push(CallRecord { call, sent: own, answers: Vec::new(), is_ambiguous, answered_by_old_id: false });
    }
    round.assign(behind);
    round
}

impl<'a> Round<'a> {
    /// Gives each answer to the call that it names.
    fn assign(&mut self, behind: &[Placed<'a>]) {
        for &placed in behind {
            if placed.message.speaker != Speaker::Tool {
                self.others.push(placed);
                continue;
            }
            let Some(id) = placed.message.call_id.as_deref() else {
                self.nameless.push(placed);
                continue;
            };
            let names = |asked: &&mut CallRecord<'_>| asked.sent.map_or(asked.call.id() == id, |sent| sent.id() == id);
            // Of several calls with one id, each gets an answer before any gets a second one.
            let fewest = self.calls.iter_mut().filter(names).min_by_key(|asked| asked.answers.len());
            if let Some(asked) = fewest {
                asked.answers.push(placed);
                continue;
            }
            let old = |asked: &&mut CallRecord<'_>| asked.call.id() == id && asked.answers.is_empty();
            match self.calls.iter_mut().find(old) {
                Some(asked) => {
                    asked.answered_by_old_id = true;
                    asked.answers.push(placed);
                }
                None => self.others.push(placed),
            }
        }
    }
}
