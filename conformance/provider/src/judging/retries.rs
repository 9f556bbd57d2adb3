//! WIRE-RETRY: after a failed attempt comes the same request, one that goes on with what came whole (which is a new ask), or none.

use super::{Numbered, WireFindings, is_final, neighbours, numbered};
use crate::record::{Attempt, WireRecord};
use threadspec_apis::{ApiRequest, DeclaredTool, WireCall, WireMessage};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;

const CLAUSE: &str = clause::WIRE_RETRY;
/// How many attempts an answer is worth.
const MOST_ATTEMPTS: usize = 10;

pub(super) fn judge(record: &WireRecord, findings: &mut WireFindings) {
    for (before, next) in neighbours(record) {
        if is_refused(before.attempt) {
            if is_unchanged(before.attempt, next.attempt) {
                let status = before.attempt.status.unwrap_or_default();
                let what = format!("the attempt before was refused with {status}, and comes again unchanged");
                findings.must(CLAUSE, format!("{next}: {what}"));
            }
        } else if let Some(what) = change(before, next).filter(|_| !findings.breaks(clause::WIRE_PARTIAL)) {
            findings
                .must(CLAUSE, format!("{next}: the attempt before failed, and this is not the same request: {what}"));
        }
    }
    for ask in 0..record.asks() {
        let count = numbered(record, ask).count();
        if count > MOST_ATTEMPTS {
            let what = format!("{count} attempts for one answer; after {MOST_ATTEMPTS} it is time to give up");
            findings.must(CLAUSE, format!("request {}: {what}", ask + 1));
        }
    }
}

fn is_refused(attempt: &Attempt) -> bool {
    attempt.status.is_some_and(is_final)
}

/// Returns whether an attempt says the same as the one before, byte for byte and with the same betas.
fn is_unchanged(before: &Attempt, next: &Attempt) -> bool {
    before.body == next.body && before.beta == next.beta && before.target == next.target
}

/// Describes the first difference between a retry and the attempt before it.
fn change(before: Numbered<'_>, next: Numbered<'_>) -> Option<String> {
    let (Some(one), Some(other)) = (&before.attempt.request, &next.attempt.request) else { return None };
    changed_messages(one, other).or_else(|| changed_tools(one, other))
}

fn changed_messages(one: &ApiRequest, other: &ApiRequest) -> Option<String> {
    let same = one.messages.iter().zip(&other.messages).take_while(|(one, other)| says_same(one, other)).count();
    if same == one.messages.len() && same == other.messages.len() {
        return None;
    }
    Some(match (one.messages.get(same), other.messages.get(same)) {
        (Some(lost), Some(found)) => format!("message {} was {}, and is {}", same + 1, shown(lost), shown(found)),
        (Some(lost), None) => format!("message {} is missing: {}", same + 1, shown(lost)),
        (None, Some(found)) => format!("message {} is new: {}", same + 1, shown(found)),
        (None, None) => String::new(),
    })
}

fn says_same(one: &WireMessage, other: &WireMessage) -> bool {
    let call =
        |(one, other): (&WireCall, &WireCall)| one.id == other.id && one.name == other.name && one.args == other.args;
    one.speaker == other.speaker
        && one.content == other.content
        && one.call_id == other.call_id
        && one.calls.len() == other.calls.len()
        && one.calls.iter().zip(&other.calls).all(call)
}

/// Who says what, in a few words.
fn shown(message: &WireMessage) -> String {
    const LONGEST: usize = 60;
    let who = match message.speaker {
        Speaker::System => "a system text",
        Speaker::Human => "a text of the user",
        Speaker::Ai if message.calls.is_empty() => "a text of the assistant",
        Speaker::Ai => "a message with calls",
        Speaker::Tool => "an answer",
    };
    let id = message.call_id.as_ref().map(|id| format!(" to `{id}`")).unwrap_or_default();
    let text: String = message.content.chars().take(LONGEST).collect();
    let more = if text.len() < message.content.len() { "…" } else { "" };
    format!("{who}{id}, {text:?}{more}")
}

fn changed_tools(one: &ApiRequest, other: &ApiRequest) -> Option<String> {
    let declared = |request: &ApiRequest| {
        let of = |tool: &DeclaredTool| {
            (tool.name.clone(), tool.kind.clone(), tool.schema.clone().map(|schema| schema.to_string()))
        };
        let mut tools: Vec<_> = request.tools.iter().map(of).collect();
        tools.sort();
        tools
    };
    let (ours, theirs) = (declared(one), declared(other));
    (ours != theirs).then(|| {
        if ours.len() == theirs.len() {
            "other tools are declared".to_owned()
        } else {
            format!("{} tools are declared, and were {}", theirs.len(), ours.len())
        }
    })
}
