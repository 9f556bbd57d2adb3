//! The output of op `session`.

use super::part::{Part, Parts, Shape, object};
use super::{ChatMessage, Speaker, WireRemark};
use serde_json::{Map, Value};

/// A part that only the provider can read, and must get back unchanged.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpaqueItem {
    /// `thinking`, `redacted`, `reasoning` or `signature`.
    pub kind: Part<String>,
    /// For `thinking`: the text.
    pub text: Part<String>,
    /// For `thinking`: the signature.
    pub signature: Part<String>,
    /// For `redacted` and `signature`: the data.
    pub data: Part<String>,
    /// For `reasoning`: the id.
    pub id: Part<String>,
    /// For `reasoning`: the encrypted content.
    pub encrypted: Part<String>,
    /// For `signature`: the id of the call that it belongs to.
    pub call: Part<String>,
}

/// An output of op `session`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOutput {
    /// One report for each run.
    pub runs: Part<Parts<RunReport>>,
    /// The provider's report, if the session went over the wire.
    pub wire: Part<SessionWireReport>,
}

/// The provider's report on a session over the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionWireReport {
    /// The API.
    pub api: Part<String>,
    /// True if answers were to be streamed.
    pub stream: Part<bool>,
    /// For each run what was sent to each of its requests, instead of the script's turns: an `error` to one that was refused.
    pub said: Part<Parts<Parts<Value>>>,
    /// The faults of the requests as such.
    pub findings: Part<Parts<WireRemark>>,
    /// True if the model was asked to think where it likes to.
    pub adaptive: Part<bool>,
    /// Why the session shows nothing, if so.
    pub unsupported: Part<String>,
}

/// The report of a run of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// As the model got them.
    pub requests: Part<Parts<Parts<SessionMessage>>>,
    /// The calls that the tools ran.
    pub executed: Part<Parts<Execution>>,
    /// The ids of the calls that wait for a decision after the run.
    pub pending: Part<Parts<String>>,
    /// The words with which the framework refused the run.
    pub refused: Part<String>,
    /// How the run reported a failure.
    pub failure: Part<String>,
    /// The calls to a summarizing model.
    pub summaries: Part<Value>,
}

/// A message of a request of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionMessage {
    /// Who speaks.
    pub speaker: Part<Speaker>,
    /// The text.
    pub content: Part<String>,
    /// The calls of the model.
    pub calls: Part<Parts<SentCall>>,
    /// The call that is answered.
    pub call_id: Part<String>,
    /// The parts that only the provider can read.
    pub opaque: Part<Parts<OpaqueItem>>,
    /// The SHA-256 of each image, in hexadecimal.
    pub images: Part<Parts<String>>,
}

/// A call in a message of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentCall {
    /// The id to which its result refers.
    pub id: Part<String>,
    /// The tool.
    pub name: Part<String>,
    /// The arguments.
    pub args: Part<Value>,
    /// The arguments as text, where they are no object.
    pub raw: Part<String>,
}

/// A call that was executed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Execution {
    /// The id with which the tool was called.
    pub id: Part<String>,
    /// The tool.
    pub name: Part<String>,
    /// The arguments with which it was called.
    pub args: Part<Value>,
    /// True if it had returned when the run ended, which is the default.
    pub returned: Part<bool>,
}

impl SessionOutput {
    /// Reads an output; one that is no object has nothing.
    pub fn of(json: Value) -> Self {
        Self::read(json).unwrap_or_default()
    }
}

impl SessionMessage {
    /// The message without what only sessions have.
    pub fn plain(&self) -> ChatMessage {
        let call = |call: &Part<SentCall>| match call {
            Part::Proper(SentCall { id, name, args, .. }) => {
                Part::Proper(super::Call { id: id.clone(), name: name.clone(), args: args.clone() })
            }
            Part::Odd(other) => Part::Odd(other.clone()),
            Part::Missing => Part::Missing,
        };
        let calls = match &self.calls {
            Part::Proper(calls) => Part::Proper(calls.iter().map(call).collect()),
            Part::Odd(other) => Part::Odd(other.clone()),
            Part::Missing => Part::Missing,
        };
        let Self { speaker, content, call_id, .. } = self.clone();
        ChatMessage { speaker, content, calls, call_id }
    }
}

/// Reads and writes a struct each of whose members may be missing, under these names.
macro_rules! shape {
    ($shape:ident: $($member:ident $name:literal),* $(,)?) => {
        impl Shape for $shape {
            fn read(json: Value) -> Result<Self, Value> {
                let mut members = Map::read(json)?;
                Ok(Self { $($member: Part::take_optional(&mut members, $name)),* })
            }

            fn into_json(self) -> Value {
                object([$(($name, self.$member.into_json())),*])
            }
        }
    };
}

shape!(
    OpaqueItem: kind "kind", text "text", signature "signature", data "data", id "id", encrypted "encrypted",
    call "call",
);
shape!(SessionOutput: runs "runs", wire "wire");
shape!(
    SessionWireReport: api "api", stream "stream", said "said", findings "findings",
    adaptive "adaptive", unsupported "unsupported",
);
shape!(
    RunReport: requests "requests", executed "executed", pending "pending", refused "refused", failure "failure",
    summaries "summaries",
);
shape!(
    SessionMessage: speaker "type", content "content", calls "tool_calls", call_id "tool_call_id", opaque "opaque",
    images "images",
);
shape!(SentCall: id "id", name "name", args "args", raw "raw");
shape!(Execution: id "id", name "name", args "args", returned "returned");
