//! The error type of the crate.

use std::{error, fmt};

/// Why a text is not what it should be: a reply, a case, a table of the corpus, a name.
///
/// Its `Display` form is one line that names the position and the reason; the name of the file or of the testee is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl Error {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self { message: message.to_string() }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl error::Error for Error {}
