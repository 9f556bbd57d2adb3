//! `threadspec completions`.

use super::init::Language;
use clap::Command;
use clap::builder::PossibleValuesParser;
use std::io::{self, Write};
use std::path::PathBuf;
use strum::VariantNames;
use threadspec::oracle::Api;
use threadspec_cli::{Stop, not_writable, written};
use threadspec_judge::corpus::embedded;
use threadspec_judge::protocol::{JudgeProfile, Op, ServerDialect, Transport};
use threadspec_report::ReportFormat;
use threadspec_runner::Exit;

/// Print the completions of a shell, or write the man pages
#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_name = "SHELL", required_unless_present = "man")]
    shell: Option<clap_complete::Shell>,
    /// Write a man page for each command to this folder instead
    #[arg(long, value_name = "DIR", conflicts_with = "shell")]
    man: Option<PathBuf>,
}

impl Completions {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When something cannot be written.
    pub(crate) fn execute(&self, program: Command) -> Result<Exit, Stop> {
        if let Some(folder) = &self.man {
            let wrong = |error: io::Error| not_writable(folder, &error);
            let program = with_examples(program);
            std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder)).map_err(wrong)?;
            return Ok(Exit::Ok);
        }
        let Some(shell) = self.shell else { return Ok(Exit::Usage) };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut with_values(program), "threadspec", &mut script);
        written(io::stdout().lock().write_all(&script))
    }
}

/// The program with every value of each argument that has a few: whoever reads one checks it with a sentence of its own, so that clap does
/// not know them.
fn with_values(program: Command) -> Command {
    program.mut_subcommands(|command| {
        command.mut_args(|argument| {
            if !argument.get_possible_values().is_empty() {
                return argument;
            }
            match values(argument.get_id().as_str()) {
                Some(values) => argument.value_parser(PossibleValuesParser::new(values)),
                None => argument,
            }
        })
    })
}

fn values(argument: &str) -> Option<Vec<&'static str>> {
    // They are needed until the program ends, which is soon.
    let names = |names: &mut dyn Iterator<Item = String>| names.map(|name| &*name.leak()).collect();
    Some(match argument {
        "profile" => names(&mut JudgeProfile::ALL.iter().map(ToString::to_string)),
        "op" | "require_ops" => names(&mut Op::all().map(|op| op.to_string())),
        "provider" => names(&mut Transport::all().map(|transport| transport.to_string())),
        "dialect" => names(&mut ServerDialect::all().map(|dialect| dialect.to_string())),
        "api" | "client" => names(&mut Api::ALL.iter().map(ToString::to_string)),
        "clause" => embedded().0.clauses.iter().map(|clause| &*clause.id).collect(),
        "format" => ReportFormat::VARIANTS.to_vec(),
        "report" => names(&mut ReportFormat::VARIANTS.iter().map(|name| format!("{name}="))),
        "language" => Language::VARIANTS.to_vec(),
        _ => return None,
    })
}

/// The examples of each command. A command with a text of its own has its examples there.
const EXAMPLES: [(&str, &str); 19] = [
    ("judge", "threadspec judge exchange.jsonl.gz\n  threadspec judge --report html=report.html exchange.jsonl"),
    (
        "provider",
        "threadspec provider --script script.json -- my-agent {url}/v1\n  threadspec provider --listen 127.0.0.1:8080 --script script.json",
    ),
    ("mcp", "threadspec mcp --script tools.json\n  threadspec mcp --script tools.json --listen 127.0.0.1:8080"),
    ("probe", "threadspec probe --api openai-chat http://127.0.0.1:8080/v1 --model my-model"),
    (
        "report",
        "threadspec report --format html -o report.html run.json\n  threadspec report --format markdown -o - python.json node.json",
    ),
    ("merge", "threadspec merge --report json=whole.json 1.json 2.json"),
    ("diff", "threadspec diff before.json after.json"),
    ("explain", "threadspec explain AGENT-IDS\n  threadspec explain hardened\n  threadspec explain 3"),
    ("init", "threadspec init python my-adapter\n  threadspec init --framework langchain-python my-adapter"),
    ("completions", "threadspec completions bash > ~/.local/share/bash-completion/completions/threadspec"),
    ("serve", "threadspec serve\n  threadspec verify -- threadspec serve --bug tool-results-dropped"),
    ("list", "threadspec list --filter 'agent/ids/*'\n  threadspec list --clauses --profile hardened"),
    ("show", "threadspec show escape/five-characters/ampersand-alone"),
    ("export", "threadspec export --plain corpus.jsonl"),
    ("lint", "threadspec lint\n  threadspec lint --corpus golden --fix"),
    (
        "fuzz",
        "threadspec fuzz --time 60 -- my-adapter\n  threadspec fuzz --profile universal --op session -- my-adapter",
    ),
    ("matrix", "threadspec matrix run haystack@3.1.0 ai-sdk-7\n  threadspec matrix repro agno AGENT-IDS"),
    ("serialize", "threadspec serialize events.json"),
    ("messages", "threadspec messages events.json"),
];

fn with_examples(program: Command) -> Command {
    EXAMPLES.into_iter().fold(program, |program, (name, examples)| {
        program.mut_subcommand(name, |command| command.after_long_help(format!("Examples:\n  {examples}")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::arguments;

    #[test]
    fn every_command_has_examples_that_it_takes() {
        let program = with_examples(arguments());
        for command in program.get_subcommands().filter(|command| !command.is_hide_set()) {
            let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
            let (_, examples) = text.split_once("Examples:\n").unwrap_or_else(|| panic!("{}", command.get_name()));
            for line in examples.lines().filter(|line| line.trim().starts_with("threadspec ")) {
                let words = shlex::split(line.split(" > ").next().unwrap_or_default()).expect("words");
                if let Err(error) = arguments().try_get_matches_from(words) {
                    panic!("{line}: {error}");
                }
            }
        }
    }

    #[test]
    fn completions_know_every_value() {
        let mut script = Vec::new();
        clap_complete::generate(clap_complete::Shell::Bash, &mut with_values(arguments()), "threadspec", &mut script);
        let script = String::from_utf8(script).expect("text");
        for values in [
            "literal hardened universal",
            "escape serialize messages tools loop session",
            "openai-chat openai-chat:stream openai-responses",
            "json junit html markdown badge",
            "node python typescript rust go java",
            "AGENT-START AGENT-PREFIX",
        ] {
            assert!(script.contains(values), "{values}");
        }
    }
}
