//! The two loops of an agent: tool rounds inside one iteration, and the outer iterations on top of them.

mod ids;
mod rounds;
mod run;
mod script;

pub(crate) use ids::make_distinct;
pub use rounds::{ToolOptions, ToolRun, run_tools};
pub use run::{LoopOptions, LoopRun, StopReason, run_loop};
pub use script::{ScriptedModel, ScriptedTools, ScriptedVerifier, Turn};

use crate::{Error, Event, Message, ToolCall};
use serde_json::Value;

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
