//! Forms that are rows of `dialects.toml`, or of a file of the user's: by which members they are known, and where in a record its messages,
//! calls and results are.

use super::message::{self, Chat, word};
use super::said::{LoggedExchange, LoggedTurn, RecordPiece, SaidToModel};
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::LazyLock;
use threadspec::MemberLookup;

/// A form of log as data: a row of `dialects.toml`, or one that a user wrote.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormRow {
    /// The row as it is written.
    #[serde(skip)]
    written: String,
    /// The name for users, with its article.
    name: String,
    /// By what a record is known: one of these has all of its members, each by a path and a pattern.
    is: Vec<BTreeMap<String, String>>,
    /// The members that are JSON as a text, as in the columns of a database.
    #[serde(default)]
    texts: Vec<String>,
    /// Where another record is that this one only wraps.
    unwrap: Option<String>,
    /// A list whose elements are records of their own.
    records: Option<String>,
    /// The list of messages, or several with `+` between; without it a record is a message.
    messages: Option<String>,
    /// The places of the name of a thread.
    #[serde(default)]
    thread: Vec<String>,
    /// The name of a record, and of the one before it.
    id: Option<String>,
    parent: Option<String>,
    /// Where a message says who speaks, and what the words there mean; a message with another word says nothing to a model.
    role: Option<String>,
    #[serde(default)]
    roles: BTreeMap<String, String>,
    /// The meaning of the words at another place, which `roles` names as `@place`.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Where the message is, if it is in the words of an API; the record itself, if it is empty.
    message: Option<String>,
    text: Option<String>,
    #[serde(default)]
    calls: Vec<CallPlaces>,
    #[serde(default)]
    results: Vec<ResultPlaces>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallPlaces {
    #[serde(default)]
    at: String,
    #[serde(default)]
    when: BTreeMap<String, String>,
    id: String,
    name: String,
    arguments: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ResultPlaces {
    #[serde(default)]
    at: String,
    #[serde(default)]
    when: BTreeMap<String, String>,
    id: String,
    content: String,
    /// True if a result without an id answers all calls of its message.
    #[serde(default)]
    shared: bool,
}

/// Every row, in the order in which they are tried.
static ROWS: LazyLock<Vec<FormRow>> =
    LazyLock::new(|| read_rows(include_str!("dialects.toml")).expect("a test reads the rows"));

fn read_rows(text: &str) -> Result<Vec<FormRow>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Rows {
        form: Vec<FormRow>,
    }
    let Rows { mut form } = basic_toml::from_str(text).map_err(|error| error.to_string())?;
    for (row, written) in form.iter_mut().zip(text.split("[[form]]").skip(1)) {
        row.written = format!("[[form]]{}\n", written.trim_end());
        let is_certain = |patterns: &BTreeMap<String, String>| {
            patterns.len() > 1 || patterns.values().any(|pattern| !matches!(&**pattern, "?" | "[]" | "{}"))
        };
        if row.is.is_empty() || !row.is.iter().all(is_certain) {
            return Err(format!("`is` of {:?} takes two members, or one with a word of its own", row.name));
        }
        // It would be read without end.
        if [&row.unwrap, &row.records].into_iter().flatten().any(String::is_empty) {
            return Err(format!("{:?}: `unwrap` and `records` name a member", row.name));
        }
    }
    Ok(form)
}

/// Returns the row of a form as it is written, and nothing if the form is read by code.
pub(in super::super) fn written(name: &str, own: &'static [FormRow]) -> Option<&'static str> {
    own.iter().chain(ROWS.iter()).find(|row| row.name == name).map(|row| &*row.written)
}

/// Returns whether a record is of one of these rows or one of ours.
pub(super) fn is_of(record: &Value, own: &'static [FormRow]) -> bool {
    own.iter().chain(ROWS.iter()).any(|row| row.is_of(record))
}

/// Returns the content of a record of one of these rows or one of ours, and the name of its form.
pub(super) fn read(record: &Value, own: &'static [FormRow]) -> Option<(&'static str, Vec<RecordPiece>)> {
    // The events of a client are pairs of a method and the event.
    if let [Value::String(_), event @ Value::Object(_)] = record.as_array().map(Vec::as_slice).unwrap_or_default() {
        return read(event, own);
    }
    record.as_object()?;
    // Most logs have nothing but requests.
    if own.is_empty()
        && record.member("messages").is_array()
        && record.member("model").is_string()
        && record.member("session_id").is_null()
    {
        return None;
    }
    let row = own.iter().chain(ROWS.iter()).find(|row| row.is_of(record))?;
    if let Some(path) = &row.records {
        let records = all(record, path).into_iter();
        let pieces = records.filter_map(|(_, one)| read(one, own)).flat_map(|(_, pieces)| pieces);
        return Some((&row.name, pieces.collect()));
    }
    match &row.unwrap {
        Some(path) => read(at(record, path), own).or(Some((&row.name, Vec::new()))),
        None => Some((&row.name, row.pieces(&row.parsed(record)))),
    }
}

/// The value at a path such as `item.id`; with `|` the first one that is there.
fn at<'v>(value: &'v Value, path: &str) -> &'v Value {
    if path.contains('|') {
        let found = path.split('|').map(|path| at(value, path)).find(|found| !found.is_null());
        return found.unwrap_or(&Value::Null);
    }
    let own = value.member(path);
    if path.is_empty() || !own.is_null() {
        return if path.is_empty() { value } else { own };
    }
    path.split('.').fold(value, |value, name| match name.parse::<usize>() {
        Ok(position) if value.is_array() => &value[position],
        _ => value.member(name),
    })
}

/// Returns the values at a path, each with the name of its last member. `[]` goes through a list, `{}` through an object.
fn all<'v>(value: &'v Value, path: &str) -> Vec<(&'v str, &'v Value)> {
    let Some(end) = ["[]", "{}"].iter().filter_map(|mark| path.find(mark)).min() else {
        return vec![("", at(value, path))];
    };
    let (inner, rest) = (at(value, &path[..end]), path[end + 2..].trim_start_matches('.'));
    let elements = message::list(inner).iter().map(|element| ("", element));
    let members = inner.as_object().filter(|_| path[end..].starts_with('{')).into_iter().flatten();
    let found = elements.chain(members.map(|(name, member)| (&**name, member)));
    found
        .flat_map(|(name, one)| {
            all(one, rest).into_iter().map(move |(last, one)| (if last.is_empty() { name } else { last }, one))
        })
        .collect()
}

/// The id at a path; `{}` is the name of the member itself, and an empty path means the next number.
fn id_at(name: &str, value: &Value, path: &str) -> Value {
    match path {
        "{}" => json!(name),
        "" => json!(message::UNNUMBERED.to_string()),
        _ => at(value, path).clone(),
    }
}

/// Returns whether a value is as a pattern says: `[]` a list, `{}` an object, `?` anything but null, or words with `|` between, `*` at an
/// end for any. `true` is a word, too.
fn is_like(value: &Value, pattern: &str) -> bool {
    match pattern {
        "[]" => value.is_array(),
        "{}" => value.is_object(),
        "?" => !value.is_null(),
        "true" | "false" => value.as_bool().is_some_and(|value| value.to_string() == pattern),
        _ => value.as_str().is_some_and(|text| pattern.split('|').any(|word| is_word(text, word))),
    }
}

fn is_word(text: &str, pattern: &str) -> bool {
    match (pattern.strip_prefix('*'), pattern.strip_suffix('*')) {
        (Some(end), _) => text.ends_with(end),
        (None, Some(start)) => text.starts_with(start),
        (None, None) => text == pattern,
    }
}

fn are_like(value: &Value, patterns: &BTreeMap<String, String>) -> bool {
    patterns.iter().all(|(path, pattern)| is_like(at(value, path), pattern))
}

impl FormRow {
    /// Reads the rows of a user's file. They stay in memory until the program ends, as ours do.
    ///
    /// # Errors
    ///
    /// When the text is no such file, or a row could be of any form.
    pub fn read_all(text: &str) -> io::Result<&'static [Self]> {
        let rows = read_rows(text).map_err(|why| io::Error::new(io::ErrorKind::InvalidData, why))?;
        Ok(rows.leak())
    }

    fn is_of(&self, record: &Value) -> bool {
        self.is.iter().any(|patterns| are_like(record, patterns))
    }

    /// Reads the members of a record that are JSON as a text.
    fn parsed<'v>(&self, record: &'v Value) -> Cow<'v, Value> {
        let mut parsed = Cow::Borrowed(record);
        for name in &self.texts {
            if let Some(value) = message::unquoted(record.member(name)) {
                parsed.to_mut()[name] = value.into_owned();
            }
        }
        parsed
    }

    fn pieces(&self, record: &Value) -> Vec<RecordPiece> {
        if let Some(path) = &self.messages {
            let lists =
                path.split('+').flat_map(|path| all(record, path).into_iter().map(move |(_, list)| (path, list)));
            let lists = lists.filter(|(_, list)| !message::list(list).is_empty());
            return lists.flat_map(|(path, list)| self.history(list, path)).collect();
        }
        let mut messages = self.said(record);
        message::number(&mut messages);
        if messages.is_empty() {
            return Vec::new();
        }
        let turns = messages.into_iter().map(|message| LoggedTurn { message, path: String::new() }).collect();
        let key: Vec<&str> = self.thread.iter().filter_map(|path| at(record, path).as_str()).collect();
        let key = key.join(" ");
        let name = |path: &Option<String>| {
            path.as_ref().and_then(|path| at(record, path).as_str()).unwrap_or_default().to_owned()
        };
        let (id, parent) = (name(&self.id), name(&self.parent));
        if self.parent.is_some() {
            let answer = word(at(record, "message"), "id").to_owned();
            return vec![RecordPiece::Linked { key, id, parent, answer, turns }];
        }
        if self.id.is_some() {
            return vec![RecordPiece::Version { key, id, turns }];
        }
        vec![RecordPiece::Turns { key, turns }]
    }

    /// A list of messages, which is a conversation of its own.
    fn history(&self, list: &Value, path: &str) -> Vec<RecordPiece> {
        let mut said: Vec<Vec<Value>> = message::list(list).iter().map(|one| self.said(one)).collect();
        let has_calls = |said: &Vec<Value>| said.iter().any(|one| one.member("tool_calls").is_array());
        // The state of a call has its result, which a message of its own may have, too.
        let apart = said.iter().filter(|said| !has_calls(said)).flatten();
        let apart: BTreeSet<String> = apart.map(|one| word(one, "tool_call_id").to_owned()).collect();
        for said in said.iter_mut().filter(|said| self.message.is_none() && has_calls(said)) {
            said.retain(|one| one.member("tool_call_id").is_null() || !apart.contains(word(one, "tool_call_id")));
        }
        let turns = said.into_iter().enumerate().flat_map(|(position, said)| {
            let path = format!("{path}[{position}]");
            said.into_iter().map(move |message| LoggedTurn { message, path: path.clone() })
        });
        let mut turns: Vec<LoggedTurn> = turns.collect();
        message::number(turns.iter_mut().map(|turn| &mut turn.message));
        LoggedExchange::history(SaidToModel::Messages(turns), path).piece()
    }

    /// Who speaks in a message; nothing if it says nothing to a model.
    fn role<'v>(&'v self, message: &'v Value) -> Option<&'v str> {
        let Some(path) = &self.role else { return Some("") };
        let word = at(message, path).as_str().unwrap_or_default();
        let role = self.roles.get(word).or_else(|| self.roles.get("*"))?;
        let Some(place) = role.strip_prefix('@') else { return Some(role) };
        let name = at(message, place).as_str().unwrap_or_default();
        let meaning = self.names.get(name).or_else(|| self.names.get("*")).map(|name| &**name);
        if meaning == Some("") {
            return None;
        }
        meaning.or((self.names.is_empty() || matches!(name, "user" | "assistant" | "system" | "tool")).then_some(name))
    }

    /// A message in the words of chat completions.
    fn said(&self, record: &Value) -> Vec<Value> {
        let Some(role) = self.role(record) else { return Vec::new() };
        if let Some(path) = &self.message {
            let inner = at(record, path);
            // An item of Responses needs none.
            let read = if inner.member("role").is_string() || role.is_empty() {
                message::read(inner)
            } else {
                let mut inner = inner.clone();
                if let Some(members) = inner.as_object_mut() {
                    members.insert("role".to_owned(), json!(role));
                }
                message::read(&inner)
            };
            return read.map(|(_, messages)| messages).unwrap_or_default();
        }
        let mut said = Chat::new(role);
        // A call or a result that stands at two places is one.
        let (mut ids, mut answered): (Vec<Value>, Vec<Value>) = Default::default();
        for CallPlaces { at: place, when, id, name, arguments } in &self.calls {
            let before = ids.len();
            for (member, call) in all(record, place).into_iter().filter(|(_, call)| are_like(call, when)) {
                let (id, name) = (id_at(member, call, id), at(call, name));
                if (id.is_null() && name.is_null()) || (!id.is_null() && ids[..before].contains(&id)) {
                    continue;
                }
                said.call(&id, name, if arguments.is_empty() { &Value::Null } else { at(call, arguments) });
                ids.push(id);
            }
        }
        for ResultPlaces { at: place, when, id, content, shared } in &self.results {
            let before = answered.len();
            for (member, result) in all(record, place).into_iter().filter(|(_, result)| are_like(result, when)) {
                let (id, content) = (id_at(member, result, id), at(result, content));
                let named = match () {
                    () if id.is_null() && *shared => ids.clone(),
                    () if content.is_null() => Vec::new(),
                    () => vec![id],
                };
                for id in
                    named.into_iter().filter(|id| id.is_null() || !answered[..before].contains(id)).collect::<Vec<_>>()
                {
                    said.result(&id, content);
                    answered.push(id);
                }
            }
        }
        if role != "tool" {
            for text in self.text.iter().map(|path| at(record, path)).filter(|text| !text.is_null()) {
                said.text(&json!(text.as_str().map_or_else(|| text.to_string(), str::to_owned)));
            }
        } else if !said.has_results() {
            return Vec::new();
        }
        // What is in a message tells who speaks, if nothing else does.
        match (role, ids.is_empty(), said.has_results()) {
            ("", true, false) => Vec::new(),
            ("", false, _) => said.of("assistant").in_order(),
            _ => said.in_order(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_name_and_is_kept_as_it_is_written() {
        for row in ROWS.iter() {
            assert!(row.name.starts_with(|first: char| first.is_ascii_alphabetic()), "{}", row.name);
            let alone = read_rows(&row.written).unwrap_or_default();
            assert_eq!(alone.iter().map(|row| &row.name).collect::<Vec<_>>(), [&row.name], "{}", row.written);
        }
    }

    #[test]
    fn a_row_takes_two_members_or_a_word() {
        let row = |is: &str| read_rows(&format!("[[form]]\nname = \"a log\"\nis = [{is}]\n"));
        assert!(row(r#"{ steps = "[]", id = "?" }, { kind = "step" }"#).is_ok());
        for weak in ["", r#"{ steps = "[]" }"#, r#"{ a = "?", b = "?" }, { id = "?" }"#, r"{ steps = 1 }"] {
            assert!(row(weak).is_err(), "{weak}");
        }
        assert!(read_rows("[[form]]\nname = \"a log\"\nis = [{ kind = \"x\" }]\nunwrap = \"\"\n").is_err());
        assert_eq!(all(&json!({"a": [1]}), "a["), [("", &Value::Null)]);
        assert_eq!(all(&json!({"a": {"x": [1, 2]}}), "a{}[]"), [("x", &json!(1)), ("x", &json!(2))]);
    }

    #[test]
    fn patterns_are_words_with_an_open_end() {
        for (value, pattern, expected) in [
            (json!("ATIF-v1"), "ATIF*", true),
            (json!("MessageEvent"), "*Event", true),
            (json!("b"), "a|b", true),
            (json!("c"), "a|b", false),
            (json!([]), "[]", true),
            (json!(null), "?", false),
        ] {
            assert_eq!(is_like(&value, pattern), expected, "{value} {pattern}");
        }
    }
}
