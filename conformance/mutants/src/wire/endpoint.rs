//! Where a run asks its model.

use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_judge::json::text;
use threadspec_provider::client::Connection;

/// What member `endpoint` of a request says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint {
    pub(crate) api: Api,
    pub(crate) base_url: String,
    pub(crate) key: String,
    pub(crate) model: String,
    pub(crate) stream: bool,
    pub(crate) reasoning: bool,
}

impl Default for Endpoint {
    fn default() -> Self {
        Self {
            api: Api::OpenAiChat,
            base_url: String::new(),
            key: String::new(),
            model: String::new(),
            stream: false,
            reasoning: false,
        }
    }
}

impl Endpoint {
    /// Reads it; `None` if it is for an API that the agent does not know.
    pub(crate) fn read(endpoint: &Value) -> Option<Self> {
        let api = Api::ALL.into_iter().find(|api| api.to_string() == text(&endpoint["api"]))?;
        Some(Self {
            api,
            base_url: text(&endpoint["baseUrl"]).to_owned(),
            key: text(&endpoint["apiKey"]).to_owned(),
            model: text(&endpoint["model"]).to_owned(),
            stream: endpoint["stream"] == true,
            reasoning: endpoint["reasoning"] == true,
        })
    }

    /// The path to which the API's SDK posts its requests.
    pub(crate) fn target(&self) -> String {
        let end = match self.api {
            Api::OpenAiChat => "/chat/completions",
            Api::OpenAiResponses => "/responses",
            Api::Anthropic => "/v1/messages",
        };
        format!("{}{end}", Connection::path_of(&self.base_url))
    }

    /// The headers that the API's SDK sends.
    pub(crate) fn headers(&self) -> Vec<(String, String)> {
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("accept", if self.stream { "text/event-stream" } else { "application/json" }.to_owned()),
            ("authorization", format!("Bearer {}", self.key)),
        ];
        if self.api == Api::Anthropic {
            headers.push(("anthropic-version", "2026-10-21".to_owned()));
        }
        headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}
