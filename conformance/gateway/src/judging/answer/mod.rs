//! Compares the provider's answer with the answer that the client read.

mod end;
mod said;
mod stream;

use super::{At, GateJudging};
use crate::finding;
use crate::finding::Way;
use crate::run::{ClientExchange, SentByClient};
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::sse::{SseEvent, SseParser};
use threadspec_apis::{AnswerEnd, AnswerReader, ApiError, ReadAnswer, read_answer};
use threadspec_golden::clause;
use threadspec_judge::universal::{halves, value};
use threadspec_provider::client::ClientResponse;
use threadspec_provider::{Attempt, Said, WireLevel};

/// An answer on both sides.
struct Answer<'j, 'a> {
    judging: &'j mut GateJudging<'a>,
    at: At,
    exchange: &'a ClientExchange,
    sent: &'j SentByClient<'a>,
    attempt: &'a Attempt,
    /// The client's answer, as a text.
    read: String,
    /// The API that the client speaks.
    api: Api,
}

/// Judges what became of the last attempt of an exchange.
pub(super) fn judge<'a>(judging: &mut GateJudging<'a>, at: At, sent: &SentByClient<'a>, attempt: &Attempt) {
    let run = judging.run;
    let Some(attempt) = at.attempt.and_then(|position| run.attempt(position)).filter(|own| std::ptr::eq(*own, attempt))
    else {
        return;
    };
    let exchange = &run.exchanges[at.exchange];
    let read = exchange.response.as_ref().map(|response| String::from_utf8_lossy(&response.body()).into_owned());
    let mut answer = Answer { judging, at, exchange, sent, attempt, read: read.unwrap_or_default(), api: exchange.api };
    match (&attempt.said, attempt.status) {
        (Some(said), Some(200)) if attempt.came.whole => whole(&mut answer, said),
        (Some(said), Some(200)) => end::judge_cut(&mut answer, said),
        _ => end::judge_failed(&mut answer),
    }
}

/// An answer that was sent to its end.
fn whole(answer: &mut Answer<'_, '_>, said: &Said) {
    let Some(response) = &answer.exchange.response else {
        return answer.must(clause::GATE_SAID, "the model answered, and the client receives nothing", Some(said), "");
    };
    let heard = ClientHeard::of(answer.api, response);
    if response.status >= 400 || !(200..300).contains(&response.status) {
        if !said::may_be_refused(said) {
            let what = format!(
                "the model answered, and the client receives status {}: {}",
                response.status,
                finding::quoted(&heard.text)
            );
            answer.must(clause::GATE_STATUS, what, Some(said), "");
        }
        return;
    }
    if !response.is_whole {
        return answer.must(clause::GATE_SAID, "the answer breaks off on its way to the client", Some(said), "");
    }
    match &heard.form {
        HeardForm::Error(_) => {}
        HeardForm::Plain { .. } if answer.sent.request.stream => {
            answer.must(clause::GATE_STREAM, "a stream was asked for, and the answer is no stream", Some(said), "");
        }
        HeardForm::Stream(_) if !answer.sent.request.stream => {
            answer.must(clause::GATE_STREAM, "no stream was asked for, and the answer is a stream", Some(said), "");
        }
        HeardForm::Plain { read: Err(why), .. } => {
            answer.must(clause::GATE_SAID, format!("the answer cannot be read: {why}"), Some(said), "");
        }
        HeardForm::Plain { read: Ok(read), body } => {
            if let AnswerEnd::Failed(error) = &read.end {
                let what =
                    format!("the model answered, and the client reads the error {}", finding::quoted(&error.message));
                return answer.must(clause::GATE_STATUS, what, Some(said), "");
            }
            said::judge_blocks(answer, said, said::odd_blocks(answer.api, body));
            said::judge_said(answer, said, read);
            end::judge_stop(answer, said, read);
            said::judge_thoughts(answer, said, read);
        }
        HeardForm::Stream(events) => {
            let begun = answer.judging.findings.len();
            stream::judge(answer, said, events);
            said::judge_blocks(answer, said, said::odd_items(answer.api, &events.events));
            // What is read of a stream that is none is no fault of its own.
            if answer.judging.findings[begun..]
                .iter()
                .any(|finding| finding.clause == clause::GATE_STREAM && finding.level == WireLevel::Must)
            {
                return;
            }
            said::judge_said(answer, said, &events.read);
            end::judge_stop(answer, said, &events.read);
            said::judge_thoughts(answer, said, &events.read);
        }
    }
}

impl Answer<'_, '_> {
    fn must(&mut self, clause: &'static str, what: impl AsRef<str>, said: Option<&Said>, near: &str) {
        self.add(clause, WireLevel::Must, what, said, near);
    }

    fn should(&mut self, clause: &'static str, what: impl AsRef<str>, said: Option<&Said>, near: &str) {
        self.add(clause, WireLevel::Should, what, said, near);
    }

    /// Adds a finding, with what was sent and what was read near a text.
    fn add(&mut self, clause: &'static str, level: WireLevel, what: impl AsRef<str>, said: Option<&Said>, near: &str) {
        let before = said.map_or_else(|| self.refusal(), |said| serde_json::to_string(said).unwrap_or_default());
        let sides =
            finding::sides(Way::Answer, finding::near(&before, near), finding::near(&self.read, near), self.exchange);
        self.judging.add(self.at, clause, level, what, Some(sides));
    }

    /// How the provider refused.
    fn refusal(&self) -> String {
        let Attempt { status, error, .. } = self.attempt;
        match status {
            Some(status) => format!("status {status}: {}", error.as_deref().unwrap_or_default()),
            None => "nothing, and the connection closed".to_owned(),
        }
    }

    fn response(&self) -> Option<&ClientResponse> {
        self.exchange.response.as_ref()
    }
}

// Reads the answer that a client received, as the SDKs of its API read it.

/// An answer as it was received.
#[derive(Debug)]
struct ClientHeard {
    status: u16,
    /// The body as a text.
    text: String,
    form: HeardForm,
}

/// In which form it came.
#[derive(Debug)]
enum HeardForm {
    /// A status of 400 or more.
    Error(ApiError),
    /// One text of JSON.
    Plain { body: Value, read: Result<ReadAnswer, String> },
    /// Events.
    Stream(HeardStream),
}

/// A stream of events.
#[derive(Debug)]
struct HeardStream {
    events: Vec<SseEvent>,
    /// The answer up to its end, or up to the part that cannot be read.
    read: ReadAnswer,
    /// Why an event could not be read.
    error: Option<String>,
    /// True if an event began that has no end.
    has_rest: bool,
}

impl ClientHeard {
    fn of(api: Api, response: &ClientResponse) -> Self {
        let bytes = response.body();
        let text = halves::decode(&bytes)
            .map_or_else(|_| String::from_utf8_lossy(&bytes).into_owned(), |text| without_marks(&text).into_owned());
        let is_json = || text.trim_start().starts_with(['{', '[']);
        let is_stream = response.header("content-type").is_some_and(|kind| kind.contains("event-stream"))
            || ["data:", "event:", ":"].iter().any(|begin| text.trim_start().starts_with(begin));
        let form = if response.status >= 400 {
            let body = value::read(&text).unwrap_or_else(|_| Value::from(text.as_str()));
            HeardForm::Error(ApiError::read(response.status, &body))
        } else if is_stream && !is_json() {
            HeardForm::Stream(HeardStream::of(api, &bytes))
        } else {
            let decoded = str::from_utf8(&bytes).map_err(|error| format!("it is not UTF-8: {error}"));
            let body = decoded.and_then(|text| value::read(text).map_err(|error| format!("it is no JSON: {error}")));
            match body {
                Ok(body) => HeardForm::Plain { read: read_answer(api, &body).map_err(|error| error.to_string()), body },
                Err(why) => HeardForm::Plain { body: Value::Null, read: Err(why) },
            }
        };
        Self { status: response.status, text, form }
    }

    /// Returns the readable part, if there is one.
    fn read(&self) -> Option<&ReadAnswer> {
        match &self.form {
            HeardForm::Error(_) => None,
            HeardForm::Plain { read, .. } => read.as_ref().ok(),
            HeardForm::Stream(stream) => Some(&stream.read),
        }
    }
}

impl HeardStream {
    fn of(api: Api, bytes: &[u8]) -> Self {
        let mut parser = SseParser::default();
        let events = parser.push(bytes);
        let mut reader = AnswerReader::new(api);
        // SDKs go no further than an event that they cannot read, and `[DONE]` is none that they read.
        let read = events.iter().filter(|event| !is_done(event));
        let error = read.into_iter().find_map(|event| reader.push(event).err()).map(|error| error.to_string());
        Self { read: reader.said(), error, has_rest: !parser.is_between_events(), events }
    }
}

/// Returns whether an event is the last line of a chat's stream, which gateways write behind streams of other APIs, too.
fn is_done(event: &SseEvent) -> bool {
    event.data.trim() == "[DONE]"
}
