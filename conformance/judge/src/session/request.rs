//! A request beside the thread: what is missing in it, what is there twice, and what became of each response.

use super::answers::is_garbled;
use super::judging::{Judging, RequestPlace};
use super::layout::{RequestLayout, sent_calls};
use super::naming::{AnswerFault, clause_of};
use super::script::{JudgedScript, PlannedRun, PlannedTurn};
use super::thread::JudgedItem;
use crate::feature::Saves;
use crate::universal::halves::{arrived, arrived_inside};
use crate::universal::message::{AgentMessage, Speaker};
use crate::universal::script::CallOutcome;
use crate::universal::value::{equal, quote_text, read_inside, text_became};
use serde_json::Value;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

/// The items of the thread that are judged in a request.
#[derive(Clone, Debug)]
pub(super) struct JudgedScope {
    /// True if the whole thread is judged, and not only what AGENT-PREFIX does not keep.
    pub(super) is_whole: bool,
    /// The responses of the run that no AGENT clause judges.
    pub(super) special: Vec<usize>,
    /// The response that the AGENT clauses judge in this request.
    pub(super) other: Option<usize>,
}

impl Judging<'_> {
    /// Judges what is missing in a request, and what nobody sent.
    pub(super) fn judge_items(&mut self, place: RequestPlace, layout: &RequestLayout<'_>) {
        let is_missing = |index: &usize| layout.block_of[*index].is_none() && !self.thread.items[*index].may_be_missing;
        let missing: Vec<usize> = (0..layout.block_of.len()).filter(is_missing).collect();
        // With a lost round its user message is lost, too.
        let (responses, users): (Vec<usize>, Vec<usize>) =
            missing.iter().partition(|index| self.thread.items[**index].response().is_some());
        for index in responses {
            self.missing_response(place, index, layout);
        }
        for index in users {
            self.missing_user(place, index, layout);
        }
        for index in missing {
            self.thread.items[index].may_be_missing = true;
        }
        for at in 0..layout.blocks.len() {
            if layout.item_of[at].is_none() {
                self.judge_stranger(place, at, layout);
            }
        }
    }

    /// Judges whether the responses of the run that no AGENT clause judges are there in a later request of it.
    pub(super) fn judge_lost(&mut self, place: RequestPlace, layout: &RequestLayout<'_>, special: &[usize]) {
        for &index in special.iter().filter(|index| layout.block_of.get(**index) == Some(&None)) {
            let item = &self.thread.items[index];
            if item.may_be_missing {
                continue;
            }
            let what = format!("{}: {} is missing", place.at(None), shown(item));
            let clause = match clause_of(&self.thread, (index, 0), place.run, AnswerFault::Pairing) {
                clause::SESSION_RAW => clause::SESSION_RAW,
                clause::SESSION_IMAGE => clause::SESSION_IMAGE,
                _ => clause::AGENT_RESPONSE,
            };
            self.thread.items[index].may_be_missing = true;
            self.add(clause, what);
        }
    }

    /// Returns whether a response must survive compaction in this run: the open round.
    fn is_open_round(&self, place: RequestPlace, index: usize, layout: &RequestLayout<'_>) -> bool {
        let items = &self.thread.items[..layout.block_of.len()];
        let last = items.iter().rposition(|item| item.response().is_some());
        let is_open = last == Some(index) && items[index..].iter().all(|item| item.user().is_none());
        // A cut response may go with its calls, if none of them has returned or waits.
        let must_stay = items[index].response().is_some_and(|response| {
            let is_kept = |call: &super::thread::CallFate<'_>| response.had_returned(call) || call.is_pending;
            !response.calls.is_empty() && (!response.is_open_cut() || response.calls.iter().any(is_kept))
        });
        self.compacts(place.run) && is_open && must_stay && !self.is_closed_by_framework(place, index, layout)
    }

    /// Returns whether a user message of the framework is last, which says that the calls of a response were cut or that the run goes
    /// on: it closes the turn.
    fn is_closed_by_framework(&self, place: RequestPlace, index: usize, layout: &RequestLayout<'_>) -> bool {
        let plan = &self.session.runs[place.run];
        let is_cut = self.thread.items[index].response().is_some_and(super::thread::ResponseFate::is_open_cut);
        let is_summary = |text: &str| plan.summary.as_deref().is_some_and(|summary| text.contains(summary.trim()));
        let last = layout.blocks.last().zip(layout.item_of.last());
        is_cut
            && last.is_some_and(|(block, item)| {
                item.is_none() && block.message.speaker == Speaker::Human && !is_summary(block.message.text())
            })
    }

    fn missing_response(&mut self, place: RequestPlace, index: usize, layout: &RequestLayout<'_>) {
        let item = &self.thread.items[index];
        let Some(response) = item.response() else { return };
        let shown = shown(item);
        let what = format!("{}: {shown} is missing", place.at(None));
        // What a hand-over takes away is its filter's choice.
        let is_unsaved = self.is_lost_with_its_run(index, layout);
        let is_unsaved_round =
            self.abilities.session.saves == Saves::Round && response.is_open_cut() && self.is_first_look(index);
        if !is_unsaved && !is_unsaved_round && index >= self.thread.filtered && self.is_open_round(place, index, layout)
        {
            return self.add(clause::SESSION_COMPACT, format!("{what}, though its turn is open"));
        }
        if index < self.thread.compacted || index < self.thread.filtered {
            return;
        }
        let run = item.run;
        if is_unsaved {
            self.note(&format!("{what}; the hello says that only whole runs are saved"));
            return;
        }
        if self.is_first_look(index) {
            return self.missing_cut(index, layout, &what);
        }
        let returned = response.calls.iter().any(|call| call.has_returned(place.run));
        let clause = if let Some(number) = response.calls.iter().position(|call| call.decision.is_some()) {
            clause_of(&self.thread, (index, number), place.run, AnswerFault::Pairing)
        } else if response.is_passed() || response.calls.iter().any(|call| call.is_pending) {
            if !returned && response.is_passed() {
                return;
            }
            clause::SESSION_PENDING
        } else if response.has_raw() && self.thread.items[index].seen.is_none() {
            clause::SESSION_RAW
        } else {
            clause::SESSION_SAID_ONCE
        };
        let found = Self::stand_in(index, Speaker::Ai, layout);
        let found = found.map(|found| format!("; {found} is in its place")).unwrap_or_default();
        self.add(clause, format!("{what}, which run {} received{found}", run + 1));
    }

    /// Returns whether no run after it has sent an item yet, and its own run ended early.
    fn is_first_look(&self, index: usize) -> bool {
        let item = &self.thread.items[index];
        let cut_in = match item.response() {
            Some(response) => response.cut_in,
            None => self.ended_early(item.run).then_some(item.run),
        };
        cut_in.is_some_and(|run| item.seen.is_none_or(|seen| seen <= run))
    }

    /// Returns whether nothing is left of a run that ended early where only whole runs are saved. A run and the decisions that go on with
    /// it count as one.
    fn is_lost_with_its_run(&self, index: usize, layout: &RequestLayout<'_>) -> bool {
        let root = |run: usize| self.roots.get(run).copied().unwrap_or(run);
        let own = root(self.thread.items[index].run);
        let is_of_it = |run: usize| root(run) == own;
        let last = (0..self.endings.len()).rev().find(|run| is_of_it(*run) && self.endings[*run].is_early);
        let Some(last) = last.filter(|_| self.abilities.session.saves == Saves::Run) else { return false };
        self.thread.items.iter().take(layout.block_of.len()).enumerate().all(|(other, item)| {
            !is_of_it(item.run)
                || item.response().is_none()
                || layout.block_of[other].is_none() && item.seen.is_none_or(|seen| seen <= last)
        })
    }

    /// Returns whether what a run began with is lost with its first round, or with all of its rounds, as the hello says.
    fn is_lost_with_its_round(&self, run: usize, layout: &RequestLayout<'_>) -> bool {
        match self.abilities.session.saves {
            Saves::Call => false,
            Saves::Round => self.own_blocks(run, layout).next().is_none_or(|block| block.is_none()),
            Saves::Run => self.own_blocks(run, layout).all(|block| block.is_none()),
        }
    }

    /// Where the responses of a run are in a request.
    fn own_blocks(&self, run: usize, layout: &RequestLayout<'_>) -> impl Iterator<Item = Option<usize>> {
        let items = self.thread.items.iter().zip(&layout.block_of);
        items.filter(move |(item, _)| item.run == run && item.response().is_some()).map(|(_, block)| *block)
    }

    /// A response of a run that ended early is missing in the next request.
    fn missing_cut(&mut self, index: usize, layout: &RequestLayout<'_>, what: &str) {
        let item = &self.thread.items[index];
        let Some(response) = item.response() else { return };
        let run = item.run;
        let is_last = self.thread.items[index + 1..].iter().all(|other| other.run != run || other.response().is_none());
        let is_open = response.ends_run && !response.calls.is_empty();
        let returned = response.calls.iter().any(|call| response.had_returned(call));
        if is_open && !returned {
            return;
        }
        let saves = self.abilities.session.saves;
        let is_documented = match saves {
            Saves::Call => false,
            Saves::Round => is_last && is_open,
            Saves::Run => self.own_blocks(run, layout).all(|block| block.is_none()),
        };
        if is_documented {
            let kept = if saves == Saves::Run { "whole runs" } else { "whole rounds" };
            self.note(&format!("{what}; the hello says that only {kept} are saved"));
            return;
        }
        let returned: Vec<String> = response
            .calls
            .iter()
            .filter(|call| response.had_returned(call))
            .map(|call| format!("`{}`", without_marks(&call.said.id)))
            .collect();
        let had = if is_open {
            format!(", though {} had returned before the cut", returned.join(", "))
        } else {
            format!(", a round of run {} from before the cut", run + 1)
        };
        self.lost.insert(run);
        self.add(clause::SESSION_KEPT, format!("{what}{had}"));
    }

    fn missing_user(&mut self, place: RequestPlace, index: usize, layout: &RequestLayout<'_>) {
        let item = &self.thread.items[index];
        let (run, Some(text)) = (item.run, item.user()) else { return };
        if text.trim().is_empty() || self.is_joined(index, text, layout) {
            return;
        }
        let what = format!("{}: the user message {} of run {} is missing", place.at(None), quote_text(text), run + 1);
        let is_own = run == place.run;
        let items = &self.thread.items[..layout.block_of.len()];
        // What the user says during a call goes with that round.
        let begins_turn = |item: &JudgedItem<'_>| item.user().is_some() && !self.is_steered(item);
        let is_last = begins_turn(item) && !items[index + 1..].iter().any(begins_turn);
        let last = items.len().checked_sub(1).filter(|last| *last > index);
        let is_turn_open = last.is_some_and(|last| {
            let asks = items[last].response().is_some_and(|response| !response.calls.is_empty());
            asks && !self.is_closed_by_framework(place, last, layout)
        });
        // Behind a hand-over its words are what counts.
        let is_unsaved_round = !is_own && self.is_first_look(index) && self.is_lost_with_its_round(run, layout);
        let with_its_run = self.is_lost_with_its_run(index, layout);
        let is_unsaved = !is_own && with_its_run || is_unsaved_round;
        let is_kept =
            !is_unsaved && index >= self.thread.filtered && (is_own && begins_turn(item) || is_last && is_turn_open);
        if self.compacts(place.run) && is_kept {
            self.thread.items[index].differs = true;
            return self.add(clause::SESSION_COMPACT_WHOLE, what);
        }
        if index < self.thread.compacted || index < self.thread.filtered {
            return;
        }
        if is_unsaved_round || with_its_run {
            return;
        }
        if self.is_first_look(index) && !is_own && self.lost.contains(&run) {
            return;
        }
        let found = Self::stand_in(index, Speaker::Human, layout);
        let found = found.map(|found| format!("; {found} is in its place")).unwrap_or_default();
        self.add(self.once(index), format!("{what}{found}"));
    }

    /// Returns whether a user message is joined with a neighbour.
    fn is_joined(&self, index: usize, text: &str, layout: &RequestLayout<'_>) -> bool {
        let items = &self.thread.items[..layout.block_of.len()];
        layout.blocks.iter().zip(&layout.item_of).any(|(block, item)| {
            let is_near =
                item.is_none_or(|item| items[item].user().is_some() && layout.are_neighbours(items, item, index));
            block.message.speaker == Speaker::Human && is_near && block.message.text().contains(text)
        })
    }

    /// A message that is nothing of the thread, and is where an item should.
    fn stand_in(index: usize, speaker: Speaker, layout: &RequestLayout<'_>) -> Option<String> {
        let before = layout.block_of[..index].iter().rev().flatten().next().map_or(0, |block| block + 1);
        let behind = layout.block_of[index + 1..].iter().flatten().next().copied().unwrap_or(layout.blocks.len());
        let mut between = (before..behind).filter(|at| layout.item_of[*at].is_none());
        let at = between.find(|at| layout.blocks[*at].message.speaker == speaker)?;
        Some(layout.blocks[at].message.shown())
    }

    /// A message that is nothing of the thread: it may be there a second time.
    fn judge_stranger(&mut self, place: RequestPlace, at: usize, layout: &RequestLayout<'_>) {
        let block = &layout.blocks[at];
        let (message, shown) = (block.message, block.message.shown());
        let place_of = place.at(Some(block.index));
        let items = &self.thread.items[..layout.block_of.len()];
        let is_bare = message.speaker == Speaker::Ai && message.text().trim().is_empty() && message.calls.is_empty();
        if is_bare {
            let own = block.extras.opaque.first();
            if own.is_some_and(|part| {
                items.iter().any(|item| item.response().is_some_and(|response| response.said.opaque.contains(part)))
            }) {
                self.add(
                    clause::SESSION_WHOLE,
                    format!("{place_of}: opaque parts are alone, without the text and the calls of their response"),
                );
            }
            return;
        }
        let same = items.iter().position(|item| is_again(item, message));
        // Of equal ones, one that is there already explains a second one best.
        let there = items
            .iter()
            .enumerate()
            .position(|(index, item)| layout.block_of[index].is_some() && is_again(item, message));
        if let Some(there) = there {
            self.add(self.once(there), format!("{place_of}: {shown} is there twice"));
        } else if let Some(same) = same {
            let is_taken = items[same].may_be_missing && same < self.thread.compacted.max(self.thread.filtered);
            // The messages of a refused run may be kept until the calls are decided on.
            let was_refused = items[same].user().is_some() && !self.records[items[same].run].asks();
            let is_second = layout.blocks[..at].iter().any(|other| is_again(&items[same], other.message));
            if is_second && was_refused {
                self.add(clause::SESSION_SAID_ONCE, format!("{place_of}: {shown} is there twice"));
            } else if !is_taken && !was_refused {
                self.add(self.once(same), format!("{place_of}: {shown} is out of its order"));
            }
        } else if let Some(left) = self.left.iter().find(|item| is_again(item, message)).map(|item| item.run) {
            // Where a cut run need not be saved, neither need be what it replaced.
            let is_saved = |run: usize| self.abilities.session.saves == Saves::Call || !self.ended_early(run);
            let went_back = (0..=place.run).rev().find(|run| self.session.runs[*run].at.is_some());
            if went_back.is_none_or(is_saved) {
                let what = format!("{place_of}: {shown} of run {} is there, though the thread has left it", left + 1);
                self.add(clause::SESSION_REWIND, what);
            }
        } else if !message.calls.is_empty() {
            self.add(clause::SESSION_SAID_ONCE, format!("{place_of}: the model never sent {shown}"));
        } else if let Some(id) = self.in_the_users_mouth(message, layout) {
            let clause = if self.thread.compacted > 0 { clause::SESSION_COMPACT } else { clause::SESSION_SAID_ONCE };
            self.add(clause, format!("{place_of}: {shown} has nothing but {id}"));
        } else if at > 0 && layout.item_of[at - 1].is_none() && layout.blocks[at - 1].message.is(message) {
            let clause = if self.thread.compacted > 0 { clause::SESSION_COMPACT } else { clause::SESSION_SAID_ONCE };
            self.add(clause, format!("{place_of}: {shown} is there twice"));
        } else if let Some(summary) = mangled(self.session, place.run, message.text()) {
            let what = format!("the summary {}", text_became(summary, Some(message.text())));
            self.add(clause::SESSION_COMPACT, format!("{place_of}: {what}"));
        } else if message.speaker == Speaker::Ai && self.is_behind_a_failed_model(place.run) {
            self.add(clause::AGENT_MODEL_FAILURE, format!("{place_of}: the model never sent {shown}"));
        }
    }

    /// Returns whether all that happened before a run is that the model failed, so that nobody else had anything to say.
    fn is_behind_a_failed_model(&self, run: usize) -> bool {
        let fails = |plan: &PlannedRun| plan.turns.iter().any(|turn| matches!(turn, PlannedTurn::Failure));
        let is_plain = |plan: &PlannedRun| plan.limit.is_none() && plan.cut.is_none() && !plan.compacts;
        let runs = &self.session.runs[..=run];
        runs.iter().all(is_plain) && runs[..run].iter().any(fails) && !self.thread.handed_over
    }

    /// The content of a call, if that alone is what a user message says, which is no item: no summary, and no word of the user.
    fn in_the_users_mouth(&self, message: &AgentMessage, layout: &RequestLayout<'_>) -> Option<String> {
        let text = message.text().trim();
        if message.speaker != Speaker::Human || text.is_empty() {
            return None;
        }
        let said = read_inside(text).ok().filter(|said| said.as_object().is_some_and(|members| !members.is_empty()));
        self.thread.calls().filter(|(at, _)| at.0 < layout.block_of.len()).find_map(|(_, call)| {
            let id = without_marks(&call.said.id);
            let is_result = || matches!(self.thread.outcome(call), CallOutcome::Result(Value::String(result)) if result.trim() == text);
            if said.as_ref().is_some_and(|said| equal(&call.own_args(), said, true)) {
                Some(format!("the arguments of `{id}`"))
            } else {
                (call.has_returned(self.endings.len()) && is_result()).then(|| format!("the result of `{id}`"))
            }
        })
    }

    /// Judges the message that repeats a response, and the answers behind it.
    pub(super) fn judge_response(&mut self, place: RequestPlace, index: usize, at: usize, layout: &RequestLayout<'_>) {
        self.judge_text(place, index, at, layout);
        let block = &layout.blocks[at];
        let Some(response) = self.thread.items[index].response() else { return };
        let sent = sent_calls(&response.calls, block.message);
        self.judge_calls(place, index, at, layout, &sent);
        self.judge_answers(place, index, at, layout, &sent);
    }

    fn judge_text(&mut self, place: RequestPlace, index: usize, at: usize, layout: &RequestLayout<'_>) {
        let (item, block) = (&self.thread.items[index], &layout.blocks[at]);
        let Some(response) = item.response() else { return };
        let (said, now) = (&response.said.text, block.message.text());
        let is_same = arrived(said, now) || said.trim().is_empty() && now.trim().is_empty();
        if item.differs || is_same {
            return;
        }
        let is_first_look = self.is_first_look(index);
        let clause = if item.run == place.run {
            clause::AGENT_RESPONSE
        } else if index < self.thread.compacted {
            if !now.trim().is_empty() && !is_garbled(said, now) {
                return;
            }
            clause::SESSION_COMPACT_WHOLE
        } else if index < self.thread.filtered {
            return;
        } else if response.is_open_cut() && is_first_look {
            clause::SESSION_WHOLE
        } else {
            clause::SESSION_SAID_ONCE
        };
        let what = format!("the text {}", text_became(said, Some(now)));
        self.thread.items[index].differs = true;
        self.add(clause, format!("{}: {what}", place.at(Some(block.index))));
    }
}

/// The summary that a text mangles, of those that the summarizing model wrote in the runs up to this one.
fn mangled<'a>(session: &'a JudgedScript, run: usize, text: &str) -> Option<&'a str> {
    let mut summaries = session.runs[..=run].iter().filter_map(|plan| plan.summary.as_deref());
    let is_whole = summaries.clone().any(|summary| arrived_inside(summary.trim(), text));
    summaries.find(|summary| !is_whole && is_mangled(summary, text))
}

/// Returns whether a text is a summary with changes, and neither a shorter one nor another wording.
fn is_mangled(summary: &str, text: &str) -> bool {
    let summary = summary.trim();
    let bounds: Vec<usize> = summary.char_indices().map(|(at, _)| at).chain([summary.len()]).collect();
    let (length, told) = (bounds.len() - 1, text.chars().count());
    // If a beginning is in the text, each shorter one is; the same holds for ends.
    let begins = bounds[1..].partition_point(|end| text.contains(&summary[..*end]));
    let ends = length - bounds[..length].partition_point(|start| !text.contains(&summary[*start..]));
    // What is much shorter was shortened.
    let is_like = begins.min(ends) >= 16.min(length / 8).max(1) && told * 4 >= length * 3;
    // A short one is like many texts.
    let is_long = length >= 24;
    let is_garbled_inside = || {
        let told: Vec<char> = text.chars().collect();
        told.windows(length).any(|window| is_garbled(summary, &window.iter().collect::<String>()))
    };
    is_like && (is_long || begins + ends + 2 >= length) || is_long && told <= 4 * length && is_garbled_inside()
}

/// Returns whether a message says again what an item is.
fn is_again(item: &JudgedItem<'_>, message: &AgentMessage) -> bool {
    if let Some(text) = item.user() {
        return message.speaker == Speaker::Human && !text.trim().is_empty() && arrived(text, message.text());
    }
    let Some(response) = item.response().filter(|_| message.speaker == Speaker::Ai) else { return false };
    if response.calls.is_empty() {
        return message.calls.is_empty() && arrived(&response.said.text, message.text());
    }
    let shares_id = message.calls.iter().any(|sent| response.said.calls.iter().any(|call| call.id == sent.id()));
    let is_text = message.calls.is_empty()
        && !response.said.text.trim().is_empty()
        && arrived(&response.said.text, message.text());
    shares_id || is_text
}

/// An item for people.
pub(super) fn shown(item: &JudgedItem<'_>) -> String {
    let Some(response) = item.response() else {
        return format!("the user message {}", quote_text(item.user().unwrap_or_default()));
    };
    let ids: Vec<String> = response.said.calls.iter().map(|call| format!("`{}`", without_marks(&call.id))).collect();
    let text = quote_text(&response.said.text);
    match &ids[..] {
        [] => format!("the response {text}"),
        [id] => format!("the response {text} with the call {id}"),
        _ => format!("the response {text} with the calls {}", ids.join(", ")),
    }
}
