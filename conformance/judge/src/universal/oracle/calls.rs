//! Judges the model's answers and its calls in the requests that follow them.

use crate::universal::course::{CallRecord, Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived;
use crate::universal::message::{AgentCall, Speaker};
use crate::universal::script::CallOutcome;
use crate::universal::value::{
    DifferenceKind, ValueDifference, differences, is_odd_name, quote_text, text_became, text_difference,
};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// Judges AGENT-RESPONSE: behind the request is the response to it, its text and each call.
pub(super) fn response(course: &Course<'_>, findings: &mut Findings) {
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
            findings.add(clause::AGENT_RESPONSE, what);
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
    findings.add_differences(clause::AGENT_RESPONSE, &place, &found);
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

/// The strictest provider takes ids of this length; a shorter one was not cut for a provider.
const ALWAYS_SHORT_ENOUGH: usize = 9;
/// Ids that are longer are too long for some provider, so that anything shorter may represent them.
const TOO_LONG: usize = 40;

/// Judges AGENT-IDS: ids are kept, and renamed only where the model repeats one.
pub(super) fn ids(course: &Course<'_>, findings: &mut Findings) {
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
        findings.add(clause::AGENT_IDS, format!("{place}: {calls}: `{}`", without_marks(new)));
        return;
    }
    if asked.answered_by_old_id {
        let what =
            format!("{place}: `{}` was renamed to `{}`, but its answer was not", without_marks(id), without_marks(new));
        findings.add(clause::AGENT_IDS, what);
    }
    let is_given_away = round.calls[..position].iter().any(|other| other.sent.is_some_and(|other| other.id() == id));
    let may_be_renamed = is_repeated || id.is_empty() || is_given_away || seen.contains(&id);
    if may_be_renamed && sent.id.is_some() || arrived(id, new) && sent.id.is_some() || is_cut(id, new) {
        return;
    }
    let clause = if is_odd_name(id) { clause::AGENT_ORDINARY } else { clause::AGENT_IDS };
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

/// Judges AGENT-ANSWERED: each call is answered exactly once, before any other message.
pub(super) fn answered(course: &Course<'_>, findings: &mut Findings) {
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
                    (clause::AGENT_ANSWERED, "")
                };
                findings.add(clause, format!("request {}: the call `{id}`{why} is not answered", request + 1));
            }
            [_, second, ..] => {
                findings
                    .add(clause::AGENT_ANSWERED, format!("{}: `{id}` was answered twice", at(request, second.index)));
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
        findings.add(clause::AGENT_ANSWERED, format!("{}: {what}", at(request, other.index)));
    }
}

/// Judges AGENT-ORDER: answers are in call order.
pub(super) fn order(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        let places = round.calls.iter().filter_map(|asked| Some((asked, asked.answers.first()?.index)));
        let places: Vec<_> = places.collect();
        if let Some([(before, _), (asked, place)]) = places.windows(2).find_map(|pair| match pair {
            [one, other] if one.1 > other.1 => Some([*one, *other]),
            _ => None,
        }) {
            let what = format!(
                "`{}` is answered before `{}`",
                without_marks(asked.call.id()),
                without_marks(before.call.id())
            );
            findings.add(clause::AGENT_ORDER, format!("{}: {what}, which was called first", at(round.turn + 1, place)));
        }
    }
}
