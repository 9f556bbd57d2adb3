//! Counts the usage of requests and answers, by a rule that an agent can check.
//!
//! A token is a quarter of the bytes of compact JSON: of tools, system and history for what goes in, of texts and arguments for what comes
//! out, rounded up and at least 1. What a request has in common with an earlier one, from its beginning on, is cached: with OpenAI from
//! 1,024 tokens on in steps of 128, with Anthropic as far as a block is marked.

use serde::Serialize;
use serde_json::Value;
use threadspec::oracle::Api;
use threadspec_judge::protocol::facts;

/// From how many tokens on OpenAI caches, and in which steps.
const OPENAI_CACHE: (u64, u64) = (1024, 128);
/// How many earlier requests that do not extend each other are remembered.
const REMEMBERED: usize = 16;

/// How many tokens a request and its answer have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// All of the input.
    pub input: u64,
    /// The part of it that the cache had.
    pub cached: u64,
    /// The part of it that was written into the cache (anthropic).
    pub written: u64,
    /// The output.
    pub output: u64,
    /// The part of it that was thinking.
    pub reasoning: u64,
}

/// The parts of a request that a model sees, as one text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptText {
    /// Compact JSON.
    text: Vec<u8>,
    /// Where marked blocks end, in order.
    marked: Vec<usize>,
}

/// The requests of a run, for what a cache has of the next one.
///
/// ```
/// use serde_json::json;
/// use threadspec::oracle::Api;
/// use threadspec_apis::{PromptLog, PromptText};
/// let long = "x".repeat(5_000);
/// let body = json!({"messages": [{"role": "system", "content": long}, {"role": "user", "content": "Go"}]});
/// let mut log = PromptLog::default();
/// let prompt = || PromptText::of(Api::OpenAiChat, &body);
/// assert_eq!(log.push(Api::OpenAiChat, prompt()).cached, 0);
/// let again = log.push(Api::OpenAiChat, prompt());
/// assert_eq!((again.input, again.cached), (1266, 1152));
/// ```
#[derive(Clone, Debug, Default)]
pub struct PromptLog {
    earlier: Vec<PromptText>,
}

/// A quarter of a number of bytes, rounded up and at least 1.
pub fn tokens(bytes: usize) -> u64 {
    bytes.div_ceil(4).max(1) as u64
}

impl PromptText {
    /// Returns the parts of a request's body that the model sees.
    pub fn of(api: Api, body: &Value) -> Self {
        let facts = facts(api);
        let parts = [Some("tools"), facts.system, Some(facts.list)];
        let mut prompt = Self::default();
        parts
            .into_iter()
            .flatten()
            .map(|name| &body[name])
            .filter(|part| !part.is_null())
            .for_each(|part| prompt.write(part));
        prompt
    }

    /// How many tokens it has.
    pub fn tokens(&self) -> u64 {
        tokens(self.text.len())
    }

    fn write(&mut self, value: &Value) {
        match value {
            Value::Array(elements) => {
                self.text.push(b'[');
                for (position, element) in elements.iter().enumerate() {
                    self.separate(position);
                    self.write(element);
                }
                self.text.push(b']');
            }
            Value::Object(members) => {
                self.text.push(b'{');
                let is_shown = |name: &str| name != "cache_control";
                for (position, (name, member)) in members.iter().filter(|(name, _)| is_shown(name)).enumerate() {
                    self.separate(position);
                    self.write_scalar(name);
                    self.text.push(b':');
                    self.write(member);
                }
                self.text.push(b'}');
                if members.get("cache_control").is_some_and(|mark| !mark.is_null()) {
                    self.marked.push(self.text.len());
                }
            }
            scalar => self.write_scalar(scalar),
        }
    }

    fn separate(&mut self, position: usize) {
        if position > 0 {
            self.text.push(b',');
        }
    }

    fn write_scalar(&mut self, scalar: &(impl Serialize + ?Sized)) {
        // Neither a text nor a number can fail to be written into memory.
        let _ = serde_json::to_writer(&mut self.text, scalar);
    }

    fn common(&self, other: &Self) -> usize {
        let (one, other) = (&self.text, &other.text);
        let shorter = one.len().min(other.len());
        // Nearly always all of it is the same, which is seen fastest at once.
        if one[..shorter] == other[..shorter] {
            return shorter;
        }
        one.iter().zip(other).take_while(|(one, other)| one == other).count()
    }
}

impl PromptLog {
    /// The usage of the next request, without what comes out.
    pub fn push(&mut self, api: Api, prompt: PromptText) -> Usage {
        let quarter = |bytes: usize| (bytes / 4) as u64;
        let common: Vec<usize> = self.earlier.iter().map(|earlier| earlier.common(&prompt)).collect();
        let input = prompt.tokens();
        let usage = if api == Api::Anthropic {
            // What was written ends where a block was marked, and is found if this request is marked there or behind.
            let last = prompt.marked.last().copied().unwrap_or_default();
            let ends = common.iter().zip(&self.earlier).flat_map(|(&common, earlier)| {
                earlier.marked.iter().copied().filter(move |&end| end <= common.min(last))
            });
            let cached = quarter(ends.max().unwrap_or_default());
            Usage { input, cached, written: quarter(last) - cached, ..Usage::default() }
        } else {
            let (from, step) = OPENAI_CACHE;
            let cached = quarter(common.iter().copied().max().unwrap_or_default());
            Usage { input, cached: if cached < from { 0 } else { cached / step * step }, ..Usage::default() }
        };
        // What the new one extends can add nothing to it.
        let (mut position, mut marked) = (0, prompt.marked.clone());
        self.earlier.retain(|earlier| {
            let is_extended = common.get(position) == Some(&earlier.text.len());
            position += 1;
            if is_extended {
                marked.extend(&earlier.marked);
            }
            !is_extended
        });
        marked.sort_unstable();
        marked.dedup();
        self.earlier.push(PromptText { marked, ..prompt });
        if self.earlier.len() > REMEMBERED {
            self.earlier.remove(0);
        }
        usage
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn anthropic(texts: &[(&str, bool)]) -> PromptText {
        let block = |(text, is_marked): &(&str, bool)| {
            let mut block = json!({"type": "text", "text": text});
            if *is_marked {
                block["cache_control"] = json!({"type": "ephemeral"});
            }
            block
        };
        let blocks: Vec<Value> = texts.iter().map(block).collect();
        PromptText::of(Api::Anthropic, &json!({"messages": [{"role": "user", "content": blocks}]}))
    }

    /// The list of messages of the worked exchange has 72 bytes, that of the input 32.
    #[test]
    fn a_token_is_a_quarter_of_the_bytes() {
        let go = json!({"role": "user", "content": "Go"});
        let chat = json!({"model": "gpt-4.1", "messages": [{"role": "system", "content": "Be brief."}, go]});
        assert_eq!(PromptText::of(Api::OpenAiChat, &chat).tokens(), 18);
        assert_eq!(PromptText::of(Api::OpenAiResponses, &json!({"input": [go]})).tokens(), 8);
        assert_eq!(PromptText::of(Api::Anthropic, &json!({"messages": [go]})).tokens(), 8);
        assert_eq!([tokens(0), tokens(1), tokens(4), tokens(5)], [1, 1, 1, 2]);
    }

    #[test]
    fn openai_caches_from_a_size_on_in_steps() {
        let body = |length: usize, end: &str| json!({"messages": [{"role": "user", "content": "x".repeat(length)}, {"role": "user", "content": end}]});
        let second = |length: usize| {
            let mut log = PromptLog::default();
            log.push(Api::OpenAiChat, PromptText::of(Api::OpenAiChat, &body(length, "a")));
            log.push(Api::OpenAiChat, PromptText::of(Api::OpenAiChat, &body(length, "b"))).cached
        };
        // In common are the long text and 56 bytes around it.
        assert_eq!([second(4 * 1024 - 57), second(4 * 1024 - 56), second(4 * 1300)], [0, 1024, 1280]);
    }

    #[test]
    fn anthropic_caches_as_far_as_a_block_is_marked() {
        let mut log = PromptLog::default();
        let mut push = |texts: &[(&str, bool)]| log.push(Api::Anthropic, anthropic(texts));
        let text = "x".repeat(400);
        let first = push(&[(&text, true), ("a", false)]);
        assert_eq!((first.cached, first.written), (0, 113));
        let second = push(&[(&text, false), ("a", false), ("b", true)]);
        assert_eq!((second.cached, second.written), (113, 13));
        let unmarked = push(&[(&text, false), ("a", false)]);
        assert_eq!((unmarked.cached, unmarked.written), (0, 0));
        let changed = push(&[(&text, false), ("c", true)]);
        assert_eq!((changed.cached, changed.written), (113, 6), "a change behind what the first request had marked");
    }

    #[test]
    fn a_thread_that_grows_is_kept_once() {
        let mut log = PromptLog::default();
        for length in 1..100 {
            let messages: Vec<Value> = (0..length).map(|number| json!({"role": "user", "content": number})).collect();
            log.push(Api::OpenAiChat, PromptText::of(Api::OpenAiChat, &json!({"messages": messages})));
        }
        assert!(log.earlier.len() <= REMEMBERED);
    }
}
