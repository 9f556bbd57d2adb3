//! SESSION-ONCE, SESSION-APPROVED, SESSION-DENIED and SESSION-SIBLINGS, as far as they are about what is executed.

use super::judging::Judging;
use super::report::Executed;
use super::script::CallKind;
use super::thread::Decided;
use crate::universal::script::CallOutcome;
use crate::universal::value::equal;
use std::collections::HashSet;
use threadspec::session::Beginning;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

type CallPlace = (usize, usize);

/// The decisions of a run that come too late, or are not taken.
#[derive(Clone, Debug, Default)]
pub(super) struct Decisions {
    /// On calls that a user message went past.
    pub(super) late: Vec<CallPlace>,
    /// On calls that were pending.
    pub(super) taken: Vec<CallPlace>,
    /// True if every pending call is decided on.
    pub(super) is_complete: bool,
    /// True if one is on a call that does not wait: it was never sent, a message went past it, or it was settled before.
    pub(super) has_others: bool,
}

impl Judging<'_> {
    /// Puts the decisions of a run beside the calls that they are about.
    pub(super) fn take_decisions(&mut self, run: usize, pending: &[CallPlace]) -> Decisions {
        let session = self.session;
        let Beginning::Decisions(decisions) = &session.runs[run].beginning else { return Decisions::default() };
        let mut found = Decisions::default();
        let mut decided = HashSet::new();
        for (id, approval) in decisions {
            let own =
                pending.iter().rev().find(|place| self.thread.call(**place).is_some_and(|call| call.said.id == *id));
            if let Some(&place) = own {
                decided.insert(place);
                if self.records[run].refused.is_none()
                    && let Some(call) = self.thread.call_mut(place)
                {
                    call.decision = Some(Decided { run, approval });
                    call.is_pending = false;
                    found.taken.push(place);
                }
                continue;
            }
            found.has_others = true;
            let passed = self.thread.calls().rev().find(|(_, call)| call.said.id == *id && call.passed.is_some());
            if let Some((place, _)) = passed {
                found.late.push(place);
                continue;
            }
            // One that was never shown as pending, as its run was cut, may be taken all the same.
            let open = self.thread.calls().rev().find(|(_, call)| {
                call.said.id == *id && call.is_guarded && call.decision.is_none() && call.answer.is_none()
            });
            let open = open.map(|(place, _)| place).filter(|_| self.records[run].refused.is_none());
            if let Some(call) = open.and_then(|place| self.thread.call_mut(place)) {
                call.decision = Some(Decided { run, approval });
            }
        }
        found.is_complete = !pending.is_empty() && pending.iter().all(|place| decided.contains(place));
        found
    }

    /// Judges what was executed in a run.
    pub(super) fn judge_executed(&mut self, run: usize, decisions: &Decisions) {
        let records = self.records;
        for executed in &records[run].executed {
            match self.called(run, executed) {
                Some(place) => {
                    self.judge_execution(run, executed, place, decisions);
                    if let Some(call) = self.thread.call_mut(place) {
                        let returned = executed.returned && !self.session.runs[run].ends_without_result(&call.said.id);
                        call.executions.push((run, returned));
                    }
                }
                None if self.is_hand_over(&executed.id) => {}
                None => {
                    let (id, name) = (without_marks(&executed.id), without_marks(&executed.name));
                    let what = format!(
                        "run {}: `{id}` of {name} with {} is executed, which no response asks for",
                        run + 1,
                        executed.args
                    );
                    self.add_executed(clause::SESSION_ONCE, what);
                }
            }
        }
    }

    fn is_hand_over(&self, id: &str) -> bool {
        self.thread.calls().any(|(_, call)| call.said.is_hand_over() && call.said.id == id)
    }

    /// The call that was executed.
    fn called(&self, run: usize, executed: &Executed) -> Option<CallPlace> {
        let exact = self.abilities.exact_integers;
        let named: Vec<CallPlace> = self
            .thread
            .calls()
            .filter(|(_, call)| call.said.id == executed.id && !call.said.is_hand_over())
            .map(|(place, _)| place)
            .collect();
        let has_args = |place: &CallPlace| {
            self.thread
                .call(*place)
                .is_some_and(|call| equal(&call.args(), &executed.args, exact) && call.said.name == executed.name)
        };
        let is_due = |place: &CallPlace| self.thread.call(*place).is_some_and(|call| call.executions.is_empty());
        let is_own = |place: &CallPlace| self.thread.items[place.0].run == run;
        let is_decided = |place: &CallPlace| {
            self.thread
                .call(*place)
                .is_some_and(|call| call.decision.as_ref().is_some_and(|decided| decided.run == run))
        };
        let due = named
            .iter()
            .find(|place| is_decided(place) && is_due(place) && has_args(place))
            .or_else(|| named.iter().find(|place| is_own(place) && is_due(place) && has_args(place)))
            .or_else(|| named.iter().find(|place| is_own(place) && is_due(place)))
            .or_else(|| named.iter().rev().find(|place| is_due(place) && has_args(place)))
            .or_else(|| named.iter().rev().find(|place| has_args(place)))
            .or_else(|| named.last());
        if due.is_some() {
            return due.copied();
        }
        // A call that never returned may be run again with a new id, and one whose id was repeated was renamed.
        let is_like = |place: &CallPlace| {
            has_args(place)
                && self.thread.call(*place).is_some_and(|call| !call.executions.iter().any(|(_, returned)| *returned))
        };
        let mut like: Vec<CallPlace> = self.thread.calls().map(|(place, _)| place).filter(is_like).collect();
        // Where others fit, it is none whose arguments are no object.
        like.sort_by_key(|place| self.thread.call(*place).is_some_and(|call| !call.said.is_raw()));
        let is_begun = |place: &&CallPlace| !is_due(place);
        let is_cut = |place: &&CallPlace| {
            self.thread.items[place.0].response().is_some_and(super::thread::ResponseFate::is_open_cut)
        };
        // A call of this run's model is executed with its own id.
        let is_earlier = |place: &&CallPlace| is_cut(place) && !is_own(place);
        let found = like.iter().rev().find(is_begun);
        found
            .or_else(|| like.iter().rev().find(is_earlier))
            .or_else(|| like.iter().rev().find(is_cut))
            .or_else(|| like.last())
            .copied()
    }

    fn judge_execution(&mut self, run: usize, executed: &Executed, place: CallPlace, decisions: &Decisions) {
        let Some(call) = self.thread.call(place) else { return };
        let id = without_marks(&call.said.id).into_owned();
        let exact = self.abilities.exact_integers;
        let is_sibling = self.thread.items[place.0].response().is_some_and(super::thread::ResponseFate::waits);
        let at = format!("run {}", run + 1);
        if let CallKind::Raw { repaired } = &call.said.kind {
            let is_repaired = repaired.as_ref().is_some_and(|args| equal(args, &executed.args, exact));
            if !is_repaired {
                let what =
                    format!("{at}: `{id}`, whose arguments are no JSON object, is executed with {}", executed.args);
                return self.add_executed(clause::SESSION_RAW, what);
            }
        }
        if call.is_denied() {
            return self
                .add_executed(clause::SESSION_DENIED, format!("{at}: `{id}` is executed, though it was denied"));
        }
        if decisions.late.contains(&place) {
            let what = format!("{at}: `{id}` is executed on a late decision, after a user message went past it");
            return self.add_executed(clause::SESSION_PENDING, what);
        }
        if call.is_guarded && !call.is_approved() {
            let what = format!("{at}: `{id}` is executed before its decision");
            return self.add_executed(clause::SESSION_APPROVED, what);
        }
        if call.executions.iter().any(|(_, returned)| *returned) {
            let clause = if call.is_approved() {
                clause::SESSION_APPROVED
            } else if is_sibling {
                clause::SESSION_SIBLINGS
            } else {
                clause::SESSION_ONCE
            };
            return self.add_executed(clause, format!("{at}: `{id}` is executed again, though it had returned"));
        }
        let is_told = call.answer.as_ref().is_some_and(|(told, _)| *told < run);
        if is_told {
            let what = format!("{at}: `{id}` is executed, though a request had shown the model how it ended");
            return self.add_executed(clause::SESSION_ONCE, what);
        }
        if !equal(&call.args(), &executed.args, exact) || call.said.name != executed.name {
            let clause = if call.is_approved() { clause::SESSION_APPROVED } else { clause::SESSION_ONCE };
            let (name, args) = (without_marks(&executed.name), call.args());
            let what = format!("{at}: `{id}` is executed as {name} with {}, and not with {args}", executed.args);
            self.add_executed(clause, what);
        }
    }

    /// Returns whether a run begins with a compaction behind which a call is no longer there.
    fn is_compacted_away(&self, run: usize, id: &str) -> bool {
        let messages = self.records[run].requests.first().map(|request| &request.messages);
        let is_there = messages.into_iter().flatten().flat_map(|message| &message.calls).any(|call| call.id() == id);
        self.compacts(run) && messages.is_some() && !is_there
    }

    /// Judges whether what was decided, and what was beside it, was executed.
    pub(super) fn judge_decided(&mut self, run: usize, decisions: &Decisions) {
        let is_cut = self.endings.get(run).is_some_and(|ending| ending.is_cut);
        let mut siblings = HashSet::new();
        for &place in &decisions.taken {
            let Some(call) = self.thread.call(place) else { continue };
            let id = without_marks(&call.said.id).into_owned();
            let is_lost = call.is_approved()
                && call.executions.is_empty()
                && !matches!(self.thread.outcome(call), CallOutcome::Unknown);
            if is_lost && decisions.is_complete && !is_cut {
                let (clause, why) = if self.is_compacted_away(run, &call.said.id) {
                    (clause::SESSION_COMPACT, ": it waited, and compaction took it away")
                } else {
                    (clause::SESSION_APPROVED, "")
                };
                let what = format!("run {}: `{id}`, which was approved, is never executed{why}", run + 1);
                self.add(clause, what);
                if let Some(call) = self.thread.call_mut(place) {
                    call.is_reported = true;
                }
            }
            siblings.insert(place.0);
        }
        if !decisions.is_complete || is_cut {
            return;
        }
        let mut lost = Vec::new();
        for index in siblings {
            let Some(response) = self.thread.items[index].response() else { continue };
            if response.cut_in.is_some() {
                continue;
            }
            for (number, call) in response.calls.iter().enumerate() {
                let runs = !call.is_guarded && matches!(call.said.kind, CallKind::Plain(_));
                if runs && call.executions.is_empty() && !matches!(self.thread.outcome(call), CallOutcome::Unknown) {
                    lost.push((index, number));
                }
            }
        }
        lost.sort_unstable();
        for place in lost {
            let Some(call) = self.thread.call_mut(place) else { continue };
            if std::mem::replace(&mut call.is_reported, true) {
                continue;
            }
            let id = without_marks(&call.said.id).into_owned();
            let what = format!("run {}: `{id}`, a sibling of a pending call, is never executed", run + 1);
            self.add(clause::SESSION_SIBLINGS, what);
        }
    }
}
