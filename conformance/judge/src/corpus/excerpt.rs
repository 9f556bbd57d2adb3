//! Excerpts of two long texts around their differences, so that nothing large outlives its case.

use crate::text::{common_beginning, cut};

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
