//! `threadspec matrix`.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;
use threadspec_cli::Stop;
use threadspec_judge::text::visible;
use threadspec_runner::Exit;

/// The script that installs and runs a version, below the root of a checkout.
const SCRIPT: &str = "conformance/adapters/frameworks/run-version";

/// Add versions of real agent frameworks to the matrix of a checkout
#[derive(Debug, clap::Args)]
pub(crate) struct MatrixCommand {
    #[command(subcommand)]
    action: MatrixAction,
}

#[derive(Debug, clap::Subcommand)]
enum MatrixAction {
    /// Install a version in an environment of its own, run it, and add its column
    ///
    /// Its dependencies are those that the registry gives for it today. All recordings of a framework are kept, or none. What was fixed and
    /// what broke since another version is in MATRIX.md. Needs Python 3.11, and Node.js for frameworks in JavaScript.
    Run(RunVersion),
}

#[derive(Debug, clap::Args)]
struct RunVersion {
    /// A framework that has an adapter, in a version, or in the newest one
    #[arg(required = true, value_name = "FRAMEWORK[@VERSION]")]
    wanted: Vec<String>,
    /// Keep the recordings in this folder instead of the checkout, whatever they say
    #[arg(long, value_name = "DIR")]
    into: Option<PathBuf>,
    /// Do not write the pages again
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
        let MatrixAction::Run(run) = &self.action;
        let script = script_of_checkout().ok_or_else(|| {
            Stop::new(Exit::Usage, "`matrix run` needs the adapters: go to a checkout of threadspec and try again")
        })?;
        let own = env::current_exe().map_err(|error| Stop::new(Exit::Corpus, error))?;
        let mut command = Command::new("python3");
        command.arg(script).arg("--threadspec").arg(own);
        command.args(run.into.iter().flat_map(|folder| [OsString::from("--into"), folder.into()]));
        command.args(run.no_pages.then_some("--no-pages")).arg("--").args(&run.wanted);
        Err(started(command))
    }
}

/// The script of the checkout that holds the current folder.
fn script_of_checkout() -> Option<PathBuf> {
    let here = env::current_dir().ok()?;
    here.ancestors().map(|folder| folder.join(SCRIPT)).find(|script| script.is_file())
}

#[cfg(unix)]
fn started(mut command: Command) -> Stop {
    use std::os::unix::process::CommandExt;

    let error = command.exec();
    Stop::new(Exit::Testee, visible(&format!("cannot start python3: {error}")))
}

#[cfg(not(unix))]
fn started(_: Command) -> Stop {
    Stop::new(Exit::Usage, "`matrix run` needs a Unix system, as the adapters do")
}
