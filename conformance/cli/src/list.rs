//! `threadspec list`.

use crate::selection::{clauses_named, fitting};
use crate::{Stop, corpus, did_you_mean};
use std::path::PathBuf;
use threadspec_judge::corpus::{Case, Clause, Corpus};
use threadspec_judge::protocol::{JudgeProfile, Op};
use threadspec_report::terminal::{STRONG, print, styled};
use threadspec_runner::Exit;
use wildmatch::WildMatch;

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
