//! Compares the provider's answer with the answer that the client read.
//!
//! | module | what it judges |
//! |---|---|
//! | `heard` | an answer as the client reads it |
//! | `said` | GATE-SAID, and GATE-INVENTED, GATE-IDS in answers |
//! | `stop` | GATE-STOP |
//! | `thoughts` | GATE-THINKING, and GATE-OPAQUE in answers |
//! | `failed` | GATE-STATUS, GATE-WORDS, GATE-WAIT |
//! | `cut` | GATE-CUT |
//! | `stream` | GATE-STREAM: the form of streams |

mod cut;
mod failed;
mod heard;
mod said;
mod stop;
mod stream;
mod thoughts;

use super::{At, GateJudging};
use crate::exchange::ClientExchange;
use crate::finding::Way;
use crate::sent::SentByClient;
use crate::shown;
use heard::{ClientHeard, HeardForm};
use threadspec::oracle::Api;
use threadspec_apis::AnswerEnd;
use threadspec_golden::clause;
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
        (Some(said), Some(200)) => cut::judge(&mut answer, said),
        _ => failed::judge(&mut answer),
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
                shown::quoted(&heard.text)
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
            answer.must(clause::GATE_STREAM, "a stream was asked for, and the answer is none", Some(said), "");
        }
        HeardForm::Stream(_) if !answer.sent.request.stream => {
            answer.must(clause::GATE_STREAM, "no stream was asked for, and the answer is one", Some(said), "");
        }
        HeardForm::Plain { read: Err(why), .. } => {
            answer.must(clause::GATE_SAID, format!("the answer cannot be read: {why}"), Some(said), "");
        }
        HeardForm::Plain { read: Ok(read), body } => {
            if let AnswerEnd::Failed(error) = &read.end {
                let what =
                    format!("the model answered, and the client reads the error {}", shown::quoted(&error.message));
                return answer.must(clause::GATE_STATUS, what, Some(said), "");
            }
            said::judge_blocks(answer, said, said::odd_blocks(answer.api, body));
            said::judge(answer, said, read);
            stop::judge(answer, said, read);
            thoughts::judge(answer, said, read);
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
            said::judge(answer, said, &events.read);
            stop::judge(answer, said, &events.read);
            thoughts::judge(answer, said, &events.read);
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
        let sides = shown::sides(Way::Answer, shown::near(&before, near), shown::near(&self.read, near), self.exchange);
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
