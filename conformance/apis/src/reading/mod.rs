//! Reads answers: plain ones whole, streamed ones event by event.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use crate::answer::{Finish, ModelAnswer, SaidCall};
use crate::error::Error;
use crate::failure::ApiError;
use crate::sse::SseEvent;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::mark_surrogates;

/// An answer, to its end or to where it broke off.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadAnswer {
    /// All that was sent, calls that had not come whole included.
    pub answer: ModelAnswer,
    /// Marks the calls that came whole: the block or item was closed, the arguments are the JSON text of an object, and no limit cut it
    /// off.
    pub whole_calls: Vec<bool>,
    /// How it has ended.
    pub end: AnswerEnd,
}

/// How an answer has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerEnd {
    /// As its API ends an answer.
    Whole,
    /// Not: it broke off, or goes on.
    Broken,
    /// With an error instead of the rest.
    Failed(ApiError),
}

impl ReadAnswer {
    /// Returns the part of the answer that came whole: the texts so far, and the calls that an agent may make.
    pub fn came_whole(&self) -> ModelAnswer {
        let mut answer = self.answer.clone();
        let mut whole = self.whole_calls.iter();
        answer.calls.retain(|_| whole.next().is_some_and(|is_whole| *is_whole));
        answer
    }

    /// Returns whether it ended as its API ends an answer.
    pub fn has_ended(&self) -> bool {
        self.end == AnswerEnd::Whole
    }

    /// The calls that are closed came whole if their arguments are an object. No arguments are `{}` in an answer that ended by itself.
    fn of(answer: ModelAnswer, closings: &[Closing], end: AnswerEnd) -> Self {
        let may_be_empty = end == AnswerEnd::Whole && answer.finish != Finish::Length;
        let is_whole = |(call, closing): (&SaidCall, &Closing)| match closing {
            Closing::Open => false,
            Closing::Closed => call.args().is_some() || call.arguments.is_empty() && may_be_empty,
            Closing::AnyText => true,
        };
        let whole_calls = answer.calls.iter().zip(closings).map(is_whole).collect();
        Self { answer, whole_calls, end }
    }
}

/// Tells whether the end of a call has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Open,
    Closed,
    /// It has, and its input may be any text.
    AnyText,
}

/// Reads the body of a plain answer, as marked data.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec::read_json;
/// let body = read_json(r#"{"id": "msg_1", "model": "m", "stop_reason": "tool_use", "content": [
///     {"type": "tool_use", "id": "toolu_a", "name": "look", "input": {"n": 1}}]}"#)?;
/// let said = threadspec_apis::read_answer(Api::Anthropic, &body)?;
/// assert_eq!((&*said.answer.calls[0].arguments, said.whole_calls), (r#"{"n":1}"#, vec![true]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// An [`Error`] if it is not an answer of the API. An error body is an answer, which failed.
pub fn read_answer(api: Api, body: &Value) -> Result<ReadAnswer, Error> {
    if body.get("error").is_some_and(|error| !error.is_null()) && body.get("output").is_none() {
        let end = AnswerEnd::Failed(ApiError::of_body(body));
        return Ok(ReadAnswer::of(ModelAnswer::default(), &[], end));
    }
    match api {
        Api::OpenAiChat => chat::read(body),
        Api::OpenAiResponses => responses::read(body),
        Api::Anthropic => anthropic::read(body),
        Api::Gemini => gemini::read(body),
    }
}

/// Reads a streamed answer, event by event.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_apis::{AnswerEnd, AnswerReader, sse::SseParser};
/// let stream = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"I lo\"}}]}\n\n";
/// let mut reader = AnswerReader::new(Api::OpenAiChat);
/// for event in SseParser::default().push(stream.as_bytes()) {
///     reader.push(&event)?;
/// }
/// let said = reader.said();
/// assert_eq!((&*said.answer.text, said.end), ("I lo", AnswerEnd::Broken));
/// # Ok::<(), threadspec_apis::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct AnswerReader(Stream);

#[derive(Clone, Debug)]
enum Stream {
    Chat(chat::ChatStream),
    Responses(responses::ResponsesStream),
    Anthropic(anthropic::AnthropicStream),
    Gemini(gemini::GeminiStream),
}

impl AnswerReader {
    /// A reader of one answer.
    pub fn new(api: Api) -> Self {
        Self(match api {
            Api::OpenAiChat => Stream::Chat(chat::ChatStream::default()),
            Api::OpenAiResponses => Stream::Responses(responses::ResponsesStream::default()),
            Api::Anthropic => Stream::Anthropic(anthropic::AnthropicStream::default()),
            Api::Gemini => Stream::Gemini(gemini::GeminiStream::default()),
        })
    }

    /// Reads the next event.
    ///
    /// # Errors
    /// An [`Error`] if its data is no event of the API. What was read before stays.
    pub fn push(&mut self, event: &SseEvent) -> Result<(), Error> {
        match &mut self.0 {
            Stream::Chat(stream) => stream.push(event),
            Stream::Responses(stream) => stream.push(event),
            Stream::Anthropic(stream) => stream.push(event),
            Stream::Gemini(stream) => stream.push(event),
        }
    }

    /// Returns the answer so far.
    pub fn said(&self) -> ReadAnswer {
        match &self.0 {
            Stream::Chat(stream) => stream.said(),
            Stream::Responses(stream) => stream.said(),
            Stream::Anthropic(stream) => stream.said(),
            Stream::Gemini(stream) => stream.said(),
        }
    }
}

/// The data of an event in its form.
fn form<T: DeserializeOwned>(event: &SseEvent) -> Result<T, Error> {
    serde_json::from_str(&mark_surrogates(&event.data))
        .map_err(|error| Error::new(format_args!("an event of the stream cannot be read: {error}")))
}

/// A body in its form.
fn body_form<'a, T: Deserialize<'a>>(body: &'a Value) -> Result<T, Error> {
    T::deserialize(body).map_err(|error| Error::new(format_args!("the answer cannot be read: {error}")))
}

#[cfg(test)]
mod tests;
