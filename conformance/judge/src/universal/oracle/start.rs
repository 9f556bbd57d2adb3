//! AGENT-START: request 1 is the given list, value for value.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::message::{AgentMessage, Conversation, Placed, Speaker};
use crate::universal::value::{DifferenceKind, ValueDifference, differences, quote, text_became, text_difference};
use crate::universal::{halves, systems, valid};
use serde_json::Value;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_START;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let Some(request) = course.requests.first() else { return };
    let given = Conversation::of(&course.script.given);
    // A history that no provider accepts is a matter of AGENT-HISTORY.
    if valid::faults(&course.script.given).iter().any(|fault| fault.pairing) {
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
                    findings.add(CLAUSE, format!("{}: {what}", at(0, other.index)));
                    break;
                }
                compare(*one, *other, course.exact, findings);
            }
            (Some(one), None) => {
                let place = one.index + 1;
                findings.add(
                    CLAUSE,
                    format!("request 1: message {place} of the given list is missing: {}", one.message.shown()),
                );
                break;
            }
            (None, Some(other)) => {
                findings.add(CLAUSE, format!("{}: nobody gave {}", at(0, other.index), other.message.shown()));
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
        (Some(one), Some(other)) => halves::arrived(one, other),
        (None, None) => true,
        _ => false,
    };
    let same_id = |one: &Option<String>, other: &Option<String>| {
        same(one, other) || one.as_ref().zip(other.as_ref()).is_some_and(|(one, other)| super::ids::is_cut(one, other))
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
    findings.add_differences(CLAUSE, &place, &found);
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
            CLAUSE,
            "system",
            &[ValueDifference { kind: kind.unwrap_or(DifferenceKind::Other), what }],
        );
    } else if systems::places(given, request).is_empty() {
        findings.add(CLAUSE, "request 1: the system message is neither where it was given nor first nor last");
    }
}
