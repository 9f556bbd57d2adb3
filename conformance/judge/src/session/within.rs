//! Judges each run by the oracles of profile `universal`, and how the run ended.

use super::judging::{Judging, RequestPlace};
use super::naming::image;
use super::script::{CallKind, PlannedTurn};
use super::steer::without;
use crate::universal::course::{Course, CourseEnd};
use crate::universal::finding::Findings;
use crate::universal::message::{AgentCall, AgentMessage, Speaker};
use crate::universal::oracle;
use crate::universal::record::Record;
use crate::universal::script::{ModelTurn, RunScript};
use serde_json::Map;
use threadspec::session::Beginning;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RunEnding {
    /// By a cut, a limit, a failing model, or a failure that it reports.
    pub(super) is_early: bool,
    /// By the cut of the script.
    pub(super) is_cut: bool,
    /// With calls that wait for a decision.
    pub(super) waits: bool,
}

impl Judging<'_> {
    /// The turns of a run as op `tools` has them.
    fn turns(&self, run: usize) -> Vec<ModelTurn> {
        let call = |said: &super::script::PlannedCall| AgentCall {
            id: Some(said.id.clone()),
            name: Some(said.name.clone()),
            args: match &said.kind {
                CallKind::Plain(args) => args.clone(),
                CallKind::Raw { .. } | CallKind::HandOver(_) => Map::new().into(),
            },
        };
        let turn = |turn: &PlannedTurn| match turn {
            PlannedTurn::Failure => ModelTurn::Failure,
            PlannedTurn::Response(said) => {
                ModelTurn::Response { content: said.text.clone(), calls: said.calls.iter().map(call).collect() }
            }
        };
        self.session.runs[run].turns.iter().map(turn).collect()
    }

    fn run_script(&self, run: usize, given: Vec<AgentMessage>) -> RunScript {
        let plan = &self.session.runs[run];
        let (tools, huge) = (self.session.tools.clone(), self.session.has_huge_numbers);
        RunScript::of_session(given, self.turns(run), tools, plan.limit, huge)
    }

    fn record(&self, run: usize) -> Record {
        let (record, say) = (&self.records[run], self.session.runs[run].say.as_ref());
        let mut requests: Vec<_> = record.requests.iter().map(|request| request.messages.clone()).collect();
        if let Some(say) = say {
            // The clauses of single runs know no message of the user behind the first one.
            without(say, &mut requests);
        }
        Record { requests, failure: record.failure.clone(), ..Record::default() }
    }

    /// How a run ended whose first item after its beginning has this number.
    pub(super) fn ending(&self, run: usize, begin: usize) -> RunEnding {
        let (plan, record) = (&self.session.runs[run], &self.records[run]);
        let open: Vec<&str> = match self.thread.items[begin..].last().and_then(super::thread::JudgedItem::response) {
            Some(response) => response.said.calls.iter().map(|call| call.id.as_str()).collect(),
            None => self.thread.calls().map(|(_, call)| call.said.id.as_str()).collect(),
        };
        let is_executed = |id: &str| record.executed.iter().any(|executed| executed.id == id);
        // A framework that waits for the call may ask once more, and say then that the run was cut.
        let fails = record.failure.as_ref().is_some_and(|failure| !failure.trim().is_empty());
        let is_cut = plan.cut_call().is_some_and(|id| is_executed(id) && (fails || open.contains(&id)));
        let guarded = |response: &super::thread::ResponseFate<'_>| {
            response.calls.iter().any(|call| {
                call.is_guarded && call.decision.is_none() && call.passed.is_none() && call.executions.is_empty()
            })
        };
        let last = self.thread.items[begin..].last().and_then(super::thread::JudgedItem::response);
        let waits = last.is_some_and(guarded) || record.pending.as_ref().is_some_and(|ids| !ids.is_empty());
        let mut is_early = is_cut || fails;
        if record.asks() {
            let (script, record) = (self.run_script(run, Vec::new()), self.record(run));
            let end = Course::of(&script, &record, false).end;
            is_early |= matches!(end, CourseEnd::ModelFailed { .. } | CourseEnd::Limited { .. });
        }
        RunEnding { is_early, is_cut, waits }
    }

    /// Writes down how the run left its responses.
    pub(super) fn close(&mut self, run: usize, begin: usize, ending: RunEnding) {
        let last = self.thread.items.len();
        for (index, item) in self.thread.items.iter_mut().enumerate().skip(begin) {
            if let Some(response) = item.response_mut() {
                response.ends_run = index + 1 == last;
                response.cut_in = ending.is_early.then_some(run);
            }
        }
        if !ending.is_cut {
            return;
        }
        // An earlier response whose calls ran in this run is cut as well.
        let during = self.session.runs[run].cut_call();
        let cut = self.thread.calls().rev().find(|(_, call)| Some(call.said.id.as_str()) == during).map(|(at, _)| at.0);
        if let Some(response) = cut.and_then(|index| self.thread.items[index].response_mut()) {
            (response.cut_in, response.ends_run) = (Some(run), true);
        }
    }

    /// The responses of the run that the AGENT clauses do not judge.
    pub(super) fn special(&self, run: usize, begin: usize) -> Vec<usize> {
        let cut = self.session.runs[run].cut_call();
        let is_special = |&index: &usize| {
            self.thread.items[index].response().is_some_and(|response| {
                response.has_raw()
                    || response.has_hand_over()
                    || response.waits()
                    || response.said.calls.iter().any(|call| Some(call.id.as_str()) == cut)
                    || (0..response.calls.len()).any(|number| image(&self.thread, (index, number)).is_some())
            })
        };
        (begin..self.thread.items.len()).filter(is_special).collect()
    }

    /// Judges a run by the AGENT clauses.
    pub(super) fn judge_within(&mut self, run: usize, ends: &[usize], special: &[usize], ending: RunEnding) {
        let records = self.records;
        let Some(first) = records[run].requests.first() else { return };
        let given = if run == 0 { self.given() } else { first.messages.clone() };
        let (script, record) = (self.run_script(run, given), self.record(run));
        let mut course = Course::of(&script, &record, self.abilities.exact_integers);
        let items = &self.thread.items;
        let item_of = |turn: usize| items[..*ends.get(turn + 1)?].iter().rposition(|item| item.response().is_some());
        course.rounds.retain(|round| !item_of(round.turn).is_some_and(|item| special.contains(&item)));
        let mut found = Findings::default();
        self.judge_end(run, &course, ending, &mut found);
        let is_moved = self.compacts(run)
            || (ends.first().copied().unwrap_or(0)..self.thread.items.len()).any(|index| {
                self.thread.items[index].response().is_some_and(super::thread::ResponseFate::has_hand_over)
            });
        if run == 0 && !self.compacts(run) {
            oracle::START(&course, &mut found);
        }
        if !is_moved {
            oracle::PREFIX(&course, &mut found);
        }
        for oracle in oracle::WITHIN_SESSION {
            oracle(&course, &mut found);
        }
        found.deduplicate();
        if !found.found.is_empty() {
            for index in ends.first().copied().unwrap_or(0)..self.thread.items.len() {
                self.leave(index, &found);
            }
            if run == 0 {
                self.thread.items.iter_mut().take(1).for_each(|item| item.differs = true);
            }
        }
        self.findings.cut_short |= found.cut_short;
        self.findings.unobserved.append(&mut found.unobserved);
        for finding in found.found {
            self.add(finding.clause, format!("run {}, {}", run + 1, finding.what));
        }
    }

    /// Leaves out the faults of a response in its own run, which are named there.
    fn leave(&mut self, index: usize, found: &Findings) {
        let is_changed = found.breaks(&[
            clause::AGENT_RESPONSE,
            clause::AGENT_TEXT,
            clause::AGENT_NUMBERS,
            clause::AGENT_ORDINARY,
            clause::AGENT_IDS,
            clause::AGENT_PREFIX,
        ]);
        let is_unanswered = found.breaks(&[clause::AGENT_ANSWERED, clause::AGENT_FAILURE, clause::AGENT_RESPONSE]);
        self.thread.items[index].differs |= is_changed;
        if let Some(response) = self.thread.items[index].response_mut() {
            for call in &mut response.calls {
                call.is_reported |= is_unanswered;
            }
        }
    }

    /// Judges whether the run ended too early.
    fn judge_end(&mut self, run: usize, course: &Course<'_>, ending: RunEnding, found: &mut Findings) {
        let last = self.thread.items.last().and_then(super::thread::JudgedItem::response);
        let is_raw = last.is_some_and(super::thread::ResponseFate::has_raw);
        let place = RequestPlace { run, request: course.requests.len().saturating_sub(1) };
        match course.end {
            CourseEnd::TooEarly { .. } if is_raw && !ending.is_cut && !ending.waits => {
                let failure = self.records[run].failure.as_deref().unwrap_or_default();
                let says = if failure.is_empty() { String::new() } else { format!("; it says: {failure}") };
                let what = "the model is not asked again after a call whose arguments are no JSON object";
                found.add_end(clause::SESSION_RAW, format!("request {}: {what}{says}", place.request + 1));
            }
            CourseEnd::TooEarly { .. } if ending.is_cut || ending.waits => {}
            CourseEnd::Stopped { .. } if ending.is_cut => {}
            _ => oracle::GOES_ON(course, found),
        }
    }

    /// The list that run 1 begins with.
    fn given(&self) -> Vec<AgentMessage> {
        let message = |speaker, text: &str| AgentMessage {
            speaker,
            content: Some(text.to_owned()),
            calls: Vec::new(),
            call_id: None,
        };
        let system = self.session.agents.first().and_then(|agent| agent.system.as_deref());
        let mut given: Vec<AgentMessage> = system.map(|text| message(Speaker::System, text)).into_iter().collect();
        if let Some(Beginning::Message(text)) = self.session.runs.first().map(|run| &run.beginning) {
            given.push(message(Speaker::Human, text));
        }
        given
    }

    /// An agent that answers a pending call in its own run cannot be judged yet.
    pub(super) fn answers_pending(&mut self, place: RequestPlace, index: usize) {
        let Some(response) = self.thread.items[index].response() else { return };
        let waiting = response.calls.iter().find(|call| {
            call.is_guarded && call.decision.is_none() && call.passed.is_none() && call.executions.is_empty()
        });
        if let Some(call) = waiting.filter(|_| self.thread.items[index].run == place.run) {
            let id = without_marks(&call.said.id);
            let why =
                format!("{}: the agent answers `{id}`, which waits for a decision, itself and goes on", place.at(None));
            self.unsupported.get_or_insert(why);
        }
    }
}
