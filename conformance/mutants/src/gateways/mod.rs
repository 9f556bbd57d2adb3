//! What is planted in gateways: bugs, each of which breaks a GATE clause, and readings, which §2 of their specification permits.
//!
//! | module | what it has |
//! |---|---|
//! | `bugs`, `readings` | the tables |
//! | `bodies` | what they change in a body, whatever its API |
//! | `plant` | how they are planted |
//! | `testee` | client, gateway and provider in one process |

mod bodies;
mod bugs;
mod plant;
mod readings;
mod testee;

pub(crate) use testee::ThroughTestGateway;

use crate::planted::Planted;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}
