//! Holds the words that several reports share, and removes values from the words of a note, so that the sign of a cause is left.

use crate::record::RunRecord;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;
use strum::IntoEnumIterator;
use threadspec_golden::how_sure;
use threadspec_judge::corpus::{Level, Severity};
use threadspec_judge::text::{beginning, cut, visible};
use threadspec_judge::verdict::{Judgement, Verdict};

/// How a note quotes a line of stderr.
pub(super) const QUOTED: &str = "  | ";

/// With this begins a line of a note that says what was found beside a case, and the name of that finding in reports.
pub(super) const BESIDE: &str = "beside ";

/// The names of runs, each with its profile and its way over the wire if others have the same name.
pub fn names(runs: &[RunRecord]) -> Vec<String> {
    let names: Vec<String> = runs.iter().map(RunRecord::name).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let full = |(run, name): (&RunRecord, &String)| {
        if is_shared(name) { format!("{name}, {}", run.options.terms()) } else { name.clone() }
    };
    runs.iter().zip(&names).map(full).collect()
}

/// How many cases of a cause do not count, and why, behind their number `all`. Takes the severities of those that do not.
pub(super) fn silent_among(all: usize, silent: impl Iterator<Item = Option<Severity>>) -> String {
    let silent: Vec<Option<Severity>> = silent.collect();
    let why = if silent.contains(&Some(Severity::C)) { "of severity C or level `should`" } else { "of level `should`" };
    match silent.len() {
        0 => String::new(),
        1 if all == 1 => format!(" ({why}: does not count)"),
        several if several == all => format!(" ({why}: none counts)"),
        1 => format!(" (1 is {why}, and does not count)"),
        several => format!(" ({several} are {why}, and do not count)"),
    }
}

/// A level, and a severity if there is one, in words.
pub fn gravity(level: Level, severity: Option<Severity>) -> String {
    severity.map_or_else(|| level.to_string(), |severity| format!("{level}, severity {severity}"))
}

/// Text on one line, every character visible; if it is long, the rest is only counted.
pub fn shortened(text: &str, longest: usize) -> String {
    let text = visible(text);
    match cut(&text, longest) {
        (_, "") => text,
        (head, rest) => format!("{head}…⟨{} more⟩", rest.chars().count()),
    }
}

/// Returns the finding of a line of a note about a clause.
pub fn finding<'a>(line: &'a str, clause: &str) -> Option<&'a str> {
    line.strip_prefix(clause)?.strip_prefix(": ")
}

/// The note of a case, with what was found beside it.
pub(super) fn note_of(judgement: &Judgement) -> String {
    let beside = judgement.beside.iter().map(|finding| format!("{BESIDE}{finding}"));
    Some(judgement.note.clone())
        .filter(|note| !note.is_empty())
        .into_iter()
        .chain(beside)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Splits a note into findings beside its case, and those of the case itself.
pub(super) fn parted(note: &str) -> [String; 2] {
    let (beside, own): (Vec<&str>, Vec<&str>) = note.lines().partition(|line| line.starts_with(BESIDE));
    let beside = beside.into_iter().filter_map(|line| line.strip_prefix(BESIDE)).collect::<Vec<_>>();
    [beside.join("\n"), own.join("\n")]
}

/// How a case ended and what was found: of a known failure without what its file says of it, which is in front.
pub fn as_found(verdict: Verdict, note: &str) -> (Verdict, &str) {
    if verdict != Verdict::KnownFailure {
        return (verdict, note);
    }
    let was = |was: Verdict| {
        let found = note.split_once(&format!("\n{was}: ")).map(|(_, found)| found);
        Some((was, found.or_else(|| note.ends_with(&format!("\n{was}:")).then_some(""))?))
    };
    Verdict::iter().filter(|was| was.is_news()).find_map(was).unwrap_or((verdict, note))
}

/// The rules of model APIs that a note names, each with how sure it is.
pub fn rules_in(note: &str) -> BTreeMap<String, String> {
    let is_of_name = |of: char| of.is_ascii_uppercase() || of.is_ascii_digit() || of == '-';
    let names = note.split(|of| !is_of_name(of)).filter(|name| name.contains('-'));
    names.filter_map(|name| Some((name.to_owned(), how_sure(name)?))).collect()
}

/// How sure a rule is, in a line.
pub fn rule_line((rule, sure): (&String, &String)) -> String {
    format!("{rule} is a rule of the API: {sure}")
}

// Removes values from the words of a note, so that what is left is the sign of a cause.

const LONGEST_NOTE: usize = 120;

/// With this begins a line that shows what the line above it says.
const DETAIL: &str = "    ";

/// Returns the findings about the clause, a sign each, or about others if nothing was found. For a crash and the like these are the outcome
/// and the last words of its stderr, since the rest is about the case.
pub(super) fn messages(verdict: Verdict, charged: &str, note: &str) -> Vec<String> {
    let mut lines = note.lines().filter(|line| !line.trim().is_empty() && !line.starts_with(BESIDE));
    if verdict == Verdict::Fail {
        let is_own = |line: &&str| finding(line, charged).is_some();
        let own: Vec<String> = lines.clone().filter(is_own).map(message).collect();
        // What is indented shows what the line above says.
        let all = || lines.filter(|line| !line.starts_with(DETAIL)).map(message).collect();
        return if own.is_empty() { all() } else { own };
    }
    let first = lines.next().unwrap_or_default();
    let last_words = lines.rev().find_map(|line| line.strip_prefix(QUOTED)).unwrap_or_default();
    vec![message(format!("{first} {last_words}").trim_end())]
}

/// The signs of every finding of a note, whatever clause it is about.
pub(super) fn every_message(note: &str) -> Vec<String> {
    let is_finding = |line: &&str| !line.starts_with(DETAIL) && !line.starts_with(BESIDE) && !line.trim().is_empty();
    note.lines().filter(is_finding).map(message).collect()
}

/// A message without what differs from case to case: places, numbers, quotations, and JSON.
fn message(line: &str) -> String {
    let line = visible(without_place(line).as_ref());
    let mut plain = String::new();
    let mut rest = line.chars().peekable();
    while let Some(&c) = rest.peek() {
        if c == '…' || plain.ends_with(" at ") && c == '/' {
            // The end of a long text, which has no quotation mark in front; or a place inside a value.
            skip_to(&mut rest, if c == '…' { " became " } else { ": " });
            plain.push('…');
            continue;
        }
        if VALUES.iter().any(|before| plain.ends_with(before)) && !matches!(c, '`' | '"' | '\'' | '[' | '{') {
            // A number, true, false or null.
            while rest.next_if(|&c| !c.is_whitespace() && c != ',').is_some() {}
            plain.push('…');
            continue;
        }
        rest.next();
        match c {
            '`' | '"' => {
                skip_quotation(&mut rest, c);
                plain.push('…');
            }
            // Not an apostrophe.
            '\'' if !plain.ends_with(char::is_alphanumeric) => {
                skip_quotation(&mut rest, c);
                plain.push('…');
            }
            '[' | '{' => {
                let mut depth = 1_usize;
                while depth > 0
                    && let Some(c) = rest.next()
                {
                    match c {
                        '"' => skip_quotation(&mut rest, c),
                        '[' | '{' => depth += 1,
                        ']' | '}' => depth -= 1,
                        _ => {}
                    }
                }
                plain.push('…');
            }
            c if c.is_ascii_digit() => {
                while rest.next_if(char::is_ascii_digit).is_some() {}
                plain.push('N');
            }
            c => plain.push(c),
        }
        if plain.ends_with("…, …") {
            // A list of values, however long.
            plain.truncate(plain.len() - ", …".len());
        }
    }
    beginning(&plain, LONGEST_NOTE)
}

/// Behind these words is a value, which may be a bare word or number.
const VALUES: &[&str] = &["the result ", " became ", " at …: "];

/// A finding without the run, request and message, and the place inside a value, where it was made.
fn without_place(line: &str) -> Cow<'_, str> {
    let Some((clause, mut what)) = line.split_once(": ") else { return line.into() };
    while let Some((place, rest)) = what.split_once(": ")
        && is_place(place)
    {
        what = rest;
    }
    format!("{clause}: {what}").into()
}

fn is_place(text: &str) -> bool {
    let is_number = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
    let is_part = |part: &str| {
        part.split_once(' ').is_some_and(|(what, number)| {
            matches!(what, "run" | "request" | "message") && is_number(number)
                || what == "at" && number.starts_with('/')
        })
    };
    text.split(", ").all(is_part)
}

/// Goes in front of these words; to the end where they do not come.
fn skip_to(rest: &mut Peekable<Chars<'_>>, words: &str) {
    let left: String = rest.clone().collect();
    let end = left.find(words).unwrap_or(left.len());
    for _ in left[..end].chars() {
        rest.next();
    }
}

/// Goes behind the end of a quotation; one that is never closed goes to the end.
fn skip_quotation(rest: &mut Peekable<Chars<'_>>, quote: char) {
    while let Some(c) = rest.next()
        && c != quote
    {
        if c == '\\' {
            rest.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_by_their_whole_names() {
        let note = "AGENT-IDS: request 2: the id `c1` is lost; answered with 400 OAI-CHAT-ORPHAN, OAI-CHAT-ANSWERED\n  XOAI-CHAT-ORPHAN OAI-CHAT-";
        let rules = rules_in(note);
        assert_eq!(rules.keys().collect::<Vec<_>>(), ["OAI-CHAT-ANSWERED", "OAI-CHAT-ORPHAN"]);
        assert!(rules.values().all(|sure| sure.contains("reported by several users")), "{rules:?}");
    }
}
