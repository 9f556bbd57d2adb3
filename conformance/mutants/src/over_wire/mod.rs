//! What is planted in the agent that asks its model over the wire: bugs, each in the APIs and modes in which it shows, and readings.

mod bugs;
mod group;
mod in_engine;
mod prelude;
mod readings;

pub(crate) use in_engine::{ChangeBody, InOneProcess, change_body};

use crate::planted::Planted;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}
