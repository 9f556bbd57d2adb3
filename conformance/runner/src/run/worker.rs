//! One testee and its share of the cases.

use super::blame::{AFTER_OTHERS, as_loss};
use super::order::{request_id, sort};
use super::{Ending, Shared};
use crate::testee::{Testee, Trouble, interrupt};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use threadspec_judge::corpus::{Accepted, Case};
use threadspec_judge::protocol::{Feature, JudgeProfile, Reply, Request};
use threadspec_judge::verdict::Outcome;
use threadspec_judge::verdict::{Earlier, Judgement, Verdict, judge};

/// How many bytes may wait for their replies; a single request may be longer.
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

/// Whether the results of pipelined requests are final.
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
    pub(super) part: ShareResults,
}

impl<'w, 's, 'a> Worker<'w, 's, 'a> {
    pub(super) fn new(shared: &'w Shared<'s, 'a>, testee: &'w mut (dyn Testee + Send), share: Vec<usize>) -> Self {
        let (asked, answered, since) = (HashMap::new(), Vec::new(), Instant::now());
        Self { shared, testee, share, asked, answered, served: 0, since, round: 0, part: ShareResults::default() }
    }

    pub(super) fn work(mut self) -> ShareResults {
        let window = self.window();
        if window == 1 || self.several_at_once(window) == Trust::Doubted {
            self.restart();
            self.one_by_one();
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

    pub(super) fn request(&mut self, index: usize, step: usize) -> Request {
        let number = self.shared.requests.fetch_add(1, Ordering::Relaxed) + 1;
        let id = request_id(self.shared.settings.seed, number);
        if self.asked.len() == MOST_ASKED {
            self.asked.clear();
        }
        self.asked.insert(id, (index, step));
        self.served += 1;
        let case = self.shared.cases[index];
        let input = case.after().get(step).map_or_else(|| case.input(), String::as_str).to_owned();
        Request { reasoning: case.reasoning, ..Request::new(id, case.op, self.shared.settings.profile, input) }
    }

    /// Asks all cases without waiting for each reply. If any case does not pass, the results are not final.
    fn several_at_once(&mut self, window: usize) -> Trust {
        let cases = self.shared.cases;
        sort(cases, &mut self.share, self.shared.settings.seed, 0);
        let (alone, share): (Vec<usize>, Vec<usize>) =
            self.share.iter().partition(|&&index| has_its_process_to_itself(cases[index]));
        let mut steps =
            share.into_iter().flat_map(|index| (0..=cases[index].after().len()).map(move |step| (index, step)));
        let (mut waiting, mut bytes): (HashMap<i64, (usize, usize, Request)>, usize) = (HashMap::new(), 0);
        let mut earlier: HashMap<usize, Earlier> = HashMap::new();
        loop {
            // Half a window at once: several requests are one message to the thread that writes them.
            let room = if waiting.len() <= window / 2 { window } else { 0 };
            while waiting.len() < room
                && bytes < MOST_WAITING
                && let Some((index, step)) = steps.next()
            {
                let request = self.request(index, step);
                bytes += request.input.len();
                self.testee.send_for(&request, accepted(cases[index], step));
                waiting.insert(request.id, (index, step, request));
            }
            if waiting.is_empty() {
                break;
            }
            let (id, outcome) = self.testee.receive();
            if self.shared.is_over() {
                return Trust::Believed;
            }
            let Some((index, step, request)) = waiting.remove(&id).filter(|_| outcome.is_reply()) else {
                return Trust::Doubted;
            };
            bytes -= request.input.len();
            let case = cases[index];
            self.shared.watch(|watch| watch.outcome(case, step, &request, &outcome));
            if step < case.after().len() {
                let earlier = earlier.entry(index).or_default();
                earlier.hear(case, self.shared.terms, step, &outcome);
                if !earlier.is_sound() {
                    return Trust::Doubted;
                }
            } else {
                let is_declined = is_declined(case, &outcome);
                let judgement = judge(case, self.shared.terms, outcome);
                if !matches!(judgement.verdict, Verdict::Pass | Verdict::Unsupported) {
                    return Trust::Doubted;
                }
                self.settle(index, judgement, is_declined);
                self.answer(index);
            }
        }
        for index in alone {
            self.case(index);
            if self.shared.is_over() {
                break;
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

    fn one_by_one(&mut self) {
        self.part = ShareResults::default();
        let settings = self.shared.settings;
        while self.goes_on() {
            let mut order = self.share.clone();
            // Later rounds are shuffled in any case: they are there to find what depends on the order.
            let seed = settings.seed.or((self.round > 0).then_some(0));
            sort(self.shared.cases, &mut order, seed, self.round);
            for index in order {
                self.case(index);
                if self.shared.is_over() {
                    return;
                }
            }
            self.round += 1;
        }
    }

    fn goes_on(&self) -> bool {
        let settings = self.shared.settings;
        let is_time = settings.soak.is_some_and(|soak| self.shared.began.elapsed() < soak);
        !self.share.is_empty() && (self.round < settings.rounds || is_time) && !self.shared.is_over()
    }

    fn case(&mut self, index: usize) {
        self.amend();
        loop {
            if self.is_spoken_after() && self.shared.is_over() {
                return;
            }
            match self.put(index) {
                (earlier, outcome) if outcome.is_reply() => {
                    let is_declined = is_declined(self.shared.cases[index], &outcome);
                    let judgement = earlier.with(judge(self.shared.cases[index], self.shared.terms, outcome));
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
                    return self.find_culprit(index, &answered, outcome);
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
                    self.charge(before, as_loss(unasked), "not every time: asked again, it says nothing more");
                }
            }
        }
        true
    }

    /// Sends the requests of a case one after the other, and judges the replies to those that are sent first. What these leave behind
    /// belongs to this case.
    pub(super) fn put(&mut self, index: usize) -> (Earlier, Outcome) {
        let case = self.shared.cases[index];
        let before = self.answered.last().map(|&before| self.shared.cases[before]);
        if before.into_iter().chain([case]).any(has_its_process_to_itself) {
            self.restart();
        }
        let mut earlier = Earlier::default();
        for step in 0..case.after().len() {
            let Some(request) = self.next_request(index, step) else {
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
        let Some(request) = self.next_request(index, case.after().len()) else {
            return (earlier, Outcome::Interrupted);
        };
        let outcome = self.testee.ask_for(&request, case.accepted());
        if !is_end(&outcome) {
            self.shared.watch(|watch| watch.outcome(case, case.after().len(), &request, &outcome));
        }
        (earlier, outcome)
    }

    /// The next request to this process, after a pause if it has had one; `None` if the run was interrupted meanwhile.
    fn next_request(&mut self, index: usize, step: usize) -> Option<Request> {
        let pause = self.shared.settings.pause.filter(|_| self.served > 0);
        let is_interrupted = pause.is_some_and(|pause| !interrupt::wait(pause));
        (!is_interrupted).then(|| self.request(index, step))
    }

    /// Notes how a case ended. If it is run several times, the first failure counts.
    pub(super) fn settle(&mut self, index: usize, mut judgement: Judgement, is_declined: bool) {
        let case = self.shared.cases[index];
        if self.round > 0 {
            let passed = |earlier: &Judgement| matches!(earlier.verdict, Verdict::Pass | Verdict::Unsupported);
            if !self.part.judged.get(&index).is_none_or(passed) || passed(&judgement) {
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
        if settings.fail_fast && !settings.known.covers(case) && judgement.counts_against(case, settings.strict) {
            self.shared.end_with(Ending::FirstFailure);
        }
        self.part.judged.insert(index, judgement);
    }

    /// Charges a case with a crash, a hang or garbage.
    pub(super) fn charge(&mut self, index: usize, outcome: Outcome, how: &str) {
        let case: &Case = self.shared.cases[index];
        let step = case.after().len();
        let request = self.request(index, step);
        self.shared.watch(|watch| watch.outcome(case, step, &request, &outcome));
        let mut judgement = judge(case, self.shared.terms, outcome);
        judgement.note = join(&judgement.note, how);
        judgement.after_others = how == AFTER_OTHERS;
        self.part.judged.remove(&index);
        self.part.declined.remove(&index);
        self.settle(index, judgement, false);
        if !self.shared.settings.known.covers(case) {
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

/// The outputs that are accepted without parsing the reply. There are none for the requests that are sent first: nothing was prepared for them.
fn accepted(case: &Case, step: usize) -> Accepted {
    if step == case.after().len() { case.accepted() } else { Accepted::default() }
}

/// Whether no other case may be put to the process that a case is put to: the script kills it.
pub(super) fn has_its_process_to_itself(case: &Case) -> bool {
    case.needs.contains(Feature::Kill)
}

/// Whether the outcome does not belong to the request, but to another one or to none.
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

/// Whether a case was declined that its hello promises. Switching the model's thinking on is not promised by any.
pub(super) fn is_declined(case: &Case, outcome: &Outcome) -> bool {
    !case.reasoning && matches!(outcome, Outcome::Reply(Reply::Unsupported(_)))
}

pub(super) fn join(one: &str, other: &str) -> String {
    let separator = if one.is_empty() || other.is_empty() { "" } else { "\n" };
    format!("{}{separator}{other}", one.trim_end())
}
