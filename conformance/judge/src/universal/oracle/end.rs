//! Judges how long a run asks its model, and what it has at its end.

use crate::universal::Property;
use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::{AgentCall, AgentMessage, Speaker};
use crate::universal::refusal::may_refuse;
use crate::universal::script::{ModelTurn, RunScript};
use crate::universal::valid::faults;
use crate::universal::value::{differences, quote_text};
use std::collections::HashMap;
use threadspec_golden::clause;

/// Explains the change that adapters for an older protocol need.
const REJECTED: &str = "`reject` is for input that was refused before the model was asked; an exception after the first request is `ok` \
                        with the `requests` so far and `failure`";

/// Judges AGENT-GOES-ON: after the answers the model is asked again, until the run ends as it should. Whatever ended a run is named by its
/// own clause.
pub(super) fn goes_on(course: &Course<'_>, findings: &mut Findings) {
    match course.end {
        CourseEnd::TooEarly { after: None } => refused(course, findings),
        CourseEnd::TooEarly { after: Some(turn) } => {
            if course.record.says_why() && may_refuse(course.script, Some(turn)) {
                return;
            }
            let calls = course.script.calls(turn).len();
            let what = format!(
                "the run ends after request {}, although the response to it has {}{}",
                turn + 1,
                if calls == 1 { "a call".to_owned() } else { format!("{calls} calls") },
                reported(course),
            );
            findings.add_end(subject(course.script, [turn]), what);
        }
        CourseEnd::Stopped { extra: 0 } if is_aborted(course) => {
            let last = course.requests.len() - 1;
            let what = format!("the model has given its last response, but the run fails{}", reported(course));
            // What came last ended it, unless only something before it can have done so.
            findings.add_end(subject(course.script, (last..=last).chain(0..last)), what);
        }
        _ => {}
    }
}

/// Judges a run without a request.
fn refused(course: &Course<'_>, findings: &mut Findings) {
    let says_why = course.record.says_why();
    if course.script.given.is_empty() || says_why && may_refuse(course.script, None) {
        return;
    }
    let what = if course.record.is_rejected {
        format!("the run is refused{}; {REJECTED}", reported(course))
    } else {
        format!("there is no request at all{}", reported(course))
    };
    let turns = if says_why { course.script.turns.len() } else { 0 };
    findings.add_end(subject(course.script, 0..turns), what);
}

/// Returns whether a run that went as it should reports a failure that nothing in it explains: no model call failed, no limit was reached,
/// and the last response holds nothing that may be refused.
fn is_aborted(course: &Course<'_>) -> bool {
    let last = course.requests.len() - 1;
    let is_limit_reached = course.script.limit.is_some_and(|limit| course.rounds.len() >= limit);
    let has_failed_call = !course.retries.is_empty();
    course.record.says_why() && !has_failed_call && !is_limit_reached && !may_refuse(course.script, Some(last))
}

/// Describes how the run reports its end, to be appended.
fn reported(course: &Course<'_>) -> String {
    match &course.record.failure {
        Some(failure) if !failure.is_empty() => format!("; it says: {}", quote_text(failure)),
        _ => String::new(),
    }
}

/// The clause that an agent breaks by ending a run in one of these turns: that of the first failure or lone surrogate in them, else
/// AGENT-GOES-ON.
fn subject(script: &RunScript, turns: impl IntoIterator<Item = usize>) -> &'static str {
    for turn in turns {
        if matches!(script.turn(turn), ModelTurn::Failure) {
            return clause::AGENT_MODEL_FAILURE;
        }
        if script.calls(turn).iter().any(|call| script.outcome(call).is_failure()) {
            return clause::AGENT_FAILURE;
        }
        if script.meets_halves(turn) {
            return clause::AGENT_ENCODABLE;
        }
    }
    clause::AGENT_GOES_ON
}

/// Judges AGENT-STOPS: after a response without calls the model is not asked again.
pub(super) fn stops(course: &Course<'_>, findings: &mut Findings) {
    if let CourseEnd::Stopped { extra: extra @ 1.. } = course.end {
        let last = course.requests.len() - extra;
        findings.add(clause::AGENT_STOPS, format!("request {} follows a response without calls", last + 1));
    }
}

/// Judges AGENT-LIMIT: with `maxRecursionDepth` d reached there are max(1, d) to d+1 requests.
pub(super) fn limit(course: &Course<'_>, findings: &mut Findings) {
    if let (CourseEnd::Limited { extra: extra @ 1.. }, Some(limit)) = (course.end, course.script.limit) {
        let allowed = course.requests.len() - extra;
        findings.add(
            clause::AGENT_LIMIT,
            format!("`maxRecursionDepth` {limit} allows {allowed} requests, but there are {}", course.requests.len()),
        );
    }
}

/// Judges AGENT-MODEL-FAILURE: a failing model call ends the run, and nothing is written in the model's name.
pub(super) fn model_failure(course: &Course<'_>, findings: &mut Findings) {
    let failed = (0..course.requests.len()).filter(|&turn| matches!(course.script.turn(turn), ModelTurn::Failure));
    let Some(failed) = failed.min() else { return };
    if let CourseEnd::ModelFailed { extra: extra @ 1.. } = course.end {
        let request = course.requests.len() - extra;
        let what =
            if course.retries.contains(&(request - 1)) { "and so did the retry" } else { "and this is no retry" };
        findings.add(
            clause::AGENT_MODEL_FAILURE,
            format!("request {}: the model call before it failed, {what}", request + 1),
        );
    }
    let lists = course.record.requests.iter().enumerate().skip(failed + 1);
    // What was there before the failure is not its effect; a fixed history may hold anything.
    let mut before: HashMap<(&str, &str), Vec<&AgentMessage>> = HashMap::new();
    for known in course.record.requests[failed].iter().chain(&course.script.given) {
        before.entry(key(known)).or_default().push(known);
    }
    let invented = |message: &AgentMessage| {
        message.speaker == Speaker::Ai
            && !before.get(&key(message)).is_some_and(|known| known.iter().any(|known| known.is(message)))
            && !is_said(course.script, course.requests.len(), message)
    };
    for (request, list) in lists {
        for (index, message) in list.iter().enumerate().filter(|(_, message)| invented(message)) {
            let what = format!("{}: the model never sent {}", at(request, index), quote_text(message.text()));
            findings.add(clause::AGENT_MODEL_FAILURE, what);
        }
    }
    for (index, message) in course.record.messages.iter().flatten().enumerate().filter(|(_, message)| invented(message))
    {
        let what =
            format!("the list at the end, message {}: the model never sent {}", index + 1, quote_text(message.text()));
        findings.add(clause::AGENT_MODEL_FAILURE, what);
    }
    match &course.record.failure {
        None => findings.unobserved.push((
            Property::AgentModelFailureReported,
            "the reply has no `failure`: how the run reports a failing model cannot be seen".into(),
        )),
        Some(failure) if failure.is_empty() && matches!(course.end, CourseEnd::ModelFailed { .. }) => {
            findings
                .add(clause::AGENT_MODEL_FAILURE, "the model call failed, but the run ends as if nothing had happened");
        }
        Some(_) => {}
    }
}

/// By this, equal messages are found among very many.
fn key(message: &AgentMessage) -> (&str, &str) {
    (message.text(), message.calls.first().map_or("", AgentCall::id))
}

/// Returns whether an assistant message is one that the model sent, as far as texts and calls go.
fn is_said(script: &RunScript, turns: usize, message: &AgentMessage) -> bool {
    (0..turns).any(|turn| match script.turn(turn) {
        ModelTurn::Failure => script.remains(turn).is_some_and(|(content, calls)| {
            // Clients keep as much of a broken stream as they have read.
            let is_part = |sent: &AgentCall| calls.iter().any(|call| call.id == sent.id);
            let says_something = !message.text().is_empty() || !message.calls.is_empty();
            says_something && content.starts_with(message.text()) && message.calls.iter().all(is_part)
        }),
        ModelTurn::Response { content, calls } => {
            // What else may be wrong with a response has its own clauses.
            calls.len() == message.calls.len() && (!calls.is_empty() || arrived(&content, message.text()))
                || !content.is_empty() && arrived(&content, message.text())
                || calls.iter().any(|call| message.calls.iter().any(|sent| sent.id == call.id))
        }
    })
}

/// The clauses about the fate of calls in general.
const OF_CALLS: [&str; 5] =
    [clause::AGENT_RESPONSE, clause::AGENT_IDS, clause::AGENT_TEXT, clause::AGENT_NUMBERS, clause::AGENT_ORDINARY];

/// Judges AGENT-END: the list at the end holds all that the model was shown and all that it answered, once each, and is valid.
pub(super) fn end(course: &Course<'_>, findings: &mut Findings) {
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
            findings.add(clause::AGENT_END, format!("the list at the end: {what}"));
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
            findings.add(clause::AGENT_END, format!("the list at the end: the last response is missing: {what}"));
            return;
        }
        let other = at.and_then(|at| {
            let mut pairs = calls.iter().zip(&messages[at].calls);
            pairs.find_map(|(call, kept)| difference(course, turn, call, kept)).map(|what| (at, what))
        });
        if let Some((at, what)) = other.filter(|_| !findings.breaks(&OF_CALLS)) {
            findings.add(clause::AGENT_END, format!("the list at the end, message {}: {what}", at + 1));
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
        findings.add(clause::AGENT_END, format!("the list at the end, {what}"));
        return;
    }
    // Faults that the last request has already were judged there.
    let is_empty_response = |index: usize| {
        index + 1 == messages.len() && messages[index].text().is_empty() && messages[index].calls.is_empty()
    };
    let mut new = faults(messages).into_iter().filter(|fault| fault.index >= place);
    if let Some(fault) = new.find(|fault| !is_empty_response(fault.index)) {
        findings.add(clause::AGENT_END, format!("the list at the end, message {}: {}", fault.index + 1, fault.what));
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
    if !may_be_renamed && !arrived(id, kept.id()) && !super::calls::is_cut(id, kept.id()) {
        return Some(format!("the call of {name} has the id {}", quote_text(kept.id())));
    }
    let different = differences(&call.args, &kept.args, course.exact);
    different.first().map(|difference| format!("the arguments of the call of {name}: {}", difference.what))
}
