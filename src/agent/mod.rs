//! Runs the two loops of an agent: tool rounds inside one iteration, and the outer iterations on top of them.

mod rounds;
mod run;
mod script;

pub use rounds::{ToolOptions, ToolRun, run_tools};
pub use run::{LoopOptions, LoopRun, StopReason, run_loop};
pub use script::{ScriptedModel, ScriptedTools, ScriptedVerifier, Turn};

use crate::ids::Ids;
use crate::{Error, Event, Message, ToolCall};
use serde_json::Value;
use std::collections::HashSet;

/// The answer of a model to one request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Response {
    /// The text, empty for none.
    pub content: String,
    /// The tools that it wants called, in this order.
    pub tool_calls: Vec<ToolCall>,
}

/// A chat model.
pub trait Model {
    /// Answers a request. The slice is what the model is shown; it is not touched by later rounds (TOOLS-SNAPSHOT).
    ///
    /// # Errors
    /// [`Error::model_failure`], or what the model could not read. Its text becomes that of an error event.
    fn respond(&mut self, request: &[Message]) -> Result<Response, Error>;
}

/// The tools that a model can call.
pub trait Tools {
    /// Calls a tool.
    ///
    /// # Errors
    /// A [`ToolError`], which the model receives (LOOP-TOOL-ERROR).
    fn call(&mut self, call: &ToolCall) -> Result<Value, ToolError>;
}

/// Why a tool has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolError {
    /// There is no tool of that name.
    NotFound,
    /// The tool failed, with this message.
    Failed(String),
}

/// Decides after each iteration whether the work is done.
pub trait Verifier {
    /// Judges the text that ended an iteration; the events are those of the whole run up to it.
    fn verify(&mut self, response: &str, events: &[Event]) -> Verification;
}

/// The result of a [`Verifier`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// The work is done.
    Complete,
    /// It is not; the model gets the reason, if there is one that is not empty.
    Incomplete(Option<String>),
}

// Makes the ids of the calls of one response distinct.

/// The ids of all calls and results in a list of messages.
fn ids_of(messages: &[Message]) -> Ids {
    let mut ids = Ids::default();
    for message in messages {
        for call in message.tool_calls() {
            ids.take(&call.id);
        }
        if let Message::Tool { tool_call_id, .. } = message {
            ids.take(tool_call_id);
        }
    }
    ids
}

/// Makes the ids of one response distinct: the first call keeps its id, each later one with that id gets the first of
/// `<id>_2`, `<id>_3`, … that neither the thread nor the response has (TOOLS-DISTINCT).
pub(crate) fn make_distinct<'a>(response: impl IntoIterator<Item = &'a mut String>, thread: &mut Ids) {
    let response: Vec<&mut String> = response.into_iter().collect();
    for id in &response {
        thread.take(id);
    }
    let mut seen = HashSet::new();
    for id in response {
        if !seen.insert(id.clone()) {
            *id = thread.take_numbered(id, usize::MAX);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn renamed(thread: &mut Ids, response: &[&str]) -> Vec<String> {
        let mut ids: Vec<String> = response.iter().map(|id| (*id).to_owned()).collect();
        make_distinct(&mut ids, thread);
        ids
    }

    #[test]
    fn a_repeated_id_gets_the_first_number_that_is_free() {
        for (thread, response, expected) in [
            (&[][..], &["c", "d", "c", "c"][..], &["c", "d", "c_2", "c_3"][..]),
            (&[], &["c", "c", "c_2"], &["c", "c_3", "c_2"]),
            (&[], &["c_2", "c", "c", "c_2"], &["c_2", "c", "c_3", "c_2_2"]),
            (&[], &["", ""], &["", "_2"]),
            (&["c", "c_2"], &["c"], &["c"]),
            (&["c_2"], &["c", "c"], &["c", "c_3"]),
        ] {
            let thread: Vec<Message> = thread.iter().map(|id| Message::tool(*id, "")).collect();
            assert_eq!(renamed(&mut ids_of(&thread), response), expected);
        }
    }

    #[test]
    fn later_responses_go_on_counting() {
        let mut ids = Ids::default();
        assert_eq!(renamed(&mut ids, &["c", "c"]), ["c", "c_2"]);
        assert_eq!(renamed(&mut ids, &["c", "c", "c"]), ["c", "c_3", "c_4"]);
    }
}
