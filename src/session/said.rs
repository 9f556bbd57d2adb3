//! Defines the input of a session from models and tools, and its output to a model.

use crate::agent::ToolError;
use crate::context::result_content;
use crate::{Error, Message, ToolCall, read_json};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// A response of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The text, empty for none.
    pub content: String,
    /// The calls that the model wants, in this order.
    pub calls: Vec<RequestedCall>,
    /// The parts that only the provider can read.
    pub opaque: Vec<OpaqueBlock>,
}

/// A call as the model wrote it.
///
/// ```
/// use threadspec::session::RequestedCall;
/// let call = |arguments: &str| RequestedCall { id: "a".into(), name: "look".into(), arguments: arguments.into() };
/// assert_eq!(call(r#"{"at": 1}"#).args().unwrap()["at"], 1);
/// assert!(call("").args().unwrap().is_empty(), "many providers write nothing for no arguments");
/// assert!(call(r#"{"at": "#).args().is_none() && call("[1]").args().is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestedCall {
    /// The id to which the answer refers.
    pub id: String,
    /// The tool; one that is called [`handoff_tool`] of an agent hands the thread over to that agent.
    pub name: String,
    /// The arguments as text. A model can write anything there, and be cut off in the middle of it.
    pub arguments: String,
}

impl RequestedCall {
    /// The arguments, if they are a JSON object (SESSION-RAW). Blank text is an empty one; nothing else is fixed.
    pub fn args(&self) -> Option<Map<String, Value>> {
        if self.arguments.trim().is_empty() {
            return Some(Map::new());
        }
        match read_json(&self.arguments) {
            Ok(Value::Object(args)) => Some(args),
            _ => None,
        }
    }
}

/// The tool with which a model hands the thread over to an agent.
pub fn handoff_tool(agent: &str) -> String {
    format!("transfer_to_{agent}")
}

/// A part of a response that only the provider can read, and must get back byte for byte (SESSION-OPAQUE). It is data: lone surrogates in
/// it are marked ([`surrogates`](crate::surrogates)).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum OpaqueBlock {
    /// Thinking that one may read, with what proves whose it is.
    Thinking {
        /// The thoughts.
        #[serde(default)]
        text: String,
        /// The proof.
        #[serde(default)]
        signature: String,
    },
    /// Thinking that nobody may read.
    Redacted {
        /// The sealed thoughts.
        #[serde(default)]
        data: String,
    },
    /// A reasoning item.
    Reasoning {
        /// The provider's name of it.
        #[serde(default)]
        id: String,
        /// The sealed thoughts.
        #[serde(default)]
        encrypted: String,
        /// The readable part.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        summary: String,
    },
    /// The proof of a call. It is with its call; the others are before the text.
    Signature {
        /// The id of the call.
        #[serde(default)]
        call: String,
        /// The proof.
        #[serde(default)]
        data: String,
    },
}

/// A model whose requests have more than text.
pub trait ThreadModel {
    /// Answers a request.
    ///
    /// # Errors
    /// [`Error::model_failure`], which ends the run.
    fn respond(&mut self, request: &ModelRequest) -> Result<ModelReply, Error>;
}

/// A request to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelRequest {
    /// The agent that asks, by whose tools the model is to choose.
    pub agent: String,
    /// The whole thread, the agent's system message first.
    pub messages: Vec<SentMessage>,
}

/// A message of a request, with what is beside its text.
///
/// Its JSON form is that of [`Message`] with `opaque` and `images` where there are some.
#[derive(Clone, Debug, PartialEq)]
pub struct SentMessage {
    /// The message.
    pub message: Message,
    /// On an AI message: what only the provider can read.
    pub opaque: Vec<OpaqueBlock>,
    /// On a tool message: the images of the result, in base64.
    pub images: Vec<String>,
}

impl SentMessage {
    /// The JSON value that describes the message.
    pub fn to_json(&self) -> Value {
        let mut json = self.message.to_json();
        if !self.opaque.is_empty() {
            json["opaque"] = json!(self.opaque);
        }
        if !self.images.is_empty() {
            json["images"] = json!(self.images);
        }
        json
    }
}

impl From<Message> for SentMessage {
    fn from(message: Message) -> Self {
        Self { message, opaque: Vec::new(), images: Vec::new() }
    }
}

impl Serialize for SentMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.to_json().serialize(serializer)
    }
}

/// Tools that run at the same time.
///
/// The session begins all calls of a response, and then waits for one after the other to return, in whatever order.
pub trait ParallelTools {
    /// Begins a call. It has the arguments with which it was approved.
    fn begin(&mut self, call: &ToolCall);

    /// Waits until a call that has begun returns, or the run is stopped. It is asked only while one is under way.
    fn next(&mut self) -> ToolEvent;
}

/// An event while tools run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolEvent {
    /// A call has returned.
    Returned {
        /// Its id.
        call: String,
        /// The result. A failure goes to the model, and the run continues.
        result: Result<ToolOutput, ToolError>,
    },
    /// The user says something. The model is shown it behind the results of the calls that are under way (SESSION-STEER).
    Steered(String),
    /// The user has stopped the run.
    Cancelled,
    /// A tool ends the run, with these words.
    Threw(String),
}

/// The output of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolOutput {
    /// The text that the model is shown.
    pub text: String,
    /// The images that it is shown beside the text, in base64.
    pub images: Vec<String>,
}

impl From<&Value> for ToolOutput {
    /// A string is the text; any other value is shown as JSON.
    fn from(result: &Value) -> Self {
        Self { text: result_content(Some(result)), images: Vec::new() }
    }
}
