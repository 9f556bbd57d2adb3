//! A proxy before a real upstream: it answers nothing itself, and judges behind the back of what passes.

use super::conversations::{AskedTalk, News, Talk, Talks};
use super::rule_findings;
use super::transcript::LineRecorder;
use crate::exchange::{AttemptId, Reaction};
use crate::http::{Head, Received, Route, Unreadable, keys, unreadable, without_keys};
use crate::overheard::{as_recorded, broken};
use crate::record::{Attempt, Came};
use crate::run::RuleHeaders;
use crate::serve::{Answers, UpstreamPart};
use serde_json::Value;
use std::collections::HashMap;
use std::time::Duration;
use threadspec::oracle::Api;
use threadspec_apis::sse::SseParser;
use threadspec_apis::{AnswerReader, ApiError, ApiRequest, IdSource, read_answer};
use threadspec_judge::universal::value;

/// A plain answer is read up to this length.
const LONGEST_ANSWER: usize = 64 << 20;

/// A proxy that watches: the shell forwards what it does not answer, and tells it what comes back.
///
/// A request is judged by the rules of its API, and compared with what the upstream sent before in the same conversation. Nothing is
/// refused, unless it enforces the rules.
#[derive(Debug)]
pub struct Proxy {
    talks: Talks,
    enforces: bool,
    /// The keys that are accepted; any, if there is none.
    keys: Vec<String>,
    attempts: u64,
    passing: HashMap<u64, Passing>,
    ids: IdSource,
    recorded: Option<LineRecorder>,
    /// The time at which the clock shows 0, in seconds since 1970.
    epoch: u64,
}

/// An answer that passes.
#[derive(Debug)]
struct Passing {
    conversation: usize,
    /// The attempt, and the known part of its answer.
    attempt: Attempt,
    form: PassingForm,
}

#[derive(Debug)]
enum PassingForm {
    Plain(Vec<u8>),
    Stream(SseParser, Box<AnswerReader>),
    /// It is not what the API answers.
    Unreadable,
}

impl Proxy {
    /// A proxy that takes these keys, any without one; one that enforces answers a certain breach itself, and does not forward it. `epoch` is the time at which its clock shows 0.
    pub fn new(enforces: bool, epoch: u64, keys: Vec<String>) -> Self {
        let (talks, passing) = (Talks::default(), HashMap::new());
        Self { talks, enforces, keys, attempts: 0, passing, ids: IdSource::new(epoch), recorded: None, epoch }
    }

    /// The conversations that pass, in the order in which they began.
    pub fn talks(&self) -> impl ExactSizeIterator<Item = &Talk> {
        self.talks.all()
    }

    /// Returns the events since the last call.
    pub fn take_news(&mut self) -> Vec<News> {
        self.talks.take_news()
    }

    /// Keeps what passes as lines of a transcript, until they are taken; texts as their length and hash, if it is redacted.
    pub fn record(&mut self, redacted: bool) {
        self.recorded = Some(LineRecorder::new(redacted));
    }

    /// The lines of the transcript since the last time, without line ends.
    pub fn take_lines(&mut self) -> Vec<String> {
        self.recorded.as_mut().map(LineRecorder::take).unwrap_or_default()
    }

    /// Judges a request for an answer. Returns the refusal, if it enforces one.
    fn judge(&mut self, now: Duration, attempt: u64, received: &Received, api: Api) -> Option<Reaction> {
        let body = received.body.as_ref().ok()?;
        let body = value::read(str::from_utf8(body).ok()?).ok().filter(Value::is_object)?;
        let body = ApiRequest::with_target(api, &received.target, body);
        let request = ApiRequest::read(api, &body);
        let AskedTalk { number, found, .. } = self.talks.ask(now, attempt, &request, &body);
        self.talks.close_oldest();
        let (breaches, refusal) = broken(&request, &body, received);
        let passing = Attempt {
            at: now,
            ended: None,
            api,
            target: without_keys(&received.target),
            beta: RuleHeaders::of(received).beta,
            ask: usize::try_from(attempt).unwrap_or(usize::MAX),
            body: String::from_utf8_lossy(received.body.as_deref().unwrap_or_default()).into_owned(),
            resolved: None,
            streamed: request.stream,
            request: Some(request),
            breaches,
            problem: None,
            status: None,
            error: None,
            fault: None,
            said: None,
            came: Came::default(),
            delivered: None,
        };
        self.talks.tell(number, found, rule_findings(&passing));
        self.passing.insert(attempt, Passing { conversation: number, attempt: passing, form: PassingForm::Unreadable });
        let error = refusal.filter(|_| self.enforces)?;
        Some(self.head(now, api).error(&error))
    }

    /// The head of an answer of its own.
    fn head(&mut self, now: Duration, api: Api) -> Head {
        Head { api, request_id: self.ids.request(), now: self.epoch + now.as_secs() }
    }
}

impl Answers for Proxy {
    type Attempt = AttemptId;

    fn receive(&mut self, now: Duration, received: Received) -> (AttemptId, Reaction) {
        let attempt = self.attempts;
        self.attempts += 1;
        let endpoint = Route::of(&received.target);
        let (api, given) = (endpoint.api().unwrap_or(Api::OpenAiChat), keys(&received));
        let refusal = match endpoint {
            _ if received.body.is_err() => {
                let refusal = |why: &Unreadable| unreadable(api, &why.to_string(), why.status());
                received.body.as_ref().err().map(|why| self.head(now, api).error(&refusal(why)))
            }
            _ if !self.keys.is_empty() && !given.iter().any(|key| self.keys.iter().any(|own| own == key)) => {
                let error = ApiError::wrong_key(api, given.first().copied());
                Some(self.head(now, api).error(&error))
            }
            Route::Answer(api) if endpoint.takes(&received.method) => self.judge(now, attempt, &received, api),
            _ => None,
        };
        (AttemptId(attempt), refusal.unwrap_or(Reaction::Forward))
    }

    fn delivered(&mut self, now: Duration, AttemptId(attempt): AttemptId, is_whole: bool) {
        let Some(Passing { conversation, attempt: mut passed, form }) = self.passing.remove(&attempt) else { return };
        let said = match form {
            _ if passed.status.is_none_or(|status| status >= 400) => None,
            PassingForm::Plain(body) => str::from_utf8(&body)
                .ok()
                .and_then(|text| value::read(text).ok())
                .and_then(|body| read_answer(passed.api, &body).ok()),
            PassingForm::Stream(_, reader) => Some(reader.said()),
            PassingForm::Unreadable => None,
        };
        if let Some((said, came)) = said.map(as_recorded) {
            (passed.said, passed.came) = (Some(said), came);
        }
        (passed.ended, passed.delivered) = (Some(now), Some(is_whole));
        let mut came = passed.came.clone();
        came.whole &= is_whole;
        self.talks.answered(attempt, passed.said.clone(), came);
        if let Some(recorded) = &mut self.recorded {
            recorded.over(AttemptId(attempt), conversation, passed);
        }
    }

    fn heard(&mut self, now: Duration, AttemptId(attempt): &AttemptId, heard: UpstreamPart<'_>) {
        let Some(passing) = self.passing.get_mut(attempt) else { return };
        match heard {
            UpstreamPart::Head { status, content_type, .. } => {
                passing.attempt.status = Some(status);
                passing.form = if content_type.starts_with("text/event-stream") {
                    PassingForm::Stream(SseParser::default(), Box::new(AnswerReader::new(passing.attempt.api)))
                } else {
                    PassingForm::Plain(Vec::new())
                };
            }
            UpstreamPart::Data(data) => {
                if let Some(recorded) = &mut self.recorded {
                    recorded.part(AttemptId(*attempt), now.saturating_sub(passing.attempt.at), data);
                }
                let is_readable = match &mut passing.form {
                    PassingForm::Plain(body) => {
                        body.extend_from_slice(data);
                        body.len() <= LONGEST_ANSWER
                    }
                    // An event that is none ends what can be read, as it does for the client.
                    PassingForm::Stream(parser, reader) => {
                        parser.push(data).iter().all(|event| reader.push(event).is_ok())
                    }
                    PassingForm::Unreadable => true,
                };
                if !is_readable {
                    passing.form = PassingForm::Unreadable;
                }
            }
            UpstreamPart::Unreachable(why) => passing.attempt.error = Some(why.to_owned()),
        }
    }
}
