//! Finds the conversation of a request, and judges each conversation request by request.

use super::{begins_run, changed, judge_step};
use crate::judging::{WireFinding, WireLevel};
use crate::record::{Came, Said};
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::time::Duration;
use threadspec::oracle::{Api, provider_rules};
use threadspec_apis::ApiRequest;
use threadspec_apis::follow::{Conversations as Lineages, Lineage, Loss, StoredPiece, segments};
use threadspec_golden::clause;
use threadspec_judge::protocol::Speaker;

/// How many requests and how many sent ids are remembered. Older ones cannot be continued.
const MOST_REMEMBERED: usize = 1 << 16;

/// Where a request belongs.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Belonging {
    /// The number of the conversation, counted from 0.
    pub(super) conversation: usize,
    /// True if it begins with this request.
    pub(super) is_new: bool,
    /// Where the request stops being an extension of the one that it goes on from.
    pub(super) loss: Option<Loss>,
}

/// Tells conversations apart by what their requests say: programs use one key for all of them, and have several at the same time.
///
/// A request goes on from the conversation whose answer it repeats, recognized by the ids that the provider made; else from the latest one whose
/// tools, system texts and history it extends, or clearly continues in spite of a change. Anything else begins a conversation.
#[derive(Debug, Default)]
pub(super) struct Following {
    count: usize,
    requests: usize,
    lineages: Lineages,
    of_request: Remembered<usize>,
    of_id: Remembered<String>,
}

/// The newest entries of a map.
#[derive(Debug)]
struct Remembered<K> {
    map: HashMap<K, usize>,
    order: VecDeque<K>,
}

impl<K> Default for Remembered<K> {
    fn default() -> Self {
        Self { map: HashMap::new(), order: VecDeque::new() }
    }
}

impl<K: std::hash::Hash + Eq + Clone> Remembered<K> {
    fn insert(&mut self, key: K, conversation: usize) {
        if self.map.insert(key.clone(), conversation).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > MOST_REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.map.remove(&oldest);
        }
    }
}

impl Following {
    /// Finds the conversation of a request. `is_open` says of a conversation whether it still waits for an answer to its last request, so that the
    /// same request again is another attempt.
    pub(super) fn belonging(
        &mut self,
        request: &ApiRequest,
        body: &Value,
        is_open: impl Fn(usize) -> bool,
    ) -> Belonging {
        let number = self.requests;
        self.requests += 1;
        // A history that the provider keeps is no part of the request.
        let is_stored = request.previous_response_id.is_some() || request.conversation.is_some();
        let lineage = if is_stored {
            Lineage::default()
        } else {
            let key = (request.api, &request.model);
            self.lineages.push(number, key, &segments(request.api, body))
        };
        let by_lineage = lineage.parent.and_then(|parent| self.of_request.map.get(&parent).copied());
        let is_answered = request.messages.iter().any(|message| message.speaker == Speaker::Ai);
        let by_lineage = by_lineage.filter(|conversation| is_stored || is_answered || is_open(*conversation));
        let found = self.by_ids(request).or(by_lineage);
        let conversation = found.unwrap_or(self.count);
        self.count = self.count.max(conversation + 1);
        self.of_request.insert(number, conversation);
        Belonging { conversation, is_new: found.is_none(), loss: lineage.loss }
    }

    /// Begins a conversation for the request that was looked at last.
    pub(super) fn begin_anew(&mut self) -> Belonging {
        let conversation = self.count;
        self.count += 1;
        self.of_request.insert(self.requests.saturating_sub(1), conversation);
        Belonging { conversation, is_new: true, loss: None }
    }

    /// Notes an id that was sent in a conversation: of an answer, an item or a call.
    pub(super) fn said(&mut self, id: &str, conversation: usize) {
        self.of_id.insert(id.to_owned(), conversation);
    }

    /// The conversation that sent an id.
    pub(super) fn of_id(&self, id: &str) -> Option<usize> {
        self.of_id.map.get(id).copied()
    }

    /// The conversation that sent the last of the ids in a request.
    fn by_ids(&self, request: &ApiRequest) -> Option<usize> {
        let stored = request.previous_response_id.iter().chain(&request.conversation);
        let references = request.references.iter().map(|reference| &reference.id);
        let calls = request.messages.iter().rev().flat_map(|message| message.calls.iter().map(|call| &call.id));
        stored.chain(references).chain(calls).find_map(|id| self.of_id(id))
    }
}

// Judges each conversation request by request, whoever answers.

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
        match found.iter_mut().find(|one| one.level == WireLevel::Must && !rules.is_empty()) {
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
        let begins_run = talk.before.as_deref().is_some_and(|(_, said, came)| begins_run(said, came, request));
        found.push(changed(loss, pieces.map(StoredPiece::length).sum(), begins_run));
    }
    if let Some(before) = &talk.before {
        let (earlier, said, came) = &**before;
        let is_told = !found.is_empty();
        let step = judge_step(earlier, said, came, request).into_iter();
        found.extend(step.filter(|one| !is_told || one.clause != clause::AGENT_PREFIX));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec::oracle::Api;

    /// The conversations of requests in words: `a…` is what the model says, with a call of that id; `-` before one says that its first answer
    /// is still awaited when the next one comes.
    fn conversations(requests: &[&str]) -> Vec<usize> {
        let mut following = Following::default();
        let mut found = Vec::new();
        let mut open = None;
        for words in requests {
            let is_open = words.starts_with('-');
            let messages: Vec<Value> = words
                .trim_start_matches('-')
                .split_whitespace()
                .flat_map(|word| match word.as_bytes()[0] {
                    b'a' => vec![
                        json!({"role": "assistant", "content": null, "tool_calls": [
                            {"id": word, "type": "function", "function": {"name": "t", "arguments": "{}"}}]}),
                        json!({"role": "tool", "tool_call_id": word, "content": "ok"}),
                    ],
                    b's' => vec![json!({"role": "system", "content": word})],
                    _ => vec![json!({"role": "user", "content": word})],
                })
                .collect();
            let body = json!({"model": "m", "messages": messages});
            let request = ApiRequest::read(Api::OpenAiChat, &body);
            let belonging = following.belonging(&request, &body, |number| open == Some(number));
            // The next answer has an id that tells the conversation and the number of the request.
            following.said(&format!("a{}.{}", belonging.conversation, found.len()), belonging.conversation);
            found.push(belonging.conversation);
            open = is_open.then_some(belonging.conversation);
        }
        found
    }

    #[test]
    fn requests_belong_where_they_go_on() {
        for (requests, expected) in [
            (&["s u", "s u a0.0", "s u a0.0 a0.1"][..], &[0, 0, 0][..]),
            // Two that begin alike, at the same time: the ids of their answers tell them apart.
            (&["s u", "s u", "s u a0.0", "s u a1.1", "s u a0.0 a0.2"], &[0, 1, 0, 1, 0]),
            // The same request again, while it has no answer.
            (&["-s u", "s u", "s u a0.1"], &[0, 0, 0]),
            // A title beside the work; another agent.
            (&["s u", "s:title u", "s u a0.0", "s:other v"], &[0, 1, 0, 2]),
            // The system text has changed: it goes on all the same.
            (&["s:12:00 u", "s:12:01 u a0.0"], &[0, 0]),
        ] {
            assert_eq!(conversations(requests), expected, "{requests:?}");
        }
    }
}
