//! How much of a profile a run has judged: what is unsupported, not chosen or not run is not judged.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::RunOptions;

/// How much of a profile a run has judged. Thorough cases count only if they are part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Judged {
    /// The cases that were judged.
    pub cases: usize,
    /// All cases of the profile.
    pub of_cases: usize,
    /// The clauses of which a case was judged.
    pub clauses: usize,
    /// All clauses of these cases.
    pub of_clauses: usize,
}

impl Judged {
    /// Returns the share of the corpus, within its options, that the cases of a run have judged.
    pub fn of<'a>(
        run: impl IntoIterator<Item = (&'a str, Verdict)>,
        (corpus, options): (&Corpus, &RunOptions),
    ) -> Self {
        let run: HashMap<&str, Verdict> = run.into_iter().collect();
        let (mut judged, mut clauses, mut of_clauses) = (Self::default(), HashSet::new(), HashSet::new());
        for case in corpus.cases.iter().filter(|case| options.fits(case)) {
            let verdict = run.get(&*case.id);
            if case.thorough && verdict.is_none() {
                continue;
            }
            judged.of_cases += 1;
            of_clauses.extend(&case.clauses);
            if verdict.is_some_and(|verdict| !matches!(verdict, Verdict::Unsupported | Verdict::NotRun)) {
                judged.cases += 1;
                clauses.extend(&case.clauses);
            }
        }
        Self { clauses: clauses.len(), of_clauses: of_clauses.len(), ..judged }
    }

    /// Returns whether everything was judged.
    pub fn is_all(self) -> bool {
        self.cases == self.of_cases
    }
}

/// Unsupported cases by their reasons, the reason of the most cases first. Each case is given as its reason and its id.
pub fn reasons<'a>(cases: impl IntoIterator<Item = (&'a str, &'a str)>) -> Vec<(&'a str, Vec<&'a str>)> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (reason, id) in cases {
        reasons.entry(if reason.is_empty() { "no reason is given" } else { reason }).or_default().push(id);
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, ids)| Reverse(ids.len()));
    reasons
}

impl fmt::Display for Judged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cases, of_cases, clauses, of_clauses } = self;
        write!(f, "{cases} of {of_cases} cases and {clauses} of {of_clauses} clauses")
    }
}
