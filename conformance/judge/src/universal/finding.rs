//! Collects the findings of the oracles.

use super::Property;
use super::value::{DifferenceKind, ValueDifference};
use std::collections::HashSet;
use threadspec_golden::clause;

/// A breach of a clause.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// The clause.
    pub clause: &'static str,
    /// The fault and its place.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.clause, self.what)
    }
}

/// Breaches, and what could not be seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings {
    /// In the order of the clauses' oracles.
    pub(crate) found: Vec<Finding>,
    /// True if the first of them says that the run ended too early, or with a failure, so that others cannot be judged.
    pub(crate) cut_short: bool,
    /// The property, and why it cannot be judged.
    pub(crate) unobserved: Vec<(Property, String)>,
    /// Breaches of `should` clauses that only a provider sees.
    pub(crate) recommended: Vec<Finding>,
    /// Those of the breaches for which the provider refused a request.
    pub(crate) refused: Vec<Finding>,
    /// The provider's remarks that are no breach.
    pub(crate) notes: Vec<String>,
}

impl Findings {
    pub(crate) fn add(&mut self, clause: &'static str, what: impl Into<String>) {
        self.found.push(Finding { clause, what: what.into() });
    }

    /// Adds that the run ended too early, or with a failure; this is found before anything else.
    pub(crate) fn add_end(&mut self, clause: &'static str, what: impl Into<String>) {
        self.cut_short = true;
        self.add(clause, what);
    }

    /// Keeps the first of equal findings: a long wrong reply has many.
    pub(crate) fn deduplicate(&mut self) {
        let mut seen = HashSet::new();
        let is_new: Vec<bool> = self.found.iter().map(|finding| seen.insert(finding)).collect();
        let mut is_new = is_new.into_iter();
        self.found.retain(|_| is_new.next().unwrap_or_default());
    }

    pub(crate) fn breaks(&self, clauses: &[&str]) -> bool {
        self.found.iter().any(|finding| clauses.contains(&finding.clause))
    }

    /// Adds differences of values under the clause `owner`, unless all of them are about texts, numbers and names, which have
    /// clauses of their own.
    pub(crate) fn add_differences(&mut self, owner: &'static str, place: &str, differences: &[ValueDifference]) {
        const SHOWN: usize = 3;
        let of_owner = differences.iter().any(|difference| difference.kind == DifferenceKind::Other);
        for difference in differences.iter().take(SHOWN) {
            let clause = match difference.kind {
                _ if of_owner => owner,
                DifferenceKind::Text => clause::AGENT_TEXT,
                DifferenceKind::Number => clause::AGENT_NUMBERS,
                DifferenceKind::Name => clause::AGENT_ORDINARY,
                DifferenceKind::Other => owner,
            };
            self.add(clause, format!("{place}: {}", difference.what));
        }
    }
}

/// "request 2, message 5" for the indexes 1 and 4.
pub(crate) fn at(request: usize, message: usize) -> String {
    format!("request {}, message {}", request + 1, message + 1)
}
