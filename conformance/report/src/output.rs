//! Writes reports to files.

use super::Error;
use super::record::{self, RunRecord};
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use strum::{Display, EnumString, VariantNames};
use threadspec_runner::files::{prepare, write};

/// A form of report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_format, parse_err_ty = Error)]
pub enum ReportFormat {
    /// The canonical run file.
    Json,
    /// `JUnit` XML, for CI systems.
    Junit,
    /// One self-contained page.
    Html,
    /// For the summary of a CI job.
    Markdown,
    /// A badge: for shields.io, or a picture if the name of the file ends in `.svg`.
    Badge,
}

fn unknown_format(name: &str) -> Error {
    Error::new(format!("there is no report `{name}`; the formats are {}", ReportFormat::VARIANTS.join(", ")))
}

const NOT_A_TARGET: &str = "it is not FORMAT=PATH";

/// A report to be written: `FORMAT=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// In which form.
    pub format: ReportFormat,
    /// To which file; `-` is stdout.
    pub path: PathBuf,
}

impl Target {
    /// Reads `FORMAT=PATH`. On Unix a path may be any bytes.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it.
    pub fn read(text: &OsStr) -> Result<Self, Error> {
        let text = text.as_encoded_bytes();
        let place = text.iter().position(|&byte| byte == b'=');
        let (format, path) =
            place.map(|place| (&text[..place], &text[place + 1..])).ok_or_else(|| Error::new(NOT_A_TARGET))?;
        #[cfg(unix)]
        let path = <OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(path);
        #[cfg(not(unix))]
        let path = str::from_utf8(path).map_err(|error| Error::new(error.to_string()))?;
        if path.is_empty() {
            return Err(Error::new(NOT_A_TARGET));
        }
        Ok(Self { format: String::from_utf8_lossy(format).parse()?, path: path.into() })
    }

    /// Creates the folder of the file if necessary: better before a run than after it.
    ///
    /// # Errors
    ///
    /// When the path is itself a folder, or its folder cannot be created.
    pub fn prepare(&self) -> io::Result<()> {
        prepare(&self.path)
    }

    /// Writes the text of the report.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_text(&self, text: &str) -> io::Result<()> {
        write(&self.path, text.as_bytes())
    }

    /// Writes runs as the canonical run file.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub fn write_json(&self, runs: &[RunRecord]) -> io::Result<()> {
        self.write_text(&record::to_json(runs)?)
    }
}
