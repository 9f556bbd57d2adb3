//! AGENT-PREFIX: request n+1 begins with request n, and system messages stay where they are.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::message::{Conversation, Placed};
use crate::universal::systems::places;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_PREFIX;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
        findings.add(CLAUSE, what);
    }
    systems(course, findings);
}

fn systems(course: &Course<'_>, findings: &mut Findings) {
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
            findings.add(CLAUSE, format!("request {}: the system messages are not those of request 1", number + 1));
            return;
        }
        let now = places(if as_first { first } else { &given }, request);
        if as_first {
            possible = places(first, first);
        }
        possible.retain(|place| now.contains(place));
        if possible.is_empty() {
            findings.add(CLAUSE, format!("request {}: the system message is elsewhere than before", number + 1));
            return;
        }
    }
}
