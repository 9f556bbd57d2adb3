//! Planted bugs: small, realistic deviations, as implementers in other languages make them. They measure the corpus, which must catch
//! them all.
//!
//! A bug is a line or two in one of the tables of `bugs`, which replace a seam of a twin of the reference. [`growth`] has bugs
//! that show only with size, [`misbehaviour`] those of a process rather than of its answers, [`readings`] what a profile permits,
//! [`universal`] the bugs and readings of an agent that is not the reference, [`pairs`] those that need two conditions. [`matrix`] runs the
//! corpus on all but those of size and pairs.

#![allow(
    clippy::assigning_clones,
    clippy::format_collect,
    clippy::needless_for_each,
    clippy::semicolon_if_nothing_returned,
    clippy::type_complexity,
    clippy::unnecessary_wraps,
    reason = "a seam has one signature for all its bugs, and a bug that is easy to read is fast enough"
)]

mod agent;
mod bugs;
mod context;
mod deeds;
mod document;
pub mod growth;
mod input;
pub mod matrix;
pub mod misbehaviour;
mod open;
pub mod pairs;
pub mod readings;
mod text;
mod twin;
pub mod universal;

use std::fmt;
use threadspec::Profile;
use threadspec_judge::protocol::Implementation;
use twin::Twin;

/// A planted bug.
#[derive(Clone, Copy)]
pub struct Bug {
    /// In kebab-case, telling the mechanism.
    pub name: &'static str,
    /// The clauses that it breaks.
    pub breaks: &'static [&'static str],
    /// The profiles in which it is wrong. In the others it is one of the accepted readings, and must pass.
    pub profiles: &'static [Profile],
    plant: fn(&mut Twin),
}

impl fmt::Debug for Bug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bug({})", self.name)
    }
}

impl Bug {
    /// The twin of the reference with this bug.
    pub fn implementation(&self) -> impl Implementation + use<> {
        together(&[self])
    }
}

/// The twin of the reference with several bugs. Two that replace the same part of it are one: the last.
pub fn together(bugs: &[&Bug]) -> impl Implementation + use<> {
    let mut twin = Twin::default();
    bugs.iter().for_each(|bug| (bug.plant)(&mut twin));
    twin
}

/// Every planted bug.
pub fn all() -> impl Iterator<Item = &'static Bug> {
    bugs::TABLES.iter().copied().flatten()
}

/// The twin without a bug, which must pass.
pub fn sound() -> impl Implementation {
    Twin::default()
}
