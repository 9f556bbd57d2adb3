//! What each place answers with nothing planted. A reply that equals it shows no fault, and needs no judge.

use crate::place::Place;
use crate::trial::{CaseReplies, is_usual};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::{HashMap, HashSet};
use std::sync::{LazyLock, Mutex, MutexGuard, OnceLock, PoisonError};
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

    /// Puts every case of usual size, so that `broken` has it. Of the cases of agents behind a gateway, those that faults need are enough: the
    /// agent's part is the same between all APIs.
    pub(super) fn put_usual(&self) {
        let is_put = |case: &Case| is_usual(case) && self.place.takes(case) && !matches!(self.place, Place::Behind(_));
        let usual: Vec<usize> = (0..self.cases.len()).filter(|&number| is_put(self.cases[number])).collect();
        usual.into_par_iter().for_each(|number| {
            self.fingerprint(number);
        });
    }

    /// Remembers a case that caught a fault.
    pub(super) fn has_killed(&self, fault: &str, number: usize) {
        self.killers().insert((family(fault), number));
    }

    /// Sorts cases so that those come first that caught the fault when `killers.txt` was written, and behind those of usual size those that caught a
    /// fault of the same family.
    pub(super) fn put_killers_first(&self, fault: &str, numbers: &mut [usize]) {
        let (family, killers) = (family(fault), self.killers());
        let is_usual = |number: usize| is_usual(self.cases[number]);
        let has_killed = |number: usize| killers.contains(&(family.clone(), number));
        let known: Vec<&str> = known_killers(fault).collect();
        let is_known = |number: usize| known.contains(&&*self.cases[number].id);
        numbers.sort_by_cached_key(|&number| (!is_known(number), !is_usual(number), !has_killed(number), number));
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

/// The cases that caught a fault when `killers.txt` was written. Without it a quick run finds the same, later.
fn known_killers(fault: &str) -> impl Iterator<Item = &'static str> {
    static KILLERS: LazyLock<HashMap<&str, &str>> =
        LazyLock::new(|| include_str!("../../killers.txt").lines().filter_map(|line| line.split_once(' ')).collect());
    KILLERS.get(fault).into_iter().flat_map(|cases| cases.split(' '))
}

/// The name of a fault without its size.
fn family(fault: &str) -> String {
    fault.chars().filter(|c| !c.is_ascii_digit()).collect()
}
