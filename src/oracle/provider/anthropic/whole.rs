//! Checks a request to Anthropic Messages as a whole: declared tools, marks of the cache, sizes, the version.

use crate::MemberLookup;
use crate::oracle::provider::breach::{BreachDetail, Breaches};
use crate::oracle::provider::{RequestContext, has, is_plain, list, not_a_name, text};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

pub(super) const MAX_TOKENS: &str = "ANT-MAX-TOKENS";

const LONGEST_DECLARED: usize = 128;
const MOST_MARKS: usize = 4;
const MOST_MESSAGES: usize = 100_000;
const MOST_BYTES: usize = 32 << 20;
/// The version of the API that takes no sampling parameters, documents of the assistant and citations of the user.
const SLIM_VERSION: &str = "2026-10-21";

pub(super) fn judge(body: &Value, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let messages = list(body, "messages");
    tools(body, breaches);
    marks(body, breaches);
    let size = length_of(body);
    if messages.len() > MOST_MESSAGES || size > MOST_BYTES {
        let what = format!("{} messages or {size} bytes are too many", messages.len());
        let breach = breaches.add("ANT-SIZE", "messages", what);
        if size <= MOST_BYTES {
            breach.variant("messages");
        }
        breach.with(BreachDetail::Length(messages.len())).with(BreachDetail::Max(MOST_MESSAGES));
    }
    breaches.surrogates(true, "ANT-UTF16", format_args!(""), body);
    max_tokens(body, breaches);
    version(body, context, breaches);
}

/// How long the answer may be. What names no model is a part of a request.
fn max_tokens(body: &Value, breaches: &mut Breaches) {
    let is_whole = has(body, "model") || has(body, "anthropic_version");
    match body.get("max_tokens") {
        None if is_whole => {
            breaches.member(MAX_TOKENS, "max_tokens", "is missing");
        }
        Some(most) if !most.is_u64() => {
            breaches.member(MAX_TOKENS, "max_tokens", "is no whole number").variant("type").certain_if(!most.is_i64());
        }
        _ => {}
    }
}

fn tools(body: &Value, breaches: &mut Breaches) {
    let mut names = HashSet::new();
    // Sets of tools have no name.
    for (position, tool) in list(body, "tools").iter().enumerate().filter(|(_, tool)| has(tool, "name")) {
        let place = format_args!("tools[{position}].name");
        let name = text(tool, "name");
        if !is_plain(name) || name.len() > LONGEST_DECLARED {
            breaches.member("ANT-TOOL-NAME", place, not_a_name(name, LONGEST_DECLARED)).name(name);
        }
        if !names.insert(name) {
            breaches.add("ANT-TOOLS-UNIQUE", place, format!("an earlier tool has the same name {name:?}")).name(name);
        }
    }
}

fn marks(body: &Value, breaches: &mut Breaches) {
    let mut marks = 0;
    marked(body, &mut Vec::new(), &mut |path, block| {
        marks += 1;
        if block.member("type") == "text" && text(block, "text").is_empty() {
            breaches.add("ANT-CACHE-MARKS", path.concat(), "a cache mark is on an empty text").variant("empty");
        }
    });
    if marks > MOST_MARKS {
        let breach = breaches.add("ANT-CACHE-MARKS", "", format!("{marks} cache marks are more than {MOST_MARKS}"));
        breach.with(BreachDetail::Length(marks)).with(BreachDetail::Max(MOST_MARKS));
    }
}

/// How many bytes a body has as compact JSON text.
fn length_of(body: &Value) -> usize {
    /// Counts what is written to it.
    struct Length(usize);
    impl io::Write for Length {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut length = Length(0);
    // Writing a value fails only where its target does.
    let _ = serde_json::to_writer(&mut length, body);
    length.0
}

/// Checks the rules that depend on the headers.
fn version(body: &Value, context: &RequestContext<'_>, breaches: &mut Breaches) {
    let Some(headers) = context.headers else { return };
    if headers.anthropic_version.is_none() {
        breaches.add("ANT-VERSION", "anthropic-version", "the header is not sent");
    }
    if !headers.is_since(SLIM_VERSION) {
        return;
    }
    for name in ["temperature", "top_p", "top_k"] {
        if let Some(value) = body.get(name) {
            // Whether null is refused, too, is not known.
            breaches.member("ANT-SAMPLING", name, "is refused by this version").certain_if(!value.is_null()).name(name);
        }
    }
    for (position, message) in list(body, "messages").iter().enumerate() {
        for (number, block) in list(message, "content").iter().enumerate() {
            let place = format_args!("messages[{position}].content[{number}]");
            if message.member("role") == "assistant" && block.member("type") == "document" {
                breaches.add("ANT-NO-DOCUMENT", format_args!("{place}.type"), "the assistant sends a document");
            }
            let has_citations = !list(block, "citations").is_empty();
            if message.member("role") == "user" && block.member("type") == "text" && has_citations {
                breaches.add("ANT-NO-CITATIONS", format_args!("{place}.citations"), "a text of the user has citations");
            }
        }
    }
}

/// Finds every object with `cache_control`, outside of arguments, which are data; its path is in parts.
fn marked<'a>(value: &'a Value, path: &mut Vec<Cow<'a, str>>, found: &mut impl FnMut(&[Cow<'a, str>], &'a Value)) {
    match value {
        Value::Array(elements) => {
            for (number, element) in elements.iter().enumerate().filter(|(_, element)| !element.is_string()) {
                path.push(format!("[{number}]").into());
                marked(element, path, found);
                path.pop();
            }
        }
        Value::Object(members) => {
            if members.get("cache_control").is_some_and(|mark| !mark.is_null()) {
                found(path, value);
            }
            let is_data = |name: &str| matches!(name, "input" | "input_schema");
            for (name, member) in members.iter().filter(|(name, member)| !member.is_string() && !is_data(name)) {
                if !path.is_empty() {
                    path.push(".".into());
                }
                path.push(name.as_str().into());
                marked(member, path, found);
                path.pop();
                if !path.is_empty() {
                    path.pop();
                }
            }
        }
        _ => {}
    }
}
