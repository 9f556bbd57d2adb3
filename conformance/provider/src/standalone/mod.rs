//! Answers agents that are programs: tells their conversations apart, answers each from a script, and judges it by itself.

mod conversations;
mod proxy;
mod script;
#[cfg(test)]
mod tests;
mod transcript;

pub use conversations::{News, Talk};
pub use proxy::Proxy;
pub use script::{ExpectedCounts, Script};
pub use transcript::{header, judge_again};

use crate::engine::Engine;
use crate::exchange::{AttemptId, Reaction};
use crate::http::{Received, Route, keys};
use crate::judging::{WireFinding, WireLevel, judge};
use crate::plan::{EngineOptions, RunPlan};
use crate::record::{Attempt, BreachOutcome, Came, JudgedBreach, Said, SaidByModel, Stray, WireRecord};
use crate::serve::Answers;
use conversations::{AskedTalk, Talks};
use std::time::Duration;
use threadspec::oracle::{Api, place_and_fault, provider_rules};
use threadspec_apis::follow::Loss;
use threadspec_apis::{ApiRequest, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::text::{beginning, count};
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
            (Route::Answer(api), Ok(body)) if endpoint.takes(&received.method) => read(*api, &received.target, body),
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
        Some(WireFinding { clause, level, what: place_and_fault(&breach.place, &breach.what) })
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
fn read(api: Api, target: &str, body: &[u8]) -> Option<(ApiRequest, serde_json::Value)> {
    let body = value::read(str::from_utf8(body).ok()?).ok().filter(serde_json::Value::is_object)?;
    let body = ApiRequest::with_target(api, target, body);
    Some((ApiRequest::read(api, &body), body))
}

// Judges whether a request of a conversation continues the one before it, with its answer.
//
// Nobody knows what a program that is alone was given, or what its tools give. So this judges only what its own requests and the
// answers to them show: AGENT-PREFIX, -RESPONSE, -IDS and -ANSWERED.

/// How much of a text a finding shows, in characters.
const SHOWN: usize = 60;

/// Judges how a request continues the one before, which was answered with `said`, of which `came` arrived.
fn judge_step(before: &ApiRequest, said: &Said, came: &Came, now: &ApiRequest) -> Vec<WireFinding> {
    // The system text may be anywhere.
    let rest = |request: &'_ ApiRequest| -> Vec<WireMessage> {
        request.messages.iter().filter(|message| message.speaker != Speaker::System).cloned().collect()
    };
    let (before, now) = (rest(before), rest(now));
    let at = now.iter().zip(&before).take_while(|(one, other)| is_same(one, other)).count();
    // The same request again is another attempt, or another try.
    if at == now.len() {
        return Vec::new();
    }
    if at < before.len() {
        // What the prompt cache shows has a better place; this is what only the ids of the answer tell.
        return change(&before, said, &now, at).into_iter().collect();
    }
    let calls: Vec<&SaidByModel> = said.whole_calls(came).collect();
    let behind = &now[at..];
    let (response, behind) = response(behind);
    let mut found = Vec::new();
    if calls.is_empty() && came.text.trim().is_empty() {
        return found;
    }
    let Some(place) = response.first().map(|message| message.place.clone()) else {
        let what = format!("what the model sent is not in the request that goes on from it: {}", shown(said, &calls));
        return vec![must(clause::AGENT_RESPONSE, what)];
    };
    let text: String = response.iter().map(|message| message.content.as_str()).collect();
    if !text.contains(came.text.trim()) {
        let what = format!("{place}: the model wrote {}, and the request has {}", quoted(&came.text), quoted(&text));
        found.push(must(clause::AGENT_RESPONSE, what));
    } else if repeats_its_beginning(&text, &came.text) {
        let what =
            format!("{place}: the model wrote {} once, and the request has {}", quoted(&came.text), quoted(&text));
        found.push(must(clause::AGENT_RESPONSE, what));
    }
    found.extend(behind.split_last().into_iter().flat_map(|(_, behind)| behind).filter_map(invented));
    let sent: Vec<_> = response.iter().flat_map(|message| &message.calls).collect();
    for (position, call) in calls.iter().enumerate() {
        let Some(own) = sent.iter().find(|sent| sent.id == call.id) else {
            let renamed = sent.get(position).filter(|sent| sent.name == call.name && has_args(call, &sent.args));
            let (clause, what) = match renamed {
                Some(sent) => {
                    (clause::AGENT_IDS, format!("{place}: the call `{}` has come back as `{}`", call.id, sent.id))
                }
                None => {
                    (clause::AGENT_RESPONSE, format!("{place}: the call `{}` of `{}` is missing", call.id, call.name))
                }
            };
            found.push(must(clause, what));
            continue;
        };
        if own.name != call.name || !has_args(call, &own.args) {
            let args = beginning(&own.args.to_string(), SHOWN);
            let said = beginning(&call.arguments, SHOWN);
            let what = format!(
                "{place}: the model called `{}` with {said}, and the request has `{}` with {args}",
                call.name, own.name
            );
            found.push(must(clause::AGENT_RESPONSE, what));
        }
        let answers = behind.iter().take_while(|message| message.speaker == Speaker::Tool);
        let answers = answers.filter(|message| message.call_id.as_deref() == Some(&call.id)).count();
        if answers != 1 {
            let what = format!(
                "{place}: the call `{}` of `{}` has {} directly behind it",
                call.id,
                call.name,
                count(answers, "answer")
            );
            found.push(must(clause::AGENT_ANSWERED, what));
        }
    }
    found
}

/// Returns whether the beginning of a text, or all of it, comes before the text: what was kept of an answer that broke off, or a second copy.
fn repeats_its_beginning(text: &str, said: &str) -> bool {
    let [text, said] = [text, said].map(|text| text.split_whitespace().collect::<String>());
    text.strip_suffix(&said).is_some_and(|before| !before.is_empty() && said.starts_with(before))
}

/// A message in the model's name behind the answers. Programs put texts there to say what happened, but calls nobody made.
fn invented(message: &WireMessage) -> Option<WireFinding> {
    let level = if message.calls.is_empty() { WireLevel::Should } else { WireLevel::Must };
    let says_something = !message.calls.is_empty() || !message.content.trim().is_empty();
    let what = || format!("{}: the model sent nothing behind the answers: {}", message.place, quoted(&message.content));
    (message.speaker == Speaker::Ai && says_something).then(|| WireFinding {
        clause: clause::AGENT_RESPONSE,
        level,
        what: what(),
    })
}

/// A change of what was sent before, if the answer to it is in the request all the same.
fn change(before: &[WireMessage], said: &Said, now: &[WireMessage], at: usize) -> Option<WireFinding> {
    let is_answer =
        |message: &WireMessage| message.calls.iter().any(|call| said.calls.iter().any(|one| one.id == call.id));
    let behind = now.iter().position(is_answer)?;
    let (earlier, place) = (before.get(at)?, &now.get(at)?.place);
    if joined(before) == joined(&now[..behind]) {
        return None;
    }
    let what =
        format!("{place} was {} of the request before, and had the text {}", earlier.place, quoted(&earlier.content));
    Some(must(clause::AGENT_PREFIX, what))
}

/// Messages, with neighbouring texts of the user as one, without white space.
fn joined(messages: &[WireMessage]) -> Vec<(Speaker, String, Vec<&str>)> {
    let mut all: Vec<(Speaker, String, Vec<&str>)> = Vec::new();
    for message in messages {
        let text: String = message.content.split_whitespace().collect();
        match all.last_mut() {
            Some((Speaker::Human, before, _)) if message.speaker == Speaker::Human => before.push_str(&text),
            _ => all.push((message.speaker, text, message.calls.iter().map(|call| call.id.as_str()).collect())),
        }
    }
    all
}

/// The messages of the model at the beginning, and what is behind them.
fn response(messages: &[WireMessage]) -> (&[WireMessage], &[WireMessage]) {
    let count = messages.iter().take_while(|message| message.speaker == Speaker::Ai).count();
    messages.split_at(count)
}

fn is_same(one: &WireMessage, other: &WireMessage) -> bool {
    let calls = |message: &WireMessage| {
        message.calls.iter().map(|call| (call.id.clone(), call.name.clone(), call.args.clone())).collect::<Vec<_>>()
    };
    one.speaker == other.speaker
        && one.content == other.content
        && one.call_id == other.call_id
        && calls(one) == calls(other)
}

fn has_args(said: &SaidByModel, args: &serde_json::Value) -> bool {
    match value::read(&said.arguments) {
        Ok(said) => said == *args,
        Err(_) => {
            args.as_str() == Some(&said.arguments)
                || said.arguments.is_empty() && args.as_object().is_some_and(serde_json::Map::is_empty)
        }
    }
}

fn shown(said: &Said, calls: &[&SaidByModel]) -> String {
    match calls.first() {
        Some(call) => format!("{}, of which the first is `{}` of `{}`", count(calls.len(), "call"), call.id, call.name),
        None => quoted(&said.text),
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", beginning(text, SHOWN))
}

fn must(clause: &'static str, what: String) -> WireFinding {
    WireFinding { clause, level: WireLevel::Must, what }
}

/// A change of what was sent before, with the first byte that differs and how many bytes the prompt cache no longer serves. Where a new
/// run begins, a program may shorten its history: that costs, and loses nothing of a run.
fn changed(loss: &Loss, resent: usize, begins_run: bool) -> WireFinding {
    let what = format!(
        "{}: {}; the prompt cache no longer serves {} from here on",
        loss.place,
        loss.how,
        count(resent, "byte")
    );
    if begins_run {
        return WireFinding { clause: clause::SESSION_PREFIX, level: WireLevel::Should, what };
    }
    must(clause::AGENT_PREFIX, what)
}

/// Returns whether a request begins a new run: its last message is the user's, and the answer to the request before had no call.
fn begins_run(said: &Said, came: &Came, now: &ApiRequest) -> bool {
    let last = now.messages.iter().rfind(|message| message.speaker != Speaker::System);
    last.is_some_and(|last| last.speaker == Speaker::Human) && said.whole_calls(came).next().is_none()
}
