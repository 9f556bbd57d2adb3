//! What is said of a run, on the terminal and in reports.

use super::{Stop, exit};
use crate::corpus::{Case, Corpus};
use crate::protocol::Hello;
use crate::report::output::Target;
use crate::report::record::{Circumstances, Options, RunRecord, is_failure};
use crate::report::{Failure, Summary};
use crate::run::Run;
use crate::terminal::print;
use crate::testee::interrupt;
use std::time::{Duration, SystemTime};

/// What is shown, and what is written.
#[derive(Debug, clap::Args)]
pub(super) struct Output {
    /// Print one line per failure, and no progress
    #[arg(long)]
    pub(super) quiet: bool,
    /// Also write a report: json (repeatable)
    #[arg(long, value_name = "FORMAT=PATH")]
    report: Vec<Target>,
}

/// A run that is over.
pub(super) struct Finished<'a> {
    pub(super) run: &'a Run<'a>,
    pub(super) corpus: &'a Corpus,
    pub(super) hello: &'a Hello,
    pub(super) command: &'a [String],
    pub(super) options: Options,
    /// The cases that were chosen, whatever their profile.
    pub(super) total: usize,
    pub(super) began: SystemTime,
    /// The command that repeats a case alone.
    pub(super) repeat: &'a dyn Fn(&Case) -> String,
}

impl Output {
    /// Finds out before a run whether its reports can be written.
    pub(super) fn prepare(&self) -> Result<(), Stop> {
        self.report.iter().try_for_each(|target| {
            let wrong = |error| Stop::new(exit::CORPUS, format!("{}: {error}", target.path.display()));
            target.prepare().map_err(wrong)
        })
    }

    /// Says what came of a run, and returns its exit code.
    pub(super) fn conclude(&self, finished: Finished<'_>) -> Result<u8, Stop> {
        let Finished { run, corpus, hello, command, options, total, began, repeat } = finished;
        let strict = options.strict;
        let summary = Summary::of(run, total, strict);
        let code = if interrupt::requested() {
            interrupt::EXIT_CODE
        } else if summary.is_conformant() {
            exit::OK
        } else {
            exit::NOT_CONFORMANT
        };
        for result in run.results.iter().filter(|result| is_failure(result.judgement.verdict)) {
            let failure = Failure::of_case(result, corpus, strict, repeat(result.case));
            print(&if self.quiet { failure.headline() } else { failure.text() + "\n" });
        }
        print(&summary.text(run, code));
        if !self.report.is_empty() {
            let took: Duration = began.elapsed().unwrap_or_default();
            let about = Circumstances { corpus, hello, command, options, total, time: (began, took), code };
            let record = RunRecord::new(run, about, repeat);
            for target in &self.report {
                let wrong = |error| Stop::new(exit::CORPUS, format!("{}: {error}", target.path.display()));
                target.write(&record).map_err(wrong)?;
            }
        }
        Ok(code)
    }
}
