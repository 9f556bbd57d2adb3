//! GATE-MEDIA: images arrive with their bytes, where they were or in a message of the user right behind the results.

use super::results::ResultPairs;
use super::thread::{ComparedImage, ComparedThread};
use super::{RequestPair, Spot};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;

const CLAUSE: &str = clause::GATE_MEDIA;
/// So many characters of base64 are recognized in a text.
const TELLING: usize = 32;

/// Returns whether an image did not arrive as one.
pub(super) fn judge(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    results: &ResultPairs,
) -> bool {
    let mut free: Vec<&ComparedImage<'_>> = theirs.images.iter().collect();
    let (mut lost, mut is_wrong) = (Vec::new(), false);
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
                    if number < latest {
                        is_wrong = true;
                        let what = format!(
                            "the image of the user ({}) arrives before one that was before it ({})",
                            image.place, other.place
                        );
                        pair.must(CLAUSE, what, spot(image), spot(other));
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
                    pair.must(CLAUSE, what, spot(image), spot(other));
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
            (format!("the image of {of} ({here}) arrives ({}) with other bytes", other.place), spot(other))
        } else {
            (format!("the image of {of} ({here}) does not arrive"), Spot::none())
        };
        pair.must(CLAUSE, what, spot(image), there);
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
        pair.must(CLAUSE, what, Spot::none(), Spot::none());
    }
    for image in free.into_iter().skip(fetched) {
        is_wrong = true;
        let is_known = ours.images.iter().any(|own| is_same_image(own.data, image.data));
        let how = if is_known { "twice" } else { "that nobody sent" };
        pair.must(CLAUSE, format!("an image arrives {how} ({})", image.place), Spot::none(), spot(image));
    }
    is_wrong
}

fn spot<'s>(image: &ComparedImage<'s>) -> Spot<'s> {
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
