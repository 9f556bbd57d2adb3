//! What is planted in gateways: bugs, each of which breaks a GATE clause, and readings, which §2 of their specification permits.
//!
//! | module | what it has |
//! |---|---|
//! | `bugs`, `readings` | the tables |
//! | `bodies` | what they change in a body, whatever its API |
//! | `plant` | groups, which hold the clauses, places and conditions of their members, and a method for each place of a change |
//! | `prelude` | what the tables share |
//! | `testee` | client, gateway and provider in one process |

mod bodies;
mod bugs;
mod plant;
mod prelude;
mod readings;
mod testee;

pub(crate) use testee::ThroughTestGateway;

use crate::planted::Planted;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}
