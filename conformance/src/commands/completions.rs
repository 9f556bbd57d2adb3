//! `threadspec completions`.

use super::{Stop, not_writable, written};
use std::io::{self, Write};
use std::path::PathBuf;
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
    pub(crate) fn execute(&self, mut program: clap::Command) -> Result<Exit, Stop> {
        if let Some(folder) = &self.man {
            let wrong = |error: io::Error| not_writable(folder, &error);
            std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(program, folder)).map_err(wrong)?;
            return Ok(Exit::Ok);
        }
        let Some(shell) = self.shell else { return Ok(Exit::Usage) };
        let mut script = Vec::new();
        clap_complete::generate(shell, &mut program, "threadspec", &mut script);
        written(io::stdout().lock().write_all(&script))
    }
}
