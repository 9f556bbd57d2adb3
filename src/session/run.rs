//! A session: runs on one thread, each of which begins on what the last one left.

use super::compact::{Budget, kept};
use super::fact::{Approval, FactRecord, ThreadFact};
use super::said::{
    ModelReply, ModelRequest, ParallelTools, SentMessage, ThreadModel, ToolEvent, ToolOutput, handoff_tool,
};
use super::store::Store;
use super::thread::{CallState, INTERRUPTED, SessionThread, ThreadCall, ThreadItem, text};
use crate::agent::{ToolError, make_distinct};
use crate::{Error, Message, ToolCall, json_stringify};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The answer to a call that never began (SESSION-ANSWERED).
const NOT_BEGUN: &str = "Not executed: the run ended before this call began.";
/// The answer to a call that waited when the user went on (SESSION-PENDING).
const UNDECIDED: &str = "Not executed: the user went on without a decision on this call.";

/// An agent of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentSpec {
    /// Its name.
    pub name: String,
    /// Its system message, empty for none.
    pub system: String,
    /// Those of its tools that wait for a decision before they run.
    pub guarded: BTreeSet<String>,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq)]
pub enum Beginning {
    /// With a message of the user.
    Message(String),
    /// With decisions on pending calls, by their ids.
    Decisions(BTreeMap<String, Approval>),
    /// With nothing new.
    Resume,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunEnd {
    /// The model answered without calls.
    Answered,
    /// Calls wait for a decision.
    Pending,
    /// The limit of rounds was reached, with calls that never began.
    LimitReached,
    /// The user stopped it while calls were under way.
    Cancelled,
    /// The model failed, or a tool ended the run, with these words.
    Failed(String),
    /// It did not begin: nothing was asked, executed or added. The words say what to do instead.
    Refused(String),
}

/// Summarizes the messages that a compaction takes away.
pub type Summarize<'a> = &'a mut dyn FnMut(&[SentMessage]) -> Result<String, Error>;

/// A thread in a store, the agents that work on it, and a clock.
///
/// Whatever ends a run, nothing is done about it at that moment: a process that is killed could not do it either. The next run begins
/// with it. A call that had begun is answered by a text that says so, since nobody knows what it did, and is never executed again
/// (SESSION-ONCE).
pub struct Session<S> {
    store: S,
    clock: Box<dyn FnMut() -> u64 + Send>,
    agents: Vec<AgentSpec>,
    thread: SessionThread,
}

impl<S: Store> Session<S> {
    /// Opens the thread of a store. The first agent has it until a call hands it over; the clock gives milliseconds.
    ///
    /// # Errors
    /// If the store fails or holds what no session wrote ([`Error::is_store_failure`]), or there is no agent ([`Error::is_invalid_input`]).
    pub fn open(
        mut store: S,
        agents: Vec<AgentSpec>,
        clock: impl FnMut() -> u64 + Send + 'static,
    ) -> Result<Self, Error> {
        if agents.is_empty() {
            return Err(Error::input("a session needs an agent"));
        }
        let records = store.load()?;
        let thread = SessionThread::of(&records)?;
        Ok(Self { store, clock: Box::new(clock), agents, thread })
    }

    /// The ids of the calls that wait for a decision.
    pub fn pending(&self) -> Vec<String> {
        self.thread.pending()
    }

    /// Returns the request that the model would get for the thread now.
    pub fn request(&self) -> ModelRequest {
        let agent = self.agent();
        let system = (!agent.system.is_empty()).then(|| Message::system(&agent.system).into());
        let messages = system.into_iter().chain(self.thread.items.iter().flat_map(ThreadItem::messages)).collect();
        ModelRequest { agent: agent.name.clone(), messages }
    }

    /// Takes the thread back to where it was before a message of the user, which the message of the next run replaces (SESSION-REWIND).
    /// Messages are counted from 1, in the order in which they were sent, also those that the thread has left: it can go back to them.
    ///
    /// # Errors
    /// [`Error::is_invalid_input`] if there is no such message, and [`Error::is_store_failure`].
    pub fn rewind(&mut self, message: usize) -> Result<(), Error> {
        let records = self.store.load()?;
        let is_message = |place: &usize| matches!(records[*place].fact, ThreadFact::User { .. });
        let to = (0..records.len()).filter(is_message).nth(message.wrapping_sub(1));
        let to = to.ok_or_else(|| Error::input(format!("the thread has no message {message}")))?;
        self.keep(ThreadFact::Rewound { to })?;
        self.thread = SessionThread::of(&records[..to])?;
        Ok(())
    }

    /// Runs until the model answers without calls, or something ends the run before that.
    ///
    /// With a limit, so many rounds of calls are executed at most, and the model is asked once more behind them.
    ///
    /// # Errors
    /// [`Error::is_store_failure`]. What was kept before stays, as after a kill.
    pub fn run(
        &mut self,
        beginning: Beginning,
        limit: Option<usize>,
        model: &mut dyn ThreadModel,
        tools: &mut dyn ParallelTools,
    ) -> Result<RunEnd, Error> {
        let refusal = match beginning {
            Beginning::Message(text) => self.begin_with_message(text)?,
            Beginning::Decisions(decisions) => self.begin_with_decisions(decisions)?,
            Beginning::Resume => self.begin_with_nothing()?,
        };
        if let Some(words) = refusal {
            return Ok(RunEnd::Refused(words));
        }
        for round in 0.. {
            if let Some(end) = self.finish_round(tools)? {
                return Ok(end);
            }
            let reply = match model.respond(&self.request()) {
                Ok(reply) => reply,
                // Nothing was sent, so nothing is kept (AGENT-MODEL-FAILURE).
                Err(error) => return Ok(RunEnd::Failed(error.to_string())),
            };
            let is_last = reply.calls.is_empty();
            self.keep_reply(reply)?;
            if is_last {
                return Ok(RunEnd::Answered);
            }
            if limit.is_some_and(|limit| round >= limit) {
                break;
            }
        }
        Ok(RunEnd::LimitReached)
    }

    /// Lets a message go past open calls: each of them is answered (SESSION-ANSWERED, SESSION-PENDING).
    fn begin_with_message(&mut self, text: String) -> Result<Option<String>, Error> {
        self.tell(|state| match state {
            CallState::Begun => Some(INTERRUPTED),
            CallState::Pending => Some(UNDECIDED),
            CallState::New | CallState::Approved(_) => Some(NOT_BEGUN),
            CallState::Answered(_) => None,
        })?;
        self.keep(ThreadFact::User { text })?;
        Ok(None)
    }

    /// Decisions count for calls that wait for one, and for no other: one that comes late executes nothing (SESSION-PENDING).
    fn begin_with_decisions(&mut self, mut decisions: BTreeMap<String, Approval>) -> Result<Option<String>, Error> {
        let pending = self.pending();
        if !pending.iter().any(|id| decisions.contains_key(id)) {
            let waiting = if pending.is_empty() { "no call waits for one".to_owned() } else { waiting(&pending) };
            return Ok(Some(format!("The decisions are on no call that waits for one: {waiting}.")));
        }
        self.tell_interrupted()?;
        for call in pending {
            if let Some(approval) = decisions.remove(&call) {
                self.keep(ThreadFact::Decided { call, approval })?;
            }
        }
        Ok(None)
    }

    /// Without anything new, calls that never began do so now; one that waits for a decision goes on waiting (SESSION-APPROVED).
    fn begin_with_nothing(&mut self) -> Result<Option<String>, Error> {
        self.tell_interrupted()?;
        let pending = self.pending();
        let can_begin = |call: &ThreadCall| matches!(call.state, CallState::New | CallState::Approved(_));
        Ok(if !pending.is_empty() && !self.thread.newest_calls().iter().any(can_begin) {
            Some(format!("The run cannot go on: {}.", waiting(&pending)))
        } else if !self.thread.waits_for_model() {
            Some("There is nothing to go on with: send a message.".to_owned())
        } else {
            None
        })
    }

    fn tell_interrupted(&mut self) -> Result<(), Error> {
        self.tell(|state| matches!(state, CallState::Begun).then_some(INTERRUPTED))
    }

    /// Answers calls of the newest response with the texts that they get by their state.
    fn tell(&mut self, what: impl Fn(&CallState) -> Option<&'static str>) -> Result<(), Error> {
        let told = |call: &ThreadCall| Some((call.call.id.clone(), what(&call.state)?));
        let told: Vec<_> = self.thread.newest_calls().iter().filter_map(told).collect();
        told.into_iter().try_for_each(|(call, words)| self.answer(call, text(words)))
    }

    /// Begins the calls of the newest response that may begin, and waits until all have returned. Says how the run ends, if the model is
    /// not to be asked now.
    fn finish_round(&mut self, tools: &mut dyn ParallelTools) -> Result<Option<RunEnd>, Error> {
        let mut notes = self.begin_calls(tools)?;
        while !notes.is_empty() {
            match tools.next() {
                ToolEvent::Returned { call, result } => {
                    if let Some(note) = notes.remove(&call) {
                        let name = self.name_of(&call);
                        let mut output = result.unwrap_or_else(|error| text(failure(&error, &name)));
                        output.text += &note;
                        self.answer(call, output)?;
                    }
                }
                ToolEvent::Steered(text) => self.keep(ThreadFact::Steered { text })?,
                ToolEvent::Cancelled => return Ok(Some(RunEnd::Cancelled)),
                ToolEvent::Threw(words) => return Ok(Some(RunEnd::Failed(words))),
            }
        }
        Ok((!self.pending().is_empty()).then_some(RunEnd::Pending))
    }

    /// Begins calls. Returns those that are under way, each with what its answer says beside the result.
    fn begin_calls(&mut self, tools: &mut dyn ParallelTools) -> Result<HashMap<String, String>, Error> {
        let mut under_way = HashMap::new();
        for ThreadCall { call, args, state } in self.thread.newest_calls().to_vec() {
            let edited = match state {
                CallState::New => None,
                CallState::Approved(edited) => Some(edited),
                CallState::Pending | CallState::Begun | CallState::Answered(_) => continue,
            };
            let Some(args) = args else {
                let words = format!("Not executed: the arguments are no JSON object: {}", call.arguments);
                self.answer(call.id, text(words))?;
                continue;
            };
            if let Some(agent) = self.agents.iter().find(|agent| handoff_tool(&agent.name) == call.name) {
                let agent = agent.name.clone();
                self.hand_over(call.id, agent)?;
                continue;
            }
            let Some(edited) = edited.or_else(|| (!self.is_guarded(&call.name)).then_some(None)) else {
                self.keep(ThreadFact::Asked { call: call.id })?;
                continue;
            };
            let note = edited.as_ref().map(note).unwrap_or_default();
            let begun = ToolCall { id: call.id.clone(), name: call.name, args: edited.unwrap_or(args) };
            // Before it begins: a process that dies in it must know that it may have had an effect (SESSION-ONCE).
            self.keep(ThreadFact::Began { call: call.id.clone() })?;
            tools.begin(&begun);
            under_way.insert(call.id, note);
        }
        Ok(under_way)
    }

    /// Takes the first of several hand-overs in a response, and answers the others so (SESSION-HANDOFF).
    fn hand_over(&mut self, call: String, agent: String) -> Result<(), Error> {
        let is_answered_handoff = |other: &&ThreadCall| {
            let is_handoff = self.agents.iter().any(|agent| handoff_tool(&agent.name) == other.call.name);
            is_handoff && other.args.is_some() && other.is_answered()
        };
        if self.thread.newest_calls().iter().any(|other| is_answered_handoff(&other)) {
            return self.answer(call, text("Not executed: another call has handed the thread over."));
        }
        self.keep(ThreadFact::HandedOver { call, agent })
    }

    /// Compacts the thread to a budget, as far as whole items can be taken away. What is taken away goes to `summarize`, if there is
    /// one, and the summary is in its place.
    ///
    /// # Errors
    /// [`Error::is_store_failure`], or the summarizer's failure, and then the thread stays as it was.
    pub fn compact(&mut self, budget: Budget, summarize: Option<Summarize<'_>>) -> Result<(), Error> {
        let items = &self.thread.items;
        let mut kept = kept(items, budget);
        if kept.len() == items.len() {
            return Ok(());
        }
        let summary = match summarize {
            None => None,
            Some(summarize) => {
                // The new summary repeats the last one.
                kept.retain(|position| !matches!(items[*position], ThreadItem::Summary(_)));
                let is_taken = |(position, _): &(usize, &ThreadItem)| !kept.contains(position);
                let taken = items.iter().enumerate().filter(is_taken);
                Some(summarize(&taken.flat_map(|(_, item)| item.messages()).collect::<Vec<_>>())?)
            }
        };
        self.keep(ThreadFact::Compacted { kept, summary })
    }

    /// Keeps a response, whose calls get distinct ids.
    fn keep_reply(&mut self, mut reply: ModelReply) -> Result<(), Error> {
        make_distinct(reply.calls.iter_mut().map(|call| &mut call.id), &mut self.thread.ids);
        self.keep(ThreadFact::Replied(reply))
    }

    fn answer(&mut self, call: String, output: ToolOutput) -> Result<(), Error> {
        self.keep(ThreadFact::Answered { call, output })
    }

    /// Keeps a fact, first in the store: what the thread in memory has is never more than what outlives the process.
    fn keep(&mut self, fact: ThreadFact) -> Result<(), Error> {
        let record = FactRecord { at: (self.clock)(), fact };
        self.store.append(&record)?;
        self.thread.apply(&record.fact)
    }

    /// The agent that has the thread. The system message of a request is its own alone (SESSION-HANDOFF).
    fn agent(&self) -> &AgentSpec {
        let chosen = self.thread.agent.as_ref();
        let agent = chosen.and_then(|name| self.agents.iter().find(|agent| agent.name == *name));
        agent.unwrap_or(&self.agents[0])
    }

    /// Returns whether a tool waits for a decision. Beside a hand-over, a call may be one of another agent's tools.
    fn is_guarded(&self, tool: &str) -> bool {
        self.agents.iter().any(|agent| agent.guarded.contains(tool))
    }

    fn name_of(&self, id: &str) -> String {
        let call = self.thread.newest_calls().iter().find(|call| call.call.id == id);
        call.map(|call| call.call.name.clone()).unwrap_or_default()
    }
}

fn waiting(pending: &[String]) -> String {
    format!("a decision is needed on {}", pending.join(", "))
}

/// Returns the note of an answer beside the result when a decision changed the arguments: the response stays as the model wrote it.
fn note(args: &Map<String, Value>) -> String {
    format!("\n\n[Executed with arguments that the user changed: {}]", json_stringify(&Value::Object(args.clone())))
}

/// Returns the answer of a failing tool, as in tool rounds (LOOP-TOOL-ERROR).
fn failure(error: &ToolError, name: &str) -> String {
    match error {
        ToolError::NotFound => format!("Tool not found: \"{name}\""),
        ToolError::Failed(message) => format!("Tool error: {message}"),
    }
}
