//! Defines the error type of the crate, and the exit codes of commands.

use serde::{Deserialize, Serialize};
use std::process::ExitCode;
use std::{error, fmt};

/// A fault of a file or a word that a run depends on: a transcript, a file of known failures, a shard, an exit code.
///
/// Its `Display` form is the position and the reason; the name of the file is the caller's to add.
///
/// ```
/// use threadspec_runner::Known;
///
/// let error = Known::read("[[known]]\nreason = \"r\"").unwrap_err();
/// assert_eq!(error.entry(), Some(1));
/// assert_eq!(error.to_string(), "entry 1 (): exactly one of `pattern` and `clause` is needed");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    position: Position,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Position {
    None,
    Line(usize),
    Entry(usize, String),
}

impl Error {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), position: Position::None }
    }

    pub(crate) fn at_line(self, line: usize) -> Self {
        Self { position: Position::Line(line), ..self }
    }

    pub(crate) fn at_entry(self, number: usize, name: String) -> Self {
        Self { position: Position::Entry(number, name), ..self }
    }

    /// The 1-based line of a transcript.
    pub fn line(&self) -> Option<usize> {
        match self.position {
            Position::Line(line) => Some(line),
            _ => None,
        }
    }

    /// The 1-based number of the entry in a file of known failures.
    pub fn entry(&self) -> Option<usize> {
        match self.position {
            Position::Entry(number, _) => Some(number),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.position {
            Position::None => {}
            Position::Line(line) => write!(f, "line {line}: ")?,
            Position::Entry(number, name) => write!(f, "entry {number} ({name}): ")?,
        }
        f.write_str(&self.message)
    }
}

impl error::Error for Error {}

// Defines the exit codes of commands.

/// The exit code of a command, in the order of severity. Its number is the exit code of the process, and is in run files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Exit {
    /// Conformant, or simply done.
    Ok,
    /// A known failure passed, or its entry matches nothing or has expired.
    KnownFailures,
    /// Not conformant.
    NotConformant,
    /// Wrong usage.
    Usage,
    /// The testee could not be started, or its handshake failed.
    Testee,
    /// The corpus or the harness itself is at fault, it lacks files or processes, or output could not be written.
    Corpus,
    /// Somebody interrupted it.
    Interrupted,
}

impl Exit {
    /// Every exit code.
    pub const ALL: [Self; 7] = [
        Self::Ok,
        Self::KnownFailures,
        Self::NotConformant,
        Self::Usage,
        Self::Testee,
        Self::Corpus,
        Self::Interrupted,
    ];

    /// Its number.
    pub fn code(self) -> u8 {
        match self {
            Self::Ok => 0,
            Self::NotConformant => 1,
            Self::Usage => 2,
            Self::Testee => 3,
            Self::Corpus => 4,
            Self::KnownFailures => 5,
            Self::Interrupted => 130,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.code())
    }
}

impl From<Exit> for u8 {
    fn from(exit: Exit) -> Self {
        exit.code()
    }
}

impl TryFrom<u8> for Exit {
    type Error = Error;

    fn try_from(code: u8) -> Result<Self, Error> {
        let found = Self::ALL.into_iter().find(|exit| exit.code() == code);
        found.ok_or_else(|| Error::new(format_args!("{code} is not an exit code of threadspec")))
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        exit.code().into()
    }
}
