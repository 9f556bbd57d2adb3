//! The sentence above everything: what to mend first.

use super::causes::{Cause, Symptoms, by_severity, causes, first_mismatches, symptoms};
use super::record::{CaseRecord, RunRecord};
use super::words::{as_found, finding, shortened};
use threadspec_judge::text::{count, cut, visible};

/// What was found is shown up to this length.
const LONGEST: usize = 300;
/// In short, up to this one.
const FEW: usize = 60;

/// What to mend first: the fault that hurts most, with its clearest case. `None` if nothing failed.
///
/// `causes` are those of the failures, as [`causes`](fn@causes) orders them, and `id` names the case of a failure.
pub fn worst<'a>(failures: &[Symptoms<'_>], causes: &[Cause], id: impl Fn(usize) -> &'a str) -> Option<String> {
    let Cause { sign, members } = causes.first()?;
    let clearest = failures.get(*members.first()?)?;
    let &Symptoms { charged, counts, severity, .. } = clearest;
    let what = happened(clearest).unwrap_or(sign);
    let harm = severity.map(|severity| format!(" (severity {severity}: {})", severity.meaning()));
    let others = match causes.len() - 1 {
        0 => String::new(),
        1 => " One more fault stands below.".to_owned(),
        several => format!(" {several} more faults stand below."),
    };
    // The table of clauses counts these apart, too.
    let silent = members.iter().filter(|&&member| !failures[member].counts).count();
    let silent = match silent {
        1 if counts => " (1 of them does not count)".to_owned(),
        2.. if counts => format!(" ({silent} of them do not count)"),
        _ => String::new(),
    };
    // A mark, which hides nothing.
    let documented = if is_documented(failures, members) { " (documented as a choice)" } else { "" };
    Some(format!(
        "{}: {}{}, in {}{silent}, such as {}: {}{documented}.{others}",
        if counts { "Mend first" } else { "Nothing counts against it. Mend first" },
        visible(charged),
        harm.unwrap_or_default(),
        count(members.len(), "case"),
        visible(id(members[0])),
        shortened(what, LONGEST).trim_end_matches('.'),
    ))
}

/// Whether an implementation documents all failures of a cause as its choice.
fn is_documented(failures: &[Symptoms<'_>], members: &[usize]) -> bool {
    members.iter().all(|&member| failures[member].documented)
}

/// What to mend first of what a run found.
pub fn worst_of(run: &RunRecord) -> Option<String> {
    let failed = by_severity(&run.cases, CaseRecord::failed);
    let mismatches = first_mismatches(&failed);
    let failures = symptoms(&failed, &mismatches);
    worst(&failures, &causes(&failures), |index| &failed[index].id)
}

/// What happened in a failed case: what was found of its clause, or else the first line of what is said of it.
fn happened<'a>(&Symptoms { verdict, charged, note, mismatches, .. }: &Symptoms<'a>) -> Option<&'a str> {
    let (_, note) = as_found(verdict, note);
    let found = note.lines().find_map(|line| finding(line, charged));
    found.or_else(|| note.lines().next().filter(|_| mismatches.is_empty()))
}

/// The same in a few words: what happened, without the place.
pub fn worst_in_short(runs: &[RunRecord]) -> Option<String> {
    let failed = by_severity(runs.iter().flat_map(|run| &run.cases), CaseRecord::failed);
    let mismatches = first_mismatches(&failed);
    let failures = symptoms(&failed, &mismatches);
    let causes = causes(&failures);
    let Cause { sign, members } = causes.first()?;
    let clearest = failures.get(*members.first()?)?;
    let what = happened(clearest).unwrap_or(sign);
    let is_place = |part: &str| part.starts_with("request ") || !part.contains(' ');
    let mut what = what.trim_end_matches('.');
    while let Some((_, rest)) = what.split_once(": ").filter(|(place, _)| is_place(place)) {
        what = rest;
    }
    let what = visible(what);
    let (head, rest) = cut(&what, FEW);
    let clause = visible(clearest.charged);
    let (more, mark) =
        (if rest.is_empty() { "" } else { "…" }, if is_documented(&failures, members) { " (documented)" } else { "" });
    Some(format!("{clause}, {head}{more}{mark}"))
}
