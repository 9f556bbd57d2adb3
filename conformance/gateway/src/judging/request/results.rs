//! Judges GATE-RESULT and GATE-MEDIA: the texts and the images of results.

use super::calls::{CallPairs, EqualIds};
use super::texts::{TextPairs, start};
use super::{ComparedImage, ComparedResult, ComparedThread, RequestPair, Spot};
use crate::finding;
use crate::finding::{differing, quoted};
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec::surrogates::{has_marks, without_marks};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;
use threadspec_judge::universal::halves::arrived;
use threadspec_judge::universal::value;
use threadspec_provider::WireLevel;

const RESULT: &str = clause::GATE_RESULT;
/// How long a prefix may be that tells a failure.
const LONGEST_PREFIX: usize = 48;
/// The separators that may be between joined parts of a text.
const BETWEEN: &[&str] = &["", "\n", " "];

/// The pairs of results, by their positions on both sides, and the results that are nowhere.
#[derive(Debug, Default)]
pub(super) struct ResultPairs {
    pub(super) same: Vec<(usize, usize)>,
    /// Results that were sent and did not arrive as one, though their calls did.
    pub(super) lost: Vec<usize>,
}

pub(super) fn judge_results(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
    equal: &EqualIds,
) -> ResultPairs {
    let mut free: Vec<usize> = (0..theirs.results.len()).collect();
    let (mut pairs, mut left) = (ResultPairs::default(), Vec::new());
    for (one, result) in ours.results.iter().enumerate() {
        let target = result.call.and_then(|call| calls.of_sent[call]);
        let fits = |&other: &usize| {
            let other = &theirs.results[other];
            if result.call.is_none() { other.id() == result.id() } else { target.is_some() && other.call == target }
        };
        match free.iter().position(fits) {
            Some(found) => pairs.same.push((one, free.remove(found))),
            None => left.push(one),
        }
    }
    // With another id, or with none that is known.
    let mut strangers = Vec::new();
    left.retain(|&one| {
        let found = free.iter().position(|&other| is_verbatim(&ours.results[one], &theirs.results[other]));
        strangers.extend(found.map(|found| (one, free.remove(found))));
        found.is_none()
    });
    if left.len() == free.len() {
        strangers.extend(left.drain(..).zip(free.drain(..)));
    }
    for &(one, other) in &strangers {
        let result = &ours.results[one];
        let is_known = result.call.is_some_and(|call| calls.of_sent[call].is_some());
        if !ours.is_broken && is_known && !equal.explains(result.id()) {
            elsewhere(pair, result, &theirs.results[other]);
        }
    }
    pairs.same.extend(strangers);
    for one in left {
        let result = &ours.results[one];
        let is_known = result.call.is_some_and(|call| calls.of_sent[call].is_some());
        if !ours.is_broken && is_known && !equal.explains(result.id()) {
            pairs.lost.push(one);
        }
    }
    if !ours.is_broken {
        for other in free {
            new(pair, ours, &theirs.results[other], equal);
        }
    }
    compare_all(pair, ours, theirs, &pairs);
    pairs
}

fn compare_all(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    pairs: &ResultPairs,
) {
    let mut is_told = false;
    for &(one, other) in &pairs.same {
        let (sent, arrived) = (&ours.results[one], &theirs.results[other]);
        if is_verbatim(sent, arrived) || is_told_as_failure(pair.api, sent, arrived) {
            compare_form(pair, sent, arrived);
            continue;
        }
        // Another result's text: they were exchanged.
        let is_other = |(at, known): (usize, &ComparedResult<'_>)| {
            at != one && known.group == sent.group && is_verbatim(known, arrived)
        };
        let owner = ours.results.iter().enumerate().find(|known| is_other(*known)).map(|(_, known)| known);
        match owner.filter(|owner| !owner.answer.content.is_empty()) {
            Some(owner) if !is_told => {
                is_told = true;
                let [id, other] = [sent.id(), owner.id()].map(|id| without_marks(id).into_owned());
                let what = format!(
                    "the result of the call `{id}` ({}) arrives with the text of that of `{other}`",
                    sent.answer.place
                );
                let spots = (spot(sent), spot(arrived));
                pair.must(clause::GATE_IDS, what, spots.0, spots.1);
            }
            Some(_) => {}
            None => {
                let level = if is_label(ours, theirs, one, arrived) { WireLevel::Note } else { WireLevel::Must };
                changed(pair, level, sent, arrived);
            }
        }
    }
}

/// Returns whether what arrives in a result represents images, since the result was nothing else and they could not stay in it. JSON is
/// what became of its parts.
fn is_label(ours: &ComparedThread<'_>, theirs: &ComparedThread<'_>, one: usize, arrived: &ComparedResult<'_>) -> bool {
    let is_behind = |image: &ComparedImage<'_>| {
        theirs.images.iter().any(|other| other.result.is_none() && is_same_image(image.data, other.data))
    };
    let mut images = ours.images.iter().filter(|image| image.result == Some(one)).peekable();
    let has_text = ours.results[one].texts().iter().any(|text| !text.is_empty());
    let is_json = value::read(&arrived.texts().concat()).is_ok();
    !has_text && !is_json && images.peek().is_some() && images.all(is_behind)
}

fn spot<'s>(result: &ComparedResult<'s>) -> Spot<'s> {
    Spot::new(&result.answer.place, "")
}

fn changed(pair: &mut RequestPair<'_, '_>, level: WireLevel, sent: &ComparedResult<'_>, arrived: &ComparedResult<'_>) {
    let id = without_marks(sent.id()).into_owned();
    let (one, other) = (sent.texts().concat(), arrived.texts().concat());
    let [was, is] = differing(&without_marks(&one), &without_marks(&other));
    let what = format!(
        "the result of the call `{id}` ({}) was {was}, and arrives ({}) as {is}",
        sent.answer.place, arrived.answer.place
    );
    let (here, there) = (Spot::new(&sent.answer.place, start(&one)), Spot::new(&arrived.answer.place, start(&other)));
    pair.add(RESULT, level, what, here, there);
}

/// Compares the form of a result whose text is right.
fn compare_form(pair: &mut RequestPair<'_, '_>, sent: &ComparedResult<'_>, arrived: &ComparedResult<'_>) {
    let id = without_marks(sent.id()).into_owned();
    let there = &*arrived.answer.place;
    let content = if pair.api == Api::OpenAiResponses { "output" } else { "content" };
    let is_null =
        |body: &Value, place: &str, name: &str| finding::at(body, place).is_some_and(|value| value[name].is_null());
    let sent_content = if pair.sent.request.api == Api::OpenAiResponses { "output" } else { "content" };
    // For Anthropic no content is an empty text.
    let becomes_null = pair.api != Api::Anthropic
        && is_null(pair.body, there, content)
        && !(pair.sent.request.api == pair.api && is_null(pair.sent.body(), &sent.answer.place, sent_content));
    if becomes_null {
        let what =
            format!("the result of the call `{id}` ({}) is empty, and arrives ({there}) as null", sent.answer.place);
        pair.must(RESULT, what, spot(sent), spot(arrived));
    }
    if pair.api == Api::Anthropic && arrived.answer.is_error && !sent.answer.is_error {
        let what = format!(
            "the result of the call `{id}` ({}) arrives ({there}) as one of a call that failed",
            sent.answer.place
        );
        pair.must(RESULT, what, spot(sent), spot(arrived));
    }
    if pair.api == Api::Anthropic && sent.answer.is_error && !arrived.answer.is_error {
        let what = format!(
            "the result of the call `{id}` ({}) says that it failed, and arrives ({there}) without `is_error`",
            sent.answer.place
        );
        pair.must(RESULT, what, spot(sent), spot(arrived));
    }
}

/// Returns whether a text is that of the other, parts joined or apart.
fn is_verbatim(sent: &ComparedResult<'_>, arrived: &ComparedResult<'_>) -> bool {
    is_joined(&sent.texts(), &arrived.texts().concat())
}

fn is_joined(parts: &[&str], text: &str) -> bool {
    if parts.iter().any(|part| has_marks(part)) {
        return BETWEEN.iter().any(|between| arrived(&parts.join(between), text));
    }
    let Some((first, rest)) = parts.split_first() else { return text.is_empty() };
    let Some(behind) = text.strip_prefix(first) else { return false };
    if rest.is_empty() {
        return behind.is_empty();
    }
    // Nearly always one of them leads on at once.
    BETWEEN.iter().any(|between| behind.strip_prefix(between).is_some_and(|behind| is_joined(rest, behind)))
}

/// Returns whether a text says before it that the call failed, where the API has no member for it.
fn is_told_as_failure(api: Api, sent: &ComparedResult<'_>, arrived: &ComparedResult<'_>) -> bool {
    let (text, whole) = (sent.texts().concat(), arrived.texts().concat());
    sent.answer.is_error
        && api != Api::Anthropic
        && whole.strip_suffix(text.as_str()).is_some_and(|prefix| prefix.chars().count() <= LONGEST_PREFIX)
}

fn elsewhere(pair: &mut RequestPair<'_, '_>, sent: &ComparedResult<'_>, arrived: &ComparedResult<'_>) {
    let [id, other] = [sent.id(), arrived.id()].map(|id| without_marks(id).into_owned());
    let what = format!(
        "the result of the call `{id}` ({}) arrives ({}) with the id `{other}`, which is not that of its call",
        sent.answer.place, arrived.answer.place
    );
    pair.must(
        clause::GATE_IDS,
        what,
        Spot::new(&sent.answer.place, sent.id()),
        Spot::new(&arrived.answer.place, arrived.id()),
    );
}

fn new(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, arrived: &ComparedResult<'_>, equal: &EqualIds) {
    let id = without_marks(arrived.id()).into_owned();
    let there = &arrived.answer.place;
    let known = ours.results.iter().find(|known| is_verbatim(known, arrived));
    match known {
        Some(known) if equal.explains(known.id()) => {}
        Some(known) => {
            let what = format!(
                "the result of the call `{}` ({}) arrives twice, again at {there}",
                without_marks(known.id()),
                known.answer.place
            );
            pair.must(clause::GATE_MESSAGES, what, spot(known), spot(arrived));
        }
        None => {
            let what = format!(
                "a result {} of the call `{id}` arrives ({there}) that nobody sent",
                quoted(&arrived.answer.content)
            );
            pair.must(clause::GATE_INVENTED, what, Spot::none(), spot(arrived));
        }
    }
}

// GATE-MEDIA: images arrive with their bytes, where they were or in a message of the user right behind the results.

const MEDIA: &str = clause::GATE_MEDIA;
/// So many characters of base64 are recognized in a text.
const TELLING: usize = 32;

/// The images of the user on both sides.
#[derive(Debug, Default)]
pub(super) struct ImagePairs<'s> {
    of_user: Vec<(ComparedImage<'s>, ComparedImage<'s>)>,
    /// True if an image did not arrive as one, or not where it was.
    pub(super) is_wrong: bool,
}

/// Judges whether each image arrives as one. Returns those of the user on both sides.
pub(super) fn judge_media<'s>(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'s>,
    theirs: &ComparedThread<'s>,
    results: &ResultPairs,
) -> ImagePairs<'s> {
    let mut free: Vec<&ComparedImage<'_>> = theirs.images.iter().collect();
    let (mut lost, mut of_user, mut is_wrong) = (Vec::new(), Vec::new(), false);
    // The last one of the user so far, among those that arrived.
    let mut latest = 0;
    for image in &ours.images {
        let fits = |other: &&ComparedImage<'_>| is_same_image(image.data, other.data);
        let at_home = free.iter().position(|other| fits(other) && is_at_home(pair, image, other, theirs, results));
        match at_home.or_else(|| free.iter().position(fits)) {
            Some(found) => {
                let other = free.remove(found);
                let number = theirs.images.iter().position(|known| std::ptr::eq(known, other)).unwrap_or_default();
                if image.result.is_none() && at_home.is_some() && !ours.is_broken {
                    of_user.push((*image, *other));
                    if number < latest {
                        is_wrong = true;
                        let what = format!(
                            "the image of the user ({}) arrives before one that was before it ({})",
                            image.place, other.place
                        );
                        pair.must(MEDIA, what, spot_of_image(image), spot_of_image(other));
                    }
                    latest = latest.max(number);
                }
                if at_home.is_none() && !ours.is_broken {
                    is_wrong = true;
                    let what = format!(
                        "the image of {} ({}) arrives in another place ({})",
                        home(ours, image),
                        image.place,
                        other.place
                    );
                    pair.must(MEDIA, what, spot_of_image(image), spot_of_image(other));
                }
            }
            None => lost.push(image),
        }
    }
    let mut links = theirs.others.saturating_sub(ours.others);
    for image in lost {
        is_wrong = true;
        let (of, here) = (home(ours, image), image.place);
        let begin: String = squeezed(image.data).take(TELLING).collect();
        let as_text = pair.arrived.messages.iter().find(|message| begin.len() >= 8 && message.content.contains(&begin));
        let (what, there) = if let Some(message) = as_text {
            (format!("the image of {of} ({here}) arrives ({}) as text", message.place), Spot::new(&message.place, ""))
        } else if links > 0 {
            links -= 1;
            (format!("the image of {of} ({here}) arrives as a link or another object"), Spot::none())
        } else if let Some(other) = free.first().copied() {
            free.remove(0);
            (format!("the image of {of} ({here}) arrives ({}) with other bytes", other.place), spot_of_image(other))
        } else {
            (format!("the image of {of} ({here}) does not arrive"), Spot::none())
        };
        pair.must(MEDIA, what, spot_of_image(image), there);
    }
    // What was only a link may have been fetched.
    let fetched = ours.others.saturating_sub(theirs.others).min(free.len());
    if theirs.others + fetched < ours.others {
        is_wrong = true;
        let what = format!(
            "{} images or files that the request only names were sent, and {} arrive",
            ours.others,
            theirs.others + fetched
        );
        pair.must(MEDIA, what, Spot::none(), Spot::none());
    }
    for image in free.into_iter().skip(fetched) {
        is_wrong = true;
        let is_known = ours.images.iter().any(|own| is_same_image(own.data, image.data));
        let how = if is_known { "twice" } else { "that nobody sent" };
        pair.must(MEDIA, format!("an image arrives {how} ({})", image.place), Spot::none(), spot_of_image(image));
    }
    ImagePairs { of_user, is_wrong }
}

/// Judges whether an image of the user is still between the same words, calls and results of others. Beside the user's own texts it may be
/// before or behind them.
pub(super) fn judge_places(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
    results: &ResultPairs,
    texts: &TextPairs,
    images: &ImagePairs<'_>,
) -> bool {
    let of_calls = calls.arrived().map(|(one, other)| (ours.calls[one].message, theirs.calls[other].message));
    let of_results =
        results.same.iter().map(|&(one, other)| (ours.results[one].message, theirs.results[other].message));
    let is_said = |(one, _): &(usize, usize)| pair.sent.request.messages[*one].speaker == Speaker::Ai;
    let others: Vec<(usize, usize)> =
        of_calls.chain(of_results).chain(texts.0.iter().copied().filter(is_said)).collect();
    let moved = images
        .of_user
        .iter()
        .find(|(image, arrived)| others.iter().any(|&(one, other)| (one < image.message) != (other < arrived.message)));
    let Some((image, arrived)) = moved else { return false };
    let what = format!("the image of the user ({}) arrives in another place ({})", image.place, arrived.place);
    pair.must(MEDIA, what, spot_of_image(image), spot_of_image(arrived));
    true
}

fn spot_of_image<'s>(image: &ComparedImage<'s>) -> Spot<'s> {
    Spot::new(image.place, "")
}

/// Whose image it is.
fn home(ours: &ComparedThread<'_>, image: &ComparedImage<'_>) -> String {
    match image.result {
        Some(result) => format!("the result of the call `{}`", without_marks(ours.results[result].id())),
        None => "the user".to_owned(),
    }
}

/// Returns whether an image is where it was, or behind the results of its group.
fn is_at_home(
    pair: &RequestPair<'_, '_>,
    image: &ComparedImage<'_>,
    other: &ComparedImage<'_>,
    theirs: &ComparedThread<'_>,
    results: &ResultPairs,
) -> bool {
    let Some(result) = image.result else { return other.result.is_none() };
    // Whose result is elsewhere has another fault.
    let Some(own) = results.same.iter().find(|(one, _)| *one == result).map(|(_, own)| *own) else { return true };
    if let Some(in_result) = other.result {
        return in_result == own;
    }
    let messages = &pair.arrived.messages;
    let before = messages[..other.message].iter().rposition(|message| message.speaker != Speaker::Human);
    before.is_some_and(|last| {
        messages[last].speaker == Speaker::Tool
            && theirs.results.iter().any(|known| known.message == last && known.group == theirs.results[own].group)
    })
}

/// Returns whether two texts in base64 have the same bytes.
pub(super) fn is_same_image(one: &str, other: &str) -> bool {
    one == other || squeezed(one).eq(squeezed(other))
}

/// Base64 without line ends and without its end.
fn squeezed(data: &str) -> impl Iterator<Item = char> {
    data.chars().filter(|c| !c.is_whitespace() && *c != '=')
}

#[cfg(test)]
mod tests {
    use super::is_joined;

    #[test]
    fn parts_are_joined_with_nothing_a_space_or_a_line_end() {
        for (parts, text, expected) in [
            (&["a", "b"][..], "ab", true),
            (&["a", "b"], "a b", true),
            (&["a", "b"], "a\nb", true),
            (&["a", "b"], "a, b", false),
            (&["a", "b"], "[\"a\",\"b\"]", false),
            (&["a\n", "\nb"], "a\n\nb", true),
            (&[""], "", true),
            (&[], "", true),
            (&["2.50"], "2.5", false),
            (&["a "], "a", false),
            (&["a\u{10d83d}", "b"], "a\u{fffd}\nb", true),
        ] {
            assert_eq!(is_joined(parts, text), expected, "{parts:?} {text:?}");
        }
    }
}
