//! `threadspec matrix`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use threadspec_cli::Stop;
use threadspec_judge::text::visible;
use threadspec_runner::Exit;

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
