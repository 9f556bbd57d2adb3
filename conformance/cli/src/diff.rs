//! `threadspec diff`.

use crate::{Stop, read_runs};
use std::path::PathBuf;
use threadspec_report::Comparison;
use threadspec_report::terminal::print;
use threadspec_runner::Exit;

/// Compare two runs: regressions, fixes, and cases that are new, gone or changed
///
/// The exit code is 1 if a case no longer passes.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// Show every case, not the first ten of each kind, and of each cause of a regression
    #[arg(long)]
    all: bool,
    /// The earlier run file
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The later run file
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

impl Diff {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a run file cannot be read.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let (old, new) = (read_runs(std::slice::from_ref(&self.old))?, read_runs(std::slice::from_ref(&self.new))?);
        let ([old], [new]) = (old.as_slice(), new.as_slice()) else {
            return Err(Stop::new(Exit::Usage, "a file of several runs; compare them one by one"));
        };
        if old.options.profile != new.options.profile {
            let message = format!("one run is judged by {}, the other by {}", old.options.profile, new.options.profile);
            return Err(Stop::new(Exit::Usage, message));
        }
        let comparison = Comparison::of(old, new);
        print(&comparison.text(self.all));
        Ok(if comparison.is_worse() { Exit::NotConformant } else { Exit::Ok })
    }
}
