//! `threadspec verify`.

use super::outcome::{Finished, Output};
use super::{Stop, corpus_and_errata, exit, select};
use crate::corpus::Case;
use crate::protocol::{Hello, Profile};
use crate::report::record::Options;
use crate::report::transcript::{Header, Recorded, Writer};
use crate::run::{CaseResult, Run, Settings, run};
use crate::terminal::print;
use crate::testee::Reference;
use crate::testee::interrupt;
use crate::testee::{InProcess, Process, Testee};
use indicatif::{ProgressBar, ProgressStyle};
use std::io;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

const DEFAULT_TIMEOUT: Duration = Duration::from_secs(10);

/// Run the corpus against a program, or against the built-in reference
#[derive(Debug, clap::Args)]
#[command(args_override_self = true)]
pub struct Verify {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Run only cases whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// Judge by this profile, literal or hardened [default: literal if the testee has it]
    #[arg(long)]
    profile: Option<Profile>,
    /// Let failed `should` cases count
    #[arg(long)]
    strict: bool,
    /// How long the testee may take for one reply
    #[arg(long, value_name = "SECS", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// End the run at the first failure
    #[arg(long)]
    fail_fast: bool,
    /// Record the exchange in this file, compressed if its name ends in .gz; `judge` judges it again
    #[arg(long, value_name = "FILE")]
    transcript: Option<PathBuf>,
    #[command(flatten)]
    output: Output,
    /// The program to test and its arguments; it speaks the protocol on its stdin and stdout
    #[arg(last = true, value_name = "CMD")]
    command: Vec<String>,
}

pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "not a number of seconds")?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())?;
    // A day is longer than anybody waits, and far from what a clock can add.
    if duration.is_zero() || duration > Duration::from_secs(86_400) {
        Err("not between 0 and a day".into())
    } else {
        Ok(duration)
    }
}

impl Verify {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When there is nothing to run, or nothing to run it against.
    pub fn execute(&self) -> Result<u8, Stop> {
        let (corpus, errata) = corpus_and_errata(self.corpus.as_deref())?;
        let chosen = select(&corpus, &self.filter)?;
        self.output.prepare()?;
        interrupt::listen().map_err(|error| Stop::new(exit::CORPUS, format!("Ctrl-C: {error}")))?;
        let mut testee: Box<dyn Testee> = if self.command.is_empty() {
            Box::new(InProcess::new(Reference))
        } else {
            let started = Process::start(&self.command, self.timeout);
            Box::new(started.map_err(|why| {
                let code = if interrupt::requested() { interrupt::EXIT_CODE } else { exit::TESTEE };
                Stop::new(code, format!("the testee is not ready: {why}"))
            })?)
        };
        let profile = judged_by(self.profile, testee.hello())?;
        let cases: Vec<&Case> = chosen.iter().filter(|case| case.is_in(profile)).copied().collect();
        if !self.output.quiet {
            print(&introduction(testee.hello(), profile));
        }
        let settings = Settings { profile, strict: self.strict, fail_fast: self.fail_fast };
        let (began, hello, options) = (SystemTime::now(), testee.hello().clone(), self.options(profile));
        let run = match &self.transcript {
            None => self.run_with_progress(&mut *testee, &cases, settings),
            Some(path) => {
                let wrong = |error: io::Error| Stop::new(exit::CORPUS, format!("{}: {error}", path.display()));
                let header = Header {
                    transcript: 1,
                    hello: hello.to_json(),
                    command: self.command.clone(),
                    options: options.clone(),
                    cases: cases.iter().map(|case| case.id.clone()).collect(),
                };
                let mut recorded = Recorded::new(&mut *testee, Writer::create(path, &header).map_err(wrong)?);
                let run = self.run_with_progress(&mut recorded, &cases, settings);
                recorded.close().map_err(wrong)?;
                run
            }
        };
        self.output.conclude(Finished {
            run: &run,
            corpus: &corpus,
            errata: &errata,
            hello: &hello,
            command: &self.command,
            options,
            total: chosen.len(),
            began,
            repeat: &|case| self.repeat(&case.id, profile),
        })
    }

    fn options(&self, profile: Profile) -> Options {
        Options {
            profile,
            strict: self.strict,
            filter: self.filter.clone(),
            timeout: self.timeout.as_secs_f64(),
            seed: None,
            shard: None,
            jobs: 1,
        }
    }

    fn run_with_progress<'a>(&self, testee: &mut dyn Testee, cases: &[&'a Case], settings: Settings) -> Run<'a> {
        let bar = if self.output.quiet { ProgressBar::hidden() } else { ProgressBar::new(cases.len() as u64) };
        if let Ok(style) = ProgressStyle::with_template("{bar:20} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        let mut failures = 0_usize;
        let mut progress = |result: &CaseResult<'a>| {
            failures += usize::from(result.counts_against(settings.strict));
            bar.set_message(format!("{failures} failed  {}", result.case.id));
            bar.inc(1);
        };
        let run = run(testee, cases, settings, &mut progress);
        bar.finish_and_clear();
        run
    }

    /// The command that runs one case alone as this run did.
    fn repeat(&self, id: &str, profile: Profile) -> String {
        let mut words = vec!["threadspec".to_owned(), "verify".into(), "--filter".into(), id.to_owned()];
        words.extend(["--profile".to_owned(), profile.to_string()]);
        if self.timeout != DEFAULT_TIMEOUT {
            words.extend(["--timeout".to_owned(), self.timeout.as_secs_f64().to_string()]);
        }
        if let Some(folder) = &self.corpus {
            words.extend(["--corpus".to_owned(), folder.display().to_string()]);
        }
        self::words(words, &self.command)
    }
}

/// A command line with the testee's command behind it.
pub(super) fn words(mut words: Vec<String>, command: &[String]) -> String {
    if !command.is_empty() {
        words.push("--".into());
        words.extend_from_slice(command);
    }
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}

/// The profile that was asked for, else literal if the testee has it.
pub(super) fn judged_by(asked: Option<Profile>, hello: &Hello) -> Result<Profile, Stop> {
    let has = |profile| hello.profiles.contains(&profile);
    match asked {
        Some(asked) if !has(asked) => {
            Err(Stop::new(exit::USAGE, format!("{} does not declare the profile {asked}", hello.name)))
        }
        Some(asked) => Ok(asked),
        None if has(Profile::Literal) => Ok(Profile::Literal),
        // A hello without any profile fails the handshake.
        None => Ok(hello.profiles.first().copied().unwrap_or(Profile::Literal)),
    }
}

pub(super) fn introduction(hello: &Hello, profile: Profile) -> String {
    let Hello { name, version, language, url, .. } = hello;
    let url = url.as_ref().map(|url| format!(", {url}")).unwrap_or_default();
    crate::terminal::visible(&format!("{name} {version} ({language}{url}), profile {profile}")) + "\n\n"
}
