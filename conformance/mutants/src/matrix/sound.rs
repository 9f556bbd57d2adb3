//! What each place answers with nothing planted. A reply that equals it shows no fault, and needs no judge.

use crate::place::Place;
use crate::trial::{CaseReplies, is_usual};
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use threadspec_judge::corpus::Case;
use threadspec_judge::verdict::Judgement;

/// A place's replies to all cases, each made when it is first needed.
pub(super) struct SoundReplies<'a> {
    pub(super) place: Place,
    cases: &'a [&'a Case],
    replies: Vec<OnceLock<SoundReply>>,
    /// Which large cases or rows caught a fault that nothing before them did: the family of the fault, and the number of the case.
    killers: Mutex<HashSet<(String, usize)>>,
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

    /// Remembers a case that caught a fault.
    pub(super) fn has_killed(&self, fault: &str, number: usize) {
        self.killers().insert((family(fault), number));
    }

    /// Sorts cases so that behind those of usual size those come that caught a fault of the same family.
    pub(super) fn put_killers_first(&self, fault: &str, numbers: &mut [usize]) {
        let (family, killers) = (family(fault), self.killers());
        let is_usual = |number: usize| is_usual(self.cases[number]);
        let has_killed = |number: usize| killers.contains(&(family.clone(), number));
        numbers.sort_by_cached_key(|&number| (!is_usual(number), !has_killed(number), number));
    }

    fn killers(&self) -> MutexGuard<'_, HashSet<(String, usize)>> {
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

/// The name of a fault without its size.
fn family(fault: &str) -> String {
    fault.chars().filter(|c| !c.is_ascii_digit()).collect()
}
