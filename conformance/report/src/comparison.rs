//! Compares two runs, an earlier and a later one: what became worse, what became better, and which cases are not the same any more.

use super::causes::{Cause, causes_of};
use super::record::{CaseRecord, RunRecord};
use crate::terminal::{BAD, GOOD, styled};
use std::collections::HashMap;
use std::fmt::Write;
use threadspec_judge::text::visible;

/// The changes of the cases between two runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison<'a> {
    /// Passed before and do not pass now, which includes not being run; or another clause is broken beside them.
    regressions: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    /// Pass now and did not pass before.
    fixes: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    /// Passed neither before nor now, and end in another way.
    otherwise: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    /// Ask or expect something else than before.
    changed: Vec<(&'a CaseRecord, &'a CaseRecord)>,
    /// Are in the later run only.
    new: Vec<&'a CaseRecord>,
    /// Are in the earlier run only.
    gone: Vec<&'a CaseRecord>,
}

impl<'a> Comparison<'a> {
    /// Compares two runs, case by case.
    pub fn of(old: &'a RunRecord, new: &'a RunRecord) -> Self {
        fn by_id(run: &RunRecord) -> HashMap<&str, &CaseRecord> {
            run.cases.iter().map(|case| (case.id.as_str(), case)).collect()
        }
        let (before, now) = (by_id(old), by_id(new));
        let mut comparison =
            Self { gone: old.cases.iter().filter(|case| !now.contains_key(&*case.id)).collect(), ..Self::default() };
        for case in &new.cases {
            let Some(&earlier) = before.get(&*case.id) else {
                comparison.new.push(case);
                continue;
            };
            if earlier.hash != case.hash {
                comparison.changed.push((earlier, case));
            }
            let is_new = |one: &CaseRecord, other: &CaseRecord| {
                one.counts_beside() && one.beside.iter().any(|clause| !other.beside.contains(clause))
            };
            match (earlier.passed(), case.passed()) {
                (true, true) if is_new(case, earlier) => comparison.regressions.push((earlier, case)),
                (true, true) if is_new(earlier, case) => comparison.fixes.push((earlier, case)),
                (true, false) => comparison.regressions.push((earlier, case)),
                (false, true) => comparison.fixes.push((earlier, case)),
                (false, false) if earlier.verdict != case.verdict => comparison.otherwise.push((earlier, case)),
                _ => {}
            }
        }
        comparison
    }

    /// Returns whether a case passed before and does not pass now, which includes not being run.
    pub fn is_worse(&self) -> bool {
        !self.regressions.is_empty()
    }

    /// The comparison for people, regressions by cause, with all cases or the first ten of each kind and cause.
    pub fn text(&self, all: bool) -> String {
        let mut out = String::new();
        let was = |(old, new): &(&CaseRecord, &CaseRecord)| {
            format!("{} ({}{} → {})", new.id, severity(new), ended(old), ended(new))
        };
        let is = |case: &&CaseRecord| format!("{} ({}{})", case.id, severity(case), case.verdict);
        let changes = |pairs: &[(&CaseRecord, &CaseRecord)]| {
            let mut pairs = pairs.to_vec();
            pairs.sort_by_key(|(_, new)| new.severity);
            pairs.iter().map(was).collect::<Vec<_>>()
        };
        let cases = |cases: &[&CaseRecord]| {
            let mut cases = cases.to_vec();
            cases.sort_by_key(|case| case.severity);
            cases.iter().map(is).collect::<Vec<_>>()
        };
        let worse: Vec<&CaseRecord> = self.regressions.iter().map(|&(_, new)| new).collect();
        for Cause { sign, members, .. } in causes_of(&worse) {
            let title = format!("{}, {sign}", styled(BAD, "regressions"));
            let lines: Vec<_> = members.into_iter().map(|index| was(&self.regressions[index])).collect();
            section(&mut out, &title, &lines, all);
        }
        section(&mut out, &styled(GOOD, "fixes"), &changes(&self.fixes), all);
        section(&mut out, "end in another way", &changes(&self.otherwise), all);
        section(&mut out, "changed cases", &changes(&self.changed), all);
        section(&mut out, "new cases", &cases(&self.new), all);
        section(&mut out, "gone cases", &cases(&self.gone), all);
        let _ = writeln!(
            out,
            "{} regressions, {} fixes, {} otherwise, {} changed, {} new, {} gone",
            self.regressions.len(),
            self.fixes.len(),
            self.otherwise.len(),
            self.changed.len(),
            self.new.len(),
            self.gone.len()
        );
        out
    }
}

/// How a case ended, with what was found beside it.
fn ended(case: &CaseRecord) -> String {
    let beside = if case.beside.is_empty() { String::new() } else { format!(", beside {}", case.beside.join(", ")) };
    format!("{}{beside}", case.verdict)
}

fn severity(case: &CaseRecord) -> String {
    case.severity.map(|severity| format!("severity {severity}, ")).unwrap_or_default()
}

fn section(out: &mut String, title: &str, lines: &[String], all: bool) {
    const SHOWN: usize = 10;
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(out, "{title}: {}", lines.len());
    let shown = if all { lines.len() } else { SHOWN };
    for line in lines.iter().take(shown) {
        let _ = writeln!(out, "  {}", visible(line));
    }
    if lines.len() > shown {
        let _ = writeln!(out, "  … and {} more; --all shows them", lines.len() - shown);
    }
    out.push('\n');
}
