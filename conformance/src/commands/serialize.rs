use super::{Stop, read_log};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use threadspec::{Profile, SerializeOptions, write_thread};

/// Write the `<thread>` document of an event log, and not one byte more
#[derive(Debug, clap::Args)]
pub struct Serialize {
    /// Event log: a JSON array, an object with `events`, or JSON Lines; `-` is stdin
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Write by this profile, literal or hardened
    #[arg(long, default_value_t)]
    profile: Profile,
}

impl Serialize {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the log cannot be read.
    pub fn execute(&self) -> Result<u8, Stop> {
        let events = read_log(&self.file)?;
        let mut out = io::BufWriter::new(io::stdout().lock());
        let options = SerializeOptions { profile: self.profile, ..SerializeOptions::default() };
        let mut written = write_thread(&mut out, &events, &options);
        if io::stdout().is_terminal() {
            written = written.and_then(|()| out.write_all(b"\n"));
        }
        super::written(written.and_then(|()| out.flush()))
    }
}
