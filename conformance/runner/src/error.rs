//! The error type of the crate.

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
