//! Requests whose answers make calls, of which a later request must have one.

use super::conversation::{AnswerCall, ConversationCalls, REACH, missing};
use super::finding::Place;
use foldhash::{HashMap, HashSet};
use std::collections::BTreeMap;
use std::iter::successors;
use threadspec_apis::follow;

/// How many requests that are the same may wait for their answers at the same time.
const MOST_AT_ONCE: usize = 64;

/// A request with an answer that makes calls.
pub(super) struct AnsweredRequest {
    pub(super) place: Place,
    pub(super) calls: Vec<AnswerCall>,
    /// The text of the answer; empty if it has none.
    pub(super) text: String,
    /// How much of it is before each call, if the answer is a list of blocks.
    pub(super) places: Vec<usize>,
    pub(super) tokens: Option<(u64, u64)>,
    /// How many pieces the request has.
    pub(super) length: usize,
    /// A later request that begins with all of it.
    pub(super) next: Option<usize>,
    /// True if a later one goes on from it, and does not only ask something beside it, such as a title.
    pub(super) is_left: bool,
    /// If that is in a later file: its place, and what this one is called there.
    pub(super) elsewhere: Option<(Place, String)>,
    /// An earlier one that is the same, and a later one.
    pub(super) twin: Option<usize>,
    pub(super) again: Option<usize>,
    pub(super) conversation: usize,
}

impl AnsweredRequest {
    /// One from which none goes on yet.
    pub(super) fn new(place: Place, length: usize, conversation: usize) -> Self {
        let (calls, text, places, tokens) = (Vec::new(), String::new(), Vec::new(), None);
        let (next, is_left) = (None, false);
        let (elsewhere, twin, again) = (None, None, None);
        Self { place, calls, text, places, tokens, length, next, is_left, elsewhere, twin, again, conversation }
    }
}

/// All of them, by their numbers.
#[derive(Default)]
pub(super) struct AnsweredRequests {
    requests: BTreeMap<usize, AnsweredRequest>,
    /// The last requests that only ask something beside one of them, by their numbers.
    beside: HashMap<usize, usize>,
}

impl AnsweredRequests {
    pub(super) fn insert(&mut self, number: usize, request: AnsweredRequest) {
        self.requests.insert(number, request);
    }

    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut AnsweredRequest> {
        self.requests.get_mut(&number)
    }

    /// Request `number`, with so many pieces, begins with all of this one. If it has no reply of a model behind it, it may only ask something beside
    /// it, until another one goes on from it.
    pub(super) fn go_on(&mut self, number: usize, parent: usize, length: usize, has_new_reply: bool) {
        let asked = self.beside.get(&parent).copied();
        for one in [Some(parent), asked].into_iter().flatten() {
            match self.requests.get_mut(&one).filter(|request| request.length < length) {
                Some(request) if has_new_reply => request.is_left = true,
                Some(_) => _ = self.beside.insert(number, one),
                None => {}
            }
        }
        self.beside.remove(&number.saturating_sub(REACH));
    }

    /// Finds the request that another one continues, among equal ones: the one whose answer it has, with these calls.
    pub(super) fn taken(&self, parent: usize, length: usize, calls: &HashSet<u64>) -> usize {
        let answered = |number: &usize| self.requests.get(number).filter(|one| one.length < length);
        let same = || successors(Some(parent), |number| answered(number)?.twin).take(MOST_AT_ONCE);
        let has_id = |one: &AnsweredRequest| one.calls.iter().any(|(id, ..)| calls.contains(&follow::hash(&&**id)));
        let has_name = |one: &AnsweredRequest| missing(calls, &one.calls).len() < one.calls.len();
        let by_id = same().find(|number| answered(number).is_some_and(has_id));
        let by_name = || same().find(|number| answered(number).is_some_and(has_name));
        by_id.or_else(by_name).unwrap_or(parent)
    }

    /// Those that others go on from without all of their calls, and the calls that are in no history of the conversation.
    pub(super) fn lost<'a>(
        &'a self,
        calls: &'a ConversationCalls,
    ) -> impl Iterator<Item = (&'a AnsweredRequest, Vec<&'a AnswerCall>)> {
        self.requests.iter().filter(|(_, one)| one.is_left).filter_map(|(number, one)| {
            let lost = missing(calls.of(one.conversation)?, &one.calls);
            let is_lost = !lost.is_empty() && (lost.len() < one.calls.len() || !self.is_other_taken(calls, *number));
            is_lost.then_some((one, lost))
        })
    }

    /// Returns whether the same request was waiting for another answer at the same time, and that was taken.
    fn is_other_taken(&self, calls: &ConversationCalls, number: usize) -> bool {
        let answered = &self.requests;
        let Some(one) = answered.get(&number) else { return false };
        let before = successors(one.twin, |other| answered.get(other)?.twin).take(MOST_AT_ONCE);
        let behind = successors(one.again, |other| answered.get(other)?.again).take(MOST_AT_ONCE);
        let is_before_next = |one: &AnsweredRequest, other: usize| one.next.is_some_and(|next| other < next);
        let is_taken = |other: &AnsweredRequest| {
            let known = calls.of(other.conversation);
            known.is_some_and(|known| missing(known, &other.calls).len() < other.calls.len())
        };
        let mut before = before.filter_map(|other| answered.get(&other));
        let behind = behind.take_while(|other| is_before_next(one, *other));
        before.any(|other| is_before_next(other, number) && is_taken(other))
            || behind.filter_map(|other| answered.get(&other)).any(is_taken)
    }

    /// The file has ended; what nobody went on from may go on in the next one.
    pub(super) fn forget_left(&mut self) {
        self.requests.retain(|_, one| !one.is_left);
    }
}
