//! Aligns two lists: which elements belong together, and which are missing or extra.

use super::expectation::Pattern;
use serde_json::Value;

/// How many elements ahead to look for the next match.
const AHEAD: usize = 8;

/// How the next elements of two lists relate.
pub(super) enum Next {
    /// They belong together, equal or not.
    Pair,
    /// The expected one is missing.
    Missing,
    /// The actual one is extra.
    Extra,
}

/// How the next elements of two lists relate; at least one list is not empty.
pub(super) fn next(expected: &[Pattern], actual: &[Value]) -> Next {
    let (Some(first), Some(other)) = (expected.first(), actual.first()) else {
        return if actual.is_empty() { Next::Missing } else { Next::Extra };
    };
    if first.matches(other) {
        return Next::Pair;
    }
    let are_alike = resemble(first, other);
    let fit = |missing: usize, extra: usize| match (expected.get(missing), actual.get(extra)) {
        (Some(expected), Some(actual)) => expected.matches(actual),
        // Both lists end.
        _ => expected.len() == missing && actual.len() == extra,
    };
    for ahead in 1..=AHEAD {
        let pair = are_alike && fit(ahead, ahead);
        // Where one list is longer, an element is more likely extra than changed.
        let (missing, extra) = (fit(ahead, 0), fit(0, ahead));
        if missing && (!pair || expected.len() > actual.len()) {
            return Next::Missing;
        }
        if extra && (!pair || actual.len() > expected.len()) {
            return Next::Extra;
        }
        if pair {
            return Next::Pair;
        }
    }
    let alike = |missing: usize, extra: usize| {
        let both = expected.get(missing).zip(actual.get(extra));
        both.is_some_and(|(expected, actual)| resemble(expected, actual))
    };
    let at = (0..=AHEAD).find(|&ahead| alike(ahead, 0) || alike(0, ahead));
    match at {
        Some(ahead) if ahead > 0 => {
            if alike(ahead, 0) {
                Next::Missing
            } else {
                Next::Extra
            }
        }
        _ => Next::Pair,
    }
}

/// Returns whether the actual element can be the expected one, changed: an object of another type cannot.
fn resemble(expected: &Pattern, actual: &Value) -> bool {
    let (Pattern::Object(members), Value::Object(_)) = (expected, actual) else { return true };
    let kind = members.iter().find(|(name, _)| **name == *"type").map(|(_, kind)| kind);
    kind.is_none_or(|kind| actual.get("type").is_none_or(|actual| kind.matches(actual)))
}
