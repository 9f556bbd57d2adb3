//! `threadspec merge`.

use std::path::PathBuf;
use threadspec_cli::outcome::{prepare, write};
use threadspec_cli::{Stop, corpus_and_errata, read_runs, target_parser};
use threadspec_judge::text::visible;
use threadspec_report::Target;
use threadspec_report::terminal::print;
use threadspec_runner::Exit;

/// Merge the shards of a run, and put several implementations side by side
///
/// The exit code is that of the merged run: 0 only if every implementation is conformant, and all of its shards are there.
#[derive(Debug, clap::Args)]
pub(crate) struct Merge {
    /// Write a report: json, junit, html, markdown or badge (repeatable)
    #[arg(long, value_name = "FORMAT=PATH", value_parser = target_parser(), required = true)]
    report: Vec<Target>,
    /// Show the clauses and cases of the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The run files
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
}

impl Merge {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a run file cannot be read, shards do not fit, or a report cannot be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        let runs = threadspec_report::merge(read_runs(&self.runs)?, &corpus)
            .map_err(|error| Stop::new(Exit::Usage, visible(&error.to_string())))?;
        prepare(&self.report, [], self.runs.iter().map(PathBuf::as_path))?;
        let unwritten = write(&self.report, &runs, (&corpus, &errata), threadspec_pages::write);
        for run in &runs {
            let summary = &run.summary;
            let judged = summary.judged.map(|judged| format!("; judged {judged}")).unwrap_or_default();
            print(&format!(
                "{}, profile {}: {} run / {} applicable / {} total: {}{judged}\n",
                run.name(),
                run.options.profile,
                summary.run,
                summary.applicable,
                summary.total,
                run.conclusion()
            ));
        }
        let code = runs.iter().map(|run| run.exit_code).find(|&code| code != Exit::Ok).unwrap_or(Exit::Ok);
        unwritten.map_or(Ok(code), Err)
    }
}
