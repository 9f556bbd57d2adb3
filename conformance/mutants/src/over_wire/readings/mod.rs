//! Readings: what agents do differently over the wire, as the clauses and the rules of fairness permit, so that no case may object.

mod answers;
mod attempts;
mod bodies;
mod histories;

use crate::planted::{Kind, OnWire, Planted};
use crate::wire::{Modes, WireAgent};
use threadspec_judge::protocol::JudgeProfile;

/// Every reading.
pub(super) fn all() -> Vec<Planted> {
    [answers::readings(), attempts::readings(), bodies::readings(), histories::readings()]
        .into_iter()
        .flatten()
        .collect()
}

/// A reading, and where it shows.
fn reading(name: &'static str, modes: Modes, plant: impl Fn(&mut WireAgent) + Send + Sync + 'static) -> Planted {
    neglecting(name, &[], modes, plant)
}

/// A reading that does not follow some `should` clauses, whose cases may object.
fn neglecting(
    name: &'static str,
    neglects: &'static [&'static str],
    modes: Modes,
    plant: impl Fn(&mut WireAgent) + Send + Sync + 'static,
) -> Planted {
    // The tables are made once, and live as long as the program.
    let kind = Kind::WireReading(OnWire { modes, neglects, plant: Box::leak(Box::new(plant)) });
    Planted { name, kind, breaks: &[], profiles: &[JudgeProfile::Universal] }
}
