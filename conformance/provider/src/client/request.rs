//! A request as the official SDK of its API sends it.

use super::body::{ClientAsk, body};
use super::{ClientRequest, Connection};
use threadspec::oracle::Api;
use threadspec_apis::json_text;
use threadspec_judge::protocol::Endpoint;

impl ClientRequest {
    /// The request for an answer.
    pub fn of(endpoint: &Endpoint, ask: &ClientAsk) -> Self {
        Self {
            method: "POST".into(),
            target: target(endpoint),
            headers: headers(endpoint),
            body: json_text(&body(endpoint, ask), false).into_bytes(),
        }
    }
}

/// The path to which the API's SDK posts its requests.
fn target(endpoint: &Endpoint) -> String {
    let end = match endpoint.transport.api {
        Api::OpenAiChat => "/chat/completions",
        Api::OpenAiResponses => "/responses",
        Api::Anthropic => "/v1/messages",
    };
    format!("{}{end}", Connection::path_of(&endpoint.base_url))
}

/// The headers that the API's SDK for Python sends, but for what it says of the machine, and for encodings that are not undone here.
pub(super) fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let is_anthropic = endpoint.transport.api == Api::Anthropic;
    let (agent, version) = if is_anthropic { ("Anthropic/Python", "2.14.0") } else { ("OpenAI/Python", "3.57.0") };
    let mut headers = vec![
        ("authorization", format!("Bearer {}", endpoint.api_key)),
        ("accept", "application/json".to_owned()),
        ("content-type", "application/json".to_owned()),
        ("user-agent", format!("{agent} {version}")),
        ("x-stainless-lang", "python".to_owned()),
        ("x-stainless-package-version", version.to_owned()),
        ("x-stainless-retry-count", "0".to_owned()),
    ];
    if is_anthropic {
        headers.push(("anthropic-version", "2026-10-21".to_owned()));
    }
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
