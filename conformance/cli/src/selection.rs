//! Selects the cases of a command, and reads its files of known failures.

use crate::{Stop, did_you_mean, select};
use std::collections::HashSet;
use std::fmt::Display;
use std::io;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;
use threadspec::oracle::Api;
use threadspec_judge::corpus::{Case, Clause, Corpus};
use threadspec_judge::protocol::{JudgeProfile, Op, Transport};
use threadspec_judge::text::visible;
use threadspec_report::terminal::complain;
use threadspec_runner::{Exit, Known, Run, Shard, can_be_put, files};
use wildmatch::WildMatch;

/// The options that select cases.
#[derive(Debug, clap::Args)]
pub(crate) struct CaseFilter {
    /// Run only cases whose id matches; `*` matches anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) filter: Vec<String>,
    /// Run only cases of this operation (repeatable)
    #[arg(long, value_name = "OP")]
    pub(crate) op: Vec<Op>,
    /// Run only cases of a clause whose id matches (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(crate) clause: Vec<String>,
    /// Run one of N parts of these cases, as in 1/4; `merge` puts the reports together
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<Shard>,
    /// Also run the cases that take too long for every day; a case whose full id --filter gives always runs
    #[arg(long)]
    pub(crate) thorough: bool,
}

/// The cases of a run.
pub(crate) struct Chosen<'a> {
    pub(crate) cases: Vec<&'a Case>,
    /// The thorough cases that would be among them with `--thorough`.
    pub(crate) left_out: Vec<&'a Case>,
}

impl CaseFilter {
    /// The cases that are chosen, for a testee that asks a provider, through a gateway or not, or for one that has a scripted model.
    pub(crate) fn of<'a>(
        &self,
        corpus: &'a Corpus,
        (provider, through): (Option<Transport>, Option<Api>),
    ) -> Result<Chosen<'a>, Stop> {
        let mut chosen = fitting(corpus, &self.filter, &self.op, &self.clause)?;
        self.refuse_cases_of_the_wire(&chosen, (provider, through))?;
        chosen.retain(|case| can_be_put(case, provider, through));
        let is_for_every_day = |case: &&Case| self.thorough || !case.thorough || self.filter.contains(&case.id);
        self.refuse_thorough_patterns(&chosen, &is_for_every_day)?;
        chosen.retain(|case| self.shard.is_none_or(|shard| shard.has(case)));
        let (cases, left_out) = chosen.into_iter().partition(is_for_every_day);
        Ok(Chosen { cases, left_out })
    }

    /// Refuses a selection of which nothing is run without a provider, or without another one.
    fn refuse_cases_of_the_wire(
        &self,
        chosen: &[&Case],
        (provider, through): (Option<Transport>, Option<Api>),
    ) -> Result<(), Stop> {
        let why = provider.map_or_else(
            || "; --provider API runs them against an agent over HTTP".to_owned(),
            |transport| format!(", which are not for {transport}"),
        );
        let refuse = |what: String| Err(Stop::new(Exit::Usage, format!("{what}{why}")));
        for text in &self.filter {
            let pattern = WildMatch::new(text);
            let mut matched = chosen.iter().filter(|case| pattern.matches(&case.id)).peekable();
            if matched.peek().is_some() && !matched.any(|case| can_be_put(case, provider, through)) {
                return refuse(format!("the pattern `{}` matches only cases of the wire", visible(text)));
            }
        }
        if chosen.iter().any(|case| can_be_put(case, provider, through)) {
            Ok(())
        } else {
            refuse("all cases that fit --op and --clause are cases of the wire".to_owned())
        }
    }

    /// Refuses a selection of which nothing is run without `--thorough`: it would look as if it were.
    fn refuse_thorough_patterns(
        &self,
        chosen: &[&Case],
        is_for_every_day: &dyn Fn(&&Case) -> bool,
    ) -> Result<(), Stop> {
        let refuse = |what: String| Err(Stop::new(Exit::Usage, format!("{what}; --thorough runs them")));
        for text in &self.filter {
            let pattern = WildMatch::new(text);
            let mut matched = chosen.iter().filter(|case| pattern.matches(&case.id)).peekable();
            if matched.peek().is_some() && !matched.any(is_for_every_day) {
                return refuse(format!("the pattern `{}` matches thorough cases only", visible(text)));
            }
        }
        if chosen.iter().any(is_for_every_day) {
            Ok(())
        } else {
            refuse("all cases that fit --op and --clause are thorough ones".to_owned())
        }
    }

    /// Adds the same options as arguments of a command.
    pub(crate) fn arguments(&self, add: &mut impl FnMut(&str, &str)) {
        self.filter.iter().for_each(|pattern| add("--filter", pattern));
        self.op.iter().for_each(|op| add("--op", &op.to_string()));
        self.clause.iter().for_each(|pattern| add("--clause", pattern));
        if let Some(shard) = self.shard {
            add("--shard", &shard.to_string());
        }
    }
}

/// Returns the cases that fit a pattern of each kind, if there is one of the kind.
///
/// # Errors
///
/// When a pattern matches nothing, or no case fits all of them.
pub(super) fn fitting<'a>(
    corpus: &'a Corpus,
    filter: &[String],
    ops: &[Op],
    clauses: &[String],
) -> Result<Vec<&'a Case>, Stop> {
    let patterns: Vec<WildMatch> = clauses.iter().map(|pattern| WildMatch::new(pattern)).collect();
    for (pattern, text) in patterns.iter().zip(clauses) {
        if !corpus.clauses.iter().any(|clause| pattern.matches(&clause.id)) {
            let hint = did_you_mean(text, corpus.clauses.iter().map(|clause| &clause.id));
            let message = format!(
                "the pattern `{}` matches no clause{hint} `threadspec list --clauses` shows them all",
                visible(text)
            );
            return Err(Stop::new(Exit::Usage, message));
        }
    }
    let mut chosen = select(corpus, filter)?;
    chosen.retain(|case| {
        let is_of = |clause: &String| patterns.iter().any(|pattern| pattern.matches(clause));
        (ops.is_empty() || ops.contains(&case.op)) && (patterns.is_empty() || case.clauses.iter().any(is_of))
    });
    if chosen.is_empty() {
        return Err(Stop::new(Exit::Usage, "no case fits all of --filter, --op and --clause"));
    }
    Ok(chosen)
}

/// Returns the clauses that these cases name, in the order of the registry. A row of a covering array counts for none: it names the
/// clauses of all profiles.
pub(super) fn clauses_named<'a>(
    corpus: &'a Corpus,
    cases: impl IntoIterator<Item = &'a Case>,
) -> impl Iterator<Item = &'a Clause> {
    let named: HashSet<&str> = cases
        .into_iter()
        .filter(|case| !case.is_row())
        .flat_map(|case| case.clauses.iter().map(String::as_str))
        .collect();
    corpus.clauses.iter().filter(move |clause| named.contains(&*clause.id))
}

// Files of known failures on the command line.

/// The options about known failures.
#[derive(Debug, clap::Args)]
pub struct KnownFailures {
    /// Excuse the failures that this file names; each of them must fail
    #[arg(long = "known-failures", value_name = "FILE")]
    read: Option<PathBuf>,
    /// Excuse them likewise, and remove entries that pass; with --reason, add new failures
    #[arg(long = "update-known-failures", value_name = "FILE", conflicts_with = "read")]
    update: Option<PathBuf>,
    /// The reason for the failures that are added to the file
    #[arg(long, value_name = "TEXT", requires = "update", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    reason: Option<String>,
}

impl KnownFailures {
    /// The known failures; none without a file, or if the file to update does not exist yet.
    ///
    /// # Errors
    ///
    /// When the file cannot be read, or is no file of known failures.
    pub fn read(&self) -> Result<Known, Stop> {
        let Some(path) = self.path() else { return Ok(Known::default()) };
        let bytes = match files::read(path) {
            Err(error) if error.kind() == ErrorKind::NotFound && self.update.is_some() => Vec::new(),
            bytes => bytes.map_err(|error| wrong(path, &error))?,
        };
        let text = threadspec_judge::text::utf8(bytes).map_err(|why| wrong(path, &why))?;
        Known::read(&text).map_err(|error| wrong(path, &error))
    }

    /// Updates the file to fit the run, if asked to, and returns the known failures that apply then; those that applied before, with what
    /// is wrong, if the file cannot be written.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn update(
        &self,
        known: Known,
        run: &Run<'_>,
        by: (&Corpus, JudgeProfile),
        strict: bool,
    ) -> Result<Known, (Stop, Known)> {
        let Some(path) = &self.update else { return Ok(known) };
        if let Some(reason) = &run.stopped {
            complain(&format!("{} is left as it is: {reason}", visible(&path.display().to_string())));
            return Ok(known);
        }
        let (updated, left_out) = known.updated(run, by, strict, self.reason.as_deref());
        if left_out > 0 {
            let name = visible(&path.display().to_string());
            complain(&format!("{left_out} failures are not in {name}; --reason TEXT adds them, with the reason"));
        }
        let written = updated.text().map_err(io::Error::other).and_then(|text| {
            files::prepare(path)?;
            files::write(path, text.as_bytes())
        });
        match written {
            Ok(()) => Ok(updated),
            Err(why) => Err((Stop::new(Exit::Corpus, visible(&format!("{}: {why}", path.display()))), known)),
        }
    }

    /// Lists the outdated entries of the file.
    pub fn out_of_date(known: &Known, by: (&Corpus, JudgeProfile)) -> Vec<String> {
        known.out_of_date(by.0, by.1, SystemTime::now())
    }

    /// Returns the file, if one is given.
    pub fn path(&self) -> Option<&Path> {
        self.read.as_deref().or(self.update.as_deref())
    }

    /// The arguments for the same known failures, without an update.
    pub fn arguments(&self, add: &mut impl FnMut(&str, &str)) {
        if let Some(path) = self.path() {
            add("--known-failures", &path.display().to_string());
        }
    }
}

fn wrong(path: &Path, why: &dyn Display) -> Stop {
    Stop::new(Exit::Usage, visible(&format!("{}: {}", path.display(), why.to_string().trim_end())))
}
