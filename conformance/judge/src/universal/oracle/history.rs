//! Judges how requests begin: with the given history, and with everything that was sent before.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::halves::{arrived, arrived_inside};
use crate::universal::message::{AgentMessage, Conversation, Placed, Speaker};
use crate::universal::systems::{self, places};
use crate::universal::valid::faults;
use crate::universal::value::{
    DifferenceKind, ValueDifference, differences, quote, quote_text, text_became, text_difference,
};
use serde_json::Value;
use threadspec_golden::clause;

/// Judges AGENT-HISTORY: a given list with an unanswered call or an orphan is fixed or refused, never sent as it is.
pub(super) fn history(course: &Course<'_>, findings: &mut Findings) {
    let (given, Some(request)) = (&course.script.given, course.record.requests.first()) else { return };
    if !faults(given).iter().any(|fault| fault.pairing) {
        return;
    }
    for fault in faults(request).into_iter().filter(|fault| fault.pairing) {
        findings.add(clause::AGENT_HISTORY, format!("{}: {}", at(0, fault.index), fault.what));
    }
    for role in [Speaker::System, Speaker::Human] {
        let texts = texts(given, role);
        let sent: Vec<&str> =
            request.iter().filter(|message| message.speaker == role).map(AgentMessage::text).collect();
        if let Some(lost) = lost(&texts, &sent, |text, sent| arrived(text, sent) || arrived_inside(text, sent)) {
            let who = if role == Speaker::System { "system" } else { "human" };
            findings.add(
                clause::AGENT_HISTORY,
                format!("request 1: the {who} message {} of the given list is lost", quote_text(lost)),
            );
        }
    }
    let said: Vec<&str> = texts(given, Speaker::Ai).into_iter().filter(|text| !text.trim().is_empty()).collect();
    let sent: Vec<&str> =
        request.iter().filter(|message| message.speaker == Speaker::Ai).map(AgentMessage::text).collect();
    if let Some(lost) = lost(&said, &sent, arrived_inside) {
        findings.add(
            clause::AGENT_HISTORY,
            format!("request 1: the assistant's text {} of the given list is lost", quote_text(lost)),
        );
    }
}

fn texts(list: &[AgentMessage], role: Speaker) -> Vec<&str> {
    list.iter().filter(|message| message.speaker == role).map(AgentMessage::text).collect()
}

/// The first text that is not among those sent, in order; several may be in one message.
fn lost<'a>(texts: &[&'a str], sent: &[&str], fits: impl Fn(&str, &str) -> bool) -> Option<&'a str> {
    let mut place = 0;
    for text in texts {
        let Some(found) = (place..sent.len()).find(|&index| fits(text, sent[index])) else { return Some(text) };
        // A text that is only a part of a message may be joined with the next one: look there again.
        place = if sent[found].len() > text.len() { found } else { found + 1 };
    }
    None
}

/// Judges AGENT-START: request 1 is the given list, value for value.
pub(super) fn start(course: &Course<'_>, findings: &mut Findings) {
    let Some(request) = course.requests.first() else { return };
    let given = Conversation::of(&course.script.given);
    // A history that no provider accepts is a matter of AGENT-HISTORY.
    if faults(&course.script.given).iter().any(|fault| fault.pairing) {
        return;
    }
    systems(&given, request, findings);
    let (mut ours, mut theirs) = (given.rest.iter(), request.rest.iter());
    loop {
        match (ours.next(), theirs.next()) {
            (None, None) => break,
            (Some(one), Some(other)) => {
                if let Some(what) = of_another_kind(one.message, other.message) {
                    // All that follows is out of place, so one finding is enough.
                    findings.add(clause::AGENT_START, format!("{}: {what}", at(0, other.index)));
                    break;
                }
                compare(*one, *other, course.exact, findings);
            }
            (Some(one), None) => {
                let place = one.index + 1;
                findings.add(
                    clause::AGENT_START,
                    format!("request 1: message {place} of the given list is missing: {}", one.message.shown()),
                );
                break;
            }
            (None, Some(other)) => {
                findings
                    .add(clause::AGENT_START, format!("{}: nobody gave {}", at(0, other.index), other.message.shown()));
                break;
            }
        }
    }
}

fn of_another_kind(one: &AgentMessage, other: &AgentMessage) -> Option<String> {
    let calls = |message: &AgentMessage| message.calls.len();
    (one.speaker != other.speaker || calls(one) != calls(other)).then(|| {
        let [expected, found] = one.apart(other);
        format!("expected {expected}, found {found}")
    })
}

fn compare(one: Placed<'_>, other: Placed<'_>, exact: bool, findings: &mut Findings) {
    let place = at(0, other.index);
    let (one, other) = (one.message, other.message);
    let actual = if one.speaker == Speaker::Ai { Some(other.text()) } else { other.content.as_deref() };
    let mut found = Vec::new();
    if let (Some(content), Some(kind)) =
        (&one.content, one.content.as_ref().and_then(|text| text_difference(text, actual)))
    {
        found.push(ValueDifference { kind, what: format!("the text {}", text_became(content, actual)) });
    }
    let same = |one: &Option<String>, other: &Option<String>| match (one, other) {
        (Some(one), Some(other)) => arrived(one, other),
        (None, None) => true,
        _ => false,
    };
    let same_id = |one: &Option<String>, other: &Option<String>| {
        same(one, other)
            || one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| super::calls::is_cut(one, other))
    };
    if !same_id(&one.call_id, &other.call_id) {
        found.push(ValueDifference {
            kind: DifferenceKind::Other,
            what: format!("{} became {}", one.shown(), other.shown()),
        });
    }
    for (call, sent) in one.calls.iter().zip(&other.calls) {
        if !same_id(&call.id, &sent.id) || !same(&call.name, &sent.name) {
            let (call, sent) = (
                quote(&Value::from([call.id(), call.name()].to_vec())),
                quote(&Value::from([sent.id(), sent.name()].to_vec())),
            );
            found.push(ValueDifference { kind: DifferenceKind::Other, what: format!("the call {call} became {sent}") });
        }
        found.extend(differences(&call.args, &sent.args, exact));
    }
    findings.add_differences(clause::AGENT_START, &place, &found);
}

fn systems(given: &Conversation<'_>, request: &Conversation<'_>, findings: &mut Findings) {
    if !systems::carry(&given.systems, &request.systems) {
        let texts = |systems: &[Placed<'_>]| {
            quote(&Value::from(systems.iter().map(|placed| placed.message.text()).collect::<Vec<_>>()))
        };
        let what =
            format!("request 1: the system messages {} became {}", texts(&given.systems), texts(&request.systems));
        // A text that was changed may belong to AGENT-TEXT.
        let kind = match (&given.systems[..], &request.systems[..]) {
            ([one], [other]) => text_difference(one.message.text(), other.message.content.as_deref()),
            _ => None,
        };
        findings.add_differences(
            clause::AGENT_START,
            "system",
            &[ValueDifference { kind: kind.unwrap_or(DifferenceKind::Other), what }],
        );
    } else if places(given, request).is_empty() {
        findings
            .add(clause::AGENT_START, "request 1: the system message is neither where it was given nor first nor last");
    }
}

/// Judges AGENT-PREFIX: request n+1 begins with request n, and system messages stay where they are.
pub(super) fn prefix(course: &Course<'_>, findings: &mut Findings) {
    for (turn, index) in course.broken_prefixes() {
        let (before, next) = (&course.requests[turn], &course.requests[turn + 1]);
        let lost = before.rest[index];
        let what = match next.rest.get(index) {
            Some(other) => {
                let [expected, found] = lost.message.apart(other.message);
                let (place, request) = (at(turn + 1, other.index), turn + 1);
                format!("{place}: expected {expected}, as in request {request}, found {found}")
            }
            None => format!(
                "request {}: message {} of request {} is missing: {}",
                turn + 2,
                lost.index + 1,
                turn + 1,
                lost.message.shown()
            ),
        };
        findings.add(clause::AGENT_PREFIX, what);
    }
    system_texts(course, findings);
}

fn system_texts(course: &Course<'_>, findings: &mut Findings) {
    let Some(first) = course.requests.first() else { return };
    let given = Conversation::of(&course.script.given);
    let mut possible = places(&given, first);
    // A fixed history may have other places; what counts is that they stay.
    let as_first = possible.is_empty();
    for (number, request) in course.requests.iter().enumerate().skip(1) {
        let texts = |list: &Conversation<'_>| {
            list.systems.iter().map(|placed: &Placed<'_>| placed.message.content.clone()).collect::<Vec<_>>()
        };
        if texts(request) != texts(first) {
            findings.add(
                clause::AGENT_PREFIX,
                format!("request {}: the system messages are not those of request 1", number + 1),
            );
            return;
        }
        let now = places(if as_first { first } else { &given }, request);
        if as_first {
            possible = places(first, first);
        }
        possible.retain(|place| now.contains(place));
        if possible.is_empty() {
            findings.add(
                clause::AGENT_PREFIX,
                format!("request {}: the system message is elsewhere than before", number + 1),
            );
            return;
        }
    }
}

/// Judges AGENT-VALID: every request is a list that providers accept. It names only what no other clause explains.
pub(super) fn valid(course: &Course<'_>, findings: &mut Findings) {
    const EXPLAIN: [&str; 8] = [
        clause::AGENT_HISTORY,
        clause::AGENT_START,
        clause::AGENT_PREFIX,
        clause::AGENT_RESPONSE,
        clause::AGENT_IDS,
        clause::AGENT_ANSWERED,
        clause::AGENT_FAILURE,
        clause::AGENT_RESULT,
    ];
    if findings.breaks(&EXPLAIN) {
        return;
    }
    for (number, request) in course.record.requests.iter().enumerate() {
        for fault in faults(request) {
            findings.add(clause::AGENT_VALID, format!("{}: {}", at(number, fault.index), fault.what));
        }
        if findings.breaks(&[clause::AGENT_VALID]) {
            // Later requests repeat it.
            return;
        }
    }
}
