//! Records the requests of a client to a gateway, and the answers.

use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_provider::client::{ClientRequest, ClientResponse};

/// One request of a client, and what came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientExchange {
    /// The API that the client speaks.
    pub api: Api,
    /// When it was sent, on the provider's clock.
    pub began: Duration,
    /// When what came back was over, on the same clock.
    pub ended: Duration,
    /// The request as it was sent.
    pub request: ClientRequest,
    /// The answer; `None` if none came, or none that is HTTP.
    pub response: Option<ClientResponse>,
}
