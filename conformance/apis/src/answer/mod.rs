//! Writes the answers of a model: plain ones, and streams of events.

mod anthropic;
mod chat;
mod gemini;
mod responses;
mod shape;
#[cfg(test)]
mod tests;

pub use shape::{Cut, EventPart, Pieces, StreamEvent, StreamShape, kept_events};

use crate::failure::ApiError;
use crate::header::IdSource;
use crate::request::ApiRequest;
use crate::usage::{Usage, tokens};
use serde::Serialize;
use serde_json::Value;
use std::borrow::Cow;
use threadspec::oracle::Api;
use threadspec::surrogates::{marked, unmark_surrogates};
use threadspec_judge::universal::value;

/// Ends a namespace in the name of a call: Responses has a member of its own for it.
pub const NAMESPACE_END: char = '\u{1f}';

/// An answer of a model. All texts are marked data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelAnswer {
    /// Its id.
    pub id: String,
    /// The model that answers.
    pub model: String,
    /// When it was made, in seconds since 1970.
    pub created: u64,
    /// The model's thinking before the answer.
    pub thinking: Vec<Thinking>,
    /// The text; empty if there is none.
    pub text: String,
    /// With what it refuses to answer.
    pub refusal: Option<String>,
    /// The calls that it wants to be made.
    pub calls: Vec<SaidCall>,
    /// Why it ends.
    pub finish: Finish,
    /// The usage.
    pub usage: Usage,
    /// The id of the item that its text is in (openai-responses).
    pub item_id: Option<String>,
}

/// A part of what a model thought.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Thinking {
    /// The text; empty if it is not shown.
    pub text: String,
    /// The part that only the provider reads: a `signature` beside the text, the `data` of a redacted part, `encrypted_content`.
    pub seal: Option<String>,
    /// True if nothing of it is shown.
    pub is_redacted: bool,
    /// How many calls of the answer are before it (anthropic).
    pub calls_before: usize,
    /// The id of its item (openai-responses).
    pub item_id: Option<String>,
}

/// A call that an answer makes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SaidCall {
    /// The id that its result refers to.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as JSON text, or what is there instead.
    pub arguments: String,
    /// The id of its item (openai-responses).
    pub item_id: Option<String>,
}

/// Why an answer ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Finish {
    /// The answer is complete.
    #[default]
    End,
    /// Calls are to be made.
    Calls,
    /// It has become too long.
    Length,
    /// A filter has stopped it.
    Filter,
    /// The model refuses.
    Refusal,
    /// It wants to go on (anthropic).
    Pause,
    /// Another reason, in the API's word.
    Named(String),
}

impl ModelAnswer {
    /// The body of a plain answer to a request, as its API writes it.
    ///
    /// ```
    /// use threadspec::oracle::Api;
    /// use threadspec_apis::{ApiRequest, ModelAnswer};
    /// use serde_json::json;
    /// let request = ApiRequest::read(Api::Anthropic, &json!({"model": "claude-sonnet-5", "max_tokens": 9, "messages": []}));
    /// let answer = ModelAnswer { id: "msg_01a".into(), model: "claude-sonnet-5".into(), text: "Hi".into(), ..Default::default() };
    /// let body = answer.plain(&request);
    /// assert_eq!(body["content"], json!([{"type": "text", "text": "Hi"}]));
    /// assert_eq!(body["stop_reason"], "end_turn");
    /// ```
    pub fn plain(&self, request: &ApiRequest) -> Value {
        let value = match request.api {
            Api::OpenAiChat => serde_json::to_value(chat::plain(self)),
            Api::OpenAiResponses => serde_json::to_value(responses::plain(self, request)),
            Api::Anthropic => serde_json::to_value(anthropic::plain(self)),
            Api::Gemini => Ok(gemini::plain(self)),
        };
        // The forms have names and texts only, so that none can fail to be written.
        value.unwrap_or_default()
    }

    /// Writes the text that [`json_text`](crate::json_text) writes, without a value in between.
    pub fn plain_text(&self, request: &ApiRequest, ascii: bool) -> String {
        let json = match request.api {
            Api::OpenAiChat => serde_json::to_string(&chat::plain(self)),
            Api::OpenAiResponses => serde_json::to_string(&responses::plain(self, request)),
            Api::Anthropic => serde_json::to_string(&anthropic::plain(self)),
            Api::Gemini => serde_json::to_string(&gemini::plain(self)),
        };
        on_the_wire(json.unwrap_or_default(), ascii)
    }

    /// The events of a streamed answer to a request, as its API writes them.
    pub fn events(&self, request: &ApiRequest, shape: &StreamShape) -> Vec<StreamEvent> {
        match request.api {
            Api::OpenAiChat => chat::events(self, request, shape),
            Api::OpenAiResponses => responses::events(self, request, shape),
            Api::Anthropic => anthropic::events(self, shape),
            Api::Gemini => gemini::events(self, shape),
        }
    }

    /// Adds an id wherever the API has one and none is given, and a seal for the provider where the model thought.
    #[must_use]
    pub fn with_ids(mut self, api: Api, ids: &mut IdSource) -> Self {
        if self.id.is_empty() {
            self.id = ids.answer(api);
        }
        let of_items = api == Api::OpenAiResponses;
        let mut item = |prefix: &str, id: &mut Option<String>| {
            if of_items && id.is_none() {
                *id = Some(ids.next(prefix));
            }
        };
        item("msg_", &mut self.item_id);
        self.thinking.iter_mut().for_each(|thought| item("rs_", &mut thought.item_id));
        self.calls.iter_mut().for_each(|call| item("fc_", &mut call.item_id));
        for thought in &mut self.thinking {
            thought.seal.get_or_insert_with(|| ids.letters(SEAL));
        }
        self
    }

    /// Returns why it ends, by default: it refuses, calls are to be made, or the answer is complete.
    pub fn usual_finish(&self) -> Finish {
        match self {
            Self { refusal: Some(_), .. } => Finish::Refusal,
            Self { calls, .. } if calls.is_empty() => Finish::End,
            _ => Finish::Calls,
        }
    }

    /// Adds the usage of its request, and the output to it.
    #[must_use]
    pub fn with_usage(self, request: Usage) -> Self {
        let said = self.text.len() + self.refusal.as_ref().map_or(0, String::len);
        let called: usize = self.calls.iter().map(|call| call.arguments.len()).sum();
        let thought: usize = self.thinking.iter().map(|thought| thought.text.len()).sum();
        let reasoning = if thought == 0 { 0 } else { tokens(thought) };
        Self { usage: Usage { output: tokens(said + called + thought), reasoning, ..request }, ..self }
    }

    /// The event that tells an error inside a stream, behind those that were sent.
    ///
    /// With openai-responses it is `error`, or with `as_failed` a response that failed.
    pub fn error_event(
        &self,
        request: &ApiRequest,
        error: &ApiError,
        sent: &[StreamEvent],
        as_failed: bool,
    ) -> StreamEvent {
        match request.api {
            Api::OpenAiChat => chat::error_event(error),
            Api::OpenAiResponses => responses::error_event(self, request, error, sent, as_failed),
            Api::Anthropic => anthropic::error_event(error),
            Api::Gemini => gemini::error_event(error),
        }
    }

    /// Returns whether it has a part for text: it says something, or nothing else.
    fn has_text(&self) -> bool {
        !self.text.is_empty() || (self.calls.is_empty() && self.refusal.is_none())
    }
}

/// How long is what only the provider reads.
const SEAL: usize = 88;

impl SaidCall {
    /// A call with these arguments.
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: &Value) -> Self {
        Self { id: id.into(), name: name.into(), arguments: argument_text(args), item_id: None }
    }

    /// A call with this text instead of its arguments; half a pair in it becomes an escape.
    pub fn with_text(id: impl Into<String>, name: impl Into<String>, text: &str) -> Self {
        let arguments = marked(&unmark_surrogates(text)).into_owned();
        Self { id: id.into(), name: name.into(), arguments, item_id: None }
    }

    /// The arguments; `None` if the text is not that of an object. An empty text is none.
    pub fn args(&self) -> Option<Value> {
        value::read(&unmark_surrogates(&self.arguments)).ok().filter(Value::is_object)
    }
}

impl Finish {
    /// The reason for a word of any of the APIs.
    pub fn of_name(name: &str) -> Self {
        match name {
            "stop" | "end_turn" | "completed" | "STOP" => Self::End,
            "tool_calls" | "tool_use" => Self::Calls,
            "length" | "max_tokens" | "max_output_tokens" | "MAX_TOKENS" => Self::Length,
            "content_filter" | "SAFETY" | "PROHIBITED_CONTENT" | "BLOCKLIST" | "RECITATION" | "SPII" => Self::Filter,
            "refusal" => Self::Refusal,
            "pause_turn" => Self::Pause,
            other => Self::Named(other.to_owned()),
        }
    }

    /// The word of an API: `finish_reason`, `stop_reason`, the reason of an incomplete response.
    pub fn name(&self, api: Api) -> &str {
        let [chat, responses, anthropic, gemini] = match self {
            Self::End => ["stop", "completed", "end_turn", "STOP"],
            Self::Calls => ["tool_calls", "completed", "tool_use", "STOP"],
            Self::Length => ["length", "max_output_tokens", "max_tokens", "MAX_TOKENS"],
            Self::Filter => ["content_filter", "content_filter", "refusal", "SAFETY"],
            Self::Refusal => ["stop", "completed", "refusal", "SAFETY"],
            Self::Pause => ["stop", "completed", "pause_turn", "STOP"],
            Self::Named(name) => [name, "completed", name, name],
        };
        match api {
            Api::OpenAiChat => chat,
            Api::OpenAiResponses => responses,
            Api::Anthropic => anthropic,
            Api::Gemini => gemini,
        }
    }
}

// JSON text as it goes over the wire.

/// A value of marked data as JSON text. `ascii` writes what is not ASCII as escapes.
///
/// ```
/// use serde_json::json;
/// use threadspec_apis::json_text;
/// let value = json!({"cut": "\u{10d83d}", "whole": "😀"});
/// assert_eq!(json_text(&value, false), r#"{"cut":"\ud83d","whole":"😀"}"#);
/// assert_eq!(json_text(&value, true), r#"{"cut":"\ud83d","whole":"\ud83d\ude00"}"#);
/// ```
pub fn json_text(value: &Value, ascii: bool) -> String {
    on_the_wire(value.to_string(), ascii)
}

/// Arguments as the JSON text in which they are sent: half a pair is an escape inside it.
///
/// ```
/// use serde_json::json;
/// assert_eq!(threadspec_apis::argument_text(&json!({"a": "\u{10d83d}"})), r#"{"a":"\ud83d"}"#);
/// ```
pub fn argument_text(args: &Value) -> String {
    marked(&unmark_surrogates(&args.to_string())).into_owned()
}

/// JSON text of marked data as bytes have it.
fn on_the_wire(json: String, ascii: bool) -> String {
    let json = match unmark_surrogates(&json) {
        Cow::Borrowed(_) => json,
        Cow::Owned(unmarked) => unmarked,
    };
    if !ascii || json.is_ascii() {
        return json;
    }
    let mut escaped = String::with_capacity(2 * json.len());
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
        } else {
            // Only inside strings is a character other than ASCII.
            let mut units = [0; 2];
            character.encode_utf16(&mut units).iter().for_each(|unit| escaped += &format!("\\u{unit:04x}"));
        }
    }
    escaped
}

// The events of a stream while they are written.

/// Names the first bytes of a stream, and its pauses.
const KEEP_ALIVE: &str = "keep-alive";

/// The events so far.
struct EventList<'a> {
    shape: &'a StreamShape,
    /// The event that keeps the connection alive; without one it is a comment.
    ping: Option<(&'static str, &'static str)>,
    events: Vec<StreamEvent>,
}

impl<'a> EventList<'a> {
    fn new(shape: &'a StreamShape, ping: Option<(&'static str, &'static str)>) -> Self {
        let mut list = Self { shape, ping, events: Vec::new() };
        list.comment();
        list
    }

    fn push(&mut self, name: Option<&'static str>, data: &impl Serialize, part: EventPart) {
        self.push_as(name, data, part, false);
    }

    fn push_as(&mut self, name: Option<&'static str>, data: &impl Serialize, part: EventPart, ends_call: bool) {
        self.events.push(StreamEvent { name, data: json(data, self.shape.ascii), part, ends_call });
        if self.shape.ping_all {
            self.ping();
        }
    }

    /// Something that keeps the connection alive.
    fn ping(&mut self) {
        match self.ping {
            Some((name, data)) => self.events.push(StreamEvent {
                name: Some(name),
                data: data.to_owned(),
                part: EventPart::Ping,
                ends_call: false,
            }),
            None => self.comment(),
        }
    }

    /// Data that is no JSON.
    fn push_text(&mut self, data: &str, part: EventPart) {
        self.events.push(StreamEvent { name: None, data: data.to_owned(), part, ends_call: false });
    }

    fn finish(self) -> Vec<StreamEvent> {
        self.events
    }

    fn comment(&mut self) {
        self.push_text(KEEP_ALIVE, EventPart::Comment);
    }
}

/// An event that is alone.
fn event(name: Option<&'static str>, data: &impl Serialize, part: EventPart) -> StreamEvent {
    StreamEvent { name, data: json(data, true), part, ends_call: false }
}

fn json(data: &impl Serialize, ascii: bool) -> String {
    // Texts, numbers, lists and objects with texts as names always have JSON.
    on_the_wire(serde_json::to_string(data).unwrap_or_default(), ascii)
}

/// One fragment of each text in turn, with the number of its text.
fn in_turn<'a>(texts: &[Vec<&'a str>]) -> Vec<(usize, &'a str)> {
    let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
    let of_turn = |turn: usize| {
        let fragments = texts.iter().enumerate();
        fragments.filter_map(move |(text, fragments)| Some((text, *fragments.get(turn)?)))
    };
    (0..longest).flat_map(of_turn).collect()
}
