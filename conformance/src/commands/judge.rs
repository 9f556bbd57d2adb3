//! `threadspec judge`.

use super::outcome::{Finished, Output};
use super::{Stop, corpus_and_errata, exit, verify};
use crate::corpus::Case;
use crate::protocol::Profile;
use crate::report::transcript::Replay;
use crate::run::{Settings, run};
use crate::terminal::{print, visible};
use crate::testee::Testee;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::SystemTime;

/// Judge a recorded exchange again, without the testee
///
/// `verify --transcript FILE` records one. What was recorded is judged by the corpus as it is now: a case that is new or was
/// changed since has no answer, and counts as not run.
#[derive(Debug, clap::Args)]
pub struct Judge {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Let failed `should` cases count
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    output: Output,
    /// The transcript
    #[arg(value_name = "TRANSCRIPT")]
    transcript: PathBuf,
}

impl Judge {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, the transcript is none, or a report cannot be written.
    pub fn execute(&self) -> Result<u8, Stop> {
        let (corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        self.output.prepare()?;
        let wrong = |why: String| Stop::new(exit::USAGE, format!("{}: {}", self.transcript.display(), visible(&why)));
        let mut replay = Replay::read(&self.transcript).map_err(wrong)?;
        let header = replay.header.clone();
        let recorded: HashSet<&str> = header.cases.iter().map(String::as_str).collect();
        let profile: Profile = header.options.profile;
        let cases: Vec<&Case> = corpus.cases.iter().filter(|case| recorded.contains(&*case.id)).collect();
        let gone = recorded.len() - cases.len();
        if !self.output.quiet {
            print(&verify::introduction(replay.hello(), profile));
        }
        if gone > 0 {
            print(&format!("{gone} recorded cases are not in the corpus any more\n\n"));
        }
        let began = SystemTime::now();
        let settings = Settings { profile, strict: self.strict || header.options.strict, fail_fast: false };
        let run = run(&mut replay, &cases, settings, &mut |_| {});
        let hello = replay.hello().clone();
        let options = crate::report::record::Options { strict: settings.strict, ..header.options.clone() };
        let repeat = |case: &Case| {
            let words = ["threadspec", "verify", "--filter", &case.id, "--profile", &profile.to_string()];
            verify::words(words.map(str::to_owned).to_vec(), &header.command)
        };
        self.output.conclude(Finished {
            run: &run,
            corpus: &corpus,
            errata: &errata,
            hello: &hello,
            command: &header.command,
            options,
            total: cases.len(),
            began,
            repeat: &repeat,
        })
    }
}
