//! The changes that are made to requests, one at a time.

use crate::universal::operators::{ascii, first, trimmed};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use threadspec_judge::json::{list, text};

/// In which of the requests that have a message it is changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ChangeExtent {
    First,
    Last,
    All,
}

impl ChangeExtent {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::All => "all",
        }
    }
}

/// An edit of a value.
#[derive(Clone, Debug, PartialEq)]
enum ValueEdit {
    Becomes(Value),
    /// It is no member any more.
    Lost,
    /// It stands twice in its list.
    Twice,
    /// It changes places with the next one.
    Moved,
}

/// A change of a message, in the words of its API, or of a text beside all messages.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RequestChange {
    /// The edit, in a word or two.
    pub(super) name: &'static str,
    /// The speaker of the message, or `call`.
    pub(super) of: &'static str,
    pub(super) extent: ChangeExtent,
    /// The message before the change; `None` for the request itself.
    message: Option<Value>,
    /// The place inside.
    pointer: String,
    edit: ValueEdit,
    /// The requests in which it is made, counted from 0.
    pub(super) requests: Vec<usize>,
}

type TextEdit = fn(&str) -> String;

const TEXTS: [(&str, TextEdit); 6] = [
    ("character", |text| {
        let middle = text.chars().count() / 2;
        let other = |c: char| if c == 'x' { 'y' } else { 'x' };
        text.chars().enumerate().map(|(at, c)| if at == middle { other(c) } else { c }).collect()
    }),
    ("last-character", |text| first(text, text.chars().count().saturating_sub(1))),
    ("ascii", ascii),
    ("case", |text| {
        let upper = text.to_uppercase();
        if upper == text { text.to_lowercase() } else { upper }
    }),
    ("trimmed", trimmed),
    ("emptied", |_| String::new()),
];

/// The messages of a request: it is the list of them, or has one.
fn messages(request: &Value) -> &[Value] {
    let list = [request, &request["messages"], &request["input"]].into_iter().find_map(Value::as_array);
    list.map_or(&[], Vec::as_slice)
}

fn messages_mut(request: &mut Value) -> Option<&mut Vec<Value>> {
    let name = ["messages", "input"].into_iter().find(|name| request[*name].is_array());
    match name {
        Some(name) => request[name].as_array_mut(),
        None => request.as_array_mut(),
    }
}

/// Every change of the requests of a run, each message once. `input` tells results from what a call is told in place of one.
pub(super) fn changes(requests: &[Value], input: &str) -> Vec<RequestChange> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    let script: Value = serde_json::from_str(input).unwrap_or_default();
    let summaries: Vec<&str> =
        list(&script["runs"]).iter().filter_map(|run| run["compact"]["summary"].as_str()).collect();
    for request in requests {
        for name in ["system", "instructions"].into_iter().filter(|name| request[*name].is_string()) {
            if seen.insert(request[name].to_string()) {
                for (change, becomes) in text_edits(text(&request[name])) {
                    let pointer = format!("/{name}");
                    push(&mut found, requests, (change, "system"), None, &pointer, ValueEdit::Becomes(becomes));
                }
            }
        }
        for message in messages(request).iter().filter(|message| seen.insert(message.to_string())) {
            let is_scripted = |content: &Value| input.contains(&content.to_string()) || input.contains(text(content));
            let of = match speaker(message) {
                "tool" if message["type"] == "tool" && !is_scripted(&message["content"]) => "told",
                "human" if summaries.iter().any(|said| text(&message["content"]).contains(said)) => "summary",
                // The gateway tells a system text from the middle as the user's.
                "human" if text(&message["content"][0]["text"]).starts_with("<system>") => "system",
                of => of,
            };
            // Several items may be one answer.
            let has_ai_behind = requests
                .iter()
                .any(|request| messages(request).windows(2).any(|two| two[0] == *message && speaker(&two[1]) == "ai"));
            let moved = if of == "ai" && has_ai_behind { "moved-inside" } else { "moved" };
            for (name, edit) in [("lost", ValueEdit::Lost), ("twice", ValueEdit::Twice), (moved, ValueEdit::Moved)] {
                push(&mut found, requests, (name, of), Some(message), "", edit);
            }
            inside(message, "", of, &mut |what, pointer, edit| {
                push(&mut found, requests, what, Some(message), pointer, edit);
            });
        }
    }
    found
}

/// Adds a change in each extent that differs.
fn push(
    found: &mut Vec<RequestChange>,
    requests: &[Value],
    (name, of): (&'static str, &'static str),
    message: Option<&Value>,
    pointer: &str,
    edit: ValueEdit,
) {
    let change = RequestChange {
        name,
        of,
        extent: ChangeExtent::All,
        message: message.cloned(),
        pointer: pointer.to_owned(),
        edit,
        requests: Vec::new(),
    };
    let makes_a_difference = |&number: &usize| {
        let mut changed = requests[number].clone();
        change.make(&mut changed);
        changed != requests[number]
    };
    let all: Vec<usize> = (0..requests.len()).filter(makes_a_difference).collect();
    let [Some(&first), Some(&last)] = [all.first(), all.last()] else { return };
    let one = |extent, number| RequestChange { extent, requests: vec![number], ..change.clone() };
    found.push(one(ChangeExtent::First, first));
    if first != last {
        found.push(one(ChangeExtent::Last, last));
        found.push(RequestChange { requests: all, ..change });
    }
}

impl RequestChange {
    /// Makes the change in a request.
    pub(super) fn make(&self, request: &mut Value) {
        let Some(message) = &self.message else {
            return self.edit_at(request);
        };
        let Some(list) = messages_mut(request) else { return };
        let places: Vec<usize> = (0..list.len()).filter(|&at| list[at] == *message).collect();
        // From behind, since a list grows or shrinks.
        for at in places.into_iter().rev() {
            match &self.edit {
                ValueEdit::Lost if self.pointer.is_empty() => drop(list.remove(at)),
                ValueEdit::Twice => list.insert(at, message.clone()),
                ValueEdit::Moved if at + 1 < list.len() => list.swap(at, at + 1),
                ValueEdit::Moved => {}
                _ => self.edit_at(&mut list[at]),
            }
        }
    }

    fn edit_at(&self, value: &mut Value) {
        match &self.edit {
            ValueEdit::Becomes(becomes) => {
                if let Some(place) = value.pointer_mut(&self.pointer) {
                    *place = becomes.clone();
                }
            }
            ValueEdit::Lost => {
                let (parent, name) = self.pointer.rsplit_once('/').unwrap_or_default();
                let name = name.replace("~1", "/").replace("~0", "~");
                if let Some(Value::Object(members)) = value.pointer_mut(parent) {
                    members.shift_remove(&name);
                }
            }
            ValueEdit::Twice | ValueEdit::Moved => {}
        }
    }
}

/// Who speaks in a message, in the form of any API.
fn speaker(message: &Value) -> &'static str {
    let is_result = |block: &Value| block["type"] == "tool_result";
    match (text(&message["type"]), text(&message["role"])) {
        ("system", _) | (_, "system" | "developer") => "system",
        ("tool" | "function_call_output", _) | (_, "tool") => "tool",
        (_, "user") if message["content"].as_array().is_some_and(|blocks| blocks.iter().any(is_result)) => "tool",
        ("human", _) | (_, "user") => "human",
        _ => "ai",
    }
}

/// The changes inside a message: of its texts, and of the names and arguments of its calls.
fn inside(
    value: &Value,
    pointer: &str,
    of: &'static str,
    push: &mut dyn FnMut((&'static str, &'static str), &str, ValueEdit),
) {
    match value {
        Value::Array(elements) => {
            for (at, element) in elements.iter().enumerate() {
                inside(element, &format!("{pointer}/{at}"), of, push);
            }
        }
        Value::Object(members) => {
            let arguments = ["args", "arguments", "input"].into_iter().find(|name| members.contains_key(*name));
            for (name, member) in members {
                let place = format!("{pointer}/{name}");
                match (&**name, member) {
                    ("content" | "text" | "output", Value::String(text)) => {
                        for (change, becomes) in text_edits(text) {
                            push((change, of), &place, ValueEdit::Becomes(becomes));
                        }
                    }
                    ("name", Value::String(text)) if arguments.is_some() => {
                        push(("name", "call"), &place, ValueEdit::Becomes(format!("{text}_2").into()));
                    }
                    (_, arguments_of) if arguments == Some(name) => in_arguments(arguments_of, &place, push),
                    _ => inside(member, &place, of, push),
                }
            }
        }
        _ => {}
    }
}

/// The changes of the first and the last argument of a call: an object, or its JSON text.
fn in_arguments(arguments: &Value, pointer: &str, push: &mut dyn FnMut((&'static str, &'static str), &str, ValueEdit)) {
    let read = arguments.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let Some(members) = read.as_ref().unwrap_or(arguments).as_object() else { return };
    let ends: BTreeSet<usize> = [0, members.len().saturating_sub(1)].into();
    for name in ends.into_iter().filter_map(|at| members.keys().nth(at)) {
        let [mut changed, mut lost] = [members.clone(), members.clone()];
        changed[name] = another(&members[name]);
        lost.shift_remove(name);
        for (change, members) in [("argument", changed), ("argument-lost", lost)] {
            let becomes = if read.is_some() { json!(Value::Object(members).to_string()) } else { members.into() };
            push((change, "call"), pointer, ValueEdit::Becomes(becomes));
        }
    }
}

/// Another value of the same kind.
fn another(value: &Value) -> Value {
    match value {
        Value::String(text) => format!("{text}x").into(),
        Value::Bool(is) => (!is).into(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(integer), _) if integer.unsigned_abs() < 1 << 52 => (integer + 1).into(),
            (_, Some(double)) => json!(double / 2.0 + 1.0),
            _ => json!(1),
        },
        Value::Null => json!(0),
        Value::Array(_) | Value::Object(_) => json!("changed"),
    }
}

/// The texts that differ from this one, each with what was done, without those that are equal.
fn text_edits(text: &str) -> Vec<(&'static str, Value)> {
    let mut edits: Vec<(&'static str, Value)> = Vec::new();
    for (name, edit) in TEXTS {
        let becomes = edit(text);
        if becomes != text && !edits.iter().any(|(_, other)| *other == becomes) {
            edits.push((name, becomes.into()));
        }
    }
    edits
}
