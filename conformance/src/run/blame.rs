//! Who is to blame when a testee is lost: the case that waits for its reply, or the one before, which was answered.
//!
//! The cases are asked again, on processes that were asked nothing else.

use super::worker::Worker;
use super::{End, judge};
use crate::testee::Outcome;
use std::sync::atomic::Ordering;

/// So many hanging cases are asked again: each costs the whole timeout.
const MOST_HUNG: usize = 2;

const BY_ITSELF: &str = "by itself: asked alone, it ends in the same way";
pub(super) const AFTER_OTHERS: &str = "only after others: asked alone, it is answered";
const UNASKED: &str = "by itself: after its reply";

impl Worker<'_, '_, '_> {
    /// Charges the case that waited, or the one that was answered before it on the same process.
    pub(super) fn find_culprit(&mut self, index: usize, before: Option<usize>, outcome: Outcome) {
        let hangs = matches!(outcome, Outcome::Timeout(_));
        if hangs && self.shared.hung.fetch_add(1, Ordering::Relaxed) >= MOST_HUNG {
            return self.charge(index, outcome, "");
        }
        if let Some(unasked) = self.afresh() {
            return self.shared.end_with(match unasked {
                Outcome::Interrupted => End::Interrupted,
                Outcome::NotReady(why) => End::NotReady(why),
                Outcome::Crash(what) | Outcome::Garbage(what) | Outcome::Stray { what, .. } => {
                    End::NotReady(format!("after its hello {what}"))
                }
                Outcome::Timeout(_) | Outcome::Reply(_) => return self.charge(index, outcome, ""),
            });
        }
        let alone = self.put(index);
        let own = match alone {
            Outcome::Reply(_) => self.testee.overhear(),
            Outcome::Interrupted => return self.shared.end_with(End::Interrupted),
            Outcome::NotReady(why) => return self.shared.end_with(End::NotReady(why)),
            _ => {
                self.started();
                return self.charge(index, outcome, BY_ITSELF);
            }
        };
        let culprit = before.filter(|&before| if hangs { self.hangs_after(before) } else { self.speaks_after(before) });
        match (culprit, own) {
            (_, Some(own)) => self.charge(index, as_loss(own), UNASKED),
            (Some(_), None) => {
                let judgement = judge(self.shared.cases[index], self.shared.terms, alone);
                self.settle(index, judgement, false);
            }
            (None, None) => self.charge(index, outcome, AFTER_OTHERS),
        }
        self.restart();
    }

    /// Starts the testee, and returns what comes unasked.
    fn afresh(&mut self) -> Option<Outcome> {
        self.testee.restart();
        self.started();
        self.testee.overhear()
    }

    /// Asks an answered case again, alone, and charges it with what comes after its reply.
    pub(super) fn speaks_after(&mut self, index: usize) -> bool {
        self.testee.restart();
        self.started();
        let overheard = match self.put(index) {
            Outcome::Reply(_) => self.testee.overhear(),
            lost => Some(lost),
        };
        self.testee.restart();
        self.started();
        match overheard {
            None | Some(Outcome::Interrupted | Outcome::NotReady(_)) => false,
            Some(outcome) => {
                self.charge(index, as_loss(outcome), UNASKED);
                true
            }
        }
    }

    /// Asks an answered case again, alone, and charges it if nothing is answered after it.
    fn hangs_after(&mut self, index: usize) -> bool {
        self.testee.restart();
        self.started();
        let first = self.put(index);
        let second = self.put(index);
        self.testee.restart();
        self.started();
        let hangs = matches!((first, &second), (Outcome::Reply(_), Outcome::Timeout(_)));
        if hangs {
            self.charge(index, second, "by itself: it is answered, and nothing after it");
        }
        hangs
    }
}

/// A second reply to a case that was asked alone is its own.
fn as_loss(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Stray { what, .. } => Outcome::Garbage(what),
        outcome => outcome,
    }
}
