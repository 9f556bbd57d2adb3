//! GATE-IDS: ids of calls are kept, or mapped one to one, the same way in every request of a run.

use super::calls::CallPairs;
use super::thread::ComparedThread;
use super::{RequestPair, Spot};
use std::collections::{HashMap, HashSet};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

const CLAUSE: &str = clause::GATE_IDS;
/// A part of an id that is so long tells it from others.
const TELLING: usize = 8;

/// The known changes of the ids of a run so far.
#[derive(Debug, Default)]
pub(crate) struct KnownIds {
    /// The id of the how manieth call that has it, and as what it arrived first.
    arrived_as: HashMap<(String, usize), (String, usize)>,
    /// The id that first arrived as this one.
    made_of: HashMap<String, String>,
}

/// Ids that arrive as one: what is lost or doubled for that reason is no other fault.
#[derive(Debug, Default)]
pub(super) struct EqualIds(HashSet<String>);

impl EqualIds {
    pub(super) fn explains(&self, id: &str) -> bool {
        self.0.contains(id)
    }
}

pub(super) fn judge(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    pairs: &CallPairs,
) -> EqualIds {
    let mut equal = EqualIds::default();
    let number = pair.at.exchange + 1;
    for (one, other) in pairs.of_sent.iter().enumerate() {
        let call = &ours.calls[one];
        let (id, here) = (call.id(), &*call.call.place);
        // Whoever has none may be given any.
        if id.is_empty() {
            continue;
        }
        let Some(other) = other.map(|other| &theirs.calls[other]) else {
            if let Some((known, as_what)) = taken(ours, theirs, pairs, one) {
                let what =
                    format!("the ids `{}` and `{}` arrive as one: only `{as_what}` is there", shown(&known), shown(id));
                pair.must(CLAUSE, what, Spot::new(here, id), Spot::none());
                equal.0.extend([known, id.to_owned()]);
            }
            continue;
        };
        let (as_what, there) = (other.id(), &*other.call.place);
        let spots = (Spot::new(here, id), Spot::new(there, as_what));
        if as_what.is_empty() {
            pair.must(
                CLAUSE,
                format!("the call `{}` ({here}) arrives without an id ({there})", shown(id)),
                spots.0,
                spots.1,
            );
            continue;
        }
        let ids = &mut pair.judging.ids;
        let before = ids
            .arrived_as
            .entry((id.to_owned(), call.occurrence))
            .or_insert_with(|| (as_what.to_owned(), number))
            .clone();
        let made_of = ids.made_of.entry(as_what.to_owned()).or_insert_with(|| id.to_owned()).clone();
        if made_of != id {
            let what = format!("the ids `{}` and `{}` both arrive as `{}`", shown(&made_of), shown(id), shown(as_what));
            pair.must(CLAUSE, what, spots.0, spots.1);
            equal.0.extend([made_of, id.to_owned()]);
        } else if before.0 != as_what {
            let [was, is] = [&before.0, as_what].map(shown);
            let what = format!(
                "the id `{}` arrived as `{was}` in request {}, and arrives as `{is}` here",
                shown(id),
                before.1
            );
            pair.must(CLAUSE, what, spots.0, spots.1);
        }
    }
    equal
}

/// Another id that arrived as this lost one would: it, and as what.
fn taken(
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    pairs: &CallPairs,
    lost: usize,
) -> Option<(String, String)> {
    let id = ours.calls[lost].id();
    pairs.of_sent.iter().enumerate().find_map(|(one, other)| {
        let (known, as_what) = (ours.calls[one].id(), theirs.calls[(*other)?].id());
        let is_alike = as_what == id || as_what == plain(id) || as_what.len() >= TELLING && id.starts_with(as_what);
        (known != id && is_alike).then(|| (known.to_owned(), shown(as_what)))
    })
}

/// An id as many write it that hold odd characters for forbidden.
fn plain(id: &str) -> String {
    id.chars().map(|c| if c.is_ascii_alphanumeric() || matches!(c, '_' | '-') { c } else { '_' }).collect()
}

fn shown(id: &str) -> String {
    without_marks(id).into_owned()
}
