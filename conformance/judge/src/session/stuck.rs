//! SESSION-CUT, and every other clause about a run that does not ask the model.

use super::execution::Decisions;
use super::judging::Judging;
use crate::feature::Saves;
use crate::universal::script::CallOutcome;
use crate::universal::value::quote_text;
use threadspec::session::{Approval, Beginning};
use threadspec_golden::clause;

impl Judging<'_> {
    /// Judges a run without a request.
    pub(super) fn judge_silence(&mut self, run: usize, pending: &[(usize, usize)], decisions: &Decisions) {
        let (session, records) = (self.session, self.records);
        let (plan, record) = (&session.runs[run], &records[run]);
        if record.asks() || self.endings[run].is_cut {
            return;
        }
        let refused = record.refused.is_some();
        let words = match record.refused.as_ref().or(record.failure.as_ref()) {
            Some(words) if !words.trim().is_empty() => format!(": {}", quote_text(words)),
            _ => String::new(),
        };
        let how = if refused { "is refused" } else { "does not ask the model" };
        let at = format!("run {}", run + 1);
        let is_after_cut = self.last_before(run).is_some_and(|before| self.ended_early(before));
        match &plan.beginning {
            // Whether a thread is stuck is seen when everything was judged.
            Beginning::Resume => {}
            Beginning::Message(_) if !pending.is_empty() => {
                if !record.says_why() {
                    self.add(
                        clause::SESSION_PENDING,
                        format!(
                            "{at}: its user message, sent while calls are pending, {how}{words}, and no words say why"
                        ),
                    );
                }
            }
            Beginning::Message(_) if is_after_cut => {}
            Beginning::Message(_) => {
                let is_raw = self.thread.responses().any(|(_, response)| response.has_raw());
                let behind = (run + 1..session.runs.len()).any(|later| {
                    records[later].asks() && !matches!(session.runs[later].beginning, Beginning::Message(_))
                });
                let clause = if plan.at.is_some() {
                    clause::SESSION_REWIND
                } else if (0..run).any(|before| self.endings[before].is_early) {
                    if record.says_why() && behind {
                        return;
                    }
                    clause::SESSION_CUT
                } else if plan.compacts {
                    clause::SESSION_COMPACT
                } else if self.thread.responses().any(|(_, response)| response.is_passed()) {
                    clause::SESSION_PENDING
                } else if is_raw {
                    clause::SESSION_RAW
                } else {
                    clause::AGENT_GOES_ON
                };
                let what = format!("{at}: the user message {how}{words}");
                if clause == clause::AGENT_GOES_ON {
                    self.findings.add_end(clause, what);
                } else {
                    self.add(clause, what);
                }
            }
            Beginning::Decisions(approvals) => {
                if refused && self.may_be_unsaved(pending) {
                    return self.note(&format!(
                        "{at}: decisions are refused{words}; the hello does not say that what waits is saved when a run is cut off"
                    ));
                }
                // What no call of this thread waits for may be refused, and the rest with it.
                if refused && decisions.has_others {
                    return;
                }
                let is_due = decisions.is_complete;
                if refused && is_due {
                    let clause = if approvals.values().any(|ruling| matches!(ruling, Approval::Approved { .. })) {
                        clause::SESSION_APPROVED
                    } else {
                        clause::SESSION_DENIED
                    };
                    self.add(clause, format!("{at}: complete decisions are refused{words}"));
                } else if is_due {
                    let is_lost = decisions.taken.iter().any(|place| {
                        self.thread.call(*place).is_some_and(|call| call.is_approved() && call.executions.is_empty())
                    });
                    if !is_lost {
                        let what = format!("{at}: the model is not asked again after the decisions{words}");
                        let clause =
                            if self.a_tool_fails(decisions) { clause::AGENT_FAILURE } else { clause::AGENT_GOES_ON };
                        self.findings.add_end(clause, what);
                    }
                }
            }
        }
    }

    /// Returns whether the calls that wait were sent in a round that was cut off, of which the framework need not have saved anything.
    fn may_be_unsaved(&self, pending: &[(usize, usize)]) -> bool {
        let is_cut = |&(index, _): &(usize, usize)| {
            self.thread.items[index].response().is_some_and(super::thread::ResponseFate::is_open_cut)
        };
        self.abilities.session.saves != Saves::Call && !pending.is_empty() && pending.iter().all(is_cut)
    }

    /// Returns whether one of the calls that run with a decision fails.
    fn a_tool_fails(&self, decisions: &Decisions) -> bool {
        decisions.taken.iter().any(|place| {
            let Some(response) = self.thread.items[place.0].response() else { return false };
            response
                .calls
                .iter()
                .any(|call| !call.executions.is_empty() && matches!(self.thread.outcome(call), CallOutcome::Failure(_)))
        })
    }

    /// The last run before one that was not refused.
    fn last_before(&self, run: usize) -> Option<usize> {
        (0..run).rev().find(|before| {
            let record = &self.records[*before];
            record.asks() || self.endings[*before].is_cut || !record.executed.is_empty()
        })
    }

    /// Judges whether the thread goes on after each cut.
    pub(super) fn judge_stuck(&mut self) {
        if self.findings.breaks(&[clause::SESSION_ANSWERED]) {
            return;
        }
        for run in 0..self.endings.len() {
            if !self.endings[run].is_early {
                continue;
            }
            let found = self.stuck_after(run);
            if let Some(what) = found {
                self.add(clause::SESSION_CUT, what);
                return;
            }
        }
    }

    /// How the thread is stuck after a run that ended early, if it is.
    fn stuck_after(&mut self, cut: usize) -> Option<String> {
        let records = self.records;
        // What has nothing to go on with need not ask.
        let is_silent = |run: usize| !records[run].asks() && !self.endings[run].is_cut;
        let next = (cut + 1..self.endings.len())
            .find(|&run| !is_silent(run) || matches!(self.session.runs[run].beginning, Beginning::Message(_)))?;
        if !is_silent(next) {
            return None;
        }
        let record = &records[next];
        let waited = self.waited(next);
        if waited {
            return None;
        }
        let what = format!("after the cut of run {}, run {}", cut + 1, next + 1);
        if !record.says_why() {
            let failure = record.failure.as_deref().filter(|failure| !failure.trim().is_empty());
            let says = failure.map(|failure| format!(" and fails: {}", quote_text(failure))).unwrap_or_default();
            return Some(format!("{what} does not ask the model{says}"));
        }
        let words = quote_text(record.refused.as_deref().unwrap_or_default());
        let goes_on = |run: &usize| self.can_go_on(*run);
        let behind: Vec<usize> = (next + 1..self.endings.len()).filter(goes_on).collect();
        if behind.is_empty() {
            self.note(&format!(
                "{what} is refused: {words}; the case does not go on by `resume`, so that is not judged"
            ));
            return None;
        }
        // What comes before the first of them may have settled it already.
        if (next + 1..behind[0]).chain(behind.iter().copied()).any(|run| !is_silent(run)) {
            return None;
        }
        Some(format!(
            "{what} is refused: {words}; and run {}, which should go on, does not ask the model",
            behind[0] + 1
        ))
    }

    /// Returns whether a run is there to go on with the thread as it is: one that is resumed, or decides on a call that was sent and that
    /// no earlier run has settled. What a refused run would have called, nobody can decide on.
    fn can_go_on(&self, run: usize) -> bool {
        match &self.session.runs[run].beginning {
            Beginning::Message(_) => false,
            Beginning::Resume => true,
            Beginning::Decisions(decisions) => self.thread.calls().any(|(_, call)| {
                let is_settled = call.decision.as_ref().is_some_and(|decided| decided.run < run);
                decisions.contains_key(&call.said.id) && call.passed.is_none() && !is_settled
            }),
        }
    }

    /// Returns whether calls were pending when a run began, so that it is no matter of a cut. Where what a cut run began with need not be
    /// saved, they wait again behind it.
    fn waited(&self, run: usize) -> bool {
        let waits = |run: usize| self.records[run].pending.as_ref().is_some_and(|ids| !ids.is_empty());
        run.checked_sub(1).is_some_and(waits) || self.abilities.session.saves != Saves::Call && waits(run)
    }
}
