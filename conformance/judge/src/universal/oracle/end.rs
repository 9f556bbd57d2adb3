//! AGENT-END: the list at the end holds all that the model was shown and all that it answered, once each, and is valid.

use crate::universal::Property;
use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::Findings;
use crate::universal::halves::arrived;
use crate::universal::message::{AgentCall, AgentMessage, Speaker};
use crate::universal::refusal::may_refuse;
use crate::universal::script::ModelTurn;
use crate::universal::valid::faults;
use crate::universal::value::{differences, quote_text};
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_END;
/// The clauses about the fate of calls in general.
const OF_CALLS: [&str; 5] =
    [clause::AGENT_RESPONSE, clause::AGENT_IDS, clause::AGENT_TEXT, clause::AGENT_NUMBERS, clause::AGENT_ORDINARY];

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let wrong_count = !matches!(
        course.end,
        CourseEnd::Stopped { extra: 0 } | CourseEnd::ModelFailed { extra: 0 } | CourseEnd::Limited { extra: 0 }
    );
    let may_be_aborted = course.record.says_why() && is_short_of_the_limit(course);
    let is_judged = !wrong_count && !findings.cut_short && !findings.breaks(&[clause::AGENT_PREFIX]) && !may_be_aborted;
    let Some(last) = course.requests.last().filter(|_| is_judged) else { return };
    let Some(messages) = &course.record.messages else {
        findings.unobserved.push((Property::AgentEnd, "the run hands no list back".into()));
        return;
    };
    // Instructions may be kept elsewhere than in the conversation.
    let (mut place, mut found) = (0, Vec::new());
    // An id that the model uses again may be another one in requests, and the model's own one in what is handed back.
    let reuses_an_id = course.script.reuses_an_id();
    let is =
        |one: &AgentMessage, other: &AgentMessage| if reuses_an_id { one.is_but_for_ids(other) } else { one.is(other) };
    for shown in &last.rest {
        let Some(offset) = messages[place..].iter().position(|message| is(message, shown.message)) else {
            // What the model was shown in place of a result has a clause of its own.
            if shown.message.speaker == Speaker::Tool && findings.breaks(&[clause::AGENT_RESULT, clause::WIRE_RETRY]) {
                return;
            }
            let what = format!("message {} of the last request is missing: {}", shown.index + 1, shown.message.shown());
            findings.add(CLAUSE, format!("the list at the end: {what}"));
            return;
        };
        found.push(place + offset);
        place += offset + 1;
    }
    let turn = course.requests.len() - 1;
    // What may be refused anywhere may be refused at the limit, too.
    let is_refused =
        course.record.says_why() && may_refuse(course.script, Some(turn)) || course.script.is_cut_off(turn);
    if let ModelTurn::Response { content, calls } = course.script.turn(turn)
        && !is_refused
    {
        let is_it = |message: &AgentMessage| {
            message.speaker == Speaker::Ai && message.calls.len() == calls.len() && arrived(&content, message.text())
        };
        let is_empty = content.is_empty() && calls.is_empty();
        let at = messages[place..].iter().position(is_it).map(|offset| place + offset);
        if !is_empty && at.is_none() {
            let what = if calls.is_empty() {
                quote_text(&content)
            } else {
                format!("{} with its calls", quote_text(&content))
            };
            findings.add(CLAUSE, format!("the list at the end: the last response is missing: {what}"));
            return;
        }
        let other = at.and_then(|at| {
            let mut pairs = calls.iter().zip(&messages[at].calls);
            pairs.find_map(|(call, kept)| difference(course, turn, call, kept)).map(|what| (at, what))
        });
        if let Some((at, what)) = other.filter(|_| !findings.breaks(&OF_CALLS)) {
            findings.add(CLAUSE, format!("the list at the end, message {}: {what}", at + 1));
            return;
        }
        found.extend(at);
    }
    let is_again = |message: &AgentMessage| {
        let is_something = !message.text().is_empty() || !message.calls.is_empty();
        is_something && message.speaker != Speaker::System && found.iter().any(|&at| messages[at].is(message))
    };
    let mut others = (0..messages.len()).filter(|at| found.binary_search(at).is_err());
    if let Some(at) = others.find(|&at| is_again(&messages[at])) {
        let what = format!("message {}: {} is there twice", at + 1, messages[at].shown());
        findings.add(CLAUSE, format!("the list at the end, {what}"));
        return;
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

/// Returns whether the model was asked as often as the limit says, where once more is permitted. A run that fails there may have ended for
/// another reason, which nobody can tell apart.
fn is_short_of_the_limit(course: &Course<'_>) -> bool {
    let asked = course.requests.len() - course.retries.len();
    matches!(course.end, CourseEnd::Limited { .. }) && course.script.limit.is_some_and(|limit| asked <= limit)
}

/// How a call of the last response, the answer to request `turn`, differs from what is kept of it.
fn difference(course: &Course<'_>, turn: usize, call: &AgentCall, kept: &AgentCall) -> Option<String> {
    let (id, name) = (call.id(), quote_text(call.name()));
    let earlier = (0..turn).flat_map(|turn| course.script.calls(turn));
    let mut known = earlier.chain(course.script.given.iter().flat_map(|message| &message.calls));
    // As in a request: an id that the model repeats may be renamed, and a long one shortened.
    let may_be_renamed = id.is_empty() || course.script.repeats_an_id(turn) || known.any(|known| known.id() == id);
    if !arrived(call.name(), kept.name()) {
        return Some(format!("the call of {name} names {}", quote_text(kept.name())));
    }
    if !may_be_renamed && !arrived(id, kept.id()) && !super::ids::is_cut(id, kept.id()) {
        return Some(format!("the call of {name} has the id {}", quote_text(kept.id())));
    }
    let different = differences(&call.args, &kept.args, course.exact);
    different.first().map(|difference| format!("the arguments of the call of {name}: {}", difference.what))
}
