//! AGENT-VALID: every request is a list that providers accept. It names only what no other clause explains.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::valid::faults;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
