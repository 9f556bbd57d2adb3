//! Says that this system gives programs no network of their own.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use threadspec_cli::Stop;
use threadspec_runner::Exit;

/// Run a command in a network of its own, which this system does not have
#[derive(Debug, clap::Args)]
pub(crate) struct Apart {}

impl Apart {
    /// Refuses.
    ///
    /// # Errors
    ///
    /// Always.
    pub(crate) fn execute(&self) -> Result<Exit, Stop> {
        Err(Stop::new(Exit::Usage, "this system gives a program no network of its own"))
    }
}

pub(super) fn is_possible() -> bool {
    false
}

/// Doors that are never opened.
pub(super) struct Doors;

impl Doors {
    pub(super) fn open(_: &Path, _: &[u16]) -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn around(&self, command: Vec<OsString>) -> io::Result<Vec<OsString>> {
        Ok(command)
    }
}
