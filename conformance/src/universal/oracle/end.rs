//! AGENT-END: the list at the end holds all that the model was shown and all that it answered, and is valid.

use crate::universal::Property;
use crate::universal::course::{Course, End};
use crate::universal::finding::Findings;
use crate::universal::halves::arrived;
use crate::universal::message::{Message, Role};
use crate::universal::script::Turn;
use crate::universal::valid::faults;
use crate::universal::value::quote_text;

const CLAUSE: &str = "AGENT-END";

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let wrong_count =
        !matches!(course.end, End::Stopped { extra: 0 } | End::ModelFailed { extra: 0 } | End::Limited { extra: 0 });
    let Some(last) = course.requests.last().filter(|_| !wrong_count && !findings.breaks(&["AGENT-PREFIX"])) else {
        return;
    };
    let Some(messages) = &course.record.messages else {
        findings.unobserved.push((Property::AgentEnd, "the run hands no list back".into()));
        return;
    };
    // Instructions may be kept elsewhere than in the conversation.
    let mut place = 0;
    for shown in &last.rest {
        let Some(offset) = messages[place..].iter().position(|message| message.is(shown.message)) else {
            let what = format!("message {} of the last request is missing: {}", shown.index + 1, shown.message.shown());
            findings.add(CLAUSE, format!("the list at the end: {what}"));
            return;
        };
        place += offset + 1;
    }
    let turn = course.requests.len() - 1;
    // A response that repeats an id may be refused, at the limit as anywhere.
    let is_refused = course.script.repeats_an_id(turn) && course.record.says_why();
    if let Turn::Response { content, calls } = course.script.turn(turn)
        && !is_refused
    {
        let names = |message: &Message| message.calls.iter().map(|call| call.name().to_owned()).collect::<Vec<_>>();
        let own: Vec<String> = calls.iter().map(|call| call.name().to_owned()).collect();
        let is_it = |message: &Message| {
            message.role == Role::Ai && names(message).len() == own.len() && arrived(&content, message.text())
        };
        let is_empty = content.is_empty() && calls.is_empty();
        if !is_empty && !messages[place..].iter().any(is_it) {
            let what = if calls.is_empty() {
                quote_text(&content)
            } else {
                format!("{} with its calls", quote_text(&content))
            };
            findings.add(CLAUSE, format!("the list at the end: the last response is missing: {what}"));
            return;
        }
    }
    // Faults that the last request has already were judged there.
    let is_empty_response = |index: usize| {
        index + 1 == messages.len() && messages[index].text().is_empty() && messages[index].calls.is_empty()
    };
    let mut new = faults(messages).into_iter().filter(|fault| fault.index >= place);
    if let Some(fault) = new.find(|fault| !is_empty_response(fault.index)) {
        findings.add(CLAUSE, format!("the list at the end, message {}: {}", fault.index + 1, fault.what));
    }
}
