//! Judges what requests have of the results of tools.

use crate::universal::course::{CallRecord, Course, Round};
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived_inside;
use crate::universal::message::{AgentCall, Placed};
use crate::universal::script::CallOutcome;
use crate::universal::value::{
    DifferenceKind, ValueDifference, became, differences, is_odd_name, quote, quote_text, read_inside, text_became,
    text_difference,
};
use serde_json::Value;
use std::fmt::Write;
use threadspec::surrogates::{has_marks, is_mark, without_marks};
use threadspec_golden::clause;

/// Judges AGENT-RESULT: a text arrives verbatim, any other result as JSON text with an equal value.
pub(super) fn result(course: &Course<'_>, findings: &mut Findings) {
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
    let owner = if is_taken_along { clause::AGENT_FAILURE } else { clause::AGENT_RESULT };
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
                clause::AGENT_RESULT,
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

/// Judges AGENT-RESULT-COMPACT: characters from U+0080 up inside a structured result are not escaped.
pub(super) fn result_compact(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        for asked in &round.calls {
            let CallOutcome::Result(result) = course.script.outcome(asked.call) else { continue };
            for answer in asked.answers.iter().filter(|_| !result.is_string()) {
                let text = answer.message.text();
                if let Some(escape) = needless_escape(text).filter(|_| read_inside(text).is_ok()) {
                    let place = at(round.turn + 1, answer.index);
                    findings.add(clause::AGENT_RESULT_COMPACT, format!("{place}: `{escape}` is escaped without need"));
                }
            }
        }
    }
}

/// The first escape in JSON text of a character from U+0080 up that could be there itself.
fn needless_escape(json: &str) -> Option<&str> {
    let mut at = 0;
    while let Some(offset) = json[at..].find('\\') {
        at += offset;
        let unit = |at: usize| {
            let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
            u32::from_str_radix(digits, 16).ok()
        };
        match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => return json.get(at..at + 12),
            (Some(0..=0x9f | 0x2028 | 0x2029 | 0xd800..=0xdfff), _) => at += 6,
            (Some(_), _) => return json.get(at..at + 6),
            (None, _) => at += 1 + json[at + 1..].chars().next().map_or(0, char::len_utf8),
        }
    }
    None
}

/// Judges AGENT-FAILURE-TOLD: the answer to a failure names the error, or the tool that is unknown. (That it is answered at all, AGENT-
/// FAILURE, is seen where answers are counted and contents compared.)
pub(super) fn failure(course: &Course<'_>, findings: &mut Findings) {
    if !course.pairs_up() {
        return;
    }
    for round in &course.rounds {
        for asked in &round.calls {
            let (what, needle, replaced) = match course.script.outcome(asked.call) {
                CallOutcome::Result(_) | CallOutcome::Undeclared => continue,
                CallOutcome::Failure(message) => ("the error", message, None),
                // A name that no provider takes may have been replaced.
                CallOutcome::Unknown => ("the unknown tool", asked.call.name(), asked.sent.map(AgentCall::name)),
            };
            // Answers to calls with the same id cannot be distinguished: one of them is enough.
            let siblings =
                round.calls.iter().filter(|other| other.call.id() == asked.call.id() || std::ptr::eq(*other, asked));
            let mut answers = siblings
                .filter(|other| asked.is_ambiguous || std::ptr::eq(*other, asked))
                .flat_map(|other| &other.answers);
            let replaced = replaced.filter(|name| !name.is_empty());
            let is_named = |text: &str| names(text, needle) || replaced.is_some_and(|name| names(text, name));
            if answers.any(|answer| is_named(answer.message.text())) {
                continue;
            }
            if let Some(answer) = asked.answers.first() {
                let (needle, said) = (quote_text(needle), quote_text(answer.message.text()));
                let place = at(round.turn + 1, answer.index);
                findings.add(
                    clause::AGENT_FAILURE_TOLD,
                    format!("{place}: the answer does not name {what} {needle}: {said}"),
                );
            }
        }
    }
}

/// Returns whether a text holds another: verbatim, as JSON, or in a language's string notation, white space around it aside.
fn names(text: &str, needle: &str) -> bool {
    let needle = needle.trim();
    let json = Value::from(needle).to_string();
    let forms = [
        needle.to_owned(),
        json[1..json.len() - 1].to_owned(),
        escaped(needle, '\''),
        escaped(needle, '"'),
        debugged(needle),
    ];
    forms.iter().any(|form| arrived_inside(form, text)) || {
        // JSON text with every character outside ASCII escaped, and JSON text that was escaped twice.
        let ascii = |text: &str| respelled(text, |c| if c.is_ascii() { c.to_string() } else { units(c) });
        let twice = Value::from(&json[1..json.len() - 1]).to_string();
        [ascii(&json[1..json.len() - 1]), ascii(&escaped(needle, '\'')), twice[1..twice.len() - 1].to_owned()]
            .iter()
            .any(|form| arrived_inside(form, text))
    }
}

/// The text as Rust's `Debug` writes it.
fn debugged(text: &str) -> String {
    respelled(text, |c| if c == '\'' { c.to_string() } else { c.escape_debug().to_string() })
}

/// The text with each character spelled in another way; marks stay.
fn respelled(text: &str, spelled: impl Fn(char) -> String) -> String {
    let part = |part: &str| {
        let (whole, half) = part.split_at(part.trim_end_matches(is_mark).len());
        without_marks(whole).chars().map(&spelled).collect::<String>() + half
    };
    text.split_inclusive(is_mark).map(part).collect()
}

/// The text as Python's `repr` and JavaScript's `inspect` write it between these quotes.
fn escaped(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '\\' => out += "\\\\",
            '\n' => out += "\\n",
            '\r' => out += "\\r",
            '\t' => out += "\\t",
            c if c == quote => out.extend(['\\', c]),
            '\0'..='\x1f' | '\x7f'..='\u{a0}' | '\u{ad}' => {
                let _ = write!(out, "\\x{:02x}", u32::from(c));
            }
            '\u{2028}'
            | '\u{2029}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{feff}'
            | '\u{fffe}'
            | '\u{ffff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out
}

fn units(c: char) -> String {
    c.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |mut out, unit| {
        let _ = write!(out, "\\u{unit:04x}");
        out
    })
}

/// Judges AGENT-ENCODABLE: no lone surrogate reaches a request, except as an escape inside JSON text.
pub(super) fn encodable(course: &Course<'_>, findings: &mut Findings) {
    for (number, request) in course.record.requests.iter().enumerate() {
        for (index, message) in request.iter().enumerate() {
            let content = message.content.iter().map(|text| ("content", text));
            let answered = message.call_id.iter().map(|text| ("`tool_call_id`", text));
            // Arguments are written as JSON text, which can escape what they hold.
            let calls = message.calls.iter().flat_map(|call| {
                call.id.iter().map(|text| ("call id", text)).chain(call.name.iter().map(|text| ("tool name", text)))
            });
            let mut texts = content.chain(answered).chain(calls);
            if let Some((what, _)) = texts.find(|(_, text)| has_marks(text)) {
                findings
                    .add(clause::AGENT_ENCODABLE, format!("{}: its {what} holds a lone surrogate", at(number, index)));
                // Later requests repeat it.
                return;
            }
        }
    }
}
