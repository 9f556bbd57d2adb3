//! GATE-MESSAGES: the messages are in the order in which they were sent.

use super::calls::CallPairs;
use super::results::ResultPairs;
use super::texts::TextPairs;
use super::thread::ComparedThread;
use super::{RequestPair, Spot};
use std::collections::BTreeMap;
use threadspec_golden::clause;

/// Judges the order where nothing else is wrong with the messages; `begun` is how many findings there were before.
pub(super) fn judge(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
    results: &ResultPairs,
    texts: &TextPairs,
    begun: usize,
) {
    let is_known = pair.judging.findings[begun..]
        .iter()
        .any(|finding| [clause::GATE_MESSAGES, clause::GATE_IDS, clause::GATE_MEDIA].contains(&finding.clause));
    if is_known || ours.is_broken {
        return;
    }
    // For each message that was sent the first and the last one that came of it. The answers of a group have no order.
    let mut became: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
    let mut put = |one: usize, other: usize| {
        let range = became.entry(one).or_insert((other, other));
        *range = (range.0.min(other), range.1.max(other));
    };
    for (one, other) in calls.of_sent.iter().enumerate() {
        if let Some(other) = other {
            put(ours.calls[one].message, theirs.calls[*other].message);
        }
    }
    for &(one, other) in &results.same {
        put(ours.results[one].group, theirs.results[other].group);
    }
    for &(one, other) in &texts.0 {
        put(one, other);
    }
    let mut latest: Option<(usize, usize)> = None;
    for (one, (first, last)) in became {
        if let Some((before, _)) = latest.filter(|(_, end)| first < *end) {
            let place = |message: usize| pair.sent.request.messages[message].place.clone();
            let (here, there) = (place(one), pair.arrived.messages[first].place.clone());
            let what = format!("{here} was sent behind {}, and arrives ({there}) before it", place(before));
            pair.must(clause::GATE_MESSAGES, what, Spot::new(&here, ""), Spot::new(&there, ""));
            return;
        }
        if latest.is_none_or(|(_, end)| end <= last) {
            latest = Some((one, last));
        }
    }
    calls_in_order(pair, ours, theirs, calls);
}

/// The calls of one message are in their order.
fn calls_in_order(
    pair: &mut RequestPair<'_, '_>,
    ours: &ComparedThread<'_>,
    theirs: &ComparedThread<'_>,
    calls: &CallPairs,
) {
    let became: Vec<(usize, usize)> =
        calls.of_sent.iter().enumerate().filter_map(|(one, other)| Some((one, (*other)?))).collect();
    let swapped = became.windows(2).find(|two| two[0].1 > two[1].1);
    let Some([(first, _), (second, other)]) = swapped.and_then(|two| <[(usize, usize); 2]>::try_from(two).ok()) else {
        return;
    };
    let [first, second] = [first, second].map(|at| ours.calls[at].call);
    let there = &theirs.calls[other].call.place;
    let what = format!(
        "the call at {} was made behind that at {}, and arrives ({there}) before it",
        second.place, first.place
    );
    pair.must(clause::GATE_MESSAGES, what, Spot::new(&second.place, ""), Spot::new(there, ""));
}
