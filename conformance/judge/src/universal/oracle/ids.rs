//! AGENT-IDS: ids are kept, and renamed only where the model repeats one.

use crate::universal::course::{CallRecord, Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::AgentCall;
use crate::universal::value::is_odd_name;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_IDS;
/// The strictest provider takes ids of this length; a shorter one was not cut for a provider.
const ALWAYS_SHORT_ENOUGH: usize = 9;
/// Ids that are longer are too long for some provider, so that anything shorter may represent them.
const TOO_LONG: usize = 40;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    let given = course.script.given.iter().flat_map(|message| &message.calls);
    let mut seen: Vec<&str> = given.map(AgentCall::id).collect();
    for round in &course.rounds {
        if let Some(response) = round.response {
            let place = at(round.turn + 1, response.index);
            for (position, asked) in round.calls.iter().enumerate() {
                judge_call(round, position, asked, &seen, &place, findings);
            }
        }
        // An id that was given away in place of another is as used as the others.
        seen.extend(
            round.calls.iter().flat_map(|asked| [Some(asked.call.id()), asked.sent.map(AgentCall::id)]).flatten(),
        );
    }
}

fn judge_call(
    round: &Round<'_>,
    position: usize,
    asked: &CallRecord<'_>,
    seen: &[&str],
    place: &str,
    findings: &mut Findings,
) {
    let Some(sent) = asked.sent else { return };
    let (id, new) = (asked.call.id(), sent.id());
    let is_repeated = round.calls.iter().filter(|other| other.call.id() == id).count() > 1;
    let clash = round.calls[..position].iter().any(|other| other.sent.is_some_and(|other| other.id() == new));
    if clash {
        let calls =
            if is_repeated { "the model repeats an id, and both calls keep it" } else { "two calls get one id" };
        findings.add(CLAUSE, format!("{place}: {calls}: `{}`", without_marks(new)));
        return;
    }
    if asked.answered_by_old_id {
        let what =
            format!("{place}: `{}` was renamed to `{}`, but its answer was not", without_marks(id), without_marks(new));
        findings.add(CLAUSE, what);
    }
    let is_given_away = round.calls[..position].iter().any(|other| other.sent.is_some_and(|other| other.id() == id));
    let may_be_renamed = is_repeated || id.is_empty() || is_given_away || seen.contains(&id);
    if may_be_renamed && sent.id.is_some() || arrived(id, new) && sent.id.is_some() || is_cut(id, new) {
        return;
    }
    let clause = if is_odd_name(id) { clause::AGENT_ORDINARY } else { CLAUSE };
    let what = match &sent.id {
        Some(_) => format!("{place}: the id `{}` became `{}`", without_marks(id), without_marks(new)),
        None => format!("{place}: the id `{}` is gone", without_marks(id)),
    };
    findings.add(clause, what);
}

/// Returns whether an id may be a shorter form of another.
pub(super) fn is_cut(id: &str, new: &str) -> bool {
    let (length, left) = (id.chars().count(), new.chars().count());
    let is_part = length > ALWAYS_SHORT_ENOUGH && id.contains(new);
    (1..length).contains(&left) && (length > TOO_LONG || is_part)
}
