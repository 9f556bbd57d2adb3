//! Readings: deviations that the clauses and the rules of fairness permit, so that no case may object to them.

mod messages;
mod results;
mod runs;

pub(super) use results::wrap;

use crate::planted::Planted;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [messages::readings(), results::readings(), runs::readings()].concat()
}
