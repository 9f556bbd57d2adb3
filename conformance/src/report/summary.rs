//! The end of a run: numbers, and what they mean.

use crate::protocol::Op;
use crate::run::Run;
use crate::run::Verdict;
use crate::terminal::{BAD, GOOD, STRONG, WARNING, styled};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a run says about the testee.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The cases that were chosen, whatever their profile.
    pub total: usize,
    /// Those of the profile that the testee supports.
    pub applicable: usize,
    /// Those of them that were put to it.
    pub run: usize,
    /// Failed `should` cases that do not count.
    pub warnings: usize,
    /// Everything that counts against the testee.
    pub failures: usize,
}

impl Summary {
    /// Counts a run over cases of which `total` were chosen.
    pub fn of(run: &Run<'_>, total: usize, strict: bool) -> Self {
        let count = |wanted: Verdict| run.results.iter().filter(|result| result.judgement.verdict == wanted).count();
        let applicable = run.results.len() - count(Verdict::Unsupported);
        let counting = run.results.iter().filter(|result| result.counts_against(strict)).count();
        let failed = run
            .results
            .iter()
            .filter(|result| !matches!(result.judgement.verdict, Verdict::Pass | Verdict::Unsupported));
        Self {
            total,
            applicable,
            run: applicable - count(Verdict::NotRun),
            warnings: failed.count() - counting,
            failures: counting + run.shutdown.len(),
        }
    }

    /// Whether the testee conforms. Where nothing was applicable nothing was shown.
    pub fn is_conformant(&self) -> bool {
        self.failures == 0 && self.applicable > 0
    }

    /// The summary for people.
    pub fn text(&self, run: &Run<'_>, code: u8) -> String {
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
        if let Some(reason) = &run.stopped {
            let _ = writeln!(out, "{}: {reason}; the rest was not run", styled(WARNING, "stopped early"));
        }
        let _ = writeln!(out, "{}", self.conclusion(code));
        out
    }

    fn conclusion(&self, code: u8) -> String {
        let warnings = match self.warnings {
            0 => String::new(),
            1 => " One `should` case failed: a warning.".to_owned(),
            several => format!(" {several} `should` cases failed: warnings."),
        };
        let (style, verdict, reason) = if self.is_conformant() {
            (GOOD, "conformant", "every applicable case passed that must".to_owned())
        } else if self.applicable == 0 {
            (BAD, "not conformant", "no case was applicable, so nothing was shown".to_owned())
        } else {
            (BAD, "not conformant", format!("{} count against it", self.failures))
        };
        format!("{}: {reason}.{warnings} Exit code {code}.", styled(style, styled(STRONG, verdict)))
    }
}

/// The clauses of the cases that did not pass, those of the most cases first: one fault fails many cases.
fn broken_clauses(run: &Run<'_>) -> String {
    const SHOWN: usize = 8;
    let mut broken: BTreeMap<&str, usize> = BTreeMap::new();
    let passed = |verdict| matches!(verdict, Verdict::Pass | Verdict::Unsupported | Verdict::NotRun);
    for result in run.results.iter().filter(|result| !passed(result.judgement.verdict)) {
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
