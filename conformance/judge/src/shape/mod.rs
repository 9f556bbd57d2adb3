//! What messages, events, runs and inputs are in JSON, with a place for whatever a wrong one has instead.

mod input;
mod output;
mod part;

pub use input::{Check, Input, ScriptedFault, ScriptedTurn};
pub use output::{
    AgentRun, Body, Call, ChatMessage, LoopRun, Requests, Rounds, Speaker, ThreadEvent, WireRemark, WireReport,
};
pub use part::{List, Part, Shape};
