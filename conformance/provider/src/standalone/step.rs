//! Judges whether a request of a conversation continues the one before it, with its answer.
//!
//! Nobody knows what a program that is alone was given, or what its tools give. So this judges only what its own requests and the
//! answers to them show: AGENT-PREFIX, -RESPONSE, -IDS and -ANSWERED.

use crate::judging::{WireFinding, WireLevel};
use crate::record::{Came, Said, SaidByModel};
use threadspec_apis::follow::{Loss, LossKind};
use threadspec_apis::{ApiRequest, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::text::{beginning, count};
use threadspec_judge::universal::value;

/// How much of a text a finding shows, in characters.
const SHOWN: usize = 60;

/// Judges how a request continues the one before, which was answered with `said`, of which `came` arrived.
pub(super) fn judge_step(before: &ApiRequest, said: &Said, came: &Came, now: &ApiRequest) -> Vec<WireFinding> {
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
    }
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

/// A change of what was sent before, if the answer to it is in the request all the same.
fn change(before: &[WireMessage], said: &Said, now: &[WireMessage], at: usize) -> Option<WireFinding> {
    let is_answer =
        |message: &WireMessage| message.calls.iter().any(|call| said.calls.iter().any(|one| one.id == call.id));
    let behind = now.iter().position(is_answer)?;
    let (earlier, place) = (before.get(at)?, &now.get(at)?.place);
    if joined(before) == joined(&now[..behind]) {
        return None;
    }
    let what = format!("{place}: it is not what it was, {} with the text {}", earlier.place, quoted(&earlier.content));
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

/// A change of what was sent before, with the first byte that differs and how many bytes are sent again.
pub(super) fn changed(loss: &Loss, resent: usize) -> WireFinding {
    let how = match &loss.how {
        LossKind::Changed(divergence) => {
            let path = if divergence.path.is_empty() { String::new() } else { format!("{} ", divergence.path) };
            format!(
                "{path}differs from byte {} on: {:?}, before {:?}",
                divergence.byte, divergence.now, divergence.before
            )
        }
        LossKind::Removed(piece) => format!("{piece} is gone"),
        LossKind::Inserted => "it was not there before".to_owned(),
        LossKind::Forgotten => "it is not what it was".to_owned(),
    };
    must(clause::AGENT_PREFIX, format!("{}: {how}; {} from here on are sent again", loss.place, count(resent, "byte")))
}
