//! A difference from the expected output, as a run file has it.

use super::{diff, words};
use anstream::adapter::strip_str;
use serde::{Deserialize, Serialize};
use threadspec_judge::corpus::{Mismatch, NOTHING, Side, SideKind, Sides};
use threadspec_judge::text::common_beginning;

/// Sides are shown up to this length.
const LONGEST: usize = 1000;

/// One difference from the expected output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MismatchRecord {
    /// Where, as a JSON Pointer; empty for the whole output.
    pub path: String,
    /// True if both sides are texts, to be compared character by character. If not, they are descriptions.
    pub text: bool,
    /// The expected side.
    pub expected: String,
    /// The actual side.
    pub actual: String,
    /// The kinds of both sides, if they are no texts; run files of earlier versions lack them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinds: Option<[SideKind; 2]>,
}

impl MismatchRecord {
    /// Both sides on a line each. Long ones are shown where they differ, since two equal beginnings say nothing.
    pub fn sides(&self) -> [String; 2] {
        let Self { text, expected, actual, .. } = self;
        if *text || common_beginning(expected, actual) >= LONGEST {
            return diff::texts(expected, actual).map(|side| strip_str(&side).to_string());
        }
        [expected, actual].map(|side| words::shortened(side, LONGEST))
    }
}

impl From<&Mismatch> for MismatchRecord {
    fn from(Mismatch { path, sides }: &Mismatch) -> Self {
        let kinds = match sides {
            Sides::Texts { .. } => None,
            Sides::Values { expected, actual } => Some([expected, actual].map(|side| side.kind.clone())),
        };
        let [expected, actual] = sides.shown().map(str::to_owned);
        Self { path: path.clone(), text: kinds.is_none(), expected, actual, kinds }
    }
}

impl From<&MismatchRecord> for Mismatch {
    fn from(MismatchRecord { path, text, expected, actual, kinds }: &MismatchRecord) -> Self {
        let (expected, actual) = (expected.clone(), actual.clone());
        let unknown = |shown: &str| if shown.starts_with(NOTHING) { SideKind::Nothing } else { SideKind::Other };
        let sides = if *text {
            Sides::Texts { expected, actual }
        } else {
            let [one, other] = kinds.clone().unwrap_or_else(|| [unknown(&expected), unknown(&actual)]);
            Sides::Values { expected: Side { kind: one, shown: expected }, actual: Side { kind: other, shown: actual } }
        };
        Self { path: path.clone(), sides }
    }
}
