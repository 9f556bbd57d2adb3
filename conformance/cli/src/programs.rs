//! The options of `verify` that test a program as it is, from its command line.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;
use threadspec_judge::protocol::Op;
use threadspec_judge::text::count;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::{Run, RunProgram};

/// The recipes of this program, by their names.
pub const RECIPES: &[(&str, &str)] = &[
    ("claude-code", include_str!("../programs/claude-code.toml")),
    ("codex", include_str!("../programs/codex.toml")),
    ("continue-cli", include_str!("../programs/continue-cli.toml")),
    ("gemini-cli", include_str!("../programs/gemini-cli.toml")),
    ("llm", include_str!("../programs/llm.toml")),
    ("mini-swe-agent", include_str!("../programs/mini-swe-agent.toml")),
    ("opencode", include_str!("../programs/opencode.toml")),
    ("pi", include_str!("../programs/pi.toml")),
    ("qwen-code", include_str!("../programs/qwen-code.toml")),
];

/// Lists the recipes, each with its first line, or gives the text of one.
pub(crate) fn recipe_text(what: &str) -> Option<String> {
    if what.eq_ignore_ascii_case("recipes") {
        let line = |(name, text): &(&str, &str)| {
            let about = text.lines().next().unwrap_or_default();
            format!("{name}: {}\n", about.trim_start_matches("about = ").trim_matches('"'))
        };
        return Some(RECIPES.iter().map(line).collect());
    }
    RECIPES.iter().find(|(name, _)| *name == what).map(|(_, text)| (*text).to_owned())
}

/// How long a program may take for a case, unless `--timeout` says it: many take seconds to start.
pub(crate) const PROGRAM_TIMEOUT: Duration = Duration::from_secs(60);

/// How a program is started.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "A program as it is")]
pub struct ProgramOptions {
    /// Start this command for each case, or that of a recipe, and judge its requests
    ///
    /// It gets the user message at `{prompt}`, in the file `{prompt-file}`, or without both on standard input. It finds its model at `{url}` or
    /// `{url_v1}` with `{key}` and `{model}`, and in the usual variables of the environment. Its tools are behind an MCP server: `{mcp}` is a
    /// file in the usual form (`{"mcpServers": …}`), `{mcp_command}` the server's command, and `{mcp_url}` the same server over HTTP. `{home}`
    /// and `{dir}` are fresh folders, its HOME and its working folder. Words `NAME=VALUE` before the command are its environment.
    ///
    /// CMD may instead name a recipe (`threadspec explain recipes` lists them), or be the path of one that ends in .toml.
    #[arg(long, value_name = "CMD", requires = "provider", conflicts_with_all = ["command", "through", "client"])]
    program: Option<String>,
    /// Start this command for each further run on the same thread, and play op `session`, kills included
    ///
    /// It runs in the folders of the run before. While a tool works that the script says, the program is killed with all that it started.
    #[arg(long, value_name = "CMD", requires = "program")]
    resume: Option<String>,
    /// Write a copy of the file TEMPLATE to FILE first, below `{home}` or `{dir}`, with its placeholders filled in (repeatable)
    #[arg(long, value_name = "FILE=TEMPLATE", requires = "program", value_parser = setup)]
    setup: Vec<(String, PathBuf)>,
    /// The program's name in reports, perhaps with its version [default: the recipe's, or the first word of CMD]
    #[arg(long, value_name = "NAME[@VERSION]", requires = "program")]
    name: Option<String>,
    /// Write the bodies of all requests and the calls of tools below this folder, case by case
    #[arg(long, value_name = "DIR", requires = "program")]
    bodies: Option<PathBuf>,
}

/// A file and its template.
fn setup(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((file, template)) if !file.is_empty() && !template.is_empty() => Ok((file.to_owned(), template.into())),
        _ => Err("not FILE=TEMPLATE".to_owned()),
    }
}

impl ProgramOptions {
    /// Returns the command, or the name or path of a recipe.
    pub fn program(&self) -> Option<&str> {
        self.program.as_deref()
    }

    /// Returns the command that goes on with a thread, if one is given.
    pub fn resume(&self) -> Option<&str> {
        self.resume.as_deref()
    }

    /// Returns the files to write first, each with its template.
    pub fn setup(&self) -> &[(String, PathBuf)] {
        &self.setup
    }

    /// Returns the name in reports, if one is given.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Returns the folder for the bodies, if one is given.
    pub fn bodies(&self) -> Option<&Path> {
        self.bodies.as_deref()
    }

    /// Refuses what cannot be meant.
    ///
    /// # Errors
    ///
    /// Says what contradicts.
    pub(crate) fn check(&self, ops: &[Op]) -> Result<(), String> {
        let Some(program) = &self.program else { return Ok(()) };
        if shlex::split(program).is_none_or(|words| words.is_empty()) {
            return Err("--program names no command, or has a quotation that does not end".to_owned());
        }
        if ops.iter().any(|op| ![Op::Tools, Op::Session].contains(op)) {
            return Err("a program plays cases of op `tools`, and with --resume of op `session`".to_owned());
        }
        Ok(())
    }

    /// Describes it for run files; `None` without a program.
    pub(crate) fn told(&self) -> Option<RunProgram> {
        let program = self.program.clone()?;
        let mut options = vec!["--program".to_owned(), program];
        options.extend(self.resume.iter().flat_map(|command| ["--resume".to_owned(), command.clone()]));
        for (file, template) in &self.setup {
            options.extend(["--setup".to_owned(), format!("{file}={}", template.display())]);
        }
        options.extend(self.name.iter().flat_map(|name| ["--name".to_owned(), name.clone()]));
        options.extend(self.bodies.iter().flat_map(|folder| ["--bodies".to_owned(), folder.display().to_string()]));
        Some(RunProgram { options })
    }
}

/// Counts the cases that a program could not play, by their reasons, the most frequent one first.
pub(crate) fn unplayed(run: &Run<'_>) -> Option<String> {
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    for result in run.results.iter().filter(|result| result.judgement.verdict == Verdict::Unsupported) {
        *reasons.entry(result.judgement.note.as_str()).or_default() += 1;
    }
    let mut reasons: Vec<(&str, usize)> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, cases)| std::cmp::Reverse(*cases));
    let lines: Vec<String> = reasons.iter().map(|(why, cases)| format!("  {}: {why}", count(*cases, "case"))).collect();
    (!lines.is_empty()).then(|| format!("unsupported, by reason:\n{}", lines.join("\n")))
}
