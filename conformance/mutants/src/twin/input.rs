//! From a request to an operation, and from its result to a reply.

use super::Twin;
use super::rounds::ScriptedRun;
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;
use threadspec::agent::{Turn, Verification};
use threadspec::surrogates::{mark_surrogates, repair_surrogates};
use threadspec::{ContextMode, Event, Message};
use threadspec_judge::json::plain;
use threadspec_judge::protocol::{Op, RejectKind, Reply, Request};

/// The members of every operation's input.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(crate) struct TwinInput {
    text: Option<String>,
    events: Option<Vec<Value>>,
    response_prefix: Option<String>,
    context_mode: Option<String>,
    pub(crate) instructions: Option<String>,
    messages: Option<Vec<Message>>,
    model: Option<Vec<Turn>>,
    tools: Option<HashMap<String, Vec<Value>>>,
    pub(crate) max_recursion_depth: Option<usize>,
    pub(crate) prompt: Option<String>,
    pub(crate) verify: Option<Vec<Verification>>,
    pub(crate) max_iterations: Option<u64>,
    pub(crate) max_tool_calls_per_iteration: Option<usize>,
}

impl Twin {
    pub(crate) fn try_to_answer(&mut self, request: &Request) -> Result<Value, Reply> {
        let text = (self.raw_input)(&request.input);
        let mut value = serde_json::from_str(&text).map_err(refusal)?;
        let before = self.before;
        before(self, request.op, &mut value);
        let input: TwinInput = serde_json::from_value(as_the_library_reads(&value)).map_err(refusal)?;
        let mut output = match request.op {
            Op::Escape => (self.text)(self, &required(input.text, "text")?).into(),
            Op::Serialize => {
                let events = self.read(input.events)?;
                (self.document(&events) + &(self.prefix)(input.response_prefix.as_deref())).into()
            }
            Op::Messages => {
                let mode = self.context_mode(&input)?;
                let events = self.read(input.events)?;
                json!(self.messages(&events, mode, &input.instructions.unwrap_or_default()))
            }
            Op::Tools => {
                let messages = required(input.messages, "messages")?;
                let script = ScriptedRun::new(required(input.model, "model")?, input.tools.unwrap_or_default());
                self.run_tools(messages, script, input.max_recursion_depth)
            }
            Op::Loop => {
                let mode = self.context_mode(&input)?;
                let (model, tools) = (required(input.model.clone(), "model")?, input.tools.clone());
                self.run_loop(input, mode, ScriptedRun::new(model, tools.unwrap_or_default()))?
            }
            Op::Session => return Err(Reply::Unsupported("it plays no sessions".to_owned())),
        };
        let after = self.after;
        after(self, request.op, &value, &mut output);
        self.spellings.iter().for_each(|spelling| spelling(&mut output));
        // The library marks lone surrogates in messages and events, and nowhere else.
        Ok(if matches!(request.op, Op::Escape | Op::Serialize) { output } else { plain(output) })
    }

    fn context_mode(&self, input: &TwinInput) -> Result<ContextMode, Reply> {
        let mode = input.context_mode.as_deref().map(str::parse).transpose().map_err(refusal)?;
        Ok((self.mode)(mode))
    }

    fn read(&self, events: Option<Vec<Value>>) -> Result<Vec<Event>, Reply> {
        let events = required(events, "events")?;
        let read = |(index, mut event)| {
            (self.event)(&mut event);
            Event::from_json(&event).map_err(|error| (self.complaint)(index, &error))
        };
        (self.events)(events.into_iter().enumerate().map(read).collect())
    }
}

/// The input as the library reads it: a text that happens to hold one of the library's marks gets another mark before it.
fn as_the_library_reads(input: &Value) -> Value {
    let mut input = input.clone();
    for name in ["events", "messages", "model", "tools", "verify"] {
        if let Some(member) = input.get_mut(name)
            && let Ok(marked) = serde_json::from_str(&mark_surrogates(&member.to_string()))
        {
            *member = marked;
        }
    }
    input
}

pub(crate) fn required<T>(member: Option<T>, name: &str) -> Result<T, Reply> {
    member.ok_or_else(|| refusal(format!("{name}: missing")))
}

#[expect(clippy::needless_pass_by_value, reason = "fits `map_err`")]
fn refusal(reason: impl ToString) -> Reply {
    Reply::Reject { kind: RejectKind::InvalidInput, message: reason.to_string() }
}

pub(crate) fn raw_input(text: &str) -> String {
    repair_surrogates(text).into_owned()
}

pub(crate) fn complaint(index: usize, error: &threadspec::Error) -> Reply {
    Reply::Reject { kind: RejectKind::InvalidEvent, message: format!("event {index}: {error}") }
}
