//! Lists side by side: which element belongs to which, where some are missing or too much.

use super::expectation::Pattern;
use serde_json::Value;

/// So far ahead one looks for elements that fit again.
const AHEAD: usize = 8;

/// What the first elements of the rest of two lists are to each other.
pub(super) enum Next {
    /// They belong together, equal or not.
    Pair,
    /// The expected one is missing.
    Missing,
    /// The actual one is too much.
    TooMuch,
}

/// What comes next in two lists, of which at least one goes on.
pub(super) fn next(expected: &[Pattern], actual: &[Value]) -> Next {
    let (Some(first), Some(other)) = (expected.first(), actual.first()) else {
        return if actual.is_empty() { Next::Missing } else { Next::TooMuch };
    };
    if first.matches(other) {
        return Next::Pair;
    }
    let are_alike = resemble(first, other);
    let fit = |missing: usize, too_much: usize| match (expected.get(missing), actual.get(too_much)) {
        (Some(expected), Some(actual)) => expected.matches(actual),
        // Both lists end.
        _ => expected.len() == missing && actual.len() == too_much,
    };
    for ahead in 1..=AHEAD {
        let pair = are_alike && fit(ahead, ahead);
        // In the longer list an element is too much, rather than changed.
        let (missing, too_much) = (fit(ahead, 0), fit(0, ahead));
        if missing && (!pair || expected.len() > actual.len()) {
            return Next::Missing;
        }
        if too_much && (!pair || actual.len() > expected.len()) {
            return Next::TooMuch;
        }
        if pair {
            return Next::Pair;
        }
    }
    let alike = |missing: usize, too_much: usize| {
        let both = expected.get(missing).zip(actual.get(too_much));
        both.is_some_and(|(expected, actual)| resemble(expected, actual))
    };
    let at = (0..=AHEAD).find(|&ahead| alike(ahead, 0) || alike(0, ahead));
    match at {
        Some(ahead) if ahead > 0 => {
            if alike(ahead, 0) {
                Next::Missing
            } else {
                Next::TooMuch
            }
        }
        _ => Next::Pair,
    }
}

/// Whether two elements can be the same one, changed: objects of another type are not.
fn resemble(expected: &Pattern, actual: &Value) -> bool {
    let (Pattern::Object(members), Value::Object(_)) = (expected, actual) else { return true };
    let kind = members.iter().find(|(name, _)| name == "type").map(|(_, kind)| kind);
    kind.is_none_or(|kind| actual.get("type").is_none_or(|actual| kind.matches(actual)))
}
