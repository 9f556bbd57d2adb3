//! A clause: one sentence of the specification.

use serde::Deserialize;

/// A sentence of the specification that a case can test.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clause {
    /// Its id, as cases name it.
    pub id: String,
    /// How binding it is.
    pub level: super::Level,
    /// Where it comes from.
    pub source: String,
    /// The text.
    pub text: String,
}

impl Clause {
    /// The entries of the errata that it comes from, which its source names (`errata E8, E11`).
    pub fn errata(&self) -> impl Iterator<Item = &str> {
        let (_, entries) = self.source.split_once("errata ").unwrap_or_default();
        entries.split(", ").filter(|entry| !entry.is_empty())
    }
}
