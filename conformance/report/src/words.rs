//! Holds the words that several reports share.

use super::record::RunRecord;
use std::collections::BTreeMap;
use strum::IntoEnumIterator;
use threadspec_golden::how_sure;
use threadspec_judge::corpus::{Level, Severity};
use threadspec_judge::text::{cut, visible};
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_found_by_their_whole_names() {
        let note = "AGENT-IDS: request 2: the id `c1` is lost; answered with 400 OAI-CHAT-ORPHAN, OAI-CHAT-ANSWERED\n  XOAI-CHAT-ORPHAN OAI-CHAT-";
        let rules = rules_in(note);
        assert_eq!(rules.keys().collect::<Vec<_>>(), ["OAI-CHAT-ANSWERED", "OAI-CHAT-ORPHAN"]);
        assert!(rules.values().all(|sure| sure.contains("reported more than once")), "{rules:?}");
    }
}
