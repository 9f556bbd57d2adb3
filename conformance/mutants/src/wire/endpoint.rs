//! How an endpoint is asked: paths and headers as the official SDKs send them.

use threadspec::oracle::Api;
use threadspec_judge::protocol::Endpoint;
use threadspec_provider::client::Connection;

/// The path to which the API's SDK posts its requests.
pub(super) fn target(endpoint: &Endpoint) -> String {
    let end = match endpoint.transport.api {
        Api::OpenAiChat => "/chat/completions",
        Api::OpenAiResponses => "/responses",
        Api::Anthropic | Api::Gemini => "/v1/messages",
    };
    format!("{}{end}", Connection::path_of(&endpoint.base_url))
}

/// The headers that the API's SDK sends.
pub(super) fn headers(endpoint: &Endpoint) -> Vec<(String, String)> {
    let mut headers = vec![
        ("content-type", "application/json".to_owned()),
        ("accept", if endpoint.transport.stream { "text/event-stream" } else { "application/json" }.to_owned()),
        ("authorization", format!("Bearer {}", endpoint.api_key)),
    ];
    if endpoint.transport.api == Api::Anthropic {
        headers.push(("anthropic-version", "2026-10-21".to_owned()));
    }
    headers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
