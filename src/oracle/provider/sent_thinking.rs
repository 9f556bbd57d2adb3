//! The thinking of a conversation whose requests and answers are seen one after the other, as in a log.

use super::breach::Breach;
use super::{anthropic, list, text};
use serde_json::Value;
use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// The thinking before each call of a conversation with Anthropic Messages, as a hash for each message with calls.
///
/// One request does not show whether the thinking before a `tool_use` is that of the answer. An answer does, and so does an earlier
/// request.
///
/// ```
/// use serde_json::json;
/// use threadspec::oracle::SentThinking;
/// let call = json!({"type": "tool_use", "id": "a", "name": "t", "input": {}});
/// let mut sent = SentThinking::default();
/// sent.answer(&[json!({"type": "thinking", "thinking": "Hm.", "signature": "x"}), call.clone()]);
/// let body = json!({"thinking": {"type": "enabled", "budget_tokens": 1024}, "messages": [
///     {"role": "user", "content": "Hi"}, {"role": "assistant", "content": [call]},
///     {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "4"}]}]});
/// let breaches = sent.request(&body);
/// assert_eq!((breaches[0].rule, &*breaches[0].place), ("ANT-THINK-FIRST", "messages[1].content[0].type"));
/// assert_eq!(sent.request(&body), [], "it is reported once");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentThinking {
    /// By the id of a message's first call.
    by_call: HashMap<String, u64>,
}

/// The hash of a message without thinking.
const NONE: u64 = 0;

impl SentThinking {
    /// Takes the content of an answer.
    pub fn answer(&mut self, content: &[Value]) {
        let blocks: Vec<&Value> = content.iter().collect();
        if let Some(id) = first_call(&blocks) {
            self.by_call.insert(id.to_owned(), hash(&blocks));
        }
    }

    /// Takes the body of a request, and says which thinking before a call of the running turn has changed or is missing since.
    pub fn request(&mut self, body: &Value) -> Vec<Breach> {
        let mut breaches = Vec::new();
        let asked = text(&body["thinking"], "type");
        let is_on = matches!(asked, "enabled" | "adaptive");
        let messages = list(body, "messages");
        let running = anthropic::running_turn(messages);
        let mut end = 0;
        // Neighbours of one role are one message.
        for run in messages.chunk_by(|one, next| one["role"] == next["role"]) {
            let start = end;
            end += run.len();
            let blocks: Vec<&Value> = run.iter().flat_map(|message| list(message, "content")).collect();
            let id = if run[0]["role"] == "assistant" { first_call(&blocks) } else { None };
            let Some(id) = id else { continue };
            let now = hash(&blocks);
            let before = self.by_call.insert(id.to_owned(), now).unwrap_or(now);
            // Earlier turns, and requests that do not think or think where the model likes to, may leave all of it out.
            let may_be_left_out = now == NONE && asked == "adaptive";
            if !is_on || start < running || before == now || before == NONE || may_be_left_out {
                continue;
            }
            let place = format!("messages[{start}].content[0]");
            breaches.push(if now == NONE {
                anthropic::thinking_missing(&place, text(blocks[0], "type"))
            } else {
                anthropic::thinking_changed(place)
            });
        }
        breaches
    }
}

fn first_call<'a>(blocks: &[&'a Value]) -> Option<&'a str> {
    blocks.iter().find(|block| block["type"] == "tool_use")?["id"].as_str()
}

/// Hashes the thinking in a message, in its order and its place among the calls.
fn hash(blocks: &[&Value]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let (mut is_empty, mut calls) = (true, 0);
    for block in blocks {
        calls += usize::from(block["type"] == "tool_use");
        if anthropic::is_thinking(block) {
            is_empty = false;
            (calls, anthropic::SHOWN.map(|name| text(block, name))).hash(&mut hasher);
        }
    }
    if is_empty { NONE } else { hasher.finish().max(NONE + 1) }
}
