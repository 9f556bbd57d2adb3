//! Readings: deviations from the reference that a clause or an erratum permits.
//!
//! A reading is planted like a bug. Neither a case nor the fuzzer may object to it in a profile in which it is permitted,
//! but for the `should` clauses that it does not follow.

mod tables;
mod words;

use super::Bug;
use super::matrix::{Selection, is_for_all_bugs, judged, replies};
use super::twin::Twin;
use std::collections::BTreeSet;
use std::fmt;
use threadspec::Profile;
use threadspec_campaign::{Finding, FuzzOptions, run};
use threadspec_judge::corpus::{Case, Corpus, Level};
use threadspec_judge::protocol::{Implementation, Op};
use threadspec_judge::verdict::Outcome;
use threadspec_runner::InProcess;

/// A permitted deviation.
#[derive(Clone, Copy)]
pub struct Reading {
    /// In kebab-case, telling the mechanism.
    pub name: &'static str,
    /// The entries of the errata and the clauses that permit it.
    pub permitted_by: &'static [&'static str],
    /// The profiles in which it is permitted.
    pub profiles: &'static [Profile],
    /// The `should` clauses that it does not follow. Only cases of these may object.
    pub neglects: &'static [&'static str],
    plant: fn(&mut Twin),
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Reading({})", self.name)
    }
}

/// Every reading.
pub fn all() -> impl Iterator<Item = &'static Reading> {
    tables::TABLES.iter().copied().flatten()
}

/// Bugs of `should` clauses whose harm goes further: a crash is one at any level, what stands in every request or was lost for good cannot
/// be put right again, and what one run leaves for the next shows in everything.
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
    pub profile: Profile,
    /// The `should` clauses that are not followed.
    pub neglects: Vec<&'static str>,
    /// The operations in which it shows.
    ops: Vec<Op>,
    plants: Vec<fn(&mut Twin)>,
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

/// The readings that a profile permits.
fn in_profile(profile: Profile) -> Vec<&'static Reading> {
    all().filter(|reading| reading.profiles.contains(&profile)).collect()
}

fn at_once(name: &'static str, profile: Profile, readings: &[&'static Reading]) -> Permitted {
    let neglects = readings.iter().flat_map(|reading| reading.neglects).copied().collect();
    let plants = readings.iter().map(|reading| reading.plant).collect();
    Permitted { name, beside: None, profile, neglects, ops: Op::all().collect(), plants }
}

/// Each two readings in each profile that permits both. Of two that replace the same seam only the last one counts.
pub fn pairs() -> Vec<Permitted> {
    let pairs_in = |profile| {
        let permitted = in_profile(profile);
        let pair = |(first, second): (usize, usize)| {
            let [one, other] = [permitted[first], permitted[second]];
            Permitted { beside: Some(other.name), ..at_once(one.name, profile, &[one, other]) }
        };
        let all = 0..permitted.len();
        all.clone()
            .flat_map(|first| all.clone().skip(first + 1).map(move |second| (first, second)))
            .map(pair)
            .collect::<Vec<_>>()
    };
    Profile::ALL.into_iter().flat_map(pairs_in).collect()
}

/// Each reading in each profile that permits it; then, at once, all that follow every `should` clause; then all at once.
pub fn permitted() -> Vec<Permitted> {
    let of_profile = |profile| {
        let permitted = in_profile(profile);
        let obedient: Vec<_> = permitted.iter().copied().filter(|reading| reading.neglects.is_empty()).collect();
        let mut list: Vec<_> = permitted.iter().map(|reading| at_once(reading.name, profile, &[reading])).collect();
        list.push(at_once("all-readings", profile, &obedient));
        list.push(at_once("all-readings-that-neglect", profile, &permitted));
        list
    };
    Profile::ALL.into_iter().flat_map(of_profile).collect()
}

/// The planted bugs that break `should` clauses alone, each in one profile in which it is wrong, by turns: no `must` may be held against
/// them.
pub fn neglectful(corpus: &Corpus) -> Vec<Permitted> {
    let is_should = |id: &&str| corpus.clause(id).is_some_and(|clause| clause.level == Level::Should);
    let shoulds: Vec<&'static str> = super::all().flat_map(|bug| bug.breaks).copied().filter(is_should).collect();
    let bugs = super::all().filter(|bug| bug.breaks.iter().all(is_should) && !FAR_REACHING.contains(&bug.name));
    let permitted = |(turn, bug): (usize, &'static Bug)| {
        let is_about = |case: &&Case| case.clauses.iter().any(|clause| bug.breaks.contains(&&**clause));
        let ops: BTreeSet<Op> = corpus.cases.iter().filter(is_about).map(|case| case.op).collect();
        let (profile, ops) = (bug.profiles[turn % bug.profiles.len()], ops.into_iter().collect());
        Permitted { name: bug.name, beside: None, profile, neglects: shoulds.clone(), ops, plants: vec![bug.plant] }
    };
    bugs.enumerate().map(permitted).collect()
}

impl Permitted {
    /// The twin of the reference with these readings; where two replace the same seam, the last one counts.
    pub fn implementation(&self) -> impl Implementation + use<> {
        let mut twin = Twin::default();
        self.plants.iter().for_each(|plant| plant(&mut twin));
        twin
    }

    /// The cases that object, but for those of clauses that it neglects. Outcomes that are known to be good need no judge.
    pub fn objections<'a>(
        &self,
        cases: &[&'a Case],
        selection: Selection,
        is_known: impl Fn(&Case, &Outcome) -> bool,
    ) -> Vec<&'a Case> {
        let is_asked = |case: &Case| is_for_all_bugs(case) || selection == Selection::EveryCase && case.is_row();
        let cases = cases.iter().copied().filter(|case| self.ops.contains(&case.op) && is_asked(case));
        let answered = replies(&mut InProcess::new(self.implementation()), cases, self.profile);
        let mut objections = judged(answered, self.profile, is_known);
        objections.retain(|case| !case.clauses.iter().any(|clause| self.neglects.contains(&&**clause)));
        objections
    }

    /// What the fuzzer holds against it in so many cases.
    ///
    /// # Errors
    ///
    /// When the campaign cannot run.
    pub fn accusations(&self, cases: u64) -> Result<Vec<String>, String> {
        let ops = self.ops.clone();
        let options = FuzzOptions { seed: 7, cases: 0..cases, time: None, jobs: 1, profile: self.profile.into(), ops };
        let report = run(&options, &|| Ok(Box::new(InProcess::new(self.implementation()))), &mut |_| {});
        if let Some(why) = report.stopped {
            return Err(why);
        }
        let found = report.findings.iter().filter(|finding| !self.neglects.contains(&finding.clause));
        let said = |finding: &Finding| {
            let Finding { op, clause, what, note, mismatch, input, .. } = finding;
            format!("{self}: is permitted, but fuzz says {op} {clause} {what} {note} {mismatch:?} of {input}")
        };
        Ok(found.map(said).collect())
    }
}
