//! The input and the output of op `session`.

use super::part::{Part, Parts, Shape, object};
use super::{ChatMessage, Speaker, WireRemark};
use serde_json::{Map, Number, Value};

/// The input of op `session`. Those of cases are wrong on purpose, too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionInput {
    /// The folder of the store; a harness fills it in.
    pub storage: Part<String>,
    /// The system message of the agent `main`.
    pub system: Part<String>,
    /// The tools of the agent `main`, by name.
    pub tools: Part<Map<String, Value>>,
    /// The other agents.
    pub agents: Part<Named<SessionAgent>>,
    /// The runs, in order.
    pub runs: Part<Parts<SessionRun>>,
}

/// What stands under names that the script chooses.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T>(pub Vec<(String, Part<T>)>);

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// An agent to which a call may hand the thread over.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionAgent {
    /// Its system message.
    pub system: Part<String>,
    /// Its tools, by name.
    pub tools: Part<Map<String, Value>>,
}

/// A run of a session: one beginning, and what the model answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionRun {
    /// It begins with a user message.
    pub message: Part<String>,
    /// It begins with decisions on pending calls, by their ids.
    pub decisions: Part<Named<Decision>>,
    /// It goes on without a new message.
    pub resume: Part<bool>,
    /// Before it, the framework compacts the thread.
    pub compact: Part<Compaction>,
    /// What the model answers in this run.
    pub model: Part<Parts<SessionTurn>>,
    /// The limit of op `tools`.
    pub max_recursion_depth: Part<Number>,
    /// How the run is cut off.
    pub cut: Part<SessionCut>,
}

/// A decision on a pending call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// Whether the call may run.
    pub approve: Part<bool>,
    /// What takes the place of its arguments.
    pub args: Part<Value>,
    /// Why it may not.
    pub reason: Part<String>,
}

/// A budget to which a thread is compacted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compaction {
    /// In messages.
    pub keep_messages: Part<Number>,
    /// In tokens.
    pub tokens: Part<Number>,
    /// What the summarizing model answers.
    pub summary: Part<String>,
}

/// Where and how a run is cut off.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionCut {
    /// The call that has begun.
    pub during: Part<String>,
    /// `cancel`, `throw` or `kill`.
    pub how: Part<String>,
}

/// What the model answers to a request of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionTurn {
    /// It fails with this message.
    pub error: Part<String>,
    /// The text.
    pub content: Part<String>,
    /// The calls.
    pub calls: Part<Parts<SessionCall>>,
    /// Thinking, signatures and the like.
    pub opaque: Part<Parts<OpaqueItem>>,
}

/// A call in a turn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionCall {
    /// What its result refers to.
    pub id: Part<String>,
    /// The tool.
    pub name: Part<String>,
    /// The arguments.
    pub args: Part<Value>,
    /// The arguments as the model wrote them, in the place of `args`.
    pub arguments: Part<String>,
    /// The agent to which it hands over; it has neither name nor arguments then.
    pub handoff: Part<String>,
}

/// What only the provider can read, and must get back as it was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpaqueItem {
    /// `thinking`, `redacted`, `reasoning` or `signature`.
    pub kind: Part<String>,
    /// Of `thinking`.
    pub text: Part<String>,
    /// Of `thinking`.
    pub signature: Part<String>,
    /// Of `redacted` and of `signature`.
    pub data: Part<String>,
    /// Of `reasoning`.
    pub id: Part<String>,
    /// Of `reasoning`.
    pub encrypted: Part<String>,
    /// Of `signature`: the id of the call that it belongs to.
    pub call: Part<String>,
}

/// An output of op `session`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionOutput {
    /// One report for each run.
    pub runs: Part<Parts<RunReport>>,
    /// What the provider saw, if the session went over the wire.
    pub wire: Part<SessionWireReport>,
}

/// What a provider saw of a session over the wire.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionWireReport {
    /// The API.
    pub api: Part<String>,
    /// Whether answers were to be streamed.
    pub stream: Part<bool>,
    /// For each run what was said to each of its requests, in the place of the script's turns: an `error` to one that was refused.
    pub said: Part<Parts<Parts<SessionTurn>>>,
    /// What is wrong with the requests as such.
    pub findings: Part<Parts<WireRemark>>,
    /// Why the session shows nothing, if so.
    pub unsupported: Part<String>,
}

/// What came of a run of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunReport {
    /// As the model got them.
    pub requests: Part<Parts<Parts<SessionMessage>>>,
    /// What the tools were called with.
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
    /// What only the provider can read.
    pub opaque: Part<Parts<OpaqueItem>>,
    /// The SHA-256 of each image, in hexadecimal.
    pub images: Part<Parts<String>>,
}

/// A call in a message of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SentCall {
    /// What its result refers to.
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
    /// Whether it had returned when the run ended; it had, if nothing is said.
    pub returned: Part<bool>,
}

impl SessionInput {
    /// Reads a value; what is no object has no members.
    pub fn of(json: Value) -> Self {
        Self::read(json).unwrap_or_default()
    }
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

impl<T: Shape> Shape for Named<T> {
    fn read(json: Value) -> Result<Self, Value> {
        let members = Map::read(json)?;
        Ok(Self(members.into_iter().map(|(name, value)| (name, Part::read(value))).collect()))
    }

    fn into_json(self) -> Value {
        let members = self.0.into_iter().filter_map(|(name, value)| Some((name, value.into_json()?)));
        Value::Object(members.collect())
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

shape!(SessionInput: storage "storage", system "system", tools "tools", agents "agents", runs "runs");
shape!(SessionAgent: system "system", tools "tools");
shape!(
    SessionRun: message "message", decisions "decisions", resume "resume", compact "compact", model "model",
    max_recursion_depth "maxRecursionDepth", cut "cut",
);
shape!(Decision: approve "approve", args "args", reason "reason");
shape!(Compaction: keep_messages "keepMessages", tokens "tokens", summary "summary");
shape!(SessionCut: during "during", how "how");
shape!(SessionTurn: error "error", content "content", calls "tool_calls", opaque "opaque");
shape!(SessionCall: id "id", name "name", args "args", arguments "arguments", handoff "handoff");
shape!(
    OpaqueItem: kind "kind", text "text", signature "signature", data "data", id "id", encrypted "encrypted",
    call "call",
);
shape!(SessionOutput: runs "runs", wire "wire");
shape!(
    SessionWireReport: api "api", stream "stream", said "said", findings "findings", unsupported "unsupported",
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
