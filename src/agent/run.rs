//! The outer loop: iterations until a verifier is satisfied or a limit is reached.

use super::rounds::{Limit, RoundStep, rounds};
use super::{Model, Response, Tools, Verification, Verifier};
use crate::ids::Ids;
use crate::{ContextMode, ContextOptions, Event, EventKind, MessageBuilder, Profile};
use serde_json::Value;
use std::fmt;

/// How to run the outer loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopOptions {
    /// Decides where the sources are silent.
    pub profile: Profile,
    /// How history is presented; it changes no event (LOOP-MODES).
    pub mode: ContextMode,
    /// The text of the system message; empty for none.
    pub instructions: String,
    /// Stops after so many iterations, if the last one succeeded (LOOP-MAX); `None` is no limit.
    pub max_iterations: Option<u64>,
    /// How many requests one iteration makes at most (LOOP-LIMIT).
    pub max_tool_calls_per_iteration: usize,
}

impl Default for LoopOptions {
    /// The literal profile, standard mode, no instructions, no limit on iterations, 20 requests an iteration.
    fn default() -> Self {
        Self {
            profile: Profile::default(),
            mode: ContextMode::default(),
            instructions: String::new(),
            max_iterations: None,
            max_tool_calls_per_iteration: 20,
        }
    }
}

/// Why the outer loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The verifier was satisfied, or there was none.
    Completed,
    /// The maximum of iterations was reached.
    StopCondition,
    /// Three iterations in a row failed.
    MaxErrors,
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Completed => "completed",
            Self::StopCondition => "stop_condition",
            Self::MaxErrors => "max_errors",
        })
    }
}

/// The outcome of [`run_loop`].
#[derive(Clone, Debug, PartialEq)]
pub struct LoopRun {
    /// The thread, from the prompt on.
    pub events: Vec<Event>,
    /// The text of the last response, empty if there was none (LOOP-RESPONSE).
    pub response: String,
    /// How many iterations were begun.
    pub iterations: u64,
    /// Why it ended.
    pub stop_reason: StopReason,
}

/// The run ends when this many iterations in a row have failed (LOOP-ERROR).
const MAX_FAILURES: u32 = 3;

/// Runs an agent: iterations of tool rounds, each on the thread so far, until the work is done (clauses LOOP-*).
///
/// ```
/// use threadspec::agent::{LoopOptions, ScriptedModel, ScriptedTools, StopReason, run_loop};
/// let mut model = ScriptedModel::new(serde_json::from_str(r#"[{"content": "Four."}]"#)?);
/// let run = run_loop("2+2?", &mut model, &mut ScriptedTools::default(), None, &LoopOptions::default());
/// assert_eq!((run.response.as_str(), run.stop_reason), ("Four.", StopReason::Completed));
/// assert_eq!(run.events.len(), 3, "the prompt, the answer, the completion");
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn run_loop(
    prompt: &str,
    model: &mut dyn Model,
    tools: &mut dyn Tools,
    mut verifier: Option<&mut dyn Verifier>,
    options: &LoopOptions,
) -> LoopRun {
    let context = ContextOptions { profile: options.profile, mode: options.mode, instructions: &options.instructions };
    let limit = Limit::Requests(options.max_tool_calls_per_iteration);
    let mut run = LoopRun {
        events: vec![Event::user(0, prompt)],
        response: String::new(),
        iterations: 0,
        stop_reason: StopReason::Completed,
    };
    let mut builder = MessageBuilder::new(&context);
    let mut built = 0;
    let mut ids = (options.profile == Profile::Hardened).then(Ids::default);
    let mut failures = 0;
    loop {
        run.iterations += 1;
        let iteration = run.iterations;
        for event in &run.events[built..] {
            builder.push(event);
        }
        built = run.events.len();
        let mut record = |step: RoundStep<'_>| run.record(&step, options.profile);
        let outcome = builder.lend(|messages| rounds(messages, model, tools, limit, ids.as_mut(), &mut record));
        match outcome {
            Ok(last) => {
                failures = 0;
                run.record_text(&last, options.profile);
            }
            Err(error) => {
                failures += 1;
                let recoverable = failures < MAX_FAILURES;
                run.events.push(Event { iteration, kind: EventKind::Error { error: error.to_string(), recoverable } });
                if !recoverable {
                    run.stop_reason = StopReason::MaxErrors;
                    return run;
                }
                continue;
            }
        }
        if options.max_iterations.is_some_and(|maximum| iteration >= maximum) {
            run.stop_reason = StopReason::StopCondition;
            return run;
        }
        let confirmed = match verifier.as_mut().map(|verifier| verifier.verify(&run.response, &run.events)) {
            None => false,
            Some(Verification::Complete) => true,
            Some(Verification::Incomplete(reason)) => {
                let feedback = reason
                    .filter(|reason| !reason.is_empty())
                    .map(|reason| format!("Verification failed: {reason}. Please try again."));
                run.events.extend(feedback.map(|feedback| Event::user(iteration, feedback)));
                continue;
            }
        };
        let kind = EventKind::Completion { result: run.response.clone(), verified: Some(confirmed) };
        run.events.push(Event { iteration, kind });
        return run;
    }
}

impl LoopRun {
    /// Appends what happened in a round (LOOP-EVENTS, LOOP-TEXT).
    fn record(&mut self, step: &RoundStep<'_>, profile: Profile) {
        let iteration = self.iterations;
        match step {
            RoundStep::Responded(response) => {
                self.response.clone_from(&response.content);
                if !response.tool_calls.is_empty() && profile == Profile::Hardened {
                    self.record_content(&response.content);
                }
            }
            RoundStep::Executed { call, content } => {
                let tool_call_id = call.id.clone();
                let result = Some(Value::from(*content));
                let call = EventKind::ToolCall {
                    tool_name: call.name.clone(),
                    tool_call_id: tool_call_id.clone(),
                    args: call.args.clone(),
                };
                let result = EventKind::ToolResult { tool_call_id, result };
                self.events.extend([call, result].map(|kind| Event { iteration, kind }));
            }
        }
    }

    /// Appends the text of the response that ended an iteration, unless [`record`](Self::record) did already.
    fn record_text(&mut self, last: &Response, profile: Profile) {
        if last.tool_calls.is_empty() || profile == Profile::Literal {
            self.record_content(&last.content);
        }
    }

    fn record_content(&mut self, content: &str) {
        if !content.is_empty() {
            self.events.push(Event::assistant(self.iterations, content));
        }
    }
}
