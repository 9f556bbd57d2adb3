//! Holds a run from both sides of the gateway: records it, reads and pairs it.

use serde_json::Value;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;
use threadspec_provider::client::{ClientRequest, ClientResponse, Exchange};
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

// Records the requests of a client to a gateway, and the answers.

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

// A client's exchanges, kept.

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

// The request of a client as it is read.

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

// Pairs the attempts at the provider with the exchanges that caused them.

/// The most that the clocks of both sides may differ.
const TOLERANCE: Duration = Duration::from_millis(5);

impl GatewayRun<'_> {
    /// The attempts that came because of each exchange, by their positions in the record, and those that came because of none.
    ///
    /// An attempt belongs to the exchange during which it came. If there were several, it is the one whose request it is most like, and of
    /// those alike the first that has none yet.
    pub fn attempts(&self) -> GatewayAttempts {
        pair(self)
    }
}

fn pair(run: &GatewayRun<'_>) -> GatewayAttempts {
    let mut pairs = GatewayAttempts { of_exchanges: vec![Vec::new(); run.exchanges.len()], unasked: Vec::new() };
    for (position, attempt) in run.record.attempts.iter().enumerate() {
        let within = |tolerance| -> Vec<usize> {
            (0..run.exchanges.len()).filter(|&one| is_during(&run.exchanges[one], attempt, tolerance)).collect()
        };
        // The next request may follow within the tolerance, and what a gateway made of it be more like the one before.
        let exactly = within(Duration::ZERO);
        let during = if exactly.is_empty() { within(TOLERANCE) } else { exactly };
        let found = match during[..] {
            [] => None,
            [only] => Some(only),
            _ => during.iter().copied().max_by_key(|&exchange| {
                let is_free = pairs.of_exchanges[exchange].is_empty();
                (likeness(&run.exchanges[exchange], attempt), is_free, std::cmp::Reverse(exchange))
            }),
        };
        match found {
            Some(exchange) => pairs.of_exchanges[exchange].push(position),
            None => pairs.unasked.push(position),
        }
    }
    pairs
}

fn is_during(exchange: &ClientExchange, attempt: &Attempt, tolerance: Duration) -> bool {
    exchange.began <= attempt.at + tolerance && attempt.at <= exchange.ended + tolerance
}

/// How many of the texts of an attempt are in a request.
fn likeness(exchange: &ClientExchange, attempt: &Attempt) -> usize {
    let (Some(sent), Some(arrived)) = (SentByClient::read(exchange), &attempt.request) else { return 0 };
    let texts = |request: &ApiRequest| -> Vec<String> {
        request.messages.iter().map(|message| message.content.trim().to_owned()).collect()
    };
    let known = texts(&sent.request);
    let same = texts(arrived).iter().filter(|text| known.contains(text)).count();
    // Of two requests of which one goes on from the other, the one that is as long.
    2 * same + usize::from(known.len() == arrived.messages.len())
}
