//! Tool rounds, and the outer loop on top of them.

use super::Twin;
use super::input::{TwinInput, required};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::vec::IntoIter;
use threadspec::agent::{Response, ScriptedTools, ScriptedVerifier, ToolError, Tools, Turn, Verification, Verifier};
use threadspec::surrogates::{marked, without_marks};
use threadspec::{ContextMode, Error, Event, EventKind, Message, Profile, ToolCall};
use threadspec_judge::protocol::Reply;

/// The scripted model and its tools, and what the model was asked.
pub(crate) struct ScriptedRun {
    turns: IntoIter<Turn>,
    tools: ScriptedTools,
    requests: Vec<Vec<Message>>,
}

impl ScriptedRun {
    pub(crate) fn new(turns: Vec<Turn>, tools: HashMap<String, Vec<Value>>) -> Self {
        Self { turns: turns.into_iter(), tools: ScriptedTools::new(tools), requests: Vec::new() }
    }
}

/// How many rounds, and how many requests, at most.
#[derive(Clone, Copy)]
struct RoundLimits {
    rounds: Option<usize>,
    requests: Option<usize>,
}

/// The thread so far.
#[derive(Default)]
struct Log {
    events: Vec<Event>,
    ids: Vec<String>,
    response: String,
    iteration: u64,
}

impl Twin {
    pub(crate) fn run_tools(&self, mut messages: Vec<Message>, mut script: ScriptedRun, depth: Option<usize>) -> Value {
        let limits = RoundLimits { rounds: depth, requests: None };
        let mut log = Log::default();
        for message in &messages {
            log.ids.extend(message.tool_calls().iter().map(|call| call.id.clone()));
            if let Message::Tool { tool_call_id, .. } = message {
                log.ids.push(tool_call_id.clone());
            }
        }
        // A failing model ends the run; the messages so far are the result.
        let _ = self.rounds(&mut messages, &mut script, limits, &mut log);
        json!({"requests": script.requests, "messages": messages})
    }

    fn rounds(
        &self,
        messages: &mut Vec<Message>,
        script: &mut ScriptedRun,
        limits: RoundLimits,
        log: &mut Log,
    ) -> Result<Response, Error> {
        let before = script.requests.len();
        let (mut last, mut round) = (Response::default(), 0);
        while !limits.requests.is_some_and(|limit| (self.is_exhausted)(round, limit)) {
            script.requests.push(messages.clone());
            last = script.turns.next().map_or_else(|| Err(Error::model_failure("script exhausted")), |turn| turn.0)?;
            (self.distinct)(self, &mut last.tool_calls, &mut log.ids);
            log.response = (self.response)(&log.response, &last.content);
            let is_said = !last.tool_calls.is_empty() && (self.text_beside_calls)(self, &last);
            if is_said && !self.text_follows_calls {
                self.say(log, &last.content);
            }
            messages.push((self.assistant)(&last));
            if (self.is_last)(&last) {
                break;
            }
            if (self.is_too_deep)(self, round, limits.rounds) {
                messages.extend((self.cut)(self, &last.tool_calls));
                break;
            }
            let answered = messages.len();
            let mut recorded = Vec::new();
            for call in (self.calls)(self, &last.tool_calls) {
                let content = (self.outcome)(self, &call, script.tools.call(&call));
                recorded.extend(log.events_of(&call, &content));
                messages.push((self.tool_message)(&call, content));
            }
            log.events.extend((self.recorded)(recorded));
            if is_said && self.text_follows_calls {
                self.say(log, &last.content);
            }
            (self.after_round)(self, messages, answered);
            round += 1;
        }
        (self.sent)(&mut script.requests[before..], messages);
        Ok(last)
    }

    pub(crate) fn run_loop(
        &self,
        input: TwinInput,
        mode: ContextMode,
        mut script: ScriptedRun,
    ) -> Result<Value, Reply> {
        let instructions = input.instructions.unwrap_or_default();
        let mut verifier = input.verify.map(ScriptedVerifier::new);
        let limits =
            RoundLimits { rounds: None, requests: Some((self.request_limit)(input.max_tool_calls_per_iteration)) };
        let prompt = (self.prompt)(&required(input.prompt, "prompt")?);
        let mut log = Log { events: vec![prompt], iteration: self.first_iteration, ..Log::default() };
        let (mut messages, mut failures, mut begun) = (Vec::new(), 0, 0);
        let stop_reason = loop {
            log.iteration = self.first_iteration + begun;
            begun += 1;
            messages = (self.begin)(self.messages(&(self.history)(self, &log.events), mode, &instructions), &messages);
            match self.rounds(&mut messages, &mut script, limits, &mut log) {
                Ok(last) => {
                    failures = (self.failures_after_success)(failures);
                    if (self.final_text)(self, &last) {
                        self.say(&mut log, &last.content);
                    }
                }
                Err(error) => {
                    failures += 1;
                    let kind =
                        EventKind::Error { error: error.to_string(), recoverable: (self.is_recoverable)(failures) };
                    (self.failed)(&mut log.events, Event { iteration: log.iteration, kind });
                    if (self.gives_up)(failures) {
                        break "max_errors";
                    }
                    if (self.is_over_after_failure)(begun, input.max_iterations) {
                        break "stop_condition";
                    }
                    continue;
                }
            }
            if !self.verifies_first && (self.is_over)(begun, input.max_iterations) {
                break "stop_condition";
            }
            let verification = verifier.as_mut().map(|verifier| verifier.verify(&log.response, &log.events));
            if let Some(Verification::Incomplete(reason)) = verification {
                log.events.extend((self.feedback)(log.iteration, reason));
            } else {
                log.events.extend((self.completion)(log.iteration, &log.response, verification.is_some()));
                break "completed";
            }
            if self.verifies_first && (self.is_over)(begun, input.max_iterations) {
                break "stop_condition";
            }
        };
        Ok(json!({
            "requests": script.requests,
            "events": log.events,
            "response": marked(&log.response),
            "iterations": begun,
            "stopReason": stop_reason,
        }))
    }

    fn say(&self, log: &mut Log, text: &str) {
        if (self.is_said)(text) {
            log.events.push(Event::assistant(log.iteration, text));
        }
    }
}

impl Log {
    fn events_of(&self, call: &ToolCall, content: &str) -> [Event; 2] {
        let ToolCall { id, name, args } = call.clone();
        let call = EventKind::ToolCall { tool_name: name, tool_call_id: id.clone(), args };
        let result = EventKind::ToolResult { tool_call_id: id, result: Some(content.into()) };
        [call, result].map(|kind| Event { iteration: self.iteration, kind })
    }
}

/// Makes the ids of a response distinct; `thread` holds the ids so far.
#[expect(clippy::ptr_arg, reason = "bugs drop calls")]
pub(crate) fn distinct(twin: &Twin, calls: &mut Vec<ToolCall>, thread: &mut Vec<String>) {
    if twin.profile == Profile::Hardened {
        thread.extend(calls.iter().map(|call| call.id.clone()));
        for index in 1..calls.len() {
            if calls[..index].iter().any(|call| call.id == calls[index].id) {
                calls[index].id = free(&calls[index].id, thread);
                thread.push(calls[index].id.clone());
            }
        }
    }
}

/// The id with the first free number after it.
pub(crate) fn free(id: &str, taken: &[String]) -> String {
    let numbered = |number| format!("{id}_{number}");
    // There are more numbers than ids, so one is free.
    (2..taken.len() + 3).map(numbered).find(|id| !taken.contains(id)).unwrap_or_default()
}

/// The answers to calls that a limit cuts off.
pub(crate) fn cut(twin: &Twin, calls: &[ToolCall]) -> Vec<Message> {
    let answer = |call: &ToolCall| Message::tool(&call.id, "[Not executed: limit reached]");
    if twin.profile == Profile::Hardened { calls.iter().map(answer).collect() } else { Vec::new() }
}

pub(crate) fn assistant(response: &Response) -> Message {
    Message::Ai { content: response.content.clone(), tool_calls: response.tool_calls.clone() }
}

pub(crate) fn outcome(twin: &Twin, call: &ToolCall, result: Result<Value, ToolError>) -> String {
    match result {
        Ok(Value::String(text)) => (twin.result_content)(twin, Some(&without_marks(&text).into())),
        Ok(result) => (twin.result_content)(twin, Some(&result)),
        Err(ToolError::NotFound) => format!("Tool not found: \"{}\"", call.name),
        Err(ToolError::Failed(message)) => format!("Tool error: {message}"),
    }
}

pub(crate) fn is_over(iteration: u64, maximum: Option<u64>) -> bool {
    maximum.is_some_and(|maximum| iteration >= maximum)
}

pub(crate) fn feedback(iteration: u64, reason: Option<String>) -> Option<Event> {
    let reason = reason.filter(|reason| !reason.is_empty())?;
    Some(Event::user(iteration, format!("Verification failed: {reason}. Please try again.")))
}

pub(crate) fn completion(iteration: u64, response: &str, verified: bool) -> Option<Event> {
    let kind = EventKind::Completion { result: response.to_owned(), verified: Some(verified) };
    Some(Event { iteration, kind })
}
