//! Writes the sentence above everything: the cause to fix first.

use super::causes::{Cause, Symptoms, by_severity, causes, first_mismatches, symptoms};
use super::record::{CaseRecord, RunRecord};
use super::words::{QUOTED, as_found, finding, shortened};
use threadspec_judge::text::{count, cut, visible};

/// The most characters of a finding that are shown.
const LONGEST: usize = 160;
/// In short, up to this one.
const FEW: usize = 60;

/// Names the cause to fix first, the reason, and its clearest case. `None` if nothing failed.
///
/// `causes` are those of the failures, as [`causes`](fn@causes) orders them, and `id` names the case of a failure.
pub fn worst(failures: &[Symptoms<'_>], causes: &[Cause], id: impl Fn(usize) -> String) -> Option<String> {
    let Cause { sign, clause, members, .. } = causes.first()?;
    let clearest = failures.get(*members.first()?)?;
    let &Symptoms { counts, severity, .. } = clearest;
    let what = happened(clearest, clause).unwrap_or_else(|| finding(sign, clause).unwrap_or(sign).to_owned());
    let harm = severity.map(|severity| format!(", severity {severity}: {}", severity.meaning()));
    // The table of clauses counts these apart, too.
    let silent = members.iter().filter(|&&member| !failures[member].counts).count();
    let silent = match silent {
        1 if counts => " (1 of them does not count)".to_owned(),
        2.. if counts => format!(" ({silent} of them do not count)"),
        _ => String::new(),
    };
    // A mark, which hides nothing.
    let documented = if is_documented(failures, members) { " (documented as a choice)" } else { "" };
    let why = why_first(failures, causes).map(|why| format!(" {why}")).unwrap_or_default();
    Some(format!(
        "{}: {} ({}{}), in {}{silent}, such as {}{documented}.{why}",
        if counts { "Fix first" } else { "Nothing counts against it. Look first at" },
        shortened(&what, LONGEST).trim_end_matches('.'),
        visible(clause),
        harm.unwrap_or_default(),
        count(members.len(), "case"),
        visible(&id(members[0])),
    ))
}

/// Returns the reason why the first cause is fixed before the others.
fn why_first(failures: &[Symptoms<'_>], causes: &[Cause]) -> Option<&'static str> {
    let [first, second, ..] = causes else { return None };
    let of = |cause: &Cause| failures[cause.members[0]];
    let [one, other] = [first, second].map(of);
    if one.counts != other.counts {
        return Some("Nothing else counts.");
    }
    if one.severity != other.severity {
        return Some("Nothing else hurts as much.");
    }
    if causes.iter().any(|other| other.area > first.area) {
        return first.area.why_first();
    }
    let why = if one.severity.is_some() {
        "Of those that hurt as much, it is in the most cases."
    } else {
        "It is in the most cases."
    };
    Some(why).filter(|_| first.members.len() > second.members.len())
}

/// Returns whether an implementation documents all failures of a cause as its choice.
fn is_documented(failures: &[Symptoms<'_>], members: &[usize]) -> bool {
    members.iter().all(|&member| failures[member].documented)
}

/// Names the cause to fix first in a run.
pub fn worst_of(run: &RunRecord) -> Option<String> {
    let beside = run.beside();
    let failed = by_severity(run.cases.iter().chain(&beside), CaseRecord::failed);
    let mismatches = first_mismatches(&failed);
    let failures = symptoms(&failed, &mismatches);
    worst(&failures, &causes(&failures), |index| failed[index].id.clone())
}

/// Describes a failed case without faults: by the finding about the clause, or else by the first line of its note, with the last words of a
/// program that ended.
fn happened(&Symptoms { verdict, faults, note, mismatches, .. }: &Symptoms<'_>, clause: &str) -> Option<String> {
    let (_, note) = as_found(verdict, note);
    let found = note.lines().find_map(|line| finding(line, clause)).map(str::to_owned);
    let first = || {
        let first = note.lines().next().filter(|line| !line.is_empty() && mismatches.is_empty())?;
        let last_words = note.lines().rev().find_map(|line| line.strip_prefix(QUOTED));
        Some(last_words.map_or_else(|| first.to_owned(), |words| format!("{first} {words}")))
    };
    found.or_else(first).filter(|_| faults.is_empty())
}

/// Describes the worst cause in a few words, without the place.
pub fn worst_in_short(runs: &[RunRecord]) -> Option<String> {
    let beside: Vec<CaseRecord> = runs.iter().flat_map(RunRecord::beside).collect();
    let failed = by_severity(runs.iter().flat_map(|run| &run.cases).chain(&beside), CaseRecord::failed);
    let mismatches = first_mismatches(&failed);
    let failures = symptoms(&failed, &mismatches);
    let causes = causes(&failures);
    let Cause { sign, clause, members, .. } = causes.first()?;
    let clearest = failures.get(*members.first()?)?;
    let what = happened(clearest, clause).unwrap_or_else(|| sign.clone());
    let is_place = |part: &str| part.starts_with("request ") || !part.contains(' ');
    let mut what = what.trim_end_matches('.');
    while let Some((_, rest)) = what.split_once(": ").filter(|(place, _)| is_place(place)) {
        what = rest;
    }
    let what = visible(what);
    let (head, rest) = cut(&what, FEW);
    let clause = visible(clause);
    let (more, mark) =
        (if rest.is_empty() { "" } else { "…" }, if is_documented(&failures, members) { " (documented)" } else { "" });
    Some(format!("{clause}, {head}{more}{mark}"))
}
