//! Where a value differs from an expected one.

use crate::json::HALF;
use crate::text::beginning;

/// How much of a value is shown.
pub(super) const LONGEST_VALUE: usize = 4 << 10;
/// Mismatches are kept up to this length, and the others counted.
const LONGEST_MISMATCHES: usize = 32 << 10;

/// One difference from an expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, as a JSON Pointer; empty for the whole value.
    pub path: String,
    /// What the two sides are.
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
    /// Descriptions of anything else.
    Values {
        /// What was expected.
        expected: String,
        /// What was there.
        actual: String,
    },
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

    /// Whether the value is the expected one.
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
        let (Sides::Texts { expected, actual } | Sides::Values { expected, actual }) = &mismatch.sides;
        self.length += mismatch.path.len() + expected.len() + actual.len();
        if self.kept.is_empty() || self.length <= LONGEST_MISMATCHES {
            self.kept.push(mismatch);
        } else {
            self.more += 1;
        }
    }
}

impl Sides {
    fn distance(&self) -> usize {
        match self {
            Self::Values { expected, actual } => expected.len() + actual.len(),
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

pub(super) fn values(path: String, expected: &str, actual: &str) -> Mismatch {
    let expected = beginning(expected, LONGEST_VALUE);
    Mismatch { path, sides: Sides::Values { expected, actual: readable(actual) } }
}

pub(super) fn texts(path: String, expected: String, actual: &str) -> Mismatch {
    Mismatch { path, sides: Sides::Texts { expected, actual: readable(actual) } }
}

/// What a testee wrote, with words for lone surrogates, which no string can hold.
fn readable(actual: &str) -> String {
    actual.replace(HALF, "<half a surrogate pair>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_mismatches_the_first_are_kept_and_all_are_counted() {
        let mut found = Mismatches::default();
        let mismatch = |number: usize| values(format!("/{number}"), &"x".repeat(LONGEST_VALUE), "y");
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
}
