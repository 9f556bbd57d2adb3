//! Answers requests without a socket: requests go in, answers come out, and the caller passes the time.

#[cfg(test)]
mod tests;

use crate::client::{ClientRequest, ClientResponse};
use crate::exchange::{AttemptId, PlannedAnswer, PlannedEnd, Reaction, WireStep};
use crate::http::{Head, Received, Route, Unreadable, disguised, keys, models, path, usual_model, without_keys};
use crate::plan::{EngineOptions, RunPlan};
use crate::record::{Stray, StrayReason, WireRecord};
use crate::run::{Listed, PlayedRun, ProgramTurns, SessionTurns, Turns};
use crate::serve::Answers;
use memchr::memmem;
use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::{ApiError, IdSource};

/// How many requests are kept that belong to no run.
const MOST_STRAYS: usize = 1000;
/// How many keys of runs that are over are known, so that late requests differ from those with a key that nobody gave out.
const MOST_ENDED: usize = 1 << 16;
/// More than one agent has under way, for the last few that were ended.
const MOST_ABANDONED: usize = 1 << 10;

/// A model provider that plays scripts, one for each key, and judges every request before it answers.
///
/// It opens no socket and reads no clock: time is what has passed since any moment that the caller chooses. Bodies may be nested
/// deep; then its methods need a stack to match ([`threadspec_judge::json::on_deep_stack`]).
///
/// ```
/// use std::time::Duration;
/// use threadspec::oracle::Api;
/// use threadspec_provider::{Engine, EngineOptions, Reaction, Received, RunPlan};
///
/// let mut engine = Engine::new(EngineOptions::default());
/// let plan = RunPlan::of_case_input(Api::OpenAiChat, r#"{"messages": [], "model": [{"content": "Done"}]}"#)?;
/// engine.begin(Duration::ZERO, "sk-threadspec-1", plan);
/// let (attempt, reaction) = engine.receive(Duration::from_millis(5), Received {
///     method: "POST".into(),
///     target: "/v1/chat/completions".into(),
///     headers: vec![("authorization".into(), "Bearer sk-threadspec-1".into())],
///     body: Ok(br#"{"model": "gpt-4.1", "messages": [{"role": "user", "content": "Go"}]}"#.to_vec()),
/// });
/// let Reaction::Answer(answer) = reaction else { panic!("it is answered") };
/// assert!(answer.status == 200 && String::from_utf8(answer.body())?.contains(r#""content":"Done""#));
/// engine.delivered(Duration::from_millis(6), attempt, true);
/// let ended = engine.end(Duration::from_millis(7), "sk-threadspec-1").expect("the run is known");
/// assert_eq!(ended.record.attempts.len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Engine {
    options: EngineOptions,
    ids: IdSource,
    begun: u64,
    received: u64,
    runs: HashMap<String, PlayedRun>,
    /// The attempts that are being answered: the key of the run, and the position in its record.
    open: HashMap<AttemptId, (String, usize)>,
    /// The hashes of keys of runs that are over, the oldest first.
    ended: (HashSet<String>, VecDeque<String>),
    /// The hashes of keys of runs whose agents were ended, the oldest first.
    abandoned: VecDeque<String>,
    strays: Vec<Stray>,
    /// The keys with which a gateway comes, whatever run it is about.
    gateway: GatewayKeys,
}

/// A run that is over.
#[derive(Debug)]
pub struct EndedRun {
    /// The plan.
    pub plan: RunPlan,
    /// The record.
    pub record: WireRecord,
    /// The bodies of the first requests that were not part of the conversation, if a program is played to.
    pub beside: Vec<String>,
}

impl Engine {
    /// An engine without runs.
    pub fn new(options: EngineOptions) -> Self {
        let ids = source(options.seed, 0);
        Self {
            options,
            ids,
            begun: 0,
            received: 0,
            runs: HashMap::new(),
            open: HashMap::new(),
            ended: (HashSet::new(), VecDeque::new()),
            abandoned: VecDeque::new(),
            strays: Vec::new(),
            gateway: GatewayKeys::default(),
        }
    }

    /// Begins a run, whose requests carry this key.
    pub fn begin(&mut self, now: Duration, key: &str, plan: RunPlan) {
        let mut turns: Box<dyn Turns> = match &plan.session {
            Some(session) => Box::new(SessionTurns::new(session.clone())),
            None => Box::new(Listed(plan.turns.clone())),
        };
        if let Some(program) = &plan.program {
            turns = Box::new(ProgramTurns::new(program.clone(), turns));
        }
        self.begin_with(now, key, plan, turns);
    }

    /// Begins a run that is not answered from its plan.
    pub(crate) fn begin_with(&mut self, now: Duration, key: &str, plan: RunPlan, turns: Box<dyn Turns>) {
        self.begun += 1;
        let ids = source(self.options.seed, self.begun);
        self.runs.insert(key.to_owned(), PlayedRun::new(now, disguised(key), plan, turns, ids));
    }

    /// Ends a run, and gives what happened in it. What still carries its key is late.
    pub fn end(&mut self, now: Duration, key: &str) -> Option<EndedRun> {
        let mut run = self.runs.remove(key)?;
        run.record.ended = now;
        let (known, order) = &mut self.ended;
        if known.insert(run.record.key.clone()) {
            order.push_back(run.record.key.clone());
        }
        if order.len() > MOST_ENDED
            && let Some(oldest) = order.pop_front()
        {
            known.remove(&oldest);
        }
        Some(EndedRun { plan: run.plan, record: run.record, beside: run.beside })
    }

    /// Forgets a run whose agent is ended before it replied. What still carries its key was under way then, and is nobody's fault.
    pub fn abandon(&mut self, key: &str) {
        self.runs.remove(key);
        self.abandoned.push_back(disguised(key));
        if self.abandoned.len() > MOST_ABANDONED {
            self.abandoned.pop_front();
        }
    }

    /// Returns the attempts since the last call that belong to no run. Their key was given to nobody while not exactly one run was under
    /// way, or it is the key of a run that was over.
    pub fn take_strays(&mut self) -> Vec<Stray> {
        std::mem::take(&mut self.strays)
    }

    /// Returns the record of a run so far.
    pub fn record(&self, key: &str) -> Option<&WireRecord> {
        self.runs.get(key).map(|run| &run.record)
    }

    /// The name that the next request will have.
    pub(crate) fn next_attempt(&self) -> AttemptId {
        AttemptId(self.received)
    }

    /// The key of the run that an attempt belongs to, and its position in the record, until its answer is over.
    pub(crate) fn place_of(&self, attempt: AttemptId) -> Option<(&str, usize)> {
        self.open.get(&attempt).map(|(key, position)| (key.as_str(), *position))
    }

    /// Forgets the answers to the early attempts of a run, so that its record stays small.
    pub(crate) fn forget_all_but(&mut self, key: &str, last: usize) {
        if let Some(run) = self.runs.get_mut(key) {
            run.forget_all_but(last);
        }
    }

    /// Takes a request that has come to its end, or cannot, and says what is to be done.
    pub fn receive(&mut self, now: Duration, received: Received) -> (AttemptId, Reaction) {
        let id = AttemptId(self.received);
        self.received += 1;
        let endpoint = Route::of(&received.target);
        let told = || match () {
            () if received.header("anthropic-version").is_some() => Api::Anthropic,
            () if received.header("x-goog-api-key").is_some() => Api::Gemini,
            () => Api::OpenAiChat,
        };
        let api = endpoint.api().unwrap_or_else(told);
        let head = Head { api, request_id: self.ids.request(), now: self.options.epoch + now.as_secs() };
        (id, self.react(now, id, &endpoint, &head, received))
    }

    /// Says that the answer to a request is over: all of it was handed to the connection (`whole`), or it was closed, or the client left.
    pub fn delivered(&mut self, now: Duration, attempt: AttemptId, whole: bool) {
        if let Some((key, position)) = self.open.remove(&attempt)
            && let Some(run) = self.runs.get_mut(&key)
        {
            run.delivered(now, position, whole);
        }
    }

    fn react(&mut self, now: Duration, id: AttemptId, endpoint: &Route, head: &Head, received: Received) -> Reaction {
        let api = head.api;
        if let Err(reason @ Unreadable::ForeignHost) = &received.body {
            return head.error(&ApiError::new(reason.status(), "invalid_request_error", reason.to_string()));
        }
        if *endpoint == Route::Root && endpoint.takes(&received.method) {
            return Reaction::Answer(PlannedAnswer {
                delay: Duration::ZERO,
                status: 200,
                headers: Vec::new(),
                length: Some(0),
                steps: Vec::new(),
                ending: PlannedEnd::Whole,
            });
        }
        let known: Vec<String> = keys(&received).into_iter().map(str::to_owned).collect();
        let is_of_gateway = self.gateway.have_one_of(&known);
        let looks_around = received.method != "POST" || matches!(endpoint, Route::Count(_));
        if is_of_gateway && looks_around {
            return self.look_around(endpoint, head, &received);
        }
        let marked = is_of_gateway.then(|| self.run_of(&received)).flatten();
        // Of two keys that differ, the one that belongs to a run.
        let key = known.iter().find(|key| self.runs.contains_key(*key)).or(known.first());
        let key = marked.as_ref().or(key).map(String::as_str);
        let run = key.and_then(|key| self.runs.get(key));
        // Outside of sessions, nothing is there.
        let is_known = !matches!(endpoint, Route::Run(_)) || run.is_some_and(|run| run.plan.session.is_some());
        let endpoint = if is_known { endpoint } else { &Route::Nothing };
        let stray = if *endpoint == Route::Nothing {
            Some((StrayReason::Path, ApiError::unknown_path(api, &received.method, path(&received.target))))
        } else if !endpoint.takes(&received.method) {
            Some((StrayReason::Method, ApiError::wrong_method(api, &received.method, path(&received.target))))
        } else {
            match (key, run) {
                (None, _) => Some((StrayReason::NoKey, ApiError::wrong_key(api, None))),
                (Some(key), None) if self.abandoned.contains(&disguised(key)) => {
                    return head.error(&ApiError::wrong_key(api, Some(key)));
                }
                (Some(key), None) => {
                    let why = match self.ended.0.contains(&disguised(key)) {
                        true => StrayReason::Late,
                        false if is_of_gateway => StrayReason::Unasked,
                        false => StrayReason::UnknownKey,
                    };
                    Some((why, ApiError::wrong_key(api, Some(key))))
                }
                (Some(_), Some(run)) if endpoint.api().is_some_and(|api| api != run.plan.api) => {
                    Some((StrayReason::OtherApi, ApiError::unknown_path(api, &received.method, path(&received.target))))
                }
                _ => None,
            }
        };
        if let Some((why, error)) = stray {
            let reaction = head.error(&error);
            let stray = Stray {
                at: now,
                method: received.method,
                target: without_keys(&received.target),
                key: key.map(disguised),
                status: error.status,
                why,
            };
            self.stray(key, stray);
            return reaction;
        }
        let Some(key) = key.map(str::to_owned) else { return head.error(&ApiError::wrong_key(api, None)) };
        let Some(run) = self.runs.get_mut(&key) else { return head.error(&ApiError::wrong_key(api, None)) };
        match endpoint {
            Route::Answer(_) => {
                let (position, reaction) = run.attempt(now, head, &received, &self.options);
                if let Some(position) = position {
                    self.open.insert(id, (key, position));
                }
                reaction
            }
            Route::Count(_) => PlayedRun::count(head, &received),
            Route::Models(wanted) => {
                let model = run.plan.model.as_deref().unwrap_or(usual_model(api));
                models(head, model, wanted.as_deref())
            }
            Route::Stored(wanted) => run.stored(head, wanted),
            Route::Run(number) => run.begin_run(head, *number),
            Route::Root | Route::Nothing => {
                head.error(&ApiError::unknown_path(api, &received.method, path(&received.target)))
            }
        }
    }

    /// Puts what belongs to no ask where it counts: with its own run, with the only one that is under way, or with none.
    fn stray(&mut self, key: Option<&str>, stray: Stray) {
        let own = key.filter(|key| self.runs.contains_key(*key)).map(str::to_owned);
        let only = || self.runs.keys().next().filter(|_| self.runs.len() == 1).cloned();
        // Whose late ones are is known.
        let of = own.or_else(|| if stray.why == StrayReason::Late { None } else { only() });
        match of.and_then(|key| self.runs.get_mut(&key)) {
            Some(run) => run.stray(stray),
            None if self.strays.len() < MOST_STRAYS => self.strays.push(stray),
            None => {}
        }
    }
}

/// The ids of a run, or of the engine itself (0).
fn source(seed: u64, number: u64) -> IdSource {
    // Neighbouring seeds give numbers that follow each other; what is made of them does not.
    IdSource::new(IdSource::new(seed).number() ^ IdSource::new(number).number())
}

impl Answers for Engine {
    type Attempt = AttemptId;

    fn receive(&mut self, now: Duration, request: Received) -> (AttemptId, Reaction) {
        Self::receive(self, now, request)
    }

    fn delivered(&mut self, now: Duration, attempt: AttemptId, is_whole: bool) {
        Self::delivered(self, now, attempt, is_whole);
    }
}

// Requests that come through a gateway. It has one key of its own for all runs, so that a request is known by what it says: the tools of
// each run carry a mark in their descriptions.

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
struct GatewayKeys(Vec<String>);

impl GatewayKeys {
    fn have_one_of(&self, keys: &[String]) -> bool {
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
    fn run_of(&self, received: &Received) -> Option<String> {
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
    fn look_around(&self, endpoint: &Route, head: &Head, received: &Received) -> Reaction {
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

// A request and its answer between a client and an engine in one process.

/// Puts a request to an engine, without a socket. Time passes as the engine says, at once; `None` if it answers nothing.
///
/// ```
/// use std::time::Duration;
/// use threadspec_provider::client::ClientRequest;
/// use threadspec_provider::{Engine, EngineOptions, ask_engine};
///
/// let (mut engine, mut now) = (Engine::new(EngineOptions::default()), Duration::ZERO);
/// let request = ClientRequest { method: "GET".into(), target: "/v1/models".into(), ..ClientRequest::default() };
/// let response = ask_engine(&mut engine, &mut now, &request).expect("an answer");
/// assert!(response.status == 401 && response.is_whole);
/// ```
pub fn ask_engine(engine: &mut Engine, now: &mut Duration, request: &ClientRequest) -> Option<ClientResponse> {
    let ClientRequest { method, target, headers, body } = request.clone();
    let (attempt, reaction) = engine.receive(*now, Received { method, target, headers, body: Ok(body) });
    let planned = match reaction {
        Reaction::Silence { after, .. } => {
            *now += after;
            engine.delivered(*now, attempt, false);
            return None;
        }
        // Nothing is behind this provider.
        Reaction::Forward => return None,
        Reaction::Answer(planned) => planned,
    };
    *now += planned.delay;
    let mut response = ClientResponse {
        status: planned.status,
        headers: planned.headers.into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect(),
        pieces: Vec::new(),
        is_whole: planned.ending == PlannedEnd::Whole,
    };
    for step in planned.steps {
        match step {
            WireStep::Wait(time) => *now += time,
            WireStep::Write(bytes) => response.pieces.push(bytes),
        }
    }
    engine.delivered(*now, attempt, response.is_whole);
    Some(response)
}
