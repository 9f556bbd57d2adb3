//! Shows how two texts differ, in a few lines whatever their length, and holds a difference from the expected output as a run file has it.

use crate::terminal::{BAD, FAINT, GOOD, styled};
use crate::words;
use anstream::adapter::strip_str;
use serde::{Deserialize, Serialize};
use similar::DiffOp;
use similar::algorithms::{Capture, Compact, Replace, myers};
use std::time::{Duration, Instant};
use threadspec_judge::corpus::{CONTEXT, Mismatch, NOTHING, Side, SideKind, Sides};
use threadspec_judge::text::{common_beginning, count, visible};

/// A difference is shown up to this length.
const LONGEST: usize = 400;
/// More differences than this are counted, not shown.
const DIFFERENCES: usize = 6;
/// Letters that two words share by chance say nothing: up to so many between two differences.
const CHANCE: usize = 3;
/// Texts that differ over a longer stretch are not searched for what they share.
const SEARCHED: usize = 10_000;

/// A piece of one side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiffPiece {
    /// Both sides have it.
    Equal(String),
    /// The other side has something else here, or nothing.
    Different(String),
    /// A description of the part that is left out.
    LeftOut(String),
}

/// How much is shown of two texts.
#[derive(Clone, Copy, Debug)]
struct DiffExtent {
    /// Longer differences are cut.
    longest: usize,
    /// More differences are counted.
    differences: usize,
}

const WIDEST: DiffExtent = DiffExtent { longest: LONGEST, differences: DIFFERENCES };

/// The expected and the actual text, one line each, every character visible, their differences in `⟦…⟧`.
pub fn texts(expected: &str, actual: &str) -> [String; 2] {
    styled_sides(pieces_within(expected, actual, WIDEST))
}

/// Compares two texts within so many characters a side: around all differences, around the first ones, or around the first alone.
pub fn texts_within(expected: &str, actual: &str, room: usize) -> [String; 2] {
    let extent = |(differences, longest)| DiffExtent { longest, differences };
    let extents = [(DIFFERENCES, LONGEST), (3, 120), (2, 60), (1, 120), (1, 60), (1, 30), (1, 10)].map(extent);
    let shown = extents.map(|extent| styled_sides(pieces_within(expected, actual, extent)));
    let fits = |sides: &[String; 2]| sides.iter().all(|side| strip_str(side).to_string().chars().count() <= room);
    let [.., least] = &shown;
    shown.iter().find(|sides| fits(sides)).unwrap_or(least).clone()
}

fn styled_sides([expected, actual]: [Vec<DiffPiece>; 2]) -> [String; 2] {
    let side = |pieces: Vec<DiffPiece>, style| -> String {
        let shown = pieces.into_iter().map(|piece| match piece {
            DiffPiece::Equal(text) => text,
            DiffPiece::Different(text) => format!("⟦{}⟧", styled(style, text)),
            DiffPiece::LeftOut(what) => styled(FAINT, what),
        });
        shown.collect()
    };
    [side(expected, GOOD), side(actual, BAD)]
}

/// The expected and the actual text in pieces, every character visible.
pub fn pieces(expected: &str, actual: &str) -> [Vec<DiffPiece>; 2] {
    pieces_within(expected, actual, WIDEST)
}

fn pieces_within(expected: &str, actual: &str, extent: DiffExtent) -> [Vec<DiffPiece>; 2] {
    let (old, new): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    let mut sides = [Vec::new(), Vec::new()];
    let operations = operations(&old, &new);
    let last = operations.len().saturating_sub(1);
    let mut differences = 0;
    for (index, operation) in operations.iter().enumerate() {
        differences += usize::from(!matches!(operation, DiffOp::Equal { .. }));
        if differences > extent.differences {
            let rest = operations[index..].iter().filter(|operation| !matches!(operation, DiffOp::Equal { .. }));
            let rest = left_out(&count(rest.count(), "more difference"));
            return sides.map(|mut side| {
                side.push(DiffPiece::LeftOut(rest.clone()));
                side
            });
        }
        if matches!(operation, DiffOp::Equal { .. }) {
            let equal = equal(&old[operation.old_range()], index == 0, index == last);
            for side in &mut sides {
                side.extend_from_slice(&equal);
            }
        } else {
            sides[0].push(differing(&old[operation.old_range()], extent.longest));
            sides[1].push(differing(&new[operation.new_range()], extent.longest));
        }
    }
    sides
}

/// Divides both texts into equal and different parts. Differences with only a few equal characters between them are one.
fn operations(old: &[char], new: &[char]) -> Vec<DiffOp> {
    let deadline = Instant::now() + Duration::from_millis(200);
    let shorter = old.len().min(new.len());
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let end = old.iter().rev().zip(new.iter().rev()).take(shorter - start).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let mut operations = vec![DiffOp::Equal { old_index: 0, new_index: 0, len: start }];
    if old_end + new_end - 2 * start <= SEARCHED {
        let (old, new) = (&old[start..old_end], &new[start..new_end]);
        let mut found = Compact::new(Replace::new(Capture::new()), old, new);
        let Ok(()) = myers::diff_deadline(&mut found, old, 0..old.len(), new, 0..new.len(), Some(deadline));
        operations.extend(joined(found.into_inner().into_inner().into_ops(), start));
    } else {
        operations.push(DiffOp::Replace {
            old_index: start,
            old_len: old_end - start,
            new_index: start,
            new_len: new_end - start,
        });
    }
    operations.push(DiffOp::Equal { old_index: old_end, new_index: new_end, len: end });
    operations.retain(|operation| !operation.old_range().is_empty() || !operation.new_range().is_empty());
    operations
}

/// Shifts operations to their place in the texts, and joins differences with only a few equal characters between them.
fn joined(found: Vec<DiffOp>, shift: usize) -> Vec<DiffOp> {
    let mut operations: Vec<DiffOp> = Vec::new();
    let last = found.len().saturating_sub(1);
    for (index, operation) in found.into_iter().enumerate() {
        let (old, new) = (operation.old_range(), operation.new_range());
        let inner = index > 0 && index < last;
        let keep = matches!(operation, DiffOp::Equal { .. }) && !(inner && old.len() <= CHANCE);
        if keep {
            operations.push(DiffOp::Equal {
                old_index: old.start + shift,
                new_index: new.start + shift,
                len: old.len(),
            });
        } else if let Some(DiffOp::Replace { old_len, new_len, .. }) = operations.last_mut() {
            *old_len += old.len();
            *new_len += new.len();
        } else {
            operations.push(DiffOp::Replace {
                old_index: old.start + shift,
                old_len: old.len(),
                new_index: new.start + shift,
                new_len: new.len(),
            });
        }
    }
    operations
}

fn show(text: &[char]) -> String {
    visible(&text.iter().collect::<String>())
}

fn left_out(what: &str) -> String {
    format!("…⟨{what}⟩…")
}

fn equal(text: &[char], first: bool, last: bool) -> Vec<DiffPiece> {
    let before = if first { 0 } else { CONTEXT };
    let after = if last { 0 } else { CONTEXT };
    let hidden = text.len().saturating_sub(before + after);
    if hidden <= CONTEXT {
        return vec![DiffPiece::Equal(show(text))];
    }
    let end = show(&text[text.len() - after..]);
    vec![
        DiffPiece::Equal(show(&text[..before])),
        DiffPiece::LeftOut(left_out(&format!("{hidden} equal"))),
        DiffPiece::Equal(end),
    ]
}

fn differing(text: &[char], longest: usize) -> DiffPiece {
    if text.len() <= longest {
        return DiffPiece::Different(show(text));
    }
    let half = longest / 2;
    let hidden = left_out(&format!("{} more", text.len() - 2 * half));
    DiffPiece::Different(format!("{}{hidden}{}", show(&text[..half]), show(&text[text.len() - half..])))
}

// A difference from the expected output, as a run file has it.

/// Sides are shown up to this length.
const LONGEST_SIDE: usize = 1000;

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
        if *text || common_beginning(expected, actual) >= LONGEST_SIDE {
            return texts(expected, actual).map(|side| strip_str(&side).to_string());
        }
        [expected, actual].map(|side| words::shortened(side, LONGEST_SIDE))
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

#[cfg(test)]
mod tests {
    use super::{texts, texts_within};
    use anstream::adapter::strip_str;

    fn plain(expected: &str, actual: &str) -> [String; 2] {
        texts(expected, actual).map(|side| strip_str(&side).to_string())
    }

    #[test]
    fn long_texts_print_short() {
        let same = "x".repeat(100_000);
        let [expected, actual] = plain(&format!("{same}\r{same}"), &format!("{same}\n{same}"));
        assert!(expected.contains("⟦␍⟧") && actual.contains("⟦⏎⟧"), "{expected}");
        assert!(expected.contains("⟨99970 equal⟩") && expected.chars().count() < 150, "{expected}");
    }

    #[test]
    fn wholly_different_long_texts_print_short_and_soon() {
        let one: String = ('a'..='z').cycle().take(200_000).collect();
        let other: String = ('A'..='Z').cycle().take(200_000).collect();
        for side in plain(&one, &other) {
            assert!(side.chars().count() < 500, "{side}");
        }
    }

    #[test]
    fn a_difference_is_shown_in_little_room() {
        let long = |c: char| format!("{}{c}{}", "x".repeat(5000), "y".repeat(5000));
        for room in [60, 100, 200] {
            let sides = texts_within(&long('a'), &long('b'), room).map(|side| strip_str(&side).to_string());
            assert!(sides[0].contains("⟦a⟧") && sides[1].contains("⟦b⟧"), "{sides:?}");
        }
        let many = |c: &str| format!("{c}{}", "0123456789".repeat(10)).repeat(20);
        let sides = texts_within(&many("<"), &many("&lt;"), 200).map(|side| strip_str(&side).to_string());
        assert!(sides.iter().all(|side| side.chars().count() <= 200) && sides[1].contains("⟦&lt;⟧"), "{sides:?}");
    }

    #[test]
    fn many_differences_are_counted() {
        let [expected, _] = plain(&"abcdefgh-".repeat(20), &"abcdefgh+".repeat(20));
        assert!(expected.ends_with("…⟨14 more differences⟩…"), "{expected}");
    }

    #[test]
    fn empty_and_equal_texts_are_shown() {
        assert_eq!(plain("", ""), ["", ""]);
        assert_eq!(plain("a", "a"), ["a", "a"]);
        assert_eq!(plain("", "a"), ["⟦⟧", "⟦a⟧"]);
        assert_eq!(plain("a &amp; b", "a & b"), ["a &⟦amp;⟧ b", "a &⟦⟧ b"]);
        assert_eq!(plain("one", "two"), ["⟦one⟧", "⟦two⟧"]);
    }
}
