//! Judges that a run changes no list of others, and has nothing of other runs.

use crate::universal::Property;
use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::AgentMessage;
use crate::universal::others::Strangers;
use crate::universal::record::LOOKS_SHARED;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// Judges AGENT-SHARED: the list that the model was handed is not changed afterwards.
pub(super) fn shared(course: &Course<'_>, findings: &mut Findings) {
    let record = course.record;
    if record.is_over_wire {
        // What was sent as bytes cannot change.
        return;
    }
    let why = match &record.requests_at_end {
        // What is no copy says nothing about what was sent.
        _ if record.looks_shared => LOOKS_SHARED,
        None => "the reply has no `requestsAtEnd`: what became of a request after it was sent cannot be seen",
        Some(at_end) => {
            for (request, (sent, now)) in record.requests.iter().zip(at_end).enumerate() {
                compare(request, sent, now, findings);
            }
            return;
        }
    };
    findings.unobserved.push((Property::AgentShared, why.into()));
}

/// Adds the first difference of a request.
fn compare(request: usize, sent: &[AgentMessage], now: &[AgentMessage], findings: &mut Findings) {
    let changed = sent.iter().zip(now).position(|(one, other)| !one.is(other));
    if let Some(index) = changed {
        let [before, after] = sent[index].apart(&now[index]);
        let what = format!("{}: after it was sent, {before} became {after}", at(request, index));
        findings.add(clause::AGENT_SHARED, what);
    } else if sent.len() != now.len() {
        let (request, before, after) = (request + 1, sent.len(), now.len());
        let what = format!("request {request} had {before} messages when it was sent, and has {after} at the end");
        findings.add(clause::AGENT_SHARED, what);
    }
}

/// Judges AGENT-CALLER: the caller's own list is not changed.
pub(super) fn caller(course: &Course<'_>, findings: &mut Findings) {
    let given = &course.script.given;
    let Some(after) = &course.record.given else {
        let why = "the reply has no `given`: what became of the caller's list cannot be seen";
        findings.unobserved.push((Property::AgentCaller, why.into()));
        return;
    };
    let same = |(one, other): (&AgentMessage, &AgentMessage)| {
        arrived(one.text(), other.text()) && one.speaker == other.speaker && one.calls.len() == other.calls.len()
    };
    if given.len() != after.len() {
        let what =
            format!("the caller's list had {} messages before the run, and {} after it", given.len(), after.len());
        findings.add(clause::AGENT_CALLER, what);
    } else if let Some(index) = given.iter().zip(after).position(|pair| !same(pair)) {
        let [before, after] = given[index].apart(&after[index]);
        findings
            .add(clause::AGENT_CALLER, format!("message {} of the caller's list: {before} became {after}", index + 1));
    }
}

/// Judges AGENT-INDEPENDENT: runs in one process do not influence each other.
///
/// `strangers` are the texts and ids that only other runs have.
pub(crate) fn independent(course: &Course<'_>, strangers: &Strangers<'_>, findings: &mut Findings) {
    let lists = course.record.requests.iter().enumerate().map(|(number, list)| (Some(number), list));
    for (number, list) in lists.chain(course.record.messages.iter().map(|list| (None, list))) {
        for (index, message) in list.iter().enumerate() {
            let ids = message.calls.iter().flat_map(|call| &call.id);
            let mut texts = message.content.iter().chain(&message.call_id).chain(ids);
            if let Some(text) = texts.find(|text| strangers.contain(text)) {
                let place =
                    number.map_or(format!("the list at the end, message {}", index + 1), |number| at(number, index));
                findings.add(
                    clause::AGENT_INDEPENDENT,
                    format!("{place}: `{}` comes from another run", without_marks(text)),
                );
                return;
            }
        }
    }
}
