//! Reads a message of a request, in the words of op `tools`.

use serde_json::{Map, Value};
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::protocol::{
    Call, ChatMessage, OpaqueItem, Part, Parts, SentCall, SessionMessage, Shape, Speaker,
};
use threadspec_judge::session::image_digest;
use threadspec_judge::universal::value;

/// A message as it went over the wire.
#[derive(Clone, Debug, PartialEq)]
pub struct WireMessage {
    /// Who speaks.
    pub speaker: Speaker,
    /// The text.
    pub content: String,
    /// Where in the text a part ends and the next one begins.
    pub seams: Vec<usize>,
    /// The calls of the model.
    pub calls: Vec<WireCall>,
    /// The call that a tool answers.
    pub call_id: Option<String>,
    /// True if a tool's answer says that it failed, in APIs that can say so (anthropic).
    pub is_error: bool,
    /// The parts that only the provider reads, in order.
    pub opaque: Vec<OpaquePart>,
    /// The images in it, in base64, in order. In the text a character U+FFFC represents each.
    pub images: Vec<String>,
    /// Where it begins in the body: `messages[2]`, `input[0]`, `system`.
    pub place: String,
}

/// A call in a message of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct WireCall {
    /// The id; empty if there is none, or the place of the call in an API that needs none.
    pub id: String,
    /// The tool; empty if there is none.
    pub name: String,
    /// The arguments: an object, or the text that is none.
    pub args: Value,
    /// Their text, in APIs where they are a text.
    pub raw: Option<String>,
    /// Where it is in the body.
    pub place: String,
}

/// A part of a message that only the provider reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpaquePart {
    /// The content.
    pub content: OpaqueContent,
    /// Where it is in the body.
    pub place: String,
}

/// A thought of a model, in a form that the provider takes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpaqueContent {
    /// A `thinking` block (anthropic).
    Thinking {
        /// The text.
        text: String,
        /// The signature; `None` if it is absent.
        signature: Option<String>,
    },
    /// A `redacted_thinking` block (anthropic).
    Redacted {
        /// The text that represents it.
        data: String,
    },
    /// A `reasoning` item (openai-responses).
    Reasoning {
        /// The item's id.
        id: Option<String>,
        /// The texts of the summary, joined.
        summary: String,
        /// The reasoning, for the provider alone.
        encrypted: Option<String>,
    },
    /// `reasoning_content` (servers that are like openai-chat).
    Text(String),
}

impl WireMessage {
    pub(super) fn text(speaker: Speaker, content: String, place: String) -> Self {
        Self {
            speaker,
            content,
            seams: Vec::new(),
            calls: Vec::new(),
            call_id: None,
            is_error: false,
            opaque: Vec::new(),
            images: Vec::new(),
            place,
        }
    }

    /// The parts of the text, in order; a part that is U+FFFC alone represents an image or a file.
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec::oracle::Api;
    /// use threadspec_apis::ApiRequest;
    /// let body = json!({"messages": [{"role": "user", "content": [
    ///     {"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}]}]});
    /// let request = ApiRequest::read(Api::OpenAiChat, &body);
    /// assert_eq!(request.messages[0].parts().collect::<Vec<_>>(), ["Look:", "\u{fffc}"]);
    /// ```
    pub fn parts(&self) -> impl Iterator<Item = &str> {
        let begins = std::iter::once(0).chain(self.seams.iter().copied());
        let ends = self.seams.iter().copied().chain([self.content.len()]);
        begins.zip(ends).filter_map(|(begin, end)| self.content.get(begin..end))
    }

    /// The message as the protocol writes it, as marked data.
    pub fn to_json(&self) -> Value {
        let calls: Vec<_> = self.calls.iter().map(|call| call.to_protocol().into()).collect();
        ChatMessage {
            calls: if calls.is_empty() { Part::Missing } else { calls.into() },
            call_id: self.call_id.clone().map(Into::into).unwrap_or_default(),
            ..ChatMessage::text(self.speaker, self.content.clone())
        }
        .into_json()
    }

    /// The message as the protocol writes it in op `session`, as marked data: with what only the provider reads, with arguments that are no
    /// object as they are, and with the digests of images beside the text instead of in it.
    pub fn to_session_json(&self) -> Value {
        let opaque: Vec<_> = self.opaque.iter().filter_map(OpaquePart::to_protocol).map(Part::from).collect();
        let calls: Vec<_> = self.calls.iter().map(|call| call.to_session().into()).collect();
        let images: Vec<_> = self.images.iter().map(|image| image_digest(image).into()).collect();
        SessionMessage {
            speaker: self.speaker.into(),
            content: self.content.replacen(OBJECT, "", self.images.len()).into(),
            calls: list_or_none(calls),
            call_id: self.call_id.clone().map(Into::into).unwrap_or_default(),
            opaque: list_or_none(opaque),
            images: list_or_none(images),
        }
        .into_json()
    }
}

/// A member that is left out if it has nothing.
fn list_or_none<T>(list: Parts<T>) -> Part<Parts<T>> {
    if list.is_empty() { Part::Missing } else { Part::Proper(list) }
}

impl OpaquePart {
    /// The part as op `session` has it; `None` of a text that says nothing to the provider.
    fn to_protocol(&self) -> Option<OpaqueItem> {
        let none = OpaqueItem::default();
        let optional = |text: &Option<String>| text.clone().map(Into::into).unwrap_or_default();
        Some(match &self.content {
            OpaqueContent::Thinking { text, signature } => OpaqueItem {
                kind: "thinking".to_owned().into(),
                text: text.clone().into(),
                signature: optional(signature),
                ..none
            },
            OpaqueContent::Redacted { data } => {
                OpaqueItem { kind: "redacted".to_owned().into(), data: data.clone().into(), ..none }
            }
            OpaqueContent::Reasoning { id, encrypted, .. } => OpaqueItem {
                kind: "reasoning".to_owned().into(),
                id: optional(id),
                encrypted: optional(encrypted),
                ..none
            },
            OpaqueContent::Text(_) => return None,
        })
    }
}

impl WireCall {
    /// Returns whether it came without an id, so that its place is its name (gemini).
    pub fn has_no_id(&self) -> bool {
        self.id == self.place
    }

    pub(super) fn new(id: String, name: String, raw: String, place: String) -> Self {
        Self { id, name, args: arguments(&raw), raw: Some(raw), place }
    }

    fn to_session(&self) -> SentCall {
        let (id, name) = (self.id.clone().into(), self.name.clone().into());
        if self.args.is_object() {
            return SentCall { id, name, args: self.args.clone().into(), raw: Part::Missing };
        }
        let raw = self.args.as_str().map_or_else(|| self.args.to_string(), str::to_owned);
        SentCall { id, name, args: Value::Object(Map::new()).into(), raw: raw.into() }
    }

    fn to_protocol(&self) -> Call {
        Call { id: self.id.clone().into(), name: self.name.clone().into(), args: self.args.clone().into() }
    }
}

/// The value of a text of arguments: an object, `{}` if it is empty, and the text itself if it is anything else.
pub(super) fn arguments(text: &str) -> Value {
    if text.is_empty() {
        return Value::Object(Map::new());
    }
    // Half a pair that is in the text itself is an escape to whoever reads it.
    value::read(&unmark_surrogates(text)).ok().filter(Value::is_object).unwrap_or_else(|| text.into())
}

// Contents: a text, or a list of parts of which some are texts.

/// Represents an image, a sound or a file.
pub(super) const OBJECT: char = '\u{fffc}';

/// A part of a content.
pub(super) enum ContentPart<'a> {
    Text(&'a str),
    Refusal(&'a str),
    /// An image, a sound, a file, by its type.
    Object(&'a str),
    /// Another type; empty if there is none.
    Unknown(&'a str),
}

impl<'a> ContentPart<'a> {
    pub(super) fn read(part: &'a Value) -> Self {
        let text = |name: &str| part[name].as_str().unwrap_or_default();
        match text("type") {
            "text" | "input_text" | "output_text" => Self::Text(text("text")),
            "refusal" => Self::Refusal(text("refusal")),
            kind @ ("image_url" | "input_audio" | "file" | "input_image" | "input_file" | "image" | "document"
            | "container_upload" | "search_result") => Self::Object(kind),
            kind => Self::Unknown(kind),
        }
    }
}

/// A content as one text.
#[derive(Default)]
pub(super) struct Joined {
    pub(super) text: String,
    pub(super) refusal: String,
    /// Where in the text a part ends and the next one begins.
    pub(super) seams: Vec<usize>,
    /// The images, in base64, as far as they are in the content itself.
    pub(super) images: Vec<String>,
    /// The notes on content that could not be shown, with the position of its part.
    pub(super) notes: Vec<(usize, String)>,
}

impl Joined {
    pub(super) fn of(content: &Value) -> Self {
        let mut joined = Self::default();
        if let Some(text) = content.as_str() {
            text.clone_into(&mut joined.text);
        }
        for (position, part) in list(content).iter().enumerate() {
            joined.push(position, &ContentPart::read(part));
            joined.images.extend(image(part));
        }
        joined
    }

    pub(super) fn push(&mut self, position: usize, part: &ContentPart<'_>) {
        if matches!(part, ContentPart::Text(_) | ContentPart::Object(_)) && !self.text.is_empty() {
            self.seams.push(self.text.len());
        }
        match *part {
            ContentPart::Text(text) => self.text.push_str(text),
            ContentPart::Refusal(text) => self.refusal.push_str(text),
            ContentPart::Object(kind) => {
                self.text.push(OBJECT);
                self.notes.push((position, format!("`{kind}` is shown as U+FFFC")));
            }
            ContentPart::Unknown(kind) => self.notes.push((position, format!("a part of type `{kind}` is left out"))),
        }
    }

    /// The text and its seams, or else what the model refused with.
    pub(super) fn said(self) -> (String, Vec<usize>) {
        if self.text.is_empty() { (self.refusal, Vec::new()) } else { (self.text, self.seams) }
    }
}

/// The image that a part is, in base64; `None` if it is none, or one that is elsewhere.
pub(super) fn image(part: &Value) -> Option<String> {
    let url = match part["type"].as_str()? {
        "image" if part["source"]["type"] == "base64" => return member_text(&part["source"], "data"),
        "image_url" => part["image_url"]["url"].as_str().or_else(|| part["image_url"].as_str()),
        "input_image" => part["image_url"].as_str(),
        _ => None,
    };
    url?.strip_prefix("data:")?.split_once(";base64,").map(|(_, data)| data.to_owned())
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A member that is a text.
pub(super) fn member_text(object: &Value, name: &str) -> Option<String> {
    object[name].as_str().map(str::to_owned)
}
