//! AGENT-INDEPENDENT: runs in one process do not influence each other.

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::others::Strangers;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// `strangers` are the texts and ids that only other runs have.
pub(crate) fn judge(course: &Course<'_>, strangers: &Strangers<'_>, findings: &mut Findings) {
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
