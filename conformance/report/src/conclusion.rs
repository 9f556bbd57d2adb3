//! Concludes about the testee as a whole.

use super::record::RunRecord;
use strum::Display;
use threadspec_runner::Exit;

/// The conclusion of a run about the testee as a whole: good, bad, or nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display)]
pub enum Conclusion {
    /// Nothing counts against it.
    #[strum(to_string = "conformant")]
    Conformant,
    /// Nothing counts against it, but the file of known failures does not fit.
    #[strum(to_string = "conformant, the known failures are out of date")]
    OutOfDate,
    /// Somebody or something else than the testee ended the run.
    #[strum(to_string = "incomplete")]
    Incomplete,
    /// Something counts against it.
    #[strum(to_string = "not conformant")]
    NotConformant,
}

impl Conclusion {
    /// Returns the conclusion of an exit code.
    pub fn of(exit: Exit) -> Self {
        match exit {
            Exit::Ok => Self::Conformant,
            Exit::KnownFailures => Self::OutOfDate,
            Exit::NotConformant | Exit::Usage | Exit::Testee => Self::NotConformant,
            Exit::Corpus | Exit::Interrupted => Self::Incomplete,
        }
    }

    /// The worst conclusion of the runs; no run is an incomplete one.
    pub fn of_all(runs: &[RunRecord]) -> Self {
        runs.iter().map(RunRecord::conclusion).max().unwrap_or(Self::Incomplete)
    }

    /// A sign of it, for those who read colours and shapes.
    pub fn sign(self) -> char {
        match self {
            Self::Conformant => '✓',
            Self::OutOfDate | Self::Incomplete => '!',
            Self::NotConformant => '✗',
        }
    }
}
