//! Finds the conversation of a request.

use serde_json::Value;
use std::collections::{HashMap, VecDeque};
use threadspec_apis::ApiRequest;
use threadspec_apis::follow::{Conversations as Lineages, Lineage, Loss, segments};
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
