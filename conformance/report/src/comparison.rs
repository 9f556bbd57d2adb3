//! Compares two runs, an earlier and a later one, and merges the shards of a run.

use crate::Error;
use crate::causes::{Cause, causes_of};
use crate::record::{CaseRecord, RunRecord};
use crate::terminal::{BAD, GOOD, styled};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::Write;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::text::visible;
use threadspec_runner::Exit;

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

// Merges the shards of a run.

/// Merges the shards of each testee and profile. Testees keep the order in which they were given, and cases are in the order of the
/// corpus. A run that is not a shard is not changed.
///
/// # Errors
///
/// When a shard is missing or given twice, or the shards are of different runs.
pub fn merge(runs: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, Error> {
    let mut merged: Vec<Vec<RunRecord>> = Vec::new();
    for run in runs {
        let same = |group: &&mut Vec<RunRecord>| {
            let first = &group[0];
            run.options.shard.is_some()
                && first.options.shard.is_some()
                && (first.testee == run.testee || first.testee.is_null() || run.testee.is_null())
                && first.options.terms() == run.options.terms()
        };
        match merged.iter_mut().find(same) {
            Some(group) => group.push(run),
            None => merged.push(vec![run]),
        }
    }
    let mut complete = Vec::new();
    for group in merged {
        complete.push(if group[0].options.shard.is_some() { whole(group, corpus)? } else { group });
    }
    Ok(complete.into_iter().flatten().collect())
}

fn whole(shards: Vec<RunRecord>, corpus: &Corpus) -> Result<Vec<RunRecord>, Error> {
    let mut numbers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    for run in &shards {
        let shard = run.options.shard.as_deref().unwrap_or_default();
        let parts = shard.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        let (number, of) = parts.ok_or_else(|| Error::new(format!("{}: `{shard}` is not a shard", run.name())))?;
        if !numbers.entry(of).or_default().insert(number) {
            return Err(Error::new(format!("{}: shard {shard} comes twice", run.name())));
        }
    }
    // Declined cases are counted over all shards, below.
    let mut shards = shards.into_iter().map(|mut shard| {
        let too_many = shard.options.too_many_declined(shard.declined);
        shard.against.retain(|what| Some(what) != too_many.as_ref());
        shard
    });
    let Some(mut merged) = shards.next() else { return Ok(Vec::new()) };
    let name = merged.name();
    match numbers.first_key_value() {
        Some((of, found)) if numbers.len() == 1 => {
            if let Some(missing) = (1..=*of).find(|number| !found.contains(number)) {
                return Err(Error::new(format!("{name}: shard {missing}/{of} is missing")));
            }
        }
        _ => return Err(Error::new(format!("{name}: shards of different runs"))),
    }
    for shard in shards {
        if shard.corpus != merged.corpus || shard.options.strict != merged.options.strict {
            return Err(Error::new(format!(
                "{name}: its shards are of different runs: another corpus, or strict and not"
            )));
        }
        // A testee that did not start has no hello.
        if merged.testee.is_null() {
            merged.testee = shard.testee;
        }
        // Shards may have different seeds.
        merged.options.seed = merged.options.seed.filter(|seed| shard.options.seed == Some(*seed));
        merged.started = merged.started.min(shard.started);
        merged.seconds = merged.seconds.max(shard.seconds);
        merged.exit_code = merged.exit_code.max(shard.exit_code);
        merged.stopped = merged.stopped.or(shard.stopped);
        merged.options.left_out += shard.options.left_out;
        merged.declined += shard.declined;
        // The same fault in every shard counts once, as in a single run.
        let both = [
            (&mut merged.shutdown, shard.shutdown),
            (&mut merged.against, shard.against),
            (&mut merged.remarks, shard.remarks),
            (&mut merged.out_of_date, shard.out_of_date),
        ];
        for (all, found) in both {
            for what in found {
                if !all.contains(&what) {
                    all.push(what);
                }
            }
        }
        merged.cases.extend(shard.cases);
    }
    let mut seen = HashSet::new();
    if let Some(twice) = merged.cases.iter().find(|case| !seen.insert(case.id.clone())) {
        return Err(Error::new(format!("{name}: two shards have the case {}", twice.id)));
    }
    let place: HashMap<&str, usize> = corpus.cases.iter().enumerate().map(|(place, case)| (&*case.id, place)).collect();
    merged.cases.sort_by_key(|case| place.get(&*case.id).copied().unwrap_or(usize::MAX));
    merged.options.shard = None;
    merged.against.extend(merged.options.too_many_declined(merged.declined));
    merged.count(corpus);
    // A shard without applicable cases is not conformant by itself, but the merged run may be.
    let only_empty = merged.summary.failures == 0 && merged.summary.applicable > 0 && merged.stopped.is_none();
    if merged.exit_code == Exit::NotConformant && only_empty {
        merged.exit_code = Exit::Ok;
    }
    // Each shard may stay below the limit while all of them together exceed it.
    if merged.summary.failures > 0 {
        merged.exit_code = merged.exit_code.max(Exit::NotConformant);
    }
    Ok(vec![merged])
}
