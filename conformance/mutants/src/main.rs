//! The command line of threadspec-mutants: serves planted bugs, and measures the corpus with them.

mod blind_command;
mod compare_command;
mod gateway_command;
mod list_command;
mod serve_command;
mod survey_command;

use blind_command::BlindRun;
use clap::{Parser, Subcommand};
use compare_command::CompareMatrices;
use gateway_command::ServeGateway;
use list_command::ListPlanted;
use serve_command::ServePlanted;
use std::process::ExitCode;
use survey_command::SurveyRun;
use threadspec_cli::exit_code;
use threadspec_judge::json;

/// Half of a run is copying values.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Planted bugs, permitted readings and misbehaving processes: what measures the threadspec corpus
#[derive(Parser)]
#[command(name = "threadspec-mutants", version, arg_required_else_help = true)]
struct MutantsArguments {
    #[command(subcommand)]
    command: MutantsCommand,
}

#[derive(Subcommand)]
enum MutantsCommand {
    Run(SurveyRun),
    Blind(BlindRun),
    List(ListPlanted),
    Compare(CompareMatrices),
    Serve(ServePlanted),
    Gateway(ServeGateway),
}

fn main() -> ExitCode {
    let arguments = MutantsArguments::parse();
    let result = json::on_deep_stack(|| match arguments.command {
        MutantsCommand::Run(command) => command.execute(),
        MutantsCommand::Blind(command) => command.execute(),
        MutantsCommand::List(command) => command.execute(),
        MutantsCommand::Compare(command) => command.execute(),
        MutantsCommand::Serve(command) => command.execute(),
        MutantsCommand::Gateway(command) => command.execute(),
    });
    exit_code(result)
}
