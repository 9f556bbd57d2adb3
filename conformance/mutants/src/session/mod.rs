//! What is planted in an agent that keeps threads from run to run: bugs, each of which breaks a SESSION clause, and readings, which §5 of the
//! specification permits.

mod bugs;
mod readings;
mod when;

use crate::planted::{Kind, OnSession, Planted};
use crate::threads::SessionAgent;
use threadspec_judge::protocol::JudgeProfile;
use when::Shows;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all())
}

/// A bug for each way in which it shows; its name says which.
fn bugs(
    name: &'static str,
    breaks: &'static [&'static str],
    shows: &'static [Shows],
    plant: fn(&mut SessionAgent, Shows),
) -> impl Iterator<Item = Planted> {
    shows.iter().map(move |&shows| Planted {
        name: format!("{name}{}", shows.suffix()).leak(),
        kind: Kind::SessionBug(OnSession(Box::leak(Box::new(move |agent: &mut SessionAgent| plant(agent, shows))))),
        breaks,
        profiles: &[JudgeProfile::Universal],
    })
}

/// The same for what breaks no more than the `should` part of its clauses.
fn lapses(
    name: &'static str,
    breaks: &'static [&'static str],
    shows: &'static [Shows],
    plant: fn(&mut SessionAgent, Shows),
) -> impl Iterator<Item = Planted> {
    bugs(name, breaks, shows, plant).map(|bug| match bug.kind {
        Kind::SessionBug(plant) => Planted { kind: Kind::SessionLapse(plant), ..bug },
        _ => bug,
    })
}

/// A reading.
fn reading(name: &'static str, plant: fn(&mut SessionAgent)) -> Planted {
    Planted {
        name,
        kind: Kind::SessionReading(OnSession(Box::leak(Box::new(plant)))),
        breaks: &[],
        profiles: &[JudgeProfile::Universal],
    }
}
