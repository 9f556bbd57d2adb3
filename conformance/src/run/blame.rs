//! Which case is to blame when a testee crashes, hangs or prints garbage: the one that waits for its reply, or the one before, which
//! was answered.
//!
//! To find out, the cases are asked again, on fresh processes.

use super::worker::Worker;
use super::{End, judge};
use crate::testee::Outcome;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How many hanging cases are asked again: each costs the whole timeout.
const MOST_HUNG: usize = 2;

/// How many cases are asked again to find the one after which something is said: more than a whole round.
const MOST_ASKED_AGAIN: usize = 1 << 12;

/// A second answer to the hello that comes later is taken for one to a case.
const LATEST_HELLO: Duration = Duration::from_secs(2);

/// How long to wait for what a testee says unasked.
const MOMENT: Duration = Duration::from_millis(100);

const BY_ITSELF: &str = "by itself: asked alone, it ends in the same way";
pub(super) const AFTER_OTHERS: &str = "only after others: asked alone, it is answered";
const UNASKED: &str = "by itself: after its reply";

impl Worker<'_, '_, '_> {
    /// Charges the case that waited, or the one that the same process answered last.
    pub(super) fn find_culprit(&mut self, index: usize, answered: &[usize], outcome: Outcome) {
        let hangs = matches!(outcome, Outcome::Timeout(_));
        if hangs && self.shared.hung.fetch_add(1, Ordering::Relaxed) >= MOST_HUNG {
            return self.charge(index, outcome, "");
        }
        self.afresh();
        if !self.is_silent_after_hello(MOMENT) {
            return;
        }
        let alone = self.put(index);
        let own = match alone {
            Outcome::Reply(_) | Outcome::Accepted(..) => self.testee.overhear(MOMENT),
            Outcome::Interrupted => return self.shared.end_with(End::Interrupted),
            Outcome::NotReady(why) => return self.shared.end_with(End::NotReady(why)),
            _ => {
                self.started();
                return self.charge(index, outcome, BY_ITSELF);
            }
        };
        let is_other = if hangs { self.hangs_after(answered) } else { self.speaks_after(answered) };
        if let Some(own) = own {
            self.charge(index, as_loss(own), UNASKED);
        } else if is_other {
            let judgement = judge(self.shared.cases[index], self.shared.terms, alone);
            self.settle(index, judgement, false);
        } else {
            self.charge(index, outcome, AFTER_OTHERS);
        }
        self.afresh();
    }

    /// Whether a fresh process says nothing unasked for this time. If it does, the run ends: that is a fault of the handshake.
    fn is_silent_after_hello(&mut self, time: Duration) -> bool {
        let Some(unasked) = self.testee.overhear(time) else { return true };
        self.shared.end_with(match unasked {
            Outcome::Interrupted => End::Interrupted,
            Outcome::NotReady(why) => End::NotReady(why),
            Outcome::Crash(what) | Outcome::Timeout(what) | Outcome::Garbage(what) | Outcome::Stray { what, .. } => {
                End::NotReady(format!("after its hello: {what}").into())
            }
            Outcome::Reply(_) | Outcome::Accepted(_) => return true,
        });
        false
    }

    /// Whether a fresh process answers its hello only once in the time that this one took to do it twice. If not, the run ends.
    pub(super) fn hello_is_said_once(&mut self) -> bool {
        let time = self.since.elapsed().min(LATEST_HELLO) + MOMENT;
        self.afresh();
        self.is_silent_after_hello(time)
    }

    /// Charges a case that was answered with the id of the hello, unless the hello itself was answered again.
    pub(super) fn charge_for_id_of_hello(&mut self, index: usize, what: String) {
        if self.hello_is_said_once() {
            let how = if self.put(index).is_reply() { AFTER_OTHERS } else { BY_ITSELF };
            self.afresh();
            self.charge(index, Outcome::Garbage(what), how);
        }
    }

    /// Replaces the process by a fresh one.
    fn afresh(&mut self) {
        self.testee.restart();
        self.started();
    }

    /// Asks the case that was answered last again, alone and then after the others, and charges it if the testee says more than
    /// its reply; or another one, if the testee does so a while after that one. Returns whether one was charged.
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

    /// What a fresh process says beyond its replies to these cases.
    fn said_after(&mut self, cases: &[usize]) -> Option<Outcome> {
        self.afresh();
        let failed = cases.iter().map(|&index| self.put(index)).find(|outcome| !outcome.is_reply());
        let said = failed.or_else(|| self.testee.overhear(MOMENT));
        self.afresh();
        said.filter(|said| !matches!(said, Outcome::Interrupted | Outcome::NotReady(_)))
    }

    /// The case among these that is answered, and after which something is said, even alone; and what is said. It is looked for by
    /// halves.
    fn speaker(&mut self, cases: &[usize]) -> Option<(usize, Outcome)> {
        if let [one] = cases {
            return self.said_after(cases).map(|said| (*one, said));
        }
        let (earlier, later) = cases.split_at(cases.len() / 2);
        [later, earlier].into_iter().find(|half| self.said_after(half).is_some()).and_then(|half| self.speaker(half))
    }

    /// Asks the case that was answered last twice, alone, and charges it if the second time there is no reply. Returns whether it was
    /// charged.
    fn hangs_after(&mut self, answered: &[usize]) -> bool {
        let Some(&last) = answered.last() else { return false };
        self.afresh();
        let (first, second) = (self.put(last), self.put(last));
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
