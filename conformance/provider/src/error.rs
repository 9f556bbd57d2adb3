//! The error type of the crate.

use std::{error, fmt};

/// Why a script or a transcript cannot be used.
///
/// Its `Display` form is one line that names the place and the reason: `model[0].attempts[1].cut: …`. The name of the file is the
/// caller's to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    place: String,
    reason: String,
}

impl Error {
    pub(crate) fn new(place: impl Into<String>, reason: impl fmt::Display) -> Self {
        Self { place: place.into(), reason: reason.to_string() }
    }

    /// The path of the value that is wrong, from the beginning of the text; empty for the whole of it.
    pub fn place(&self) -> &str {
        &self.place
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "{}: ", self.place)?;
        }
        f.write_str(&self.reason)
    }
}

impl error::Error for Error {}
