//! Summarizes a run: the numbers, the cause to fix first, and the conclusion about the testee.

use crate::causes::{Cause, Symptoms, by_severity, causes, first_mismatches, symptoms};
use crate::record::{CaseRecord, RunRecord};
use crate::tally::{ClauseTally, Tallied};
use crate::terminal::{BAD, GOOD, STRONG, WARNING, styled};
use crate::words::{QUOTED, as_found, finding, shortened, silent_among};
use crate::{Judged, JudgedFeatures, Screen, reasons};
use std::collections::BTreeSet;
use std::fmt::Write;
use strum::Display;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::Op;
use threadspec_judge::text::{count, cut, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{CaseResult, Exit, Run, RunOptions};

/// How many of the known failures that pass are named.
const OUT_OF_DATE: usize = 10;

/// How many reasons for unsupported cases are named.
const REASONS: usize = 3;

/// The summary of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// The cases of the profile that were chosen.
    total: usize,
    /// Those of them that the testee supports.
    applicable: usize,
    /// Those of them that ran.
    run: usize,
    /// Those of them that passed.
    passed: usize,
    /// Those that failed, and are known to.
    known: usize,
    /// Those of them that the implementation documents as its choice.
    documented: usize,
    /// Those that passed, and were known to fail.
    unexpected: usize,
    /// Outdated entries of the file of known failures.
    out_of_date: Vec<String>,
    /// Failed `should` cases that do not count.
    warnings: usize,
    /// Failed cases that severity C excuses.
    excused: usize,
    /// Everything that counts against the testee.
    failures: usize,
    /// The causes among them that only findings beside cases show.
    beside: usize,
    /// Faults of the testee beyond its replies.
    against: Vec<String>,
    /// The operations of which cases were chosen, but none ran.
    untested: BTreeSet<Op>,
    /// The profile, and over which wire.
    terms: String,
    /// How much of it was judged.
    judged: Judged,
    /// The features of sessions that were judged, if any session was.
    sessions: Option<JudgedFeatures>,
    /// The cases that were left out because they take too long for every day.
    left_out: usize,
    /// The tally of each clause.
    clauses: Vec<ClauseTally>,
}

impl Summary {
    /// Counts the results of a run, made of the cases of a corpus with these options, and the causes that only findings `beside` cases show;
    /// `against` and `out_of_date` are reported as they are.
    pub fn of(
        run: &Run<'_>,
        beside: usize,
        corpus: &Corpus,
        options: &RunOptions,
        against: &[String],
        out_of_date: &[String],
    ) -> Self {
        let &RunOptions { strict, left_out, .. } = options;
        let number = |verdict: Verdict| run.results.iter().filter(|result| result.judgement.verdict == verdict).count();
        let applicable = run.results.len() - number(Verdict::Unsupported);
        let counting = run.results.iter().filter(|result| result.counts_against(strict)).count();
        let excused = run.results.iter().filter(|result| result.is_excused(strict)).count();
        let is_silent = |result: &&CaseResult<'_>| result.judgement.verdict.is_news() && !result.counts_against(strict);
        let tested: BTreeSet<Op> = tested(run).collect();
        let judged = run.results.iter().map(|result| (&*result.case.id, result.judgement.verdict));
        Self {
            total: run.results.len(),
            applicable,
            run: applicable - number(Verdict::NotRun),
            passed: number(Verdict::Pass) + number(Verdict::UnexpectedPass),
            known: number(Verdict::KnownFailure),
            documented: run.results.iter().filter(|result| result.judgement.documented).count(),
            unexpected: number(Verdict::UnexpectedPass),
            out_of_date: out_of_date.to_vec(),
            warnings: run.results.iter().filter(is_silent).count() - excused,
            excused,
            beside,
            failures: counting + beside + run.shutdown.len() + against.len(),
            against: against.to_vec(),
            untested: run.results.iter().map(|result| result.case.op).filter(|op| !tested.contains(op)).collect(),
            terms: options.terms(),
            judged: Judged::of(judged, (corpus, options)),
            sessions: JudgedFeatures::of(
                run.results.iter().map(|result| (result.case.op, result.case.needs, result.judgement.verdict)),
            ),
            left_out,
            clauses: ClauseTally::of(run.results.iter().map(|result| tallied(result, strict)), corpus),
        }
    }

    /// Returns whether the testee conforms. It does not if no case was applicable.
    pub fn is_conformant(&self) -> bool {
        self.failures == 0 && self.applicable > 0
    }

    /// Returns whether the file of known failures fits the run.
    pub fn is_up_to_date(&self) -> bool {
        self.unexpected == 0 && self.out_of_date.is_empty()
    }

    /// The summary for people, with the exit code of the program: that of the run, unless something could not be written.
    pub fn text(&self, run: &Run<'_>, conclusion: Conclusion, code: Exit) -> String {
        let mut out = String::new();
        let _ = writeln!(out, "{} run / {} applicable / {} total", self.run, self.applicable, self.total);
        for op in Op::all() {
            let counts = counts(run, Some(op));
            if !counts.is_empty() {
                let _ = writeln!(out, "  {op:<10} {counts}");
            }
        }
        let _ = writeln!(out, "  {:<10} {}", "all", counts(run, None));
        if let Some(sessions) = &self.sessions {
            let _ = writeln!(out, "sessions: {sessions}");
        }
        // Of an operation that was tested; the features of sessions are listed above.
        let tested: BTreeSet<Op> = tested(run).filter(|op| *op != Op::Session).collect();
        let is_declined = |result: &&CaseResult<'_>| {
            result.judgement.verdict == Verdict::Unsupported && tested.contains(&result.case.op)
        };
        let declined = run.results.iter().filter(is_declined);
        let reasons = reasons(declined.map(|result| (&*result.judgement.note, &*result.case.id)));
        for (why, ids) in reasons.iter().take(REASONS) {
            let _ = writeln!(out, "unsupported: {}: {}", count(ids.len(), "case"), visible(why));
        }
        if reasons.len() > REASONS {
            let _ = writeln!(out, "unsupported: {}; --all shows them", count(reasons.len() - REASONS, "more reason"));
        }
        for what in &run.remarks {
            let _ = writeln!(out, "{}: {}", styled(WARNING, "note"), visible(what));
        }
        for what in &run.shutdown {
            let _ = writeln!(out, "{}: {}", styled(BAD, "shutdown"), what.trim_end());
        }
        for what in &run.late {
            let _ = writeln!(out, "{}: {what}", styled(WARNING, "late"));
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
            let _ = writeln!(out, "{more}--update-known-failures FILE removes entries that pass");
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

    /// Shortens a text to so many rows of a screen: its first lines and the last one, and how many are left out between them.
    pub fn within(rows: usize, screen: Screen, text: &str) -> String {
        let mut lines: Vec<String> = text.lines().map(|line| format!("{line}\n")).collect();
        let taken = |lines: &[String]| lines.iter().map(|line| screen.rows(line)).sum::<usize>();
        if taken(&lines) <= rows {
            return lines.concat();
        }
        let Some(conclusion) = lines.pop() else { return String::new() };
        let rows = rows.saturating_sub(screen.rows(&conclusion) + 1);
        let mut kept: Vec<String> = lines.iter().map(|line| screen.cut(line, 1)).collect();
        while taken(&kept) > rows {
            kept.pop();
        }
        let left_out = lines.len() - kept.len();
        let mark = (left_out > 0).then(|| format!("… {}; --all shows them\n", count(left_out, "more line")));
        kept.into_iter().chain(mark).chain([conclusion]).collect()
    }

    /// The code is not that of the conclusion if something could not be written.
    fn conclusion(&self, conclusion: Conclusion, code: Exit) -> String {
        let warnings = match self.warnings {
            0 => String::new(),
            1 => " One `should` case failed: a warning.".to_owned(),
            several => format!(" {several} `should` cases failed: warnings."),
        };
        let excused = match self.excused {
            0 => String::new(),
            1 => "; one is of severity C (contrived), and does not count".to_owned(),
            several => format!("; {several} are of severity C (contrived), and do not count"),
        };
        let not_run = self.applicable - self.run;
        let failures = self.failures - not_run;
        let verb = if failures == 1 { "counts" } else { "count" };
        let beside = match self.beside {
            0 => String::new(),
            1 if failures == 1 => ", beside a case".to_owned(),
            1 => ", 1 of them beside a case".to_owned(),
            several => format!(", {several} of them beside cases"),
        };
        let beside = match self.against.len() {
            0 => beside,
            several => format!("{beside}, {several} of them about the run as a whole"),
        };
        // Added up, the numbers of this sentence are those of the table.
        let against = match failures + self.warnings + self.excused {
            all if all > failures => format!("{failures} of {all} failures {verb} against it{beside}"),
            _ => format!("{failures} {verb} against it{beside}"),
        };
        let (style, reason) = match conclusion {
            Conclusion::Conformant | Conclusion::OutOfDate => {
                let style = if conclusion == Conclusion::Conformant { GOOD } else { WARNING };
                let known = match self.known {
                    0 => String::new(),
                    1 => ", but for one known failure".to_owned(),
                    several => format!(", but for {several} known failures"),
                };
                let documented = match self.documented {
                    0 => String::new(),
                    all if all == self.known => " (documented as a choice)".to_owned(),
                    some => format!(" ({some} documented as a choice)"),
                };
                let passed = match format!("{} of {} cases", self.passed, self.applicable) {
                    all if self.passed == self.applicable || self.known > 0 => all,
                    some => format!("{some} pass"),
                };
                (style, format!("{passed}{known}{documented}{excused}. {}", self.scope()))
            }
            Conclusion::Incomplete => {
                (WARNING, format!("{} of {} cases were run, {against}{excused}", self.run, self.applicable))
            }
            Conclusion::NotConformant if self.applicable == 0 => {
                (BAD, "no case was applicable, so nothing was shown".to_owned())
            }
            Conclusion::NotConformant if not_run == 0 => (BAD, format!("{against}{excused}")),
            Conclusion::NotConformant => (BAD, format!("{against}, and {not_run} were not run{excused}")),
        };
        let unwritten = if Conclusion::of(code) == conclusion { "" } else { " Not everything could be written." };
        let left_out = match self.left_out {
            0 => String::new(),
            several => format!(" Left out: {}, which --thorough runs.", count(several, "thorough case")),
        };
        format!(
            "{}: {reason}.{warnings}{left_out}{unwritten} Exit code {code}.",
            styled(style, styled(STRONG, conclusion))
        )
    }

    /// How much of the profile was judged, and which operations were not tested.
    fn scope(&self) -> String {
        let untested: Vec<String> = self.untested.iter().map(ToString::to_string).collect();
        let untested =
            if untested.is_empty() { untested.concat() } else { format!("; not tested: {}", untested.join(", ")) };
        format!("Tested: {} of profile {}{untested}", self.judged, self.terms)
    }
}

/// Returns the operation of each case that ran.
fn tested(run: &Run<'_>) -> impl Iterator<Item = Op> {
    run.results.iter().filter(|result| is_run(result)).map(|result| result.case.op)
}

fn is_run(result: &CaseResult<'_>) -> bool {
    !matches!(result.judgement.verdict, Verdict::Unsupported | Verdict::NotRun)
}

/// Returns the contribution of a case to the tallies of clauses.
fn tallied<'a>(result: &'a CaseResult<'_>, strict: bool) -> Tallied<'a> {
    Tallied {
        clauses: &result.case.clauses,
        verdict: result.judgement.verdict,
        charge: result.charge().map(|charge| (charge.clause, charge.touched)),
        is_excused: result.is_excused(strict),
        severity: result.case.severity,
        beside: result
            .judgement
            .clauses_beside()
            .filter(|_| result.judgement.counts_beside(result.case, strict))
            .collect(),
    }
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

// Writes the sentence above everything: the cause to fix first.

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
    let silent = members.iter().map(|&member| &failures[member]).filter(|failure| counts && !failure.counts);
    let silent = silent_among(members.len(), silent.map(|failure| failure.severity));
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
        return Some("Nothing else that counts hurts as much.");
    }
    if causes.iter().any(|other| other.area > first.area) {
        // A refusal has nothing to do with what a text is made of.
        return first.area.why_first().filter(|_| !first.clause.starts_with("INP-"));
    }
    let why = if one.severity.is_some() {
        "No other cause of this severity is in as many cases."
    } else if one.counts {
        "No other cause that counts is in as many cases."
    } else {
        "No other cause is in as many cases."
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
pub(crate) fn happened(
    &Symptoms { verdict, faults, note, mismatches, .. }: &Symptoms<'_>,
    clause: &str,
) -> Option<String> {
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

// Concludes about the testee as a whole.

/// The conclusion of a run about the testee as a whole: good, bad, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum Conclusion {
    /// Nothing counts against it.
    #[strum(to_string = "conformant")]
    Conformant,
    /// Nothing counts against it, but the file of known failures does not fit.
    #[strum(to_string = "conformant, the known failures are out of date")]
    OutOfDate,
    /// Somebody or something else than the testee ended the run.
    #[strum(to_string = "incomplete")]
    Incomplete,
    /// Something counts against it.
    #[strum(to_string = "not conformant")]
    NotConformant,
}

impl Conclusion {
    /// Returns the conclusion of an exit code.
    pub fn of(exit: Exit) -> Self {
        match exit {
            Exit::Ok => Self::Conformant,
            Exit::KnownFailures => Self::OutOfDate,
            Exit::NotConformant | Exit::Usage | Exit::Testee => Self::NotConformant,
            Exit::Corpus | Exit::Interrupted => Self::Incomplete,
        }
    }

    /// The worst conclusion of the runs; no run is an incomplete one.
    pub fn of_all(runs: &[RunRecord]) -> Self {
        runs.iter().map(RunRecord::conclusion).max().unwrap_or(Self::Incomplete)
    }

    /// A sign of it, for those who read colours and shapes.
    pub fn sign(self) -> char {
        match self {
            Self::Conformant => '✓',
            Self::OutOfDate | Self::Incomplete => '!',
            Self::NotConformant => '✗',
        }
    }
}
