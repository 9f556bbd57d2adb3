//! Fairness: repeating what the provider said, or what the agent was given, breaks no rule about its form.

use crate::record::Said;
use serde_json::Value;
use std::collections::HashSet;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::json::{compact, list, text};

/// The rules about the form of ids, names, arguments and texts. Rules about pairing and about halves of characters know no excuse.
const FORM_RULES: [&str; 14] = [
    "OAI-CHAT-ID-LEN",
    "OAI-CHAT-NAME-PATTERN",
    "OAI-CHAT-NAME-LEN",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-CONTENT-MAX",
    "OAI-RESP-CALLID-LEN",
    "OAI-RESP-CONTENT-MAX",
    "ANT-ID-PATTERN",
    "ANT-INPUT-OBJECT",
    "ANT-TEXT-NONEMPTY",
    "ANT-TEXT-WHITESPACE",
    "ANT-MSG-NONEMPTY",
    "ANT-TRAILING",
    "ANT-TOOL-NAME",
];

/// What a run was given and said so far.
#[derive(Debug, Default)]
pub(super) struct Repeatable {
    texts: HashSet<String>,
}

impl Repeatable {
    /// What messages of op `tools` say.
    pub(super) fn given(&mut self, messages: &[Value]) {
        for message in messages {
            self.text(text(&message["content"]));
            self.text(text(&message["tool_call_id"]));
            for call in list(&message["tool_calls"]) {
                self.text(text(&call["id"]));
                self.text(text(&call["name"]));
                self.text(&unmark_surrogates(&call["args"].to_string()));
            }
        }
    }

    /// What the model said.
    pub(super) fn said(&mut self, said: &Said) {
        self.text(&said.text);
        self.texts.extend(said.refusal.clone());
        for call in &said.calls {
            self.text(&call.id);
            self.text(&call.name);
            self.text(&call.arguments);
            self.texts.insert(compact(&call.arguments));
        }
    }

    fn text(&mut self, text: &str) {
        self.texts.insert(text.to_owned());
    }

    /// Whether a breach of a rule in a body is excused: it is one of form, and repeats something.
    pub(super) fn excuses(&self, rule: &str, place: &str, body: &Value) -> bool {
        // What a request declares is the agent's own.
        if !FORM_RULES.contains(&rule) || place.starts_with("tools") {
            return false;
        }
        match at(body, place) {
            Some(Value::String(text)) => self.texts.contains(text),
            // No content is an empty text.
            Some(Value::Array(blocks)) if blocks.is_empty() => self.texts.contains(""),
            Some(Value::Null) | None => self.texts.contains(""),
            Some(other) => self.texts.contains(&*unmark_surrogates(&other.to_string())),
        }
    }
}

/// The value at a place such as `messages[3].tool_calls[0].id`.
fn at<'a>(body: &'a Value, place: &str) -> Option<&'a Value> {
    let names = place.split(['.', '[']).filter(|name| !name.is_empty());
    names.into_iter().try_fold(body, |value, name| match name.strip_suffix(']') {
        Some(position) => value.get(position.parse::<usize>().ok()?),
        None => value.get(name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::SaidByModel;
    use serde_json::json;

    #[test]
    fn only_what_is_repeated_is_excused() {
        let mut repeatable = Repeatable::default();
        repeatable
            .given(&[json!({"type": "ai", "content": "", "tool_calls": [{"id": "a b", "name": "n", "args": [1, 2]}]})]);
        let call = SaidByModel { id: "c d".into(), name: "odd name".into(), arguments: "{\"n\": ".into() };
        repeatable.said(&Said { text: " ".into(), calls: vec![call], ..Said::default() });
        let body = json!({"messages": [{"content": [
            {"id": "a b", "input": [1, 2]}, {"id": "c d", "name": "odd name", "input": "{\"n\": "}, {"id": "e f", "text": " "}]},
            {"content": []}], "tools": [{"name": "odd name"}]});
        for (rule, place, expected) in [
            ("ANT-ID-PATTERN", "messages[0].content[0].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[1].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[2].id", false),
            ("ANT-INPUT-OBJECT", "messages[0].content[0].input", true),
            ("ANT-INPUT-OBJECT", "messages[0].content[1].input", true),
            ("ANT-TEXT-WHITESPACE", "messages[0].content[2].text", true),
            ("ANT-MSG-NONEMPTY", "messages[1].content", true),
            ("ANT-TOOL-NAME", "messages[0].content[1].name", true),
            ("ANT-TOOL-NAME", "tools[0].name", false),
            ("ANT-ID-UNIQUE", "messages[0].content[0].id", false),
        ] {
            assert_eq!(repeatable.excuses(rule, place, &body), expected, "{rule} {place}");
        }
    }
}
