//! Finds the case that is to blame when a testee crashes, hangs or prints garbage: the one that is waiting for its reply, or one that was
//! answered before it.
//!
//! The cases are asked again for this, each time on a fresh process.

use super::Ending;
use super::worker::{Worker, is_declined};
use std::sync::atomic::Ordering;
use std::time::Duration;
use threadspec_judge::corpus::Case;
use threadspec_judge::verdict::{Earlier, Outcome, judge};

/// At most this many hanging cases are asked again, since each of them takes the whole timeout.
const MOST_HUNG: usize = 2;

/// At most this many cases are asked again in search of the one that causes unexpected output: more than a whole round.
const MOST_ASKED_AGAIN: usize = 1 << 12;

/// A second answer to the hello counts as one only within this time; later, it belongs to a case.
const LATEST_HELLO: Duration = Duration::from_secs(2);

/// How long to listen for unexpected output.
const MOMENT: Duration = Duration::from_millis(100);

/// A late case is asked again with its timeout multiplied by this, to measure how late it is.
const PATIENCE: u32 = 2;

const BY_ITSELF: &str = "by itself: run alone, it ends in the same way";
pub(super) const AFTER_OTHERS: &str = "only after others: run alone, it is answered";
const UNASKED: &str = "by itself: after its reply";

impl Worker<'_, '_, '_> {
    /// Charges the waiting case, or the case that the same process answered last.
    pub(super) fn find_culprit(&mut self, (index, case): (usize, &Case), answered: &[usize], outcome: Outcome) {
        let hangs = matches!(outcome, Outcome::Timeout(_));
        if hangs && self.shared.hung.fetch_add(1, Ordering::Relaxed) >= MOST_HUNG {
            return self.charge(index, outcome, "");
        }
        self.afresh();
        if !self.is_silent_after_hello(MOMENT) {
            return;
        }
        let (earlier, alone, lateness) = if hangs {
            self.put_patiently(index, case)
        } else {
            let (earlier, outcome) = self.put(index, case);
            (earlier, outcome, None)
        };
        if let Some(late) = lateness.filter(|_| alone.is_reply()) {
            self.afresh();
            return self.charge(index, outcome, &format!("by itself: run alone, it is answered after {late:.1?}"));
        }
        let own = match alone {
            Outcome::Reply(_) | Outcome::Accepted(..) => self.testee.overhear(MOMENT),
            Outcome::Interrupted => return self.shared.end_with(Ending::Interrupted),
            Outcome::NotReady(why) => return self.shared.end_with(Ending::NotReady(why)),
            _ => {
                self.started();
                return self.charge(index, outcome, BY_ITSELF);
            }
        };
        let is_other = if hangs { self.hangs_after(answered) } else { self.speaks_after(answered) };
        if let Some(own) = own {
            self.charge(index, as_loss(own), UNASKED);
        } else if is_other {
            let judgement = earlier.with(judge(case, self.shared.terms, alone));
            self.settle(index, judgement, false);
        } else if let Some(again) = hangs.then(|| self.asked_again_in_order(answered, index)).flatten() {
            self.forgive((index, case), outcome, again);
        } else {
            self.charge(index, outcome, AFTER_OTHERS);
        }
        self.afresh();
    }

    /// Asks a case whose reply need not be judged.
    fn put_again(&mut self, index: usize) -> (Earlier, Outcome) {
        self.put(index, &self.shared.cases[index].for_a_while())
    }

    /// Asks a case, and waits longer than the testee may take.
    fn put_patiently(&mut self, index: usize, case: &Case) -> (Earlier, Outcome, Option<Duration>) {
        self.testee.be_patient(PATIENCE);
        let (earlier, outcome) = self.put(index, case);
        let late = self.testee.lateness();
        self.testee.be_patient(1);
        (earlier, outcome, late)
    }

    /// The judgement of a case that timed out once, but is answered when a fresh process gets the same requests again.
    fn asked_again_in_order(&mut self, answered: &[usize], index: usize) -> Option<(Earlier, Outcome)> {
        if answered.len() > MOST_ASKED_AGAIN {
            return None;
        }
        self.afresh();
        let are_answered = answered.iter().all(|&earlier| self.put_again(earlier).1.is_reply());
        let put = are_answered.then(|| self.put_again(index));
        self.afresh();
        put.filter(|(_, outcome)| outcome.is_reply())
    }

    /// Excuses a case that timed out only once, perhaps because the machine was busy, and reports it as late.
    fn forgive(&mut self, (index, case): (usize, &Case), late: Outcome, (earlier, again): (Earlier, Outcome)) {
        if let Outcome::Timeout(what) = late {
            let what = what.lines().next().unwrap_or_default().to_owned();
            self.part.late.push(format!("{}: {what} once; run again in the same order, it was in time", case.id));
        }
        let is_declined = is_declined(case, &again);
        let judgement = earlier.with(judge(case, self.shared.terms, again));
        self.settle(index, judgement, is_declined);
    }

    /// Returns whether a fresh process stays silent for this long. If it does not, its handshake is at fault, and the run ends.
    fn is_silent_after_hello(&mut self, time: Duration) -> bool {
        let Some(unasked) = self.testee.overhear(time) else { return true };
        self.shared.end_with(match unasked {
            Outcome::Interrupted => Ending::Interrupted,
            Outcome::NotReady(why) => Ending::NotReady(why),
            Outcome::Crash(what) | Outcome::Timeout(what) | Outcome::Garbage(what) | Outcome::Stray { what, .. } => {
                Ending::NotReady(format!("after its hello: {what}").into())
            }
            Outcome::Reply(_) | Outcome::Accepted(_) => return true,
        });
        false
    }

    /// Returns whether a fresh process answers its hello only once within the time in which this one answered twice. If not, the run ends.
    pub(super) fn hello_is_said_once(&mut self) -> bool {
        let time = self.since.elapsed().min(LATEST_HELLO) + MOMENT;
        self.afresh();
        self.is_silent_after_hello(time)
    }

    /// Charges a case that was answered with the id of the hello, unless the hello itself was answered again.
    pub(super) fn charge_for_id_of_hello(&mut self, index: usize, what: String) {
        if self.hello_is_said_once() {
            let how = if self.put_again(index).1.is_reply() { AFTER_OTHERS } else { BY_ITSELF };
            self.afresh();
            self.charge(index, Outcome::Garbage(what), how);
        }
    }

    /// Replaces the process by a fresh one.
    fn afresh(&mut self) {
        self.testee.restart();
        self.started();
    }

    /// Repeats the case that was answered last, alone and then after the others, and charges it if more than its reply comes. If the
    /// additional output follows another case with some delay, that one is charged. Returns whether a case was charged.
    pub(super) fn speaks_after(&mut self, answered: &[usize]) -> bool {
        let Some(&last) = answered.last() else { return false };
        let answered = &answered[answered.len().saturating_sub(MOST_ASKED_AGAIN)..];
        if let Some(said) = self.said_after(&[last]) {
            self.charge(last, as_loss(said), UNASKED);
            return true;
        }
        let Some(said) = self.said_after(answered) else { return false };
        match self.speaker(answered) {
            Some((earlier, said)) => self.charge(earlier, as_loss(said), UNASKED),
            None => self.charge(last, as_loss(said), AFTER_OTHERS),
        }
        true
    }

    /// The output of a fresh process beyond its replies to these cases.
    fn said_after(&mut self, cases: &[usize]) -> Option<Outcome> {
        self.afresh();
        let failed = cases.iter().map(|&index| self.put_again(index).1).find(|outcome| !outcome.is_reply());
        let said = failed.or_else(|| self.testee.overhear(MOMENT));
        self.afresh();
        said.filter(|said| !matches!(said, Outcome::Interrupted | Outcome::NotReady(_)))
    }

    /// The case that causes additional output even when it is asked alone, with that output. Found by bisection.
    fn speaker(&mut self, cases: &[usize]) -> Option<(usize, Outcome)> {
        if let [one] = cases {
            return self.said_after(cases).map(|said| (*one, said));
        }
        let (earlier, later) = cases.split_at(cases.len() / 2);
        [later, earlier].into_iter().find(|half| self.said_after(half).is_some()).and_then(|half| self.speaker(half))
    }

    /// Asks the case that was answered last twice in a row, alone, and charges it if the second reply never comes. Returns whether it was
    /// charged.
    fn hangs_after(&mut self, answered: &[usize]) -> bool {
        let Some(&last) = answered.last() else { return false };
        self.afresh();
        let (first, second) = (self.put_again(last).1, self.put_again(last).1);
        self.afresh();
        let hangs = first.is_reply() && matches!(second, Outcome::Timeout(_));
        if hangs {
            self.charge(last, second, "by itself: it is answered, and nothing after it");
        }
        hangs
    }
}

/// A stray reply as the case's own garbage: no other case was asked.
pub(super) fn as_loss(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Stray { what, .. } => Outcome::Garbage(what),
        outcome => outcome,
    }
}

#[cfg(test)]
mod tests {
    use crate::run::{Run, Settings, run};
    use crate::testee::{Testee, Trouble};
    use serde_json::json;
    use std::time::Duration;
    use threadspec_judge::corpus::{Case, Corpus, File};
    use threadspec_judge::protocol::{Hello, Implementation, JudgeProfile, Request};
    use threadspec_judge::reference::Reference;
    use threadspec_judge::verdict::Outcome;
    use threadspec_judge::verdict::Verdict;

    /// The reference, late with one request of each process by a given time.
    struct Late {
        hello: Hello,
        /// The number of the request, and of how many processes.
        request: usize,
        processes: usize,
        /// How late a reply is that is waited for patiently; it never comes otherwise.
        by: Option<Duration>,
        served: usize,
        is_patient: bool,
        waiting: Option<Request>,
        lateness: Option<Duration>,
    }

    impl Late {
        fn new(request: usize, processes: usize, by: Option<Duration>) -> Self {
            let hello = Reference.hello();
            Self { hello, request, processes, by, served: 0, is_patient: false, waiting: None, lateness: None }
        }
    }

    impl Testee for Late {
        fn hello(&self) -> &Hello {
            &self.hello
        }

        fn send(&mut self, request: &Request) {
            self.waiting = Some(request.clone());
        }

        fn receive(&mut self) -> (i64, Outcome) {
            let request = self.waiting.take().expect("a request");
            self.served += 1;
            let is_late = self.processes > 0 && self.served == self.request;
            if is_late && self.is_patient && self.by.is_some() {
                self.lateness = self.by;
            } else if is_late {
                self.restart();
                return (request.id, Outcome::Timeout("no reply within 10s".into()));
            }
            (request.id, Outcome::Reply(Reference.answer(&request)))
        }

        fn be_patient(&mut self, times: u32) {
            (self.is_patient, self.lateness) = (times > 1, None);
        }

        fn lateness(&self) -> Option<Duration> {
            self.lateness
        }

        fn restart(&mut self) {
            self.processes = self.processes.saturating_sub(usize::from(self.served >= self.request));
            self.served = 0;
        }

        fn finish(&mut self) -> Vec<Trouble> {
            Vec::new()
        }
    }

    fn ended(testee: Late, look: impl FnOnce(&Run<'_>)) {
        let case = |name: &str| json!({"name": name, "why": "w", "clauses": ["ESC-3"], "input": {"text": name}, "expect": {"ok": name}});
        let cases = [case("one"), case("two"), case("three")];
        let text = json!({"op": "escape", "about": "x", "cases": cases}).to_string();
        let (corpus, problems) = Corpus::read(&[File { path: "escape/a.json".into(), text }]);
        assert_eq!(problems, []);
        let cases: Vec<&Case> = corpus.cases.iter().collect();
        look(&run(&mut [Box::new(testee)], &cases, &Settings::new(JudgeProfile::Literal), &mut ()));
    }

    fn verdicts(run: &Run<'_>) -> Vec<Verdict> {
        run.results.iter().map(|result| result.judgement.verdict).collect()
    }

    #[test]
    fn who_is_late_once_is_not_charged_and_it_is_said() {
        ended(Late::new(2, 1, None), |run| {
            assert_eq!(verdicts(run), [Verdict::Pass; 3]);
            assert_eq!(
                run.late,
                ["escape/a/two: no reply within 10s once; run again in the same order, it was in time"]
            );
        });
    }

    #[test]
    fn who_hangs_after_others_hangs_again() {
        ended(Late::new(3, usize::MAX, None), |run| {
            assert_eq!(verdicts(run), [Verdict::Pass, Verdict::Pass, Verdict::Timeout]);
            assert!(run.results[2].judgement.note.contains("only after others") && run.late.is_empty());
        });
    }

    #[test]
    fn who_is_late_says_by_how_much() {
        ended(Late::new(1, 2, Some(Duration::from_millis(12_340))), |run| {
            assert_eq!(verdicts(run), [Verdict::Timeout, Verdict::Pass, Verdict::Pass]);
            let note = &run.results[0].judgement.note;
            assert_eq!(note, "no reply within 10s\nby itself: run alone, it is answered after 12.3s");
        });
    }
}
