//! A thread, as its facts make it.
//!
//! A call is never apart from its answer: both are in one item, and a request is written from items. So no request can have an answer
//! without a call, a call with two answers, or something between a call and its answer (SESSION-VALID).

use super::fact::{Approval, FactRecord, ThreadFact};
use super::said::{ModelReply, OpaqueBlock, RequestedCall, SentMessage, ToolOutput};
use crate::ids::Ids;
use crate::{Error, Message, ToolCall};
use serde_json::{Map, Value};

/// The answer to a call that began and was cut (SESSION-ANSWERED).
pub(super) const INTERRUPTED: &str = "Interrupted: the run ended before this call returned. It may have had an effect.";

/// The thread after some facts.
#[derive(Debug, Default)]
pub(super) struct SessionThread {
    pub(super) items: Vec<ThreadItem>,
    /// The agent that a hand-over chose, if there was one.
    pub(super) agent: Option<String>,
    /// The ids of all calls.
    pub(super) ids: Ids,
}

/// The items of a thread that stay together.
#[derive(Clone, Debug)]
pub(super) enum ThreadItem {
    User(String),
    Summary(String),
    Round(ThreadRound),
}

/// A response with the answers to its calls; one without calls ends a turn.
#[derive(Clone, Debug)]
pub(super) struct ThreadRound {
    content: String,
    opaque: Vec<OpaqueBlock>,
    pub(super) calls: Vec<ThreadCall>,
    /// The messages of the user that came while the calls were under way.
    steered: Vec<String>,
}

/// A call of a round.
#[derive(Clone, Debug)]
pub(super) struct ThreadCall {
    pub(super) call: RequestedCall,
    /// The arguments, if they are an object.
    pub(super) args: Option<Map<String, Value>>,
    pub(super) state: CallState,
}

/// How far a call has come.
#[derive(Clone, Debug)]
pub(super) enum CallState {
    /// Nothing was done about it yet.
    New,
    /// It waits for a decision.
    Pending,
    /// It may run, perhaps with other arguments.
    Approved(Option<Map<String, Value>>),
    /// It began, and may have had an effect.
    Begun,
    Answered(ToolOutput),
}

impl SessionThread {
    /// The thread after all facts of a store.
    pub(super) fn of(records: &[FactRecord]) -> Result<Self, Error> {
        // From the last fact back, past those that the thread has left.
        let (mut end, mut facts) = (records.len(), Vec::new());
        while let Some(last) = end.checked_sub(1) {
            end = match &records[last].fact {
                ThreadFact::Rewound { to } => (*to).min(last),
                fact => {
                    facts.push(fact);
                    last
                }
            };
        }
        let mut thread = Self::default();
        facts.into_iter().rev().try_for_each(|fact| thread.apply(fact))?;
        Ok(thread)
    }

    /// Takes in what happened.
    ///
    /// # Errors
    /// If the fact is about something that the thread does not have: the store holds what no session wrote.
    pub(super) fn apply(&mut self, fact: &ThreadFact) -> Result<(), Error> {
        match fact {
            ThreadFact::User { text } => self.items.push(ThreadItem::User(text.clone())),
            ThreadFact::Replied(reply) => {
                for call in &reply.calls {
                    self.ids.take(&call.id);
                }
                self.items.push(ThreadItem::Round(ThreadRound::new(reply)));
            }
            ThreadFact::Began { call } => self.call(call)?.state = CallState::Begun,
            ThreadFact::Asked { call } => self.call(call)?.state = CallState::Pending,
            ThreadFact::Decided { call, approval } => {
                self.call(call)?.state = match approval {
                    Approval::Approved { args } => CallState::Approved(args.clone()),
                    Approval::Denied { reason } => CallState::Answered(text(denied(reason.as_deref()))),
                };
            }
            ThreadFact::Answered { call, output } => self.call(call)?.state = CallState::Answered(output.clone()),
            ThreadFact::Steered { text } => match self.items.last_mut() {
                Some(ThreadItem::Round(round)) => round.steered.push(text.clone()),
                _ => return Err(Error::store_failure("no call is under way")),
            },
            ThreadFact::HandedOver { call, agent } => {
                self.call(call)?.state = CallState::Answered(text(format!("Handed over to {agent}.")));
                self.agent = Some(agent.clone());
            }
            // Which facts are behind it is decided before any is taken in.
            ThreadFact::Rewound { .. } => {}
            ThreadFact::Compacted { kept, summary } => {
                let mut items: Vec<ThreadItem> = summary.clone().map(ThreadItem::Summary).into_iter().collect();
                for position in kept {
                    let item = self.items.get(*position);
                    items.push(item.cloned().ok_or_else(|| Error::store_failure("it keeps what is not there"))?);
                }
                self.items = items;
            }
        }
        Ok(())
    }

    /// A call of the newest response.
    fn call(&mut self, id: &str) -> Result<&mut ThreadCall, Error> {
        let call = match self.items.last_mut() {
            Some(ThreadItem::Round(round)) => round.calls.iter_mut().find(|call| call.call.id == id),
            _ => None,
        };
        call.ok_or_else(|| Error::store_failure(format!("the newest response has no call {id:?}")))
    }

    /// The calls of the newest response, if nothing is behind it. Only they can be open.
    pub(super) fn newest_calls(&self) -> &[ThreadCall] {
        match self.items.last() {
            Some(ThreadItem::Round(round)) => &round.calls,
            _ => &[],
        }
    }

    /// The ids of the calls that wait for a decision.
    pub(super) fn pending(&self) -> Vec<String> {
        let waits = |call: &&ThreadCall| matches!(call.state, CallState::Pending);
        self.newest_calls().iter().filter(waits).map(|call| call.call.id.clone()).collect()
    }

    /// Returns whether the model has something to go on with: a message, a summary or results that it has not answered yet.
    pub(super) fn waits_for_model(&self) -> bool {
        match self.items.last() {
            None => false,
            Some(ThreadItem::Round(round)) => !round.calls.is_empty(),
            Some(_) => true,
        }
    }
}

impl ThreadItem {
    /// The messages of the item.
    pub(super) fn messages(&self) -> Vec<SentMessage> {
        match self {
            Self::User(text) => vec![Message::human(text).into()],
            Self::Summary(text) => vec![Message::human(format!("Summary of what was said so far:\n{text}")).into()],
            Self::Round(round) => round.messages(),
        }
    }
}

impl ThreadRound {
    fn new(reply: &ModelReply) -> Self {
        let call = |call: &RequestedCall| ThreadCall { call: call.clone(), args: call.args(), state: CallState::New };
        let ModelReply { content, calls, opaque } = reply;
        let calls = calls.iter().map(call).collect();
        Self { content: content.clone(), opaque: opaque.clone(), calls, steered: Vec::new() }
    }

    /// The response, one answer behind it for each of its calls, and then the messages that came meanwhile. A response that says nothing is no message: providers refuse one
    /// without text and calls, and opaque parts never are alone (SESSION-WHOLE).
    fn messages(&self) -> Vec<SentMessage> {
        if self.content.is_empty() && self.calls.is_empty() {
            return Vec::new();
        }
        let tool_calls = self.calls.iter().map(ThreadCall::sent).collect();
        let message = Message::Ai { content: self.content.clone(), tool_calls };
        let response = SentMessage { message, opaque: self.opaque.clone(), images: Vec::new() };
        let answer = |call: &ThreadCall| {
            let (content, images) = match &call.state {
                CallState::Answered(output) => (&*output.text, output.images.clone()),
                // No model is asked before all calls are answered. If one were, this would be the truth.
                _ => (INTERRUPTED, Vec::new()),
            };
            SentMessage { message: Message::tool(&call.call.id, content), opaque: Vec::new(), images }
        };
        let steered = self.steered.iter().map(|text| Message::human(text).into());
        [response].into_iter().chain(self.calls.iter().map(answer)).chain(steered).collect()
    }
}

impl ThreadCall {
    /// The call as the model is shown it. Strict providers refuse arguments that are no object; what the model wrote is in the answer
    /// (SESSION-RAW).
    fn sent(&self) -> ToolCall {
        let RequestedCall { id, name, .. } = self.call.clone();
        ToolCall { id, name, args: self.args.clone().unwrap_or_default() }
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(self.state, CallState::Answered(_))
    }
}

/// An answer that is only text.
pub(super) fn text(text: impl Into<String>) -> ToolOutput {
    ToolOutput { text: text.into(), images: Vec::new() }
}

/// Returns the answer to a call that was denied (SESSION-DENIED).
fn denied(reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("Not executed: the user denied this call: {reason}"),
        None => "Not executed: the user denied this call.".to_owned(),
    }
}
