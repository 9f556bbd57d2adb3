//! Readings: what gateways do differently, as §2 of the specification of gateways permits, so that no case may object.

mod answers;
mod requests;

use crate::planted::Planted;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [requests::readings(), answers::readings()].into_iter().flatten().collect()
}
