//! GATE-STREAM: what the client gets as a stream is one of its API, as the official SDKs need it.

mod anthropic;
mod chat;
mod responses;

use super::Answer;
use super::heard::{HeardStream, is_done};
use super::stop::finish_of;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_apis::{AnswerEnd, Finish};
use threadspec_golden::clause;
use threadspec_judge::universal::value;
use threadspec_provider::{Said, WireLevel};

/// A fault in the form of a stream.
#[derive(Debug, PartialEq)]
struct FormFault {
    level: WireLevel,
    what: String,
}

/// An event, with its data read.
struct FormEvent<'a> {
    name: Option<&'a str>,
    data: Value,
}

/// The faults of a stream so far.
#[derive(Debug, Default)]
struct FormFaults(Vec<FormFault>);

impl FormFaults {
    fn must(&mut self, what: impl Into<String>) {
        self.0.push(FormFault { level: WireLevel::Must, what: what.into() });
    }

    fn should(&mut self, what: impl Into<String>) {
        self.0.push(FormFault { level: WireLevel::Should, what: what.into() });
    }
}

/// Judges the stream of an answer that was sent to its end: its first fault of each level.
pub(super) fn judge(answer: &mut Answer<'_, '_>, said: &Said, stream: &HeardStream) {
    let faults = faults(answer.api, stream, Excuses::of(said));
    for level in [WireLevel::Must, WireLevel::Should] {
        if let Some(fault) = faults.iter().find(|fault| fault.level == level) {
            answer.add(clause::GATE_STREAM, level, format!("the client's stream: {}", fault.what), Some(said), "");
        }
    }
}

/// Oddities of a stream that the model's own answer excuses.
#[derive(Clone, Copy, Debug, Default)]
struct Excuses {
    /// The limit ended the answer: the lack of a reason has another name.
    is_cut: bool,
    /// A call has no id.
    lacks_ids: bool,
    /// A call has no name.
    lacks_names: bool,
    /// How many calls there are.
    calls: u64,
}

impl Excuses {
    fn of(said: &Said) -> Self {
        Self {
            is_cut: finish_of(said) == Finish::Length,
            lacks_ids: said.calls.iter().any(|call| call.id.is_empty()),
            lacks_names: said.calls.iter().any(|call| call.name.is_empty()),
            calls: said.calls.len() as u64,
        }
    }
}

fn faults(api: Api, stream: &HeardStream, excuses: Excuses) -> Vec<FormFault> {
    let mut faults = FormFaults::default();
    let mut events = Vec::new();
    for (index, event) in stream.events.iter().enumerate() {
        if is_done(event) {
            if api == Api::OpenAiChat {
                events.push(FormEvent { name: None, data: Value::from("[DONE]") });
                continue;
            }
            // OpenAI's SDKs stop reading there, whatever the API; Anthropic's read no event without a name.
            if index + 1 == stream.events.len() {
                continue;
            }
        }
        match value::read(&event.data) {
            Ok(data) => events.push(FormEvent { name: event.name.as_deref(), data }),
            Err(why) => faults.must(format!("an event is no JSON ({why}): {}", crate::shown::quoted(&event.data))),
        }
    }
    if stream.has_rest {
        faults.must("the last event has no end, so that readers drop it");
    }
    match api {
        Api::OpenAiChat => chat::judge(&events, excuses, &mut faults),
        Api::OpenAiResponses => responses::judge(&events, &mut faults),
        Api::Anthropic => anthropic::judge(&events, excuses, &mut faults),
    }
    if let AnswerEnd::Failed(error) = &stream.read.end {
        let what = format!("it holds the error {}, and the model answered", crate::shown::quoted(&error.message));
        faults.0.insert(0, FormFault { level: WireLevel::Must, what });
    }
    if let Some(why) = &stream.error {
        faults.must(why);
    }
    faults.0
}

#[cfg(test)]
mod tests;
