//! Files of known failures on the command line.

use crate::Stop;
use std::fmt::Display;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::text::visible;
use threadspec_report::terminal::complain;
use threadspec_runner::{Exit, Known, Run, files};

/// The options about known failures.
#[derive(Debug, clap::Args)]
pub struct KnownFailures {
    /// Excuse the failures that this file names; each of them must fail
    #[arg(long = "known-failures", value_name = "FILE")]
    read: Option<PathBuf>,
    /// Excuse them likewise, and remove entries that pass; with --reason, add new failures
    #[arg(long = "update-known-failures", value_name = "FILE", conflicts_with = "read")]
    update: Option<PathBuf>,
    /// The reason for the failures that are added to the file
    #[arg(long, value_name = "TEXT", requires = "update", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: Option<String>,
}

impl KnownFailures {
    /// The known failures; none without a file, or if the file to update does not exist yet.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is no file of known failures.
    pub fn read(&self) -> Result<Known, Stop> {
        let Some(path) = self.path() else { return Ok(Known::default()) };
        let bytes = match files::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.update.is_some() => Vec::new(),
            bytes => bytes.map_err(|error| wrong(path, &error))?,
        };
        let text = threadspec_judge::text::utf8(bytes).map_err(|why| wrong(path, &why))?;
        Known::read(&text).map_err(|error| wrong(path, &error))
    }

    /// Updates the file to fit the run, if asked to, and returns the known failures that apply then; those that applied before, with what
    /// is wrong, if the file cannot be written.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn update(
        &self,
        known: Known,
        run: &Run<'_>,
        by: (&Corpus, JudgeProfile),
        strict: bool,
    ) -> Result<Known, (Stop, Known)> {
        let Some(path) = &self.update else { return Ok(known) };
        if let Some(reason) = &run.stopped {
            complain(&format!("{} is left as it is: {reason}", visible(&path.display().to_string())));
            return Ok(known);
        }
        let (updated, left_out) = known.updated(run, by, strict, self.reason.as_deref());
        if left_out > 0 {
            let name = visible(&path.display().to_string());
            complain(&format!("{left_out} failures are not in {name}; --reason TEXT adds them, with the reason"));
        }
        let written = updated.text().map_err(io::Error::other).and_then(|text| {
            files::prepare(path)?;
            files::write(path, text.as_bytes())
        });
        match written {
            Ok(()) => Ok(updated),
            Err(why) => Err((Stop::new(Exit::Corpus, visible(&format!("{}: {why}", path.display()))), known)),
        }
    }

    /// Lists the outdated entries of the file.
    pub fn out_of_date(known: &Known, by: (&Corpus, JudgeProfile)) -> Vec<String> {
        known.out_of_date(by.0, by.1, SystemTime::now())
    }

    /// Returns the file, if one is given.
    pub fn path(&self) -> Option<&Path> {
        self.read.as_deref().or(self.update.as_deref())
    }

    /// The arguments for the same known failures, without an update.
    pub fn arguments(&self, add: &mut impl FnMut(&str, &str)) {
        if let Some(path) = self.path() {
            add("--known-failures", &path.display().to_string());
        }
    }
}

fn wrong(path: &Path, why: &dyn Display) -> Stop {
    Stop::new(Exit::Usage, visible(&format!("{}: {}", path.display(), why.to_string().trim_end())))
}
