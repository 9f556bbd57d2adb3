//! What there is of a run whose model is asked over the wire.

use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_judge::protocol::{Endpoint, Transport};
use threadspec_provider::client::ClientRequest;

/// What there is of a run where its model is asked over the wire.
#[derive(Debug)]
pub(crate) struct WireRun {
    pub(crate) endpoint: Endpoint,
    /// The calls that were run, by their ids as the model said them.
    pub(crate) executed: Vec<String>,
    /// Which attempt of the current ask is under way, from 0.
    pub(crate) attempt: usize,
    /// Attempts of this run that failed.
    pub(crate) failures: usize,
    /// The bodies that were sent, in order.
    pub(crate) bodies: Vec<Value>,
    /// The ids of the answers, and how long the list was that each answered.
    pub(crate) answers: Vec<(String, usize)>,
    /// The last attempt as it was sent.
    pub(crate) last: ClientRequest,
}

impl Default for WireRun {
    /// Of a run whose model is asked nowhere.
    fn default() -> Self {
        let endpoint = Endpoint {
            transport: Transport { api: Api::OpenAiChat, stream: false },
            base_url: String::new(),
            api_key: String::new(),
            model: String::new(),
            reasoning: false,
        };
        Self {
            endpoint,
            executed: Vec::new(),
            attempt: 0,
            failures: 0,
            bodies: Vec::new(),
            answers: Vec::new(),
            last: ClientRequest::default(),
        }
    }
}
