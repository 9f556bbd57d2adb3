//! Writes the requests to a provider that runs alone, line by line, and judges them again.
//!
//! The first line is a [`header`]. Then comes a line for each attempt whose answer is over. No line holds a key.

use super::conversations::{AskedTalk, Talk, Talks};
use super::found_in;
use crate::Error;
use crate::exchange::{AttemptId, PlannedAnswer, WireStep};
use crate::record::{Attempt, WireRecord};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::time::Duration;
use threadspec_judge::universal::value;

/// The version of the format.
const VERSION: u64 = 1;
/// Members whose texts name something, and are no content.
const NAMES: &[&str] = &[
    "type",
    "role",
    "id",
    "name",
    "model",
    "call_id",
    "tool_call_id",
    "tool_use_id",
    "previous_response_id",
    "item_id",
    "object",
    "status",
    "finish_reason",
    "stop_reason",
    "tool_choice",
    "include",
];

/// The first line of a transcript.
pub fn header() -> String {
    json!({"provider": VERSION, "threadspec": env!("CARGO_PKG_VERSION")}).to_string()
}

/// An attempt that is over.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ExchangeLine {
    /// The conversation that it belongs to, counted from 0.
    pub(super) conversation: usize,
    /// The attempt with its answer.
    pub(super) attempt: Attempt,
    /// The parts of the answer, with the milliseconds since the request came.
    pub(super) sent: Vec<(u64, String)>,
}

impl ExchangeLine {
    /// The line, with texts as their length and hash if it is redacted.
    pub(super) fn line(&self, redacted: bool) -> String {
        let mut line = serde_json::to_value(self).unwrap_or_default();
        if redacted {
            redact_attempt(&mut line);
        }
        line.to_string()
    }
}

/// The lines of a transcript that is being made.
#[derive(Debug)]
pub(super) struct LineRecorder {
    redacted: bool,
    sent: HashMap<AttemptId, Vec<(u64, String)>>,
    lines: Vec<String>,
}

impl LineRecorder {
    pub(super) fn new(redacted: bool) -> Self {
        Self { redacted, sent: HashMap::new(), lines: Vec::new() }
    }

    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines)
    }

    /// Notes what is to be answered, and when.
    pub(super) fn plan(&mut self, attempt: AttemptId, answer: &PlannedAnswer) {
        let mut time = answer.delay;
        for step in &answer.steps {
            match step {
                WireStep::Wait(pause) => time += *pause,
                WireStep::Write(bytes) => self.part(attempt, time, bytes),
            }
        }
    }

    /// Notes a part of an answer.
    pub(super) fn part(&mut self, attempt: AttemptId, since: Duration, bytes: &[u8]) {
        let milliseconds = u64::try_from(since.as_millis()).unwrap_or(u64::MAX);
        self.sent.entry(attempt).or_default().push((milliseconds, String::from_utf8_lossy(bytes).into_owned()));
    }

    /// Writes the line of an attempt whose answer is over.
    pub(super) fn over(&mut self, id: AttemptId, conversation: usize, attempt: Attempt) {
        let sent = self.sent.remove(&id).unwrap_or_default();
        self.lines.push(ExchangeLine { conversation, attempt, sent }.line(self.redacted));
    }
}

/// Judges the lines of a transcript again, as they were judged when they came.
///
/// # Errors
///
/// Says which line is none of a transcript.
pub fn judge_again<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Vec<Talk>, Error> {
    let mut exchanges = Vec::new();
    for (number, line) in lines.into_iter().enumerate() {
        let wrong = |why: &dyn std::fmt::Display| Error::new("", format_args!("line {}: {why}", number + 1));
        if number == 0 {
            let header: Value = serde_json::from_str(line).map_err(|error| wrong(&error))?;
            if header["provider"] != VERSION {
                return Err(wrong(&"it is not the first line of a provider's transcript, of a version that is known"));
            }
            continue;
        }
        exchanges.push(serde_json::from_str::<ExchangeLine>(line).map_err(|error| wrong(&error))?);
    }
    Ok(replayed(&exchanges))
}

fn replayed(exchanges: &[ExchangeLine]) -> Vec<Talk> {
    let mut happened: Vec<(Duration, bool, usize)> = Vec::new();
    for (index, ExchangeLine { attempt, .. }) in exchanges.iter().enumerate() {
        happened.push((attempt.at, true, index));
        // No answer is over before its request came, however coarse the clock.
        let ended = attempt.ended.unwrap_or(attempt.at).max(attempt.at + Duration::from_nanos(1));
        happened.push((ended, false, index));
    }
    // Of what happened at the same time, an answer comes before the request that it leads to.
    happened.sort_by_key(|&(time, is_request, index)| (time, is_request, index));
    let mut talks = Talks::default();
    let mut records: HashMap<usize, WireRecord> = HashMap::new();
    for (time, is_request, index) in happened {
        let attempt = &exchanges[index].attempt;
        if !is_request {
            talks.answered(index as u64, attempt.said.clone(), came(attempt));
            continue;
        }
        let body = value::read(attempt.resolved.as_deref().unwrap_or(&attempt.body)).unwrap_or_default();
        let Some(request) = &attempt.request else { continue };
        let AskedTalk { number, found, .. } = talks.ask(time, index as u64, request, &body);
        let record = records.entry(number).or_insert_with(|| WireRecord {
            api: attempt.api,
            key: String::new(),
            began: attempt.at,
            ended: attempt.at,
            attempts: Vec::new(),
            strays: Vec::new(),
            runs: Vec::new(),
        });
        record.attempts.push(attempt.clone());
        talks.tell(number, found, found_in(record));
    }
    talks.all().cloned().collect()
}

/// Returns the part of an answer that came, if its client took it.
fn came(attempt: &Attempt) -> crate::record::Came {
    let mut came = attempt.came.clone();
    came.whole &= attempt.delivered != Some(false);
    came
}

/// Replaces texts by their length and hash: what names something stays, and equal texts stay equal.
fn redact_attempt(line: &mut Value) {
    if let Some(attempt) = line.get_mut("attempt").and_then(Value::as_object_mut) {
        for name in ["body", "resolved"] {
            if let Some(Value::String(text)) = attempt.get_mut(name) {
                *text = match value::read(text) {
                    Ok(mut body) => {
                        redact(&mut body, false);
                        body.to_string()
                    }
                    Err(_) => stand_in(text),
                };
            }
        }
        for name in ["said", "came", "error"] {
            if let Some(member) = attempt.get_mut(name) {
                redact(member, name == "error");
            }
        }
        attempt.insert("breaches".into(), redacted_breaches(attempt.get("breaches")));
    }
    if let Some(Value::Array(sent)) = line.get_mut("sent") {
        sent.iter_mut().filter_map(|part| part.get_mut(1)).for_each(|part| redact(part, true));
    }
}

/// Breaches quote what is wrong.
fn redacted_breaches(breaches: Option<&Value>) -> Value {
    let mut breaches = breaches.cloned().unwrap_or_default();
    for breach in breaches.as_array_mut().into_iter().flatten() {
        breach["what"] = stand_in(breach["what"].as_str().unwrap_or_default()).into();
    }
    breaches
}

fn redact(value: &mut Value, is_content: bool) {
    match value {
        Value::String(text) if is_content => *text = stand_in(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| redact(element, is_content)),
        Value::Object(members) => redact_members(members),
        _ => {}
    }
}

fn redact_members(members: &mut Map<String, Value>) {
    for (name, member) in members {
        match member {
            // It has to stay the JSON text of an object.
            Value::String(text) if name == "arguments" => *text = json!({ "redacted": stand_in(text) }).to_string(),
            member => redact(member, !NAMES.contains(&name.as_str())),
        }
    }
}

fn stand_in(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("{} bytes, {}", text.len(), crate::http::disguised(text))
}
