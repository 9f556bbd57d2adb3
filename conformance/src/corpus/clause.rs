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
    /// What it says.
    pub text: String,
}
