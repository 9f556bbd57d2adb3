//! The output of a run: on the terminal, and in reports.

use crate::{Stop, introduction, keep_apart, not_ready, not_writable, target_parser};
use console::Term;
use std::env;
use std::io;
use std::path::Path;
use std::time::SystemTime;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::Hello;
use threadspec_judge::verdict::Verdict;
use threadspec_report::terminal::print;
use threadspec_report::{
    Circumstances, Conclusion, Repeat, ReportFormat, RunFailures, RunRecord, Screen, Summary, Target, unsupported,
};
use threadspec_runner::{Exit, Run, RunOptions, interrupt};

/// A run without options fills at most so many rows of a terminal.
const ROWS: usize = 40;
/// The most lines of totals.
const TOTALS: usize = 14;

/// The options about output and reports.
#[derive(Debug, clap::Args)]
pub struct Reporting {
    /// Print one line per failure, and no progress
    #[arg(long)]
    pub quiet: bool,
    /// Also write a report: json, junit, html, markdown or badge; the path `-` is stdout (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = target_parser())]
    report: Vec<Target>,
    /// Show every failure in full, not the clearest one of each cause, and the unsupported cases
    #[arg(long)]
    all: bool,
    /// Show the clearest case of this many causes in full, and the others on a line each [default: as fits in 40 lines]
    #[arg(long, value_name = "N", conflicts_with = "all")]
    max_failures: Option<usize>,
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
    /// Faults of the testee beyond its replies.
    pub against: Vec<String>,
    /// Outdated entries of the file of known failures.
    pub out_of_date: Vec<String>,
    /// The options of the run.
    pub options: RunOptions,
    /// When it began.
    pub began: SystemTime,
    /// Errors of reports that could not be written so far.
    pub unwritten: Vec<Stop>,
    /// The command that repeats a case.
    pub repeat: Repeat<'a>,
    /// How reports are written.
    pub write: WriteReport,
    /// The next command once nothing fails.
    pub next: Option<String>,
}

impl Reporting {
    /// Returns whether a report is a page, for which templates are needed.
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
        print(&self.line(line));
    }

    fn line(&self, line: &str) -> String {
        format!("{line}\n{}", if self.quiet { "" } else { "\n" })
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
            next,
        } = finished;
        let strict = options.strict;
        let failures = RunFailures::of(run, corpus, strict, repeat);
        let summary = Summary::of(run, failures.beside(), corpus, &options, &against, &out_of_date);
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
        let screen = screen();
        let conclusion = Conclusion::of(code);
        let totals = |code| {
            let text = summary.text(run, conclusion, code);
            if self.is_on_one_screen() { Summary::within(TOTALS, screen, &text) } else { text }
        };
        let [introduced, again] = [self.line(&introduction(hello, options.terms())), failures.sentence(screen)];
        let taken = [introduced, totals(code), again.clone()].map(|text| screen.rows(&text));
        print(&match self.max_failures {
            _ if self.quiet => failures.headlines(),
            _ if self.all => failures.all() + &unsupported(run, usize::MAX),
            // Why nothing ran is all that there is to say.
            _ if run.results.iter().all(|result| result.judgement.verdict == Verdict::Unsupported) => {
                unsupported(run, 1)
            }
            Some(number) => failures.first(number),
            None => failures.within(ROWS.saturating_sub(taken.iter().sum()), screen),
        });
        let time = (began, began.elapsed().unwrap_or_default());
        let about = Circumstances { corpus, hello: Some(hello), command, options, time, against, out_of_date, code };
        unwritten.extend(self.report(run, about, errata, (repeat, write)));
        print(&totals(if unwritten.is_empty() { code } else { Exit::Corpus }));
        print(&again);
        if let Some(next) = next.filter(|_| code == Exit::Ok && !self.quiet) {
            print(&format!("next: {next}\n"));
        }
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

    /// Returns whether what failed fills one screen at most.
    fn is_on_one_screen(&self) -> bool {
        !self.quiet && !self.all && self.max_failures.is_none()
    }
}

/// The terminal that stdout is, or none; `COLUMNS` says how wide it is, if it is set.
fn screen() -> Screen {
    let told = env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let seen = || Some(Term::stdout()).filter(|term| term.features().is_attended())?.size_checked();
    Screen { columns: told.or_else(|| seen().map(|(_, columns)| usize::from(columns))) }
}
