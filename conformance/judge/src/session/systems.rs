//! System messages, and the hand-over from one agent to another.

use super::judging::{Judging, RequestPlace};
use super::layout::RequestLayout;
use super::script::CallKind;
use super::thread::{JudgedItem, ResponseFate};
use crate::universal::value::quote_text;
use threadspec_golden::clause;

/// The system message of an agent, and how often it is in a request.
struct KnownSystem<'a> {
    agent: usize,
    text: &'a str,
    count: usize,
}

impl<'a> Judging<'a> {
    /// After a hand-over: which agents may speak now, and what a filter may have taken.
    pub(super) fn hand_over(&mut self, end: usize, begin: usize) {
        let last = self.thread.items[begin..end].iter().rev().find_map(JudgedItem::response);
        let Some(response) = last.filter(|response| response.has_hand_over()) else { return };
        let targets = self.targets(response);
        self.thread.agents = targets;
        self.thread.handed_over = true;
        self.thread.filtered = self.thread.filtered.max(end);
    }

    /// The agents to which a response hands over.
    fn targets(&self, response: &ResponseFate<'_>) -> Vec<usize> {
        let target = |kind: &CallKind| match kind {
            CallKind::HandOver(name) => self.session.agents.iter().position(|agent| agent.name == *name),
            CallKind::Plain(_) | CallKind::Raw { .. } => None,
        };
        response.said.calls.iter().filter_map(|call| target(&call.kind)).collect()
    }

    /// The next run begins with the first agent or the last one, which may be the one to which a run was handing over when it ended.
    pub(super) fn begin_with_agent(&mut self) {
        let last = self.thread.responses().next_back().map(|(_, response)| response);
        let targets = last.filter(|response| response.ends_run).map(|response| self.targets(response));
        let targets = targets.unwrap_or_default();
        self.thread.handed_over |= !targets.is_empty();
        for agent in targets.into_iter().chain([0]) {
            if !self.thread.agents.contains(&agent) {
                self.thread.agents.push(agent);
            }
        }
    }

    /// Judges the system messages of a request.
    pub(super) fn judge_systems(&mut self, place: RequestPlace, layout: &RequestLayout<'_>, handed_over: bool) {
        let known = self.known_systems(layout);
        let at = place.at(None);
        let name = |agent: usize| self.session.agents[agent].name.clone();
        if let Some(twice) = known.iter().find(|known| known.count > 1) {
            let what = format!("{at}: the system message {} is there twice", quote_text(twice.text));
            return self.add(clause::SESSION_SAID_ONCE, what);
        }
        let (allowed, others): (Vec<&KnownSystem<'_>>, Vec<&KnownSystem<'_>>) =
            known.iter().partition(|known| self.thread.agents.contains(&known.agent));
        let there = allowed.iter().filter(|known| known.count > 0).count();
        let may_be_joined = self.abilities.session.both_systems && self.thread.handed_over;
        // An agent without instructions has none to send.
        let is_due = allowed.len() == self.thread.agents.len() && !allowed.is_empty();
        let sent: Vec<&str> = layout.systems.iter().map(|at| layout.request.messages[*at].text()).collect();
        let found = match sent.first() {
            Some(text) => format!("; found {}", quote_text(text)),
            None => String::new(),
        };
        if is_due && there == 0 {
            let clause = if self.compacts(place.run) && !handed_over {
                clause::SESSION_COMPACT
            } else if self.thread.handed_over {
                clause::SESSION_HANDOFF
            } else if self.thread.compacted > 0 {
                clause::SESSION_COMPACT
            } else {
                clause::SESSION_SAID_ONCE
            };
            let due: Vec<String> = allowed.iter().map(|known| quote_text(known.text)).collect();
            return self.add(clause, format!("{at}: the system message {} is missing{found}", due.join(" or ")));
        }
        if may_be_joined {
            return;
        }
        if let Some(other) = others.iter().find(|known| known.count > 0) {
            let (text, agent) = (quote_text(other.text), name(other.agent));
            return self.add(
                clause::SESSION_HANDOFF,
                format!("{at}: it has the system message {text} of the agent `{agent}`, which does not speak here"),
            );
        }
        if there > 1 {
            self.add(clause::SESSION_HANDOFF, format!("{at}: it has the system messages of several agents"));
        }
    }

    /// How often the system message of each agent is in a request, joined ones too.
    fn known_systems(&self, layout: &RequestLayout<'_>) -> Vec<KnownSystem<'a>> {
        let mut texts: Vec<String> =
            layout.systems.iter().map(|at| layout.request.messages[*at].text().to_owned()).collect();
        let session = self.session;
        let mut known: Vec<KnownSystem<'a>> = Vec::new();
        for (agent, said) in session.agents.iter().enumerate() {
            if let Some(text) = said.system.as_deref().filter(|text| !text.trim().is_empty()) {
                known.push(KnownSystem { agent, text, count: 0 });
            }
        }
        // One may be a part of another.
        known.sort_by_key(|known| std::cmp::Reverse(known.text.len()));
        for one in &mut known {
            for text in &mut texts {
                let count = text.matches(one.text).count();
                if count > 0 {
                    one.count += count;
                    *text = text.replace(one.text, "\n");
                }
            }
        }
        known
    }

    /// Judges whether the words of the last user message are there after a hand-over.
    pub(super) fn judge_words(&mut self, place: RequestPlace, end: usize, layout: &RequestLayout<'_>) {
        let items = &self.thread.items[..end];
        // A refused run received nothing.
        let is_received = |item: &JudgedItem<'_>| item.user().is_some() && self.records[item.run].asks();
        let Some(at) = items.iter().rposition(is_received) else { return };
        let text = items[at].user().unwrap_or_default();
        // The run began without it: whether compaction may have taken it is judged there.
        if at < self.thread.compacted && items[at].seen != Some(place.run) {
            return;
        }
        let is_there = layout.request.messages.iter().any(|message| message.text().contains(text.trim()));
        if is_there || std::mem::replace(&mut self.thread.items[at].differs, true) {
            return;
        }
        let what = format!("{}: the words of the last user message, {}, are missing", place.at(None), quote_text(text));
        self.add(clause::SESSION_HANDOFF, what);
    }
}
