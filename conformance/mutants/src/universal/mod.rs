//! Planted variants of an agent that is not the reference: bugs, each of which breaks an AGENT clause, and readings, which
//! the clauses and the fairness rules permit.

mod agent;
mod bugs;
mod readings;
mod together;
mod trials;

pub use together::{Clash, Together};

use agent::Agent;
use std::fmt;
use std::sync::LazyLock;
use threadspec_judge::protocol::Implementation;

/// A variant of the agent.
pub struct Variant {
    /// In kebab-case, telling the mechanism.
    pub name: String,
    /// The clauses that it breaks; empty for a reading.
    pub breaks: &'static [&'static str],
    plant: Box<dyn Fn(&mut Agent) + Send + Sync>,
}

impl fmt::Debug for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Variant({})", self.name)
    }
}

impl Variant {
    /// The agent with this variant.
    pub fn implementation(&self) -> impl Implementation + use<> {
        combined(&[self])
    }
}

/// The agent with several variants. Of two that replace the same part of it only the last one counts.
pub fn combined(variants: &[&Variant]) -> impl Implementation + use<> {
    let mut agent = Agent::default();
    variants.iter().for_each(|variant| (variant.plant)(&mut agent));
    agent
}

pub(super) use trials::{broken, catches, trials};

static BUGS: LazyLock<Vec<Variant>> = LazyLock::new(bugs::all);
static READINGS: LazyLock<Vec<Variant>> = LazyLock::new(readings::all);
static CLASHES: LazyLock<Vec<Clash>> = LazyLock::new(together::all);

/// Every planted bug of the agent.
pub fn bugs() -> &'static [Variant] {
    &BUGS
}

/// Every reading, which must pass.
pub fn readings() -> &'static [Variant] {
    &READINGS
}

/// Every planted bug that shows only where runs meet.
pub fn clashes() -> &'static [Clash] {
    &CLASHES
}

/// The agent without a variant, which must pass.
pub fn sound() -> impl Implementation {
    Agent::default()
}
