//! Runs the commands over run files: `threadspec matrix`, `threadspec merge`, `threadspec report`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use threadspec_cli::outcome::{prepare, write};
use threadspec_cli::{Stop, corpus_and_errata, keep_apart, not_writable, read_runs, target_parser};
use threadspec_judge::text::visible;
use threadspec_report::terminal::print;
use threadspec_report::{ReportFormat, Target};
use threadspec_runner::{Exit, files};

/// The scripts of the matrix, below the root of a checkout.
const SCRIPTS: &str = "conformance/adapters/frameworks";

/// Add versions of real agent frameworks to the matrix of a checkout, and print its reproductions
#[derive(Debug, clap::Args)]
pub(crate) struct MatrixCommand {
    #[command(subcommand)]
    action: MatrixAction,
}

#[derive(Debug, clap::Subcommand)]
enum MatrixAction {
    /// Install a version in an environment of its own, run it, and add its column
    ///
    /// Its dependencies are those that the registry gives for it today. All recordings of a framework are kept, or none; none if no verdict
    /// changed. It prints what was fixed and what broke since the pinned version. Needs Python 3.11, and Node.js for frameworks in JavaScript.
    Run(RunVersion),
    /// Print a reproduction as the one file that an issue at a framework needs
    ///
    /// It needs the framework alone, and no threadspec. Without a clause, it lists what there is. Needs Python 3.11.
    Repro(Reproduction),
}

#[derive(Debug, clap::Args)]
struct Reproduction {
    /// A framework that has an adapter
    #[arg(value_name = "FRAMEWORK")]
    framework: String,
    /// The reproduction, as the list names it
    #[arg(value_name = "CLAUSE")]
    clause: Option<String>,
}

#[derive(Debug, clap::Args)]
struct RunVersion {
    /// A framework that has an adapter, in a version, or in the newest one
    #[arg(required = true, value_name = "FRAMEWORK[@VERSION]")]
    wanted: Vec<String>,
    /// Keep the recordings in this folder instead of the checkout, whatever they say
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Do not judge all recordings again
    #[arg(long)]
    no_pages: bool,
}

impl MatrixCommand {
    /// Becomes the script, so that Ctrl-C reaches what the script has started, and its exit code is that of the program.
    ///
    /// # Errors
    ///
    /// Outside of a checkout, or when the script cannot be started.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let mut command = Command::new("python3");
        match &self.action {
            MatrixAction::Run(run) => {
                let own = env::current_exe().map_err(|error| Stop::new(Exit::Corpus, error))?;
                command.arg(script("run-version")?).arg("--threadspec").arg(own);
                command.args(run.into.iter().flat_map(|folder| [OsString::from("--into"), folder.into()]));
                command.args(run.no_pages.then_some("--no-pages")).arg("--").args(&run.wanted);
            }
            MatrixAction::Repro(one) => {
                command.arg(script("repro")?).arg("--").arg(&one.framework).args(&one.clause);
            }
        }
        Err(started(command))
    }
}

/// A script of the checkout that holds the current folder.
fn script(name: &str) -> Result<PathBuf, Stop> {
    let found = env::current_dir().ok().and_then(|here| {
        here.ancestors().map(|folder| folder.join(SCRIPTS).join(name)).find(|script| script.is_file())
    });
    found.ok_or_else(|| {
        Stop::new(Exit::Usage, "`matrix` needs the adapters: go to a checkout of threadspec and try again")
    })
}

#[cfg(unix)]
fn started(mut command: Command) -> Stop {
    use std::os::unix::process::CommandExt;

    let error = command.exec();
    Stop::new(Exit::Testee, visible(&format!("cannot start python3: {error}")))
}

#[cfg(not(unix))]
fn started(_: Command) -> Stop {
    Stop::new(Exit::Usage, "`matrix` needs a Unix system, as the adapters do")
}

// `threadspec merge`.

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

// `threadspec report`.

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
        files::prepare(&self.output).map_err(wrong)?;
        let target = Target { format: self.format, path: self.output.clone() };
        threadspec_pages::write(&target, &runs, &corpus, &errata).map_err(wrong)?;
        Ok(Exit::Ok)
    }
}
