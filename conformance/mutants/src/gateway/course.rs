//! The gateway with its seams, and what it knows of one exchange.

use super::said::AnswerNews;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, ApiRequest, ModelAnswer};
use threadspec_provider::client::ClientRequest;

/// A seam: something that a sound gateway does not change.
pub(crate) type Seam<T> = Option<Arc<dyn Fn(&mut ExchangeCourse, &mut T) + Send + Sync>>;

/// A gateway between two APIs; with the same one on both sides it passes bytes.
#[derive(Clone)]
pub(crate) struct TestGateway {
    /// What the client speaks.
    pub(crate) client: Api,
    /// What the upstream speaks.
    pub(crate) upstream: Api,
    /// The key for the upstream, in the place of the client's.
    pub(crate) key: Option<String>,
    /// The model that the upstream is asked for, in the place of the client's.
    pub(crate) model: Option<String>,
    pub(crate) seams: Seams,
    /// How many requests came.
    pub(crate) asks: usize,
    /// What the last request said about its run, and how many runs there were.
    pub(crate) run: (String, usize),
    /// How many requests came in this run.
    pub(crate) asks_of_run: usize,
    /// What a bug keeps from request to request.
    pub(crate) kept: HashMap<&'static str, Value>,
}

/// Where something can be planted.
#[derive(Clone, Default)]
pub(crate) struct Seams {
    /// The client's request as it came.
    pub(crate) asked: Seam<ClientRequest>,
    /// What it says, before it is written for the other API.
    pub(crate) request: Seam<ApiRequest>,
    /// The body for the upstream.
    pub(crate) body: Seam<Value>,
    /// The request for the upstream.
    pub(crate) sent: Seam<ClientRequest>,
    /// The requests that go upstream, of which the first one is answered.
    pub(crate) beside: Seam<Vec<ClientRequest>>,
    /// Whether a request whose answer failed is sent again, and how.
    pub(crate) again: Seam<TriedRequest>,
    /// An answer of the gateway's own in the place of a request: a status and a message.
    pub(crate) refusal: Seam<Option<ApiError>>,
    /// The head of the upstream's answer.
    pub(crate) head: Seam<AnswerHead>,
    /// A piece of its body.
    pub(crate) piece: Seam<Vec<u8>>,
    /// Whether it came whole.
    pub(crate) whole: Seam<bool>,
    /// What a plain answer says, before it is written for the client.
    pub(crate) said: Seam<ModelAnswer>,
    /// What is new in a stream, before it is written for the client.
    pub(crate) news: Seam<Vec<AnswerNews>>,
    /// The body of a plain answer, or of an error.
    pub(crate) plain: Seam<Value>,
    /// Events for the client that become known together.
    pub(crate) events: Seam<Vec<ClientEvent>>,
    /// An error of the upstream, or of its answer.
    pub(crate) error: Seam<ApiError>,
    /// The head for the client.
    pub(crate) answered: Seam<AnswerHead>,
    /// Whether an answer that broke off, held an error, or holds an event that cannot be read, is taken for a whole one.
    pub(crate) takes_cuts: Seam<bool>,
    pub(crate) takes_errors: Seam<bool>,
    pub(crate) takes_garbage: Seam<bool>,
    /// The bytes for the client.
    pub(crate) written: Seam<Vec<u8>>,
    /// Whether the client's answer ends as HTTP wants it.
    pub(crate) ended: Seam<bool>,
}

/// A request for the upstream whose answer failed.
#[derive(Clone, Debug)]
pub(crate) struct TriedRequest {
    /// How often it was sent.
    pub(crate) tries: usize,
    pub(crate) status: u16,
    /// Whether the answer had begun, and broke off.
    pub(crate) has_begun: bool,
    /// How long the upstream wants to be left alone.
    pub(crate) wanted: Option<Duration>,
    pub(crate) request: ClientRequest,
    /// The pause after which it is sent again; `None` if it is not.
    pub(crate) pause: Option<Duration>,
}

/// The head of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct AnswerHead {
    pub(crate) status: u16,
    /// Names in lower case.
    pub(crate) headers: Vec<(String, String)>,
}

impl AnswerHead {
    pub(crate) fn new(status: u16, content_type: &str) -> Self {
        Self { status, headers: vec![("content-type".to_owned(), content_type.to_owned())] }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| &**value)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.header("content-type").is_some_and(|kind| kind.starts_with("text/event-stream"))
    }
}

/// An event of the client's stream.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClientEvent {
    pub(crate) name: Option<String>,
    /// A text is data that is no JSON.
    pub(crate) data: Value,
}

impl ClientEvent {
    pub(crate) fn new(name: Option<&str>, data: Value) -> Self {
        Self { name: name.map(str::to_owned), data }
    }
}

/// What the gateway knows of one exchange, and a bug looks at.
#[derive(Clone, Debug)]
pub(crate) struct ExchangeCourse {
    pub(crate) client: Api,
    pub(crate) upstream: Api,
    /// Whether the client asked for a stream.
    pub(crate) stream: bool,
    /// The number of the request, of all and of those of its run; the number of the run. Counted from 1.
    pub(crate) ask: usize,
    pub(crate) ask_of_run: usize,
    pub(crate) run: usize,
    /// What the client asked.
    pub(crate) asked: Value,
    /// What was kept from the requests before, and is kept for the next one.
    pub(crate) kept: HashMap<&'static str, Value>,
}

impl TestGateway {
    /// A sound gateway.
    pub(crate) fn new(client: Api, upstream: Api) -> Self {
        Self {
            client,
            upstream,
            key: None,
            model: None,
            seams: Seams::default(),
            asks: 0,
            run: (String::new(), 0),
            asks_of_run: 0,
            kept: HashMap::new(),
        }
    }

    /// Returns whether it passes bytes.
    pub(crate) fn is_plain_proxy(&self) -> bool {
        self.client == self.upstream
    }
}

/// Changes something, if anything is planted there.
#[allow(clippy::ref_option, reason = "a seam is such an option")]
pub(crate) fn apply<T>(seam: &Seam<T>, course: &mut ExchangeCourse, value: &mut T) {
    if let Some(change) = seam {
        change(course, value);
    }
}
