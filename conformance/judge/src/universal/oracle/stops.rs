//! AGENT-STOPS: after a response without calls the model is not asked again.

use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::Findings;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    if let CourseEnd::Stopped { extra: extra @ 1.. } = course.end {
        let last = course.requests.len() - extra;
        findings.add(clause::AGENT_STOPS, format!("request {} follows a response without calls", last + 1));
    }
}
