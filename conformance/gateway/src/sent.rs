//! The request of a client as it is read.

use crate::exchange::ClientExchange;
use serde_json::Value;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;

/// A request of a client that is a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct SentByClient {
    /// The body, marked (`threadspec::surrogates`).
    pub(crate) body: Value,
    /// What it says.
    pub(crate) request: ApiRequest,
}

impl SentByClient {
    /// Reads the request of an exchange; `None` if it is no JSON object.
    pub(crate) fn read(exchange: &ClientExchange) -> Option<Self> {
        let body = value::read(str::from_utf8(&exchange.request.body).ok()?).ok().filter(Value::is_object)?;
        let request = ApiRequest::read(exchange.api, &body);
        Some(Self { body, request })
    }
}
