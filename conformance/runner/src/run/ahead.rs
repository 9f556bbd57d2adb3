//! Runs cases before their turn: on copies of a testee, on all processors, or several at the same time on one (AGENT-INDEPENDENT).

use super::worker::{Worker, has_its_process_to_itself, is_declined, join};
use super::{Ending, Shared};
use crate::testee::Testee;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use threadspec_golden::clause;
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::protocol::JudgeProfile;
use threadspec_judge::verdict::{Earlier, Judgement, Outcome, Verdict, judge};

/// How many cases may be answered before their turn.
const MOST_AHEAD: usize = 64;
/// How many bytes of inputs and expectations several copies may work on at the same time; a single case may be larger. What is made of them
/// takes many times as much.
const MOST_AT_ONCE: usize = 8 << 20;

/// How a case ended that was answered.
struct EndedAhead {
    judgement: Judgement,
    is_declined: bool,
    /// How many requests it took.
    requests: u64,
}

/// Cases in the order of their turns, and how far the copies are.
struct Ahead<'o> {
    order: &'o [usize],
    progress: Mutex<SharedProgress>,
    changed: Condvar,
}

#[derive(Default)]
struct SharedProgress {
    /// The place of the next case for a copy.
    next: usize,
    /// The place of the case whose turn it is.
    turn: usize,
    /// The cases that copies were asked, by place; `None` for one that was not answered.
    ended: HashMap<usize, Option<EndedAhead>>,
    /// How many bytes the copies work on.
    size: usize,
    is_over: bool,
}

impl Worker<'_, '_, '_> {
    /// Runs cases on the testee in this order, and before their turn on copies, if it has them, on so many threads.
    pub(super) fn in_order(&mut self, order: &[usize], threads: usize) {
        let shared = self.shared;
        let is_plain = shared.settings.pause.is_none() && !shared.hears_outcomes() && threads > 1;
        let twins: Vec<_> = (0..if is_plain { threads } else { 0 }).map_while(|_| self.testee.twin()).collect();
        let ahead = &Ahead { order, progress: Mutex::default(), changed: Condvar::new() };
        thread::scope(|scope| {
            // However this scope is left, the twins get no more cases, or it would wait for ever.
            let _end = End(ahead);
            let mut are_ahead = false;
            for mut twin in twins {
                let deep = thread::Builder::new().stack_size(DEEP_STACK);
                are_ahead |= deep.spawn_scoped(scope, move || ahead.work(shared, &mut *twin)).is_ok();
            }
            for (place, &index) in order.iter().enumerate() {
                match are_ahead.then(|| ahead.take(place)).flatten() {
                    Some(answered) => self.settle_answered(index, answered),
                    None => self.case(index),
                }
                if shared.is_over() {
                    return;
                }
            }
        });
    }

    /// Notes how a case ended that a copy answered.
    fn settle_answered(&mut self, index: usize, EndedAhead { judgement, is_declined, requests }: EndedAhead) {
        self.make_room(self.shared.cases[index]);
        self.count(requests);
        self.settle(index, judgement, is_declined);
        self.answer(index);
    }
}

impl Ahead<'_> {
    fn progress(&self) -> MutexGuard<'_, SharedProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'p>(&self, progress: MutexGuard<'p, SharedProgress>) -> MutexGuard<'p, SharedProgress> {
        self.changed.wait(progress).unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs cases on a copy until there are no more.
    fn work(&self, shared: &Shared<'_, '_>, twin: &mut (dyn Testee + Send)) {
        let requests = AtomicI64::new(0);
        let mut worker = Worker::new(shared, twin, Vec::new()).counting(&requests);
        while let Some(place) = self.next() {
            let index = self.order[place];
            let mut size = 0;
            let ask = AssertUnwindSafe(|| {
                let case = shared.cases[index].for_a_while();
                if case.is_template {
                    size = case.prepare();
                    self.make_room(size);
                }
                let (earlier, outcome) = worker.put(index, &case);
                let is_declined = is_declined(&case, &outcome);
                outcome.is_reply().then(|| (earlier.with(judge(&case, shared.terms, outcome)), is_declined))
            });
            // Whoever puts it again when its turn comes panics, too.
            let ended = catch_unwind(ask).unwrap_or_default();
            let requests = requests.swap(0, Ordering::Relaxed).unsigned_abs();
            let answered = ended.map(|(judgement, is_declined)| EndedAhead { judgement, is_declined, requests });
            let mut progress = self.progress();
            progress.size -= size;
            progress.ended.insert(place, answered);
            self.changed.notify_all();
        }
    }

    /// Waits until a case of this size can be worked on beside the others.
    fn make_room(&self, size: usize) {
        let mut progress = self.progress();
        while progress.size > 0 && progress.size + size > MOST_AT_ONCE {
            progress = self.wait(progress);
        }
        progress.size += size;
    }

    /// The place of the next case for a copy.
    fn next(&self) -> Option<usize> {
        let mut progress = self.progress();
        while !progress.is_over && progress.next >= progress.turn + MOST_AHEAD {
            progress = self.wait(progress);
        }
        let place = progress.next;
        progress.next += 1;
        (place < self.order.len() && !progress.is_over).then_some(place)
    }

    /// Waits until a copy was asked the case whose turn it is now. Returns how it ended, if it was answered.
    fn take(&self, place: usize) -> Option<EndedAhead> {
        let mut progress = self.progress();
        progress.turn = place;
        self.changed.notify_all();
        loop {
            if let Some(answered) = progress.ended.remove(&place) {
                return answered;
            }
            progress = self.wait(progress);
        }
    }
}

/// Ends the work of the copies when it is dropped.
struct End<'a>(&'a Ahead<'a>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.progress().is_over = true;
        self.0.changed.notify_all();
    }
}

// Runs at the same time: AGENT-INDEPENDENT, where the hello declares that several requests may be sent at once.

const CLAUSE: &str = clause::AGENT_INDEPENDENT;
/// A case, and the runs that come before it, are sent so many times at once.
const TIMES: usize = 4;

const TOGETHER: &str = "only at the same time as other runs: one by one, it passes";

impl Worker<'_, '_, '_> {
    /// Puts the cases of AGENT-INDEPENDENT that pass one by one again, without waiting for any reply.
    pub(super) fn together(&mut self) {
        if self.shared.settings.profile != JudgeProfile::Universal || !self.shared.terms.abilities.concurrent {
            return;
        }
        let judged: Vec<usize> = self.part.judged.keys().copied().collect();
        for index in judged {
            let is_own = self.shared.cases[index].clauses.iter().any(|clause| clause == CLAUSE);
            let passes = self.part.judged.get(&index).is_some_and(|judgement| judgement.verdict == Verdict::Pass);
            let is_alone = has_its_process_to_itself(self.shared.cases[index]);
            if is_own && passes && !is_alone && !self.shared.is_over() {
                self.put_together(index);
            }
        }
    }

    fn put_together(&mut self, index: usize) {
        let case = &*self.shared.cases[index].for_a_while();
        let last = case.after().len();
        let mut waiting = HashMap::new();
        // What the newest run overwrites shows in the others, so that the newest one is not the case.
        for step in (0..=last).cycle().take((last + 1) * TIMES + last) {
            let request = self.request(index, case, step);
            self.testee.send(&request);
            waiting.insert(request.id, (step, request));
        }
        let mut is_settled = false;
        while !waiting.is_empty() {
            let (id, outcome) = self.testee.receive();
            match outcome {
                Outcome::Interrupted => return self.shared.end_with(Ending::Interrupted),
                Outcome::NotReady(why) => return self.shared.end_with(Ending::NotReady(why)),
                outcome if outcome.is_reply() => {
                    let Some((step, request)) = waiting.remove(&id) else { return };
                    if is_settled {
                        continue;
                    }
                    let mut judgement = if step < last {
                        let mut earlier = Earlier::default();
                        earlier.hear(case, self.shared.terms, step, &outcome);
                        earlier.with(Judgement::new(Verdict::Pass, ""))
                    } else {
                        judge(case, self.shared.terms, outcome.clone())
                    };
                    if !judgement.is_sound() {
                        judgement.note = join(TOGETHER, &judgement.note);
                        self.shared.watch(|watch| watch.outcome(case, step, &request, &outcome));
                        self.settle(index, judgement, false);
                        is_settled = true;
                    }
                }
                other => {
                    self.started();
                    return self.charge(index, other, TOGETHER);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::InProcess;
    use crate::run::{Run, Settings, Watch, run};
    use serde_json::json;
    use threadspec_judge::corpus::{Case, Corpus, File};
    use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Reply, Request};
    use threadspec_judge::reference::Reference;
    use threadspec_judge::verdict::{Judgement, Verdict};

    /// The reference, but for a wrong answer to each text that ends in 3 and a panic at each that ends in 7.
    struct Odd;

    impl Implementation for Odd {
        fn hello(&self) -> Hello {
            Reference.hello()
        }

        fn answer(&mut self, request: &Request) -> Reply {
            assert!(!request.input.contains("7\""), "it ends in 7");
            if request.input.contains("3\"") { Reply::Ok("wrong".into()) } else { Reference.answer(request) }
        }
    }

    /// The cases that ended, in the order in which they did.
    #[derive(Default)]
    struct Ended(Vec<String>);

    impl Watch for Ended {
        fn result(&mut self, case: &Case, judgement: &Judgement) {
            self.0.push(format!("{} {}", case.name(), judgement.verdict));
        }

        fn hears_outcomes(&self) -> bool {
            false
        }
    }

    fn of_fifty(settings: &Settings, testee: InProcess<Odd>, look: impl FnOnce(&Run<'_>, &[String])) {
        let case = |number: usize| {
            let text = format!("text {number}");
            json!({"name": format!("case-{number}"), "why": "w", "clauses": ["ESC-3"], "input": {"text": text}, "expect": {"ok": text}})
        };
        let text = json!({"op": "escape", "about": "x", "cases": (0..50).map(case).collect::<Vec<_>>()}).to_string();
        let (corpus, problems) = Corpus::read(&[File { path: "escape/a.json".into(), text }]);
        assert_eq!(problems, []);
        let (cases, mut ended) = (corpus.cases.iter().collect::<Vec<_>>(), Ended::default());
        let run = run(&mut [Box::new(testee)], &cases, settings, &mut ended);
        look(&run, &ended.0);
    }

    fn with_twins() -> InProcess<Odd> {
        InProcess::new(Odd).with_twins(|| Box::new(InProcess::new(Odd)))
    }

    #[test]
    fn a_run_is_the_same_with_twins() {
        let plain = Settings::new(JudgeProfile::Literal);
        let shuffled = Settings { seed: Some(7), ..plain.clone() };
        let first = Settings { fail_fast: true, ..shuffled.clone() };
        for settings in [plain.clone(), shuffled, first, Settings { rounds: 3, ..plain }] {
            of_fifty(&settings, InProcess::new(Odd), |alone, order| {
                of_fifty(&settings, with_twins(), |beside, same_order| {
                    assert_eq!(order, same_order);
                    assert_eq!((alone.requests, &alone.stopped), (beside.requests, &beside.stopped));
                    for (one, other) in alone.results.iter().zip(&beside.results) {
                        assert_eq!((&one.case.id, &one.judgement), (&other.case.id, &other.judgement));
                    }
                });
            });
        }
    }

    #[test]
    fn cases_end_in_their_order_whoever_answers() {
        of_fifty(&Settings::new(JudgeProfile::Literal), with_twins(), |run, order| {
            let verdict = |number: usize| match number % 10 {
                3 => Verdict::Fail,
                7 => Verdict::Crash,
                _ => Verdict::Pass,
            };
            let expected: Vec<String> = (0..50).map(|number| format!("case-{number} {}", verdict(number))).collect();
            assert_eq!(order, expected);
            assert_eq!(run.results.len(), 50);
        });
    }
}
