//! One testee and its share of the cases.

use super::blame::{AFTER_OTHERS, as_loss};
use super::{Ending, Shared, request_id, sort};
use crate::testee::{Testee, Trouble, interrupt};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, mpsc};
use std::thread;
use std::thread::Scope;
use std::time::{Duration, Instant};
use threadspec_judge::corpus::{Accepted, Case};
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::{Feature, JudgeProfile, Reply, Request};
use threadspec_judge::verdict::{Earlier, Judgement, Outcome, judge};

/// How many bytes may wait for their replies, and be accepted as replies; a single request may be longer.
const MOST_WAITING: usize = 1 << 20;
/// The cases of at most this many past requests are remembered.
const MOST_ASKED: usize = 1 << 20;

/// The results of a share.
#[derive(Default)]
pub(super) struct ShareResults {
    /// The judgements, by the position of the case.
    pub(super) judged: BTreeMap<usize, Judgement>,
    /// The cases that were answered with `unsupported`.
    pub(super) declined: BTreeSet<usize>,
    pub(super) shutdown: Vec<String>,
    /// Requests that timed out once and were answered when repeated; they do not count.
    pub(super) late: Vec<String>,
}

/// A request that waits for its reply: the place of its case, the case, the step, and what was sent.
type SentStep<'c> = (usize, Rc<Cow<'c, Case>>, usize, Request);

/// Tells whether the results of pipelined requests are final.
#[derive(PartialEq, Eq)]
enum Trust {
    Believed,
    Doubted,
}

/// One testee and its share.
pub(super) struct Worker<'w, 's, 'a> {
    pub(super) shared: &'w Shared<'s, 'a>,
    pub(super) testee: &'w mut (dyn Testee + Send),
    share: Vec<usize>,
    /// The case that each request to this process belongs to, and which of its requests it is.
    pub(super) asked: HashMap<i64, (usize, usize)>,
    /// The cases that this process answered, or the last of them.
    pub(super) answered: Vec<usize>,
    /// How many requests this process got.
    served: u64,
    /// When this process was started, or is about to be.
    pub(super) since: Instant,
    round: u64,
    /// How many requests there were, here or in the whole run.
    numbers: &'w AtomicI64,
    pub(super) part: ShareResults,
}

impl<'w, 's, 'a> Worker<'w, 's, 'a> {
    pub(super) fn new(shared: &'w Shared<'s, 'a>, testee: &'w mut (dyn Testee + Send), share: Vec<usize>) -> Self {
        let (asked, answered, since) = (HashMap::new(), Vec::new(), Instant::now());
        let (numbers, part) = (&shared.requests, ShareResults::default());
        Self { shared, testee, share, asked, answered, served: 0, since, round: 0, numbers, part }
    }

    /// One that counts its requests for itself.
    pub(super) fn counting(self, numbers: &'w AtomicI64) -> Self {
        Self { numbers, ..self }
    }

    /// Puts the cases to the testee, on so many threads where that makes no difference.
    pub(super) fn work(mut self, threads: usize) -> ShareResults {
        let window = self.window();
        if window == 1 || self.several_at_once(window, threads) == Trust::Doubted {
            self.restart();
            self.one_by_one(threads);
        }
        self.round = 0;
        self.together();
        self.finish();
        self.part
    }

    /// How many requests may wait. A framework is asked one by one, unless it declares that it takes several. Repeated runs are asked one
    /// by one, too: what goes wrong after an hour cannot simply be asked again.
    fn window(&self) -> usize {
        let settings = self.shared.settings;
        let is_sequential = settings.profile == JudgeProfile::Universal && !self.shared.terms.abilities.concurrent;
        let is_repeated = settings.rounds > 1 || settings.soak.is_some();
        if is_sequential || is_repeated || settings.pause.is_some() { 1 } else { self.testee.window() }
    }

    pub(super) fn restart(&mut self) {
        if self.served > 0 {
            self.testee.restart();
            self.started();
        }
    }

    /// Notes that the process is a new one.
    pub(super) fn started(&mut self) {
        self.asked.clear();
        self.answered.clear();
        self.served = 0;
        self.since = Instant::now();
    }

    /// Counts requests that a copy of the testee got.
    pub(super) fn count(&mut self, requests: u64) {
        self.numbers.fetch_add(requests.cast_signed(), Ordering::Relaxed);
        self.served += requests;
    }

    pub(super) fn request(&mut self, index: usize, case: &Case, step: usize) -> Request {
        let number = self.numbers.fetch_add(1, Ordering::Relaxed) + 1;
        let id = request_id(self.shared.settings.seed, number);
        if self.asked.len() == MOST_ASKED {
            self.asked.clear();
        }
        self.asked.insert(id, (index, step));
        self.served += 1;
        let request = case.request(id, self.shared.settings.profile);
        match case.after().get(step) {
            Some(input) => Request { input: Arc::clone(input), ..request },
            None => request,
        }
    }

    /// Asks all cases without waiting for each reply. If any case does not pass, the results are not final.
    fn several_at_once(&mut self, window: usize, threads: usize) -> Trust {
        let cases = self.shared.cases;
        sort(cases, &mut self.share, self.shared.settings.seed, 0);
        let (alone, share): (Vec<usize>, Vec<usize>) =
            self.share.iter().partition(|&&index| has_its_process_to_itself(cases[index]));
        let trust = thread::scope(|scope| {
            let templates = share.iter().map(|&index| cases[index]).filter(|case| case.is_template && threads > 1);
            let prepared = prepared(scope, templates.collect());
            let cases = share.into_iter().map(move |index| {
                let prepared = if cases[index].is_template { prepared.recv().ok() } else { None };
                (index, prepared.unwrap_or_else(|| cases[index].for_a_while()))
            });
            self.pipelined(cases, window)
        });
        for index in alone {
            if trust == Trust::Doubted || self.shared.is_over() {
                break;
            }
            self.case(index);
        }
        trust
    }

    /// Asks cases without waiting for each reply.
    fn pipelined<'c>(&mut self, cases: impl Iterator<Item = (usize, Cow<'c, Case>)>, window: usize) -> Trust {
        let mut steps = cases.flat_map(|(index, case)| {
            let case = Rc::new(case);
            (0..=case.after().len()).map(move |step| (index, Rc::clone(&case), step))
        });
        let mut waiting: HashMap<i64, SentStep<'c>> = HashMap::new();
        let mut bytes = 0;
        let mut earlier: HashMap<usize, Earlier> = HashMap::new();
        loop {
            // Half a window at once: several requests are one message to the thread that writes them.
            let room = if waiting.len() <= window / 2 { window } else { 0 };
            while waiting.len() < room
                && bytes < MOST_WAITING
                && let Some((index, case, step)) = steps.next()
            {
                let request = self.request(index, &case, step);
                bytes += size(&case, step, &request);
                self.testee.send_for(&request, accepted(&case, step));
                waiting.insert(request.id, (index, case, step, request));
            }
            if waiting.is_empty() {
                break;
            }
            let (id, outcome) = self.testee.receive();
            if self.shared.is_over() {
                return Trust::Believed;
            }
            let Some((index, case, step, request)) = waiting.remove(&id).filter(|_| outcome.is_reply()) else {
                return Trust::Doubted;
            };
            bytes -= size(&case, step, &request);
            self.shared.watch(|watch| watch.outcome(&case, step, &request, &outcome));
            if step < case.after().len() {
                let earlier = earlier.entry(index).or_default();
                earlier.hear(&case, self.shared.terms, step, &outcome);
                if !earlier.is_sound() {
                    return Trust::Doubted;
                }
            } else {
                let is_declined = is_declined(&case, &outcome);
                let judgement = judge(&case, self.shared.terms, outcome);
                if !judgement.is_sound() {
                    return Trust::Doubted;
                }
                earlier.remove(&index);
                self.settle(index, judgement, is_declined);
                self.answer(index);
            }
        }
        Trust::Believed
    }

    /// Notes that this process answered a case.
    pub(super) fn answer(&mut self, index: usize) {
        if self.answered.len() == MOST_ASKED {
            self.answered.clear();
        }
        self.answered.push(index);
    }

    fn one_by_one(&mut self, threads: usize) {
        self.part = ShareResults::default();
        let settings = self.shared.settings;
        while self.goes_on() {
            let mut order = self.share.clone();
            // Later rounds are shuffled in any case: they are there to find what depends on the order.
            let seed = settings.seed.or((self.round > 0).then_some(0));
            sort(self.shared.cases, &mut order, seed, self.round);
            self.in_order(&order, threads);
            self.round += 1;
        }
    }

    fn goes_on(&self) -> bool {
        let settings = self.shared.settings;
        let is_time = settings.soak.is_some_and(|soak| self.shared.began.elapsed() < soak);
        !self.share.is_empty() && (self.round < settings.rounds || is_time) && !self.shared.is_over()
    }

    pub(super) fn case(&mut self, index: usize) {
        self.amend();
        let case = self.shared.cases[index].for_a_while();
        loop {
            if self.is_spoken_after() && self.shared.is_over() {
                return;
            }
            match self.put(index, &case) {
                (earlier, outcome) if outcome.is_reply() => {
                    let is_declined = is_declined(&case, &outcome);
                    let judgement = earlier.with(judge(&case, self.shared.terms, outcome));
                    self.settle(index, judgement, is_declined);
                    self.answer(index);
                    return;
                }
                (_, Outcome::Interrupted) => return self.shared.end_with(Ending::Interrupted),
                (_, Outcome::NotReady(why)) => return self.shared.end_with(Ending::NotReady(why)),
                (_, Outcome::Stray { id: 0, what }) => return self.charge_for_id_of_hello(index, what),
                (_, Outcome::Stray { id, what }) => {
                    let culprit = self.asked.get(&id).map_or(index, |&(culprit, _)| culprit);
                    self.started();
                    self.charge(culprit, Outcome::Garbage(what), "");
                    if culprit == index || self.shared.is_over() {
                        return;
                    }
                }
                (_, outcome) => {
                    let answered = std::mem::take(&mut self.answered);
                    self.started();
                    return self.find_culprit((index, &case), &answered, outcome);
                }
            }
        }
    }

    /// Charges the last case if there was output beyond its reply. Returns whether there was.
    fn is_spoken_after(&mut self) -> bool {
        let Some(&before) = self.answered.last() else { return false };
        let Some(unasked) = self.testee.overhear(Duration::ZERO) else { return false };
        let answered = std::mem::take(&mut self.answered);
        let asked = std::mem::take(&mut self.asked);
        let is_hello = matches!(unasked, Outcome::Stray { id: 0, .. });
        if is_hello && !self.hello_is_said_once() {
            return true;
        }
        self.started();
        match unasked {
            Outcome::Interrupted | Outcome::NotReady(_) => {}
            Outcome::Stray { id, what } if asked.contains_key(&id) => {
                self.charge(asked[&id].0, Outcome::Garbage(what), "");
            }
            unasked => {
                if !self.speaks_after(&answered) {
                    self.charge(before, as_loss(unasked), "not every time: run again, it adds nothing");
                }
            }
        }
        true
    }

    /// Sends the requests of a case one after the other, and judges the replies to those that are sent first. What these leave behind
    /// belongs to this case.
    pub(super) fn put(&mut self, index: usize, case: &Case) -> (Earlier, Outcome) {
        self.make_room(case);
        let mut earlier = Earlier::default();
        for step in 0..case.after().len() {
            let Some(request) = self.next_request(index, case, step) else {
                return (earlier, Outcome::Interrupted);
            };
            let outcome = self.testee.ask(&request);
            if !is_end(&outcome) {
                self.shared.watch(|watch| watch.outcome(case, step, &request, &outcome));
            }
            if !outcome.is_reply() {
                return (earlier, sent_before(outcome, step));
            }
            earlier.hear(case, self.shared.terms, step, &outcome);
        }
        let Some(request) = self.next_request(index, case, case.after().len()) else {
            return (earlier, Outcome::Interrupted);
        };
        let outcome = self.testee.ask_for(&request, case.accepted());
        if !is_end(&outcome) {
            self.shared.watch(|watch| watch.outcome(case, case.after().len(), &request, &outcome));
        }
        (earlier, outcome)
    }

    /// Starts the process afresh if the case, or the one before, cannot share it.
    pub(super) fn make_room(&mut self, case: &Case) {
        let before = self.answered.last().map(|&before| self.shared.cases[before]);
        if before.into_iter().chain([case]).any(has_its_process_to_itself) {
            self.restart();
        }
    }

    /// The next request to this process, after a pause if it has had one; `None` if the run was interrupted meanwhile.
    fn next_request(&mut self, index: usize, case: &Case, step: usize) -> Option<Request> {
        let pause = self.shared.settings.pause.filter(|_| self.served > 0);
        let is_interrupted = pause.is_some_and(|pause| !interrupt::wait(pause));
        (!is_interrupted).then(|| self.request(index, case, step))
    }

    /// Notes how a case ended. If it is run several times, the first failure counts.
    pub(super) fn settle(&mut self, index: usize, mut judgement: Judgement, is_declined: bool) {
        let case = self.shared.cases[index];
        if self.round > 0 {
            if !self.part.judged.get(&index).is_none_or(Judgement::is_sound) || judgement.is_sound() {
                return;
            }
            let (round, served) = (self.round + 1, self.served);
            let note = format!("only after others: in round {round}, as request {served} of its process");
            judgement.note = join(&note, &judgement.note);
            judgement.after_others = true;
        }
        if is_declined {
            self.part.declined.insert(index);
        }
        self.shared.watch(|watch| watch.result(case, &judgement));
        let settings = self.shared.settings;
        let counts =
            || judgement.counts_against(case, settings.strict) || judgement.counts_beside(case, settings.strict);
        if settings.fail_fast && !settings.known.covers(case) && counts() {
            self.shared.end_with(Ending::FirstFailure);
        }
        self.part.judged.insert(index, judgement);
    }

    /// Charges a case with a crash, a hang or garbage.
    pub(super) fn charge(&mut self, index: usize, outcome: Outcome, how: &str) {
        let case = self.shared.cases[index].for_a_while();
        let step = case.after().len();
        let request = self.request(index, &case, step);
        self.shared.watch(|watch| watch.outcome(&case, step, &request, &outcome));
        let mut judgement = judge(&case, self.shared.terms, outcome);
        judgement.note = join(&judgement.note, how);
        judgement.after_others = how == AFTER_OTHERS;
        self.part.judged.remove(&index);
        self.part.declined.remove(&index);
        self.settle(index, judgement, false);
        if !self.shared.settings.known.covers(&case) {
            self.shared.count_loss();
        }
    }

    fn finish(&mut self) {
        for trouble in self.testee.finish() {
            match trouble {
                Trouble::Stray { id, what } if self.asked.contains_key(&id) => {
                    self.charge(self.asked[&id].0, Outcome::Garbage(what), "");
                }
                Trouble::Stray { what, .. } | Trouble::Unasked(what) => {
                    let answered = std::mem::take(&mut self.answered);
                    if !self.speaks_after(&answered) {
                        self.part.shutdown.push(what);
                    }
                }
                Trouble::Shutdown(what) => self.part.shutdown.push(what),
            }
        }
        self.amend();
        // A process that was started to ask again is no longer needed.
        self.testee.restart();
    }
}

/// Templates, expanded in this order on a thread of their own while the testee works. None waits longer than the next one takes, so that
/// no more of them are held at a time.
fn prepared<'s, 'a: 's>(scope: &'s Scope<'s, '_>, templates: Vec<&'a Case>) -> Receiver<Cow<'a, Case>> {
    let (ready, prepared) = mpsc::sync_channel(0);
    if templates.is_empty() {
        return prepared;
    }
    let work = move || {
        for case in templates {
            let case = case.for_a_while();
            case.prepare();
            if ready.send(case).is_err() {
                return;
            }
        }
    };
    // Without a thread nothing is ready when it is asked for, and is expanded then.
    let _ = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work);
    prepared
}

/// The outputs that are accepted without parsing the reply. There are none for the requests that are sent first: nothing was prepared for them.
fn accepted(case: &Case, step: usize) -> Accepted {
    if step == case.after().len() { case.accepted() } else { Accepted::default() }
}

/// How many bytes are held while a request waits.
fn size(case: &Case, step: usize, request: &Request) -> usize {
    if case.is_template && step == case.after().len() { case.prepare() } else { request.input.len() }
}

/// Returns whether no other case may run in the process of a case: the script kills it.
pub(super) fn has_its_process_to_itself(case: &Case) -> bool {
    case.needs.contains(Feature::Kill)
}

/// Returns whether the outcome does not belong to the request, but to another one or to none.
fn is_end(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Stray { .. } | Outcome::Interrupted | Outcome::NotReady(_))
}

/// The verdict on a case whose process was lost while it answered one of the requests that are sent first.
fn sent_before(outcome: Outcome, step: usize) -> Outcome {
    let note =
        |what: String| join(&what, &format!("at request {} of those that are sent before the case's own", step + 1));
    match outcome {
        Outcome::Crash(what) => Outcome::Crash(note(what)),
        Outcome::Timeout(what) => Outcome::Timeout(note(what)),
        Outcome::Garbage(what) => Outcome::Garbage(note(what)),
        other => other,
    }
}

/// Returns whether a case was declined that the hello promises. Switching the model's thinking on is not promised by any.
pub(super) fn is_declined(case: &Case, outcome: &Outcome) -> bool {
    !case.reasoning && matches!(outcome, Outcome::Reply(Reply::Unsupported(_)))
}

pub(super) fn join(one: &str, other: &str) -> String {
    let separator = if one.is_empty() || other.is_empty() { "" } else { "\n" };
    format!("{}{separator}{other}", one.trim_end())
}
