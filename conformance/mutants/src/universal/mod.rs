//! What is planted in an agent that is not the reference: bugs, each of which breaks an AGENT clause, and readings, which the clauses and the
//! rules of fairness permit.

mod bugs;
mod clashes;
pub(crate) mod operators;
mod readings;

use crate::agent::Agent;
use crate::planted::{Kind, OnAgent, Planted};
use threadspec_judge::protocol::JudgeProfile;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all()).chain(clashes::all())
}

/// A bug.
fn bug(name: &str, breaks: &'static [&'static str], plant: impl Fn(&mut Agent) + Send + Sync + 'static) -> Planted {
    Planted {
        name: name.to_owned().leak(),
        kind: Kind::AgentBug(change(plant)),
        breaks,
        profiles: &[JudgeProfile::Universal],
    }
}

/// A reading.
fn reading(name: &str, plant: impl Fn(&mut Agent) + Send + Sync + 'static) -> Planted {
    Planted { kind: Kind::AgentReading(change(plant)), ..bug(name, &[], |_| {}) }
}

/// The tables are made once, and live as long as the program.
fn change(plant: impl Fn(&mut Agent) + Send + Sync + 'static) -> OnAgent {
    OnAgent(Box::leak(Box::new(plant)))
}
