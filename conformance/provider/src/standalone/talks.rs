//! Judges each conversation request by request, whoever answers.

use super::conversations::{Belonging, Following};
use super::step::{changed, judge_step};
use crate::judging::{WireFinding, WireLevel};
use crate::record::{Came, Said};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::Duration;
use threadspec::oracle::{Api, provider_rules};
use threadspec_apis::ApiRequest;
use threadspec_apis::follow::{StoredPiece, segments};
use threadspec_golden::clause;

/// How many conversations are kept open. The one that was silent longest is closed then; if it goes on all the same, it is a new one.
const MOST_OPEN: usize = 1024;
/// How many findings a conversation keeps; the others are counted.
const MOST_FINDINGS: usize = 100;

/// A conversation, and what was found in it.
#[derive(Clone, Debug)]
pub struct Talk {
    /// The API of its first request.
    pub api: Api,
    /// The model that its last request named.
    pub model: Option<String>,
    /// How many requests for an answer came.
    pub requests: u64,
    /// How many of them were answered to the end.
    pub answers: u64,
    /// When the last one came.
    pub last: Duration,
    /// The faults.
    pub findings: Vec<WireFinding>,
    /// How many more findings there are.
    pub more: u64,
    told: HashSet<u64>,
    /// The last request that was answered, with its answer.
    before: Option<Box<(ApiRequest, Said, Came)>>,
    /// True if its last request is without an answer that came to its end.
    is_waiting: bool,
    is_closed: bool,
}

/// Where a request belongs, and what is wrong in how it goes on.
#[derive(Debug)]
pub(crate) struct AskedTalk {
    /// The number of its conversation.
    pub(crate) number: usize,
    /// True if the conversation begins with it.
    pub(crate) is_new: bool,
    /// The faults.
    pub(crate) found: Vec<WireFinding>,
}

/// Something that happened, for whoever watches.
#[derive(Clone, Debug, PartialEq)]
pub struct News {
    /// The conversation, counted from 0.
    pub conversation: usize,
    /// The findings that are new.
    pub findings: Vec<WireFinding>,
}

/// All conversations.
///
/// Memory grows with their number and with what was found in them. Of the history of each only the last request is kept.
#[derive(Debug, Default)]
pub(crate) struct Talks {
    following: Following,
    all: BTreeMap<usize, Talk>,
    waiting: HashMap<u64, (usize, ApiRequest)>,
    news: Vec<News>,
}

impl Talks {
    /// Every conversation, in the order in which they began.
    pub(crate) fn all(&self) -> impl ExactSizeIterator<Item = &Talk> {
        self.all.values()
    }

    /// Returns the events since the last call.
    pub(crate) fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// The conversation in which an id was sent.
    pub(crate) fn of_id(&self, id: &str) -> Option<usize> {
        self.following.of_id(id)
    }

    /// Finds the conversation of a request for an answer, and judges how it goes on. `attempt` names the request until it is answered.
    pub(crate) fn ask(&mut self, now: Duration, attempt: u64, request: &ApiRequest, body: &Value) -> AskedTalk {
        let talks = &self.all;
        let is_waiting = |number: usize| talks.get(&number).is_some_and(|talk| talk.is_waiting);
        let mut belonging = self.following.belonging(request, body, is_waiting);
        let is_open = |talk: &Talk| !talk.is_closed && talk.api == request.api;
        if !belonging.is_new && !self.all.get(&belonging.conversation).is_some_and(is_open) {
            belonging = self.following.begin_anew();
        }
        let number = belonging.conversation;
        let talk = self.all.entry(number).or_insert_with(|| Talk::new(request.api));
        let found = found(talk, &belonging, request, body);
        talk.model.clone_from(&request.model);
        talk.requests += 1;
        (talk.last, talk.is_waiting) = (now, true);
        self.waiting.insert(attempt, (number, request.clone()));
        AskedTalk { number, is_new: belonging.is_new, found }
    }

    /// Notes what was answered to a request, of which `came` arrived.
    pub(crate) fn answered(&mut self, attempt: u64, said: Option<Said>, came: Came) {
        let Some((number, request)) = self.waiting.remove(&attempt) else { return };
        let Some(talk) = self.all.get_mut(&number) else { return };
        let Some(said) = said else { return };
        for id in [&said.id].into_iter().chain(said.calls.iter().map(|call| &call.id)).filter(|id| !id.is_empty()) {
            self.following.said(id, number);
        }
        if came.whole {
            (talk.answers, talk.is_waiting) = (talk.answers + 1, false);
            talk.before = Some(Box::new((request, said, came)));
        }
    }

    /// Adds what is wrong with a request to its conversation, each fault once and by one name: what is wrong in how it goes on explains
    /// why the API refuses it.
    pub(crate) fn tell(&mut self, number: usize, found: Vec<WireFinding>, others: Vec<WireFinding>) {
        let (rules, others): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|one| one.level == WireLevel::Must && is_rule(one.clause));
        let mut found = found;
        match found.first_mut().filter(|first| first.level == WireLevel::Must && !rules.is_empty()) {
            Some(first) => {
                let names: Vec<&str> = rules.iter().map(|rule| rule.clause).collect();
                first.what += &format!("; the API refuses it ({})", names.join(", "));
            }
            None => found.extend(rules),
        }
        found.extend(others);
        let Some(talk) = self.all.get_mut(&number) else { return };
        let hash = |finding: &WireFinding| threadspec_apis::follow::hash(&(finding.clause, &finding.what));
        let findings: Vec<WireFinding> = found.into_iter().filter(|finding| talk.told.insert(hash(finding))).collect();
        let room = MOST_FINDINGS.saturating_sub(talk.findings.len());
        talk.findings.extend(findings.iter().take(room).cloned());
        talk.more += findings.len().saturating_sub(room) as u64;
        self.news.push(News { conversation: number, findings });
    }

    /// Closes the conversation that was silent longest, if too many are open, and returns its number.
    pub(crate) fn close_oldest(&mut self) -> Option<usize> {
        let open = || self.all.iter().filter(|(_, talk)| !talk.is_closed);
        if open().count() <= MOST_OPEN {
            return None;
        }
        let (&oldest, _) = open().min_by_key(|(_, talk)| talk.last)?;
        let talk = self.all.get_mut(&oldest)?;
        (talk.is_closed, talk.before, talk.told) = (true, None, HashSet::new());
        Some(oldest)
    }
}

/// Returns whether a name is that of a rule of an API.
fn is_rule(name: &str) -> bool {
    provider_rules().any(|rule| rule.id == name)
}

impl Talk {
    fn new(api: Api) -> Self {
        Self {
            api,
            model: None,
            requests: 0,
            answers: 0,
            last: Duration::ZERO,
            findings: Vec::new(),
            more: 0,
            told: HashSet::new(),
            before: None,
            is_waiting: false,
            is_closed: false,
        }
    }
}

/// Judges how a request continues.
fn found(talk: &Talk, belonging: &Belonging, request: &ApiRequest, body: &Value) -> Vec<WireFinding> {
    let mut found = Vec::new();
    if let Some(loss) = &belonging.loss {
        let pieces = segments(request.api, body);
        let pieces = pieces.pieces().iter().skip_while(|piece| piece.place() != loss.place);
        found.push(changed(loss, pieces.map(StoredPiece::length).sum()));
    }
    if let Some(before) = &talk.before {
        let (earlier, said, came) = &**before;
        let is_told = !found.is_empty();
        let step = judge_step(earlier, said, came, request).into_iter();
        found.extend(step.filter(|one| !is_told || one.clause != clause::AGENT_PREFIX));
    }
    found
}
