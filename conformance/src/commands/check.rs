//! `threadspec check`.

use super::Stop;
use std::path::{Path, PathBuf};
use threadspec::Profile;
use threadspec::oracle::Api;
use threadspec_judge::text::{count, visible};
use threadspec_logs::{CheckOptions, Finding, Level, Sink, Summary};
use threadspec_report::terminal::{BAD, GOOD, STRONG, WARNING, complain, print, styled};
use threadspec_runner::{Exit, files};

/// Report everything wrong with event logs, `<thread>` documents, or requests to model APIs
///
/// A log is read, rendered in both context modes, and held against every oracle, a megabyte at a time: JSON Lines of any size take
/// little memory. What is wrong with a log or a document makes the exit code 1; a warning, such as a character that no XML
/// document can carry, does not. A file that cannot be read makes it 2, when the others have been checked.
///
/// Requests to OpenAI (chat completions, Responses) and Anthropic, one or a sequence, alone or as a proxy or a batch wraps them, are held
/// against the rules by which these APIs refuse a history. Where a request goes on from an earlier one without extending it, a warning
/// says where the prompt cache was lost.
#[derive(Debug, clap::Args)]
pub(crate) struct Check {
    /// Event logs (a JSON array, an object with `events`, JSON Lines, an OpenAI-style transcript), documents or requests (one, a JSON
    /// array or JSON Lines); `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Render by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
    /// Read as requests to this API: openai-chat, openai-responses or anthropic (default: by their form)
    #[arg(long, value_name = "API")]
    format: Option<Api>,
    /// A warning makes the exit code 1, too
    #[arg(long)]
    strict: bool,
}

impl Check {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the only file cannot be read.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        let (mut at_fault, mut unread) = (0, 0);
        for file in &self.files {
            match self.check(file) {
                Ok(is_at_fault) => at_fault += usize::from(is_at_fault),
                Err(stop) if self.files.len() == 1 => return Err(stop),
                Err(stop) => {
                    unread += 1;
                    complain(&format!("threadspec: {}", stop.message));
                }
            }
        }
        if self.files.len() > 1 {
            let unread = if unread == 0 { String::new() } else { format!(", {unread} not read") };
            print(&format!("{} files, {at_fault} at fault{unread}\n", self.files.len()));
        }
        Ok(match (unread, at_fault) {
            (0, 0) => Exit::Ok,
            (0, _) => Exit::NotConformant,
            _ => Exit::Usage,
        })
    }

    /// Whether something is wrong with a file.
    fn check(&self, file: &Path) -> Result<bool, Stop> {
        let name = visible(&file.display().to_string());
        let cannot_read = |error| Stop::new(Exit::Usage, format!("{name}: {}", visible(&format!("{error}"))));
        let input = files::open(file).map_err(cannot_read)?;
        let mut printer = Printer { name: &name };
        let options = CheckOptions { profile: self.profile, api: self.format };
        let summary = threadspec_logs::check(input, &options, &mut printer).map_err(cannot_read)?;
        print(&conclusion(&summary));
        if !summary.has_recognized() {
            return Err(Stop::new(Exit::Usage, format!("{name}: nothing in it was recognized")));
        }
        Ok(summary.errors > 0 || (self.strict && summary.warnings > 0))
    }
}

/// Prints findings as they come.
struct Printer<'a> {
    name: &'a str,
}

impl Sink for Printer<'_> {
    fn recognized(&mut self, what: &str) {
        print(&format!("{}: {what}\n", styled(STRONG, self.name)));
    }

    fn found(&mut self, finding: Finding) {
        let label = match finding.level {
            Level::Error => styled(BAD, "error"),
            Level::Warning => styled(WARNING, "warning"),
            Level::Note => styled(STRONG, "note"),
        };
        print(&format!("  {label} {}\n", visible(&finding.to_string())));
    }
}

fn conclusion(summary: &Summary) -> String {
    let mut text = String::new();
    if !summary.holds.is_empty() {
        text.push_str(&format!("  {} {}\n", styled(GOOD, "holds"), summary.holds.join(", ")));
    }
    let total = summary.total();
    if !total.is_empty() {
        let (errors, warnings) = (count(summary.errors, "error"), count(summary.warnings, "warning"));
        text.push_str(&format!("  {total}: {errors}, {warnings}\n"));
    }
    text
}
