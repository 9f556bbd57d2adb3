//! What each place answers with nothing planted. A reply that equals it shows no fault, and needs no judge.

use crate::place::Place;
use crate::trial::{CaseReplies, is_usual};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use threadspec_judge::corpus::Case;
use threadspec_judge::verdict::Judgement;

/// A place's replies to all cases, each made when it is first needed.
pub(super) struct SoundReplies<'a> {
    pub(super) place: Place,
    cases: &'a [&'a Case],
    replies: Vec<OnceLock<SoundReply>>,
    /// How many faults each large case or row was the one to catch, by its number.
    killers: Mutex<HashMap<usize, usize>>,
}

struct SoundReply {
    fingerprint: u64,
    failure: Option<Judgement>,
}

impl<'a> SoundReplies<'a> {
    pub(super) fn new(place: Place, cases: &'a [&'a Case]) -> Self {
        let replies = cases.iter().map(|_| OnceLock::new()).collect();
        Self { place, cases, replies, killers: Mutex::default() }
    }

    /// Remembers a large case, or a row, that caught a fault.
    pub(super) fn has_killed(&self, number: usize) {
        *self.killers().entry(number).or_default() += 1;
    }

    /// Sorts cases so that those come first that caught other faults: of a family of sizes, one case often catches all.
    pub(super) fn put_killers_first(&self, numbers: &mut [usize]) {
        let killers = self.killers();
        let is_usual = |number: usize| is_usual(self.cases[number]);
        numbers.sort_by_cached_key(|&number| (!is_usual(number), Reverse(killers.get(&number).copied()), number));
    }

    fn killers(&self) -> MutexGuard<'_, HashMap<usize, usize>> {
        self.killers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The replies to a case, by its number.
    pub(super) fn fingerprint(&self, number: usize) -> u64 {
        let make = || {
            let case = self.cases[number];
            let heard = CaseReplies::of(&mut *self.place.testee(&[]), case, self.place.profile());
            SoundReply { fingerprint: heard.fingerprint(), failure: heard.failure(case) }
        };
        self.replies[number].get_or_init(make).fingerprint
    }

    /// The cases that fail although nothing is planted, of those that were needed.
    pub(super) fn broken(&self) -> impl Iterator<Item = (&'a Case, &Judgement)> {
        let failed =
            |(case, reply): (&&'a Case, &'_ OnceLock<SoundReply>)| reply.get()?.failure.is_some().then_some(*case);
        let failures = self.replies.iter().filter_map(|reply| reply.get()?.failure.as_ref());
        self.cases.iter().zip(&self.replies).filter_map(failed).zip(failures)
    }
}
