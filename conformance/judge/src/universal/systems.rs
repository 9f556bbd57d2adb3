//! Where system messages may be: where they were given, always first, or always last.

use super::halves::arrived_inside;
use super::message::{Conversation, Placed};
use threadspec::surrogates::{has_marks, is_mark};

/// A way to place system messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    AsGiven,
    First,
    Last,
}

/// The ways that explain where the system messages of a request are.
pub(crate) fn places(given: &Conversation<'_>, request: &Conversation<'_>) -> Vec<Standing> {
    let indexes = |list: &Conversation<'_>| list.systems.iter().map(|placed| placed.index).collect::<Vec<_>>();
    let (given, own) = (indexes(given), indexes(request));
    let count = own.len();
    let mut places = Vec::new();
    // Of joined messages only the first has a place to keep.
    if own == given || count < given.len() && own.first() == given.first() {
        places.push(Standing::AsGiven);
    }
    if own.iter().copied().eq(0..count) {
        places.push(Standing::First);
    }
    if own.iter().copied().eq(request.length - count..request.length) {
        places.push(Standing::Last);
    }
    places
}

/// Returns whether the system messages sent carry the texts of those given, in order; several may be joined into fewer.
pub(crate) fn carry(given: &[Placed<'_>], sent: &[Placed<'_>]) -> bool {
    /// How many bytes may be between two joined texts.
    const SEPARATOR: usize = 8;
    if sent.len() > given.len() || sent.is_empty() != given.is_empty() {
        return false;
    }
    if sent.len() == given.len() {
        let text = |placed: &Placed<'_>| placed.message.text().to_owned();
        return given.iter().zip(sent).all(|(one, other)| super::halves::arrived(&text(one), &text(other)));
    }
    let joined: String = sent.iter().map(|placed| placed.message.text()).collect();
    let length = |list: &[Placed<'_>]| list.iter().map(|placed| placed.message.text().len()).sum::<usize>();
    // A lone surrogate may become several characters.
    let halves: usize = given.iter().map(|placed| placed.message.text().chars().filter(|c| is_mark(*c)).count()).sum();
    let in_order = given.iter().try_fold(0, |from, placed| {
        let text = placed.message.text();
        if has_marks(text) {
            return arrived_inside(text, &joined[from..]).then_some(from);
        }
        joined[from..].find(text).map(|at| from + at + text.len())
    });
    in_order.is_some() && joined.len() <= length(given) + SEPARATOR * (given.len() + 4 * halves)
}
