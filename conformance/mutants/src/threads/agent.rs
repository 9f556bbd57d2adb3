//! An agent that keeps its threads from run to run, and shares no code with the reference: every decision is a seam that a planted bug or
//! reading can replace.

use super::run::{CallStep, CutBy, Moment, SessionRun};
use super::sound;
use super::store::ThreadStore;
use crate::agent::{calls, refused, said};
use serde_json::{Value, json};
use std::sync::Arc;
use threadspec_judge::json::{list, text};
use threadspec_judge::protocol::{
    Features, Hello, Implementation, JudgeProfile, Op, Reply, Request, Saves, SessionAbilities,
};
use threadspec_judge::universal::{Abilities, halves, value};

/// A seam that does something.
pub(crate) type Act<R = ()> = Box<dyn Fn(&mut SessionRun) -> R + Send + Sync>;
/// A seam that changes something.
pub(crate) type Alter<T> = Box<dyn Fn(&mut SessionRun, &mut T) + Send + Sync>;
/// A seam that decides.
pub(crate) type Settle<A, R = ()> = Box<dyn Fn(&mut SessionRun, &A) -> R + Send + Sync>;

/// The agent with its seams; [`SessionAgent::default`] is sound, which the corpus confirms.
pub(crate) struct SessionAgent {
    pub(crate) abilities: SessionAbilities,
    /// What the process keeps in memory.
    pub(crate) memory: Value,
    pub(crate) store: ThreadStore,
    /// How many sessions the process has begun.
    sessions: usize,
    /// Under which key a thread is stored, given the storage and the number of the session.
    pub(crate) key: Box<dyn Fn(&str, usize) -> String + Send + Sync>,
    /// The thread has been read from the store.
    pub(crate) loaded: Act,
    /// Takes the thread back to the message of a run, counted from 0.
    pub(crate) rewind: Settle<usize>,
    /// Answers what a cut left open; returns calls that are to be executed (again).
    pub(crate) mend: Act<Vec<Value>>,
    /// Compacts the thread to a budget, before the beginning of the run.
    pub(crate) compact: Settle<Value>,
    /// Takes a user message; an error refuses it.
    pub(crate) message: Settle<String, Result<(), String>>,
    /// Takes decisions, and returns the calls that are to be executed; an error refuses them.
    pub(crate) decisions: Settle<Value, Result<Vec<Value>, String>>,
    /// Goes on without a message; an error refuses it.
    pub(crate) resume: Act<Result<(), String>>,
    /// Whether the model is asked once the run has begun.
    pub(crate) asks: Act<bool>,
    /// A request as it is sent; the thread stays as it is.
    pub(crate) request: Act<Vec<Value>>,
    /// The message that repeats a response.
    pub(crate) response: Alter<Value>,
    /// What is done with a call, given as the model made it.
    pub(crate) step: Settle<Value, CallStep>,
    /// Which calls are executed at the same time, and in which order.
    pub(crate) batches: Settle<Vec<Value>, Vec<Vec<Value>>>,
    /// Executes a call, and returns its answer.
    pub(crate) execute: Settle<Value, Value>,
    /// Puts an answer on the thread.
    pub(crate) place: Settle<Value>,
    /// Takes what the user says while a call works, once all calls of the response have returned.
    pub(crate) steer: Settle<String>,
    /// The calls of a response are done, but for those that wait or are open.
    pub(crate) after_round: Act,
    /// Whether the limit cuts off the current response.
    pub(crate) is_limit: Act<bool>,
    /// Whether what should cut the run off does; an exception may be answered like any other failure.
    pub(crate) is_cut: Settle<CutBy, bool>,
    /// The run was cut off, and its process lives.
    pub(crate) cut: Settle<CutBy>,
    /// The model has failed.
    pub(crate) failed: Settle<String>,
    pub(crate) hand_over: Settle<String>,
    /// Whether the thread is saved now.
    pub(crate) saves: Settle<Moment, bool>,
    pub(crate) end: Act,
    /// What the reply says of the run.
    pub(crate) reported: Alter<Value>,
}

impl Default for SessionAgent {
    fn default() -> Self {
        Self {
            abilities: SessionAbilities { features: Features::all(), saves: Saves::Call, both_systems: false },
            memory: Value::Null,
            store: ThreadStore::default(),
            sessions: 0,
            key: Box::new(|storage, _| storage.to_owned()),
            loaded: Box::new(|_| {}),
            rewind: Box::new(sound::rewind),
            mend: Box::new(sound::mend),
            compact: Box::new(sound::compact),
            message: Box::new(|run, text| sound::message(run, text)),
            decisions: Box::new(sound::decisions),
            resume: Box::new(sound::resume),
            asks: Box::new(|_| true),
            request: Box::new(sound::request),
            response: Box::new(|_, _| {}),
            step: Box::new(sound::step),
            batches: Box::new(|_, calls| vec![calls.clone()]),
            execute: Box::new(sound::execute),
            place: Box::new(sound::place),
            steer: Box::new(|run, words| sound::say(run, words)),
            after_round: Box::new(|_| {}),
            is_limit: Box::new(|run| run.limit().is_some_and(|limit| run.turn > limit)),
            is_cut: Box::new(|_, _| true),
            cut: Box::new(|_, _| {}),
            failed: Box::new(|run, error| run.failure = Some(error.clone())),
            hand_over: Box::new(|run, agent| run.thread.agent = Some(agent.clone())),
            saves: Box::new(|_, _| true),
            end: Box::new(|_| {}),
            reported: Box::new(|_, _| {}),
        }
    }
}

impl SessionAgent {
    /// One that keeps its threads in the storage folders, since its process may end.
    pub(crate) fn on_disk() -> Self {
        let mut agent = Self::default();
        agent.store.is_on_disk = true;
        agent
    }

    /// Plays the runs of a session from one on, until the last one has ended or the process is killed.
    fn play(&mut self, input: Value, storage: &str, from: usize) -> Reply {
        let input = Arc::new(input);
        self.sessions += 1;
        let key = (self.key)(storage, self.sessions);
        let mut reports = Vec::new();
        for number in from..list(&input["runs"]).len() {
            let mut run = SessionRun {
                input: Arc::clone(&input),
                number,
                from,
                session: self.sessions,
                thread: self.store.load(&key),
                memory: self.memory.take(),
                ..SessionRun::default()
            };
            let refusal = self.run(&mut run).err();
            let mut report = run.report(refusal);
            (self.reported)(&mut run, &mut report);
            reports.push(report);
            self.memory = run.memory;
            self.store.save(&key, run.saved.unwrap_or(run.thread));
            if run.cut == Some(CutBy::Kill) {
                return Reply::Cut { runs: reports };
            }
        }
        Reply::Ok(json!({"runs": reports}))
    }

    /// Plays one run; an error refuses it.
    fn run(&self, run: &mut SessionRun) -> Result<(), String> {
        let goes_on = self.begin(run);
        if goes_on == Ok(true) {
            while self.ask(run) {}
        }
        if run.cut != Some(CutBy::Kill) {
            (self.end)(run);
            self.save(run, if run.cut.is_some() { Moment::Cut } else { Moment::End }, |_| {});
        }
        goes_on.map(|_| ())
    }

    /// Begins a run; returns whether the model is to be asked.
    fn begin(&self, run: &mut SessionRun) -> Result<bool, String> {
        (self.loaded)(run);
        let script = run.script().clone();
        if let Some(at) = script["at"].as_u64().and_then(|at| usize::try_from(at).ok()?.checked_sub(1)) {
            self.save(run, Moment::Beginning, |run| (self.rewind)(run, &at));
        }
        if list(&run.input["runs"]).iter().any(|later| later["at"] == run.number + 1) {
            run.thread.before.insert(run.number, run.thread.list.clone());
        }
        let mut again = Vec::new();
        run.thread.cuts += usize::from(!sound::cut_calls(run).is_empty());
        self.save(run, Moment::Beginning, |run| again = (self.mend)(run));
        if !self.perform(run, &again) {
            return Ok(false);
        }
        if script["compact"].is_object() {
            self.save(run, Moment::Beginning, |run| (self.compact)(run, &script["compact"]));
        }
        let mut begun = Ok(Vec::new());
        self.save(run, Moment::Beginning, |run| {
            begun = if let Some(text) = script["message"].as_str() {
                (self.message)(run, &halves::repaired(text).into_owned()).map(|()| Vec::new())
            } else if script["decisions"].is_object() {
                (self.decisions)(run, &script["decisions"])
            } else {
                (self.resume)(run).map(|()| Vec::new())
            };
        });
        let approved = begun?;
        let goes_on = self.perform(run, &approved) && run.thread.pending.is_empty();
        Ok(goes_on && run.failure.is_none() && (self.asks)(run))
    }

    /// Asks the model once, and runs the calls of its response; returns whether the run goes on.
    fn ask(&self, run: &mut SessionRun) -> bool {
        let request = (self.request)(run);
        run.requests.push(request.into());
        run.turn += 1;
        let turn = run.scripted();
        if let Some(error) = turn["error"].as_str() {
            (self.failed)(run, &halves::repaired(error).into_owned());
            return false;
        }
        let made = sound::made(&turn);
        let mut message = said(&made);
        if !list(&turn["opaque"]).is_empty() {
            message["opaque"] = turn["opaque"].clone();
        }
        (self.response)(run, &mut message);
        self.save(run, Moment::Response, |run| run.thread.list.push(message));
        if calls(&made).is_empty() {
            return false;
        }
        if (self.is_limit)(run) {
            run.cut = Some(CutBy::Limit);
            self.save(run, Moment::Cut, |run| (self.cut)(run, &CutBy::Limit));
            return false;
        }
        let mut executed = Vec::new();
        for (place, call) in calls(&made).into_iter().enumerate() {
            match (self.step)(run, &json!({"call": call, "made": turn["tool_calls"][place], "place": place})) {
                CallStep::Execute => executed.push(call),
                CallStep::Wait => run.thread.pending.extend(call["id"].as_str().map(str::to_owned)),
                CallStep::Tell(words) => self.answer(run, &crate::agent::answer(&call, words)),
                CallStep::HandOver(agent) => {
                    self.answer(run, &crate::agent::answer(&call, format!("Handed over to {agent}.")));
                }
                CallStep::Leave => {}
            }
        }
        if let Some(agent) = run.next_agent.take() {
            self.save(run, Moment::Answer, |run| (self.hand_over)(run, &agent));
        }
        if !self.perform(run, &executed) {
            return false;
        }
        let steer = run.script()["say"].clone();
        if executed.iter().any(|call| call["id"] == steer["during"]) {
            let words = halves::repaired(text(&steer["message"])).into_owned();
            self.save(run, Moment::Beginning, |run| (self.steer)(run, &words));
        }
        self.save(run, Moment::Round, |run| (self.after_round)(run));
        run.thread.pending.is_empty() && run.failure.is_none()
    }

    /// Executes calls; returns false if that cut the run off.
    fn perform(&self, run: &mut SessionRun, calls: &[Value]) -> bool {
        if calls.is_empty() {
            return true;
        }
        for batch in (self.batches)(run, &calls.to_vec()) {
            let (cut, others): (Vec<Value>, Vec<Value>) =
                batch.into_iter().partition(|call| run.cut_during(call).is_some());
            for call in others {
                run.executed.push(deed(&call));
                let answer = (self.execute)(run, &call);
                self.answer(run, &answer);
            }
            let Some(call) = cut.first() else { continue };
            let mut deed = deed(call);
            deed["returned"] = false.into();
            run.executed.push(deed);
            let by = run.cut_during(call).unwrap_or(CutBy::Cancel);
            if !(self.is_cut)(run, &by) {
                self.answer(run, &crate::agent::answer(call, "The tool failed: it broke."));
                continue;
            }
            run.cut = Some(by);
            if by == CutBy::Throw {
                run.failure = Some("RuntimeError: the tool broke".into());
            }
            if by != CutBy::Kill {
                self.save(run, Moment::Cut, |run| (self.cut)(run, &by));
            }
            return false;
        }
        true
    }

    fn answer(&self, run: &mut SessionRun, answer: &Value) {
        self.save(run, Moment::Answer, |run| (self.place)(run, answer));
    }

    /// Changes the thread, and saves it, or keeps what was saved before.
    fn save(&self, run: &mut SessionRun, moment: Moment, change: impl FnOnce(&mut SessionRun)) {
        let is_saved = (self.saves)(run, &moment);
        if !is_saved && run.saved.is_none() {
            run.saved = Some(run.thread.clone());
        }
        change(run);
        if is_saved {
            run.saved = None;
        }
    }
}

/// What a tool is called with.
fn deed(call: &Value) -> Value {
    json!({"id": call["id"], "name": call["name"], "args": call["args"]})
}

impl Implementation for SessionAgent {
    fn hello(&self) -> Hello {
        Hello {
            name: "agent of sessions with a planted variant".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            language: "Rust".into(),
            url: None,
            ops: vec![Op::Session],
            profiles: vec![JudgeProfile::Universal],
            abilities: Abilities { exact_integers: true, session: self.abilities, ..Abilities::default() },
            apis: None,
            remarks: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.op != Op::Session {
            return Reply::Unsupported("an agent of sessions has op `session` alone".into());
        }
        match value::read(&request.input) {
            Ok(input) => {
                let from = request.from.unwrap_or(0);
                let storage = request.storage.clone().unwrap_or_default();
                self.play(input, &storage, from)
            }
            Err(error) => refused(error.to_string()),
        }
    }

    fn line(&mut self, request: &Request) -> String {
        self.answer(request).marked_line(request.id)
    }

    fn start_over(&mut self) {
        self.memory = Value::Null;
        self.sessions = 0;
    }
}
