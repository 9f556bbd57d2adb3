//! AGENT-LIMIT: with `maxRecursionDepth` d reached there are max(1, d) to d+1 requests.

use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::Findings;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    if let (CourseEnd::Limited { extra: extra @ 1.. }, Some(limit)) = (course.end, course.script.limit) {
        let allowed = course.requests.len() - extra;
        findings.add(
            clause::AGENT_LIMIT,
            format!("`maxRecursionDepth` {limit} allows {allowed} requests, but there are {}", course.requests.len()),
        );
    }
}
