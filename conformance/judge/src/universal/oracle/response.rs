//! AGENT-RESPONSE: behind the request is the response to it, its text and each call.

use crate::universal::course::{Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::AgentCall;
use crate::universal::script::CallOutcome;
use crate::universal::value::{
    DifferenceKind, ValueDifference, differences, is_odd_name, quote_text, text_became, text_difference,
};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_RESPONSE;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    for round in &course.rounds {
        round_of(course, round, findings);
    }
}

fn round_of(course: &Course<'_>, round: &Round<'_>, findings: &mut Findings) {
    let request = round.turn + 1;
    let Some(response) = round.response else {
        // If the beginning of the request is broken, nothing else can be judged.
        if round.broken_prefix.is_none() {
            let found = round.others.first().or_else(|| round.calls.iter().flat_map(|asked| &asked.answers).next());
            let what = match found {
                Some(found) => {
                    format!("{}: the response to request {request} should be here", at(request, found.index))
                }
                None => format!("request {}: the response to request {request} is missing", request + 1),
            };
            findings.add(CLAUSE, what);
        }
        return;
    };
    let place = at(request, response.index);
    let mut found = Vec::new();
    let said = response.message.text();
    if let Some(kind) = text_difference(round.content, Some(said)) {
        found.push(ValueDifference { kind, what: format!("the text {}", text_became(round.content, Some(said))) });
    }
    let sent = response.message.calls.len();
    if sent > round.calls.len() {
        let what = format!("the response has {} calls, but {sent} are sent", round.calls.len());
        found.push(ValueDifference { kind: DifferenceKind::Other, what });
    }
    for asked in &round.calls {
        let id = without_marks(asked.call.id());
        let Some(sent) = asked.sent else {
            found.push(ValueDifference { kind: DifferenceKind::Other, what: format!("the call `{id}` is missing") });
            continue;
        };
        let arrived = arrived(asked.call.name(), sent.name()) && sent.name.is_some();
        if !arrived && !may_be_replaced(course, asked.call, sent) {
            let kind = if is_odd_name(asked.call.name()) { DifferenceKind::Name } else { DifferenceKind::Other };
            let what =
                format!("the call `{id}` of {} names {}", quote_text(asked.call.name()), quote_text(sent.name()));
            found.push(ValueDifference { kind, what });
        }
        let own = differences(&asked.call.args, &sent.args, course.exact);
        found.extend(own.into_iter().map(|difference| ValueDifference {
            what: format!("the arguments of `{id}`: {}", difference.what),
            ..difference
        }));
    }
    findings.add_differences(CLAUSE, &place, &found);
}

/// Returns whether another name may represent that of a call: no tool has it, and a provider would refuse it in the next request.
fn may_be_replaced(course: &Course<'_>, call: &AgentCall, sent: &AgentCall) -> bool {
    /// OpenAI's limit, the lowest.
    const LONGEST: usize = 64;
    let is_taken = |name: &str| {
        (1..=LONGEST).contains(&name.len()) && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    let is_there = matches!(course.script.outcome(call), CallOutcome::Result(_) | CallOutcome::Failure(_));
    !is_there && !is_taken(call.name()) && !sent.name().is_empty()
}
