//! SESSION-STEER: the user's words while a tool works come behind the answers of that round, or behind the run.

use super::judging::{Judging, RequestPlace};
use super::layout::RequestLayout;
use super::thread::JudgedItem;
use crate::script::ScriptSteer;
use crate::universal::halves::arrived_inside;
use crate::universal::message::{AgentMessage, Speaker};
use crate::universal::value::quote_text;
use threadspec::surrogates::without_marks;
use threadspec_golden::clause;

impl Judging<'_> {
    /// Returns the request of a run, counted from 0, that is the first with the user's words during a call, or the number of all
    /// requests if none has them. `None` if the call never began.
    pub(super) fn steered_before(&self, run: usize) -> Option<usize> {
        let (plan, record) = (&self.session.runs[run], &self.records[run]);
        let say = plan.say.as_ref().filter(|say| record.executed.iter().any(|call| call.id == say.during))?;
        let turn = plan.turns.iter().position(|turn| turn.calls().iter().any(|call| call.id == say.during))?;
        let count = |at: usize| times(say, &record.requests[at].messages);
        Some((turn + 1..record.requests.len()).find(|at| count(*at) > count(0)).unwrap_or(record.requests.len()))
    }

    /// Adds the user's words during a call of a run to the thread.
    pub(super) fn steer(&mut self, run: usize, may_be_missing: bool) {
        if let Some(say) = &self.session.runs[run].say {
            self.thread.hear(run, &say.message, may_be_missing);
        }
    }

    /// Judges a later request of the run in which the user spoke during a call.
    pub(super) fn judge_steer(&mut self, place: RequestPlace, end: usize) {
        let Some(say) = self.session.runs[place.run].say.as_ref().filter(|_| !self.compacts(place.run)) else { return };
        let is_it = |item: &JudgedItem<'_>| self.is_steered(item) && item.run == place.run && !item.may_be_missing;
        let Some(index) = self.thread.items[..end].iter().position(is_it) else { return };
        let mut others = self.thread.items[..end].to_vec();
        others.remove(index);
        let records = self.records;
        let layout = RequestLayout::of(&records[place.run].requests[place.request], &others);
        let is_found = |at: &usize| layout.item_of[*at].is_none() && is_steer(say, layout.blocks[*at].message);
        let found: Vec<usize> = (0..layout.blocks.len()).filter(is_found).collect();
        let what = match found[..] {
            [] => "is missing",
            [at] => {
                let (begin, end) = (layout.blocks[at].index, layout.blocks.get(at + 1).map(|block| block.index));
                let is_behind = |stray: &usize| *stray > begin && end.is_none_or(|end| *stray < end);
                let (before, behind) = layout.block_of.split_at(index);
                if layout.strays.iter().any(is_behind) {
                    "is between a call and its answer"
                } else if before.iter().flatten().any(|block| *block > at)
                    || behind.iter().flatten().any(|block| *block < at)
                {
                    "is out of its order"
                } else {
                    return;
                }
            }
            [..] => "is there twice",
        };
        let said = format!("the user message {} during `{}`", quote_text(&say.message), without_marks(&say.during));
        let at = found.last().map(|at| layout.blocks[*at].index);
        self.add(clause::SESSION_STEER, format!("{}: {said} {what}", place.at(at)));
        self.thread.items[index].may_be_missing = true;
    }

    /// Returns whether an item is the user's words during a call.
    pub(super) fn is_steered(&self, item: &JudgedItem<'_>) -> bool {
        let say = self.session.runs[item.run].say.as_ref();
        say.is_some_and(|say| item.user() == Some(&say.message))
    }

    /// Returns the clause by which an item is there once, and in its order.
    pub(super) fn once(&self, index: usize) -> &'static str {
        if self.is_steered(&self.thread.items[index]) { clause::SESSION_STEER } else { clause::SESSION_SAID_ONCE }
    }
}

/// Takes the user's words during a call out of the requests of a run, and leaves what the first one has of the same words.
pub(super) fn without(say: &ScriptSteer, requests: &mut [Vec<AgentMessage>]) {
    let earlier = requests.first().map_or(0, |first| times(say, first));
    for messages in requests.iter_mut().skip(1) {
        let mut known = 0;
        messages.retain(|message| {
            known += usize::from(is_steer(say, message));
            known <= earlier || !is_steer(say, message)
        });
    }
}

/// Counts the messages that hold the user's words.
fn times(say: &ScriptSteer, messages: &[AgentMessage]) -> usize {
    messages.iter().filter(|message| is_steer(say, message)).count()
}

/// Returns whether a message holds the user's words, alone or in a frame.
fn is_steer(say: &ScriptSteer, message: &AgentMessage) -> bool {
    message.speaker == Speaker::Human && arrived_inside(&say.message, message.text())
}
