//! What a session's agent works on: the thread, and the run that goes on with it.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use threadspec_judge::json::{list, text};

/// The name of the agent that the input describes itself.
pub(crate) const MAIN: &str = "main";

/// What is kept of a session between its runs.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeptThread {
    /// The messages, without a system message.
    pub(crate) list: Vec<Value>,
    /// Who speaks, if not [`MAIN`].
    pub(crate) agent: Option<String>,
    /// Ids of the calls that wait for a decision.
    pub(crate) pending: Vec<String>,
    /// How many times a run ended with calls open.
    pub(crate) cuts: usize,
    /// The list before each run to whose message a later one goes back.
    pub(crate) before: BTreeMap<usize, Vec<Value>>,
    /// What a planted bug keeps beside it.
    pub(crate) notes: Value,
}

/// What has just happened, and may be worth saving.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Moment {
    /// A run has begun: cut calls are answered, a message is received, decisions are taken.
    Beginning,
    /// The model has answered.
    Response,
    /// A call has returned, or was told something.
    Answer,
    /// All calls of a response are done.
    Round,
    /// The run was cut off, and its process lives.
    Cut,
    /// The run has ended.
    End,
}

/// What cuts a run off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CutBy {
    Cancel,
    Throw,
    Kill,
    Limit,
}

impl CutBy {
    pub(crate) fn read(how: &Value) -> Self {
        match text(how) {
            "cancel" => Self::Cancel,
            "kill" => Self::Kill,
            _ => Self::Throw,
        }
    }
}

/// What is done with a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CallStep {
    Execute,
    /// It is answered with this text.
    Tell(String),
    /// It waits for a decision.
    Wait,
    /// It hands the thread over to this agent.
    HandOver(String),
    /// Nothing: it stays open.
    Leave,
}

/// A call that has no answer.
#[derive(Clone, Debug)]
pub(crate) struct UnansweredCall {
    /// The index of its response on the thread.
    pub(crate) response: usize,
    /// Its place among the calls of this response.
    pub(crate) place: usize,
    pub(crate) call: Value,
}

/// A run under way.
#[derive(Debug, Default)]
pub(crate) struct SessionRun {
    /// The input of the whole session.
    pub(crate) input: Arc<Value>,
    /// Which run of the session this is, from 0.
    pub(crate) number: usize,
    /// The first run of this process: above 0 it was started again.
    pub(crate) from: usize,
    /// Which session of this process this is, from 1.
    pub(crate) session: usize,
    pub(crate) thread: KeptThread,
    /// The thread as it was saved, if it has changed since.
    pub(crate) saved: Option<KeptThread>,
    /// Responses of the model so far.
    pub(crate) turn: usize,
    pub(crate) requests: Vec<Value>,
    pub(crate) executed: Vec<Value>,
    pub(crate) summaries: Vec<Value>,
    pub(crate) failure: Option<String>,
    pub(crate) cut: Option<CutBy>,
    /// The agent to which the current response hands over.
    pub(crate) next_agent: Option<String>,
    /// What outlives a run in its process: nothing, unless a planted bug leaves it here.
    pub(crate) memory: Value,
}

impl SessionRun {
    /// What the input says of this run.
    pub(crate) fn script(&self) -> &Value {
        &self.input["runs"][self.number]
    }

    /// The model's current response, or its failure.
    pub(crate) fn scripted(&self) -> Value {
        let turn = self.script()["model"].get(self.turn.wrapping_sub(1));
        turn.cloned().unwrap_or_else(|| json!({"error": "script exhausted"}))
    }

    pub(crate) fn limit(&self) -> Option<usize> {
        self.script()["maxRecursionDepth"].as_u64().map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// How this run is cut off during a call, if that is its script.
    pub(crate) fn cut_during(&self, call: &Value) -> Option<CutBy> {
        let cut = &self.script()["cut"];
        (cut.is_object() && cut["during"] == call["id"]).then(|| CutBy::read(&cut["how"]))
    }

    /// The description of the agent that speaks.
    pub(crate) fn speaker(&self) -> &Value {
        self.described(self.thread.agent.as_deref())
    }

    /// The description of an agent.
    pub(crate) fn described(&self, agent: Option<&str>) -> &Value {
        match agent {
            Some(name) if name != MAIN => &self.input["agents"][name],
            _ => &self.input,
        }
    }

    /// The calls that wait for a decision, in the order of their response.
    pub(crate) fn waiting(&self) -> Vec<Value> {
        let open = open_calls(&self.thread.list).into_iter().map(|open| open.call);
        open.filter(|call| self.is_waiting(call)).collect()
    }

    pub(crate) fn is_waiting(&self, call: &Value) -> bool {
        self.thread.pending.iter().any(|id| call["id"] == **id)
    }

    /// The last message of a type on the thread.
    pub(crate) fn last(&self, of_type: &str) -> Option<usize> {
        self.thread.list.iter().rposition(|message| message["type"] == of_type)
    }

    /// The index of the last response that has calls.
    pub(crate) fn last_round(&self) -> Option<usize> {
        self.thread.list.iter().rposition(|message| !list(&message["tool_calls"]).is_empty())
    }

    /// The place of a call among those of the response that made it last.
    pub(crate) fn place_of(&self, call: &Value) -> usize {
        let made = |message: &Value| list(&message["tool_calls"]).iter().position(|own| own["id"] == call["id"]);
        self.thread.list.iter().rev().find_map(made).unwrap_or_default()
    }

    /// What the reply says of the run. `refused` are the words with which it was refused.
    pub(crate) fn report(&self, refused: Option<String>) -> Value {
        let mut report = json!({"requests": self.requests, "executed": self.executed});
        if !self.thread.pending.is_empty() {
            report["pending"] = json!(self.thread.pending);
        }
        if !self.summaries.is_empty() {
            report["summaries"] = json!(self.summaries);
        }
        if let Some(failure) = &self.failure {
            report["failure"] = json!(failure);
        }
        if let Some(words) = refused {
            report["refused"] = json!(words);
        }
        report
    }
}

/// The calls of a list that no message directly behind their response answers.
pub(crate) fn open_calls(messages: &[Value]) -> Vec<UnansweredCall> {
    let mut open = Vec::new();
    for (response, message) in messages.iter().enumerate() {
        let calls = list(&message["tool_calls"]);
        if calls.is_empty() {
            continue;
        }
        let answers = answers_behind(messages, response);
        for (place, call) in calls.iter().enumerate() {
            if !messages[answers.clone()].iter().any(|answer| answer["tool_call_id"] == call["id"]) {
                open.push(UnansweredCall { response, place, call: call.clone() });
            }
        }
    }
    open
}

/// Where the answers to a response stand.
pub(crate) fn answers_behind(messages: &[Value], response: usize) -> std::ops::Range<usize> {
    let answers = messages[response + 1..].iter().take_while(|message| message["type"] == "tool").count();
    response + 1..response + 1 + answers
}

/// Puts an answer behind the response that made its call last, in the order of the calls.
pub(crate) fn place(messages: &mut Vec<Value>, answer: Value) {
    let order = |message: &Value, id: &Value| list(&message["tool_calls"]).iter().position(|call| call["id"] == *id);
    let Some(response) = messages.iter().rposition(|message| order(message, &answer["tool_call_id"]).is_some()) else {
        messages.push(answer);
        return;
    };
    let own = order(&messages[response], &answer["tool_call_id"]);
    let earlier = |message: &&Value| order(&messages[response], &message["tool_call_id"]) < own;
    let before = messages[answers_behind(messages, response)].iter().take_while(earlier).count();
    messages.insert(response + 1 + before, answer);
}
