//! Our client's way to a gateway, on which everything is kept.

use super::gateway::Gateway;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use threadspec::oracle::Api;
use threadspec_gateway::{ClientExchange, ExchangeRecorder};
use threadspec_provider::client::{ClientRequest, ClientResponse, Connection, Exchange};
use threadspec_runner::interrupt;

/// How often a pause is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How a gateway is reached.
#[derive(Clone, Debug)]
pub(super) struct Route {
    url: String,
    /// One that is never opened.
    connection: Arc<Connection>,
    /// The headers that it wants, beside those of the API.
    headers: Arc<[(String, String)]>,
}

impl Route {
    /// The way to a URL without `/v1`; `None` if it is not one of plain HTTP.
    pub(super) fn new(url: &str, headers: Arc<[(String, String)]>) -> Option<Self> {
        Some(Self { url: url.to_owned(), connection: Arc::new(Connection::to(url)?), headers })
    }

    pub(super) fn authority(&self) -> &str {
        self.connection.authority()
    }

    /// What the SDK of an API takes.
    pub(super) fn base_url(&self, api: Api) -> String {
        format!("{}{}", self.url, if api == Api::Anthropic { "" } else { "/v1" })
    }
}

/// Sends requests to a gateway, and keeps them with what came back.
pub(super) struct RecordingExchange<'a> {
    route: &'a Route,
    recorder: ExchangeRecorder<Connection, Box<dyn Fn() -> Duration + 'a>>,
    /// When the client has waited long enough.
    until: Instant,
}

impl<'a> RecordingExchange<'a> {
    pub(super) fn new(gateway: &'a Gateway, route: &'a Route, until: Instant) -> Self {
        let connection = route.connection.another().giving_up(move || Instant::now() > until || interrupt::requested());
        let clock: Box<dyn Fn() -> Duration + 'a> = Box::new(|| gateway.server.now());
        Self { route, recorder: ExchangeRecorder::new(gateway.client, connection, clock), until }
    }

    /// What was sent and heard.
    pub(super) fn into_exchanges(self) -> Vec<ClientExchange> {
        self.recorder.into_exchanges()
    }
}

impl Exchange for RecordingExchange<'_> {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        if Instant::now() > self.until || interrupt::requested() {
            return None;
        }
        let mut request = request.clone();
        request.headers.extend(self.route.headers.iter().cloned());
        self.recorder.exchange(&request)
    }

    fn wait(&mut self, time: Duration) {
        let until = (Instant::now() + time).min(self.until);
        while Instant::now() < until && !interrupt::requested() {
            thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
    }
}
