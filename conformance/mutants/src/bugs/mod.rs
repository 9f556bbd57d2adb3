//! The tables of planted bugs, by what they are about.

mod caches;
mod document;
mod escaping;
mod events;
mod input;
mod json;
mod leftovers;
mod libraries;
mod members;
mod memory;
mod messages;
mod rounds;
mod run;
mod system;
mod unplanned;
mod unseen;

use crate::planted::{Kind, OnTwin, Planted, crash};
use crate::twin::Twin;
use memory::sticky;
use threadspec_judge::protocol::JudgeProfile;

/// Every table.
pub(super) const TABLES: &[&[Planted]] = &[
    escaping::BUGS,
    document::BUGS,
    events::BUGS,
    json::BUGS,
    messages::BUGS,
    system::BUGS,
    rounds::BUGS,
    run::BUGS,
    input::BUGS,
    members::BUGS,
    memory::BUGS,
    caches::BUGS,
    leftovers::BUGS,
    unplanned::BUGS,
    unseen::hazards::BUGS,
    unseen::lookups::BUGS,
    unseen::state::BUGS,
    unseen::pairs::BUGS,
    unseen::pairs_in_rounds::BUGS,
    unseen::blocks::BUGS,
    libraries::reading::BUGS,
    libraries::names::BUGS,
    libraries::texts::BUGS,
    libraries::numbers::BUGS,
];

/// Wrong in both profiles.
const fn bug(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    Planted { name, kind: Kind::Bug(OnTwin(plant)), breaks, profiles: &JudgeProfile::OWN }
}

/// Wrong in the hardened profile, accepted in the literal one.
const fn hardened(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    Planted { profiles: &[JudgeProfile::Hardened], ..bug(name, breaks, plant) }
}

/// Wrong in the literal profile, right in the hardened one.
const fn literal(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Planted {
    Planted { profiles: &[JudgeProfile::Literal], ..bug(name, breaks, plant) }
}
