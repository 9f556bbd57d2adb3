//! `threadspec report`.

use std::path::PathBuf;
use threadspec_cli::{Stop, corpus_and_errata, keep_apart, not_writable, read_runs};
use threadspec_judge::text::visible;
use threadspec_report::{ReportFormat, Target};
use threadspec_runner::Exit;
use threadspec_runner::files::prepare;

/// Make a report of run files
///
/// Several runs appear side by side, one per implementation and profile. Run files come from `verify --report json=PATH`.
#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The form of the report: html, junit, markdown, badge or json
    #[arg(long)]
    format: ReportFormat,
    /// The file to write; `-` is stdout. A badge is a picture if the name ends in .svg
    #[arg(short, long, value_name = "PATH")]
    output: PathBuf,
    /// Show the clauses and cases of the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The run files
    #[arg(value_name = "RUN", required = true)]
    runs: Vec<PathBuf>,
}

impl Report {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a run file cannot be read, or the report not be written.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        let runs = threadspec_report::merge(read_runs(&self.runs)?, &corpus)
            .map_err(|error| Stop::new(Exit::Usage, visible(&error.to_string())))?;
        let wrong = |error| not_writable(&self.output, &error);
        keep_apart([&*self.output], self.runs.iter().map(PathBuf::as_path))?;
        prepare(&self.output).map_err(wrong)?;
        let target = Target { format: self.format, path: self.output.clone() };
        threadspec_pages::write(&target, &runs, &corpus, &errata).map_err(wrong)?;
        Ok(Exit::Ok)
    }
}
