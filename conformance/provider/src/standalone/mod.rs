//! A provider for agents that are programs: it tells their conversations apart, answers each from a script, and judges it by itself.

mod conversations;
mod proxy;
mod script;
mod step;
mod talks;
#[cfg(test)]
mod tests;
mod transcript;

pub use proxy::Proxy;
pub use script::{ExpectedCounts, Script};
pub use talks::{News, Talk};
pub use transcript::{header, judge_again};

use crate::engine::Engine;
use crate::exchange::{AttemptId, Reaction};
use crate::http::{Route, keys};
use crate::judging::{WireFinding, WireLevel, judge};
use crate::options::EngineOptions;
use crate::plan::RunPlan;
use crate::received::Received;
use crate::record::{Attempt, BreachOutcome, JudgedBreach, Stray, WireRecord};
use crate::serve::Answers;
use std::time::Duration;
use talks::{AskedTalk, Talks};
use threadspec::oracle::{Api, provider_rules};
use threadspec_apis::ApiRequest;
use threadspec_judge::universal::value;
use transcript::LineRecorder;

/// How many asks are kept for judging.
const ASKS_KEPT: usize = 2;

/// A provider without runs: a request belongs to the conversation that it goes on from, or begins one.
#[derive(Debug)]
pub struct Standalone {
    engine: Engine,
    script: Script,
    /// The keys that are accepted; any, if there is none.
    keys: Vec<String>,
    talks: Talks,
    recorded: Option<LineRecorder>,
}

impl Standalone {
    /// A provider that plays a script. Without keys it takes any.
    pub fn new(options: EngineOptions, script: Script, keys: Vec<String>) -> Self {
        let mut engine = Engine::new(options);
        for api in Api::ALL {
            engine.begin(Duration::ZERO, &lobby(api), RunPlan::of_turns(api, Vec::new()));
        }
        Self { engine, script, keys, talks: Talks::default(), recorded: None }
    }

    /// Returns all conversations, in the order in which they began.
    pub fn talks(&self) -> impl ExactSizeIterator<Item = &Talk> {
        self.talks.all()
    }

    /// Returns the events since the last call.
    pub fn take_news(&mut self) -> Vec<News> {
        self.talks.take_news()
    }

    /// Keeps the traffic as lines of a transcript, until they are taken; texts as their length and hash, if it is redacted.
    pub fn record(&mut self, redacted: bool) {
        self.recorded = Some(LineRecorder::new(redacted));
    }

    /// The lines of the transcript since the last time, without line ends.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.recorded.as_mut().map(LineRecorder::take).unwrap_or_default()
    }

    /// Returns the attempts that belong to no conversation.
    pub fn take_strays(&mut self) -> Vec<Stray> {
        self.engine.take_strays()
    }

    /// Lists the expectations of the script that did not occur.
    pub fn unmet(&self) -> Vec<String> {
        let answers = self.talks.all().map(|talk| talk.answers).sum();
        self.script.expect.broken_by(self.talks.all().len() as u64, answers)
    }

    /// Returns whether a key is accepted.
    fn takes(&self, received: &Received) -> bool {
        let given = keys(received);
        !given.is_empty() && (self.keys.is_empty() || given.iter().any(|key| self.keys.iter().any(|own| own == key)))
    }
}

impl Answers for Standalone {
    type Attempt = AttemptId;

    fn receive(&mut self, now: Duration, mut received: Received) -> (AttemptId, Reaction) {
        if !self.takes(&received) {
            return self.engine.receive(now, received);
        }
        let endpoint = Route::of(&received.target);
        let asked = match (&endpoint, &received.body) {
            (Route::Answer(api), Ok(body)) if endpoint.takes(&received.method) => read(*api, body),
            _ => None,
        };
        let Some((request, body)) = asked else {
            let stored = match &endpoint {
                Route::Stored(id) => self.talks.of_id(id),
                _ => None,
            };
            received.set_key(&stored.map_or_else(|| lobby(endpoint.api().unwrap_or(Api::OpenAiChat)), name));
            return self.engine.receive(now, received);
        };
        let attempt = self.engine.next_attempt();
        let AskedTalk { number, is_new, found } = self.talks.ask(now, attempt.0, &request, &body);
        if is_new {
            let plan = RunPlan::of_turns(request.api, Vec::new());
            self.engine.begin_with(now, &name(number), plan, self.script.turns());
            if let Some(oldest) = self.talks.close_oldest() {
                self.engine.end(now, &name(oldest));
            }
        }
        received.set_key(&name(number));
        let answer = self.engine.receive(now, received);
        let others = self.engine.record(&name(number)).map(found_in);
        self.talks.tell(number, found, others.unwrap_or_default());
        if let (Some(recorded), Reaction::Answer(answer)) = (&mut self.recorded, &answer.1) {
            recorded.plan(attempt, answer);
        }
        answer
    }

    fn delivered(&mut self, now: Duration, attempt: AttemptId, is_whole: bool) {
        let place = self.engine.place_of(attempt).map(|(key, position)| (key.to_owned(), position));
        self.engine.delivered(now, attempt, is_whole);
        if let Some((key, position)) = place
            && let Some(answered) = self.engine.record(&key).and_then(|record| record.attempts.get(position))
        {
            let mut came = answered.came.clone();
            came.whole &= is_whole;
            self.talks.answered(attempt.0, answered.said.clone(), came);
            if let Some(recorded) = &mut self.recorded {
                recorded.over(attempt, conversation_of(&key), answered.clone());
            }
            self.engine.forget_all_but(&key, ASKS_KEPT);
        }
    }
}

/// Returns the findings of the last attempts of a conversation.
fn found_in(record: &WireRecord) -> Vec<WireFinding> {
    let first = record.asks().saturating_sub(ASKS_KEPT);
    let attempts = record.attempts.iter().filter(|attempt| attempt.ask >= first).cloned().collect();
    let last = WireRecord { attempts, strays: Vec::new(), runs: Vec::new(), key: record.key.clone(), ..*record };
    judge(&RunPlan::of_turns(record.api, Vec::new()), &last)
}

/// The rules of its API that a request breaks.
fn rule_findings(attempt: &Attempt) -> Vec<WireFinding> {
    let finding = |breach: &JudgedBreach| {
        let clause = provider_rules().find(|rule| rule.id == breach.rule)?.id;
        let level = match breach.outcome {
            BreachOutcome::Refused | BreachOutcome::Certain => WireLevel::Must,
            BreachOutcome::Possible | BreachOutcome::Excused => WireLevel::Note,
        };
        Some(WireFinding { clause, level, what: format!("{}: {}", breach.place, breach.what) })
    };
    attempt.breaches.iter().filter_map(finding).collect()
}

/// The key inside the engine for what belongs to no conversation. No header field can have its first character.
fn lobby(api: Api) -> String {
    format!("\0lobby-{api}")
}

/// The key of a conversation inside the engine, which no client can send either.
fn name(number: usize) -> String {
    format!("\0conversation-{number}")
}

fn conversation_of(name: &str) -> usize {
    name.rsplit_once('-').and_then(|(_, number)| number.parse().ok()).unwrap_or_default()
}

/// A body that is a JSON object, as the API reads it.
fn read(api: Api, body: &[u8]) -> Option<(ApiRequest, serde_json::Value)> {
    let body = value::read(str::from_utf8(body).ok()?).ok().filter(serde_json::Value::is_object)?;
    Some((ApiRequest::read(api, &body), body))
}
