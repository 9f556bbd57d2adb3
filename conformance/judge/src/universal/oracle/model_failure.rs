//! AGENT-MODEL-FAILURE: a failing model call ends the run, and nothing is written in the model's name.

use crate::universal::Property;
use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::{AgentCall, AgentMessage, Speaker};
use crate::universal::script::{ModelTurn, RunScript};
use crate::universal::value::quote_text;
use std::collections::HashMap;
use threadspec_golden::clause;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
