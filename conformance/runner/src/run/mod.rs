//! Runs cases against testees in an order that hashes decide, and judges what comes back.

mod ahead;
mod blame;
mod known;
mod worker;

pub use known::{Known, date};

use crate::error::Error;
use crate::testee::{Testee, interrupt};
use std::num::NonZero;
use std::panic::resume_unwind;
use std::str::FromStr;
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};
use std::{fmt, thread};
use threadspec_judge::corpus::Case;
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::{Hello, JudgeProfile, Request};
use threadspec_judge::verdict::{Charge, Earlier, Judgement, Outcome, Terms, Unready, Verdict, judge};
use worker::{ShareResults, Worker, join};

/// After this many cases that crashed, hung or got garbage the run ends: the others would only cost time.
const MOST_LOST: usize = 10;

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The profile to judge by.
    pub profile: JudgeProfile,
    /// True if a `should` counts.
    pub strict: bool,
    /// True if the first failure ends the run.
    pub fail_fast: bool,
    /// True if it goes on however many cases crash, hang or get garbage.
    pub keep_going: bool,
    /// The seed for the order of the cases and the ids of the requests; without it, cases go by operation, and ids count from 1.
    pub seed: Option<u64>,
    /// How often the cases run against the same process.
    pub rounds: u64,
    /// How long they run against it again and again.
    pub soak: Option<Duration>,
    /// How long to wait between two requests to one process.
    pub pause: Option<Duration>,
    /// The known failures, which do not end the run.
    pub known: Known,
}

impl Settings {
    /// A run in this profile, once and in order.
    pub fn new(profile: impl Into<JudgeProfile>) -> Self {
        let profile = profile.into();
        Self {
            profile,
            strict: false,
            fail_fast: false,
            keep_going: false,
            seed: None,
            rounds: 1,
            soak: None,
            pause: None,
            known: Known::default(),
        }
    }
}

/// A case and how it ended.
#[derive(Clone, Debug)]
pub struct CaseResult<'a> {
    /// The case.
    pub case: &'a Case,
    /// How it ended.
    pub judgement: Judgement,
}

impl CaseResult<'_> {
    /// Returns whether the case makes the testee not conformant.
    pub fn counts_against(&self, strict: bool) -> bool {
        self.judgement.counts_against(self.case, strict)
    }

    /// Returns the findings beside the case as a failure of its own, unless the case counts by itself: then that explains it.
    pub fn of_beside(&self, strict: bool) -> Option<Self> {
        let judgement = self.judgement.of_beside().filter(|_| !self.counts_against(strict))?;
        Some(Self { case: self.case, judgement })
    }

    /// Returns whether the case failed, and does not count only because its input is contrived.
    pub fn is_excused(&self, strict: bool) -> bool {
        self.judgement.is_excused(self.case, strict)
    }

    /// The clause that a failed case is charged to; `None` if it did not fail.
    pub fn charge(&self) -> Option<Charge<'_>> {
        self.judgement.charge(self.case)
    }
}

/// The results of a run.
#[derive(Clone, Debug, Default)]
pub struct Run<'a> {
    /// One result per case, in the order of the cases.
    pub results: Vec<CaseResult<'a>>,
    /// How many cases the testee answered with `unsupported`, of operations that its hello names.
    pub declined: usize,
    /// Errors when the testee was ended.
    pub shutdown: Vec<String>,
    /// Requests that were answered late once, but in time when everything ran again; they do not count.
    pub late: Vec<String>,
    /// Remarks about its hello, which do not count.
    pub remarks: Vec<String>,
    /// Why the run ended before its last case.
    pub stopped: Option<String>,
    /// Why the testee could not be started again in the middle of the run.
    pub not_ready: Option<Unready>,
    /// How many requests were sent.
    pub requests: u64,
}

impl<'a> Run<'a> {
    /// A run of a testee that did not start.
    pub fn not_started(cases: &[&'a Case], why: Unready) -> Self {
        let stopped = why.to_string();
        let judgement = Judgement::new(Verdict::NotRun, stopped.lines().next().unwrap_or_default());
        let result = |&case: &&'a Case| CaseResult { case, judgement: judgement.clone() };
        Self {
            results: cases.iter().map(result).collect(),
            stopped: Some(stopped),
            not_ready: Some(why),
            ..Self::default()
        }
    }
}

/// Follows a run.
pub trait Watch: Send {
    /// A case ended; it can still end in another way.
    fn result(&mut self, _: &Case, _: &Judgement) {}

    /// Returns whether [`Watch::outcome`] does anything. If so, requests are sent in the order of the cases.
    fn hears_outcomes(&self) -> bool {
        true
    }

    /// The outcome of a request of a case. The steps count the inputs that are sent first, then the case's own. A later outcome of the
    /// same step replaces the earlier one.
    fn outcome(&mut self, _: &Case, _step: usize, _: &Request, _: &Outcome) {}
}

/// Ignores everything.
impl Watch for () {
    fn hears_outcomes(&self) -> bool {
        false
    }
}

/// Why a run ends before its last case.
#[derive(Clone, Debug)]
enum Ending {
    Interrupted,
    FirstFailure,
    Lost,
    NotReady(Unready),
}

/// The state that the workers share.
struct Shared<'s, 'a> {
    settings: &'s Settings,
    terms: Terms,
    cases: &'s [&'a Case],
    watch: Mutex<&'s mut (dyn Watch + 's)>,
    end: Mutex<Option<Ending>>,
    /// How many cases cost the testee its process, and how many of them hung.
    lost: AtomicUsize,
    hung: AtomicUsize,
    requests: AtomicI64,
    began: Instant,
}

/// Puts the cases to the testees, each of which gets its share, and ends the testees. All must be copies of one.
pub fn run<'a>(
    testees: &mut [Box<dyn Testee + Send>],
    cases: &[&'a Case],
    settings: &Settings,
    watch: &mut dyn Watch,
) -> Run<'a> {
    let Some(hello) = testees.first().map(|testee| testee.hello().clone()) else { return Run::default() };
    let shared = Shared {
        settings,
        terms: Terms { profile: settings.profile, abilities: hello.abilities },
        cases,
        watch: Mutex::new(watch),
        end: Mutex::default(),
        lost: AtomicUsize::new(0),
        hung: AtomicUsize::new(0),
        requests: AtomicI64::new(0),
        began: Instant::now(),
    };
    let asked: Vec<usize> = (0..cases.len()).filter(|&index| lack(&hello, cases[index]).is_none()).collect();
    let jobs = testees.len();
    let parts = match testees {
        // The caller's own stack is deep enough.
        [testee] => vec![Worker::new(&shared, &mut **testee, asked).work(processors())],
        several => thread::scope(|scope| {
            let mut workers = Vec::new();
            for (number, testee) in several.iter_mut().enumerate() {
                let share = asked.iter().copied().skip(number).step_by(jobs).collect();
                let worker = Worker::new(&shared, &mut **testee, share);
                let deep = thread::Builder::new().stack_size(DEEP_STACK);
                match deep.spawn_scoped(scope, || worker.work(1)) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => shared.end_with(Ending::NotReady(Unready::Shortage(format!("no thread: {error}")))),
                }
            }
            let join =
                |worker: ScopedJoinHandle<'_, ShareResults>| worker.join().unwrap_or_else(|panic| resume_unwind(panic));
            workers.into_iter().map(join).collect()
        }),
    };
    shared.conclude(parts, &hello)
}

/// How many threads can work at the same time.
fn processors() -> usize {
    thread::available_parallelism().map_or(1, NonZero::get)
}

/// Returns what a testee lacks for a case by its hello, if anything: the case does not run then.
pub fn lack(hello: &Hello, case: &Case) -> Option<String> {
    if !hello.ops.contains(&case.op) {
        // The provider takes all operations from a testee that cannot use its API.
        let is_of_other_apis = hello.ops.is_empty() && hello.apis.is_some();
        let list = if is_of_other_apis { "the API is not among the `apis`" } else { "the op is not among the `ops`" };
        return Some(format!("{list} of its hello"));
    }
    let lacking = case.needs.without(hello.abilities.session.features);
    let names: Vec<String> = lacking.iter().map(|feature| format!("`{feature}`")).collect();
    (!lacking.is_empty()).then(|| format!("the framework has no {}", names.join(" and no ")))
}

impl<'a> Shared<'_, 'a> {
    fn end(&self) -> MutexGuard<'_, Option<Ending>> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run; the first reason counts.
    fn end_with(&self, reason: Ending) {
        self.end().get_or_insert(reason);
    }

    fn is_over(&self) -> bool {
        if interrupt::requested() {
            self.end_with(Ending::Interrupted);
        }
        self.end().is_some()
    }

    fn watch(&self, what: impl FnOnce(&mut dyn Watch)) {
        what(&mut **self.watch.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn hears_outcomes(&self) -> bool {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).hears_outcomes()
    }

    /// Counts a case that cost the testee its process.
    fn count_loss(&self) {
        if self.lost.fetch_add(1, Ordering::Relaxed) + 1 >= MOST_LOST && !self.settings.keep_going {
            self.end_with(Ending::Lost);
        }
    }

    fn conclude(self, parts: Vec<ShareResults>, hello: &Hello) -> Run<'a> {
        let mut judgements: Vec<Option<Judgement>> = vec![None; self.cases.len()];
        let (requests, remarks) = (self.requests.load(Ordering::Relaxed).unsigned_abs(), hello.remarks.clone());
        let mut run = Run { remarks, requests, ..Run::default() };
        for part in parts {
            run.declined += part.declined.len();
            run.late.extend(part.late);
            // What every process does at its end is one fault, so that the number of processes changes no verdict.
            let is_new = |what: &String| !run.shutdown.contains(what);
            let news: Vec<String> = part.shutdown.into_iter().filter(is_new).collect();
            run.shutdown.extend(news);
            for (index, judgement) in part.judged {
                judgements[index] = Some(judgement);
            }
        }
        let end = self.end.into_inner().unwrap_or_else(PoisonError::into_inner);
        run.stopped = end.map(|end| match end {
            Ending::Interrupted => "interrupted".into(),
            Ending::FirstFailure => "the first failure ends the run".into(),
            Ending::Lost => {
                format!("{MOST_LOST} cases crashed, timed out or got garbage; --keep-going goes on all the same")
            }
            Ending::NotReady(why) => {
                run.not_ready = Some(why.clone());
                why.to_string()
            }
        });
        let results = self.cases.iter().zip(judgements).map(|(&case, judgement)| {
            let judgement = judgement.unwrap_or_else(|| match (lack(hello, case), &run.stopped) {
                (Some(lack), _) => Judgement::new(Verdict::Unsupported, lack),
                (None, Some(reason)) => Judgement::new(Verdict::NotRun, reason.lines().next().unwrap_or_default()),
                (None, None) => Judgement::new(Verdict::NotRun, "it was not asked"),
            });
            CaseResult { case, judgement }
        });
        run.results = results.collect();
        run
    }
}

// Selects the cases of a run, their order, and their ids. Hashes decide, so that it is the same on every machine and in every version.

/// One of several parts of the cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shard {
    /// Its number, from 1.
    number: u64,
    /// How many there are.
    of: u64,
}

impl Shard {
    /// Returns whether a case belongs to it; the id of the case alone decides.
    pub fn has(self, case: &Case) -> bool {
        hash(&[case.id.as_bytes()]) % self.of == self.number - 1
    }
}

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) => Ok(Self { number, of }),
            _ => Err(Error::new("it is not I/N, as in 1/4")),
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// Sorts the cases for a round. The first round goes by operation, from the simplest to the loop, so that a broken loop hides nothing.
fn sort(cases: &[&Case], order: &mut [usize], seed: Option<u64>, round: u64) {
    let draw =
        |index: usize| seed.map(|seed| hash(&[&seed.to_le_bytes(), &round.to_le_bytes(), cases[index].id.as_bytes()]));
    order.sort_by_cached_key(|&index| ((round == 0).then_some(cases[index].op), draw(index), index));
}

/// The id of the nth request, counted from 1: no two are equal, and none is 0, the id of the hello.
fn request_id(seed: Option<u64>, number: i64) -> i64 {
    const BITS: u32 = 31;
    seed.map_or(number, |seed| {
        // An odd factor maps the numbers below a power of two one to one.
        let factor = hash(&[b"ids", &seed.to_le_bytes()]) | 1;
        let below = (number.unsigned_abs().wrapping_mul(factor)) & ((1 << BITS) - 1);
        (below | (number.unsigned_abs() >> BITS << BITS)).cast_signed()
    })
}

fn hash(parts: &[&[u8]]) -> u64 {
    let mut hash = hmac_sha256::Hash::new();
    for part in parts {
        hash.update(part);
    }
    let digest = hash.finalize();
    digest.iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

// Cases of which more becomes known after their replies.

const AFTERWARDS: &str = "after its reply";

impl Worker<'_, '_, '_> {
    /// Judges again what was amended. A case that failed keeps its verdict.
    fn amend(&mut self) {
        for (id, outcome) in self.testee.amended() {
            let Some(&(index, step)) = self.asked.get(&id) else { continue };
            let case = &*self.shared.cases[index].for_a_while();
            if !self.part.judged.get(&index).is_some_and(Judgement::is_sound) {
                continue;
            }
            let request = case.request(id, self.shared.settings.profile);
            let amended = outcome.clone();
            let mut judgement = if step < case.after().len() {
                let mut earlier = Earlier::default();
                earlier.hear(case, self.shared.terms, step, &outcome);
                earlier.with(Judgement::new(Verdict::Pass, ""))
            } else {
                judge(case, self.shared.terms, outcome)
            };
            if !judgement.is_sound() {
                judgement.note = join(&judgement.note, AFTERWARDS);
                self.shared.watch(|watch| watch.outcome(case, step, &request, &amended));
                self.part.declined.remove(&index);
                self.settle(index, judgement, false);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Shard, request_id};
    use std::collections::HashSet;

    #[test]
    fn ids_differ_and_none_is_that_of_the_hello() {
        let ids: HashSet<i64> = (1..10_000).map(|number| request_id(Some(7), number)).collect();
        assert_eq!(ids.len(), 9_999);
        assert!(ids.iter().all(|&id| id > 0));
        assert_ne!(request_id(Some(7), 1), request_id(Some(8), 1));
        assert_eq!(request_id(None, 5), 5);
    }

    #[test]
    fn a_shard_is_one_of_its_number() {
        assert_eq!("2/3".parse(), Ok(Shard { number: 2, of: 3 }));
        for wrong in ["0/3", "4/3", "1", "1/0", "a/b", "-1/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }
}
