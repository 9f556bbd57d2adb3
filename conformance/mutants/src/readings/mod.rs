//! The tables of readings of the twin: deviations from the reference that a clause or an erratum permits.
//!
//! A reading is planted like a bug. In a profile that permits it, neither a case nor the fuzzer may object to it, except cases of the `should`
//! clauses that it does not follow.

mod tables;
mod words;

use crate::planted::{Kind, Planted, Reading};
use crate::twin::Twin;
use threadspec_judge::protocol::JudgeProfile;

/// Every table.
pub(crate) const TABLES: &[&[Planted]] = &[
    tables::SPELLINGS,
    words::NUMBERS,
    tables::DOCUMENTS,
    tables::MESSAGES,
    tables::RUNS,
    words::WORDS,
    tables::INPUTS,
    tables::NEGLECT,
    words::NEGLECT,
];

/// Permitted in both profiles.
const fn both(name: &'static str, permitted_by: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    let reading = Reading { permitted_by, neglects: &[], plant };
    Planted { name, kind: Kind::Reading(reading), breaks: &[], profiles: &JudgeProfile::OWN }
}

/// Permitted in the literal profile.
const fn literal(name: &'static str, permitted_by: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    Planted { profiles: &[JudgeProfile::Literal], ..both(name, permitted_by, plant) }
}

/// Does not follow `should` clauses.
const fn neglect(name: &'static str, neglects: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    let reading = Reading { permitted_by: neglects, neglects, plant };
    Planted { kind: Kind::Reading(reading), ..both(name, neglects, plant) }
}
