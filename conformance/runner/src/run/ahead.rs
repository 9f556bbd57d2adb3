//! Runs cases on copies of a testee before their turn comes, on all processors.
//!
//! Only a testee that remembers nothing has twins. What they answered is taken in the order of the cases, and a case that they did not
//! answer runs against the testee itself when its turn comes. So the run is the same as without them.

use super::Shared;
use super::worker::{Worker, is_declined};
use crate::testee::Testee;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use threadspec_judge::json::DEEP_STACK;
use threadspec_judge::verdict::{Judgement, judge};

/// How many cases may be answered before their turn.
const MOST_AHEAD: usize = 64;
/// How many bytes of inputs and expectations several copies may work on at the same time; a single case may be larger. What is made of them
/// takes many times as much.
const MOST_AT_ONCE: usize = 2 << 20;

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
