//! Counts clauses and cases of runs once, for every report.

use super::record::RunRecord;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use threadspec_judge::corpus::{Corpus, Severity};
use threadspec_judge::verdict::Verdict;

/// The tally of a clause in a run. A failed case is charged to one clause, so that the sums over all clauses are numbers of cases.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClauseTally {
    /// The clause.
    pub clause: String,
    /// The cases of the clause that passed.
    #[serde(skip_serializing_if = "is_none")]
    pub passed: usize,
    /// The failed cases that are charged to it, without those that severity C excuses.
    #[serde(skip_serializing_if = "is_none")]
    pub failed: usize,
    /// Those that severity C excuses.
    #[serde(skip_serializing_if = "is_none")]
    pub excused: usize,
    /// The failed cases that touch it, and are charged to another clause.
    #[serde(skip_serializing_if = "is_none")]
    pub touched: usize,
    /// The cases beside which it is broken, without those that severity C excuses.
    #[serde(skip_serializing_if = "is_none")]
    pub beside: usize,
    /// The cases of the clause that are unsupported.
    #[serde(skip_serializing_if = "is_none")]
    pub unsupported: usize,
    /// How much the worst of the failed cases hurts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A case, as far as its clauses are concerned.
#[derive(Debug)]
pub struct Tallied<'a> {
    /// The clauses of the case.
    pub clauses: &'a [String],
    /// How it ended.
    pub verdict: Verdict,
    /// The clause that it is charged to, and those that it touches, if it failed.
    pub charge: Option<(&'a str, Vec<&'a str>)>,
    /// True if severity C excuses its failure.
    pub is_excused: bool,
    /// How much its failure hurts.
    pub severity: Option<Severity>,
    /// The clauses that are broken beside it, if severity C does not excuse that.
    pub beside: Vec<&'a str>,
}

impl ClauseTally {
    /// The clauses of these cases, and those that they break, in the order of the corpus.
    pub fn of<'a>(cases: impl IntoIterator<Item = Tallied<'a>>, corpus: &Corpus) -> Vec<Self> {
        let mut tallies: HashMap<&str, Self> = HashMap::new();
        for Tallied { clauses, verdict, charge, is_excused, severity, beside } in cases {
            for clause in beside {
                tallies.entry(clause).or_default().beside += 1;
            }
            if let Some((clause, touched)) = charge {
                for other in touched {
                    tallies.entry(other).or_default().touched += 1;
                }
                let own = tallies.entry(clause).or_default();
                if is_excused {
                    own.excused += 1;
                } else {
                    own.failed += 1;
                    own.severity = [own.severity, severity].into_iter().flatten().min();
                }
            } else {
                for clause in clauses {
                    let own = tallies.entry(clause).or_default();
                    own.passed += usize::from(matches!(verdict, Verdict::Pass | Verdict::UnexpectedPass));
                    own.unsupported += usize::from(verdict == Verdict::Unsupported);
                }
            }
        }
        let place: HashMap<&str, usize> =
            corpus.clauses.iter().enumerate().map(|(place, clause)| (&*clause.id, place)).collect();
        let named = |(clause, tally): (&str, Self)| Self { clause: clause.to_owned(), ..tally };
        let mut tallies: Vec<Self> = tallies.into_iter().map(named).collect();
        // Rules of model APIs are no clauses, and are behind them.
        let order = |tally: &Self| (place.get(&*tally.clause).copied().unwrap_or(usize::MAX), tally.clause.clone());
        tallies.sort_by_cached_key(order);
        tallies
    }

    /// How many of the cases that were run say something of the clause.
    pub fn judged(&self) -> usize {
        self.passed + self.failed + self.excused
    }

    /// Returns a key that sorts the clauses that hurt most first, and of these the ones of the most cases.
    pub fn harm(&self) -> (bool, Option<Severity>, Reverse<usize>) {
        (self.failed == 0, self.severity, Reverse(self.failed.max(self.excused)))
    }
}

/// The tally of the cases of runs. A case counts once, whatever the number of runs that it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaseTally {
    /// The cases that passed in each run that supports them.
    pub passed: usize,
    /// The cases that one run or more supports.
    pub applicable: usize,
}

impl CaseTally {
    /// The cases of these runs.
    pub fn of(runs: &[RunRecord]) -> Self {
        let mut passed: BTreeMap<&str, bool> = BTreeMap::new();
        for case in runs.iter().flat_map(|run| &run.cases).filter(|case| case.verdict != Verdict::Unsupported) {
            *passed.entry(&case.id).or_insert(true) &= case.passed();
        }
        Self { passed: passed.values().filter(|&&passed| passed).count(), applicable: passed.len() }
    }

    /// The sentence of several runs, each of which has numbers of its own; one run needs none.
    pub fn sentence(runs: &[RunRecord]) -> Option<String> {
        let Self { passed, applicable } = Self::of(runs);
        let in_each = "pass in each run that they are applicable in";
        (runs.len() > 1)
            .then(|| format!("All runs together, each case counted once: {passed} of {applicable} {in_each}."))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use threadspec_judge::corpus::embedded;

    #[test]
    fn each_failed_case_is_counted_once_and_what_it_touches_beside() {
        let [ids, order] = [["AGENT-IDS".to_owned()], ["AGENT-ORDER".to_owned()]];
        let case = |clauses, verdict, charge, severity| Tallied {
            clauses,
            verdict,
            charge,
            is_excused: severity == Some(Severity::C),
            severity,
            beside: severity.map(|_| "AGENT-TEXT").into_iter().collect(),
        };
        let tallies = ClauseTally::of(
            [
                case(&ids, Verdict::Pass, None, None),
                case(&ids, Verdict::Fail, Some(("AGENT-IDS", vec![])), Some(Severity::B)),
                case(&ids, Verdict::Crash, Some(("AGENT-IDS", vec![])), Some(Severity::A)),
                case(&ids, Verdict::Fail, Some(("AGENT-IDS", vec![])), Some(Severity::C)),
                case(&ids, Verdict::Fail, Some(("OAI-CHAT-ORPHAN", vec!["AGENT-IDS"])), None),
                case(&ids, Verdict::NotRun, None, None),
                case(&order, Verdict::Unsupported, None, None),
            ],
            embedded().0,
        );
        let named = |clause: &str| ClauseTally { clause: clause.to_owned(), ..ClauseTally::default() };
        let severity = Some(Severity::A);
        let [ids, order] = [named("AGENT-IDS"), named("AGENT-ORDER")];
        assert_eq!(
            tallies,
            [
                ClauseTally { passed: 1, failed: 2, excused: 1, touched: 1, severity, ..ids },
                ClauseTally { unsupported: 1, ..order },
                ClauseTally { beside: 3, ..named("AGENT-TEXT") },
                ClauseTally { failed: 1, ..named("OAI-CHAT-ORPHAN") },
            ]
        );
        assert!(tallies[0].harm() < tallies[1].harm() && tallies[0].judged() == 4);
    }
}
