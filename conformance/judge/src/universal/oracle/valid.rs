//! AGENT-VALID: every request is a list that providers accept. It names only what no other clause explains.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::valid::faults;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    const EXPLAIN: [&str; 8] = [
        "AGENT-HISTORY",
        "AGENT-START",
        "AGENT-PREFIX",
        "AGENT-RESPONSE",
        "AGENT-IDS",
        "AGENT-ANSWERED",
        "AGENT-FAILURE",
        "AGENT-RESULT",
    ];
    if findings.breaks(&EXPLAIN) {
        return;
    }
    for (number, request) in course.record.requests.iter().enumerate() {
        for fault in faults(request) {
            findings.add("AGENT-VALID", format!("{}: {}", at(number, fault.index), fault.what));
        }
        if findings.breaks(&["AGENT-VALID"]) {
            // Later requests repeat it.
            return;
        }
    }
}
