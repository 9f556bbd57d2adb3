//! Writes errors in the words of each API.

#[cfg(test)]
mod tests;

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
    /// The name of the status (gemini).
    status: Option<String>,
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
            Api::Gemini => {
                json!({"error": {"code": self.status, "message": self.message, "status": google_status(self.status)}})
            }
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
        Self { kind: None, code, param, message, status: None }
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
        let of_google = self.code.as_ref().filter(|_| self.status.is_some()).and_then(Value::as_u64);
        let status = status.or_else(|| of_google.and_then(|code| u16::try_from(code).ok()));
        let code = text(self.code).filter(|_| of_google.is_none());
        let kind = self.kind.or(self.status).unwrap_or_default();
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

/// The name that Google has for a status of HTTP.
fn google_status(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 | 405 => "NOT_FOUND",
        408 | 504 => "DEADLINE_EXCEEDED",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        503 | 529 => "UNAVAILABLE",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}

// The errors that a provider answers with, in its words.

const OPENAI_NOT_JSON: &str = "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON. If you have trouble figuring out how to fix this, please contact us through our help center at help.openai.com.)";
const OPENAI_NO_KEY: &str = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys.";

const GEMINI_NO_KEY: &str = "Method doesn't allow unregistered callers (callers without established identity). Please use API Key or other form of API consumer identity to call this API.";

/// How many characters of a wrong key are shown at its beginning and its end.
const SHOWN: (usize, usize) = (7, 4);

impl ApiError {
    /// An error of Google.
    fn google(status: u16, message: impl Into<String>) -> Self {
        Self::new(status, google_status(status), message)
    }

    /// 400: a request that is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(400, "invalid_request_error", message)
    }

    /// 400: the body lacks a member.
    pub fn missing(api: Api, member: &str) -> Self {
        match (api, member) {
            (Api::Anthropic, _) => Self::invalid(format!("{member}: Field required")),
            (Api::Gemini, _) => {
                Self::google(400, format!("* GenerateContentRequest.{member}: {member} is not specified\n"))
            }
            (_, "model") => Self::invalid("you must provide a model parameter"),
            _ => Self::invalid(format!("Missing required parameter: '{member}'."))
                .with_code("missing_required_parameter")
                .with_param(member),
        }
    }

    /// 400: the body is no JSON; why, in words of a parser.
    pub fn not_json(api: Api, why: &str) -> Self {
        match api {
            Api::Anthropic => Self::invalid(format!("The request body is not valid JSON: {why}")),
            Api::OpenAiChat | Api::OpenAiResponses => Self::invalid(OPENAI_NOT_JSON),
            Api::Gemini => Self::google(400, format!("Invalid JSON payload received. {why}")),
        }
    }

    /// 401: a key that is not known, or none. Nothing but its ends is shown, and that only by OpenAI.
    pub fn wrong_key(api: Api, key: Option<&str>) -> Self {
        match (api, key) {
            (Api::Anthropic, Some(_)) => Self::new(401, "authentication_error", "invalid x-api-key"),
            (Api::Anthropic, None) => Self::new(401, "authentication_error", "x-api-key header is required"),
            (Api::Gemini, Some(_)) => Self::google(400, "API key not valid. Please pass a valid API key."),
            (Api::Gemini, None) => Self::google(403, GEMINI_NO_KEY),
            (_, Some(key)) => {
                let message = format!(
                    "Incorrect API key provided: {}. You can find your API key at https://platform.openai.com/account/api-keys.",
                    veiled(key)
                );
                Self::new(401, "invalid_request_error", message).with_code("invalid_api_key")
            }
            (_, None) => Self::new(401, "invalid_request_error", OPENAI_NO_KEY),
        }
    }

    /// 404: a model that is not known.
    pub fn unknown_model(api: Api, model: &str) -> Self {
        match api {
            Api::Anthropic => Self::new(404, "not_found_error", format!("model: {model}")),
            Api::Gemini => Self::google(
                404,
                format!(
                    "models/{model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods."
                ),
            ),
            Api::OpenAiChat | Api::OpenAiResponses => Self::new(
                404,
                "invalid_request_error",
                format!("The model `{model}` does not exist or you do not have access to it."),
            )
            .with_code("model_not_found"),
        }
    }

    /// 404: a path that is not the API's.
    pub fn unknown_path(api: Api, method: &str, path: &str) -> Self {
        match api {
            Api::Anthropic => Self::new(404, "not_found_error", "Not Found"),
            Api::Gemini => Self::google(404, "Requested entity was not found."),
            Api::OpenAiChat | Api::OpenAiResponses => {
                Self::new(404, "invalid_request_error", format!("Invalid URL ({method} {path})"))
            }
        }
    }

    /// 405: a method that the path does not take.
    pub fn wrong_method(api: Api, method: &str, path: &str) -> Self {
        match api {
            Api::Anthropic => Self::new(405, "invalid_request_error", "Method Not Allowed"),
            Api::OpenAiChat | Api::OpenAiResponses | Api::Gemini => {
                Self { status: 405, ..Self::unknown_path(api, method, path) }
            }
        }
    }

    /// 404: a stored response that is not there (openai-responses).
    pub fn unknown_response(id: &str) -> Self {
        Self::new(404, "invalid_request_error", format!("Response with id '{id}' not found."))
    }

    /// 413: a body that is too large.
    pub fn too_large(api: Api) -> Self {
        let message = "Request exceeds the maximum size";
        match api {
            Api::Anthropic => Self::new(413, "request_too_large", message),
            Api::OpenAiChat | Api::OpenAiResponses => Self::new(413, "invalid_request_error", message),
            Api::Gemini => Self::google(413, message),
        }
    }

    /// 429: too many requests.
    pub fn rate_limited(api: Api, model: &str) -> Self {
        match api {
            Api::Anthropic => Self::new(
                429,
                "rate_limit_error",
                "This request would exceed your account's rate limit. Please try again later.",
            ),
            Api::OpenAiChat | Api::OpenAiResponses => Self::new(
                429,
                "requests",
                format!(
                    "Rate limit reached for {model} in organization org-threadspec on requests per min (RPM): Limit 500, Used 500, Requested 1. Please try again in 50ms. Visit https://platform.openai.com/account/rate-limits to learn more."
                ),
            )
            .with_code("rate_limit_exceeded"),
            Api::Gemini => {
                Self::google(429, "You exceeded your current quota, please check your plan and billing details.")
            }
        }
    }

    /// 500: the provider has failed.
    pub fn server_error(api: Api) -> Self {
        match api {
            Api::Anthropic => Self::new(500, "api_error", "Internal server error"),
            Api::Gemini => Self::google(500, "An internal error has occurred. Please retry."),
            Api::OpenAiChat | Api::OpenAiResponses => Self::new(
                500,
                "server_error",
                "The server had an error while processing your request. Sorry about that!",
            ),
        }
    }

    /// 503 of OpenAI, 529 of Anthropic: too much to do.
    pub fn overloaded(api: Api) -> Self {
        match api {
            Api::Anthropic => Self::new(529, "overloaded_error", "Overloaded"),
            Api::Gemini => Self::google(503, "The model is overloaded. Please try again later."),
            Api::OpenAiChat | Api::OpenAiResponses => Self::new(
                503,
                "server_error",
                "The server is currently overloaded with other requests. Sorry about that! Please retry your requests after a brief wait.",
            ),
        }
    }

    /// The error that an API has for a status.
    pub fn of_status(api: Api, status: u16, model: &str) -> Self {
        let error = match status {
            401 => Self::wrong_key(api, Some("sk-threadspec")),
            404 => Self::unknown_model(api, model),
            413 => Self::too_large(api),
            429 => Self::rate_limited(api, model),
            503 | 529 => Self::overloaded(api),
            500.. => Self::server_error(api),
            403 if api == Api::Anthropic => Self::new(
                403,
                "permission_error",
                "Your API key does not have permission to use the specified resource.",
            ),
            408 => Self::new(408, "timeout_error", "Request timed out."),
            _ => Self::invalid("The request was refused."),
        };
        Self { status, ..error }
    }

    /// The error inside a stream that has begun.
    pub fn in_stream(api: Api) -> Self {
        match api {
            Api::Anthropic | Api::Gemini => Self::overloaded(api),
            Api::OpenAiChat => Self::server_error(api),
            Api::OpenAiResponses => Self::server_error(api).with_code("server_error"),
        }
    }
}

/// A key of which only the ends are shown.
fn veiled(key: &str) -> String {
    let characters: Vec<char> = key.chars().collect();
    let (head, tail) = SHOWN;
    if characters.len() <= head + tail {
        return "*".repeat(characters.len());
    }
    let shown = |part: &[char]| part.iter().collect::<String>();
    format!("{}****{}", shown(&characters[..head]), shown(&characters[characters.len() - tail..]))
}
