//! Reads the command line of `threadspec`: the command, or the message when none can be read.

use crate::commands;
use crate::over_wire::ADDITIONS;
#[cfg(unix)]
use crate::programs::Apart;
use clap::{CommandFactory, Parser, Subcommand};
use std::process::ExitCode;
use threadspec_cli::{Diff, Explain, List, Show, Stop, Verify, exit_code};
use threadspec_provider::client::Connection;
use threadspec_runner::Exit;

/// Tests programs that talk to language models: their messages, tool calls, tool results, documents and loops
#[derive(Parser)]
#[command(name = "threadspec", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Verify(Box<Verify>),
    Judge(commands::Judge),
    Provider(Box<commands::Provider>),
    Mcp(commands::Mcp),
    #[cfg(unix)]
    #[command(hide = true)]
    Apart(Apart),
    Probe(Box<commands::ProbeCommand>),
    Report(commands::Report),
    Merge(commands::Merge),
    Diff(Diff),
    Explain(Explain),
    Init(commands::Init),
    Completions(commands::Completions),
    Serve(commands::Serve),
    List(List),
    Show(Show),
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
            Self::Verify(command) => verify(&command),
            Self::Judge(command) => command.execute(),
            Self::Provider(command) => command.execute(),
            Self::Mcp(command) => command.execute(),
            #[cfg(unix)]
            Self::Apart(command) => command.execute(),
            Self::Probe(command) => command.execute(),
            Self::Report(command) => command.execute(),
            Self::Merge(command) => command.execute(),
            Self::Diff(command) => command.execute(),
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

/// Runs `verify` with what this program adds to it.
fn verify(command: &Verify) -> Result<Exit, Stop> {
    let gateway = command.through();
    if gateway.is_given() && Connection::to(&gateway.url().replace("{port}", "1")).is_none() {
        return Err(Stop::new(Exit::Usage, "--through-url is no URL that begins with http://"));
    }
    command.execute(&ADDITIONS)
}

/// Runs the program with the arguments of this process, and returns its exit code.
pub fn main() -> ExitCode {
    let arguments: Arguments = threadspec_cli::parse();
    match arguments.command {
        // The library refuses what is nested more than 128 levels deep, and the heap of a second thread grows by many small steps.
        serialize @ Command::Serialize(_) => exit_code(Ok(serialize.execute())),
        // A process that makes a network of its own has one thread.
        #[cfg(unix)]
        apart @ Command::Apart(_) => exit_code(Ok(apart.execute())),
        command => threadspec_cli::run(|| command.execute()),
    }
}
