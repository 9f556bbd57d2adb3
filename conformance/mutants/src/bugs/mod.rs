//! The tables of planted bugs of the twin, by what they are about.

mod blocks;
mod caches;
mod document;
mod escaping;
mod events;
mod hazards;
mod input;
mod json;
mod libraries;
mod memory;
mod messages;
mod names;
mod numbers;
mod pairs;
mod rounds;
mod run;
mod system;

use crate::planted::Planted;

/// Every bug.
pub(super) fn all() -> impl Iterator<Item = Planted> {
    [
        escaping::bugs,
        document::bugs,
        events::bugs,
        json::bugs,
        messages::bugs,
        system::bugs,
        rounds::bugs,
        run::bugs,
        input::bugs,
        memory::bugs,
        caches::bugs,
        hazards::bugs,
        names::bugs,
        pairs::bugs,
        blocks::bugs,
        libraries::bugs,
        numbers::bugs,
    ]
    .into_iter()
    .flat_map(|table| table())
}
