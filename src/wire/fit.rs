//! Fits names, ids and texts to what model APIs accept.

use crate::ids::Ids;
use crate::surrogates::{has_marks, marked, without_marks};
use crate::{Error, Message, ToolCall};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};

/// The form of call ids that a provider accepts.
#[derive(Clone, Copy)]
pub(super) struct IdForm {
    /// The most UTF-16 code units, hence characters.
    pub(super) longest: usize,
    /// True if only letters, digits, `_` and `-` are accepted.
    pub(super) plain: bool,
}

/// The form of tool names that every provider accepts: 1 to 64 letters, digits, `_` and `-`.
const NAMES: IdForm = IdForm { longest: 64, plain: true };
/// The longest text that every provider accepts, in characters.
const LONGEST_TEXT: usize = 10_485_760;

/// The messages with ids, names and arguments that a provider accepts.
///
/// Each call gets an id of its own, for its answer too; ids and names that are refused are replaced one to one, in order, so
/// that a longer list begins with what the shorter one became.
///
/// # Errors
/// If there are no messages, or a text is longer than every provider's limit.
pub(super) fn fit(messages: &[Message], ids: IdForm) -> Result<Vec<Message>, Error> {
    if messages.is_empty() {
        return Err(nothing_to_send());
    }
    let mut fitting = Fitting { form: ids, ids: Ids::default(), open: HashMap::new(), names: FittedNames::default() };
    messages.iter().enumerate().map(|(position, message)| fitting.message(position, message)).collect()
}

/// The error about a list of which nothing can be sent.
pub(super) fn nothing_to_send() -> Error {
    Error::input("there is nothing to send: no message says anything")
}

struct Fitting {
    form: IdForm,
    ids: Ids,
    /// For each id of the last group of calls the ids that represent it, which their answers take in turn.
    open: HashMap<String, VecDeque<String>>,
    names: FittedNames,
}

impl Fitting {
    fn message(&mut self, position: usize, message: &Message) -> Result<Message, Error> {
        // Fewer bytes are fewer characters.
        if message.content().len() > LONGEST_TEXT {
            let length = message.content().chars().count();
            if length > LONGEST_TEXT {
                let reason = format!("content: {length} characters, and providers take at most {LONGEST_TEXT}");
                return Err(Error::input(format!("message {position}: {reason}")));
            }
        }
        Ok(match message {
            Message::Ai { content, tool_calls } => {
                self.open.clear();
                let tool_calls = tool_calls.iter().map(|call| self.call(call)).collect();
                Message::Ai { content: content.clone(), tool_calls }
            }
            Message::Tool { tool_call_id, content } => Message::tool(self.answer(tool_call_id), content),
            other => other.clone(),
        })
    }

    fn call(&mut self, call: &ToolCall) -> ToolCall {
        let wanted = self.form.nearest(&call.id, "call");
        let id = if self.ids.take(&wanted) { wanted } else { self.ids.take_numbered(&wanted, self.form.longest) };
        self.open.entry(call.id.clone()).or_default().push_back(id.clone());
        ToolCall { id, name: self.names.of(&call.name), args: without_halves(&call.args) }
    }

    fn answer(&mut self, id: &str) -> String {
        let ids = self.open.get_mut(id);
        let next = ids.and_then(|ids| if ids.len() > 1 { ids.pop_front() } else { ids.front().cloned() });
        next.unwrap_or_else(|| self.form.nearest(id, "call"))
    }
}

impl IdForm {
    /// The nearest id of this form: the id itself if it fits, `if_empty` if nothing is left of it.
    fn nearest(self, id: &str, if_empty: &str) -> String {
        let fits = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
        let id: String = id.chars().map(|c| if self.plain && !fits(c) { '_' } else { c }).collect();
        let mut units = 0;
        let end = id.char_indices().find(|(_, character)| {
            units += character.len_utf16();
            units > self.longest
        });
        let id = end.map_or(&*id, |(end, _)| &id[..end]);
        if id.is_empty() { if_empty.to_owned() } else { id.to_owned() }
    }
}

/// The names of tools, each with the one that represents it.
#[derive(Default)]
struct FittedNames {
    taken: Ids,
    standing: HashMap<String, String>,
}

impl FittedNames {
    fn of(&mut self, name: &str) -> String {
        if let Some(standing) = self.standing.get(name) {
            return standing.clone();
        }
        let wanted = NAMES.nearest(name, "unnamed");
        let standing = if self.taken.take(&wanted) { wanted } else { self.taken.take_numbered(&wanted, NAMES.longest) };
        self.standing.insert(name.to_owned(), standing.clone());
        standing
    }
}

/// Replaces each lone surrogate in arguments, which providers refuse, by U+FFFD. They stay marked data. Keys that become equal get numbers.
fn without_halves(members: &Map<String, Value>) -> Map<String, Value> {
    let mut ids = Ids::default();
    for key in members.keys() {
        ids.take(key);
    }
    let mut fitting = Map::new();
    for (key, value) in members {
        let wanted = whole(key);
        let own = wanted == *key || ids.take(&wanted);
        let key = if own { wanted.into_owned() } else { ids.take_numbered(&wanted, usize::MAX) };
        fitting.insert(key, without_halves_in(value));
    }
    fitting
}

fn without_halves_in(value: &Value) -> Value {
    match value {
        Value::String(text) => whole(text).into_owned().into(),
        Value::Array(elements) => elements.iter().map(without_halves_in).collect(),
        Value::Object(members) => without_halves(members).into(),
        other => other.clone(),
    }
}

/// Replaces each mark in a string of marked data by U+FFFD.
fn whole(text: &str) -> Cow<'_, str> {
    if has_marks(text) { marked(&without_marks(text)).into_owned().into() } else { text.into() }
}

/// Reads marked data that has no marks as plain data.
fn plain(value: &Value) -> Value {
    match value {
        Value::String(text) => without_marks(text).into_owned().into(),
        Value::Array(elements) => elements.iter().map(plain).collect(),
        Value::Object(members) => plain_members(members),
        other => other.clone(),
    }
}

/// Reads an object of marked data that has no marks as plain data.
pub(super) fn plain_members(members: &Map<String, Value>) -> Value {
    members.iter().map(|(key, value)| (without_marks(key).into_owned(), plain(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surrogates::mark_surrogates;

    const PLAIN: IdForm = IdForm { longest: 10, plain: true };

    fn group(ids: &[&str]) -> Vec<Message> {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "t".to_owned(), args: Map::new() };
        let calls = Message::Ai { content: String::new(), tool_calls: ids.iter().map(call).collect() };
        [calls].into_iter().chain(ids.iter().map(|id| Message::tool(*id, ""))).collect()
    }

    /// The ids of calls, then those of answers.
    fn ids(messages: &[Message]) -> Vec<String> {
        let mut found = Vec::new();
        for message in fit(messages, PLAIN).expect("there is something") {
            found.extend(message.tool_calls().iter().map(|call| call.id.clone()));
            if let Message::Tool { tool_call_id, .. } = message {
                found.push(tool_call_id);
            }
        }
        found
    }

    #[test]
    fn ids_are_replaced_one_to_one_and_answers_follow() {
        for (group_ids, expected) in [
            (&["a", "b"][..], &["a", "b"][..]),
            (&["a.b", "a b", "a_b"], &["a_b", "a_b_2", "a_b_3"]),
            (&[""], &["call"]),
            (&["é"], &["_"]),
            (&["0123456789ab", "0123456789cd"], &["0123456789", "01234567_2"]),
            (&["a", "a"], &["a", "a_2"]),
        ] {
            assert_eq!(ids(&group(group_ids)), [expected, expected].concat(), "{group_ids:?}");
        }
    }

    #[test]
    fn an_id_that_comes_again_gets_another_and_nothing_before_it_changes() {
        let once = group(&["a"]);
        let twice = [once.clone(), group(&["a"]), group(&["a_2"])].concat();
        assert_eq!(ids(&twice), ["a", "a", "a_2", "a_2", "a_2_2", "a_2_2"]);
        let [shorter, longer] = [&once, &twice].map(|list| fit(list, PLAIN).expect("there is something"));
        assert!(longer.starts_with(&shorter));
    }

    #[test]
    fn names_keep_their_stand_in() {
        let mut names = FittedNames::default();
        let long = "x".repeat(65);
        assert_eq!(
            ["a.b", "a_b", "a.b", "", "sh"].map(|name| names.of(name)),
            ["a_b", "a_b_2", "a_b", "unnamed", "sh"]
        );
        assert_eq!(names.of(&long), "x".repeat(64));
        assert_eq!(names.of(&(long + "y")), "x".repeat(62) + "_2");
    }

    #[test]
    fn no_member_is_lost_with_its_surrogate() {
        let json = r#"{"\ud83d": ["\ud83e"], "\ud83e": 2, "\ufffd": {"a": "\ude00"}}"#;
        let members: Map<String, Value> = serde_json::from_str(&mark_surrogates(json)).expect("marked");
        let fitting = Value::from(without_halves(&members)).to_string();
        assert_eq!(fitting, "{\"\u{fffd}_2\":[\"\u{fffd}\"],\"\u{fffd}_3\":2,\"\u{fffd}\":{\"a\":\"\u{fffd}\"}}");
    }

    #[test]
    fn what_cannot_be_sent_is_said() {
        assert_eq!(
            fit(&[], PLAIN).expect_err("nothing").to_string(),
            "there is nothing to send: no message says anything"
        );
        let messages = [Message::human(""), Message::human("é".repeat(LONGEST_TEXT + 1))];
        let error = fit(&messages, PLAIN).expect_err("too long").to_string();
        assert_eq!(error, "message 1: content: 10485761 characters, and providers take at most 10485760");
    }
}
