//! The tables of readings of the twin: deviations from the reference that a clause or an erratum permits.
//!
//! A reading is planted like a bug. In a profile that permits it, neither a case nor the fuzzer may object to it, except cases of the `should`
//! clauses that it does not follow.

mod tables;
mod words;

use crate::plants::prelude::*;
use crate::plants::terms::{FaultTerms, permitted};

/// Every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    [
        tables::spellings,
        words::numbers,
        tables::documents,
        tables::messages,
        tables::runs,
        words::words,
        tables::inputs,
        tables::neglects,
        words::neglects,
    ]
    .into_iter()
    .flat_map(|table| table())
}

/// Permitted in both profiles.
fn both(by: impl Into<FaultTerms>) -> FaultTerms {
    permitted(by)
}

/// Permitted in the literal profile.
fn literal(by: impl Into<FaultTerms>) -> FaultTerms {
    crate::plants::terms::literal(permitted(by))
}
