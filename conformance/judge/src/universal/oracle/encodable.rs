//! AGENT-ENCODABLE: no lone surrogate reaches a request, except as an escape inside JSON text.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use threadspec::surrogates::has_marks;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    for (number, request) in course.record.requests.iter().enumerate() {
        for (index, message) in request.iter().enumerate() {
            let content = message.content.iter().map(|text| ("content", text));
            let answered = message.call_id.iter().map(|text| ("`tool_call_id`", text));
            // Arguments are written as JSON text, which can escape what they hold.
            let calls = message.calls.iter().flat_map(|call| {
                call.id.iter().map(|text| ("call id", text)).chain(call.name.iter().map(|text| ("tool name", text)))
            });
            let mut texts = content.chain(answered).chain(calls);
            if let Some((what, _)) = texts.find(|(_, text)| has_marks(text)) {
                findings
                    .add(clause::AGENT_ENCODABLE, format!("{}: its {what} holds a lone surrogate", at(number, index)));
                // Later requests repeat it.
                return;
            }
        }
    }
}
