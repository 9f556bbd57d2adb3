//! Which cases a command is about.

use super::{Stop, did_you_mean, exit, select};
use crate::corpus::{Case, Corpus};
use crate::protocol::Op;
use crate::run::order::Shard;
use crate::terminal::visible;
use wildmatch::WildMatch;

/// Which cases.
#[derive(Debug, clap::Args)]
pub(super) struct Selection {
    /// Run only cases whose id matches; `*` stands for anything, `/` included (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) filter: Vec<String>,
    /// Run only cases of this operation (repeatable)
    #[arg(long, value_name = "OP")]
    pub(super) op: Vec<Op>,
    /// Run only cases of a clause whose id matches (repeatable)
    #[arg(long, value_name = "GLOB")]
    pub(super) clause: Vec<String>,
    /// Run one of N parts of these cases, as in 1/4; `merge` puts the reports together
    #[arg(long, value_name = "I/N")]
    pub(super) shard: Option<Shard>,
}

impl Selection {
    /// The cases that are chosen.
    pub(super) fn of<'a>(&self, corpus: &'a Corpus) -> Result<Vec<&'a Case>, Stop> {
        let clauses: Vec<WildMatch> = self.clause.iter().map(|pattern| WildMatch::new(pattern)).collect();
        for (pattern, text) in clauses.iter().zip(&self.clause) {
            if !corpus.clauses.iter().any(|clause| pattern.matches(&clause.id)) {
                let hint = did_you_mean(text, corpus.clauses.iter().map(|clause| &clause.id));
                let message = format!(
                    "the pattern `{}` matches no clause{hint} `threadspec list --clauses` shows them all",
                    visible(text)
                );
                return Err(Stop::new(exit::USAGE, message));
            }
        }
        let is_of = |case: &&Case| {
            (self.op.is_empty() || self.op.contains(&case.op))
                && (clauses.is_empty()
                    || case.clauses.iter().any(|clause| clauses.iter().any(|pattern| pattern.matches(clause))))
        };
        let mut chosen = select(corpus, &self.filter)?;
        chosen.retain(is_of);
        if chosen.is_empty() {
            return Err(Stop::new(exit::USAGE, "no case fits all of --filter, --op and --clause"));
        }
        chosen.retain(|case| self.shard.is_none_or(|shard| shard.has(case)));
        Ok(chosen)
    }

    /// The same as arguments.
    pub(super) fn arguments(&self, add: &mut impl FnMut(&str, &str)) {
        self.filter.iter().for_each(|pattern| add("--filter", pattern));
        self.op.iter().for_each(|op| add("--op", &op.to_string()));
        self.clause.iter().for_each(|pattern| add("--clause", pattern));
        if let Some(shard) = self.shard {
            add("--shard", &shard.to_string());
        }
    }
}
