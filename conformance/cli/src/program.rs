//! Reads the command line of a program, and runs its command.

use crate::{Stop, exit_code};
use clap::Parser;
use clap::error::{ContextKind, ContextValue, ErrorKind};
#[cfg(unix)]
use nix::sys::signal::{SigSet, Signal};
use std::env;
use std::ffi::OsString;
use std::process::{self, ExitCode};
use threadspec_judge::json;
use threadspec_judge::text::visible;
use threadspec_report::terminal;
use threadspec_runner::Exit;

/// Reads the arguments of this process. If they are wrong, says so and ends the process.
pub fn parse<A: Parser>() -> A {
    #[cfg(unix)]
    survive_limits_of_files();
    A::try_parse().unwrap_or_else(|error| {
        let hint = missing_dashes::<A>(&error);
        let _ = error.print();
        if let Some(hint) = hint {
            terminal::complain(&hint);
        }
        process::exit(error.exit_code());
    })
}

/// Runs a command on a thread with a deep stack, and returns the exit code of the process.
pub fn run(command: impl FnOnce() -> Result<Exit, Stop> + Send) -> ExitCode {
    exit_code(json::on_deep_stack(command))
}

/// Returns the hint to print when the command of a testee is given without `--` before it.
fn missing_dashes<A: Parser>(error: &clap::Error) -> Option<String> {
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
    let line = lines.find(|line| A::try_parse_from(line).is_ok())?;
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
