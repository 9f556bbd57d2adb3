//! The forms of requests whose rules are known.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// A form in which requests reach a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Api {
    /// OpenAI's chat completions, and the servers that offer the same.
    OpenAiChat,
    /// OpenAI's Responses, with the whole history in `input`.
    OpenAiResponses,
    /// Anthropic's messages.
    Anthropic,
}

impl Api {
    /// Every form.
    pub const ALL: [Self; 3] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic];
}

impl fmt::Display for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
        })
    }
}

impl FromStr for Api {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|api| api.to_string() == name);
        known.ok_or_else(|| Error::input(format!("API {name:?}: expected openai-chat, openai-responses or anthropic")))
    }
}

/// A form of requests that is judged: those of the [`Api`]s, which this project also writes and serves, and two that it only judges.
///
/// ```
/// use threadspec::oracle::{Api, RequestForm, provider_breaches};
/// assert_eq!("bedrock-converse".parse(), Ok(RequestForm::BedrockConverse));
/// assert_eq!(RequestForm::from(Api::Anthropic).to_string(), "anthropic");
/// let body = r#"{"contents": [{"role": "model", "parts": [{"functionCall": {"name": "t"}}]}]}"#;
/// assert_eq!(provider_breaches(RequestForm::Gemini, body)?[0].rule, "GEM-CALL-TURN");
/// # Ok::<(), threadspec::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RequestForm {
    /// A request to one of these.
    Api(Api),
    /// Gemini's `generateContent`.
    Gemini,
    /// `Converse` of Amazon Bedrock.
    BedrockConverse,
}

impl RequestForm {
    /// Every form.
    pub const ALL: [Self; 5] = [
        Self::Api(Api::OpenAiChat),
        Self::Api(Api::OpenAiResponses),
        Self::Api(Api::Anthropic),
        Self::Gemini,
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
            Self::Gemini => f.pad("gemini"),
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
