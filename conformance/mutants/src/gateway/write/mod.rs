//! What a request says, as the body of another API.

mod anthropic;
mod chat;
mod responses;

use serde_json::{Map, Value, json};
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::{ApiError, ApiRequest, DeclaredTool, WireCall, WireMessage, argument_text};
use threadspec_judge::json::{list, text};
use threadspec_judge::protocol::Speaker;

/// Stands for an image in a text.
const OBJECT: &str = "\u{fffc}";

/// Why a request cannot be said in the other API, if it cannot.
pub(super) fn refusal(request: &ApiRequest, body: &Value, to: Api) -> Option<ApiError> {
    let refused = |why: String| Some(ApiError::invalid(format!("The gateway cannot send this on: {why}.")));
    let shown = request.notes.iter().filter(|note| note.what.ends_with("U+FFFC")).count();
    let images: usize = request.messages.iter().map(|message| message.images.len()).sum();
    if let Some(note) = request.notes.iter().find(|note| !note.what.ends_with("U+FFFC")) {
        return refused(format!("{}: {}", note.place, note.what));
    }
    if shown > images {
        return refused("a file, or an image that does not stand in the request itself".to_owned());
    }
    if request.previous_response_id.is_some() || request.conversation.is_some() || !request.references.is_empty() {
        return refused("it goes on from something that the provider is to have stored".to_owned());
    }
    if let Some(tool) = request.tools.iter().find(|tool| !tool.is_function()) {
        return refused(format!("{} is a tool of the provider's", tool.place));
    }
    let format = [&body["response_format"]["type"], &body["text"]["format"]["type"]];
    if format.iter().any(|kind| !matches!(text(kind), "" | "text")) {
        return refused("a format of the output".to_owned());
    }
    if body["n"].as_u64().is_some_and(|count| count > 1) {
        return refused("more than one answer".to_owned());
    }
    match to {
        Api::OpenAiChat if request.stop.len() > 4 => return refused("more than four stop sequences".to_owned()),
        Api::OpenAiChat if request.tools.len() > 128 => return refused("more than 128 tools".to_owned()),
        Api::OpenAiResponses if !request.stop.is_empty() => return refused("stop sequences".to_owned()),
        Api::Anthropic if request.messages.last().is_some_and(|message| message.speaker == Speaker::Ai) => {
            return refused("the last message is the assistant's".to_owned());
        }
        _ => {}
    }
    let is_object = |call: &&WireCall| call.args.is_object();
    if to == Api::Anthropic
        && let Some(call) = request.messages.iter().flat_map(|message| &message.calls).find(|call| !is_object(call))
    {
        return refused(format!("{}: the arguments are no JSON object", call.place));
    }
    None
}

/// The body for the upstream.
pub(super) fn body(request: &ApiRequest, asked: &Value, to: Api, model: &str) -> Value {
    let mut body = match to {
        Api::OpenAiChat => chat::body(request),
        Api::OpenAiResponses => responses::body(request),
        Api::Anthropic | Api::Gemini => anthropic::body(request),
    };
    body["model"] = model.into();
    if to != Api::Anthropic {
        // Its newer versions refuse them.
        set(&mut body, "temperature", &asked["temperature"]);
        set(&mut body, "top_p", &asked["top_p"]);
    }
    if request.stream {
        body["stream"] = true.into();
    }
    body
}

/// A part of a content.
#[derive(Clone, Copy)]
enum WrittenPart<'a> {
    Text(&'a str),
    Image(&'a str),
}

/// A content with the images at their places.
fn parts(message: &WireMessage) -> Vec<WrittenPart<'_>> {
    let mut images = message.images.iter();
    let read = |part| match part {
        OBJECT => images.next().map(|image| WrittenPart::Image(image)),
        text => Some(WrittenPart::Text(text)),
    };
    message.parts().filter_map(read).collect()
}

/// The texts of a content, without its images.
fn texts(message: &WireMessage) -> String {
    if message.images.is_empty() {
        return message.content.clone();
    }
    message.parts().filter(|part| *part != OBJECT).collect()
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

fn data_url(image: &str) -> String {
    format!("data:{};base64,{image}", media_type(image))
}

/// The arguments of a call as a text: as they came, if they came as one.
fn arguments(call: &WireCall) -> String {
    call.raw.clone().filter(|raw| !raw.is_empty()).unwrap_or_else(|| argument_text(&call.args))
}

fn schema(tool: &DeclaredTool) -> Value {
    tool.schema.clone().unwrap_or_else(|| json!({"type": "object", "properties": {}}))
}

/// Adds a member if it is something.
fn set(body: &mut Value, name: &str, value: &Value) {
    if !value.is_null() && list(value).len() + usize::from(!value.is_array()) > 0 {
        body[name] = value.clone();
    }
}

/// A value without lone surrogates.
fn without_halves(value: &Value) -> Value {
    match value {
        Value::String(text) => without_marks(text).into(),
        Value::Array(elements) => elements.iter().map(without_halves).collect(),
        Value::Object(members) => {
            let member = |(name, value): (&String, &Value)| (without_marks(name).into_owned(), without_halves(value));
            members.iter().map(member).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
