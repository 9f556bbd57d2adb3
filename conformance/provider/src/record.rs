//! Defines the record of a run: plain data, which is judged afterwards, written to a transcript and read from it.
//!
//! Nothing in it is a key, but hashes of keys (`sha256:` and 8 digits).

use crate::script::Fault;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;

/// Everything that came from an agent in one run, and what it was answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WireRecord {
    /// The API of the run.
    #[serde(with = "api_name")]
    pub api: Api,
    /// The hash of the run's key.
    pub key: String,
    /// When the run began.
    #[serde(with = "microseconds")]
    pub began: Duration,
    /// When its agent had replied.
    #[serde(with = "microseconds")]
    pub ended: Duration,
    /// The requests for answers that carried the run's key, in the order in which they came.
    pub attempts: Vec<Attempt>,
    /// Further attempts that should not have come.
    pub strays: Vec<Stray>,
    /// For a session: the ask with which each run began.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<usize>,
}

/// One request for an answer of the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "StoredAttempt")]
pub struct Attempt {
    /// When it came.
    #[serde(with = "microseconds")]
    pub at: Duration,
    /// When its answer was over; `None` while it is not.
    #[serde(with = "maybe_microseconds")]
    pub ended: Option<Duration>,
    /// The API of its path.
    #[serde(with = "api_name")]
    pub api: Api,
    /// Its target, without keys.
    pub target: String,
    /// The value of its header `anthropic-beta`.
    #[serde(default)]
    pub beta: String,
    /// The ask that it belongs to, counted from 0.
    pub ask: usize,
    /// The body as it came; bytes that are no UTF-8 are U+FFFD.
    pub body: String,
    /// The body with what it refers to in its place, as JSON text, if it refers to something that the provider keeps.
    pub resolved: Option<String>,
    /// The content of the body, with everything it refers to; `None` if it is no JSON object.
    #[serde(skip)]
    pub request: Option<ApiRequest>,
    /// The rules of the API that it breaks.
    pub breaches: Vec<JudgedBreach>,
    /// Its problems beside rules of history: the first one is answered.
    pub problem: Option<RequestProblem>,
    /// The status that was answered; `None` if nothing was.
    pub status: Option<u16>,
    /// The message of the error that was answered.
    pub error: Option<String>,
    /// How the attempt was made to fail, if the script says so.
    pub fault: Option<PlayedFault>,
    /// The planned answer; `None` for an error.
    pub said: Option<Said>,
    /// The part of it that came.
    pub came: Came,
    /// True if it was answered as a stream.
    pub streamed: bool,
    /// True if the client took all that was sent; `None` while it is not known.
    pub delivered: Option<bool>,
}

/// A rule that a request breaks, and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgedBreach {
    /// The rule's id.
    pub rule: String,
    /// Where, as a path from the body.
    pub place: String,
    /// The fault.
    pub what: String,
    /// The outcome.
    pub outcome: BreachOutcome,
}

/// The outcome of a breach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreachOutcome {
    /// The request was refused in the words of this rule.
    Refused,
    /// It would have been refused, but for another reason that comes first.
    Certain,
    /// Only some versions or servers would refuse it.
    Possible,
    /// It repeats what the provider sent, or what the agent was given.
    Excused,
}

/// Why a request is none that the API could answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequestProblem {
    /// The body could not be read, and the status that says so.
    Unreadable(String, u16),
    /// The body is no JSON object in UTF-8.
    NotJson(String),
    /// The body lacks a member that the API requires.
    Lacks(String),
    /// It names another model than the endpoint's.
    Model(String),
}

/// A fault that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlayedFault {
    /// Its name in a script: `status`, `hang`, `cut`, `event`, `garbage`.
    pub kind: String,
    /// How long a client that obeys waits, if the answer limits it.
    #[serde(with = "maybe_microseconds")]
    pub retry_after: Option<Duration>,
    /// The value of `x-should-retry`.
    pub should_retry: Option<bool>,
}

/// The model's answer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Said {
    /// The id of the answer.
    pub id: String,
    /// The text, marked (`threadspec::surrogates`).
    pub text: String,
    /// The calls.
    pub calls: Vec<SaidByModel>,
    /// Its thinking.
    pub thoughts: Vec<SaidThought>,
    /// Its refusal.
    pub refusal: Option<String>,
    /// Why it stopped, as the script says it.
    pub stop: Option<String>,
}

/// A call in an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidByModel {
    /// The id, given by the script or made.
    pub id: String,
    /// The tool.
    pub name: String,
    /// The arguments as text, which may be no JSON.
    pub arguments: String,
}

/// A thought of the model, as it was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidThought {
    /// The text; empty if it is redacted.
    pub text: String,
    /// The signature, the redacted data, or the encrypted reasoning.
    pub opaque: Option<String>,
    /// True if the text is redacted.
    pub is_redacted: bool,
}

/// How much of an answer came before it ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Came {
    /// The answer ended as its API ends it.
    pub whole: bool,
    /// The text so far.
    pub text: String,
    /// The calls that are whole (their block or item was closed), by their positions in what was sent.
    pub calls: Vec<usize>,
    /// The calls of which something came, but not all.
    pub parts: Vec<CallPart>,
}

/// A call that broke off.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallPart {
    /// Its position in what was sent.
    pub call: usize,
    /// The arguments so far.
    pub arguments: String,
}

/// A request that belongs to no ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stray {
    /// When it came.
    #[serde(with = "microseconds")]
    pub at: Duration,
    /// Its method.
    pub method: String,
    /// Its target, without keys.
    pub target: String,
    /// The hash of its key, if it had one.
    pub key: Option<String>,
    /// The status that was answered.
    pub status: u16,
    /// The reason.
    pub why: StrayReason,
}

/// Why a request belongs to no ask.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StrayReason {
    /// It has no key.
    NoKey,
    /// Nobody gave its key out.
    UnknownKey,
    /// The run of its key was over.
    Late,
    /// It has the key of a gateway, and no run is under way that could have asked it.
    Unasked,
    /// Nothing is behind its path.
    Path,
    /// The resource of its path does not take its method.
    Method,
    /// Its path is of another API than the run's.
    OtherApi,
    /// Its body could not be read.
    Unreadable,
}

/// An attempt as it is stored.
#[derive(Deserialize)]
struct StoredAttempt {
    #[serde(with = "microseconds")]
    at: Duration,
    #[serde(with = "maybe_microseconds")]
    ended: Option<Duration>,
    #[serde(with = "api_name")]
    api: Api,
    target: String,
    #[serde(default)]
    beta: String,
    ask: usize,
    body: String,
    resolved: Option<String>,
    breaches: Vec<JudgedBreach>,
    problem: Option<RequestProblem>,
    status: Option<u16>,
    error: Option<String>,
    fault: Option<PlayedFault>,
    said: Option<Said>,
    came: Came,
    streamed: bool,
    delivered: Option<bool>,
}

impl From<StoredAttempt> for Attempt {
    fn from(stored: StoredAttempt) -> Self {
        let StoredAttempt { at, ended, api, target, beta, ask, body, resolved, breaches, problem, .. } = stored;
        let StoredAttempt { status, error, fault, said, came, streamed, delivered, .. } = stored;
        // What is no object was no request when it came, either.
        let read = value::read(resolved.as_deref().unwrap_or(&body)).ok().filter(Value::is_object);
        let request = read.map(|body| ApiRequest::read(api, &ApiRequest::with_target(api, &target, body)));
        Self {
            at,
            ended,
            api,
            target,
            beta,
            ask,
            body,
            resolved,
            request,
            breaches,
            problem,
            status,
            error,
            fault,
            said,
            came,
            streamed,
            delivered,
        }
    }
}

impl WireRecord {
    /// How many asks there were.
    pub fn asks(&self) -> usize {
        self.attempts.iter().map(|attempt| attempt.ask + 1).max().unwrap_or_default()
    }

    /// The run of a session that an ask belongs to, counted from 0.
    pub fn run_of(&self, ask: usize) -> usize {
        self.runs.iter().rposition(|first| *first <= ask).unwrap_or_default()
    }

    /// The attempts of an ask, in the order in which they came.
    pub fn attempts_of(&self, ask: usize) -> impl DoubleEndedIterator<Item = &Attempt> {
        self.attempts.iter().filter(move |attempt| attempt.ask == ask)
    }
}

impl Attempt {
    /// Returns whether it failed: an error, no answer, or one that did not end as its API ends it, or was not taken to its end.
    pub fn failed(&self) -> bool {
        self.status.is_none_or(|status| status >= 400) || !self.came.whole || self.delivered == Some(false)
    }
}

impl Said {
    /// The calls that came whole.
    pub fn whole_calls<'a>(&'a self, came: &'a Came) -> impl Iterator<Item = &'a SaidByModel> {
        came.calls.iter().filter_map(|position| self.calls.get(*position))
    }
}

impl PlayedFault {
    /// A fault as records have it.
    pub(crate) fn of(fault: &Fault) -> Self {
        let (kind, should_retry) = match fault {
            Fault::Status { should_retry, .. } => ("status", *should_retry),
            Fault::Hang(_) => ("hang", None),
            Fault::Cut { .. } => ("cut", None),
            Fault::Event { .. } => ("event", None),
            Fault::Garbage => ("garbage", None),
        };
        Self { kind: kind.to_owned(), retry_after: fault.retry_after(), should_retry }
    }
}

mod microseconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        u64::try_from(time.as_micros()).unwrap_or(u64::MAX).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        u64::deserialize(deserializer).map(Duration::from_micros)
    }
}

mod maybe_microseconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use std::time::Duration;

    // The signature is serde's.
    #[allow(clippy::ref_option)]
    pub(super) fn serialize<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(|time| u64::try_from(time.as_micros()).unwrap_or(u64::MAX)).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
        Option::<u64>::deserialize(deserializer).map(|time| time.map(Duration::from_micros))
    }
}

mod api_name {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};
    use threadspec::oracle::Api;

    // The signature is serde's.
    #[allow(clippy::trivially_copy_pass_by_ref)]
    pub(super) fn serialize<S: Serializer>(api: &Api, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(api)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Api, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Api::ALL.into_iter().find(|api| api.to_string() == name);
        known.ok_or_else(|| D::Error::custom(format!("`{name}` is no API")))
    }
}
