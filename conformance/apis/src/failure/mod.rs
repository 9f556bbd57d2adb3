//! Writes the errors of APIs: statuses, bodies and headers.

mod catalogue;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use threadspec::oracle::Api;

/// An error as an API answers it.
///
/// Clients read the words, so they are those of the provider.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_apis::ApiError;
/// let error = ApiError::overloaded(Api::Anthropic).with_retry_after(30);
/// assert_eq!(error.status, 529);
/// assert_eq!(error.body(Api::Anthropic, "req_1").to_string(),
///     r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}"#);
/// assert_eq!(error.headers, [("retry-after", "1".to_owned()), ("retry-after-ms", "30".to_owned())]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiError {
    /// The HTTP status.
    pub status: u16,
    /// Its `type`.
    pub kind: String,
    /// Its `code` (OpenAI).
    pub code: Option<String>,
    /// The parameter that it is about (OpenAI).
    pub param: Option<String>,
    /// The words.
    pub message: String,
    /// Headers that only this answer has.
    pub headers: Vec<(&'static str, String)>,
}

/// An error in an answer's body or in a stream, of either provider.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ErrorForm {
    #[serde(rename = "type")]
    kind: Option<String>,
    code: Option<Value>,
    param: Option<Value>,
    message: Option<String>,
}

/// The inner part of OpenAI's body.
#[derive(Serialize)]
pub(crate) struct OpenAiError<'a> {
    message: &'a str,
    #[serde(rename = "type")]
    kind: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

impl ApiError {
    /// An error of this status, type and message.
    pub fn new(status: u16, kind: impl Into<String>, message: impl Into<String>) -> Self {
        let (kind, message) = (kind.into(), message.into());
        Self { status, kind, code: None, param: None, message, headers: Vec::new() }
    }

    /// Adds a `code`.
    #[must_use]
    pub fn with_code(self, code: impl Into<String>) -> Self {
        Self { code: Some(code.into()), ..self }
    }

    /// Names a parameter.
    #[must_use]
    pub fn with_param(self, param: impl Into<String>) -> Self {
        Self { param: Some(param.into()), ..self }
    }

    /// Adds `retry-after`, in seconds, rounded up, and `retry-after-ms`.
    #[must_use]
    pub fn with_retry_after(mut self, milliseconds: u64) -> Self {
        self.headers.push(("retry-after", milliseconds.div_ceil(1000).to_string()));
        self.headers.push(("retry-after-ms", milliseconds.to_string()));
        self
    }

    /// Adds `x-should-retry`, which the official clients obey.
    #[must_use]
    pub fn with_should_retry(mut self, should: bool) -> Self {
        self.headers.push(("x-should-retry", should.to_string()));
        self
    }

    /// The body of the answer. Anthropic repeats the request's id in it.
    pub fn body(&self, api: Api, request_id: &str) -> Value {
        match api {
            Api::Anthropic => json!({
                "type": "error",
                "error": {"type": self.kind, "message": self.message},
                "request_id": request_id,
            }),
            Api::OpenAiChat | Api::OpenAiResponses => json!({ "error": self.openai() }),
        }
    }

    pub(crate) fn openai(&self) -> OpenAiError<'_> {
        OpenAiError {
            message: &self.message,
            kind: &self.kind,
            param: self.param.as_deref(),
            code: self.code.as_deref(),
        }
    }

    /// Reads the body of an answer with an error status; whatever it lacks is empty.
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec_apis::ApiError;
    /// let error = ApiError::read(429, &json!({"error": {"message": "Slow down", "type": "requests", "code": "rate_limit_exceeded"}}));
    /// assert_eq!((&*error.kind, error.code.as_deref()), ("requests", Some("rate_limit_exceeded")));
    /// ```
    pub fn read(status: u16, body: &Value) -> Self {
        ErrorForm::of_body(body).with_status(Some(status))
    }

    /// Reads an error that came without a status, which is the one that its type usually has.
    pub(crate) fn of_body(body: &Value) -> Self {
        ErrorForm::of_body(body).with_status(None)
    }

    /// Returns whether the same request may be sent again: 408, 409, 429 and 5xx.
    pub fn is_passing(&self) -> bool {
        matches!(self.status, 408 | 409 | 429 | 500..)
    }
}

impl ErrorForm {
    /// An error whose members are those of an event.
    pub(crate) fn of_event(code: Option<Value>, message: Option<String>, param: Option<Value>) -> Self {
        Self { kind: None, code, param, message }
    }

    fn of_body(body: &Value) -> Self {
        match body.get("error").unwrap_or(body) {
            // Some servers say no more.
            Value::String(message) => Self { message: Some(message.clone()), ..Self::default() },
            inner => Self::deserialize(inner).unwrap_or_default(),
        }
    }

    /// The error; without a status that which its type has outside of streams.
    pub(crate) fn with_status(self, status: Option<u16>) -> ApiError {
        let text = |value: Option<Value>| match value {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text),
            Some(other) => Some(other.to_string()),
        };
        let (kind, code) = (self.kind.unwrap_or_default(), text(self.code));
        let known = |name: &str| match name {
            "overloaded_error" => Some(529),
            "rate_limit_error" | "rate_limit_exceeded" | "requests" | "tokens" => Some(429),
            "invalid_request_error" => Some(400),
            "authentication_error" => Some(401),
            "not_found_error" => Some(404),
            _ => None,
        };
        let status = status.or_else(|| code.as_deref().and_then(known)).or_else(|| known(&kind)).unwrap_or(500);
        let message = self.message.unwrap_or_default();
        ApiError { status, kind, code, param: text(self.param), message, headers: Vec::new() }
    }
}

#[cfg(test)]
mod tests;
