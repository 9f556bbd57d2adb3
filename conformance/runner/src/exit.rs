//! Defines the exit codes of commands.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::process::ExitCode;

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
