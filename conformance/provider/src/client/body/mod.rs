//! Writes the requests of a client for each API, as the official SDKs send them.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::marked;
use threadspec::{Message, ToolCall};
use threadspec_apis::{Thinking, ToolChoice, argument_text};
use threadspec_judge::protocol::{Endpoint, Speaker};

/// A request of a client to a model. All texts are marked data (`threadspec::surrogates`).
///
/// ```
/// use threadspec_judge::protocol::{Endpoint, Speaker, Transport};
/// use threadspec_provider::client::{ClientAsk, ClientMessage, ClientRequest};
/// # use serde_json::{Value, json};
/// let ask = ClientAsk {
///     instructions: Some("Be brief.".into()),
///     messages: vec![ClientMessage::text(Speaker::Human, "Go")],
///     ..ClientAsk::default()
/// };
/// let endpoint = Endpoint {
///     transport: "anthropic".parse()?, base_url: "http://127.0.0.1:8080".into(), api_key: "k".into(), model: "m".into(), reasoning: false,
/// };
/// let request = ClientRequest::of(&endpoint, &ask);
/// assert_eq!(request.target, "/v1/messages");
/// let body: Value = serde_json::from_slice(&request.body)?;
/// assert_eq!((&body["system"], &body["messages"][0]), (&json!("Be brief."), &json!({"role": "user", "content": "Go"})));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClientAsk {
    /// The system text with which the conversation begins, where the API has a place for it.
    pub instructions: Option<String>,
    /// The history; system texts in it are where the API has them.
    pub messages: Vec<ClientMessage>,
    /// The tools that are declared.
    pub tools: Vec<ClientTool>,
    /// The further options.
    pub options: ClientOptions,
}

/// A message as a client has it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientMessage {
    /// Who speaks.
    pub speaker: Speaker,
    /// The content; nothing differs from an empty text.
    pub content: Option<ClientContent>,
    /// The calls of the model.
    pub calls: Vec<ClientCall>,
    /// The call that a tool answers.
    pub call_id: Option<String>,
    /// True if a tool says that it failed.
    pub is_error: bool,
    /// The model's thinking before this message.
    pub thinking: Vec<Thinking>,
}

/// The content of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientContent {
    /// A text.
    Text(String),
    /// A list of texts and images. That of the user behind results is in one message with them, where the API can do that.
    Parts(Vec<ClientPart>),
}

/// A part of a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientPart {
    /// A text.
    Text(String),
    /// An image, in base64.
    Image(String),
}

/// A call in a message of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientCall {
    /// The id that its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as JSON text, in which half a surrogate pair is an escape.
    pub arguments: String,
}

/// A tool that a client declares.
#[derive(Clone, Debug, PartialEq)]
pub struct ClientTool {
    /// Its name.
    pub name: String,
    /// The description for the model.
    pub description: Option<String>,
    /// The JSON Schema of its arguments; without one it takes any object.
    pub schema: Option<Value>,
}

/// The options of a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClientOptions {
    /// The tool that must be called.
    pub choice: Option<ToolChoice>,
    /// True if several calls at once are allowed.
    pub parallel: Option<bool>,
    /// How many tokens the answer may have.
    pub most_tokens: Option<u64>,
    /// The texts at which the answer is to stop, in APIs that have them.
    pub stop: Vec<String>,
    /// True if the system text at the beginning is a message of the role `developer`, in APIs that have it.
    pub developer: bool,
}

impl ClientMessage {
    /// A message that is a text.
    pub fn text(speaker: Speaker, text: impl Into<String>) -> Self {
        let content = Some(ClientContent::Text(text.into()));
        Self { speaker, content, calls: Vec::new(), call_id: None, is_error: false, thinking: Vec::new() }
    }

    /// A message of the library, with what the model thought before it, and the images of a result.
    pub(super) fn of(message: &Message, thinking: &[Thinking], images: &[String]) -> Self {
        let told = match message {
            Message::System { content } => Self::text(Speaker::System, marked(content)),
            Message::Human { content } => Self::text(Speaker::Human, marked(content)),
            Message::Ai { content, tool_calls } => Self {
                calls: tool_calls.iter().map(ClientCall::of).collect(),
                thinking: thinking.to_vec(),
                ..Self::text(Speaker::Ai, marked(content))
            },
            Message::Tool { tool_call_id, content } => {
                Self { call_id: Some(marked(tool_call_id).into_owned()), ..Self::text(Speaker::Tool, marked(content)) }
            }
        };
        let (false, Some(ClientContent::Text(text))) = (images.is_empty(), &told.content) else { return told };
        let text = Some(text.clone()).filter(|text| !text.is_empty()).map(ClientPart::Text);
        let parts = text.into_iter().chain(images.iter().cloned().map(ClientPart::Image)).collect();
        Self { content: Some(ClientContent::Parts(parts)), ..told }
    }

    /// The texts, joined with nothing between.
    pub(super) fn joined(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(ClientContent::Text(text)) => text.clone(),
            Some(ClientContent::Parts(parts)) => parts.iter().filter_map(ClientPart::as_text).collect(),
        }
    }

    /// The images, in base64.
    fn images(&self) -> impl Iterator<Item = &str> {
        let parts = match &self.content {
            Some(ClientContent::Parts(parts)) => &parts[..],
            _ => &[],
        };
        parts.iter().filter_map(|part| match part {
            ClientPart::Image(image) => Some(&**image),
            ClientPart::Text(_) => None,
        })
    }
}

impl ClientPart {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Image(_) => None,
        }
    }
}

impl ClientCall {
    fn of(call: &ToolCall) -> Self {
        let arguments = argument_text(&Value::Object(call.args.clone()));
        Self { id: marked(&call.id).into_owned(), name: marked(&call.name).into_owned(), arguments }
    }
}

impl ClientTool {
    /// One that takes any object.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: marked(&name.into()).into_owned(), description: None, schema: None }
    }

    fn schema(&self) -> Value {
        let any = || json!({"type": "object", "properties": {}, "additionalProperties": true});
        self.schema.clone().unwrap_or_else(any)
    }
}

/// The body of a request, marked.
pub(super) fn body(endpoint: &Endpoint, ask: &ClientAsk) -> Value {
    let api = endpoint.transport.api;
    let mut body = match api {
        Api::OpenAiChat => chat::body(ask),
        Api::OpenAiResponses => responses::body(endpoint.reasoning, ask),
        Api::Anthropic => anthropic::body(endpoint.reasoning, ask),
        // The target has the rest.
        Api::Gemini => return gemini::body(endpoint.reasoning, ask),
    };
    body["model"] = (&*endpoint.model).into();
    if !ask.tools.is_empty() {
        let declaration = match api {
            Api::OpenAiChat => chat::declaration,
            Api::OpenAiResponses => responses::declaration,
            Api::Anthropic | Api::Gemini => anthropic::declaration,
        };
        body["tools"] = ask.tools.iter().map(declaration).collect();
    }
    if endpoint.transport.stream {
        body["stream"] = true.into();
        if api == Api::OpenAiChat {
            body["stream_options"] = json!({"include_usage": true});
        }
    }
    body
}

/// A declaration with the description, if there is one.
fn described(tool: &ClientTool, mut declaration: Value) -> Value {
    if let Some(description) = &tool.description {
        declaration["description"] = (&**description).into();
    }
    declaration
}

/// Writes the choice of a tool for both of OpenAI's APIs; `named` writes the one that is named.
fn openai_choice(options: &ClientOptions, body: &mut Value, named: impl Fn(&str) -> Value) {
    let choice = match &options.choice {
        None | Some(ToolChoice::Other) => Value::Null,
        Some(ToolChoice::Auto) => "auto".into(),
        Some(ToolChoice::None) => "none".into(),
        Some(ToolChoice::Any) => "required".into(),
        Some(ToolChoice::Named(name)) => named(name),
    };
    if !choice.is_null() {
        body["tool_choice"] = choice;
    }
    if let Some(parallel) = options.parallel {
        body["parallel_tool_calls"] = parallel.into();
    }
}

fn data_url(image: &str) -> String {
    format!("data:{};base64,{image}", media_type(image))
}

/// The type of an image, by how its base64 begins.
fn media_type(image: &str) -> &'static str {
    match image.get(..4) {
        Some("/9j/") => "image/jpeg",
        Some("R0lG") => "image/gif",
        Some("UklG") => "image/webp",
        _ => "image/png",
    }
}

#[cfg(test)]
mod tests;
