//! What is planted in an agent that is not the reference: bugs, each of which breaks an AGENT clause, and readings, which the clauses and the
//! rules of fairness permit.

mod bugs;
mod clashes;
pub(crate) mod operators;
mod prelude;
mod readings;
mod seam;

use crate::agent::{Agent, ChangesInRun};
use crate::planted::{Kind, OnAgent, Planted};
use threadspec_judge::protocol::JudgeProfile;

/// Every bug and every reading.
pub(crate) fn all() -> impl Iterator<Item = Planted> {
    bugs::all().into_iter().chain(readings::all()).chain(clashes::all())
}

/// The clauses that a fault breaks.
type Clauses = &'static [&'static str];

/// The clauses that a reading breaks.
const PERMITTED: Clauses = &[];

/// Plants a bug, or a reading if it breaks nothing.
fn bug(name: &str, breaks: Clauses, plant: impl Fn(&mut Agent) + Send + Sync + 'static) -> Planted {
    // The tables are made once, and live as long as the program.
    let plant = OnAgent(Box::leak(Box::new(plant)));
    let kind = if breaks.is_empty() { Kind::AgentReading(plant) } else { Kind::AgentBug(plant) };
    Planted { name: name.to_owned().leak(), kind, breaks, profiles: &[JudgeProfile::Universal] }
}

/// A change of a value.
trait ChangesValue<T>: Fn(&mut T) + Copy + Send + Sync + 'static {}
impl<T, F: Fn(&mut T) + Copy + Send + Sync + 'static> ChangesValue<T> for F {}

/// Another way to write a value.
trait Writes<T: ?Sized, R>: Fn(&T) -> R + Copy + Send + Sync + 'static {}
impl<T: ?Sized, R, F: Fn(&T) -> R + Copy + Send + Sync + 'static> Writes<T, R> for F {}
