//! The head of every answer, and answers that are one text of JSON.

use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, json_text, response_headers};

/// The common part of all answers to a request.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// Whose headers it has.
    pub(crate) api: Api,
    /// The id of the request.
    pub(crate) request_id: String,
    /// The time, in seconds since 1970.
    pub(crate) now: u64,
}

/// The time that an answer claims to take, in milliseconds.
const TAKEN: u64 = 12;

impl Head {
    /// The headers that every answer of the API has.
    pub(crate) fn headers(&self, is_stream: bool) -> Vec<(String, String)> {
        let headers = response_headers(self.api, &self.request_id, is_stream, self.now, TAKEN);
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// An answer that is one text of JSON.
    pub(crate) fn json(&self, status: u16, body: String) -> PlannedAnswer {
        PlannedAnswer {
            delay: Duration::ZERO,
            status,
            headers: self.headers(false),
            length: Some(body.len() as u64),
            steps: vec![WireStep::Write(body.into_bytes())],
            ending: PlannedEnd::Whole,
        }
    }

    /// An error.
    pub(crate) fn error(&self, error: &ApiError) -> Reaction {
        let body = json_text(&error.body(self.api, &self.request_id), false);
        let mut answer = self.json(error.status, body);
        answer.headers.extend(error.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Reaction::Answer(answer)
    }
}

/// The error for a body that could not be read.
pub(crate) fn unreadable(api: Api, why: &str, status: u16) -> ApiError {
    match (api, status) {
        (Api::Anthropic, 413) => ApiError::too_large(api),
        _ => ApiError::new(status, "invalid_request_error", why),
    }
}
