//! Everything that is planted, and how to find it by its name.

use crate::planted::Planted;
use crate::{bugs, deeds, gateways, growth, over_wire, readings, session, universal};
use std::sync::LazyLock;

static ALL: LazyLock<Vec<Planted>> = LazyLock::new(|| {
    let of_twin = bugs::all().chain(readings::all()).chain(growth::all()).chain(deeds::DEEDS.iter().copied());
    of_twin.chain(universal::all()).chain(over_wire::all()).chain(session::all()).chain(gateways::all()).collect()
});

/// Everything that is planted, but for the bugs of two conditions: those have no names of their own, since they follow from the covering arrays
/// of the corpus that is run.
pub fn all() -> impl Iterator<Item = &'static Planted> {
    ALL.iter()
}

/// What has this name. The name of a family needs a size, as in `text-cut:content:100`, that of a misbehaviour may say when it happens, as in
/// `dies@3`.
pub fn find(name: &str) -> Option<Planted> {
    let end = name.find([':', '@']).unwrap_or(name.len());
    let planted = all().find(|planted| planted.name == &name[..end])?;
    // Names live as long as the program; it looks few of them up.
    let name = if end == name.len() { planted.name } else { name.to_owned().leak() };
    planted.with(name)
}
