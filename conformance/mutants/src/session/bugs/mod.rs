//! The tables of planted bugs of sessions, by clause.

mod approvals;
mod compaction;
mod cuts;
mod denials;
mod everywhere;
mod execution;
mod opaque;
mod plain;
mod said;
mod steer;
mod waiting;
mod whole;

use super::group::SessionGroup;
use super::when::Shows;
use super::when::Shows::{Always, LongThread, NewStart, SecondSession, ThirdCall, ThirdRun, TwoCuts};
use crate::planted::Planted;
use crate::threads::SessionAgent;
use crate::threads::run::{CutBy, SessionRun, UnansweredCall, place};
use crate::threads::sound::{self, INTERRUPTED, cut_calls};
use serde_json::Value;

pub(super) const BY_CANCEL: Shows = Shows::After(CutBy::Cancel);
pub(super) const BY_THROW: Shows = Shows::After(CutBy::Throw);
pub(super) const BY_KILL: Shows = Shows::After(CutBy::Kill);
pub(super) const BY_LIMIT: Shows = Shows::After(CutBy::Limit);

/// Wherever a cut can show.
pub(super) const AFTER_ANY_CUT: &[Shows] = &[
    Always,
    ThirdRun,
    ThirdCall,
    TwoCuts,
    SecondSession,
    NewStart,
    LongThread,
    BY_CANCEL,
    BY_THROW,
    BY_KILL,
    BY_LIMIT,
];

/// Every bug.
pub(super) fn all() -> Vec<Planted> {
    [
        cuts::all(),
        waiting::stuck(),
        whole::all(),
        execution::all(),
        plain::all(),
        said::all(),
        approvals::all(),
        denials::all(),
        waiting::all(),
        compaction::all(),
        opaque::all(),
        execution::raw(),
        plain::handovers(),
        opaque::images(),
        said::rewind(),
        steer::all(),
        everywhere::all(),
    ]
    .concat()
}

/// Answers some cut calls in another way.
pub(super) fn on_cut_calls(
    agent: &mut SessionAgent,
    shows: Shows,
    tell: fn(&SessionRun, &UnansweredCall) -> Option<Value>,
) {
    agent.mend = Box::new(move |run| {
        sound::mend_with(run, |run, open| {
            if shows.holds_for(run, &open.call) { tell(run, open) } else { Some(INTERRUPTED.into()) }
        });
        Vec::new()
    });
}

/// The calls of a message that can be changed.
pub(super) fn calls_mut(message: &mut Value) -> impl Iterator<Item = &mut Value> {
    message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten()
}

pub(super) fn is(message: &Value, of_type: &str) -> bool {
    message["type"] == of_type
}

/// Executes a call whatever it waits for, and answers it.
pub(super) fn run_now(run: &mut SessionRun, call: &Value) {
    execution::again(run, call);
    run.thread.pending.retain(|id| call["id"] != **id);
    let answer = sound::execute(run, call);
    place(&mut run.thread.list, answer);
}

impl SessionGroup {
    /// Changes each request as it is sent; the thread stays as it is.
    pub(in crate::session) fn requests(
        self,
        name: &'static str,
        change: impl Fn(&mut SessionRun, &mut Vec<Value>) + Copy + Send + Sync + 'static,
    ) -> Vec<Planted> {
        self.request(name, move |run, shows| {
            let mut request = sound::request(run);
            if shows.holds(run) {
                change(run, &mut request);
            }
            request
        })
    }

    /// Changes the requests of every run but the first.
    pub(in crate::session) fn later_runs(
        self,
        name: &'static str,
        change: fn(&mut SessionRun, &mut Vec<Value>),
    ) -> Vec<Planted> {
        self.requests(name, move |run, request| {
            if run.number > 0 {
                change(run, request);
            }
        })
    }

    /// Changes the thread once when it is read from the store.
    pub(in crate::session) fn as_loaded(self, name: &'static str, change: fn(&mut SessionRun)) -> Vec<Planted> {
        self.loaded(name, move |run, shows| {
            if run.number > 0 && shows.holds(run) {
                change(run);
            }
        })
    }

    /// Answers some cut calls in another way.
    pub(in crate::session) fn cut_calls(
        self,
        name: &'static str,
        tell: fn(&SessionRun, &UnansweredCall) -> Option<Value>,
    ) -> Vec<Planted> {
        self.plant(name, move |agent, shows| on_cut_calls(agent, shows, tell))
    }

    /// Does something else where calls were cut, given the indices of their responses, last first; returns whether the cut calls are to be answered
    /// as they should.
    pub(in crate::session) fn cut_responses(
        self,
        name: &'static str,
        change: fn(&mut SessionRun, usize) -> bool,
    ) -> Vec<Planted> {
        self.mend(name, move |run, shows| {
            let mut responses: Vec<usize> = cut_calls(run).iter().map(|open| open.response).collect();
            responses.dedup();
            let mut is_mended = true;
            if !responses.is_empty() && shows.holds(run) {
                for response in responses.into_iter().rev() {
                    is_mended &= change(run, response);
                }
            }
            if is_mended {
                sound::mend(run);
            }
            Vec::new()
        })
    }
}
