//! A client's exchanges, kept.

use crate::exchange::ClientExchange;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};

/// Carries requests like another exchange, and keeps them with what came back. Its clock is that of the provider, so that attempts are
/// found by when they came.
///
/// ```
/// use std::time::Duration;
/// use threadspec::oracle::Api;
/// use threadspec_gateway::ExchangeRecorder;
/// use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};
///
/// struct Nobody;
/// impl Exchange for Nobody {
///     fn exchange(&mut self, _: &ClientRequest) -> Option<ClientResponse> {
///         None
///     }
///     fn wait(&mut self, _: Duration) {}
/// }
/// let mut recorder = ExchangeRecorder::new(Api::Anthropic, Nobody, || Duration::ZERO);
/// assert_eq!(recorder.exchange(&ClientRequest::default()), None);
/// assert_eq!(recorder.into_exchanges().len(), 1);
/// ```
#[derive(Debug)]
pub struct ExchangeRecorder<E, C> {
    api: Api,
    inner: E,
    clock: C,
    exchanges: Vec<ClientExchange>,
}

impl<E, C> ExchangeRecorder<E, C> {
    /// A recorder of what a client of this API sends.
    pub fn new(api: Api, inner: E, clock: C) -> Self {
        Self { api, inner, clock, exchanges: Vec::new() }
    }

    /// Returns the recorded exchanges.
    pub fn into_exchanges(self) -> Vec<ClientExchange> {
        self.exchanges
    }
}

impl<E: Exchange, C: Fn() -> Duration> Exchange for ExchangeRecorder<E, C> {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        let began = (self.clock)();
        let response = self.inner.exchange(request);
        let (request, ended) = (request.clone(), (self.clock)());
        self.exchanges.push(ClientExchange { api: self.api, began, ended, request, response: response.clone() });
        response
    }

    fn wait(&mut self, time: Duration) {
        self.inner.wait(time);
    }
}
