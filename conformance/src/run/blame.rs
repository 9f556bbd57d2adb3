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
        if let Some(unasked) = self.testee.overhear(MOMENT) {
            return self.shared.end_with(match unasked {
                Outcome::Interrupted => End::Interrupted,
                Outcome::NotReady(why) => End::NotReady(why),
                Outcome::Crash(what) | Outcome::Garbage(what) | Outcome::Stray { what, .. } => {
                    End::NotReady(format!("after its hello: {what}").into())
                }
                Outcome::Timeout(_) | Outcome::Reply(_) | Outcome::Accepted(..) => {
                    return self.charge(index, outcome, "");
                }
            });
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

    /// Replaces the process by a fresh one.
    fn afresh(&mut self) {
        self.testee.restart();
        self.started();
    }

    /// Asks the case that was answered last again, alone and then after the others, and charges it if the testee says more than
    /// its reply. Returns whether it was charged.
    pub(super) fn speaks_after(&mut self, answered: &[usize]) -> bool {
        let Some((&last, others)) = answered.split_last() else { return false };
        for (others, how) in [(&[][..], UNASKED), (others, AFTER_OTHERS)] {
            self.afresh();
            let overheard = match others.iter().chain([&last]).map(|&index| self.put(index)).last() {
                Some(Outcome::Reply(_) | Outcome::Accepted(..)) | None => self.testee.overhear(MOMENT),
                other => other,
            };
            self.afresh();
            match overheard {
                None => {}
                Some(Outcome::Interrupted | Outcome::NotReady(_)) => return false,
                Some(outcome) => {
                    self.charge(last, as_loss(outcome), how);
                    return true;
                }
            }
        }
        false
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
fn as_loss(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Stray { what, .. } => Outcome::Garbage(what),
        outcome => outcome,
    }
}
