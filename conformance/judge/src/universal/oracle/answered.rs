//! AGENT-ANSWERED: each call is answered exactly once, before any other message.

use crate::universal::course::{CallRecord, Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::message::Speaker;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_ANSWERED;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    for round in course.rounds.iter().filter(|round| round.response.is_some()) {
        judge_round(course, round, findings);
    }
}

fn judge_round(course: &Course<'_>, round: &Round<'_>, findings: &mut Findings) {
    let request = round.turn + 1;
    // An answer without an id may belong to any call.
    let mut nameless = round.nameless.len();
    // A call that was not sent is a matter of AGENT-RESPONSE.
    for asked in round.calls.iter().filter(|asked| asked.sent.is_some()) {
        let id = without_marks(asked.sent.map_or(asked.call.id(), |sent| sent.id()));
        match &asked.answers[..] {
            [_] => {}
            [] if nameless > 0 => nameless -= 1,
            [] => {
                let fails = |asked: &CallRecord<'_>| course.script.outcome(asked.call).is_failure();
                let (clause, why) = if fails(asked) {
                    (clause::AGENT_FAILURE, ", whose tool fails or is unknown,")
                } else if round.calls.iter().any(fails) {
                    (clause::AGENT_FAILURE, ", a sibling of a call that fails,")
                } else {
                    (CLAUSE, "")
                };
                findings.add(clause, format!("request {}: the call `{id}`{why} is not answered", request + 1));
            }
            [_, second, ..] => {
                findings.add(CLAUSE, format!("{}: `{id}` was answered twice", at(request, second.index)));
            }
        }
    }
    for other in &round.others {
        let what = match (other.message.speaker, &other.message.call_id) {
            (Speaker::Tool, Some(id)) => {
                format!("it answers `{}`, which is no call of the response", without_marks(id))
            }
            _ if round.calls.iter().flat_map(|asked| &asked.answers).any(|answer| answer.index > other.index) => {
                format!("{} is before the last answer", other.message.shown())
            }
            _ => format!("{} is behind the answers, and nobody sent it", other.message.shown()),
        };
        findings.add(CLAUSE, format!("{}: {what}", at(request, other.index)));
    }
}
