//! Fairness: repeating what the provider sent, or what the agent was given, breaks no rule about its form.

use crate::record::Said;
use serde_json::Value;
use std::collections::HashSet;
use threadspec::surrogates::unmark_surrogates;
use threadspec_judge::json::{compact, list, text};

/// The rules about the form of ids, names, arguments and texts. Rules about pairing and about halves of characters know no excuse.
const FORM_RULES: [&str; 19] = [
    "OAI-CHAT-ID-LEN",
    "OAI-CHAT-NAME-PATTERN",
    "OAI-CHAT-NAME-LEN",
    "OAI-CHAT-ARGS-JSON",
    "OAI-CHAT-CONTENT-MAX",
    "OAI-RESP-CALLID-LEN",
    "OAI-RESP-CONTENT-MAX",
    "OAI-RESP-CONTENT-TYPE",
    "OAI-RESP-ARGS-JSON",
    "OAI-RESP-NAME-PATTERN",
    "OAI-RESP-NAME-LEN",
    "ANT-ID-PATTERN",
    "ANT-INPUT-OBJECT",
    "ANT-TEXT-NONEMPTY",
    "ANT-TEXT-WHITESPACE",
    "ANT-MSG-NONEMPTY",
    "ANT-CONTENT-TYPE",
    "ANT-TRAILING",
    "ANT-TOOL-NAME",
];

/// The input and the output of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Repeatable {
    texts: HashSet<String>,
    ids: HashSet<String>,
}

impl Repeatable {
    /// Adds the messages of op `tools`.
    pub(crate) fn given(&mut self, messages: &[Value]) {
        for message in messages {
            self.text(text(&message["content"]));
            self.id(text(&message["tool_call_id"]));
            for call in list(&message["tool_calls"]) {
                self.id(text(&call["id"]));
                self.text(text(&call["name"]));
                self.text(&unmark_surrogates(&call["args"].to_string()));
            }
        }
    }

    /// Adds an answer of the model.
    pub(crate) fn said(&mut self, said: &Said) {
        self.text(&said.text);
        self.texts.extend(said.refusal.clone());
        for call in &said.calls {
            self.id(&call.id);
            self.text(&call.name);
            self.text(&call.arguments);
            self.texts.insert(compact(&call.arguments));
        }
    }

    fn id(&mut self, id: &str) {
        self.text(id);
        self.ids.insert(id.to_owned());
    }

    /// Returns whether an id begins like one that Anthropic would not give, and is otherwise plain: a new id that is made of one that came
    /// twice.
    fn is_made_of_one(&self, id: &str) -> bool {
        let is_odd = |of: char| !of.is_ascii_alphanumeric() && !matches!(of, '_' | '-');
        let odd = |id: &str| id.char_indices().rfind(|(_, of)| is_odd(*of)).map(|(at, of)| at + of.len_utf8());
        self.ids.iter().any(|known| odd(known).is_some_and(|end| odd(id) == Some(end) && known[..end] == id[..end]))
    }

    fn text(&mut self, text: &str) {
        self.texts.insert(text.to_owned());
    }

    /// Returns whether a breach of a rule in a body is excused: it is one of form, and repeats something.
    pub(crate) fn excuses(&self, rule: &str, place: &str, body: &Value) -> bool {
        // What a request declares is the agent's own.
        if !FORM_RULES.contains(&rule) || place.starts_with("tools") {
            return false;
        }
        match at(body, place) {
            Some(Value::String(id)) if rule == "ANT-ID-PATTERN" => self.texts.contains(id) || self.is_made_of_one(id),
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
            {"id": "a b", "input": [1, 2]}, {"id": "c d", "name": "odd name", "input": "{\"n\": "}, {"id": "e f", "text": " "}, {"id": "a b_2"}, {"id": "a/b"}]},
            {"content": []}], "tools": [{"name": "odd name"}]});
        for (rule, place, expected) in [
            ("ANT-ID-PATTERN", "messages[0].content[0].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[3].id", true),
            ("ANT-ID-PATTERN", "messages[0].content[4].id", false),
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
