//! What is planted in an agent that keeps threads from run to run: bugs, each of which breaks a SESSION clause, and readings, which §5 of the
//! specification permits.

mod bugs;
mod group;
mod prelude;
mod readings;
mod when;

use crate::planted::Planted;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}
