//! Finds where a value differs from an expected one, and shows the difference.

use super::expectation::{NOTHING, Pattern};
use crate::json;
use crate::text::{beginning, common_beginning, cut};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use threadspec::surrogates::is_mark;

// Where a value differs from an expected one.

/// How much of a value is shown.
const LONGEST_VALUE: usize = 4 << 10;
/// The member that says what an object is.
pub(super) const TYPE: &str = "type";
/// Mismatches are kept up to this length, and the others counted.
const LONGEST_MISMATCHES: usize = 32 << 10;

/// One difference from an expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, as a JSON Pointer; empty for the whole value.
    pub path: String,
    /// The kinds of the two sides.
    pub sides: Sides,
}

/// The two sides of a mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Two strings, to be compared character by character; of long ones, excerpts.
    Texts {
        /// The expected string.
        expected: String,
        /// The actual string.
        actual: String,
    },
    /// Anything else.
    Values {
        /// The expected side.
        expected: Side,
        /// The actual side.
        actual: Side,
    },
}

/// One side of a mismatch that is not between two strings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    /// The kind.
    pub kind: SideKind,
    /// How it is shown.
    pub shown: String,
}

/// The kind of one side of a mismatch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SideKind {
    /// There is nothing, or nothing that fits.
    Nothing,
    /// A string.
    String,
    /// A number.
    Number,
    /// A list.
    List,
    /// An object without a `type`.
    Object,
    /// An object of this `type`.
    Typed(String),
    /// Anything that includes some parts.
    Including,
    /// A side that needs no explanation: null, a boolean, words.
    Other,
}

impl Side {
    /// A value, shown as a whole.
    pub fn of(value: &Value) -> Self {
        Self { kind: SideKind::of(value), shown: value.to_string() }
    }

    /// Makes a side of words.
    pub fn words(shown: impl Into<String>) -> Self {
        Self { kind: SideKind::Other, shown: shown.into() }
    }

    /// The side that has nothing.
    pub fn nothing() -> Self {
        Self { kind: SideKind::Nothing, shown: NOTHING.to_owned() }
    }

    /// A value that a testee wrote, shortened, with words for lone surrogates, which no string can hold.
    pub(super) fn actual(value: &Value) -> Self {
        let kind = match SideKind::of(value) {
            SideKind::Typed(name) => SideKind::Typed(readable(&name)),
            kind => kind,
        };
        Self { kind, shown: readable(&json::shortened(value, LONGEST_VALUE)) }
    }

    /// A part that should be in a list or a string, and what was sent where it should be. It is shown around what is most like the part.
    pub(super) fn without_part(part: &Self, rest: &Value) -> [Self; 2] {
        let rest = match rest.as_str() {
            Some(text) => Value::from(around(text, &serde_json::from_str::<String>(&part.shown).unwrap_or_default())),
            None => rest.clone(),
        };
        let shown = format!("something with {} in it", part.shown);
        [Self { kind: part.kind.clone(), shown }, Self { shown: Self::actual(&rest).shown, ..Self::nothing() }]
    }

    /// Makes the expected side, shortened.
    pub(super) fn expected(kind: SideKind, described: &str) -> Self {
        Self { kind, shown: beginning(described, LONGEST_VALUE) }
    }
}

impl SideKind {
    /// Returns the side of a value.
    pub fn of(value: &Value) -> Self {
        match value {
            Value::String(_) => Self::String,
            Value::Number(_) => Self::Number,
            Value::Array(_) => Self::List,
            Value::Object(members) => match members.get(TYPE) {
                Some(Value::String(name)) => Self::Typed(name.clone()),
                _ => Self::Object,
            },
            Value::Null | Value::Bool(_) => Self::Other,
        }
    }
}

/// The mismatches of a value. Only the first of them are kept, since there may be a million.
#[derive(Clone, Debug, Default)]
pub struct Mismatches {
    /// The first of them.
    pub kept: Vec<Mismatch>,
    /// How many more there are.
    pub more: usize,
    /// How far the value is from the expected one, by the length of what differs.
    pub distance: usize,
    /// The length of those that are kept.
    length: usize,
}

impl Mismatches {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.kept.len() + self.more
    }

    /// Returns whether the value is the expected one.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(super) fn add(&mut self, mismatch: Mismatch) {
        self.distance += 1 + mismatch.sides.distance();
        self.keep(mismatch);
    }

    pub(super) fn append(&mut self, others: Self) {
        self.distance += others.distance;
        self.more += others.more;
        others.kept.into_iter().for_each(|mismatch| self.keep(mismatch));
    }

    fn keep(&mut self, mismatch: Mismatch) {
        let [expected, actual] = mismatch.sides.shown();
        self.length += mismatch.path.len() + expected.len() + actual.len();
        if self.kept.is_empty() || self.length <= LONGEST_MISMATCHES {
            self.kept.push(mismatch);
        } else {
            self.more += 1;
        }
    }
}

impl Sides {
    /// How they are shown: what was expected, and what was there.
    pub fn shown(&self) -> [&str; 2] {
        match self {
            Self::Texts { expected, actual } => [expected, actual],
            Self::Values { expected, actual } => [&expected.shown, &actual.shown],
        }
    }

    fn distance(&self) -> usize {
        match self {
            Self::Values { expected, actual } => expected.shown.len() + actual.shown.len(),
            Self::Texts { expected, actual } => {
                let (expected, actual) = (expected.as_bytes(), actual.as_bytes());
                let shorter = expected.len().min(actual.len());
                let start = expected.iter().zip(actual).take_while(|(one, other)| one == other).count();
                let rest = shorter - start;
                let end = expected.iter().rev().zip(actual.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
                expected.len() + actual.len() - 2 * (start + end)
            }
        }
    }
}

pub(super) fn values(path: String, expected: Side, actual: Side) -> Mismatch {
    Mismatch { path, sides: Sides::Values { expected, actual } }
}

pub(super) fn texts(path: String, expected: String, actual: &str) -> Mismatch {
    Mismatch { path, sides: Sides::Texts { expected, actual: readable(actual) } }
}

/// A long text, cut around the longest beginning of a part that is in it, or its end.
fn around(text: &str, part: &str) -> String {
    const LONG: usize = 400;
    if text.len() <= LONG {
        return text.to_owned();
    }
    let beginnings = part.char_indices().map(|(at, c)| &part[..at + c.len_utf8()]);
    let at = beginnings.map_while(|beginning| text.find(beginning)).last().unwrap_or(text.len());
    let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or_default();
    let (from, to) = (boundary(at.saturating_sub(LONG / 2)), boundary(at + LONG / 2));
    let cut = |is_cut: bool| if is_cut { "…" } else { "" };
    format!("{}{}{}", cut(from > 0), &text[from..to], cut(to < text.len()))
}

fn readable(actual: &str) -> String {
    let parts: Vec<&str> = actual.split(is_mark).collect();
    parts.join("<half a surrogate pair>")
}

// Aligns two lists: which elements belong together, and which are missing or extra.

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

// Excerpts of two long texts around their differences, so that nothing large outlives its case.

/// How many characters of equal text are shown on each side of a difference.
pub const CONTEXT: usize = 30;
/// Texts of up to this many bytes are kept whole.
const LONGEST: usize = 4 << 10;

/// Two short texts as they are; of long ones what is between the first and the last difference, with some context and a note on
/// how many characters were left out.
pub(super) fn excerpts(expected: &str, actual: &str) -> [String; 2] {
    if expected.len().max(actual.len()) <= LONGEST {
        return [expected.to_owned(), actual.to_owned()];
    }
    let start = common_beginning(expected, actual);
    let (expected_rest, actual_rest) = (&expected[start..], &actual[start..]);
    let mut end =
        expected_rest.bytes().rev().zip(actual_rest.bytes().rev()).take_while(|(one, other)| one == other).count();
    while !expected_rest.is_char_boundary(expected_rest.len() - end) {
        end -= 1;
    }
    [expected, actual].map(|text| {
        let (before, rest) = text.split_at(start);
        let (different, after) = rest.split_at(rest.len() - end);
        let (_, before) = ends(before, 0, CONTEXT, "equal");
        let (after, _) = ends(after, CONTEXT, 0, "equal");
        let (first, last) = ends(different, LONGEST / 2, LONGEST / 2, "more");
        format!("{before}{first}{last}{after}")
    })
}

/// The first and the last characters of a text, `first` and `last` many; a note at the cut says how many were left out. A text that is
/// not much longer stays whole, as the beginning, or as the end if `first` is 0.
fn ends(text: &str, first: usize, last: usize, what: &str) -> (String, String) {
    let length = text.chars().count();
    let left_out = length.saturating_sub(first + last);
    if left_out <= CONTEXT {
        return if first > 0 { (text.to_owned(), String::new()) } else { (String::new(), text.to_owned()) };
    }
    let ((beginning, _), (_, end)) = (cut(text, first), cut(text, length - last));
    let named = format!("…⟨{left_out} {what}⟩…");
    if first > 0 { (format!("{beginning}{named}"), end.to_owned()) } else { (String::new(), format!("{named}{end}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_mismatches_the_first_are_kept_and_all_are_counted() {
        let mut found = Mismatches::default();
        let long = "x".repeat(LONGEST_VALUE);
        let mismatch = |number: usize| values(format!("/{number}"), Side::words(&*long), Side::words("y"));
        (0..100).for_each(|number| found.add(mismatch(number)));
        assert_eq!((found.kept.len(), found.more, found.len()), (7, 93, 100));
        assert_eq!(found.distance, 100 * (LONGEST_VALUE + 2));
        assert_eq!(found.kept[6], mismatch(6));
        let mut others = Mismatches::default();
        others.append(found);
        assert_eq!((others.kept.len(), others.more, others.distance), (7, 93, 100 * (LONGEST_VALUE + 2)));
    }

    #[test]
    fn the_first_mismatch_is_kept_however_long_it_is() {
        let mut found = Mismatches::default();
        found.add(texts(String::new(), "x".repeat(LONGEST_MISMATCHES), "y"));
        found.add(texts(String::new(), "x".into(), "y"));
        assert_eq!((found.kept.len(), found.more), (1, 1));
    }

    #[test]
    fn every_character_of_a_short_difference_stays() {
        let long = (0..3000).map(|n| format!("é{n},")).collect::<Vec<_>>().concat();
        let changed = long.replace("é1500,", "è1500,\u{1f600}");
        let [expected, actual] = excerpts(&long, &changed);
        assert!(expected.contains("é1500,") && actual.contains("è1500,\u{1f600}"), "{expected} {actual}");
        assert!(expected.len() < 200 && expected.starts_with("…⟨") && expected.ends_with(" equal⟩…"), "{expected}");
    }

    #[test]
    fn of_a_long_difference_both_ends_stay() {
        let [expected, actual] = excerpts(&format!("a{}z", "é".repeat(9000)), "b");
        assert!(expected.starts_with("aé") && expected.ends_with("éz"), "{expected}");
        assert!(expected.contains("…⟨4906 more⟩…") && expected.len() < 9000, "{}", expected.len());
        assert_eq!(actual, "b");
    }

    #[test]
    fn the_end_of_a_text_may_be_what_is_missing() {
        let long = "ab".repeat(5000);
        let [expected, actual] = excerpts(&long, &long[..9000]);
        assert!(expected.starts_with("…⟨8970 equal⟩…") && actual.ends_with("abab"), "{expected} {actual}");
        assert_eq!(excerpts(&long, &long)[0], format!("…⟨9970 equal⟩…{}", &long[9970..]));
    }
}
