//! Defines the JSON forms of messages, events, runs and inputs, with a place for the values of a wrong one.

mod input;
mod output;
mod part;
mod session;

pub use input::{Input, ScriptedFault, ScriptedTurn, ScriptedVerification};
pub use output::{
    AgentRun, Call, ChatMessage, EventBody, LoopOutput, Requests, Speaker, ThreadEvent, ToolsOutput, WireRemark,
    WireReport,
};
pub use part::{Part, Parts, Shape};
pub use session::{Execution, OpaqueItem, RunReport, SentCall, SessionMessage, SessionOutput, SessionWireReport};
