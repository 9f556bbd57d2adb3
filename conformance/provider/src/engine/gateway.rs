//! Requests that come through a gateway. It has one key of its own for all runs, so that a request is known by what it says: the tools of
//! each run carry a mark in their descriptions.

use super::Engine;
use crate::exchange::Reaction;
use crate::http::{Head, Route, disguised, path};
use crate::models::{models, usual_model};
use crate::received::Received;
use crate::run::PlayedRun;
use memchr::memmem;
use threadspec_apis::ApiError;

/// The text before the name of a run.
const MARK: &str = "threadspec run ";

/// The text that marks the tools of a run, in whose descriptions it is. The name of the run is the key with which it begins: letters and digits.
///
/// ```
/// assert_eq!(threadspec_provider::mark_of("q8Zr"), "threadspec run q8Zr");
/// ```
pub fn mark_of(run: &str) -> String {
    format!("{MARK}{run}")
}

/// The keys of a gateway: the one that it was given for its upstream, and that of its client, which some pass on.
#[derive(Debug, Default)]
pub(super) struct GatewayKeys(Vec<String>);

impl GatewayKeys {
    pub(super) fn have_one_of(&self, keys: &[String]) -> bool {
        keys.iter().any(|key| self.0.contains(key))
    }
}

impl Engine {
    /// Takes these keys as those of a gateway from now on. A request with one of them belongs to the run whose mark ([`mark_of`]) its tools carry,
    /// under way or over; without a mark it belongs to the only run that is under way. What looks around is answered and not judged: GET,
    /// HEAD, and counting tokens.
    ///
    /// ```
    /// use std::time::Duration;
    /// use threadspec::oracle::Api;
    /// use threadspec_provider::{Engine, EngineOptions, Received, RunPlan};
    ///
    /// let mut engine = Engine::new(EngineOptions::default());
    /// engine.take_gateway_keys(vec!["sk-upstream".into()]);
    /// for run in ["aaaa", "bbbb"] {
    ///     engine.begin(Duration::ZERO, run, RunPlan::of_turns(Api::OpenAiChat, Vec::new()));
    /// }
    /// engine.receive(Duration::ZERO, Received {
    ///     method: "POST".into(),
    ///     target: "/v1/chat/completions".into(),
    ///     headers: vec![("authorization".into(), "Bearer sk-upstream".into())],
    ///     body: Ok(br#"{"model": "m", "messages": [], "tools": [{"type": "function", "function": {"name": "a", "description": "threadspec run bbbb"}}]}"#.to_vec()),
    /// });
    /// let attempts = ["aaaa", "bbbb"].map(|run| engine.end(Duration::ZERO, run).map(|run| run.record.attempts.len()));
    /// assert_eq!(attempts, [Some(0), Some(1)]);
    /// ```
    pub fn take_gateway_keys(&mut self, keys: Vec<String>) {
        self.gateway = GatewayKeys(keys);
    }

    /// The key of the run that a gateway's request belongs to, under way or over.
    pub(super) fn run_of(&self, received: &Received) -> Option<String> {
        let marks = received.body.as_ref().map(|body| marks(body)).unwrap_or_default();
        let is_over = |mark: &&String| {
            let mark = disguised(mark);
            self.ended.0.contains(&mark) || self.abandoned.contains(&mark)
        };
        let running = marks.iter().find(|mark| self.runs.contains_key(*mark));
        if let Some(mark) = running.or_else(|| marks.iter().find(is_over)) {
            return Some(mark.clone());
        }
        // A mark that nobody gave out is that of another command, out of a cache perhaps.
        self.runs.keys().next().filter(|_| self.runs.len() == 1 && marks.is_empty()).cloned()
    }

    /// Answers what a gateway wants to know beside answers. Nothing is noted of it.
    pub(super) fn look_around(&self, endpoint: &Route, head: &Head, received: &Received) -> Reaction {
        let plan = self.runs.values().next().map(|run| &run.plan);
        match endpoint {
            Route::Count(_) if endpoint.takes(&received.method) => PlayedRun::count(head, received),
            Route::Models(wanted) => {
                let model = plan.and_then(|plan| plan.model.as_deref()).unwrap_or(usual_model(head.api));
                models(head, model, wanted.as_deref())
            }
            _ if endpoint.api().is_some() => {
                head.error(&ApiError::wrong_method(head.api, &received.method, path(&received.target)))
            }
            _ => head.error(&ApiError::unknown_path(head.api, &received.method, path(&received.target))),
        }
    }
}

/// The names of runs that a body speaks of, whatever form a gateway gives to the declarations of tools.
fn marks(body: &[u8]) -> Vec<String> {
    let name = |at: usize| {
        let name = body[at + MARK.len()..].iter().take_while(|byte| byte.is_ascii_alphanumeric());
        name.map(|byte| char::from(*byte)).collect::<String>()
    };
    let mut marks: Vec<String> = memmem::find_iter(body, MARK).map(name).filter(|name| !name.is_empty()).collect();
    marks.dedup();
    marks
}
