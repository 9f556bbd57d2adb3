//! The command line of `threadspec`: which command, and what is told when none can be read.

use crate::commands::{self, Stop};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser, Subcommand};
#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};
use std::env;
use std::ffi::OsString;
use std::process::{self, ExitCode};
use threadspec_judge::json;
use threadspec_judge::text::visible;
use threadspec_report::terminal;
use threadspec_runner::Exit;

/// The conformance suite of agent threads: XML documents, model messages and agent loops
#[derive(Parser)]
#[command(name = "threadspec", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Verify(Box<commands::Verify>),
    Judge(commands::Judge),
    Provider(Box<commands::Provider>),
    Probe(Box<commands::ProbeCommand>),
    Report(commands::Report),
    Merge(commands::Merge),
    Diff(commands::Diff),
    Site(commands::SiteCommand),
    Explain(commands::Explain),
    Init(commands::Init),
    Completions(commands::Completions),
    Serve(commands::Serve),
    List(commands::List),
    Show(commands::Show),
    Export(commands::Export),
    Lint(commands::Lint),
    Fuzz(commands::Fuzz),
    Matrix(commands::MatrixCommand),
    Check(commands::Check),
    Serialize(commands::Serialize),
    Messages(commands::Messages),
}

impl Command {
    fn execute(self) -> Result<Exit, Stop> {
        match self {
            Self::Verify(command) => command.execute(),
            Self::Judge(command) => command.execute(),
            Self::Provider(command) => command.execute(),
            Self::Probe(command) => command.execute(),
            Self::Report(command) => command.execute(),
            Self::Merge(command) => command.execute(),
            Self::Diff(command) => command.execute(),
            Self::Site(command) => command.execute(),
            Self::Explain(command) => command.execute(),
            Self::Init(command) => command.execute(),
            Self::Completions(command) => command.execute(arguments()),
            Self::Serve(command) => command.execute(),
            Self::List(command) => command.execute(),
            Self::Show(command) => command.execute(),
            Self::Export(command) => command.execute(),
            Self::Lint(command) => command.execute(),
            Self::Fuzz(command) => command.execute(),
            Self::Matrix(command) => command.execute(),
            Self::Check(command) => command.execute(),
            Self::Serialize(command) => command.execute(),
            Self::Messages(command) => command.execute(),
        }
    }
}

/// The whole command line, for whoever describes it.
pub(crate) fn arguments() -> clap::Command {
    Arguments::command()
}

/// The hint to print when the command of a testee is given without `--` before it.
fn missing_dashes(error: &clap::Error) -> Option<String> {
    let words: Vec<OsString> = env::args_os().collect();
    let takes_testee = words.get(1).is_some_and(|command| command == "verify" || command == "fuzz");
    let ContextValue::String(unknown) = error.get(ContextKind::InvalidArg)? else { return None };
    if error.kind() != ErrorKind::UnknownArgument || !takes_testee || unknown.starts_with('-') {
        return None;
    }
    // The program, or the value of an option, may have the same name as the testee.
    let line = |place: usize| [&words[..place], &["--".into()], &words[place..]].concat();
    let places = (2..words.len()).filter(|&place| words[place].to_string_lossy() == *unknown);
    let mut lines = places.map(line);
    let line = lines.find(|line| Arguments::try_parse_from(line).is_ok())?;
    let line: Vec<String> = line[1..].iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let line = shlex::try_join(line.iter().map(String::as_str)).unwrap_or_else(|_| line.join(" "));
    Some(format!("To test a program, put `--` before its command:\n\n  threadspec {}", visible(&line)))
}

/// Makes writing beyond the greatest size of files (`ulimit -f`) an error, which costs neither the summary nor other reports. Without
/// this it would end the program.
#[cfg(unix)]
fn survive_limits_of_files() {
    let mut signals = SigSet::empty();
    signals.add(Signal::SIGXFSZ);
    let _ = signals.thread_block();
}

/// Runs the program with the arguments of this process, and returns its exit code.
pub fn main() -> ExitCode {
    #[cfg(unix)]
    survive_limits_of_files();
    let arguments = Arguments::try_parse().unwrap_or_else(|error| {
        let hint = missing_dashes(&error);
        let _ = error.print();
        if let Some(hint) = hint {
            terminal::complain(&hint);
        }
        process::exit(error.exit_code());
    });
    let result = match arguments.command {
        // The library refuses what is nested more than 128 levels deep, and the heap of a second thread grows by many small steps.
        serialize @ Command::Serialize(_) => Ok(serialize.execute()),
        command => json::on_deep_stack(|| command.execute()),
    };
    commands::exit_code(result)
}
