//! Our client's way to a gateway, on which everything is kept.

use super::gateway::Gateway;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use threadspec::oracle::Api;
use threadspec_gateway::ClientExchange;
use threadspec_provider::client::{ClientRequest, ClientResponse, Connection, Exchange};
use threadspec_runner::interrupt;

/// How often a pause is looked at.
const TICK: Duration = Duration::from_millis(50);

/// How a gateway is reached.
#[derive(Clone, Debug)]
pub(super) struct Route {
    url: String,
    authority: String,
    /// The headers that it wants, beside those of the API.
    headers: Arc<[(String, String)]>,
}

impl Route {
    /// The way to a URL without `/v1`; `None` if it is not one of plain HTTP.
    pub(super) fn new(url: &str, headers: Arc<[(String, String)]>) -> Option<Self> {
        Connection::to(url)?;
        let authority = url.strip_prefix("http://")?.split('/').next()?;
        let authority = if authority.contains(':') { authority.to_owned() } else { format!("{authority}:80") };
        Some(Self { url: url.to_owned(), authority, headers })
    }

    pub(super) fn authority(&self) -> &str {
        &self.authority
    }

    /// What the SDK of an API takes.
    pub(super) fn base_url(&self, api: Api) -> String {
        format!("{}{}", self.url, if api == Api::Anthropic { "" } else { "/v1" })
    }
}

/// Sends requests to a gateway, and keeps them with what came back.
pub(super) struct RecordingExchange<'a> {
    gateway: &'a Gateway,
    route: &'a Route,
    connection: Option<Connection>,
    /// When the client has waited long enough.
    until: Instant,
    exchanges: Vec<ClientExchange>,
}

impl<'a> RecordingExchange<'a> {
    pub(super) fn new(gateway: &'a Gateway, route: &'a Route, until: Instant) -> Self {
        let gives_up = move || Instant::now() > until || interrupt::requested();
        let connection = Connection::to(&route.url).map(|connection| connection.giving_up(gives_up));
        Self { gateway, route, connection, until, exchanges: Vec::new() }
    }

    /// What was sent and heard.
    pub(super) fn into_exchanges(self) -> Vec<ClientExchange> {
        self.exchanges
    }

    fn is_over(&self) -> bool {
        Instant::now() > self.until || interrupt::requested()
    }
}

impl Exchange for RecordingExchange<'_> {
    fn exchange(&mut self, request: &ClientRequest) -> Option<ClientResponse> {
        if self.is_over() {
            return None;
        }
        let mut request = request.clone();
        request.headers.extend(self.route.headers.iter().cloned());
        let began = self.gateway.server.now();
        let response = self.connection.as_mut().and_then(|connection| connection.exchange(&request));
        let ended = self.gateway.server.now();
        self.exchanges.push(ClientExchange {
            api: self.gateway.client,
            began,
            ended,
            request,
            response: response.clone(),
        });
        response
    }

    fn wait(&mut self, time: Duration) {
        let until = (Instant::now() + time).min(self.until);
        while Instant::now() < until && !interrupt::requested() {
            thread::sleep(TICK.min(until.saturating_duration_since(Instant::now())));
        }
    }
}
