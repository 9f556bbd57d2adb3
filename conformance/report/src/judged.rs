//! Counts how much of a profile and of op `session` a run has judged: what is unsupported, not chosen or not run is not judged.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt;
use threadspec_judge::corpus::Corpus;
use threadspec_judge::protocol::{Feature, Features, Op};
use threadspec_judge::text::count;
use threadspec_judge::verdict::Verdict;
use threadspec_runner::RunOptions;

/// How much of a profile a run has judged. Thorough cases count only if one is part of the run.
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
        let is_thorough = corpus.cases.iter().any(|case| case.thorough && run.contains_key(&*case.id));
        for case in corpus.cases.iter().filter(|case| options.fits(case) && (is_thorough || !case.thorough)) {
            let verdict = run.get(&*case.id);
            judged.of_cases += 1;
            // A row lists whatever it touches, and is about none of it.
            let about = if case.is_row() { &[][..] } else { &case.clauses };
            of_clauses.extend(about);
            if verdict.is_some_and(|verdict| !matches!(verdict, Verdict::Unsupported | Verdict::NotRun)) {
                judged.cases += 1;
                clauses.extend(about);
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

// How much of op `session` a run has judged, by features: a green over three of them is not a green over thirteen.

/// The features of sessions that a run has judged, and those that it left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JudgedFeatures {
    /// Those of which a case was judged.
    judged: Features,
    /// The others that cases need, each with the number of cases that were unsupported.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    left_out: BTreeMap<Feature, usize>,
}

impl JudgedFeatures {
    /// Those of the cases of a run, each given by its operation, what it needs and how it ended; `None` if no session was judged.
    pub(super) fn of(cases: impl IntoIterator<Item = (Op, Features, Verdict)>) -> Option<Self> {
        let (mut judged, mut unsupported) = (Features::default(), Vec::new());
        for (_, needs, verdict) in cases.into_iter().filter(|(op, ..)| *op == Op::Session) {
            match verdict {
                Verdict::Unsupported => unsupported.push(needs),
                Verdict::NotRun => {}
                _ => {
                    judged.insert(Feature::Message);
                    judged = judged.with(needs);
                }
            }
        }
        let mut left_out = BTreeMap::new();
        for feature in unsupported.iter().flat_map(|needs| needs.without(judged).iter()) {
            *left_out.entry(feature).or_default() += 1;
        }
        (!judged.is_empty()).then_some(Self { judged, left_out })
    }

    /// Returns whether each feature was judged.
    pub(super) fn is_all(&self) -> bool {
        self.judged == Features::all()
    }
}

impl fmt::Display for JudgedFeatures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { judged, left_out } = self;
        write!(f, "judged {} of {} features ({judged})", judged.len(), Features::all().len())?;
        let left_out: Vec<String> =
            left_out.iter().map(|(feature, cases)| format!("{feature} {}", count(*cases, "case"))).collect();
        if left_out.is_empty() { Ok(()) } else { write!(f, "; left out: {}", left_out.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_counted_by_what_was_judged() {
        let needs = |features: &[Feature]| features.iter().copied().collect::<Features>();
        let case = |features: &[Feature], verdict| (Op::Session, needs(features), verdict);
        let judged = JudgedFeatures::of([
            case(&[], Verdict::Pass),
            case(&[Feature::Limit, Feature::Error], Verdict::Fail),
            case(&[Feature::Limit, Feature::Kill], Verdict::Unsupported),
            case(&[Feature::Kill, Feature::Approval], Verdict::Unsupported),
            case(&[Feature::Image], Verdict::NotRun),
            (Op::Tools, Features::default(), Verdict::Pass),
        ]);
        let judged = judged.expect("sessions were judged");
        let said = "judged 3 of 16 features (message, error, limit); left out: kill 2 cases, approval 1 case";
        assert!(judged.to_string() == said && !judged.is_all(), "{judged}");
        assert_eq!(JudgedFeatures::of([(Op::Tools, Features::default(), Verdict::Pass)]), None);
        assert_eq!(JudgedFeatures::of([case(&[Feature::Kill], Verdict::Unsupported)]), None);
        let all = JudgedFeatures::of([(Op::Session, Features::all(), Verdict::Pass)]);
        assert!(all.is_some_and(|all| all.is_all() && !all.to_string().contains("left out")));
    }
}
