//! The tables of planted bugs, by what they are about.

mod document;
mod escaping;
mod events;
mod input;
mod json;
mod members;
mod memory;
mod messages;
mod rounds;
mod run;
mod system;
mod unplanned;

use super::Bug;
use super::twin::Twin;
use threadspec::Profile;

/// Every table.
pub(super) const TABLES: &[&[Bug]] = &[
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
    unplanned::BUGS,
];

/// Wrong in both profiles.
const fn bug(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Bug {
    Bug { name, breaks, profiles: &[Profile::Literal, Profile::Hardened], plant }
}

/// Wrong in the hardened profile, accepted in the literal one.
const fn hardened(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Bug {
    Bug { name, breaks, profiles: &[Profile::Hardened], plant }
}

/// Wrong in the literal profile, right in the hardened one.
const fn literal(name: &'static str, breaks: &'static [&'static str], plant: fn(&mut Twin)) -> Bug {
    Bug { name, breaks, profiles: &[Profile::Literal], plant }
}

/// Ends the request as a crash, without a message on stderr.
fn crash(why: &'static str) -> ! {
    std::panic::resume_unwind(Box::new(why))
}
