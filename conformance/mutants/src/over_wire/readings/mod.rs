//! Readings: what agents do differently over the wire, as the clauses and the rules of fairness permit, so that no case may object.

mod answers;
mod bodies;
mod histories;

use crate::planted::Planted;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [answers::readings(), bodies::attempts(), bodies::readings(), histories::readings()].into_iter().flatten().collect()
}
