//! AGENT-SHARED: the list that the model was handed is not changed afterwards.

use crate::universal::Property;
use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::message::AgentMessage;
use crate::universal::record::LOOKS_SHARED;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_SHARED;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
        findings.add(CLAUSE, what);
    } else if sent.len() != now.len() {
        let (request, before, after) = (request + 1, sent.len(), now.len());
        let what = format!("request {request} had {before} messages when it was sent, and has {after} at the end");
        findings.add(CLAUSE, what);
    }
}
