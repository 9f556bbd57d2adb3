//! Holds a run from both sides of the gateway, to be compared.

use crate::exchange::ClientExchange;
use threadspec::oracle::Api;
use threadspec_provider::{Attempt, RunPlan, WireRecord};

/// A run through a gateway.
///
/// ```
/// use threadspec::oracle::Api;
/// use threadspec_gateway::{GatewayRun, judge};
/// use threadspec_provider::{Engine, EngineOptions, RunPlan};
/// use std::time::Duration;
///
/// let mut engine = Engine::new(EngineOptions::default());
/// engine.begin(Duration::ZERO, "sk-1", RunPlan::of_turns(Api::Anthropic, Vec::new()));
/// let ended = engine.end(Duration::from_secs(1), "sk-1").expect("the run is known");
/// let run = GatewayRun { client: Api::OpenAiChat, plan: &ended.plan, record: &ended.record, exchanges: &[] };
/// assert_eq!(judge(&run), []);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GatewayRun<'a> {
    /// The API that the client speaks.
    pub client: Api,
    /// The plan for the provider.
    pub plan: &'a RunPlan,
    /// The provider's record.
    pub record: &'a WireRecord,
    /// The client's exchanges, in the order in which they began.
    pub exchanges: &'a [ClientExchange],
}

impl<'a> GatewayRun<'a> {
    /// An attempt, by its position in the record.
    pub(crate) fn attempt(&self, position: usize) -> Option<&'a Attempt> {
        self.record.attempts.get(position)
    }

    /// An attempt, if it is the request of an exchange, byte for byte.
    pub(crate) fn as_sent(&self, exchange: usize, position: usize) -> Option<&'a Attempt> {
        let sent = &self.exchanges[exchange].request.body;
        self.attempt(position).filter(|attempt| attempt.api == self.client && attempt.body.as_bytes() == &sent[..])
    }

    /// Returns whether both sides speak the same API.
    pub(crate) fn is_plain_proxy(&self) -> bool {
        self.client == self.record.api
    }
}

/// The attempts at the provider, by the exchange that caused them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GatewayAttempts {
    /// For each exchange the positions of its attempts in the record, in the order in which they came.
    pub of_exchanges: Vec<Vec<usize>>,
    /// The positions of those that came while nobody asked.
    pub unasked: Vec<usize>,
}
