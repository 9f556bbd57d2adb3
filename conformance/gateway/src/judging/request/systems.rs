//! Where system texts may be: first, where they were, or in the middle as a text of the user in tags.

use super::pieces::is_same;
use super::thread::TextPiece;

/// How long the tags around a system text may be.
const LONGEST_TAG: usize = 64;

/// The texts of the user that arrived without the system texts from the middle that are in them in tags, and the positions of these.
pub(super) fn untagged<'a>(
    humans: &[TextPiece<'a>],
    sent: &[TextPiece<'_>],
    arrived: &[TextPiece<'_>],
) -> (Vec<TextPiece<'a>>, Vec<usize>) {
    let mut pieces = humans.to_vec();
    let mut told = Vec::new();
    for (position, system) in sent.iter().enumerate().filter(|(_, system)| system.is_in_middle) {
        let text = system.text.trim();
        if arrived.iter().any(|known| is_same(text, known.text.trim())) {
            continue;
        }
        let found = pieces.iter().enumerate().find_map(|(at, piece)| Some((at, tagged(piece.text, text)?)));
        if let Some((at, [before, behind])) = found {
            let piece = pieces[at];
            let rest = [before, behind].into_iter().filter(|rest| !rest.trim().is_empty());
            pieces.splice(at..=at, rest.map(|text| TextPiece { text, ..piece }).collect::<Vec<_>>());
            told.push(position);
        }
    }
    (pieces, told)
}

/// Returns the texts before and behind a text in tags; `None` if it is not there in tags.
fn tagged<'a>(whole: &'a str, text: &str) -> Option<[&'a str; 2]> {
    let at = whole.find(text)?;
    let (before, behind) = (&whole[..at], &whole[at + text.len()..]);
    let begin = before.rfind(['<', '['])?;
    let end = behind.find(['>', ']'])? + 1;
    let [opening, closing] = [&before[begin..], &behind[..end]];
    let is_tag = opening.trim_end().ends_with(['>', ']']) && closing.trim_start().starts_with(['<', '[']);
    (is_tag && opening.len() <= LONGEST_TAG && closing.len() <= LONGEST_TAG).then(|| [&before[..begin], &behind[end..]])
}

#[cfg(test)]
mod tests {
    use super::tagged;

    #[test]
    fn a_text_in_tags_is_told_from_one_without() {
        for (whole, expected) in [
            ("<system>Be brief.</system>", Some(["", ""])),
            ("Go\n<system-reminder>\nBe brief.\n</system-reminder>\n\nOn", Some(["Go\n", "\n\nOn"])),
            ("[System]Be brief.[/System]", Some(["", ""])),
            ("Be brief.", None),
            ("System: Be brief.", None),
            ("Go <b>on</b>. Be brief. <i>", None),
        ] {
            assert_eq!(tagged(whole, "Be brief."), expected, "{whole}");
        }
    }
}
