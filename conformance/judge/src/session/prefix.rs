//! SESSION-PREFIX: request 1 of a run begins with the last request of the run before, its response and answers.

use super::judging::{Judging, RequestPlace};
use super::layout::RequestLayout;
use crate::universal::message::{AgentMessage, Conversation, Placed, Speaker};
use crate::universal::systems::places;
use crate::universal::value::read_inside;
use std::collections::HashMap;
use threadspec::session::Beginning;
use threadspec_golden::clause;

impl Judging<'_> {
    /// Judges the first request of a run in which nothing else was found.
    pub(super) fn judge_prefix(&mut self, run: usize, ends: &[usize], found_before: usize) {
        let parents = &self.session.parents;
        let mut earlier = std::iter::successors(parents[run], |run| parents[*run]);
        let before = earlier.find(|run| self.records[*run].asks());
        let (Some(before), Some(&end)) = (before, ends.first()) else { return };
        let is_moved = self.thread.handed_over
            || (0..=run).any(|run| self.compacts(run))
            || self.endings[..run].iter().any(|ending| ending.is_early)
            || self.thread.responses().any(|(_, response)| response.is_passed());
        if is_moved || self.findings.found.len() > found_before || !self.findings.found.is_empty() {
            return;
        }
        let records = self.records;
        let Some(last) = records[before].requests.last() else { return };
        let now = &records[run].requests[0];
        let (one, other) = (Conversation::of(&last.messages), Conversation::of(&now.messages));
        let place = RequestPlace { run, request: 0 };
        let systems = |list: &Conversation<'_>| {
            list.systems.iter().map(|placed| placed.message.content.clone()).collect::<Vec<_>>()
        };
        if systems(&one) != systems(&other) {
            let what = format!("{}: the system messages are not those of run {}", place.at(None), before + 1);
            return self.add(clause::SESSION_PREFIX, what);
        }
        let standing = places(&one, &one);
        if !places(&one, &other).iter().any(|standing_now| standing.contains(standing_now)) {
            let what = format!("{}: the system message is elsewhere than in run {}", place.at(None), before + 1);
            return self.add(clause::SESSION_PREFIX, what);
        }
        if let Some(what) = difference(&one.rest, &other.rest) {
            let of = records[before].requests.len();
            let what = format!("{}: {what}, as in request {of} of run {}", place.at(None), before + 1);
            return self.add(clause::SESSION_PREFIX, what);
        }
        // The response is right behind.
        let layout = RequestLayout::of(now, &self.thread.items[..end]);
        let response =
            self.thread.items[..end].iter().rposition(|item| item.response().is_some() && item.run == before);
        let at = response.and_then(|index| layout.block_of[index]).map(|at| layout.blocks[at].index);
        let due = other.rest.get(one.rest.len()).map(|placed| placed.index);
        if at.is_some()
            && at != due
            && let Some(due) = due
        {
            let what = format!(
                "{}: the response to the last request of run {} should be here",
                place.at(Some(due)),
                before + 1
            );
            return self.add(clause::SESSION_PREFIX, what);
        }
        // What need not be there may have something else in its place, and a note may be behind it all.
        let is_strict = matches!(self.session.runs[run].beginning, Beginning::Message(_))
            && !self.thread.items[..end].iter().any(|item| item.may_be_missing);
        let last = layout.block_of.last().copied().flatten().filter(|_| is_strict).unwrap_or_default();
        let is_stranger =
            |at: &usize| layout.item_of[*at].is_none() && !layout.blocks[*at].message.text().trim().is_empty();
        if let Some(stranger) = (0..last).find(is_stranger).map(|at| layout.blocks[at].message) {
            let what = format!("{}: nobody sent {}", place.at(None), stranger.shown());
            self.add(clause::SESSION_PREFIX, what);
        }
    }
}

/// How a list does not begin with another; the answers to the calls of one message may be in any order.
fn difference(before: &[Placed<'_>], now: &[Placed<'_>]) -> Option<String> {
    let mut index = 0;
    while index < before.len() {
        let one = before[index];
        let Some(other) = now.get(index) else {
            return Some(format!("message {} is missing: {}", one.index + 1, one.message.shown()));
        };
        if one.message.speaker != Speaker::Tool {
            if !is_same(one.message, other.message) {
                let ([one, found], place) = (one.message.apart(other.message), other.index + 1);
                return Some(format!("message {place}: expected {one}, found {found}"));
            }
            index += 1;
            continue;
        }
        let group = |list: &[Placed<'_>]| {
            list[index..].iter().take_while(|placed| placed.message.speaker == Speaker::Tool).count()
        };
        let count = group(before);
        let mut open: HashMap<Option<&str>, Vec<Placed<'_>>> = HashMap::new();
        for placed in now[index..].iter().take(count) {
            open.entry(placed.message.call_id.as_deref()).or_default().push(*placed);
        }
        for one in &before[index..index + count] {
            let list = open.get_mut(&one.message.call_id.as_deref());
            let found = list.and_then(|list| {
                let at = list.iter().position(|other| is_same(one.message, other.message))?;
                Some(list.remove(at))
            });
            if found.is_none() {
                return Some(format!("{} is not there as it was", one.message.shown()));
            }
        }
        index += count;
    }
    None
}

/// Returns whether a message is the same; empty contents beside images are equal.
fn is_same(one: &AgentMessage, other: &AgentMessage) -> bool {
    let is_blank = one.text().is_empty() && other.text().is_empty();
    let is_json = || {
        // The same value in other words is a new beginning for every cache, but a number's spelling is lost in reading.
        matches!((read_inside(one.text()), read_inside(other.text())), (Ok(one), Ok(other)) if one == other)
            && one.text().len() == other.text().len()
    };
    one.is(other)
        || one.speaker == other.speaker
            && one.call_id == other.call_id
            && one.calls.is_empty()
            && other.calls.is_empty()
            && (is_blank || is_json())
}
