//! Why planted bugs could not be tried.

use rayon::ThreadPoolBuildError;
use std::fmt;

/// Why nothing could be tried.
#[derive(Debug)]
pub struct Error(ErrorKind);

#[derive(Debug)]
enum ErrorKind {
    UnknownClause { bug: &'static str, clause: &'static str },
    Threads(ThreadPoolBuildError),
    List(serde_json::Error),
}

impl Error {
    pub(crate) fn of_list(error: serde_json::Error) -> Self {
        Self(ErrorKind::List(error))
    }

    pub(crate) fn unknown_clause(bug: &'static str, clause: &'static str) -> Self {
        Self(ErrorKind::UnknownClause { bug, clause })
    }

    /// Returns whether a bug breaks a clause that the corpus does not have. Otherwise no thread could be started.
    pub fn is_unknown_clause(&self) -> bool {
        matches!(self.0, ErrorKind::UnknownClause { .. })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ErrorKind::UnknownClause { bug, clause } => {
                write!(f, "{bug} breaks {clause}, a clause that the corpus does not have")
            }
            ErrorKind::Threads(error) => error.fmt(f),
            ErrorKind::List(error) => write!(f, "permitted-changes.json: {error}"),
        }
    }
}

impl std::error::Error for Error {}

impl From<ThreadPoolBuildError> for Error {
    fn from(error: ThreadPoolBuildError) -> Self {
        Self(ErrorKind::Threads(error))
    }
}
