//! What messages, events, runs and inputs are in JSON, with a place for whatever a wrong one has instead.

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
