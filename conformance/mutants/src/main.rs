//! The command line of threadspec-mutants: serves planted bugs, and measures the corpus with them.

mod serve_command;
mod survey_command;

use clap::{Parser, Subcommand};
use serve_command::Serve;
use std::process::ExitCode;
use survey_command::Run;
use threadspec_conformance::exit_code;
use threadspec_judge::json;

/// Planted bugs, permitted readings and misbehaving processes: what measures the threadspec corpus
#[derive(Parser)]
#[command(name = "threadspec-mutants", version, arg_required_else_help = true)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Run(Run),
    Serve(Serve),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let result = json::on_deep_stack(|| match arguments.command {
        Command::Run(command) => command.execute(),
        Command::Serve(command) => command.execute(),
    });
    exit_code(result)
}
