//! The judging of a session: what is known so far, and what was found.

use super::layout::RequestLayout;
use super::report::RunAccount;
use super::request::JudgedScope;
use super::script::{JudgedScript, PlannedTurn};
use super::thread::{JudgedItem, JudgedThread};
use super::within::RunEnding;
use crate::universal::Abilities;
use crate::universal::finding::{Finding, Findings};
use crate::universal::others::Strangers;
use crate::universal::valid::faults;
use std::collections::{HashMap, HashSet};
use threadspec::session::Beginning;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// A session, its thread as far as it was judged, and what was found.
pub(super) struct Judging<'a> {
    pub(super) session: &'a JudgedScript,
    pub(super) records: &'a [RunAccount],
    pub(super) abilities: Abilities,
    /// True if the model thinks where it likes to, so that all thoughts of a response may be left out.
    pub(super) thinks_freely: bool,
    pub(super) thread: JudgedThread<'a>,
    /// The thread as it was before each run to which a later one goes back.
    pub(super) earlier: HashMap<usize, JudgedThread<'a>>,
    /// Everything that was on the thread when a run went back.
    pub(super) left: Vec<JudgedItem<'a>>,
    /// How each run ended that was judged.
    pub(super) endings: Vec<RunEnding>,
    pub(super) findings: Findings,
    /// Those that say that a call is not answered once.
    pub(super) pairing: Vec<Finding>,
    /// Those that say that a call was executed that should not have been.
    pub(super) executed: Vec<Finding>,
    /// Those about the reasons of denials.
    pub(super) reasons: Vec<Finding>,
    /// For each run the one with which it goes on: itself, unless it begins with decisions or is resumed.
    pub(super) roots: Vec<usize>,
    /// The runs of which more was lost than may be.
    pub(super) lost: HashSet<usize>,
    /// The ids of answers to calls that nobody made.
    pub(super) strange: HashSet<String>,
    /// The responses whose opaque parts were named.
    pub(super) opaque_faults: HashSet<usize>,
    /// The calls whose images were named.
    pub(super) image_faults: HashSet<(usize, usize)>,
    /// The faults of lists that were named, or belong to what was named.
    pub(super) known_faults: HashSet<String>,
    /// Why the session shows nothing, if so.
    pub(super) unsupported: Option<String>,
}

/// A request of a session.
#[derive(Clone, Copy, Debug)]
pub(super) struct RequestPlace {
    pub(super) run: usize,
    pub(super) request: usize,
}

impl RequestPlace {
    /// "run 2, request 1, message 4"; all are counted from 0.
    pub(super) fn at(self, message: Option<usize>) -> String {
        let message = message.map(|message| format!(", message {}", message + 1)).unwrap_or_default();
        format!("run {}, request {}{message}", self.run + 1, self.request + 1)
    }
}

impl<'a> Judging<'a> {
    pub(super) fn new(session: &'a JudgedScript, records: &'a [RunAccount], abilities: Abilities) -> Self {
        Self {
            session,
            records,
            abilities,
            thinks_freely: false,
            thread: JudgedThread::new(session),
            earlier: HashMap::new(),
            left: Vec::new(),
            endings: Vec::new(),
            findings: Findings::default(),
            pairing: Vec::new(),
            executed: Vec::new(),
            reasons: Vec::new(),
            roots: Vec::new(),
            lost: HashSet::new(),
            strange: HashSet::new(),
            opaque_faults: HashSet::new(),
            image_faults: HashSet::new(),
            known_faults: HashSet::new(),
            unsupported: None,
        }
    }

    pub(super) fn add(&mut self, clause: &'static str, what: impl Into<String>) {
        self.findings.add(clause, what);
    }

    /// Adds that a call is not answered once.
    pub(super) fn add_pairing(&mut self, clause: &'static str, what: String) {
        self.pairing.push(Finding { clause, what: what.clone() });
        self.add(clause, what);
    }

    /// Adds that a call was executed that should not have been.
    pub(super) fn add_executed(&mut self, clause: &'static str, what: String) {
        self.executed.push(Finding { clause, what: what.clone() });
        self.add(clause, what);
    }

    /// Adds that an answer does not hold a reason.
    pub(super) fn add_reason(&mut self, what: String) {
        self.reasons.push(Finding { clause: clause::SESSION_DENIED, what });
    }

    pub(super) fn note(&mut self, what: &str) {
        let note = format!("note: {what}");
        if !self.findings.notes.contains(&note) {
            self.findings.notes.push(note);
        }
    }

    pub(super) fn compacts(&self, run: usize) -> bool {
        self.session.runs[run].compacts
    }

    /// Returns whether a run that was judged ended early.
    pub(super) fn ended_early(&self, run: usize) -> bool {
        self.endings.get(run).is_some_and(|ending| ending.is_early)
    }

    /// Judges every run.
    pub(super) fn judge(&mut self) {
        for run in 0..self.session.runs.len() {
            self.judge_run(run);
        }
        self.judge_stuck();
    }

    fn judge_run(&mut self, run: usize) {
        let (plan, record) = (&self.session.runs[run], &self.records[run]);
        let found_before = self.findings.found.len();
        self.go_back(run);
        let pending: Vec<(usize, usize)> =
            self.thread.calls().filter(|(_, call)| call.is_pending).map(|(place, _)| place).collect();
        if plan.compacts {
            self.thread.compacted = self.thread.compacted.max(self.thread.items.len());
        }
        self.begin_with_agent();
        if let Beginning::Message(text) = &plan.beginning {
            // What was refused, or came to nothing, has a name of its own.
            self.thread.hear(run, text, !record.asks());
            if record.asks() {
                for &place in &pending {
                    if let Some(call) = self.thread.call_mut(place) {
                        (call.passed, call.is_pending) = (Some(run), false);
                    }
                }
            }
        }
        let goes_on = !matches!(plan.beginning, Beginning::Message(_));
        let root = self.roots.last().copied().filter(|_| goes_on).unwrap_or(run);
        self.roots.push(root);
        let late = self.take_decisions(run, &pending);
        let begin = self.thread.items.len();
        let mut ends = Vec::new();
        let steered = self.steered_before(run);
        for turn in 0..record.requests.len() {
            if steered == Some(turn) {
                self.steer(run, false);
            }
            ends.push(self.thread.items.len());
            if let Some(PlannedTurn::Response(said)) = plan.turns.get(turn) {
                self.thread.say(run, said);
            }
        }
        let ending = self.ending(run, begin);
        self.close(run, begin, ending);
        self.judge_executed(run, &late);
        let special = self.special(run, begin);
        self.judge_within(run, &ends, &special, ending);
        self.endings.push(ending);
        self.judge_decided(run, &late);
        for (number, &end) in ends.iter().enumerate() {
            let place = RequestPlace { run, request: number };
            self.judge_request(place, end, begin, &special);
        }
        self.judge_silence(run, &pending, &late);
        self.judge_valid(run, found_before);
        self.judge_prefix(run, &ends, found_before);
        self.settle_pending(run);
        if steered == Some(record.requests.len()) {
            // What waits for the end of a run may go with one that never ends.
            self.steer(run, ending.is_early);
        }
    }

    /// Takes the thread back to the message that a run replaces, and keeps it where a later run does so.
    fn go_back(&mut self, run: usize) {
        if let Some(thread) = self.session.runs[run].at.and_then(|at| self.earlier.get(&at)).cloned() {
            let length = thread.items.len();
            self.left.append(&mut std::mem::replace(&mut self.thread, thread).items);
            // What was named of an item that is no longer there is not known of the next one.
            self.opaque_faults.retain(|item| *item < length);
            self.image_faults.retain(|(item, _)| *item < length);
        }
        if self.session.runs.iter().any(|later| later.at == Some(run)) {
            self.earlier.insert(run, self.thread.clone());
        }
    }

    /// Writes down which calls are pending after a run.
    fn settle_pending(&mut self, run: usize) {
        let record = &self.records[run];
        let is_early = self.endings[run].is_early;
        let waits = |id: &str| record.pending.as_ref().is_some_and(|ids| ids.iter().any(|pending| pending == id));
        for item in &mut self.thread.items {
            let item_run = item.run;
            let Some(response) = item.response_mut().filter(|response| response.ends_run) else { continue };
            for call in &mut response.calls {
                // Whether one of raw arguments waits, too, is the framework's choice.
                let may_wait = item_run == run && call.said.is_raw() && self.session.guarded.contains(&call.said.name);
                call.is_guarded |= may_wait && waits(&call.said.id);
                let is_open = call.is_guarded
                    && call.decision.is_none()
                    && call.passed.is_none()
                    && call.executions.is_empty()
                    && call.answer.is_none();
                if item_run == run && is_open {
                    // A run that ended early may have ended before it asked for a decision.
                    call.is_pending = !is_early || waits(&call.said.id);
                } else if !is_open && call.passed.is_none() && call.decision.is_none() {
                    call.is_pending = false;
                }
            }
        }
    }

    /// Judges whether a message or an execution comes from an earlier session of the process.
    pub(super) fn judge_strangers(&mut self, strangers: &Strangers<'_>) {
        let records = self.records;
        for (run, record) in records.iter().enumerate() {
            for (request, sent) in record.requests.iter().enumerate() {
                for (index, message) in sent.messages.iter().enumerate() {
                    let ids = message.calls.iter().flat_map(|call| &call.id);
                    let mut texts = message.content.iter().chain(&message.call_id).chain(ids);
                    if let Some(text) = texts.find(|text| strangers.contain(text)) {
                        let place = RequestPlace { run, request }.at(Some(index));
                        let what = format!("{place}: `{}` comes from another session", without_marks(text));
                        return self.findings.found.insert(0, Finding { clause: clause::AGENT_INDEPENDENT, what });
                    }
                }
            }
            if let Some(executed) = record.executed.iter().find(|executed| strangers.contain(&executed.id)) {
                let id = without_marks(&executed.id);
                let what = format!("run {}: the call `{id}` of another session is executed", run + 1);
                return self.findings.found.insert(0, Finding { clause: clause::AGENT_INDEPENDENT, what });
            }
        }
    }

    fn judge_request(&mut self, place: RequestPlace, end: usize, begin: usize, special: &[usize]) {
        let records = self.records;
        let request = &records[place.run].requests[place.request];
        let handed_over = (begin..end)
            .any(|index| self.thread.items[index].response().is_some_and(super::thread::ResponseFate::has_hand_over));
        let last = self.thread.items[..end].iter().rposition(|item| item.response().is_some());
        if place.request > 0 {
            self.hand_over(end, begin);
            if self.compacts(place.run) {
                self.thread.compacted = self.thread.compacted.max(last.unwrap_or_default());
            }
        }
        let layout = RequestLayout::of(request, &self.thread.items[..end]);
        let last = last.filter(|last| place.request > 0 && !special.contains(last));
        self.judge_steer(place, end);
        let scope = JudgedScope {
            is_whole: place.request == 0 && place.run > 0 || handed_over || self.compacts(place.run),
            special: special.to_vec(),
            other: last,
        };
        if !scope.is_whole {
            self.judge_lost(place, &layout, special);
        }
        if scope.is_whole {
            self.judge_systems(place, &layout, handed_over);
            self.judge_items(place, &layout);
            for stray in layout.strays.clone() {
                self.orphan(place, stray, &layout);
            }
        }
        for index in 0..end {
            let Some(at) = layout.block_of[index].filter(|_| self.thread.items[index].response().is_some()) else {
                continue;
            };
            let is_judged = scope.is_whole && scope.other != Some(index) || scope.special.contains(&index);
            if scope.special.contains(&index) {
                self.answers_pending(place, index);
            }
            if is_judged {
                self.judge_response(place, index, at, &layout);
            } else {
                self.hear_answers(place, index, at, &layout);
            }
            self.judge_opaque(place, index, at, &layout);
            self.judge_images(place, index, at, &layout);
        }
        if handed_over {
            self.judge_words(place, end, &layout);
        }
        if self.compacts(place.run) && layout.blocks.is_empty() {
            self.add(clause::SESSION_COMPACT, format!("{}: it is empty", place.at(None)));
        }
        for (index, block) in layout.block_of.iter().enumerate() {
            if block.is_some() {
                self.thread.items[index].seen = Some(place.run);
            }
        }
    }

    /// Judges what is wrong with the lists of a run, and what nothing else explains.
    fn judge_valid(&mut self, run: usize, found_before: usize) {
        const EXPLAIN: [&str; 22] = [
            clause::AGENT_PREFIX,
            clause::AGENT_START,
            clause::AGENT_RESPONSE,
            clause::AGENT_IDS,
            clause::AGENT_ANSWERED,
            clause::AGENT_FAILURE,
            clause::AGENT_RESULT,
            clause::SESSION_VALID,
            clause::SESSION_ANSWERED,
            clause::SESSION_WHOLE,
            clause::SESSION_SAID_ONCE,
            clause::SESSION_APPROVED,
            clause::SESSION_DENIED,
            clause::SESSION_SIBLINGS,
            clause::SESSION_PENDING,
            clause::SESSION_COMPACT,
            clause::SESSION_COMPACT_WHOLE,
            clause::SESSION_RAW,
            clause::SESSION_HANDOFF,
            clause::SESSION_IMAGE,
            clause::SESSION_REWIND,
            clause::SESSION_STEER,
        ];
        let is_explained = self.findings.found[found_before..].iter().any(|found| EXPLAIN.contains(&found.clause));
        for (number, request) in self.records[run].requests.iter().enumerate() {
            let mut messages = request.messages.clone();
            for (message, extras) in messages.iter_mut().zip(&request.extras) {
                for (call, _) in message.calls.iter_mut().zip(&extras.raw).filter(|(_, raw)| **raw) {
                    // Providers take any text where they take raw arguments at all.
                    call.args = serde_json::Map::new().into();
                }
            }
            for fault in faults(&messages) {
                if !self.known_faults.insert(fault.what.replace(" directly behind it", "")) || is_explained {
                    continue;
                }
                let clause = if run == 0 { clause::AGENT_VALID } else { clause::SESSION_VALID };
                let place = RequestPlace { run, request: number }.at(Some(fault.index));
                self.add_pairing(clause, format!("{place}: {}", fault.what));
            }
        }
    }
}
