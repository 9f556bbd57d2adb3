//! AGENT-GOES-ON: after the answers the model is asked again. Whatever ended a run too early is named by its own clause.

use crate::universal::course::{Course, End};
use crate::universal::finding::Findings;
use crate::universal::script::{Script, Turn};

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let End::TooEarly { after } = course.end else { return };
    if is_refused(course, after) {
        return;
    }
    let said = match &course.record.failure {
        Some(failure) if !failure.is_empty() => {
            format!("; it says: {}", crate::universal::value::quote_text(failure))
        }
        _ => String::new(),
    };
    match after {
        None => findings.add(subject(course.script, 0..0), format!("there is no request at all{said}")),
        Some(turn) => {
            let calls = course.script.calls(turn).len();
            let what = format!(
                "the run ends after request {}, although the response to it has {}{said}",
                turn + 1,
                if calls == 1 { "a call".to_owned() } else { format!("{calls} calls") },
            );
            findings.add(subject(course.script, turn..turn + 1), what);
        }
    }
}

/// Whether the run ended for a reason that the fairness rules accept, and says so.
fn is_refused(course: &Course<'_>, after: Option<usize>) -> bool {
    match after {
        None => course.script.given.is_empty() || course.record.says_why() && may_refuse(course.script, None),
        Some(turn) => course.record.says_why() && may_refuse(course.script, Some(turn)),
    }
}

/// Whether a script may be refused, at once or after the response to a request.
pub(in crate::universal) fn may_refuse(script: &Script, after: Option<usize>) -> bool {
    let given = script.given.is_empty()
        || !crate::universal::valid::faults(&script.given).is_empty()
        || script.gives_halves()
        || script.may_be_refused;
    let repeats = |turn| script.repeats_an_id(turn) || script.calls(turn).iter().any(|call| call.id().is_empty());
    match after {
        None => given || (0..script.turns.len()).any(repeats),
        Some(turn) => repeats(turn) || script.may_be_refused,
    }
}

/// The clause that an agent breaks by stopping in these turns: that of the first failure or lone surrogate in them, else AGENT-GOES-ON.
pub(in crate::universal) fn subject(script: &Script, turns: std::ops::Range<usize>) -> &'static str {
    for turn in turns {
        if matches!(script.turn(turn), Turn::Failure) {
            return "AGENT-MODEL-FAILURE";
        }
        if script.calls(turn).iter().any(|call| script.outcome(call).is_failure()) {
            return "AGENT-FAILURE";
        }
        if script.meets_halves(turn) {
            return "AGENT-ENCODABLE";
        }
    }
    "AGENT-GOES-ON"
}
