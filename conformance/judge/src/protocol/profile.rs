//! The profiles that the protocol knows.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The rules that judge replies: one of the two renderings of this specification, or the duties of any agent to its model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JudgeProfile {
    /// The letter of the sources.
    #[default]
    Literal,
    /// The letter, and the smallest changes that make its promises hold for every input.
    Hardened,
    /// The properties that any agent owes its model (clauses AGENT-*), whatever else it does.
    Universal,
}

impl JudgeProfile {
    /// Every profile, the default first.
    pub const ALL: [Self; 3] = [Self::Literal, Self::Hardened, Self::Universal];
    /// The two renderings of this specification; a case that names no profile belongs to both.
    pub const OWN: [Self; 2] = [Self::Literal, Self::Hardened];

    /// How an implementation of this specification renders when it is judged by the profile.
    pub fn rendering(self) -> threadspec::Profile {
        match self {
            Self::Literal => threadspec::Profile::Literal,
            Self::Hardened | Self::Universal => threadspec::Profile::Hardened,
        }
    }
}

impl From<threadspec::Profile> for JudgeProfile {
    fn from(profile: threadspec::Profile) -> Self {
        match profile {
            threadspec::Profile::Literal => Self::Literal,
            threadspec::Profile::Hardened => Self::Hardened,
        }
    }
}

impl fmt::Display for JudgeProfile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Literal => "literal",
            Self::Hardened => "hardened",
            Self::Universal => "universal",
        })
    }
}

impl FromStr for JudgeProfile {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        let known = Self::ALL.into_iter().find(|profile| profile.to_string() == name);
        let unknown = || Error::new(format!("profile {name:?}: expected `literal`, `hardened` or `universal`"));
        known.ok_or_else(unknown)
    }
}
