//! Shows what is in the corpus, and what differs: `threadspec show`, `threadspec list`, `threadspec diff`.

use crate::selection::{clauses_named, fitting};
use crate::{Stop, corpus, did_you_mean, read_runs};
use std::path::PathBuf;
use threadspec_judge::corpus::{Case, Clause, Corpus};
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_judge::text::visible;
use threadspec_report::Comparison;
use threadspec_report::terminal::{STRONG, print, styled};
use threadspec_runner::Exit;
use wildmatch::WildMatch;

/// Show one case, with the texts of its clauses and the request to send by hand
#[derive(Debug, clap::Args)]
pub struct Show {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// Show only the request of this profile
    #[arg(long)]
    profile: Option<JudgeProfile>,
    /// The case, as `list` names it
    #[arg(value_name = "CASE-ID")]
    id: String,
}

impl Show {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault, or there is no such case in the profile.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        let case = corpus.cases.iter().find(|case| case.id == self.id).ok_or_else(|| {
            let hint = did_you_mean(&self.id, corpus.cases.iter().map(|case| &case.id));
            let message = format!("there is no case `{}`{hint} `threadspec list` shows them all", visible(&self.id));
            Stop::new(Exit::Usage, message)
        })?;
        let profiles = match self.profile {
            None => case.profiles.clone(),
            Some(profile) if case.is_in(profile) => vec![profile],
            Some(profile) => {
                let own: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
                let message = format!("{} is no case of profile {profile}, but of {}", case.id, own.join(" and "));
                return Err(Stop::new(Exit::Usage, message));
            }
        };
        print(&threadspec_report::case(case, &corpus, &profiles));
        Ok(Exit::Ok)
    }
}

// `threadspec list`.

/// List the cases with their levels, profiles, clauses, severity and evidence
#[derive(Debug, clap::Args)]
pub struct List {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// List only cases, or clauses, whose id matches; `*` matches anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// List only cases of this operation (repeatable)
    #[arg(long, value_name = "OP")]
    op: Vec<Op>,
    /// List only cases of a clause whose id matches (repeatable)
    #[arg(long, value_name = "GLOB")]
    clause: Vec<String>,
    /// List only cases of this profile: literal, hardened or universal
    #[arg(long)]
    profile: Option<JudgeProfile>,
    /// List the clauses of the specification instead; with --op or --profile those that have such a case
    #[arg(long)]
    clauses: bool,
}

impl List {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When the corpus is at fault or a pattern matches nothing.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let corpus = corpus(self.corpus.as_deref())?;
        if self.clauses {
            // With --clauses the patterns of --filter are about clauses.
            for clause in self.chosen_clauses(&corpus, &self.cases(&corpus, &[])?)? {
                let id = styled(STRONG, &clause.id);
                print(&format!("{id} ({}; {})\n  {}\n", clause.level, clause.source, clause.text));
            }
        } else {
            for case in self.cases(&corpus, &self.filter)? {
                let profiles: Vec<String> = case.profiles.iter().map(ToString::to_string).collect();
                let (profiles, clauses) = (profiles.join(","), case.clauses.join(","));
                let severity = case.severity.map(|severity| format!("  {severity}")).unwrap_or_default();
                let evidence =
                    if case.evidence.is_empty() { String::new() } else { format!("  {}", case.evidence.join(",")) };
                print(&format!("{}  {}  {profiles}  {clauses}{severity}{evidence}\n", case.id, case.level));
            }
        }
        Ok(Exit::Ok)
    }

    /// The cases that fit all options.
    fn cases<'a>(&self, corpus: &'a Corpus, filter: &[String]) -> Result<Vec<&'a Case>, Stop> {
        let mut cases = fitting(corpus, filter, &self.op, &self.clause)?;
        cases.retain(|case| self.profile.is_none_or(|profile| case.is_in(profile)));
        if cases.is_empty() {
            return Err(Stop::new(Exit::Usage, "no case of this profile fits all of --filter, --op and --clause"));
        }
        Ok(cases)
    }

    /// The clauses that fit all options: those of the cases that do.
    fn chosen_clauses<'a>(&self, corpus: &'a Corpus, cases: &[&'a Case]) -> Result<Vec<&'a Clause>, Stop> {
        let patterns = |texts: &[String]| -> Vec<WildMatch> { texts.iter().map(|text| WildMatch::new(text)).collect() };
        let (filter, clause) = (patterns(&self.filter), patterns(&self.clause));
        let fits = |patterns: &[WildMatch], id: &str| {
            patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id))
        };
        let is_chosen = |chosen: &&Clause| fits(&filter, &chosen.id) && fits(&clause, &chosen.id);
        let chosen: Vec<&Clause> = if self.op.is_empty() && self.profile.is_none() {
            corpus.clauses.iter().filter(is_chosen).collect()
        } else {
            clauses_named(corpus, cases.iter().copied()).filter(is_chosen).collect()
        };
        if chosen.is_empty() {
            let names = || corpus.clauses.iter().map(|clause| &clause.id);
            let hint = self.filter.first().map_or_else(|| ";".to_owned(), |pattern| did_you_mean(pattern, names()));
            let message = format!("no clause matches{hint} `threadspec list --clauses` shows them all");
            return Err(Stop::new(Exit::Usage, message));
        }
        Ok(chosen)
    }
}

// `threadspec diff`.

/// Compare two runs: regressions, fixes, and cases that are new, gone or changed
///
/// The exit code is 1 if a case no longer passes.
#[derive(Debug, clap::Args)]
pub struct Diff {
    /// Show every case, not the first ten of each kind, and of each cause of a regression
    #[arg(long)]
    all: bool,
    /// The earlier run file
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The later run file
    #[arg(value_name = "NEW")]
    new: PathBuf,
}

impl Diff {
    /// Runs the command and returns its exit code.
    ///
    /// # Errors
    ///
    /// When a run file cannot be read.
    pub fn execute(&self) -> Result<Exit, Stop> {
        let (old, new) = (read_runs(std::slice::from_ref(&self.old))?, read_runs(std::slice::from_ref(&self.new))?);
        let ([old], [new]) = (old.as_slice(), new.as_slice()) else {
            return Err(Stop::new(Exit::Usage, "a file of several runs; compare them one by one"));
        };
        if old.options.profile != new.options.profile {
            let message = format!("one run is judged by {}, the other by {}", old.options.profile, new.options.profile);
            return Err(Stop::new(Exit::Usage, message));
        }
        let comparison = Comparison::of(old, new);
        print(&comparison.text(self.all));
        Ok(if comparison.is_worse() { Exit::NotConformant } else { Exit::Ok })
    }
}
