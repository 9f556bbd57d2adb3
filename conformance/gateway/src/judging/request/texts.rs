//! Judges GATE-TEXT, GATE-INVENTED, GATE-MESSAGES and GATE-OPAQUE: texts, and what only the provider reads, arrive as they were sent.

use super::pieces::{TextChange, compare, is_same};
use super::results::ResultPairs;
use super::{ComparedThread, RequestPair, Spot, TextPiece};
use crate::finding::{differing, quoted};
use threadspec::oracle::Api;
use threadspec::surrogates::without_marks;
use threadspec_apis::{OpaqueContent, OpaquePart};
use threadspec_golden::clause;
use threadspec_provider::WireLevel;

/// The pairs of texts, by the positions of their messages.
#[derive(Debug, Default)]
pub(super) struct TextPairs(pub(super) Vec<(usize, usize)>);

/// The texts of one who speaks, on both sides, and what became of them.
struct TextRow<'s> {
    who: &'static str,
    sent: Vec<TextPiece<'s>>,
    arrived: Vec<TextPiece<'s>>,
    changes: Vec<TextChange>,
}

impl<'s> TextRow<'s> {
    fn of(who: &'static str, sent: Vec<TextPiece<'s>>, arrived: Vec<TextPiece<'s>>) -> (Self, TextPairs) {
        let texts = |pieces: &[TextPiece<'s>]| pieces.iter().map(|piece| piece.text).collect::<Vec<&str>>();
        let compared = compare(&texts(&sent), &texts(&arrived));
        let same = compared.same.iter().map(|&(one, other)| (sent[one].message, arrived[other].message)).collect();
        (Self { who, sent, arrived, changes: compared.changes }, TextPairs(same))
    }

    /// Takes out a text of which nobody knows where it comes from, if it is this one.
    fn take_added(&mut self, text: &str) -> Option<TextPiece<'s>> {
        let text = text.trim();
        let is_it = |change: &TextChange| match change {
            TextChange::Added(_, added) => is_same(text, added.trim()) || added.contains(text),
            _ => false,
        };
        let found = self.changes.iter().position(is_it)?;
        match self.changes.remove(found) {
            TextChange::Added(at, _) => self.arrived.get(at).copied(),
            _ => None,
        }
    }
}

pub(super) fn judge_texts(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    results: &ResultPairs,
) -> TextPairs {
    let (said_by_user, told) = untagged(&theirs.humans, &ours.systems, &theirs.systems);
    let systems = ours.systems.iter().enumerate().filter(|(at, _)| !told.contains(at)).map(|(_, piece)| *piece);
    // System texts may be anywhere.
    let (system, _) = TextRow::of("system", systems.collect(), theirs.systems.clone());
    let (human, mut pairs) = TextRow::of("user", ours.humans.clone(), said_by_user);
    let (ai, more) = TextRow::of("model", ours.ais.clone(), theirs.ais.clone());
    pairs.0.extend(more.0);
    let mut rows = [system, human, ai];
    others_mouths(pair, &mut rows);
    lost_results(pair, ours, results, &mut rows);
    for row in &rows {
        for change in &row.changes {
            judge_change(pair, row, change, ours, theirs);
        }
    }
    pairs
}

/// Texts that somebody else says now.
fn others_mouths(pair: &mut RequestPair<'_, '_>, rows: &mut [TextRow<'_>; 3]) {
    for from in 0..rows.len() {
        let mut position = 0;
        while let Some(change) = rows[from].changes.get(position) {
            position += 1;
            let &TextChange::Lost(at) = change else { continue };
            let piece = rows[from].sent[at];
            let (others, was) = ((0..rows.len()).filter(|other| *other != from), rows[from].who);
            let found =
                others.into_iter().find_map(|other| Some((rows[other].take_added(piece.text)?, rows[other].who)));
            let Some((arrived, is)) = found else { continue };
            position -= 1;
            rows[from].changes.remove(position);
            let what = format!(
                "the text {} of the {was} ({}) arrives ({}) as one of the {is}",
                quoted(piece.text),
                piece.place,
                arrived.place
            );
            let spots = (Spot::new(piece.place, start(piece.text)), Spot::new(arrived.place, start(piece.text)));
            pair.must(clause::GATE_MESSAGES, what, spots.0, spots.1);
        }
    }
}

fn lost_results(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    results: &ResultPairs,
    rows: &mut [TextRow<'_>; 3],
) {
    for &one in &results.lost {
        let result = &ours.results[one];
        let (id, here) = (without_marks(result.id()), &*result.answer.place);
        let text = result.texts().concat();
        let found = (!text.trim().is_empty())
            .then(|| rows.iter_mut().find_map(|row| Some((row.take_added(&text)?, row.who))))
            .flatten();
        let text = quoted(&text);
        let (what, spot) = match found {
            Some((piece, who)) => {
                let what = format!(
                    "the result {text} of the call `{id}` ({here}) arrives ({}) as a text of the {who}",
                    piece.place
                );
                (what, Spot::new(piece.place, ""))
            }
            None => (format!("the result {text} of the call `{id}` ({here}) does not arrive"), Spot::none()),
        };
        pair.must(clause::GATE_MESSAGES, what, Spot::new(here, ""), spot);
    }
}

fn judge_change(
    pair: &mut RequestPair<'_, '_>,
    row: &TextRow<'_>,
    change: &TextChange,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
) {
    let who = row.who;
    let sent = |at: usize| (row.sent[at], Spot::new(row.sent[at].place, start(row.sent[at].text)));
    let arrived = |at: usize| (row.arrived[at], Spot::new(row.arrived[at].place, start(row.arrived[at].text)));
    match change {
        &TextChange::Lost(at) => {
            let (piece, spot) = sent(at);
            let what = format!("the text {} of the {who} ({}) does not arrive", quoted(piece.text), piece.place);
            pair.must(clause::GATE_MESSAGES, what, spot, Spot::none());
        }
        TextChange::Cut(at, part) => {
            let (piece, spot) = sent(*at);
            let what = format!("of the text of the {who} ({}) the part {} does not arrive", piece.place, quoted(part));
            pair.must(clause::GATE_TEXT, what, Spot { text: start(part), ..spot }, Spot::none());
        }
        &TextChange::Changed(one, other) => {
            let ((one, here), (other, there)) = (sent(one), arrived(other));
            let [was, is] = differing(&without_marks(one.text), &without_marks(other.text));
            let what =
                format!("the text of the {who} ({}) was {was}, and arrives ({}) as {is}", one.place, other.place);
            pair.must(clause::GATE_TEXT, what, here, there);
        }
        // System texts are joined, and are where the API takes them.
        TextChange::Moved(..) if who == "system" => {}
        &TextChange::Moved(one, other) => {
            let ((one, here), (other, there)) = (sent(one), arrived(other));
            let what = format!(
                "the text {} of the {who} ({}) arrives in another place ({})",
                quoted(one.text),
                one.place,
                other.place
            );
            pair.must(clause::GATE_MESSAGES, what, here, there);
        }
        &TextChange::Doubled(at) => {
            let (piece, there) = arrived(at);
            let what = format!("the text {} of the {who} arrives twice, again at {}", quoted(piece.text), piece.place);
            pair.must(clause::GATE_MESSAGES, what, Spot::none(), there);
        }
        TextChange::Added(at, text) => {
            let (piece, there) = arrived(*at);
            let what = format!("the text {} of the {who} arrives ({}) that nobody sent", quoted(text), piece.place);
            let level = level_of(ours, theirs, who, text, piece.message);
            pair.add(clause::GATE_INVENTED, level, what, Spot::none(), Spot { text: start(text), ..there });
        }
    }
}

/// Decides the level of a finding: a text that is carried in another form is only reported.
fn level_of(
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    who: &str,
    text: &str,
    message: usize,
) -> WireLevel {
    let is_thought = || {
        ours.opaque.iter().any(|part| match &part.content {
            OpaqueContent::Thinking { text: thought, .. } | OpaqueContent::Text(thought) => says(text, thought),
            OpaqueContent::Reasoning { summary, .. } => says(text, summary),
            OpaqueContent::Redacted { .. } => false,
        })
    };
    // Beside an image that could not stay in its result.
    let names_image = || {
        let is_here = |image: &&super::ComparedImage<'_>| image.message == message && image.result.is_none();
        theirs.images.iter().filter(is_here).any(|image| {
            ours.images.iter().any(|own| {
                own.result.is_some() && crate::judging::request::results::is_same_image(own.data, image.data)
            })
        })
    };
    let is_told = who == "model" && is_thought() || who == "user" && names_image();
    if is_told { WireLevel::Note } else { WireLevel::Must }
}

fn says(text: &str, thought: &str) -> bool {
    !thought.trim().is_empty() && text.contains(thought.trim())
}

/// The first characters of a text, by which it is found in a body.
pub(super) fn start(text: &str) -> &str {
    const LENGTH: usize = 24;
    &text[..text.char_indices().nth(LENGTH).map_or(text.len(), |(at, _)| at)]
}

// Where system texts may be: first, where they were, or in the middle as a text of the user in tags.

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

// GATE-OPAQUE on the way to the provider: what only the provider reads arrives unchanged, and thinking never without its signature.

const CLAUSE: &str = clause::GATE_OPAQUE;

pub(super) fn judge_opaque(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, theirs: &ComparedThread<'_>) {
    if pair.sent.request.api == pair.api {
        same_api(pair, ours, theirs);
        return;
    }
    for part in &theirs.opaque {
        let OpaqueContent::Thinking { text, signature } = &part.content else { continue };
        if pair.api == Api::Anthropic && signature.as_deref().unwrap_or_default().is_empty() {
            let what = format!("the thought {} arrives ({}) without a signature", quoted(text), part.place);
            pair.must(CLAUSE, what, Spot::none(), Spot::new(&part.place, ""));
        }
    }
}

fn same_api(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, theirs: &ComparedThread<'_>) {
    let mut next = 0;
    for part in &ours.opaque {
        let found = theirs.opaque[next..].iter().position(|other| is_kept(&part.content, &other.content));
        if let Some(found) = found {
            for other in &theirs.opaque[next..next + found] {
                made_up(pair, other);
            }
            next += found + 1;
            continue;
        }
        let changed =
            theirs.opaque.get(next).filter(|other| is_of_kind(&part.content, &other.content) && !is_later(ours, other));
        let (what, there) = match changed {
            Some(other) => {
                next += 1;
                (
                    format!("{} ({}) arrives changed ({})", named(&part.content), part.place, other.place),
                    Spot::new(&other.place, ""),
                )
            }
            None => (format!("{} ({}) does not arrive", named(&part.content), part.place), Spot::none()),
        };
        pair.must(CLAUSE, what, Spot::new(&part.place, ""), there);
    }
    for other in &theirs.opaque[next.min(theirs.opaque.len())..] {
        made_up(pair, other);
    }
}

fn made_up(pair: &mut RequestPair<'_, '_>, other: &OpaquePart) {
    let what = format!("{} arrives ({}) that was not sent there", named(&other.content), other.place);
    pair.must(CLAUSE, what, Spot::none(), Spot::new(&other.place, ""));
}

/// Returns whether a part is one of those that were sent.
fn is_later(ours: &ComparedThread<'_>, other: &OpaquePart) -> bool {
    ours.opaque.iter().any(|part| is_kept(&part.content, &other.content))
}

fn is_kept(one: &OpaqueContent, other: &OpaqueContent) -> bool {
    match (one, other) {
        // An item may come without its id.
        (
            OpaqueContent::Reasoning { id, summary, encrypted },
            OpaqueContent::Reasoning { id: other_id, summary: other_summary, encrypted: other_encrypted },
        ) => encrypted == other_encrypted && summary == other_summary && (other_id.is_none() || id == other_id),
        (one, other) => one == other,
    }
}

fn is_of_kind(one: &OpaqueContent, other: &OpaqueContent) -> bool {
    std::mem::discriminant(one) == std::mem::discriminant(other)
}

fn named(content: &OpaqueContent) -> String {
    match content {
        OpaqueContent::Thinking { text, .. } => format!("the thought {} with its signature", quoted(text)),
        OpaqueContent::Redacted { data } => format!("the redacted thought {}", quoted(data)),
        OpaqueContent::Reasoning { encrypted, summary, .. } => {
            format!("the reasoning {}", quoted(encrypted.as_deref().unwrap_or(summary)))
        }
        OpaqueContent::Text(text) => format!("the thought {}", quoted(text)),
    }
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
