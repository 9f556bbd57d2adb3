//! The two conformance profiles.

use std::fmt;
use std::str::FromStr;

/// One of the two conformance profiles, which decides where the sources are silent or disagree.
///
/// | | `Literal` | `Hardened` |
/// |---|---|---|
/// | CR in text; TAB, LF, CR in attributes (ESC-CR, ATT-WHITESPACE) | raw | `&#13;`; `&#9;` `&#10;` `&#13;` |
/// | tool results that are not strings, in XML (EVT-RESULT-VALUE) | `String(result)` | `JSON.stringify(result)` |
/// | adjacent tool calls of one iteration (MSG-GROUP) | one AI message each | one AI message |
/// | results that are elsewhere, or nowhere (MSG-PAIRED, MSG-MISSING, MSG-ORPHAN) | as they are | paired with their calls |
/// | calls that a limit cuts off; ids that a response repeats (TOOLS-CUT, TOOLS-DISTINCT) | as they are | answered; renamed |
/// | text next to tool calls (LOOP-TEXT) | not an event | an assistant message event |
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The letter of the sources: what "reference implementation" means.
    #[default]
    Literal,
    /// The letter, plus the smallest changes that make the sources' own promises hold for every input: well-formed,
    /// lossless, equivalent in both modes, accepted by model providers.
    Hardened,
}

impl Profile {
    /// Both profiles, the default first.
    pub const ALL: [Self; 2] = [Self::Literal, Self::Hardened];
}

impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Literal => "literal",
            Self::Hardened => "hardened",
        })
    }
}

impl FromStr for Profile {
    type Err = crate::Error;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.to_string() == name)
            .ok_or_else(|| crate::Error::input(format!("profile {name:?}: expected `literal` or `hardened`")))
    }
}
