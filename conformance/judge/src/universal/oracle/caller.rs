//! AGENT-CALLER: the caller's own list is not changed.

use crate::universal::Property;
use crate::universal::course::Course;
use crate::universal::finding::Findings;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let given = &course.script.given;
    let Some(after) = &course.record.given else {
        let why = "the reply has no `given`: what became of the caller's list cannot be seen";
        findings.unobserved.push((Property::AgentCaller, why.into()));
        return;
    };
    let same = |(one, other): (&crate::universal::message::AgentMessage, &crate::universal::message::AgentMessage)| {
        crate::universal::halves::arrived(one.text(), other.text())
            && one.speaker == other.speaker
            && one.calls.len() == other.calls.len()
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
