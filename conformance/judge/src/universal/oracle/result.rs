//! AGENT-RESULT: a text arrives verbatim, any other result as JSON text with an equal value.

use crate::universal::course::{CallRecord, Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::message::Placed;
use crate::universal::script::CallOutcome;
use crate::universal::value::{
    DifferenceKind, ValueDifference, became, differences, is_odd_name, quote, read_inside, text_became, text_difference,
};
use serde_json::Value;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_RESULT;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        // The failure of a sibling may have replaced a result.
        let outcomes = round.calls.iter().map(|asked| course.script.outcome(asked.call));
        let failures: Vec<&str> = outcomes
            .filter_map(|outcome| match outcome {
                CallOutcome::Failure(message) if !message.is_empty() => Some(message),
                _ => None,
            })
            .collect();
        // What came of other arguments is no fault of its own.
        let is_changed = |asked: &CallRecord<'_>| {
            asked.sent.is_some_and(|sent| !differences(&asked.call.args, &sent.args, course.exact).is_empty())
        };
        for asked in round.calls.iter().filter(|asked| !asked.is_ambiguous && !is_changed(asked)) {
            if let (CallOutcome::Result(result), [answer]) = (course.script.outcome(asked.call), &asked.answers[..]) {
                judge_answer(course, round, asked, result, *answer, &failures, findings);
            }
        }
        judge_ambiguous(course, round, findings);
    }
}

fn judge_answer(
    course: &Course<'_>,
    round: &Round<'_>,
    asked: &CallRecord<'_>,
    result: &Value,
    answer: Placed<'_>,
    failures: &[&str],
    findings: &mut Findings,
) {
    let mut found = compare(course, result, answer);
    if found.is_empty() {
        return;
    }
    if is_odd_name(asked.call.name()) || is_odd_name(asked.call.id()) {
        for difference in &mut found {
            difference.kind = DifferenceKind::Name;
        }
    }
    let is_of_second_run =
        course.script.again(asked.call).is_some_and(|again| compare(course, again, answer).is_empty());
    if is_of_second_run {
        let place = at(round.turn + 1, answer.index);
        let what = format!("the call `{}` was run a second time: {}", without_marks(asked.call.id()), found[0].what);
        findings.add(clause::WIRE_RETRY, format!("{place}: {what}"));
        return;
    }
    let text = answer.message.text();
    let is_taken_along = failures.iter().any(|message| text.contains(message));
    let owner = if is_taken_along { clause::AGENT_FAILURE } else { CLAUSE };
    findings.add_differences(owner, &at(round.turn + 1, answer.index), &found);
}

/// Judges calls that are sent with the same id: their answers may be in any order.
fn judge_ambiguous(course: &Course<'_>, round: &Round<'_>, findings: &mut Findings) {
    let mut open: Vec<&CallRecord<'_>> = round.calls.iter().filter(|asked| asked.is_ambiguous).collect();
    let answers: Vec<Placed<'_>> = open.iter().flat_map(|asked| asked.answers.iter().copied()).collect();
    for answer in answers {
        let fits = |asked: &&CallRecord<'_>| {
            let CallOutcome::Result(result) = course.script.outcome(asked.call) else { return true };
            asked.sent.and_then(|sent| sent.id.as_deref()) == answer.message.call_id.as_deref()
                && compare(course, result, answer).is_empty()
        };
        match open.iter().position(fits) {
            Some(index) => {
                open.remove(index);
            }
            None => findings.add(
                CLAUSE,
                format!("{}: this is the result of none of the calls with this id", at(round.turn + 1, answer.index)),
            ),
        }
    }
}

fn compare(course: &Course<'_>, result: &Value, answer: Placed<'_>) -> Vec<ValueDifference> {
    of_answer(result, answer.message.content.as_deref(), course.script.has_huge_numbers, course.exact)
}

/// How the content of an answer differs from the result of its call.
pub(crate) fn of_answer(
    result: &Value,
    content: Option<&str>,
    has_huge_numbers: bool,
    exact: bool,
) -> Vec<ValueDifference> {
    let other = |what: String| vec![ValueDifference { kind: DifferenceKind::Other, what }];
    if let Value::String(text) = result {
        let Some(kind) = text_difference(text, content) else { return Vec::new() };
        return vec![ValueDifference { kind, what: format!("the result {}", text_became(text, content)) }];
    }
    let Some(content) = content else {
        return other(format!("the result {} became a message without content", quote(result)));
    };
    match read_inside(content) {
        // What a language writes for a number that it cannot hold is not JSON.
        Err(_) if has_huge_numbers => Vec::new(),
        Err(_) => other(format!("the result {}, which is no JSON text", became(result, &content.into()))),
        Ok(value) => differences(result, &value, exact),
    }
}
