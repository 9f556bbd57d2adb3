//! The outputs of the operations.

use super::{ChatMessage, LoopOutput, Op, Parts, Requests, Shape, ToolsOutput};
use serde_json::Value;

/// The output of an operation in profile `literal` or `hardened`.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A text of `escape`, a document of `serialize`.
    Text(String),
    /// The output of `messages`.
    Messages(Parts<ChatMessage>),
    /// The output of `tools`.
    Rounds(ToolsOutput),
    /// The output of `loop`.
    Run(Box<LoopOutput>),
    /// Not an output of the operation.
    Odd(Value),
}

impl Output {
    /// Reads the output of an operation.
    pub fn read(op: Op, json: Value) -> Self {
        let read = match op {
            Op::Escape | Op::Serialize => String::read(json).map(Self::Text),
            Op::Messages => Parts::read(json).map(Self::Messages),
            Op::Tools => ToolsOutput::read(json).map(Self::Rounds),
            Op::Loop => LoopOutput::read(json).map(|run| Self::Run(Box::new(run))),
            // Profile `universal` judges it, and reads it for itself.
            Op::Session => Err(json),
        };
        read.unwrap_or_else(Self::Odd)
    }

    /// The JSON again, without what the protocol does not name.
    pub fn into_json(self) -> Value {
        match self {
            Self::Text(text) => text.into_json(),
            Self::Messages(messages) => messages.into_json(),
            Self::Rounds(rounds) => rounds.into_json(),
            Self::Run(run) => run.into_json(),
            Self::Odd(other) => other,
        }
    }

    /// The requests of a run.
    pub fn requests(&self) -> Option<&Requests> {
        match self {
            Self::Rounds(ToolsOutput { requests, .. }) => Some(requests),
            Self::Run(run) => Some(&run.requests),
            Self::Text(_) | Self::Messages(_) | Self::Odd(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{EventBody, Part, Speaker, ThreadEvent};
    use serde_json::json;

    #[test]
    fn what_is_odd_is_kept_as_it_is() {
        let call = json!({"id": 7, "args": [1.0, "\u{fdd0}"]});
        let message = json!({"type": "robot", "content": null, "tool_calls": [call, "x"]});
        let events =
            json!([{"type": "error", "error": [], "iteration": "1"}, {"type": "new", "a": {}, "iteration": 1}, 5]);
        let run = json!({"requests": [[message], {}], "events": events, "response": 1e21, "stopReason": "tired"});
        let rounds = json!({"messages": {"0": message}});
        for (op, output) in [
            (Op::Escape, json!(["a"])),
            (Op::Messages, json!([message, null])),
            (Op::Tools, rounds),
            (Op::Loop, run),
            (Op::Loop, json!("x")),
        ] {
            assert_eq!(Output::read(op, output.clone()).into_json().to_string(), output.to_string());
        }
    }

    #[test]
    fn what_the_protocol_does_not_name_is_not_read() {
        let message = json!({"type": "ai", "content": "", "tool_calls": null, "tool_call_id": null, "name": "x"});
        let read = Output::read(Op::Messages, json!([message]));
        assert_eq!(read, Output::Messages(vec![ChatMessage::text(Speaker::Ai, "").into()]));
        let event = json!({"type": "completion", "result": "", "verified": null, "role": "user", "iteration": 1});
        let Part::Proper(ThreadEvent { body, .. }) = Part::read(event) else { panic!("it is an object") };
        assert_eq!(body, EventBody::Completion { result: "".into(), verified: Part::Missing });
    }
}
