//! Shows how two texts differ, in a few lines whatever their length.

use crate::terminal::{BAD, FAINT, GOOD, styled};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};
use std::time::{Duration, Instant};
use threadspec_judge::corpus::CONTEXT;
use threadspec_judge::text::{count, visible};

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
    /// What is left out, in words.
    LeftOut(String),
}

/// The expected and the actual text, one line each, every character visible, their differences in `⟦…⟧`.
pub fn texts(expected: &str, actual: &str) -> [String; 2] {
    let [expected, actual] = pieces(expected, actual);
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

/// What was replaced by what. One replacement that is made again and again is one pair.
pub fn pairs(expected: &str, actual: &str) -> Vec<(String, String)> {
    let (old, new): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    let different = |operation: &DiffOp| !matches!(operation, DiffOp::Equal { .. });
    let text = |characters: &[char]| characters.iter().collect();
    let found = |chance| -> Vec<(String, String)> {
        let found = operations(&old, &new, chance).into_iter().filter(different);
        found.map(|operation| (text(&old[operation.old_range()]), text(&new[operation.new_range()]))).collect()
    };
    let mut apart = found(0);
    apart.dedup();
    // What stands between two that are the same is not shared by chance.
    if apart.len() > 1 { found(CHANCE) } else { apart }
}

/// The expected and the actual text in pieces, every character visible.
pub fn pieces(expected: &str, actual: &str) -> [Vec<DiffPiece>; 2] {
    let (old, new): (Vec<char>, Vec<char>) = (expected.chars().collect(), actual.chars().collect());
    let mut sides = [Vec::new(), Vec::new()];
    let operations = operations(&old, &new, CHANCE);
    let last = operations.len().saturating_sub(1);
    let mut differences = 0;
    for (index, operation) in operations.iter().enumerate() {
        differences += usize::from(!matches!(operation, DiffOp::Equal { .. }));
        if differences > DIFFERENCES {
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
            sides[0].push(differing(&old[operation.old_range()]));
            sides[1].push(differing(&new[operation.new_range()]));
        }
    }
    sides
}

/// What is equal and what differs. Differences with no more than `chance` equal characters between them are one.
fn operations(old: &[char], new: &[char], chance: usize) -> Vec<DiffOp> {
    let deadline = Instant::now() + Duration::from_millis(200);
    let shorter = old.len().min(new.len());
    let start = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let end = old.iter().rev().zip(new.iter().rev()).take(shorter - start).take_while(|(a, b)| a == b).count();
    let (old_end, new_end) = (old.len() - end, new.len() - end);
    let mut operations = vec![DiffOp::Equal { old_index: 0, new_index: 0, len: start }];
    if old_end + new_end - 2 * start <= SEARCHED {
        let (old, new) = (&old[start..old_end], &new[start..new_end]);
        operations.extend(joined(
            capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline)),
            start,
            chance,
        ));
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
fn joined(found: Vec<DiffOp>, shift: usize, chance: usize) -> Vec<DiffOp> {
    let mut operations: Vec<DiffOp> = Vec::new();
    let last = found.len().saturating_sub(1);
    for (index, operation) in found.into_iter().enumerate() {
        let (old, new) = (operation.old_range(), operation.new_range());
        let inner = index > 0 && index < last;
        let keep = matches!(operation, DiffOp::Equal { .. }) && !(inner && old.len() <= chance);
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

fn differing(text: &[char]) -> DiffPiece {
    if text.len() <= LONGEST {
        return DiffPiece::Different(show(text));
    }
    let half = LONGEST / 2;
    let hidden = left_out(&format!("{} more", text.len() - LONGEST));
    DiffPiece::Different(format!("{}{hidden}{}", show(&text[..half]), show(&text[text.len() - half..])))
}

#[cfg(test)]
mod tests {
    use super::texts;

    fn plain(expected: &str, actual: &str) -> [String; 2] {
        texts(expected, actual).map(|side| anstream::adapter::strip_str(&side).to_string())
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
