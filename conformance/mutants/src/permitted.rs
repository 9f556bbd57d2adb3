//! Readings and bugs of `should` clauses, planted alone, in pairs and all at once: neither a case nor the fuzzer may object to them where a
//! profile permits them, except for the `should` clauses that they do not follow.

use crate::catalogue::all;
use crate::planted::{Kind, Planted, together};
use crate::trial::{CaseReplies, is_about};
use std::collections::BTreeSet;
use std::fmt;
use threadspec_campaign::{FuzzFinding, FuzzOptions, run};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{Implementation, JudgeProfile, Op};
use threadspec_runner::InProcess;

/// Bugs of `should` clauses that do more harm: a crash counts at any level, what every request shows or what is lost for good cannot be put
/// right again, and what one run leaves for the next shows everywhere.
const FAR_REACHING: &[&str] = &[
    "empty-prompt-not-shown",
    "failures-are-counted-on",
    "failures-of-a-stopped-run-count",
    "iterations-count-on-after-a-stopped-run",
    "limit-on-requests-kept",
    "maximum-of-iterations-kept",
    "response-of-the-run-before",
    "rounds-of-a-cut-run-count",
    "tools-of-the-run-before-known",
    "verifier-kept",
    "numbers-out-of-range-crash",
    "prompt-as-system-message",
    "prompt-trimmed",
    "summaries-trimmed-before-instructions",
];

/// Readings in a profile in which they are permitted: one, two, or all at once.
pub struct Permitted {
    /// The name of the reading, or of the first one.
    pub name: &'static str,
    /// The name of the other one, if there are two.
    pub beside: Option<&'static str>,
    /// The profile.
    pub profile: JudgeProfile,
    /// The `should` clauses that are not followed.
    pub neglects: Vec<&'static str>,
    /// The operations in which it shows.
    ops: Vec<Op>,
    pub(crate) planted: Vec<&'static Planted>,
}

impl fmt::Debug for Permitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Permitted({self})")
    }
}

impl fmt::Display for Permitted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, beside, profile, .. } = self;
        write!(f, "{name}{} ({profile})", beside.map(|other| format!(" and {other}")).unwrap_or_default())
    }
}

/// The readings of the twin that a profile permits, each with the `should` clauses that it does not follow.
fn in_profile(profile: JudgeProfile) -> Vec<(&'static Planted, &'static [&'static str])> {
    let permitted = |planted: &'static Planted| match planted.kind {
        Kind::Reading(reading) if planted.profiles.contains(&profile) => Some((planted, reading.neglects)),
        _ => None,
    };
    all().filter_map(permitted).collect()
}

fn at_once(
    name: &'static str,
    profile: JudgeProfile,
    readings: &[(&'static Planted, &'static [&'static str])],
) -> Permitted {
    let neglects = readings.iter().flat_map(|(_, neglects)| *neglects).copied().collect();
    let planted = readings.iter().map(|&(reading, _)| reading).collect();
    Permitted { name, beside: None, profile, neglects, ops: Op::of(profile).collect(), planted }
}

/// Every pair of readings in each profile that permits both. Of two that replace the same seam only the last one counts.
pub fn pairs_of_readings() -> Vec<Permitted> {
    let pairs_in = |profile| {
        let permitted = in_profile(profile);
        let pair = |(first, second): (usize, usize)| {
            let [one, other] = [permitted[first], permitted[second]];
            Permitted { beside: Some(other.0.name), ..at_once(one.0.name, profile, &[one, other]) }
        };
        let all = 0..permitted.len();
        all.clone()
            .flat_map(|first| all.clone().skip(first + 1).map(move |second| (first, second)))
            .map(pair)
            .collect::<Vec<_>>()
    };
    JudgeProfile::OWN.into_iter().flat_map(pairs_in).collect()
}

/// In each profile, each reading that it permits; then, at once, all that follow every `should` clause; then all at once.
pub fn permitted() -> Vec<Permitted> {
    let of_profile = |profile| {
        let permitted = in_profile(profile);
        let obedient: Vec<_> = permitted.iter().copied().filter(|(_, neglects)| neglects.is_empty()).collect();
        let mut list: Vec<_> = permitted.iter().map(|&reading| at_once(reading.0.name, profile, &[reading])).collect();
        list.push(at_once("all-readings", profile, &obedient));
        list.push(at_once("all-readings-that-neglect", profile, &permitted));
        list
    };
    JudgeProfile::OWN.into_iter().flat_map(of_profile).collect()
}

/// The planted bugs that break `should` clauses alone, each in one profile in which it is wrong, by turns: no `must` may be held against
/// them.
pub fn neglectful(corpus: &Corpus) -> Vec<Permitted> {
    let is_should = |id: &&str| corpus.clause(id).is_some_and(|clause| clause.level == Level::Should);
    let bugs = || all().filter(|planted| matches!(planted.kind, Kind::Bug(_)));
    let shoulds: Vec<&'static str> = bugs().flat_map(|bug| bug.breaks).copied().filter(is_should).collect();
    let neglectful = bugs().filter(|bug| bug.breaks.iter().all(is_should) && !FAR_REACHING.contains(&bug.name));
    let permitted = |(turn, bug): (usize, &'static Planted)| {
        let ops: BTreeSet<Op> =
            corpus.cases.iter().filter(|case| is_about(case, bug.breaks)).map(|case| case.op).collect();
        let (profile, ops) = (bug.profiles[turn % bug.profiles.len()], ops.into_iter().collect());
        Permitted { name: bug.name, beside: None, profile, neglects: shoulds.clone(), ops, planted: vec![bug] }
    };
    neglectful.enumerate().map(permitted).collect()
}

impl Permitted {
    /// What answers with all of it; where two replace the same part, the last one counts.
    pub fn implementation(&self) -> impl Implementation + Send + use<> {
        together(&self.planted)
    }

    /// The cases that object, except large ones, rows of covering arrays, and those of clauses that it does not follow.
    pub fn objections<'a>(&self, cases: &[&'a Case]) -> Vec<&'a Case> {
        let mut testee = InProcess::new(self.implementation());
        let is_put = |case: &Case| {
            let is_usual = !case.is_row() && !case.is_template;
            is_usual && case.is_in(self.profile) && self.ops.contains(&case.op) && !is_about(case, &self.neglects)
        };
        let cases = cases.iter().copied().filter(|case| is_put(case));
        cases.filter(|case| CaseReplies::of(&mut testee, case, self.profile).failure(case).is_some()).collect()
    }

    /// What the fuzzer holds against it in so many cases. A campaign that cannot go on counts, too.
    pub fn accusations(&self, cases: u64) -> Vec<String> {
        let ops = self.ops.clone();
        let options = FuzzOptions { seed: 7, cases: 0..cases, time: None, jobs: 1, profile: self.profile, ops };
        let report = run(&options, &|| Ok(Box::new(InProcess::new(self.implementation()))), &mut |_| {});
        let found = report.findings.iter().filter(|finding| !self.neglects.contains(&finding.clause));
        let said = |finding: &FuzzFinding| {
            let FuzzFinding { op, clause, what, note, mismatch, input, .. } = finding;
            format!("{self}: is permitted, but fuzz says {op} {clause} {what} {note} {mismatch:?} of {input}")
        };
        let stopped = report.stopped.iter().map(|why| format!("{self}: is permitted, but fuzz stops: {why}"));
        found.map(said).chain(stopped).collect()
    }
}
