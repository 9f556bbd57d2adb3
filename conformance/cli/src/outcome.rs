//! The output of a run: on the terminal, and in reports.

use crate::not_ready;
use crate::{Stop, keep_apart, not_writable, target_parser};
use std::fmt::Write;
use std::io;
use std::path::Path;
use std::time::SystemTime;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::Hello;
use threadspec_judge::text::{count, visible};
use threadspec_judge::verdict::Verdict;
use threadspec_report::terminal::{FAINT, STRONG, WARNING, print, styled};
use threadspec_report::{
    Cause, Circumstances, Conclusion, Failure, Repeat, ReportFormat, RunRecord, Summary, Symptoms, Target, causes,
    reasons, worst,
};
use threadspec_runner::{CaseResult, Exit, Run, RunOptions, interrupt};

/// How many further failures of a cause are named, and causes of warnings.
const OTHERS: usize = 10;

const LEGEND: &str =
    "⟦…⟧ is what differs; ⏎, ␛ and the like, and ⟨U+200B⟩ stand for characters that have no shape of their own.";

/// What is shown, and what is written.
#[derive(Debug, clap::Args)]
pub struct Reporting {
    /// Print one line per failure, and no progress
    #[arg(long)]
    pub quiet: bool,
    /// Also write a report: json, junit, html, markdown or badge; the path `-` is stdout (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = target_parser())]
    report: Vec<Target>,
    /// Show every failure in full, not the clearest one of each cause, and what is unsupported
    #[arg(long)]
    all: bool,
    /// Show this many causes in full, and count the others
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "all")]
    max_failures: usize,
}

/// Finds out whether reports can be written, beside the other files that the command writes and reads.
///
/// # Errors
///
/// When a folder cannot be created, or two files are one.
pub fn prepare<'a>(
    targets: &'a [Target],
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), Stop> {
    let reports = targets.iter().map(|target| target.path.as_path());
    keep_apart(reports.chain(outputs), inputs)?;
    targets.iter().try_for_each(|target| target.prepare().map_err(|error| not_writable(&target.path, &error)))
}

/// Writes one report of runs, judged by a corpus with its errata.
pub type WriteReport = fn(&Target, &[RunRecord], &Corpus, &str) -> io::Result<()>;

/// Writes reports of runs, and returns what could not be written; one that cannot does not cost the others.
pub fn write(targets: &[Target], runs: &[RunRecord], by: (&Corpus, &str), write: WriteReport) -> Option<Stop> {
    let write = |target: &Target| {
        let written = write(target, runs, by.0, by.1);
        written.err().map(|error| not_writable(&target.path, &error))
    };
    targets.iter().filter_map(write).reduce(Stop::and)
}

/// A run that is over.
pub struct Finished<'a> {
    /// The results.
    pub run: &'a Run<'a>,
    /// The cases and clauses.
    pub corpus: &'a Corpus,
    /// The errata of the corpus.
    pub errata: &'a str,
    /// Who was tested.
    pub hello: &'a Hello,
    /// The command of the testee.
    pub command: &'a [String],
    /// What counts against the testee beyond its replies.
    pub against: Vec<String>,
    /// What is out of date in the file of known failures.
    pub out_of_date: Vec<String>,
    /// The options of the run.
    pub options: RunOptions,
    /// When it began.
    pub began: SystemTime,
    /// What could not be written so far.
    pub unwritten: Vec<Stop>,
    /// The command that repeats a case.
    pub repeat: Repeat<'a>,
    /// How reports are written.
    pub write: WriteReport,
}

impl Reporting {
    /// Whether a report is a page, for which templates are needed.
    pub(crate) fn needs_pages(&self) -> bool {
        self.report.iter().any(|target| target.format != ReportFormat::Json)
    }

    /// Finds out before a run whether its reports can be written.
    ///
    /// # Errors
    ///
    /// When a folder cannot be created, or two files are one.
    pub fn prepare<'a>(
        &'a self,
        outputs: impl IntoIterator<Item = &'a Path>,
        inputs: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), Stop> {
        prepare(&self.report, outputs, inputs)
    }

    /// Prints a line that is no result, such as who is tested.
    pub fn say(&self, line: &str) {
        print(&format!("{line}\n{}", if self.quiet { "" } else { "\n" }));
    }

    /// Prints the results of a run, writes its reports, and returns its exit code.
    ///
    /// Reports come before the summary, so that the exit code that it names is the one of the program.
    ///
    /// # Errors
    ///
    /// When a report cannot be written.
    pub fn conclude(&self, finished: Finished<'_>) -> Result<Exit, Stop> {
        let Finished {
            run,
            corpus,
            errata,
            hello,
            command,
            against,
            out_of_date,
            options,
            began,
            mut unwritten,
            repeat,
            write,
        } = finished;
        let strict = options.strict;
        let summary = Summary::of(run, corpus, &options, &against, &out_of_date);
        let code = if interrupt::requested() {
            Exit::Interrupted
        } else if let Some(why) = &run.not_ready {
            not_ready(why).code
        } else if !summary.is_conformant() {
            Exit::NotConformant
        } else if !summary.is_up_to_date() {
            Exit::KnownFailures
        } else {
            Exit::Ok
        };
        print(&self.failures(run, corpus, strict, repeat));
        let time = (began, began.elapsed().unwrap_or_default());
        let about = Circumstances { corpus, hello: Some(hello), command, options, time, against, out_of_date, code };
        unwritten.extend(self.report(run, about, errata, (repeat, write)));
        let conclusion = Conclusion::of(code);
        print(&summary.text(run, conclusion, if unwritten.is_empty() { code } else { Exit::Corpus }));
        unwritten.into_iter().reduce(Stop::and).map_or(Ok(code), Err)
    }

    /// Writes the reports of a run, and returns what could not be written.
    pub fn report(
        &self,
        run: &Run<'_>,
        about: Circumstances<'_>,
        errata: &str,
        (repeat, writer): (Repeat<'_>, WriteReport),
    ) -> Option<Stop> {
        if self.report.is_empty() {
            return None;
        }
        let corpus = about.corpus;
        let runs = [RunRecord::new(run, about, repeat)];
        write(&self.report, &runs, (corpus, errata), writer)
    }

    /// Failures by cause, the clearest of each in full.
    fn failures(&self, run: &Run<'_>, corpus: &Corpus, strict: bool, repeat: Repeat<'_>) -> String {
        let mut failed: Vec<_> = run.results.iter().filter(|result| result.judgement.verdict.is_news()).collect();
        failed.sort_by_key(|result| result.case.severity);
        let failure = |index: usize| {
            let result: &CaseResult<'_> = failed[index];
            Failure::of_case(result, corpus, strict, repeat(result))
        };
        if self.quiet {
            return (0..failed.len()).map(|index| failure(index).headline()).collect();
        }
        let shown: Vec<Symptoms<'_>> = failed
            .iter()
            .map(|result| Symptoms {
                verdict: result.judgement.verdict,
                charged: result.charge().map_or("", |charge| charge.clause),
                note: &result.judgement.note,
                mismatches: &result.judgement.mismatches,
                size: if result.case.is_template { usize::MAX } else { result.case.input().len() },
                counts: result.counts_against(strict),
                documented: result.judgement.documented,
                severity: result.case.severity,
            })
            .collect();
        let causes = causes(&shown);
        // What counts comes first. What does not is one line, unless it is all that there is to read.
        let counting = causes.iter().filter(|cause| shown[cause.members[0]].counts).count();
        let in_full = if self.all || causes.len() == 1 { causes.len() } else { counting };
        let (in_full, silent) = causes.split_at(in_full);
        let most = if self.all { usize::MAX } else { self.max_failures };
        let id = |index: usize| &*failed[index].case.id;
        // One fault alone is read at once.
        let first = worst(&shown, &causes, id).filter(|_| causes.len() > 1);
        let first = first.map(|first| format!("{}\n\n", styled(STRONG, first))).unwrap_or_default();
        let mut out: String = in_full.iter().take(most).map(|cause| self.block(cause, &failure)).collect();
        if out.contains('⟦') {
            let _ = writeln!(out, "{}\n", styled(FAINT, LEGEND));
        }
        if in_full.len() > most {
            let more = count(in_full.len() - most, "more cause");
            let _ = writeln!(out, "… and {more}; --all or --max-failures shows them\n");
        }
        let is_excused = |index: usize| failed[index].is_excused(strict);
        let excused = brief(silent, &is_excused, &id, |cases| {
            format!("{} of severity C that failed, and do not count", styled(WARNING, count(cases, "case")))
        });
        let warnings = brief(silent, &|index| !is_excused(index), &id, |cases| {
            format!("{}: `should` cases that failed, and do not count", styled(WARNING, count(cases, "warning")))
        });
        let unsupported = if self.all { unsupported(run) } else { String::new() };
        first + &out + &excused + &warnings + &unsupported
    }

    /// The failures of one cause.
    fn block<'a>(&self, Cause { sign, members }: &Cause, failure: &dyn Fn(usize) -> Failure<'a>) -> String {
        let (clearest, others) = (members[0], &members[1..]);
        let mut out = String::new();
        if !others.is_empty() {
            let _ = writeln!(out, "{}: {sign}", styled(STRONG, format!("{} cases of one cause", members.len())));
        }
        out += &failure(clearest).text();
        if self.all {
            out.extend(others.iter().map(|&other| format!("\n{}", failure(other).text())));
        } else {
            out.extend(others.iter().take(OTHERS).map(|&other| {
                let Failure { id, severity, .. } = failure(other);
                let severity = severity.map(|severity| format!(" (severity {severity})")).unwrap_or_default();
                format!("  also {}{severity}\n", visible(&id))
            }));
            if others.len() > OTHERS {
                let _ = writeln!(out, "  … and {} more; --all shows them", others.len() - OTHERS);
            }
        }
        out + "\n"
    }
}

/// Why cases are unsupported, and which they are.
fn unsupported(run: &Run<'_>) -> String {
    let unsupported = run.results.iter().filter(|result| result.judgement.verdict == Verdict::Unsupported);
    let mut out = String::new();
    for (reason, ids) in reasons(unsupported.map(|CaseResult { case, judgement }| (&*judgement.note, &*case.id))) {
        let title = styled(STRONG, format!("{} unsupported", ids.len()));
        let _ = writeln!(out, "{title}: {}", visible(reason));
        out.extend(ids.into_iter().map(|id| format!("  {}\n", visible(id))));
        out.push('\n');
    }
    out
}

/// Failed cases that do not count, of one kind, a line for each cause: those who want to know more ask for it.
fn brief<'a>(
    causes: &[Cause],
    is_of_it: &dyn Fn(usize) -> bool,
    id: &dyn Fn(usize) -> &'a str,
    heading: impl Fn(usize) -> String,
) -> String {
    let members = |cause: &Cause| cause.members.iter().copied().filter(|&index| is_of_it(index)).collect::<Vec<_>>();
    let causes: Vec<(&str, Vec<usize>)> =
        causes.iter().map(|cause| (&*cause.sign, members(cause))).filter(|(_, members)| !members.is_empty()).collect();
    if causes.is_empty() {
        return String::new();
    }
    let total = causes.iter().map(|(_, members)| members.len()).sum();
    let mut out = format!("{}; --all shows them in full\n", heading(total));
    for (sign, members) in causes.iter().take(OTHERS) {
        let _ = writeln!(out, "  {}, such as {}: {sign}", count(members.len(), "case"), visible(id(members[0])));
    }
    if causes.len() > OTHERS {
        let _ = writeln!(out, "  … and {}", count(causes.len() - OTHERS, "more cause"));
    }
    out + "\n"
}
