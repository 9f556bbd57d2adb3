//! The error type of the crate.

use std::{error, fmt};

/// Why a text is not what it should be: a reply, a case, a table of the corpus, a name.
///
/// Its `Display` form is one line that names the position and the reason; the name of the file or of the testee is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
    line: Option<usize>,
}

impl Error {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string(), line: None }
    }

    pub(crate) fn at_line(self, line: usize) -> Self {
        Self { line: Some(line), ..self }
    }

    /// The 1-based line of the file, where it is known.
    pub fn line(&self) -> Option<usize> {
        self.line
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl error::Error for Error {}
