//! The error type of the crate.

use std::{error, fmt};

/// A fault of a template, of the data of covering arrays, or of the rules of model APIs.
///
/// Its `Display` form is one line that names the member, type or array at fault; the name of the file is the caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(String);

impl Error {
    pub(crate) fn new(message: String) -> Self {
        Self(message)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl error::Error for Error {}
