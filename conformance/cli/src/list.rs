//! `threadspec list`.

use crate::{Stop, corpus, did_you_mean, select};
use std::path::PathBuf;
use threadspec_report::terminal::{STRONG, print, styled};
use threadspec_runner::Exit;
use wildmatch::WildMatch;

/// List the cases with their levels, profiles, clauses, severity and evidence
#[derive(Debug, clap::Args)]
pub struct List {
    /// Use the corpus in this folder instead of the built-in one
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// List only cases, or clauses, whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    filter: Vec<String>,
    /// List the clauses of the specification instead
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
            let patterns: Vec<WildMatch> = self.filter.iter().map(|pattern| WildMatch::new(pattern)).collect();
            let fits = |id: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.matches(id));
            let chosen: Vec<_> = corpus.clauses.iter().filter(|clause| fits(&clause.id)).collect();
            if chosen.is_empty() {
                let names = || corpus.clauses.iter().map(|clause| &clause.id);
                let hint = self.filter.iter().map(|pattern| did_you_mean(pattern, names())).next().unwrap_or_default();
                let message = format!("no clause matches{hint} `threadspec list --clauses` shows them all");
                return Err(Stop::new(Exit::Usage, message));
            }
            for clause in chosen {
                let id = styled(STRONG, &clause.id);
                print(&format!("{id} ({}; {})\n  {}\n", clause.level, clause.source, clause.text));
            }
        } else {
            for case in select(&corpus, &self.filter)? {
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
}
