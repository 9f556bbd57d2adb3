//! The events of a client's stream, written as the answer comes.

mod anthropic;
mod blocks;
mod chat;
mod responses;

use super::course::ClientEvent;
use super::said::AnswerNews;
use serde_json::{Value, json};
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, ApiRequest, ModelAnswer};

/// Writes one stream.
pub(super) trait WritesEvents: Send {
    /// The beginning.
    fn begin(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent>;
    /// What is new.
    fn tell(&mut self, answer: &ModelAnswer, news: &AnswerNews) -> Vec<ClientEvent>;
    /// The end of an answer that came whole.
    fn end(&mut self, answer: &ModelAnswer) -> Vec<ClientEvent>;
}

/// A writer of the stream that answers a request.
pub(super) fn writer(request: ApiRequest) -> Box<dyn WritesEvents> {
    match request.api {
        Api::OpenAiChat => Box::new(chat::ChatEvents::new(request.include_usage)),
        Api::OpenAiResponses => Box::new(responses::ResponsesEvents::new(request)),
        Api::Anthropic | Api::Gemini => Box::new(anthropic::AnthropicEvents::default()),
    }
}

/// An error in the place of the rest.
pub(super) fn error_event(api: Api, error: &ApiError) -> ClientEvent {
    match api {
        Api::OpenAiChat => ClientEvent::new(None, error.body(api, "")),
        Api::OpenAiResponses => {
            let code = error.code.as_ref().unwrap_or(&error.kind);
            let data = json!({"type": "error", "code": code, "message": error.message, "param": error.param, "sequence_number": 9999});
            ClientEvent::new(Some("error"), data)
        }
        Api::Anthropic | Api::Gemini => {
            let error = json!({"type": error.kind, "message": error.message});
            ClientEvent::new(Some("error"), json!({"type": "error", "error": error}))
        }
    }
}

/// A named event, whose data has its name as the type.
fn named(name: &'static str, mut members: Value) -> ClientEvent {
    let mut data = json!({"type": name});
    if let (Some(data), Some(members)) = (data.as_object_mut(), members.as_object_mut()) {
        data.append(members);
    }
    ClientEvent::new(Some(name), data)
}
