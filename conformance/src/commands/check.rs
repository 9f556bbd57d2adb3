//! `threadspec check`.

use super::{Stop, exit};
use crate::logs::{self, Finding, Options, Report, Severity};
use crate::terminal::{BAD, GOOD, STRONG, WARNING, complain, print, styled, visible};
use std::path::{Path, PathBuf};
use threadspec::Profile;

/// Report everything wrong with event logs, or with `<thread>` documents
///
/// A log is read, rendered in both context modes, and held against every oracle, a megabyte at a time: JSON Lines of any size take
/// little memory. What is wrong with a log or a document makes the exit code 1; a warning, such as a character that no XML
/// document can carry, does not. A file that cannot be read makes it 2, when the others have been checked.
#[derive(Debug, clap::Args)]
pub struct Check {
    /// Event logs (a JSON array, an object with `events`, JSON Lines, an OpenAI-style transcript) or documents; `-` is stdin
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Render by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
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
    pub fn execute(&self) -> Result<u8, Stop> {
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
            (0, 0) => exit::OK,
            (0, _) => exit::NOT_CONFORMANT,
            _ => exit::USAGE,
        })
    }

    /// Whether something is wrong with a file.
    fn check(&self, file: &Path) -> Result<bool, Stop> {
        let name = visible(&file.display().to_string());
        let cannot_read = |error| Stop::new(exit::USAGE, format!("{name}: {}", visible(&format!("{error}"))));
        let input = logs::open(file).map_err(cannot_read)?;
        let mut begin = |about: &str| print(&format!("{}: {about}\n", styled(STRONG, &name)));
        let mut find = |found: &[Finding]| print(&found.iter().map(line).collect::<String>());
        let mut report = Report::new(&mut begin, &mut find);
        let options = Options { profile: self.profile };
        let read = logs::check(input, options, &mut report).map_err(cannot_read);
        print(&conclusion(&report));
        read.map(|()| report.errors > 0 || (self.strict && report.warnings > 0))
    }
}

fn line(Finding { severity, text }: &Finding) -> String {
    let label = match severity {
        Severity::Error => styled(BAD, "error"),
        Severity::Warning => styled(WARNING, "warning"),
    };
    format!("  {label} {}\n", visible(text))
}

fn conclusion(report: &Report<'_>) -> String {
    let mut text = String::new();
    if !report.holds.is_empty() {
        text.push_str(&format!("  {} {}\n", styled(GOOD, "holds"), report.holds.join(", ")));
    }
    if !report.total.is_empty() {
        let (errors, warnings) = (logs::count(report.errors, "error"), logs::count(report.warnings, "warning"));
        text.push_str(&format!("  {}: {errors}, {warnings}\n", report.total));
    }
    text
}
