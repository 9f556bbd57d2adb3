//! Messages, events and runs. Members that the protocol does not name are ignored: they are not read.

use super::ScriptedTurn;
use super::part::{Part, Parts, Shape, object};
use serde_json::{Map, Number, Value};
use threadspec::agent::StopReason;
use threadspec::{EventType, Role};

/// The requests of a run, each a list of messages.
pub type Requests = Part<Parts<Parts<ChatMessage>>>;

/// An output of `tools`.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolsOutput {
    /// As the model got them.
    pub requests: Requests,
    /// The list at the end.
    pub messages: Part<Parts<ChatMessage>>,
}

/// An output of `loop`.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopOutput {
    /// As the model got them.
    pub requests: Requests,
    /// The thread at the end.
    pub events: Part<Parts<ThreadEvent>>,
    /// The last response.
    pub response: Part<String>,
    /// How many iterations there were.
    pub iterations: Part<Number>,
    /// Why it ended.
    pub stop_reason: Part<StopReason>,
}

/// An output of `tools` in profile `universal`; null represents what is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRun {
    /// As the model got them.
    pub requests: Requests,
    /// The requests as objects after the run.
    pub requests_at_end: Requests,
    /// The list at the end.
    pub messages: Part<Parts<ChatMessage>>,
    /// The caller's list after the run.
    pub given: Part<Parts<ChatMessage>>,
    /// How the run reported a failure.
    pub failure: Part<String>,
    /// The provider's report, if the run went over the wire.
    pub wire: Part<WireReport>,
}

/// The provider's report on a run over the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct WireReport {
    /// The API.
    pub api: Part<String>,
    /// True if answers were to be streamed.
    pub stream: Part<bool>,
    /// The answers to each request that came whole, instead of the script's turns. A request that failed for good has an `error`, and
    /// beside it what came before it failed.
    pub said: Part<Parts<ScriptedTurn>>,
    /// The faults of the requests as such.
    pub findings: Part<Parts<WireRemark>>,
    /// Why the run shows nothing, if so.
    pub unsupported: Part<String>,
    /// The name of the gateway that was between agent and provider, if there was one.
    pub through: Part<String>,
}

/// A finding in a [`WireReport`].
#[derive(Clone, Debug, PartialEq)]
pub struct WireRemark {
    /// A clause WIRE-* or GATE-*, or a rule of the API.
    pub clause: Part<String>,
    /// `must`, `should` or `note`.
    pub level: Part<String>,
    /// The fault and its place.
    pub what: Part<String>,
}

/// A message as a reply has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatMessage {
    /// Who speaks.
    pub speaker: Part<Speaker>,
    /// The text.
    pub content: Part<String>,
    /// The calls of the model.
    pub calls: Part<Parts<Call>>,
    /// The call that is answered.
    pub call_id: Part<String>,
}

/// A call as a reply or a script has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Call {
    /// The id to which its result refers.
    pub id: Part<String>,
    /// The tool.
    pub name: Part<String>,
    /// The arguments.
    pub args: Part<Value>,
}

/// Who speaks in a message: its `type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// Instructions to the model.
    System,
    /// The user, or the framework in the user's place.
    Human,
    /// The model.
    Ai,
    /// A tool.
    Tool,
}

/// An event as a reply has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ThreadEvent {
    /// The content.
    pub body: EventBody,
    /// In which iteration.
    pub iteration: Part<Number>,
}

/// The content of an event of each type; the members have the names of the protocol.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "PROTOCOL.md names the members")]
pub enum EventBody {
    Message {
        role: Part<Role>,
        content: Part<String>,
    },
    ToolCall {
        tool_name: Part<String>,
        tool_call_id: Part<String>,
        args: Part<Value>,
    },
    ToolResult {
        tool_call_id: Part<String>,
        result: Part<Value>,
    },
    Error {
        error: Part<String>,
        recoverable: Part<bool>,
    },
    HumanInputRequested {
        question: Part<String>,
    },
    HumanInputReceived {
        response: Part<String>,
    },
    Completion {
        result: Part<String>,
        verified: Part<bool>,
    },
    Summary {
        summary: Part<String>,
        summarized_iterations: Part<Value>,
    },
    /// Its type, which is among the others, is none of these.
    Unknown {
        others: Map<String, Value>,
        role: Part<Role>,
        content: Part<String>,
    },
}

impl ChatMessage {
    /// A message that is a text.
    pub fn text(speaker: Speaker, content: impl Into<Part<String>>) -> Self {
        Self { speaker: speaker.into(), content: content.into(), ..Self::default() }
    }

    /// A tool's answer to a call.
    pub fn answer(call_id: Part<String>, content: impl Into<Part<String>>) -> Self {
        Self { call_id, ..Self::text(Speaker::Tool, content) }
    }
}

impl EventBody {
    /// The text of a message of this role, also of one with another type.
    pub fn said_by(&self, wanted: Role) -> Option<&Part<String>> {
        match self {
            Self::Message { role, content } | Self::Unknown { role, content, .. } if role.is(&wanted) => Some(content),
            _ => None,
        }
    }

    /// Returns whether another one has the same type, and the same role.
    pub fn is_like(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Message { role, .. }, Self::Message { role: other, .. }) => role == other,
            _ => std::mem::discriminant(self) == std::mem::discriminant(other),
        }
    }

    /// The type; of a message, the role. Nothing if it is not known.
    pub fn event_type(&self) -> Option<EventType> {
        match self {
            Self::Message { role, .. } => Some(match role.proper()? {
                Role::User => EventType::User,
                Role::Assistant => EventType::Assistant,
                Role::System => EventType::System,
            }),
            _ => self.name()?.parse().ok(),
        }
    }

    /// The type, if it is known.
    fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Message { .. } => "message",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::Error { .. } => "error",
            Self::HumanInputRequested { .. } => "human_input_requested",
            Self::HumanInputReceived { .. } => "human_input_received",
            Self::Completion { .. } => "completion",
            Self::Summary { .. } => "summary",
            Self::Unknown { .. } => return None,
        })
    }
}

fn object_of(json: Value) -> Result<Map<String, Value>, Value> {
    Map::read(json)
}

impl Shape for ToolsOutput {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self { requests: Part::take(&mut members, "requests"), messages: Part::take(&mut members, "messages") })
    }

    fn into_json(self) -> Value {
        object([("requests", self.requests.into_json()), ("messages", self.messages.into_json())])
    }
}

impl Shape for LoopOutput {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self {
            requests: Part::take(&mut members, "requests"),
            events: Part::take(&mut members, "events"),
            response: Part::take(&mut members, "response"),
            iterations: Part::take(&mut members, "iterations"),
            stop_reason: Part::take(&mut members, "stopReason"),
        })
    }

    fn into_json(self) -> Value {
        object([
            ("requests", self.requests.into_json()),
            ("events", self.events.into_json()),
            ("response", self.response.into_json()),
            ("iterations", self.iterations.into_json()),
            ("stopReason", self.stop_reason.into_json()),
        ])
    }
}

impl AgentRun {
    /// Reads an output; one that is no object has nothing.
    pub fn read(json: Value) -> Self {
        let mut members = object_of(json).unwrap_or_default();
        Self {
            requests: Part::take_optional(&mut members, "requests"),
            requests_at_end: Part::take_optional(&mut members, "requestsAtEnd"),
            messages: Part::take_optional(&mut members, "messages"),
            given: Part::take_optional(&mut members, "given"),
            failure: Part::take_optional(&mut members, "failure"),
            wire: Part::take_optional(&mut members, "wire"),
        }
    }
}

impl Shape for WireReport {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self {
            api: Part::take(&mut members, "api"),
            stream: Part::take(&mut members, "stream"),
            said: Part::take(&mut members, "said"),
            findings: Part::take_optional(&mut members, "findings"),
            unsupported: Part::take_optional(&mut members, "unsupported"),
            through: Part::take_optional(&mut members, "through"),
        })
    }

    fn into_json(self) -> Value {
        object([
            ("api", self.api.into_json()),
            ("stream", self.stream.into_json()),
            ("said", self.said.into_json()),
            ("findings", self.findings.into_json()),
            ("unsupported", self.unsupported.into_json()),
            ("through", self.through.into_json()),
        ])
    }
}

impl Shape for WireRemark {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self {
            clause: Part::take(&mut members, "clause"),
            level: Part::take(&mut members, "level"),
            what: Part::take(&mut members, "what"),
        })
    }

    fn into_json(self) -> Value {
        object([
            ("clause", self.clause.into_json()),
            ("level", self.level.into_json()),
            ("what", self.what.into_json()),
        ])
    }
}

impl Shape for ChatMessage {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self {
            speaker: Part::take(&mut members, "type"),
            content: Part::take(&mut members, "content"),
            calls: Part::take_optional(&mut members, "tool_calls"),
            call_id: Part::take_optional(&mut members, "tool_call_id"),
        })
    }

    fn into_json(self) -> Value {
        object([
            ("type", self.speaker.into_json()),
            ("content", self.content.into_json()),
            ("tool_calls", self.calls.into_json()),
            ("tool_call_id", self.call_id.into_json()),
        ])
    }
}

impl Shape for Call {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        Ok(Self {
            id: Part::take(&mut members, "id"),
            name: Part::take(&mut members, "name"),
            args: Part::take(&mut members, "args"),
        })
    }

    fn into_json(self) -> Value {
        object([("id", self.id.into_json()), ("name", self.name.into_json()), ("args", self.args.into_json())])
    }
}

impl Shape for ThreadEvent {
    fn read(json: Value) -> Result<Self, Value> {
        let mut members = object_of(json)?;
        let iteration = Part::take(&mut members, "iteration");
        let body = match members.get("type").and_then(Value::as_str) {
            Some("message") => EventBody::Message {
                role: Part::take(&mut members, "role"),
                content: Part::take(&mut members, "content"),
            },
            Some("tool_call") => EventBody::ToolCall {
                tool_name: Part::take(&mut members, "toolName"),
                tool_call_id: Part::take(&mut members, "toolCallId"),
                args: Part::take(&mut members, "args"),
            },
            Some("tool_result") => EventBody::ToolResult {
                tool_call_id: Part::take(&mut members, "toolCallId"),
                result: Part::take(&mut members, "result"),
            },
            Some("error") => EventBody::Error {
                error: Part::take(&mut members, "error"),
                recoverable: Part::take(&mut members, "recoverable"),
            },
            Some("human_input_requested") => {
                EventBody::HumanInputRequested { question: Part::take(&mut members, "question") }
            }
            Some("human_input_received") => {
                EventBody::HumanInputReceived { response: Part::take(&mut members, "response") }
            }
            Some("completion") => EventBody::Completion {
                result: Part::take(&mut members, "result"),
                verified: Part::take_optional(&mut members, "verified"),
            },
            Some("summary") => EventBody::Summary {
                summary: Part::take(&mut members, "summary"),
                summarized_iterations: Part::take(&mut members, "summarizedIterations"),
            },
            _ => {
                let (role, content) = (Part::take(&mut members, "role"), Part::take(&mut members, "content"));
                members.retain(|name, _| !["iteration", "role", "content"].contains(&&**name));
                EventBody::Unknown { others: members, role, content }
            }
        };
        Ok(Self { body, iteration })
    }

    fn into_json(self) -> Value {
        let name = self.body.name();
        let body = match self.body {
            EventBody::Message { role, content } => {
                object([("role", role.into_json()), ("content", content.into_json())])
            }
            EventBody::ToolCall { tool_name, tool_call_id, args } => object([
                ("toolName", tool_name.into_json()),
                ("toolCallId", tool_call_id.into_json()),
                ("args", args.into_json()),
            ]),
            EventBody::ToolResult { tool_call_id, result } => {
                object([("toolCallId", tool_call_id.into_json()), ("result", result.into_json())])
            }
            EventBody::Error { error, recoverable } => {
                object([("error", error.into_json()), ("recoverable", recoverable.into_json())])
            }
            EventBody::HumanInputRequested { question } => object([("question", question.into_json())]),
            EventBody::HumanInputReceived { response } => object([("response", response.into_json())]),
            EventBody::Completion { result, verified } => {
                object([("result", result.into_json()), ("verified", verified.into_json())])
            }
            EventBody::Summary { summary, summarized_iterations } => {
                object([("summary", summary.into_json()), ("summarizedIterations", summarized_iterations.into_json())])
            }
            EventBody::Unknown { mut others, role, content } => {
                let said = object([("role", role.into_json()), ("content", content.into_json())]);
                others.extend(object_of(said).unwrap_or_default());
                Value::Object(others)
            }
        };
        let mut members = Map::new();
        members.extend(name.map(|name| ("type".to_owned(), name.into())));
        members.extend(object_of(body).unwrap_or_default());
        members.extend(self.iteration.into_json().map(|iteration| ("iteration".to_owned(), iteration)));
        Value::Object(members)
    }
}

/// Names that the protocol lists.
macro_rules! named {
    ($of:ident { $($name:literal => $variant:ident),* }) => {
        impl Shape for $of {
            fn read(json: Value) -> Result<Self, Value> {
                match json.as_str() {
                    $(Some($name) => Ok(Self::$variant),)*
                    _ => Err(json),
                }
            }

            fn into_json(self) -> Value {
                match self {
                    $(Self::$variant => $name.into(),)*
                }
            }
        }
    };
}

named!(Speaker { "system" => System, "human" => Human, "ai" => Ai, "tool" => Tool });
named!(Role { "user" => User, "assistant" => Assistant, "system" => System });
named!(StopReason { "completed" => Completed, "stop_condition" => StopCondition, "max_errors" => MaxErrors });
