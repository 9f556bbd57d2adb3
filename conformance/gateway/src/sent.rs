//! The request of a client as it is read.

use crate::exchange::ClientExchange;
use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;
use threadspec_provider::Attempt;

/// A request of a client that is a JSON object.
#[derive(Clone, Debug)]
pub(crate) struct SentByClient<'a> {
    /// The body, marked (`threadspec::surrogates`), once somebody asks for it.
    body: OnceCell<Value>,
    text: &'a str,
    /// The content of the request.
    pub(crate) request: Cow<'a, ApiRequest>,
}

impl<'a> SentByClient<'a> {
    /// Reads the request of an exchange; `None` if it is no JSON object.
    pub(crate) fn read(exchange: &'a ClientExchange) -> Option<Self> {
        let text = str::from_utf8(&exchange.request.body).ok()?;
        let body = value::read(text).ok().filter(Value::is_object)?;
        let request = Cow::Owned(ApiRequest::read(exchange.api, &body));
        Some(Self { body: body.into(), text, request })
    }

    /// The request of an exchange that arrived as it was sent, byte for byte: what the provider has read is not read again.
    pub(crate) fn as_arrived(exchange: &'a ClientExchange, attempt: &'a Attempt) -> Option<Self> {
        if attempt.resolved.is_some() {
            return Self::read(exchange);
        }
        Some(Self { body: OnceCell::new(), text: &attempt.body, request: Cow::Borrowed(attempt.request.as_ref()?) })
    }

    /// The body.
    pub(crate) fn body(&self) -> &Value {
        self.body.get_or_init(|| value::read(self.text).unwrap_or_default())
    }
}
