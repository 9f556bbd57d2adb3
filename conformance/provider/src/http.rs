//! Reads and writes HTTP without a socket: requests as they arrive, paths, keys, the list of models, and answers that are one text of JSON.

use crate::exchange::{PlannedAnswer, PlannedEnd, Reaction, WireStep};
use serde::Serialize;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fmt;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, json_text, response_headers, rfc3339};
use threadspec_judge::protocol::facts;

// The head of every answer, and answers that are one text of JSON.

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

// Finds the key of a request, and the part of it that may be shown.

/// The keys of a request, each once: `x-api-key`, `x-goog-api-key`, `Authorization: Bearer` for every API, `?key=` for Gemini's.
pub(crate) fn keys(received: &Received) -> Vec<&str> {
    let mut found = Vec::new();
    for (name, value) in &received.headers {
        let value = value.trim();
        let key = if ["x-api-key", "x-goog-api-key"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
            value
        } else if name.eq_ignore_ascii_case("authorization")
            && let Some((scheme, key)) = value.split_once(' ')
            && scheme.eq_ignore_ascii_case("bearer")
        {
            key.trim()
        } else {
            continue;
        };
        found.push(key);
    }
    let is_in_query = Route::of(&received.target).api().is_none_or(|api| api == Api::Gemini);
    let query = received.target.split_once('?').filter(|_| is_in_query).map_or("", |(_, query)| query);
    found.extend(query.split('&').filter_map(|member| member.strip_prefix("key=")));
    let mut seen = HashSet::new();
    found.retain(|key| !key.is_empty() && seen.insert(*key));
    found
}

/// Returns the text that replaces a key wherever somebody reads it.
pub(crate) fn disguised(key: &str) -> String {
    let hash = hmac_sha256::Hash::hash(key.as_bytes());
    let [one, two, three, four] = [hash[0], hash[1], hash[2], hash[3]];
    format!("sha256:{one:02x}{two:02x}{three:02x}{four:02x}")
}

/// A target without the keys in its query.
pub(crate) fn without_keys(target: &str) -> String {
    let Some((path, query)) = target.split_once('?') else { return target.to_owned() };
    let members = query.split('&').map(|member| match member.split_once('=') {
        Some((name, value)) if name.eq_ignore_ascii_case("key") || name.eq_ignore_ascii_case("api-key") => {
            format!("{name}={}", disguised(value))
        }
        _ => member.to_owned(),
    });
    format!("{path}?{}", members.collect::<Vec<_>>().join("&"))
}

// Maps paths to their meaning.

/// The meaning of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// An answer of the model.
    Answer(Api),
    /// How many tokens a request has.
    Count(Api),
    /// All models, or one.
    Models(Option<String>),
    /// A stored response.
    Stored(String),
    /// A run of a session begins.
    Run(usize),
    /// The root, which is asked whether anybody is there.
    Root,
    /// Nothing.
    Nothing,
}

impl Route {
    /// The endpoint of a target: any number of `/v1` before it, empty segments, the query and the host do not matter.
    pub(crate) fn of(target: &str) -> Self {
        let path = path(target);
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let behind = segments.iter().take_while(|segment| ["v1", "v1beta", "v1alpha"].contains(segment)).count();
        // At Google's cloud the model is in a project.
        match segments.last().and_then(|last| last.split_once(':')) {
            Some((_, "generateContent" | "streamGenerateContent")) => return Self::Answer(Api::Gemini),
            Some((_, "countTokens")) => return Self::Count(Api::Gemini),
            _ => {}
        }
        match segments[behind..] {
            [] if behind == 0 => Self::Root,
            ["chat", "completions"] => Self::Answer(Api::OpenAiChat),
            ["responses"] => Self::Answer(Api::OpenAiResponses),
            ["messages"] => Self::Answer(Api::Anthropic),
            ["responses", "input_tokens"] => Self::Count(Api::OpenAiResponses),
            ["messages", "count_tokens"] => Self::Count(Api::Anthropic),
            ["models"] => Self::Models(None),
            // Names of models have slashes at gateways.
            ["models", ref name @ ..] => Self::Models(Some(name.join("/"))),
            ["runs", number] => number.parse().map_or(Self::Nothing, Self::Run),
            ["responses", id] => Self::Stored(id.to_owned()),
            _ => Self::Nothing,
        }
    }

    /// The API that it belongs to, if it is that of one.
    pub(crate) fn api(&self) -> Option<Api> {
        match self {
            Self::Answer(api) | Self::Count(api) => Some(*api),
            Self::Stored(_) => Some(Api::OpenAiResponses),
            Self::Models(_) | Self::Run(_) | Self::Root | Self::Nothing => None,
        }
    }

    /// Returns whether it takes a method.
    pub(crate) fn takes(&self, method: &str) -> bool {
        match self {
            Self::Answer(_) | Self::Count(_) | Self::Run(_) => method == "POST",
            Self::Models(_) | Self::Stored(_) => method == "GET",
            Self::Root => matches!(method, "GET" | "HEAD"),
            Self::Nothing => false,
        }
    }
}

/// The path of a target, without host and query.
pub(crate) fn path(target: &str) -> &str {
    let target = target.split(['?', '#']).next().unwrap_or_default();
    match target.split_once("://") {
        Some((_, behind)) if !target.starts_with('/') => behind.find('/').map_or("/", |at| &behind[at..]),
        _ => target,
    }
}

// The list of models, in the form of either provider.

/// When every model was made, in seconds since 1970.
const MADE: u64 = 1_750_000_000;

#[derive(Serialize)]
struct OpenAiModel<'a> {
    id: &'a str,
    object: &'static str,
    created: u64,
    owned_by: &'static str,
}

#[derive(Serialize)]
struct OpenAiModels<'a> {
    object: &'static str,
    data: Vec<OpenAiModel<'a>>,
}

#[derive(Serialize)]
struct AnthropicModel<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'a str,
    display_name: &'a str,
    created_at: String,
}

#[derive(Serialize)]
struct AnthropicModels<'a> {
    data: Vec<AnthropicModel<'a>>,
    has_more: bool,
    first_id: Option<&'a str>,
    last_id: Option<&'a str>,
}

/// The model that a run has, or the usual one of the API.
pub fn usual_model(api: Api) -> &'static str {
    facts(api).model
}

/// Answers who asks for all models, or for one.
pub(crate) fn models(head: &Head, model: &str, wanted: Option<&str>) -> Reaction {
    let text = match (head.api, wanted) {
        (api, Some(wanted)) if wanted != model => return head.error(&ApiError::unknown_model(api, wanted)),
        (Api::Anthropic, Some(_)) => serde_json::to_string(&of_anthropic(model)),
        (Api::Anthropic, None) => serde_json::to_string(&AnthropicModels {
            data: vec![of_anthropic(model)],
            has_more: false,
            first_id: Some(model),
            last_id: Some(model),
        }),
        (Api::Gemini, Some(_)) => serde_json::to_string(&of_google(model)),
        (Api::Gemini, None) => serde_json::to_string(&json!({"models": [of_google(model)]})),
        (_, Some(_)) => serde_json::to_string(&of_open_ai(model)),
        (_, None) => serde_json::to_string(&OpenAiModels { object: "list", data: vec![of_open_ai(model)] }),
    };
    // Texts and numbers are always written.
    Reaction::Answer(head.json(200, text.unwrap_or_default()))
}

fn of_open_ai(id: &str) -> OpenAiModel<'_> {
    OpenAiModel { id, object: "model", created: MADE, owned_by: "threadspec" }
}

fn of_google(id: &str) -> Value {
    let methods = ["generateContent", "countTokens"];
    json!({"name": format!("models/{id}"), "displayName": id, "supportedGenerationMethods": methods})
}

fn of_anthropic(id: &str) -> AnthropicModel<'_> {
    AnthropicModel { kind: "model", id, display_name: id, created_at: rfc3339(MADE) }
}

// A request of HTTP as it arrived.

/// One request, read to its end or to where it could not be read any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Received {
    /// The method, such as `POST`.
    pub method: String,
    /// The target as it was sent: a path, maybe with a query.
    pub target: String,
    /// The names, in lower case, and the values of the header fields, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// The content, with its encodings undone.
    pub body: Result<Vec<u8>, Unreadable>,
}

impl Received {
    /// The value of a header field, if it came once or more: of the first one.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(field, _)| field == name).map(|(_, value)| value.as_str())
    }

    /// Replaces all other keys by one.
    pub(crate) fn set_key(&mut self, key: &str) {
        let keys = ["x-api-key", "x-goog-api-key", "authorization"];
        let is_key = |name: &str| keys.iter().any(|own| name.eq_ignore_ascii_case(own));
        self.headers.retain(|(name, _)| !is_key(name));
        self.headers.push(("x-api-key".to_owned(), key.to_owned()));
    }
}

/// Why the content of a request was not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// The field `host` names neither a literal address nor `localhost`: a page in a browser may have been led here.
    ForeignHost,
    /// It has more bytes than this.
    TooLong(usize),
    /// It is nested deeper than this.
    TooDeep(usize),
    /// It has more values than this.
    TooMany(usize),
    /// It has an encoding that is not undone here.
    Encoding(String),
    /// It is not what its encoding says.
    NotEncoded(String),
    /// There are too many other bodies on their way.
    Crowded,
    /// It stopped coming.
    Stopped,
    /// Its chunks or its length are wrong, or the client left.
    Broken(String),
}

impl Unreadable {
    /// The status that says so.
    pub fn status(&self) -> u16 {
        match self {
            Self::ForeignHost => 403,
            Self::TooLong(_) | Self::TooDeep(_) | Self::TooMany(_) => 413,
            Self::Encoding(_) => 415,
            Self::Stopped => 408,
            Self::Crowded => 503,
            Self::NotEncoded(_) | Self::Broken(_) => 400,
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ForeignHost => f.write_str("the host of the request is neither a literal address nor localhost"),
            Self::TooLong(most) => write!(f, "the request body has more than {most} bytes"),
            Self::TooDeep(most) => write!(f, "the request body is nested more than {most} levels deep"),
            Self::TooMany(most) => write!(f, "the request body has more than {most} values"),
            Self::Encoding(name) => write!(f, "the content-encoding {name:?} is not supported; send identity or gzip"),
            Self::NotEncoded(why) => write!(f, "the request body is not gzip: {why}"),
            Self::Crowded => f.write_str("too many large request bodies at once"),
            Self::Stopped => f.write_str("the rest of the request body did not come"),
            Self::Broken(why) => write!(f, "the request body broke off: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(headers: &[(&str, &str)]) -> Received {
        let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Received { method: "GET".into(), target: "/".into(), headers, body: Ok(Vec::new()) }
    }

    #[test]
    fn keys_stand_in_either_header() {
        for (headers, expected) in [
            (&[("X-API-Key", "a")][..], &["a"][..]),
            (&[("authorization", "Bearer a")], &["a"]),
            (&[("Authorization", "bearer  a "), ("x-api-key", "b")], &["a", "b"]),
            (&[("authorization", "Bearer a"), ("x-api-key", "a")], &["a"]),
            (&[("authorization", "Basic a"), ("x-api-key", "")], &[]),
            (&[("x-goog-api-key", "a")], &["a"]),
        ] {
            assert_eq!(keys(&with(headers)), expected, "{headers:?}");
        }
        let target = "/v1beta/models/m:generateContent?alt=sse&key=a".into();
        assert_eq!(keys(&Received { target, ..with(&[]) }), ["a"]);
    }

    #[test]
    fn nobody_can_read_a_key_back() {
        // printf %s KEY | sha256sum
        assert_eq!(disguised("abc"), "sha256:ba7816bf");
        assert_eq!(without_keys("/v1/messages?beta=true&key=abc"), "/v1/messages?beta=true&key=sha256:ba7816bf");
    }

    #[test]
    fn every_path_of_a_client_is_known() {
        for (target, expected) in [
            ("/v1/chat/completions", Route::Answer(Api::OpenAiChat)),
            ("/chat/completions", Route::Answer(Api::OpenAiChat)),
            ("/v1/v1/responses", Route::Answer(Api::OpenAiResponses)),
            ("//v1//messages/?beta=true", Route::Answer(Api::Anthropic)),
            ("http://127.0.0.1:80/v1/messages", Route::Answer(Api::Anthropic)),
            ("/v1/messages/count_tokens?beta=true", Route::Count(Api::Anthropic)),
            ("/v1/responses/input_tokens", Route::Count(Api::OpenAiResponses)),
            ("/v1/responses/resp_1", Route::Stored("resp_1".into())),
            ("/v1/runs/2", Route::Run(2)),
            ("/v1/runs/x", Route::Nothing),
            ("/models", Route::Models(None)),
            ("/v1/models/meta/llama", Route::Models(Some("meta/llama".into()))),
            ("/", Route::Root),
            ("http://127.0.0.1", Route::Root),
            ("/?x=/v1/messages", Route::Root),
            ("/v1beta/models/gemini-2.5-pro:generateContent", Route::Answer(Api::Gemini)),
            ("/v1beta/models/m:streamGenerateContent?alt=sse", Route::Answer(Api::Gemini)),
            ("/v1/projects/p/locations/l/publishers/google/models/m:generateContent", Route::Answer(Api::Gemini)),
            ("/v1beta/models/m:countTokens", Route::Count(Api::Gemini)),
            ("/v1beta/models", Route::Models(None)),
            ("/v1beta/models/m:embedContent", Route::Models(Some("m:embedContent".into()))),
            ("/v1", Route::Nothing),
            ("/v1/completions", Route::Nothing),
            ("*", Route::Nothing),
        ] {
            assert_eq!(Route::of(target), expected, "{target}");
        }
    }
}
