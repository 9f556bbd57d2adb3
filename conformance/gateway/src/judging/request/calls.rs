//! Judges GATE-CALLS and GATE-IDS: each call of the history with its name and arguments, and with an id that is kept or mapped one to one.

use super::pieces::{common_row, is_same};
use super::tools::KnownNames;
use super::{ComparedCall, ComparedThread, RequestPair, Spot};
use crate::finding::{differing_json, json};
use std::collections::{HashMap, HashSet};
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;
use threadspec_judge::universal::value;

/// The pairs of calls, by their positions on both sides.
#[derive(Debug, Default)]
pub(super) struct CallPairs {
    pub(super) of_sent: Vec<Option<usize>>,
    pub(super) of_arrived: Vec<Option<usize>>,
}

impl CallPairs {
    /// Returns the positions of each call that arrived, on both sides.
    pub(super) fn arrived(&self) -> impl Iterator<Item = (usize, usize)> {
        self.of_sent.iter().enumerate().filter_map(|(one, other)| Some((one, (*other)?)))
    }

    fn put(&mut self, pairs: impl IntoIterator<Item = (usize, usize)>) {
        for (one, other) in pairs {
            self.of_sent[one] = Some(other);
            self.of_arrived[other] = Some(one);
        }
    }

    /// The positions of those without a partner.
    fn left(&self) -> [Vec<usize>; 2] {
        [&self.of_sent, &self.of_arrived].map(|side| (0..side.len()).filter(|&at| side[at].is_none()).collect())
    }
}

/// Finds the pairs: what says the same first, then what has the same id, then what is in the same place.
pub(super) fn pair(sent: &[ComparedCall<'_>], arrived: &[ComparedCall<'_>], names: &KnownNames) -> CallPairs {
    let mut pairs = CallPairs { of_sent: vec![None; sent.len()], of_arrived: vec![None; arrived.len()] };
    let says_same = |one: usize, other: usize| {
        let (one, other) = (sent[one].call, arrived[other].call);
        names.is_same(&one.name, &other.name) && value::equal(&one.args, &other.args, false)
    };
    let of_id: HashMap<(&str, usize), usize> =
        arrived.iter().enumerate().map(|(at, call)| ((call.id(), call.occurrence), at)).collect();
    let same_id = |one: usize| of_id.get(&(sent[one].id(), sent[one].occurrence)).copied();
    let kept: Vec<(usize, usize)> = (0..sent.len())
        .filter_map(|one| Some((one, same_id(one)?)))
        .filter(|&(one, other)| says_same(one, other))
        .collect();
    pairs.put(kept);
    let [ours, theirs] = pairs.left();
    let row = common_row(ours.len(), theirs.len(), |one, other| says_same(ours[one], theirs[other]));
    pairs.put(row.into_iter().map(|(one, other)| (ours[one], theirs[other])));
    let [ours, theirs] = pairs.left();
    let free: HashSet<usize> = theirs.into_iter().collect();
    let changed = ours.into_iter().filter_map(|one| Some((one, same_id(one).filter(|other| free.contains(other))?)));
    pairs.put(changed.collect::<Vec<_>>());
    let [ours, theirs] = pairs.left();
    // Says the same, in another place.
    let mut free: Vec<usize> = theirs;
    for one in ours {
        if let Some(found) = free.iter().position(|&other| says_same(one, other)) {
            pairs.put([(one, free.remove(found))]);
        }
    }
    let [ours, theirs] = pairs.left();
    if ours.len() == theirs.len() {
        pairs.put(ours.into_iter().zip(theirs));
    }
    pairs
}

pub(super) fn judge_calls(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    pairs: &CallPairs,
    equal: &EqualIds,
) {
    for (one, other) in pairs.of_sent.iter().enumerate() {
        match other {
            Some(other) => compare(pair, &ours.calls[one], &theirs.calls[*other]),
            None if ours.is_broken || equal.explains(ours.calls[one].id()) => {}
            None => lost(pair, ours, theirs, one, pairs),
        }
    }
    for (other, _) in pairs.of_arrived.iter().enumerate().filter(|(_, one)| one.is_none()) {
        new(pair, ours, &theirs.calls[other], equal);
    }
}

fn compare(pair: &mut RequestPair<'_, '_>, one: &ComparedCall<'_>, other: &ComparedCall<'_>) {
    let (sent, arrived) = (one.call, other.call);
    let id = without_marks(&sent.id).into_owned();
    let (here, there) = (&*sent.place, &*arrived.place);
    if !pair.judging.names.is_same(&sent.name, &arrived.name) {
        let [was, is] = [&sent.name, &arrived.name].map(|name| without_marks(name).into_owned());
        let what = format!("the call `{id}` ({here}) calls `{was}`, and arrives ({there}) with the name `{is}`");
        return pair.must(clause::GATE_CALLS, what, Spot::new(here, &sent.name), Spot::new(there, &arrived.name));
    }
    // What is no object may be refused, repaired or sent on.
    if !sent.args.is_object() {
        return;
    }
    let is_equal = |exact| value::equal(&sent.args, &arrived.args, exact);
    let [was, is] = differing_json(&sent.args, &arrived.args);
    let what = format!("the arguments of the call `{id}` ({here}) were {was}, and arrive ({there}) as {is}");
    let spots = (Spot::new(here, ""), Spot::new(there, ""));
    if !is_equal(false) {
        pair.must(clause::GATE_CALLS, what, spots.0, spots.1);
    } else if !is_equal(true) {
        pair.should(clause::GATE_CALLS_EXACT, what, spots.0, spots.1);
    }
}

fn lost(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    one: usize,
    pairs: &CallPairs,
) {
    let call = &ours.calls[one];
    let of_message = |at: &usize| ours.calls[*at].message == call.message;
    let mut siblings = (0..ours.calls.len()).filter(of_message);
    let is_first = siblings.clone().next() == Some(one);
    let all_lost = siblings.all(|at| pairs.of_sent[at].is_none());
    let has_arrived = |text: &str| theirs.ais.iter().any(|other| is_same(text.trim(), other.text.trim()));
    let has_text = ours.ais.iter().any(|piece| piece.message == call.message && has_arrived(piece.text));
    let (here, id) = (&*call.call.place, without_marks(call.id()));
    let args = json(&call.call.args);
    if all_lost && !has_text {
        if is_first {
            let what = format!("the message of the model with the call `{id}` ({here}) does not arrive");
            pair.must(clause::GATE_MESSAGES, what, Spot::new(here, ""), Spot::none());
        }
        return;
    }
    let what = format!("the call `{id}` of `{}` with {args} ({here}) does not arrive", call.call.name);
    pair.must(clause::GATE_CALLS, what, Spot::new(here, ""), Spot::none());
}

fn new(pair: &mut RequestPair<'_, '_>, ours: &ComparedThread<'_>, call: &ComparedCall<'_>, equal: &EqualIds) {
    let (there, id) = (&*call.call.place, without_marks(call.id()));
    let same = |known: &&ComparedCall<'_>| {
        known.call.name == call.call.name && value::equal(&known.call.args, &call.call.args, false)
    };
    let spot = Spot::new(there, "");
    match ours.calls.iter().find(same) {
        Some(known) if call.is_alone && known.is_alone => {
            let what = format!(
                "the message with the call `{}` ({}) arrives twice",
                without_marks(known.id()),
                known.call.place
            );
            pair.must(clause::GATE_MESSAGES, what, Spot::new(&known.call.place, ""), spot);
        }
        Some(known) if !equal.explains(known.id()) => {
            let what = format!("the call `{}` ({}) arrives twice", without_marks(known.id()), known.call.place);
            pair.must(clause::GATE_CALLS, what, Spot::new(&known.call.place, ""), spot);
        }
        Some(_) => {}
        None if ours.is_broken => {}
        None => {
            let what = format!("a call `{id}` of `{}` arrives ({there}) that the model did not make", call.call.name);
            pair.must(clause::GATE_INVENTED, what, Spot::none(), spot);
        }
    }
}

// GATE-IDS: ids of calls are kept, or mapped one to one, the same way in every request of a run.

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

pub(super) fn judge_ids(
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
    pairs.arrived().find_map(|(one, other)| {
        let (known, as_what) = (ours.calls[one].id(), theirs.calls[other].id());
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
