//! Runs many cases, on several testees at once, then makes the smallest failing ones smaller.

use super::Coverage;
use super::cause::{Leads, by_cause};
use super::draw::{Draw, Relation};
use super::probe::{FailedCase, Key, Probe, Probed, Shrunk};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{io, panic, thread};
use threadspec_golden::clause;
use threadspec_judge::corpus::Mismatch;
use threadspec_judge::json::{DEEP_STACK, on_deep_stack};
use threadspec_judge::protocol::{JudgeProfile, Op, Reply};
use threadspec_judge::verdict::{Unready, Verdict};
use threadspec_runner::{Testee, Trouble, interrupt};

/// How many of the cases that fail for one reason are made smaller; the smallest are taken.
const EXAMPLES: usize = 2;
/// The campaign ends after so many cases in a row that cost a testee its process.
const MOST_LOST_IN_A_ROW: usize = 10;
/// How often progress is reported, and the end of the time checked.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How to fuzz.
#[derive(Clone, Debug)]
pub struct FuzzOptions {
    /// The source of every case.
    pub seed: u64,
    /// The numbers of the cases; the operations take turns.
    pub cases: Range<u64>,
    /// When to stop drawing.
    pub time: Option<Duration>,
    /// How many testees to ask at once; the cases, and what is found in them, do not depend on it.
    pub jobs: u64,
    /// The profile to judge by.
    pub profile: JudgeProfile,
    /// The operations; at least one.
    pub ops: Vec<Op>,
}

/// Starts a testee.
pub type Start<'a> = &'a (dyn Fn() -> Result<Box<dyn Testee>, Unready> + Sync);

/// How far a campaign is.
#[derive(Clone, Debug)]
pub struct Progress {
    /// The counts of generated inputs.
    pub coverage: Coverage,
    /// How many reasons to fail were found so far.
    pub findings: usize,
    /// Since the beginning.
    pub elapsed: Duration,
}

/// A reason for which cases fail, and the smallest case that shows it.
#[derive(Clone, Debug)]
pub struct FuzzFinding {
    /// The operation of the smallest case.
    pub op: Op,
    /// Other operations in which it was seen.
    pub other_ops: BTreeSet<Op>,
    /// The clause that decides it.
    pub clause: &'static str,
    /// Other clauses that are broken for the same cause.
    pub also: BTreeSet<&'static str>,
    /// The verdict, or the broken relation between replies; empty for an answer that is merely wrong.
    pub what: String,
    /// How many cases failed so.
    pub count: u64,
    /// The cases of the operation that show it again: one, or all up to one if the reply depends on earlier requests.
    pub cases: Range<u64>,
    /// The verdict.
    pub verdict: Verdict,
    /// The input, as raw JSON text.
    pub input: String,
    /// The reference's answer; `None` where properties are judged.
    pub expected: Option<Reply>,
    /// The inputs that were asked before, if the failure depends on them and so few are enough.
    pub after: Vec<String>,
    /// The event, in words.
    pub note: String,
    /// Where the reply departs from what is accepted.
    pub mismatch: Option<Mismatch>,
}

/// The outcome of a campaign.
#[derive(Clone, Debug, Default)]
pub struct FuzzReport {
    /// The counts of generated inputs.
    pub coverage: Coverage,
    /// Cases that the testee does not support.
    pub unsupported: u64,
    /// How long drawing took.
    pub elapsed: Duration,
    /// The reasons to fail.
    pub findings: Vec<FuzzFinding>,
    /// The testees' faults while they ended.
    pub shutdown: Vec<String>,
    /// Why the campaign ended early.
    pub stopped: Option<String>,
    /// As above, if a testee could not be started.
    pub not_ready: Option<Unready>,
}

/// The state that the workers share.
#[derive(Default)]
struct Tally {
    report: FuzzReport,
    failures: BTreeMap<Key, Failures>,
}

/// Cases that fail for one reason.
#[derive(Default)]
pub(super) struct Failures {
    count: u64,
    /// Input length and number of the smallest cases: the same in whatever order cases fail.
    smallest: Vec<(usize, u64)>,
    /// The smallest one as it was first seen, in case it does not fail again.
    as_it_came: Option<FailedCase>,
}

pub(super) struct Campaign<'a> {
    pub(super) settings: &'a FuzzOptions,
    start: Start<'a>,
    began: Instant,
    tally: Mutex<Tally>,
    over: AtomicBool,
}

/// Runs a campaign.
///
/// `watch` is told how far it is, about fifty times a second.
pub fn run(settings: &FuzzOptions, start: Start<'_>, watch: &mut dyn FnMut(&Progress)) -> FuzzReport {
    let (tally, over) = (Mutex::default(), AtomicBool::new(false));
    let campaign = Campaign { settings, start, began: Instant::now(), tally, over };
    thread::scope(|scope| {
        let campaign = &campaign;
        let start = |worker| {
            let deep = thread::Builder::new().stack_size(DEEP_STACK);
            let worker = deep.spawn_scoped(scope, move || {
                campaign.work(worker).unwrap_or_else(|why| campaign.give_up(why));
            });
            worker.map_err(|error| campaign.give_up(no_thread(&error))).ok()
        };
        let workers: Vec<_> = (0..settings.jobs).map_while(start).collect();
        while !workers.iter().all(thread::ScopedJoinHandle::is_finished) {
            thread::sleep(POLL_INTERVAL);
            let elapsed = campaign.began.elapsed();
            if settings.time.is_some_and(|time| elapsed >= time) || interrupt::requested() {
                campaign.over.store(true, Ordering::Relaxed);
            }
            let tally = campaign.tally();
            let coverage = tally.report.coverage.clone();
            let progress = Progress { coverage, findings: tally.failures.len(), elapsed };
            drop(tally);
            watch(&progress);
        }
        for end in workers.into_iter().map(thread::ScopedJoinHandle::join) {
            end.unwrap_or_else(|panic| panic::resume_unwind(panic));
        }
    });
    let elapsed = campaign.began.elapsed();
    let findings = on_deep_stack(|| campaign.findings()).unwrap_or_else(|error| {
        campaign.give_up(no_thread(&error));
        Vec::new()
    });
    let tally = campaign.tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    let stopped = tally.report.stopped.or_else(|| interrupt::requested().then(|| "interrupted".to_owned()));
    FuzzReport { elapsed, findings, stopped, ..tally.report }
}

fn no_thread(error: &io::Error) -> Unready {
    Unready::Shortage(format!("no thread: {error}"))
}

/// The number of the first case that fails, on one testee; nothing is made smaller.
///
/// # Errors
///
/// When a testee cannot be started.
pub fn first_failure(settings: &FuzzOptions, start: Start<'_>) -> Result<Option<u64>, Unready> {
    let mut probe = Probe::new(start()?, settings.profile);
    let draw = Draw::new(settings.seed, &settings.ops, settings.profile, probe.testee.hello());
    let fails = |&case: &u64| {
        let (op, index) = Draw::place(&settings.ops, case);
        let plan = draw.plan(op, index).map(|tree| tree.current());
        plan.is_some_and(|plan| matches!(probe.probe(op, Relation::of(op, index), &plan), Probed::Failed(_)))
    };
    Ok(settings.cases.clone().find(fails))
}

impl Campaign<'_> {
    fn tally(&self) -> MutexGuard<'_, Tally> {
        self.tally.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn probe(&self) -> Result<Probe<'static>, Unready> {
        Ok(Probe::new((self.start)()?, self.settings.profile))
    }

    /// Draws the cases of an operation.
    pub(super) fn draw(&self, op: Op) -> Result<Draw, Unready> {
        let mut testee = (self.start)()?;
        let draw = Draw::new(self.settings.seed, &[op], self.settings.profile, testee.hello());
        testee.finish();
        Ok(draw)
    }

    /// Ends the campaign, but loses nothing of it.
    pub(super) fn give_up(&self, why: Unready) {
        self.over.store(true, Ordering::Relaxed);
        let report = &mut self.tally().report;
        report.stopped.get_or_insert(why.to_string());
        report.not_ready.get_or_insert(why);
    }

    fn is_given_up(&self) -> bool {
        interrupt::requested() || self.tally().report.not_ready.is_some()
    }

    /// Runs the cases of one worker.
    fn work(&self, worker: u64) -> Result<(), Unready> {
        let FuzzOptions { seed, cases, jobs, ops, profile, .. } = self.settings;
        let mut probe = self.probe()?;
        let draw = Draw::new(*seed, ops, *profile, probe.testee.hello());
        let mut lost = 0;
        let mut case = cases.start.saturating_add(worker);
        while case < cases.end && !self.over.load(Ordering::Relaxed) {
            let (op, index) = Draw::place(ops, case);
            let Some(tree) = draw.plan(op, index) else { break };
            let plan = tree.current();
            let probed = probe.probe(op, Relation::of(op, index), &plan);
            let mut tally = self.tally();
            tally.report.coverage.add(op, probe.last_input());
            lost = if probed.cost_the_process() { lost + 1 } else { 0 };
            match probed {
                Probed::Sound => {}
                Probed::Unsupported => tally.report.unsupported += 1,
                Probed::Interrupted => break,
                Probed::Unable(why) => return Err(why),
                Probed::Failed(failures) => {
                    for failure in failures {
                        tally.failures.entry(failure.key.clone()).or_default().add(index, failure);
                    }
                }
            }
            if lost == MOST_LOST_IN_A_ROW {
                tally.report.stopped =
                    Some(format!("{MOST_LOST_IN_A_ROW} cases in a row crashed, timed out or got garbage"));
                self.over.store(true, Ordering::Relaxed);
            }
            drop(tally);
            case = case.saturating_add(*jobs);
        }
        for trouble in probe.testee.finish() {
            let (Trouble::Shutdown(what) | Trouble::Unasked(what) | Trouble::Stray { what, .. }) = trouble;
            self.tally().report.shutdown.push(what);
        }
        Ok(())
    }

    /// The findings, each with the smallest of the cases that were made smaller.
    fn findings(&self) -> Vec<FuzzFinding> {
        let failures = std::mem::take(&mut self.tally().failures);
        let (mut findings, mut leads): (BTreeMap<Key, FuzzFinding>, BTreeMap<Key, Leads>) = Default::default();
        for (key, failures) in failures {
            let mut examples = Vec::new();
            for &(_, index) in &failures.smallest {
                match self.smaller(&key, index) {
                    Ok(example) => examples.extend(example.map(|shrunk| (index, shrunk))),
                    Err(why) => self.give_up(why),
                }
            }
            let smallest = examples.into_iter().min_by_key(|(_, shrunk)| shrunk.failure.input.len());
            let mut leads_to = Leads::new();
            let smallest = match smallest {
                Some((case, mut shrunk)) => {
                    // Without an explanation it stands for itself.
                    if let Ok(mut probe) = self.probe() {
                        leads_to = probe.explain(&mut shrunk);
                        probe.testee.finish();
                    }
                    Some((case..case + 1, shrunk.failure))
                }
                None if self.is_given_up() => failures.as_it_came(),
                None => self.only_after_others(&failures),
            };
            if let Some((cases, failure)) = smallest {
                leads.entry(failure.key.clone()).or_default().extend(leads_to);
                let finding = findings.entry(failure.key.clone()).or_insert_with(|| FuzzFinding::new(cases, failure));
                finding.count += failures.count;
            }
        }
        by_cause(&findings, &leads, &self.tally().report.coverage.cases)
    }

    /// A failing case made smaller; `None` if it does not fail in a testee that was asked nothing else before.
    fn smaller(&self, key: &Key, index: u64) -> Result<Option<Shrunk>, Unready> {
        if self.is_given_up() {
            return Ok(None);
        }
        // What fails when it is asked a second time does not fail alone.
        let is_universal = self.settings.profile == JudgeProfile::Universal;
        let check = if is_universal { Relation::Reply } else { Relation::of(key.op, index) };
        let mut probe = self.probe()?;
        let draw = Draw::new(self.settings.seed, &[key.op], self.settings.profile, probe.testee.hello());
        let Some(mut tree) = draw.plan(key.op, index) else { return Ok(None) };
        let smallest = probe.shrink(key.op, check, &mut *tree, key);
        probe.testee.finish();
        let Some(mut shrunk) = smallest else { return Ok(None) };
        // The requests on the way may have changed the testee, so ask a fresh one.
        let mut fresh = self.probe()?;
        let again = match fresh.probe(key.op, check, &shrunk.plan) {
            Probed::Failed(failures) => failures.iter().any(|again| again.key == *key),
            _ => false,
        };
        fresh.testee.finish();
        shrunk.failure.after.clear();
        Ok(again.then_some(shrunk))
    }
}

impl Probed {
    fn cost_the_process(&self) -> bool {
        let costs =
            |failure: &FailedCase| matches!(failure.verdict, Verdict::Crash | Verdict::Timeout | Verdict::Garbage);
        matches!(self, Self::Failed(failures) if failures.iter().any(costs))
    }
}

impl Failures {
    fn add(&mut self, index: u64, failure: FailedCase) {
        self.count += 1;
        self.smallest.push((failure.input.len(), index));
        self.smallest.sort_unstable();
        self.smallest.truncate(EXAMPLES);
        if self.smallest[0].1 == index {
            self.as_it_came = Some(failure);
        }
    }

    /// The smallest case as it was first seen.
    pub(super) fn as_it_came(&self) -> Option<(Range<u64>, FailedCase)> {
        let (failure, &(_, index)) = (self.as_it_came.clone()?, self.smallest.first()?);
        Some((index..index + 1, failure))
    }
}

impl FuzzFinding {
    fn new(cases: Range<u64>, failure: FailedCase) -> Self {
        let FailedCase { key: Key { op, clause, what }, verdict, input, expected, after, note, mismatch } = failure;
        let is_of_others = !after.is_empty() && clause != clause::AGENT_INDEPENDENT && expected.is_none();
        let also = is_of_others.then_some(clause::AGENT_INDEPENDENT).into_iter().collect();
        let other_ops = BTreeSet::new();
        Self { op, other_ops, clause, also, what, count: 0, cases, verdict, input, expected, after, note, mismatch }
    }

    /// Takes over what has the same cause.
    pub(super) fn absorb(&mut self, other: Self) {
        self.count += other.count;
        self.also.extend(other.also);
        if other.clause != self.clause {
            self.also.insert(other.clause);
        }
        self.other_ops.extend(other.other_ops);
        self.other_ops.insert(other.op);
        self.other_ops.remove(&self.op);
    }
}
