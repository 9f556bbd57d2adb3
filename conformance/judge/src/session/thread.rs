//! Follows the messages on the thread so far, and the fate of each call.

use super::script::{CallKind, JudgedScript, PlannedCall, PlannedResponse};
use crate::universal::message::AgentCall;
use crate::universal::script::CallOutcome;
use crate::universal::value::read_inside;
use serde_json::{Map, Value};
use threadspec::session::Approval;

/// The thread, as the script and the reports say that it went.
#[derive(Clone, Debug)]
pub(super) struct JudgedThread<'a> {
    pub(super) session: &'a JudgedScript,
    pub(super) items: Vec<JudgedItem<'a>>,
    /// Compaction may have taken what is before, but for the user messages that it must keep.
    pub(super) compacted: usize,
    /// A hand-over's filter may have taken what is before.
    pub(super) filtered: usize,
    /// The agents, by their numbers, whose system messages a request may have.
    pub(super) agents: Vec<usize>,
    /// True if a call has handed over.
    pub(super) handed_over: bool,
}

/// A user message or a response.
#[derive(Clone, Debug)]
pub(super) struct JudgedItem<'a> {
    /// The run in which it was sent.
    pub(super) run: usize,
    pub(super) kind: ItemKind<'a>,
    /// True if it may be missing from now on: because it may be, or since it was sent.
    pub(super) may_be_missing: bool,
    /// The last run one of whose requests has it.
    pub(super) seen: Option<usize>,
    /// True if a difference between it and its script was named in its own run.
    pub(super) differs: bool,
}

/// The kind of an item.
#[derive(Clone, Debug)]
pub(super) enum ItemKind<'a> {
    User(&'a str),
    Response(ResponseFate<'a>),
}

/// A response, and what became of its calls.
#[derive(Clone, Debug)]
pub(super) struct ResponseFate<'a> {
    pub(super) said: &'a PlannedResponse,
    pub(super) calls: Vec<CallFate<'a>>,
    /// True if its run ended with it, so that its calls were open then.
    pub(super) ends_run: bool,
    /// The run that ended early, by a cut, a limit or a failure, while it was the last to be sent or its calls ran.
    pub(super) cut_in: Option<usize>,
}

/// The fate of a call.
#[derive(Clone, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each says something of its own")]
pub(super) struct CallFate<'a> {
    pub(super) said: &'a PlannedCall,
    /// True if its tool needs an approval.
    pub(super) is_guarded: bool,
    /// In which runs it was executed, and whether it returned.
    pub(super) executions: Vec<(usize, bool)>,
    /// The run of the decision on it, once it was taken.
    pub(super) decision: Option<Decided<'a>>,
    /// The run whose user message went past it while it was pending.
    pub(super) passed: Option<usize>,
    /// True if it is pending: it waits for a decision.
    pub(super) is_pending: bool,
    /// The words of the last request that had an answer to it, and its run.
    pub(super) answer: Option<(usize, Option<String>)>,
    /// True if it is known to be gone.
    pub(super) is_gone: bool,
    /// True if a fault of its answer was named.
    pub(super) is_reported: bool,
}

/// A decision that was taken.
#[derive(Clone, Debug)]
pub(super) struct Decided<'a> {
    pub(super) run: usize,
    pub(super) approval: &'a Approval,
}

impl<'a> JudgedThread<'a> {
    pub(super) fn new(session: &'a JudgedScript) -> Self {
        Self { session, items: Vec::new(), compacted: 0, filtered: 0, agents: vec![0], handed_over: false }
    }

    /// Adds a user message.
    pub(super) fn hear(&mut self, run: usize, text: &'a str, may_be_missing: bool) {
        self.items.push(JudgedItem::new(run, ItemKind::User(text), may_be_missing));
    }

    /// Adds a response.
    pub(super) fn say(&mut self, run: usize, said: &'a PlannedResponse) {
        let call = |said: &'a PlannedCall| CallFate {
            said,
            is_guarded: self.session.guarded.contains(&said.name) && !said.is_raw(),
            executions: Vec::new(),
            decision: None,
            passed: None,
            is_pending: false,
            answer: None,
            is_gone: false,
            is_reported: false,
        };
        let calls = said.calls.iter().map(call).collect();
        // An empty response leaves nothing that anybody would miss.
        let is_empty = said.calls.is_empty() && said.text.trim().is_empty();
        let response = ResponseFate { said, calls, ends_run: false, cut_in: None };
        self.items.push(JudgedItem::new(run, ItemKind::Response(response), is_empty));
    }

    /// The responses, with their places.
    pub(super) fn responses(&self) -> impl DoubleEndedIterator<Item = (usize, &ResponseFate<'a>)> {
        self.items.iter().enumerate().filter_map(|(index, item)| Some((index, item.response()?)))
    }

    /// The calls, each with its place: the item, and the number of the call in it.
    pub(super) fn calls(&self) -> impl DoubleEndedIterator<Item = ((usize, usize), &CallFate<'a>)> {
        self.responses().flat_map(|(index, response)| {
            response.calls.iter().enumerate().map(move |(number, call)| ((index, number), call))
        })
    }

    /// A call by its place.
    pub(super) fn call(&self, (item, number): (usize, usize)) -> Option<&CallFate<'a>> {
        self.items.get(item)?.response()?.calls.get(number)
    }

    pub(super) fn call_mut(&mut self, (item, number): (usize, usize)) -> Option<&mut CallFate<'a>> {
        self.items.get_mut(item)?.response_mut()?.calls.get_mut(number)
    }

    /// Returns the outcome of a call, given the decision on it.
    pub(super) fn outcome(&self, call: &CallFate<'a>) -> CallOutcome<'a> {
        let made = AgentCall { id: Some(call.said.id.clone()), name: Some(call.said.name.clone()), args: call.args() };
        self.session.tools.outcome(&made)
    }

    /// Returns whether a text is the scripted result of another call, and not of this one.
    pub(super) fn is_result_of_another(&self, place: (usize, usize), text: &str, upto: usize) -> bool {
        let is = |call: &CallFate<'a>| match self.outcome(call) {
            CallOutcome::Result(Value::String(result)) => !result.trim().is_empty() && result == text,
            CallOutcome::Result(Value::Object(members)) if members.contains_key("image") => false,
            CallOutcome::Result(result) => read_inside(text).is_ok_and(|value| value == *result),
            CallOutcome::Failure(_) | CallOutcome::Unknown | CallOutcome::Undeclared => false,
        };
        let own = self.call(place).is_some_and(is);
        !own && self.calls().any(|(other, call)| other.0 < upto && other != place && is(call))
    }
}

impl<'a> JudgedItem<'a> {
    fn new(run: usize, kind: ItemKind<'a>, may_be_missing: bool) -> Self {
        Self { run, kind, may_be_missing, seen: None, differs: false }
    }

    pub(super) fn response(&self) -> Option<&ResponseFate<'a>> {
        match &self.kind {
            ItemKind::User(_) => None,
            ItemKind::Response(response) => Some(response),
        }
    }

    pub(super) fn response_mut(&mut self) -> Option<&mut ResponseFate<'a>> {
        match &mut self.kind {
            ItemKind::User(_) => None,
            ItemKind::Response(response) => Some(response),
        }
    }

    pub(super) fn user(&self) -> Option<&'a str> {
        match self.kind {
            ItemKind::User(text) => Some(text),
            ItemKind::Response(_) => None,
        }
    }
}

impl ResponseFate<'_> {
    pub(super) fn has_hand_over(&self) -> bool {
        self.said.calls.iter().any(PlannedCall::is_hand_over)
    }

    pub(super) fn has_raw(&self) -> bool {
        self.said.calls.iter().any(PlannedCall::is_raw)
    }

    /// Returns whether a call of it is, or was, pending.
    pub(super) fn waits(&self) -> bool {
        self.calls.iter().any(|call| call.is_guarded)
    }

    /// Returns whether its calls were open when a run ended early.
    pub(super) fn is_open_cut(&self) -> bool {
        self.cut_in.is_some() && self.ends_run
    }

    /// Returns whether one of its calls had returned when its run ended early.
    pub(super) fn had_returned(&self, call: &CallFate<'_>) -> bool {
        self.cut_in.is_some_and(|run| call.has_returned(run))
    }

    /// Returns whether a user message went past a pending call of it.
    pub(super) fn is_passed(&self) -> bool {
        self.calls.iter().any(|call| call.passed.is_some())
    }
}

impl CallFate<'_> {
    /// Returns whether it had returned in one of the runs up to this one.
    pub(super) fn has_returned(&self, upto: usize) -> bool {
        self.executions.iter().any(|(run, returned)| *returned && *run <= upto)
    }

    /// The arguments with which it is executed.
    pub(super) fn args(&self) -> Value {
        self.approved_args().map_or_else(|| self.own_args(), |args| args.clone().into())
    }

    /// The arguments that the model gave.
    pub(super) fn own_args(&self) -> Value {
        match &self.said.kind {
            CallKind::Plain(args) => args.clone(),
            CallKind::Raw { repaired } => repaired.clone().unwrap_or_else(|| Map::new().into()),
            CallKind::HandOver(_) => Map::new().into(),
        }
    }

    pub(super) fn is_approved(&self) -> bool {
        matches!(self.approval(), Some(Approval::Approved { .. }))
    }

    pub(super) fn is_denied(&self) -> bool {
        matches!(self.approval(), Some(Approval::Denied { .. }))
    }

    fn approval(&self) -> Option<&Approval> {
        self.decision.as_ref().map(|decided| decided.approval)
    }

    /// Returns the arguments with which an approval replaces its own.
    pub(super) fn approved_args(&self) -> Option<&Map<String, Value>> {
        match self.approval()? {
            Approval::Approved { args } => args.as_ref(),
            Approval::Denied { .. } => None,
        }
    }

    /// Returns the reason of a denial, if one was given.
    pub(super) fn denial_reason(&self) -> Option<&str> {
        match self.approval()? {
            Approval::Approved { .. } => None,
            Approval::Denied { reason } => reason.as_deref(),
        }
    }
}
