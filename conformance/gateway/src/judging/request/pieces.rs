//! Texts in a row, of which some were joined, divided, changed, lost, moved, doubled or made up.

use std::collections::{BTreeMap, HashSet};
use threadspec::surrogates::has_marks;
use threadspec_judge::text::common_beginning;
use threadspec_judge::universal::halves::arrived;

/// So many units are laid beside so many others at most; longer rows are compared one by one.
const MOST_PAIRS: usize = 1 << 22;
/// A text of so many bytes is recognized inside a word, too.
const TELLING: usize = 8;
/// How alike two texts are of which one is the other, changed.
const ALIKE: f64 = 0.3;

/// The result of comparing texts in a row.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct TextComparison {
    /// Texts that arrived, by their positions on both sides.
    pub(crate) same: Vec<(usize, usize)>,
    pub(crate) changes: Vec<TextChange>,
}

/// A difference between two rows of texts. Positions are those of the row that was sent, then of the row that arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TextChange {
    Lost(usize),
    /// This part of a text is missing.
    Cut(usize, String),
    Changed(usize, usize),
    Moved(usize, usize),
    Doubled(usize),
    /// This part of a text was not sent.
    Added(usize, String),
}

/// A text of a row, or a part of one.
#[derive(Clone, Copy, Debug)]
struct Unit<'a> {
    text: &'a str,
    /// The position of the text in its row.
    piece: usize,
    /// True if other parts of it are units of their own.
    is_part: bool,
}

/// Lays two rows of texts beside each other. White space at their ends does not count, and empty ones are none.
pub(crate) fn compare(sent: &[&str], arrived: &[&str]) -> TextComparison {
    if let Some(same) = joined(sent, arrived) {
        return TextComparison { same, changes: Vec::new() };
    }
    let (ours, theirs) = (units(sent, arrived), units(arrived, sent));
    let pairs = longest_common(&ours, &theirs);
    let same = pairs.iter().map(|&(one, other)| (ours[one].piece, theirs[other].piece)).collect();
    let mut comparison = TextComparison { same, changes: Vec::new() };
    let (paired, paired_with): (HashSet<usize>, HashSet<usize>) = pairs.iter().copied().unzip();
    let mut left: Vec<usize> = (0..ours.len()).filter(|at| !paired.contains(at)).collect();
    let mut right: Vec<usize> = (0..theirs.len()).filter(|at| !paired_with.contains(at)).collect();
    left.retain(|&one| {
        let found = right.iter().position(|&other| is_same(ours[one].text, theirs[other].text));
        if let Some(found) = found {
            comparison.changes.push(TextChange::Moved(ours[one].piece, theirs[right.remove(found)].piece));
        }
        found.is_none()
    });
    right.retain(|&other| {
        let is_known = pairs.iter().any(|&(one, _)| is_same(ours[one].text, theirs[other].text));
        if is_known {
            comparison.changes.push(TextChange::Doubled(theirs[other].piece));
        }
        !is_known
    });
    // What is between the same neighbours is the same text, changed.
    let gap_of = |at: usize, side: fn(&(usize, usize)) -> usize| pairs.partition_point(|pair| side(pair) < at);
    let mut gaps: BTreeMap<usize, [Vec<usize>; 2]> = BTreeMap::new();
    for &at in &left {
        gaps.entry(gap_of(at, |pair| pair.0)).or_default()[0].push(at);
    }
    for &at in &right {
        gaps.entry(gap_of(at, |pair| pair.1)).or_default()[1].push(at);
    }
    for [mut lost, mut new] in gaps.into_values() {
        let is_even = lost.len() == new.len();
        lost.retain(|&one| {
            let like = |other: usize| likeness(ours[one].text, theirs[other].text);
            let best = (0..new.len()).max_by(|&a, &b| like(new[a]).total_cmp(&like(new[b])).then(b.cmp(&a)));
            let best = best.filter(|&at| is_even || like(new[at]) >= ALIKE);
            if let Some(best) = best {
                let other = theirs[new.remove(best)];
                comparison.changes.push(match inserted(ours[one].text, other.text) {
                    Some(text) => TextChange::Added(other.piece, text.to_owned()),
                    None => TextChange::Changed(ours[one].piece, other.piece),
                });
            }
            best.is_none()
        });
        comparison.changes.extend(lost.iter().map(|&one| match ours[one] {
            Unit { is_part: true, text, piece } => TextChange::Cut(piece, text.to_owned()),
            Unit { piece, .. } => TextChange::Lost(piece),
        }));
        comparison
            .changes
            .extend(new.iter().map(|&at| TextChange::Added(theirs[at].piece, theirs[at].text.to_owned())));
    }
    comparison
}

/// Returns whether a text arrived, lone surrogates aside.
pub(crate) fn is_same(sent: &str, arrived_as: &str) -> bool {
    sent == arrived_as || has_marks(sent) && arrived(sent, arrived_as)
}

/// The pairs of two rows that are the same but for where one text ends and the next begins.
fn joined(sent: &[&str], arrived: &[&str]) -> Option<Vec<(usize, usize)>> {
    let (mut pairs, mut ours, mut theirs) = (Vec::new(), rest_of(sent, 0), rest_of(arrived, 0));
    loop {
        match (ours, theirs) {
            (None, None) => return Some(pairs),
            (Some((one, our)), Some((other, their))) => {
                pairs.push((one, other));
                if is_same(our, their) {
                    (ours, theirs) = (rest_of(sent, one + 1), rest_of(arrived, other + 1));
                } else if let Some(rest) = our.strip_prefix(their) {
                    (ours, theirs) = (Some((one, rest.trim_start())), rest_of(arrived, other + 1));
                } else {
                    let rest = their.strip_prefix(our)?;
                    (ours, theirs) = (rest_of(sent, one + 1), Some((other, rest.trim_start())));
                }
            }
            _ => return None,
        }
    }
}

/// The next text of a row that is not empty.
fn rest_of<'a>(row: &[&'a str], from: usize) -> Option<(usize, &'a str)> {
    let texts = row.iter().enumerate().skip(from).map(|(at, text)| (at, text.trim()));
    texts.into_iter().find(|(_, text)| !text.is_empty())
}

/// The texts of a row, divided where one of the other row is in them.
fn units<'a>(row: &[&'a str], others: &[&str]) -> Vec<Unit<'a>> {
    let mut known: Vec<&str> = others.iter().map(|text| text.trim()).filter(|text| !text.is_empty()).collect();
    known.sort_by_key(|text| std::cmp::Reverse(text.len()));
    known.dedup();
    let is_affordable = row.len().saturating_mul(known.len()) < MOST_PAIRS >> 4;
    let mut units = Vec::new();
    for (piece, text) in row.iter().enumerate() {
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        let mut parts = Vec::new();
        if is_affordable && !known.contains(&text) {
            divide(text, &known, &mut parts);
        }
        match parts[..] {
            [] | [_] => units.push(Unit { text, piece, is_part: false }),
            _ => units.extend(parts.iter().map(|&text| Unit { text, piece, is_part: true })),
        }
    }
    units
}

/// The parts of a text: texts that are known, and what is left between them.
fn divide<'a>(text: &'a str, known: &[&str], parts: &mut Vec<&'a str>) {
    let text = text.trim();
    if text.is_empty() {
        return;
    }
    let found = known.iter().find_map(|one| {
        let (at, found) = text.match_indices(one).find(|(at, found)| stands_apart(text, *at, found.len()))?;
        Some((at, at + found.len()))
    });
    let Some((begin, end)) = found else { return parts.push(text) };
    divide(&text[..begin], known, parts);
    parts.push(&text[begin..end]);
    divide(&text[end..], known, parts);
}

/// Returns whether a part of a text is not only a part of a word.
fn stands_apart(text: &str, at: usize, length: usize) -> bool {
    let is_edge = |next: Option<char>| next.is_none_or(|next| !next.is_alphanumeric());
    length >= TELLING || is_edge(text[..at].chars().next_back()) && is_edge(text[at + length..].chars().next())
}

/// The positions of a longest row of units that both rows have in the same order.
fn longest_common(ours: &[Unit<'_>], theirs: &[Unit<'_>]) -> Vec<(usize, usize)> {
    let same = |one: usize, other: usize| is_same(ours[one].text, theirs[other].text);
    common_row(ours.len(), theirs.len(), same)
}

/// Finds the longest common row of any two rows, of so many elements each.
pub(crate) fn common_row(ours: usize, theirs: usize, same: impl Fn(usize, usize) -> bool) -> Vec<(usize, usize)> {
    let shorter = ours.min(theirs);
    let begin = (0..shorter).take_while(|&at| same(at, at)).count();
    let end = (1..=shorter - begin).take_while(|&at| same(ours - at, theirs - at)).count();
    let (rows, columns) = (ours - begin - end, theirs - begin - end);
    let mut pairs: Vec<(usize, usize)> = (0..begin).map(|at| (at, at)).collect();
    if rows.saturating_mul(columns) <= MOST_PAIRS {
        // How long the longest row is from here on.
        let mut lengths = vec![vec![0_u32; columns + 1]; rows + 1];
        for row in (0..rows).rev() {
            for column in (0..columns).rev() {
                lengths[row][column] = if same(begin + row, begin + column) {
                    lengths[row + 1][column + 1] + 1
                } else {
                    lengths[row + 1][column].max(lengths[row][column + 1])
                };
            }
        }
        let (mut row, mut column) = (0, 0);
        while row < rows && column < columns {
            if same(begin + row, begin + column) && lengths[row][column] == lengths[row + 1][column + 1] + 1 {
                pairs.push((begin + row, begin + column));
                (row, column) = (row + 1, column + 1);
            } else if lengths[row + 1][column] >= lengths[row][column + 1] {
                row += 1;
            } else {
                column += 1;
            }
        }
    } else {
        let middle = rows.min(columns);
        pairs.extend((begin..begin + middle).filter(|&at| same(at, at)).map(|at| (at, at)));
    }
    pairs.extend((1..=end).rev().map(|at| (ours - at, theirs - at)));
    pairs
}

/// The words that another text has more than this one, if it has nothing less.
fn inserted<'a>(text: &str, longer: &'a str) -> Option<&'a str> {
    let begin = common_beginning(text, longer);
    let end =
        longer.len().checked_sub(text.len() - begin).filter(|end| *end >= begin && longer.is_char_boundary(*end))?;
    let (more, behind) = (&longer[begin..end], &longer[end..]);
    let stands_apart =
        (begin == 0 || more.starts_with(char::is_whitespace) || longer[..begin].ends_with(char::is_whitespace))
            && (behind.is_empty() || more.ends_with(char::is_whitespace) || behind.starts_with(char::is_whitespace));
    (behind == &text[begin..] && stands_apart && !more.trim().is_empty()).then(|| more.trim())
}

/// How much of two texts is the same at their beginnings and ends, from 0 to 1.
fn likeness(one: &str, other: &str) -> f64 {
    let shorter = one.len().min(other.len());
    let begin = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
    let end = one.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other).count();
    #[allow(clippy::cast_precision_loss, reason = "it is only compared")]
    let ratio = |part: usize| part as f64 / one.len().max(other.len()).max(1) as f64;
    ratio((begin + end).min(shorter))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changes(sent: &[&str], arrived: &[&str]) -> Vec<TextChange> {
        compare(sent, arrived).changes
    }

    #[test]
    fn where_texts_end_does_not_matter() {
        for (sent, arrived) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a", "b"], &["ab"]),
            (&["a", "b"], &["a b"]),
            (&["a", "b"], &["a\n\nb"]),
            (&["a\n\nb"], &["a", "b"]),
            (&["a", "", " \n", "b"], &["a", "b"]),
            (&[" a ", "b\n"], &["a", "b"]),
            (&["ab", "c"], &["a", "bc"]),
            (&["a\u{10d83d}"], &["a\u{fffd}"]),
            (&[], &[""]),
        ] {
            assert_eq!(changes(sent, arrived), [], "{sent:?} {arrived:?}");
        }
    }

    #[test]
    fn each_difference_has_its_kind() {
        let added = |at, text: &str| TextChange::Added(at, text.to_owned());
        let cut = |at, text: &str| TextChange::Cut(at, text.to_owned());
        for (sent, arrived, expected) in [
            (&["Go", "On"][..], &["Go"][..], vec![TextChange::Lost(1)]),
            (&["Go", "On", "Up"], &["Go\nUp"], vec![TextChange::Lost(1)]),
            (&["Go"], &["Go", "Go"], vec![TextChange::Doubled(1)]),
            (&["Go", "On"], &["On", "Go"], vec![TextChange::Moved(0, 1)]),
            (&["Go on"], &["Go  on"], vec![TextChange::Changed(0, 0)]),
            (&["Good"], &["Go"], vec![TextChange::Changed(0, 0)]),
            (&["Go", "Hello world"], &["Go", "Hello"], vec![cut(1, "world")]),
            (&["Go"], &["Please note: I am a proxy.\n\nGo"], vec![added(0, "Please note: I am a proxy.")]),
            (&["Go"], &["Go", "[empty message]"], vec![added(1, "[empty message]")]),
            (&[], &["[empty message]"], vec![added(0, "[empty message]")]),
            (&["I look."], &["I [ping]  look."], vec![added(0, "[ping]")]),
            (&["a & b"], &["a &amp; b"], vec![TextChange::Changed(0, 0)]),
            (&["a b"], &["a  b"], vec![TextChange::Changed(0, 0)]),
            (&["a", "b", "c"], &["a", "B!", "c"], vec![TextChange::Changed(1, 1)]),
        ] {
            assert_eq!(changes(sent, arrived), expected, "{sent:?} {arrived:?}");
        }
    }

    #[test]
    fn long_rows_and_long_texts_are_compared_in_time() {
        let texts: Vec<String> = (0..5000).map(|number| format!("text {number} {}", "x".repeat(40))).collect();
        let sent: Vec<&str> = texts.iter().map(String::as_str).collect();
        let mut arrived = sent.clone();
        arrived.remove(2500);
        assert_eq!(changes(&sent, &arrived), [TextChange::Lost(2500)]);
        let (one, other) = ("y".repeat(1 << 20), "y".repeat((1 << 20) - 1) + "z");
        assert_eq!(changes(&[&one], &[&other]), [TextChange::Changed(0, 0)]);
    }
}
