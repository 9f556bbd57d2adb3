//! AGENT-GOES-ON: after the answers the model is asked again, until the run ends as it should. Whatever ended a run is named by its
//! own clause.

use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::Findings;
use crate::universal::refusal::may_refuse;
use crate::universal::script::{ModelTurn, RunScript};
use crate::universal::value::quote_text;
use threadspec_golden::clause;

/// Explains the change that adapters for an older protocol need.
const REJECTED: &str = "`reject` is for input that was refused before the model was asked; an exception after the first request is `ok` \
                        with the `requests` so far and `failure`";

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
