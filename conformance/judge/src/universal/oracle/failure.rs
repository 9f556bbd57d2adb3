//! AGENT-FAILURE-TOLD: the answer to a failure names the error, or the tool that is unknown. (That it is answered at all,
//! AGENT-FAILURE, is seen where answers are counted and contents compared.)

use crate::universal::course::Course;
use crate::universal::finding::{Findings, at};
use crate::universal::halves::arrived_inside;
use crate::universal::message::AgentCall;
use crate::universal::script::CallOutcome;
use crate::universal::value::quote_text;
use std::fmt::Write;
use threadspec::surrogates::{is_mark, without_marks};
use threadspec_golden::clause;

const CLAUSE: &str = clause::AGENT_FAILURE_TOLD;

pub(super) fn judge(course: &Course<'_>, findings: &mut Findings) {
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
                findings.add(CLAUSE, format!("{place}: the answer does not name {what} {needle}: {said}"));
            }
        }
    }
}

/// Returns whether a text holds another: verbatim, as JSON, or in a language's string notation, white space around it aside.
fn names(text: &str, needle: &str) -> bool {
    let needle = needle.trim();
    let json = serde_json::Value::from(needle).to_string();
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
        let twice = serde_json::Value::from(&json[1..json.len() - 1]).to_string();
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
