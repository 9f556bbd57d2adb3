//! Writes the findings of `threadspec check`: as text, and in the forms that other programs read.

mod github;
mod json;
mod junit;
mod sarif;
mod text;

pub use github::{annotation, annotation_of_unread};
pub use json::FINDINGS_SCHEMA;
pub use text::{conclusion, finding, rows, totals};

use strum::{Display, EnumString, VariantNames};
use threadspec_logs::{Level, Report};
use threadspec_report::Error;
use threadspec_runner::Exit;

/// A form of the findings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_fn = unknown_form, parse_err_ty = Error)]
pub enum FindingsForm {
    /// For people, as soon as something is found.
    #[default]
    Text,
    /// One object, whose schema is [`FINDINGS_SCHEMA`].
    Json,
    /// SARIF 2.1.0, which code hosts and editors show beside the lines.
    Sarif,
    /// Annotations of GitHub Actions, as soon as something is found.
    Github,
    /// `JUnit` XML, a test suite for each file.
    Junit,
}

fn unknown_form(name: &str) -> Error {
    Error::new(format!("there is no form `{name}`; the forms are {}", FindingsForm::VARIANTS.join(", ")))
}

/// The result of one file.
#[derive(Clone, Debug, Default)]
pub struct CheckedFile {
    /// As it was named; `-` is stdin.
    pub name: String,
    /// The form and the findings of the file.
    pub report: Report,
    /// Why it could not be read to its end, or that nothing in it was recognized.
    pub unread: Option<String>,
    /// True if a fault of this program ended its reading.
    pub is_our_fault: bool,
}

/// The results of all files of a check.
#[derive(Clone, Debug)]
pub struct CheckRecord {
    /// Each file.
    pub files: Vec<CheckedFile>,
    /// True if a warning counts as an error does.
    pub strict: bool,
    /// True if somebody interrupted it, so that there may be more.
    pub interrupted: bool,
}

impl CheckRecord {
    /// Returns the exit code: interrupted before our own fault before unread before findings.
    pub fn exit(&self) -> Exit {
        match () {
            () if self.interrupted => Exit::Interrupted,
            () if self.files.iter().any(|file| file.is_our_fault) => Exit::Corpus,
            () if self.files.iter().any(|file| file.unread.is_some()) => Exit::Usage,
            () if self.files.iter().any(|file| self.is_at_fault(file)) => Exit::NotConformant,
            () => Exit::Ok,
        }
    }

    /// Returns whether something in a file counts against it.
    pub fn is_at_fault(&self, file: &CheckedFile) -> bool {
        file.report.summary.errors > 0 || self.strict && file.report.summary.warnings > 0
    }

    fn counts(&self, level: Level) -> bool {
        level == Level::Error || self.strict && level == Level::Warning
    }

    /// Writes the record in a form that is written as a whole; `None` for those that are written line by line.
    pub fn whole(&self, form: FindingsForm) -> Option<String> {
        match form {
            FindingsForm::Text | FindingsForm::Github => None,
            FindingsForm::Json => Some(json::json(self)),
            FindingsForm::Sarif => Some(sarif::sarif(self)),
            FindingsForm::Junit => Some(junit::junit(self)),
        }
    }
}
