//! Reads the answer that a client received, as the SDKs of its API read it.

use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::sse::{SseEvent, SseParser};
use threadspec_apis::{AnswerReader, ApiError, ReadAnswer, read_answer};
use threadspec_judge::universal::{halves, value};
use threadspec_provider::client::ClientResponse;

/// An answer as it was received.
#[derive(Debug)]
pub(super) struct ClientHeard {
    pub(super) status: u16,
    /// The body as a text.
    pub(super) text: String,
    pub(super) form: HeardForm,
}

/// In which form it came.
#[derive(Debug)]
pub(super) enum HeardForm {
    /// A status of 400 or more.
    Error(ApiError),
    /// One text of JSON.
    Plain { body: Value, read: Result<ReadAnswer, String> },
    /// Events.
    Stream(HeardStream),
}

/// A stream of events.
#[derive(Debug)]
pub(super) struct HeardStream {
    pub(super) events: Vec<SseEvent>,
    /// The answer up to its end, or up to the part that cannot be read.
    pub(super) read: ReadAnswer,
    /// Why an event could not be read.
    pub(super) error: Option<String>,
    /// True if an event began that has no end.
    pub(super) has_rest: bool,
}

impl ClientHeard {
    pub(super) fn of(api: Api, response: &ClientResponse) -> Self {
        let bytes = response.body();
        let text = halves::decode(&bytes)
            .map_or_else(|_| String::from_utf8_lossy(&bytes).into_owned(), |text| without_marks(&text).into_owned());
        let is_json = || text.trim_start().starts_with(['{', '[']);
        let is_stream = response.header("content-type").is_some_and(|kind| kind.contains("event-stream"))
            || ["data:", "event:", ":"].iter().any(|begin| text.trim_start().starts_with(begin));
        let form = if response.status >= 400 {
            let body = value::read(&text).unwrap_or_else(|_| Value::from(text.as_str()));
            HeardForm::Error(ApiError::read(response.status, &body))
        } else if is_stream && !is_json() {
            HeardForm::Stream(HeardStream::of(api, &bytes))
        } else {
            let decoded = str::from_utf8(&bytes).map_err(|error| format!("it is not UTF-8: {error}"));
            let body = decoded.and_then(|text| value::read(text).map_err(|error| format!("it is no JSON: {error}")));
            match body {
                Ok(body) => HeardForm::Plain { read: read_answer(api, &body).map_err(|error| error.to_string()), body },
                Err(why) => HeardForm::Plain { body: Value::Null, read: Err(why) },
            }
        };
        Self { status: response.status, text, form }
    }

    /// Returns the readable part, if there is one.
    pub(super) fn read(&self) -> Option<&ReadAnswer> {
        match &self.form {
            HeardForm::Error(_) => None,
            HeardForm::Plain { read, .. } => read.as_ref().ok(),
            HeardForm::Stream(stream) => Some(&stream.read),
        }
    }
}

impl HeardStream {
    fn of(api: Api, bytes: &[u8]) -> Self {
        let mut parser = SseParser::default();
        let events = parser.push(bytes);
        let mut reader = AnswerReader::new(api);
        // SDKs go no further than an event that they cannot read, and `[DONE]` is none that they read.
        let read = events.iter().filter(|event| !is_done(event));
        let error = read.into_iter().find_map(|event| reader.push(event).err()).map(|error| error.to_string());
        Self { read: reader.said(), error, has_rest: !parser.is_between_events(), events }
    }
}

/// Returns whether an event is the last line of a chat's stream, which gateways write behind streams of other APIs, too.
pub(super) fn is_done(event: &SseEvent) -> bool {
    event.data.trim() == "[DONE]"
}
