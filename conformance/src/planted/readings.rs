//! Readings: deviations from the reference that a clause or an erratum permits.
//!
//! A reading is planted like a bug. Neither a case nor the fuzzer may object to it in a profile in which it is permitted,
//! but for the `should` clauses that it does not follow.

mod tables;

use super::Bug;
use super::matrix::{judged, replies};
use super::twin::Twin;
use crate::corpus::{Case, Corpus, Level};
use crate::fuzz::{self, Options};
use crate::protocol::{Implementation, Op};
use crate::testee::{InProcess, Outcome};
use std::collections::BTreeSet;
use std::fmt;
use threadspec::Profile;

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

/// Bugs of `should` clauses whose harm goes further: a crash is one at any level, and what stands in every request or was lost for good cannot
/// be put right again.
const FAR_REACHING: &[&str] = &[
    "numbers-out-of-range-crash",
    "prompt-as-system-message",
    "prompt-trimmed",
    "summaries-trimmed-before-instructions",
];

/// Readings in a profile in which they are permitted: one, or all at once.
pub struct Permitted {
    /// The name of the reading.
    pub name: &'static str,
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
        write!(f, "Permitted({}, {})", self.name, self.profile)
    }
}

/// Each reading in each profile that permits it; then, at once, all that follow every `should` clause; then all at once.
pub fn permitted() -> Vec<Permitted> {
    let of = |name, profile, readings: Vec<&'static Reading>| {
        let neglects = readings.iter().flat_map(|reading| reading.neglects).copied().collect();
        let plants = readings.iter().map(|reading| reading.plant).collect();
        Permitted { name, profile, neglects, ops: Op::all().collect(), plants }
    };
    let in_profile = |profile| {
        let permitted: Vec<&Reading> = all().filter(|reading| reading.profiles.contains(&profile)).collect();
        let obedient = permitted.iter().copied().filter(|reading| reading.neglects.is_empty()).collect();
        let mut list: Vec<_> = permitted.iter().map(|reading| of(reading.name, profile, vec![reading])).collect();
        list.push(of("all-readings", profile, obedient));
        list.push(of("all-readings-that-neglect", profile, permitted));
        list
    };
    Profile::ALL.into_iter().flat_map(in_profile).collect()
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
        Permitted { name: bug.name, profile, neglects: shoulds.clone(), ops, plants: vec![bug.plant] }
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
    pub fn objections<'a>(&self, cases: &[&'a Case], is_known: impl Fn(&Case, &Outcome) -> bool) -> Vec<&'a Case> {
        let cases = cases.iter().copied().filter(|case| self.ops.contains(&case.op));
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
        let options = Options { seed: 7, cases: 0..cases, time: None, jobs: 1, profile: self.profile.into(), ops };
        let report = fuzz::run(&options, &|| Ok(Box::new(InProcess::new(self.implementation()))), &mut |_| {});
        if let Some(why) = report.stopped {
            return Err(why);
        }
        let found = report.findings.iter().filter(|finding| !self.neglects.contains(&finding.clause));
        let said = |finding: &fuzz::Finding| {
            let fuzz::Finding { op, clause, what, note, mismatch, input, .. } = finding;
            format!(
                "{} ({}): is permitted, but fuzz says {op} {clause} {what} {note} {mismatch:?} of {input}",
                self.name, self.profile
            )
        };
        Ok(found.map(said).collect())
    }
}
