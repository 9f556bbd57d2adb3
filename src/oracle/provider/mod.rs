//! Checks the history of an agent that calls tools by the rules of each model API, and finds the breaches in a request.

mod anthropic;
mod bedrock;
mod breach;
mod gemini;
mod openai_chat;
mod openai_responses;
mod openai_tools;
mod sent_thinking;

pub use breach::{Breach, BreachDetail, place_and_fault};
pub use sent_thinking::SentThinking;

use crate::surrogates::{mark_surrogates, repair_surrogates};
use crate::{Error, MemberLookup};
use breach::Breaches;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

/// Names one thing that an API demands. `golden/provider-rules.json` in the repository has its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProviderRule {
    /// A name that never changes.
    pub id: &'static str,
    /// Whose rule it is.
    pub api: RequestForm,
}

/// Every rule that is judged.
pub fn provider_rules() -> impl Iterator<Item = ProviderRule> {
    RequestForm::ALL.into_iter().flat_map(|api| {
        let rules = match api {
            RequestForm::Api(Api::OpenAiChat) => openai_chat::RULES,
            RequestForm::Api(Api::OpenAiResponses) => openai_responses::RULES,
            RequestForm::Api(Api::Anthropic) => anthropic::RULES,
            RequestForm::Api(Api::Gemini) => gemini::RULES,
            RequestForm::BedrockConverse => bedrock::RULES,
        };
        rules.iter().map(move |&id| ProviderRule { id, api })
    })
}

/// The rules that the body of a request breaks, in the order of the body; none if the API accepts it.
///
/// It takes the JSON text, since a parsed value shows no lone surrogate.
///
/// ```
/// use threadspec::oracle::{Api, provider_breaches};
/// let body = r#"{"messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes? "}]}"#;
/// assert_eq!(provider_breaches(Api::OpenAiChat, body)?, []);
/// let breaches = provider_breaches(Api::Anthropic, body)?;
/// assert_eq!((breaches[0].rule, &*breaches[0].place), ("ANT-TRAILING", "messages[1].content"));
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) if the text is not a JSON object.
pub fn provider_breaches(api: impl Into<RequestForm>, body: &str) -> Result<Vec<Breach>, Error> {
    let body: Map<String, Value> = serde_json::from_str(&mark_surrogates(body))
        // For the place of the error: a mark is shorter than the escape that it represents.
        .or_else(|_| serde_json::from_str(&repair_surrogates(body)))
        .map_err(|error| Error::input(format!("the body of a request is a JSON object: {error}")))?;
    Ok(provider_breaches_in(api, &Value::Object(body)))
}

/// As [`provider_breaches`], of a body that was read with [`read_json`](crate::read_json).
pub fn provider_breaches_in(api: impl Into<RequestForm>, body: &Value) -> Vec<Breach> {
    provider_breaches_with(api, &RequestContext::default(), body)
}

/// As [`provider_breaches_in`], of a request whose headers and history are known, too.
pub fn provider_breaches_with(api: impl Into<RequestForm>, context: &RequestContext<'_>, body: &Value) -> Vec<Breach> {
    let mut breaches = Breaches::default();
    match api.into() {
        RequestForm::Api(Api::OpenAiChat) => openai_chat::judge(body, &mut breaches),
        RequestForm::Api(Api::OpenAiResponses) => openai_responses::judge(body, context, &mut breaches),
        RequestForm::Api(Api::Anthropic) => anthropic::judge(body, context, &mut breaches),
        RequestForm::Api(Api::Gemini) => gemini::judge(body, &mut breaches),
        RequestForm::BedrockConverse => bedrock::judge(body, &mut breaches),
    }
    breaches.0
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.member(name).as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.member(name).as_str().unwrap_or_default()
}

/// Letters, digits, `_` and `-`, at least one.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

/// The fault of a text that says nothing.
const BLANK: &str = "is empty or only white space";

/// The fault of a text that has other characters than those of [`is_plain`].
fn not_plain(text: &str) -> String {
    format!("has characters besides letters, digits, `_` and `-`: {text:?}")
}

/// The fault of a name that is not [`is_plain`], or too long.
fn not_a_name(name: &str, max: usize) -> String {
    format!("is not made of 1 to {max} letters, digits, `_` and `-`: {name:?}")
}

/// The fault of a role or a type that an API does not have.
fn unknown(name: &str) -> String {
    format!("is {name:?}, which this API does not have")
}

/// The name of a model, without what a gateway, a path or a fine tuning puts before it.
fn model(body: &Value) -> &str {
    let name = text(body, "model");
    let name = name.rsplit('/').next().unwrap_or(name);
    name.strip_prefix("ft:").unwrap_or(name)
}

/// Returns whether a member is there and not null.
fn has(value: &Value, name: &str) -> bool {
    !value.member(name).is_null()
}

/// The calls of a group that are waiting for their answers.
#[derive(Default)]
struct Open<'a> {
    ids: Vec<&'a str>,
    /// For each id the position of the message with its first answer.
    answers: HashMap<&'a str, Option<usize>>,
    /// The position of the last message that has such calls.
    at: usize,
}

/// The kind of an answer among the calls that are open.
enum GroupAnswers {
    Unknown,
    First,
    /// The message at this position answered the call already.
    Again(usize),
}

impl<'a> Open<'a> {
    /// Adds a call; whether no other call of the group has its id.
    fn call(&mut self, id: &'a str, position: usize) -> bool {
        self.ids.push(id);
        self.at = position;
        self.answers.insert(id, None).is_none()
    }

    fn answer(&mut self, id: &str, position: usize) -> GroupAnswers {
        match self.answers.get_mut(id) {
            None => GroupAnswers::Unknown,
            Some(Some(first)) => GroupAnswers::Again(*first),
            Some(answer) => {
                *answer = Some(position);
                GroupAnswers::First
            }
        }
    }

    /// Takes back a call that was reported.
    fn forget(&mut self, id: &str) {
        self.answers.remove(id);
    }

    /// Those without an answer, for a report.
    fn unanswered(&self) -> Vec<&'a str> {
        self.ids.iter().copied().filter(|id| self.answers.get(id) == Some(&None)).collect()
    }
}

// Holds everything that comes with the body of a request, as far as it is known.

/// The context of a request: what came beside its body, and before it. Whatever is not known is not judged.
///
/// ```
/// use threadspec::oracle::{Api, RequestContext, RequestHeaders, provider_breaches_with};
/// use threadspec::read_json;
/// let body = read_json(r#"{"temperature": 1, "messages": [{"role": "user", "content": "Hi"}]}"#)?;
/// let headers = RequestHeaders { anthropic_version: Some("2026-10-21"), anthropic_beta: "" };
/// let context = RequestContext { headers: Some(headers), ..RequestContext::default() };
/// assert_eq!(provider_breaches_with(Api::Anthropic, &context, &body)[0].rule, "ANT-SAMPLING");
/// assert_eq!(provider_breaches_with(Api::Anthropic, &RequestContext::default(), &body), []);
/// # Ok::<(), threadspec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct RequestContext<'a> {
    /// The headers that the rules speak of.
    pub headers: Option<RequestHeaders<'a>>,
    /// The items that the server stored and the request names (`previous_response_id`, `conversation`).
    pub stored: StoredItems<'a>,
    /// The thinking blocks of each answer that the server gave before, oldest first; an answer without any has an empty list.
    pub thinking: Option<&'a [Vec<Value>]>,
}

/// The headers of a request that rules speak of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestHeaders<'a> {
    /// `anthropic-version`.
    pub anthropic_version: Option<&'a str>,
    /// `anthropic-beta`: names with commas between them, empty without the header.
    pub anthropic_beta: &'a str,
}

impl RequestHeaders<'_> {
    /// Returns whether the request asks for a beta.
    ///
    /// ```
    /// use threadspec::oracle::RequestHeaders;
    /// let headers = RequestHeaders { anthropic_beta: "a-2025-01-01, b-2026-01-01", ..RequestHeaders::default() };
    /// assert!(headers.has_beta("b-2026-01-01") && !headers.has_beta("b"));
    /// ```
    pub fn has_beta(&self, name: &str) -> bool {
        self.anthropic_beta.split(',').any(|beta| beta.trim() == name)
    }

    /// Returns whether the version is this one or a later one. Versions are dates, which have the order of their texts.
    fn is_since(&self, version: &str) -> bool {
        self.anthropic_version.is_some_and(|sent| sent >= version)
    }
}

/// The items that a server stored and a request goes on from.
#[derive(Clone, Copy, Debug, Default)]
pub enum StoredItems<'a> {
    /// It is not known what is stored.
    #[default]
    Unknown,
    /// Nothing is stored under the name that the request has, if it has one.
    Missing,
    /// These items, which are before the input.
    Items(&'a [Value]),
}

impl<'a> StoredItems<'a> {
    /// The items that are known to be before the input.
    fn items(self) -> &'a [Value] {
        match self {
            Self::Items(items) => items,
            Self::Unknown | Self::Missing => &[],
        }
    }
}

// The forms of requests whose rules are known.

/// A form in which requests reach a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's chat completions, and the servers that offer the same.
    OpenAiChat,
    /// OpenAI's Responses, with the whole history in `input`.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
    /// Gemini's `generateContent`.
    Gemini,
}

impl Api {
    /// Every form.
    pub const ALL: [Self; 4] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini];
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        })
    }
}

impl FromStr for Api {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|api| api.to_string() == name);
        known.ok_or_else(|| {
            let names = Self::ALL.map(|api| api.to_string()).join(", ");
            Error::input(format!("API {name:?}: expected {names}"))
        })
    }
}

/// A form of requests that is judged: those of the [`Api`]s, which this project also writes and serves, and one that it only judges.
///
/// ```
/// use threadspec::oracle::{Api, RequestForm, provider_breaches};
/// assert_eq!("bedrock-converse".parse(), Ok(RequestForm::BedrockConverse));
/// assert_eq!(RequestForm::from(Api::Anthropic).to_string(), "anthropic");
/// let body = r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "t"}}]}]}"#;
/// assert_eq!(provider_breaches(Api::Gemini, body)?[0].rule, "GEM-CALL-TURN");
/// # Ok::<(), threadspec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestForm {
    /// A request to one of these.
    Api(Api),
    /// `Converse` of Amazon Bedrock.
    BedrockConverse,
}

impl RequestForm {
    /// Every form.
    pub const ALL: [Self; 5] = [
        Self::Api(Api::OpenAiChat),
        Self::Api(Api::OpenAiResponses),
        Self::Api(Api::Anthropic),
        Self::Api(Api::Gemini),
        Self::BedrockConverse,
    ];
}

impl From<Api> for RequestForm {
    fn from(api: Api) -> Self {
        Self::Api(api)
    }
}

impl fmt::Display for RequestForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Api(api) => api.fmt(f),
            Self::BedrockConverse => f.pad("bedrock-converse"),
        }
    }
}

impl FromStr for RequestForm {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|form| form.to_string() == name);
        known.ok_or_else(|| {
            let names: Vec<String> = Self::ALL.iter().map(Self::to_string).collect();
            Error::input(format!("API {name:?}: expected one of {}", names.join(", ")))
        })
    }
}
