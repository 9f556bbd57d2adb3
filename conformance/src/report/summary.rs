//! The summary of a run: the numbers, and the conclusion.

use super::Conclusion;
use crate::corpus::Corpus;
use crate::protocol::{Op, Profile};
use crate::run::{CaseResult, Run, Verdict};
use crate::terminal::{BAD, GOOD, STRONG, WARNING, styled, visible};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// How many of the known failures that pass are named.
const OUT_OF_DATE: usize = 10;

/// What a run says about the testee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The cases that were chosen, whatever their profile.
    pub total: usize,
    /// Those of the profile that the testee supports.
    pub applicable: usize,
    /// Those of them that were put to it.
    pub run: usize,
    /// Those of them that passed.
    pub passed: usize,
    /// Those that failed, and are known to.
    pub known: usize,
    /// Those that passed, and were known to fail.
    pub unexpected: usize,
    /// What is out of date in the file of known failures.
    pub out_of_date: Vec<String>,
    /// Failed `should` cases that do not count.
    pub warnings: usize,
    /// Everything that counts against the testee.
    pub failures: usize,
    /// What counts against it beyond its replies.
    pub against: Vec<String>,
    /// The operations of which a case was put to it.
    pub tested: BTreeSet<Op>,
    /// Those of which the profile has cases, but none was put to it.
    pub untested: BTreeSet<Op>,
}

impl Summary {
    /// Counts the results of a run, made of the cases of a corpus in a profile. `total` cases were chosen, whatever their profile;
    /// `against` and `out_of_date` are reported as they are.
    pub fn of(
        run: &Run<'_>,
        by: (&Corpus, Profile),
        total: usize,
        strict: bool,
        against: &[String],
        out_of_date: &[String],
    ) -> Self {
        let count = |verdict: Verdict| run.results.iter().filter(|result| result.judgement.verdict == verdict).count();
        let applicable = run.results.len() - count(Verdict::Unsupported);
        let counting = run.results.iter().filter(|result| result.counts_against(strict)).count();
        let is_warning =
            |result: &&CaseResult<'_>| result.judgement.verdict.is_news() && !result.counts_against(strict);
        let is_run =
            |result: &&CaseResult<'_>| !matches!(result.judgement.verdict, Verdict::Unsupported | Verdict::NotRun);
        let tested: BTreeSet<Op> = run.results.iter().filter(is_run).map(|result| result.case.op).collect();
        let (corpus, profile) = by;
        let of_profile = corpus.cases.iter().filter(|case| case.is_in(profile)).map(|case| case.op);
        Self {
            total,
            applicable,
            run: applicable - count(Verdict::NotRun),
            passed: count(Verdict::Pass) + count(Verdict::UnexpectedPass),
            known: count(Verdict::KnownFailure),
            unexpected: count(Verdict::UnexpectedPass),
            out_of_date: out_of_date.to_vec(),
            warnings: run.results.iter().filter(is_warning).count(),
            failures: counting + run.shutdown.len() + against.len(),
            against: against.to_vec(),
            untested: of_profile.filter(|op| !tested.contains(op)).collect(),
            tested,
        }
    }

    /// Whether the testee conforms. It does not if no case was applicable.
    pub fn is_conformant(&self) -> bool {
        self.failures == 0 && self.applicable > 0
    }

    /// Whether the file of known failures fits the run.
    pub fn is_up_to_date(&self) -> bool {
        self.unexpected == 0 && self.out_of_date.is_empty()
    }

    /// The summary for people, with the exit code of the program: that of the run, unless something could not be written.
    pub fn text(&self, run: &Run<'_>, conclusion: Conclusion, code: u8) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{} run / {} applicable / {} total", self.run, self.applicable, self.total);
        for op in Op::all() {
            let counts = counts(run, Some(op));
            if !counts.is_empty() {
                let _ = writeln!(out, "  {op:<10} {counts}");
            }
        }
        let _ = writeln!(out, "  {:<10} {}", "all", counts(run, None));
        let broken = broken_clauses(run);
        if !broken.is_empty() {
            let _ = writeln!(out, "  {:<10} {broken}", "clauses");
        }
        for what in &run.shutdown {
            let _ = writeln!(out, "{}: {}", styled(BAD, "shutdown"), what.trim_end());
        }
        for what in &self.against {
            let _ = writeln!(out, "{}: {what}", styled(BAD, "against it"));
        }
        let passes = |result: &&CaseResult<'_>| result.judgement.verdict == Verdict::UnexpectedPass;
        for result in run.results.iter().filter(passes).take(OUT_OF_DATE) {
            let _ = writeln!(out, "{}: {} is known to fail, and passes", styled(BAD, "out of date"), result.case.id);
        }
        if self.unexpected > 0 {
            let more = self.unexpected.saturating_sub(OUT_OF_DATE);
            let more = if more > 0 { format!("… and {more} more; ") } else { String::new() };
            let _ = writeln!(out, "{more}--update-known-failures FILE takes out what passes");
        }
        for what in &self.out_of_date {
            let _ = writeln!(out, "{}: {}", styled(BAD, "out of date"), visible(what));
        }
        if let Some(reason) = &run.stopped {
            let _ = writeln!(out, "{}: {reason}; the rest was not run", styled(WARNING, "stopped early"));
        }
        let _ = writeln!(out, "{}", self.conclusion(conclusion, code));
        out
    }

    fn conclusion(&self, conclusion: Conclusion, code: u8) -> String {
        let warnings = match self.warnings {
            0 => String::new(),
            1 => " One `should` case failed: a warning.".to_owned(),
            several => format!(" {several} `should` cases failed: warnings."),
        };
        let not_run = self.applicable - self.run;
        let failed = self.failures - not_run;
        let (style, reason) = match conclusion {
            Conclusion::Conformant | Conclusion::OutOfDate => {
                let style = if conclusion == Conclusion::Conformant { GOOD } else { WARNING };
                let known = match self.known {
                    0 => String::new(),
                    1 => ", but for one known failure".to_owned(),
                    several => format!(", but for {several} known failures"),
                };
                (style, format!("{}{known}", self.scope()))
            }
            Conclusion::Incomplete => {
                (WARNING, format!("{} of {} cases were run, {failed} count against it", self.run, self.applicable))
            }
            Conclusion::NotConformant if self.applicable == 0 => {
                (BAD, "no case was applicable, so nothing was shown".to_owned())
            }
            Conclusion::NotConformant if not_run == 0 => (BAD, format!("{failed} count against it")),
            Conclusion::NotConformant => (BAD, format!("{failed} count against it, and {not_run} were not run")),
        };
        format!("{}: {reason}.{warnings} Exit code {code}.", styled(style, styled(STRONG, conclusion)))
    }

    /// How many cases passed, of which operations, and which operations were not tested.
    fn scope(&self) -> String {
        let names = |ops: &BTreeSet<Op>| ops.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let (passed, applicable) = (self.passed, self.applicable);
        if self.untested.is_empty() {
            return format!("{passed} of {applicable} cases");
        }
        format!("{passed} of {applicable} {} cases; not tested: {}", names(&self.tested), names(&self.untested))
    }
}

/// The clauses of the cases that did not pass, those of the most cases first: one fault fails many cases.
fn broken_clauses(run: &Run<'_>) -> String {
    const SHOWN: usize = 8;
    let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
    for result in run.results.iter().filter(|result| result.judgement.verdict.is_news()) {
        for clause in &result.case.clauses {
            *broken.entry(clause).or_default() += 1;
        }
    }
    let mut broken: Vec<_> = broken.into_iter().collect();
    broken.sort_by_key(|&(_, cases)| Reverse(cases));
    let shown: Vec<String> = broken.iter().take(SHOWN).map(|(clause, cases)| format!("{clause} {cases}")).collect();
    let more = broken.len().saturating_sub(SHOWN);
    shown.join("  ") + &if more > 0 { format!("  and {more} more") } else { String::new() }
}

fn counts(run: &Run<'_>, op: Option<Op>) -> String {
    let counts = Verdict::all().filter_map(|verdict| {
        let of_it = run
            .results
            .iter()
            .filter(|result| result.judgement.verdict == verdict && op.is_none_or(|op| result.case.op == op));
        Some((verdict, of_it.count())).filter(|&(_, count)| count > 0)
    });
    counts.map(|(verdict, count)| format!("{verdict} {count}")).collect::<Vec<_>>().join("  ")
}
