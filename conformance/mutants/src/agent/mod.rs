//! An agent with tool rounds that shares no code with the reference: JSON in, JSON out, and every decision a seam that a
//! planted bug or reading can replace.

pub(crate) mod taps;

use crate::asked::WireRun;
use serde_json::{Value, json};
use taps::Taps;
use threadspec_judge::json::list;
pub(super) use threadspec_judge::json::text;
use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Op, RejectKind, Reply, Request};
use threadspec_judge::universal::{Abilities, halves, value};

/// A seam that changes something.
pub(crate) type Change<T> = Box<dyn Fn(&mut RunState, &mut T) + Send + Sync>;
/// A seam that decides.
pub(crate) type Decide<A, R> = Box<dyn Fn(&mut RunState, &A) -> R + Send + Sync>;

/// A seam that says what has become of the requests.
pub(crate) type Later = Box<dyn Fn(&mut RunState, Vec<Value>) -> Option<Vec<Value>> + Send + Sync>;

/// A change of a value that knows the run.
pub(crate) trait ChangesInRun<T>: Fn(&mut RunState, &mut T) + Copy + Send + Sync + 'static {}
impl<T, F: Fn(&mut RunState, &mut T) + Copy + Send + Sync + 'static> ChangesInRun<T> for F {}

/// A run under way.
#[derive(Debug, Default)]
pub(crate) struct RunState {
    pub(crate) input: Value,
    /// The conversation so far. What changes here, changes in every later request.
    pub(crate) list: Vec<Value>,
    pub(crate) requests: Vec<Vec<Value>>,
    /// Answers of the model so far.
    pub(crate) turn: usize,
    /// New ids, each with the one that it replaces.
    pub(crate) renamed: Vec<(String, String)>,
    /// Set when the run is to end: what it reports, empty for nothing.
    pub(crate) stop: Option<String>,
    /// What outlives a run: nothing, unless something that is planted leaves it here.
    pub(crate) memory: Value,
    /// What there is of the run where its model is asked over the wire.
    pub(crate) wire: WireRun,
}

impl RunState {
    pub(crate) fn limit(&self) -> Option<usize> {
        self.input["maxRecursionDepth"].as_u64().map(|limit| usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// The model's answer `ahead` turns after the current one.
    pub(crate) fn scripted(&self, ahead: usize) -> Value {
        let turn = self.input["model"].get((self.turn + ahead).wrapping_sub(1));
        turn.cloned().unwrap_or_else(|| json!({"error": "script exhausted"}))
    }
}

/// What comes of a call.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ToolOutcome {
    Result(Value),
    Failure(String),
    /// There is no tool of this name.
    Unknown(String),
}

/// The agent with its seams; [`Agent::default`] is sound, which the corpus confirms.
pub(crate) struct Agent {
    pub(crate) abilities: Abilities,
    pub(crate) memory: Value,
    /// The faults that are data.
    pub(crate) taps: Taps,
    /// The text of the input, before it is read.
    pub(crate) raw: fn(&str) -> String,
    /// The given list at the beginning; an error refuses the run.
    pub(crate) begin: Box<dyn Fn(&mut RunState) -> Result<(), String> + Send + Sync>,
    /// A request as it is sent; the conversation stays as it is.
    pub(crate) shown: Change<Vec<Value>>,
    /// The message that repeats a response.
    pub(crate) response: Change<Value>,
    pub(crate) is_last: Decide<Value, bool>,
    /// Whether the limit cuts off the current response.
    pub(crate) is_cut: Box<dyn Fn(&mut RunState) -> bool + Send + Sync>,
    pub(crate) answers_when_cut: Decide<Vec<Value>, Vec<Value>>,
    pub(crate) outcome: Decide<Value, ToolOutcome>,
    pub(crate) content: Decide<ToolOutcome, Value>,
    pub(crate) answers: Change<Vec<Value>>,
    pub(crate) after_round: Box<dyn Fn(&mut RunState) + Send + Sync>,
    /// A failing model call; whether the model is asked again.
    pub(crate) failed: Decide<String, bool>,
    pub(crate) end: Change<Value>,
    /// The requests as they are after the run; `None` if that cannot be seen.
    pub(crate) at_end: Later,
}

impl Default for Agent {
    fn default() -> Self {
        Self {
            abilities: Abilities { exact_integers: true, ..Abilities::default() },
            memory: Value::Null,
            taps: Taps::default(),
            raw: str::to_owned,
            begin: Box::new(|run| {
                mend(&mut run.list);
                Ok(())
            }),
            shown: Box::new(|_, _| {}),
            response: Box::new(distinct),
            is_last: Box::new(|_, message| calls(message).is_empty()),
            is_cut: Box::new(|run| run.limit().is_some_and(|limit| run.turn > limit)),
            answers_when_cut: Box::new(|_, calls| {
                calls.iter().map(|call| answer(call, "Not executed: the limit is reached.")).collect()
            }),
            outcome: Box::new(outcome),
            content: Box::new(|_, outcome| content(outcome)),
            answers: Box::new(|_, _| {}),
            after_round: Box::new(|_| {}),
            failed: Box::new(|run, error| {
                run.stop = Some(error.clone());
                false
            }),
            end: Box::new(|_, _| {}),
            at_end: Box::new(|_, requests| Some(requests)),
        }
    }
}

impl Agent {
    /// Answers op `tools`.
    fn run(&mut self, input: &str) -> Result<Value, String> {
        let mut run = self.start(input)?;
        while self.step(&mut run) {}
        Ok(self.finish(run))
    }

    /// A run that has not asked the model yet; an error refuses it.
    pub(crate) fn start(&mut self, input: &str) -> Result<RunState, String> {
        let input = value::read(&(self.raw)(input)).map_err(|error| error.to_string())?;
        let mut run = RunState {
            list: list(&input["messages"]).to_vec(),
            input,
            memory: self.memory.take(),
            ..RunState::default()
        };
        run.list.iter_mut().for_each(whole);
        match (self.begin)(&mut run) {
            Ok(()) => {
                self.taps.given(&mut run.list);
                Ok(run)
            }
            Err(refusal) => {
                self.memory = run.memory;
                Err(refusal)
            }
        }
    }

    /// Asks the model once, and runs the calls of its response; returns whether the run goes on.
    pub(crate) fn step(&self, run: &mut RunState) -> bool {
        self.step_with(run, &mut |run, _| run.scripted(0))
    }

    /// The same with another model, which is given the request.
    pub(crate) fn step_with(
        &self,
        run: &mut RunState,
        model: &mut dyn FnMut(&mut RunState, &[Value]) -> Value,
    ) -> bool {
        if run.stop.is_some() {
            return false;
        }
        let mut request = run.list.clone();
        (self.shown)(run, &mut request);
        run.requests.push(request.clone());
        run.turn += 1;
        let turn = model(run, &request);
        if let Some(error) = turn["error"].as_str() {
            return (self.failed)(run, &halves::repaired(error).into_owned());
        }
        let mut message = said(&turn);
        (self.response)(run, &mut message);
        self.taps.response(&mut message);
        if run.stop.is_some() {
            return false;
        }
        run.list.push(message.clone());
        if (self.is_last)(run, &message) {
            return false;
        }
        let calls = calls(&message);
        if (self.is_cut)(run) {
            let answers = (self.answers_when_cut)(run, &calls);
            run.list.extend(answers);
            return false;
        }
        let mut answers = Vec::new();
        for call in &calls {
            let mut outcome = (self.outcome)(run, call);
            self.taps.outcome(&mut outcome);
            let mut content = (self.content)(run, &outcome);
            self.taps.told(&outcome, &mut content);
            answers.push(answer(call, content));
        }
        (self.answers)(run, &mut answers);
        self.taps.answers(&mut answers);
        run.list.extend(answers);
        (self.after_round)(run);
        true
    }

    /// What a run that has ended hands back.
    pub(crate) fn finish(&mut self, mut run: RunState) -> Value {
        let mut output = json!({
            "requests": run.requests.clone(), "messages": run.list.clone(), "given": run.input["messages"],
            "failure": run.stop.clone().unwrap_or_default(),
        });
        (self.end)(&mut run, &mut output);
        if let Some(at_end) = (self.at_end)(&mut run, list(&output["requests"]).to_vec()) {
            output["requestsAtEnd"] = at_end.into();
        }
        self.memory = run.memory;
        output
    }
}

impl Implementation for Agent {
    fn hello(&self) -> Hello {
        Hello {
            name: "agent with a planted variant".into(),
            version: env!("CARGO_PKG_VERSION").into(),
            language: "Rust".into(),
            url: None,
            ops: vec![Op::Tools],
            profiles: vec![JudgeProfile::Universal],
            abilities: self.abilities,
            apis: None,
            remarks: Vec::new(),
        }
    }

    fn answer(&mut self, request: &Request) -> Reply {
        if request.op != Op::Tools {
            return Reply::Unsupported("an agent has op `tools` alone".into());
        }
        self.run(&request.input).map_or_else(refused, Reply::Ok)
    }

    fn line(&mut self, request: &Request) -> String {
        self.answer(request).marked_line(request.id)
    }
}

/// The reply that refuses a run.
pub(crate) fn refused(message: String) -> Reply {
    Reply::Reject { kind: RejectKind::InvalidInput, message }
}

/// The calls of a message.
pub(crate) fn calls(message: &Value) -> Vec<Value> {
    list(&message["tool_calls"]).to_vec()
}

/// Replaces each lone surrogate by U+FFFD, except in arguments, which are written as JSON text; drops members that are null or an empty list.
fn whole(message: &mut Value) {
    for name in ["content", "tool_call_id"] {
        if let Some(text) = message[name].as_str().map(|text| halves::repaired(text).into_owned()) {
            message[name] = text.into();
        }
    }
    for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
        for name in ["id", "name"] {
            call[name] = halves::repaired(text(&call[name])).into();
        }
        if call["args"].is_null() {
            call["args"] = json!({});
        }
    }
    if let Some(members) = message.as_object_mut() {
        members.retain(|_, value| !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()));
    }
}

/// A turn of the model as a message.
pub(crate) fn said(turn: &Value) -> Value {
    let mut message =
        json!({"type": "ai", "content": text(&turn["content"]), "tool_calls": calls(turn), "wire": turn["wire"]});
    whole(&mut message);
    message
}

/// The answer to a call.
pub(crate) fn answer(call: &Value, content: impl Into<Value>) -> Value {
    json!({"type": "tool", "content": content.into(), "tool_call_id": call["id"]})
}

/// Renames ids that the response repeats.
pub(crate) fn distinct(run: &mut RunState, message: &mut Value) {
    let own: Vec<String> = calls(message).iter().map(|call| text(&call["id"]).to_owned()).collect();
    for index in 1..own.len() {
        if own[..index].contains(&own[index]) {
            let is_free = |id: &String| !own.contains(id) && run.renamed.iter().all(|(new, _)| new != id);
            let new =
                (2..usize::MAX).map(|number| format!("{}_{number}", own[index])).find(is_free).unwrap_or_default();
            message["tool_calls"][index]["id"] = (&*new).into();
            run.renamed.push((new, own[index].clone()));
        }
    }
}

/// What the script gives for a call.
pub(crate) fn outcome(run: &mut RunState, call: &Value) -> ToolOutcome {
    let Some(results) = run.input["tools"].get(text(&call["name"])) else {
        return ToolOutcome::Unknown(text(&call["name"]).to_owned());
    };
    let id = text(&call["id"]);
    let id = run.renamed.iter().find(|(new, _)| new == id).map_or(id, |(_, old)| old);
    let pairs = || list(&results["byArgs"]).iter();
    // Over the wire a call may be run a second time, which its scripted result then shows.
    let is_again = run.wire.executed.iter().any(|executed| executed == id);
    let again = results["again"].get(id).filter(|_| is_again);
    let result = match results {
        Value::Array(results) => results.first(),
        _ if again.is_some() => again,
        _ if results["byId"].is_object() => results["byId"].get(id),
        _ => pairs().find(|pair| pair[0] == call["args"]).map(|pair| &pair[1]),
    };
    let outcome =
        match result.map(|result| (result, result["error"].as_str(), result.as_object().map(serde_json::Map::len))) {
            Some((_, Some(error), Some(1))) => ToolOutcome::Failure(halves::repaired(error).into_owned()),
            Some((result, ..)) => ToolOutcome::Result(result.clone()),
            None => ToolOutcome::Result("".into()),
        };
    let id = id.to_owned();
    run.wire.executed.push(id);
    outcome
}

/// What the model is told of an outcome.
pub(crate) fn content(outcome: &ToolOutcome) -> Value {
    match outcome {
        ToolOutcome::Result(Value::String(text)) => halves::repaired(text).into(),
        ToolOutcome::Result(value) => halves::escaped(&value.to_string()).into(),
        ToolOutcome::Failure(error) => format!("The tool failed: {error}").into(),
        ToolOutcome::Unknown(name) => format!("There is no tool called {name}.").into(),
    }
}

/// Makes every provider accept a history: each call has its own id, and is answered once, directly after its message.
pub(crate) fn mend(list: &mut Vec<Value>) {
    if is_sound(list) {
        return;
    }
    let mut results: Vec<Value> = list.extract_if(.., |message| message["type"] == "tool").collect();
    for index in (0..list.len()).rev() {
        if let Some(calls) = list[index].get_mut("tool_calls").and_then(Value::as_array_mut) {
            calls.dedup_by(|one, other| one["id"] == other["id"]);
        }
        for call in calls(&list[index]).iter().rev() {
            let found = results.iter().rposition(|result| result["tool_call_id"] == call["id"]);
            let told = found.map_or_else(|| answer(call, "No result was recorded."), |found| results.remove(found));
            list.insert(index + 1, told);
        }
    }
}

/// Returns whether each call has its own id, is answered once, directly behind its message, and nothing else is answered.
fn is_sound(list: &[Value]) -> bool {
    let mut open: Vec<Value> = Vec::new();
    for message in list.iter().filter(|message| message["type"] != "system") {
        if message["type"] == "tool" {
            let Some(answered) = open.iter().position(|id| *id == message["tool_call_id"]) else { return false };
            open.remove(answered);
        } else if open.is_empty() && calls(message).windows(2).all(|two| two[0]["id"] != two[1]["id"]) {
            open.extend(calls(message).iter().map(|call| call["id"].clone()));
        } else {
            return false;
        }
    }
    open.is_empty()
}
