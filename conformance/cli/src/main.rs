//! The program that `cargo run` runs in the repository: `verify` and what explains it. For everything else it builds and starts the whole
//! program, `threadspec`.

use clap::{CommandFactory, Parser, Subcommand};
use std::env;
use std::io;
use std::path::Path;
use std::process::{Command, ExitCode};
use threadspec_cli::{Additions, Diff, Explain, List, Show, Verify};

/// The commands that this program has itself.
#[derive(Parser)]
#[command(name = "threadspec", bin_name = "threadspec", version)]
struct OwnArguments {
    #[command(subcommand)]
    command: OwnCommand,
}

#[derive(Subcommand)]
enum OwnCommand {
    Verify(Box<Verify>),
    List(List),
    Show(Show),
    Explain(Explain),
    Diff(Diff),
}

fn main() -> ExitCode {
    // Reports a misused command here; an unknown one is for the whole program.
    let is_own = env::args_os().nth(1).is_some_and(|name| OwnArguments::command().find_subcommand(name).is_some());
    if !is_own {
        return whole_program();
    }
    let OwnArguments { command } = threadspec_cli::parse();
    if matches!(&command, OwnCommand::Verify(verify) if verify.needs_additions()) {
        return whole_program();
    }
    threadspec_cli::run(|| match command {
        OwnCommand::Verify(command) => command.execute(&Additions::NONE),
        OwnCommand::List(command) => command.execute(),
        OwnCommand::Show(command) => command.execute(),
        OwnCommand::Explain(command) => command.execute(),
        OwnCommand::Diff(command) => command.execute(),
    })
}

/// Builds the whole program with Cargo, which started this one, and runs it with the same arguments.
fn whole_program() -> ExitCode {
    let Some(cargo) = env::var_os("CARGO") else {
        let own: Vec<String> = OwnArguments::command().get_subcommands().map(|own| own.get_name().to_owned()).collect();
        eprintln!(
            "threadspec: this program has {} only; `cargo run --bin threadspec -- …` has all commands",
            own.join(", ")
        );
        return ExitCode::from(2);
    };
    let mut command = Command::new(cargo);
    command.args(["run", "--quiet", "--bin", "threadspec", "--manifest-path"]);
    command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml"));
    // The folder that a program is in has the name of its profile, but for the usual one.
    let program = env::current_exe().ok();
    if let Some(profile) =
        program.as_deref().and_then(Path::parent).and_then(Path::file_name).filter(|name| *name != "debug")
    {
        command.arg("--profile").arg(profile);
    }
    command.arg("--").args(env::args_os().skip(1));
    match started(&mut command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("threadspec: cargo: {error}");
            ExitCode::from(4)
        }
    }
}

/// Replaces this process by the command, so that signals reach it.
#[cfg(unix)]
fn started(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

/// Runs the command to its end, and returns its exit code.
#[cfg(not(unix))]
fn started(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}
