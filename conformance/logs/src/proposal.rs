//! A row for a file that was read by its structure: what a user would write for its form, or begins with.

use super::structure::{ARGUMENTS, IdPlace, KINDS, NAMES, WRITTEN};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Names of a member that says who speaks, and of those with a text or the content of a result.
const SPEAKERS: [&str; 7] = ["role", "type", "source", "sender", "author", "speaker", "kind"];
const TEXTS: [&str; 4] = ["content", "text", "message", "body"];
const CONTENTS: [&str; 9] =
    ["output", "content", "result", "observation", "response", "text", "data", "error", "status"];
/// Meanings of the words of such a member: the first of these that a word has in it.
const MEANINGS: [(&str, &[&str]); 4] = [
    ("tool", &["tool_result", "toolresult", "result", "output", "observation", "response"]),
    ("user", &["user", "human"]),
    ("assistant", &["assistant", "agent", "ai", "model", "bot", "call", "action"]),
    ("system", &["system", "developer"]),
];
/// So many objects with names of their own, members of one and words of a member are remembered.
const MOST: usize = 2048;
const MOST_MEMBERS: usize = 64;
const MOST_WORDS: usize = 16;

/// The members of the objects at one place.
#[derive(Default)]
struct PlaceShape {
    objects: usize,
    members: BTreeMap<String, MemberShape>,
}

/// How often a member is there, what it was first as a pattern of a row, and its words.
struct MemberShape {
    times: usize,
    pattern: &'static str,
    words: BTreeSet<String>,
}

/// The members at each place of a file.
#[derive(Default)]
pub(super) struct FileShape(BTreeMap<String, PlaceShape>);

impl FileShape {
    /// Takes an object at this place.
    pub(super) fn push(&mut self, place: &str, members: &serde_json::Map<String, Value>) {
        if self.0.len() >= MOST && !self.0.contains_key(place) {
            return;
        }
        let shape = self.0.entry(place.to_owned()).or_default();
        shape.objects += 1;
        for (name, value) in members.iter().filter(|(_, value)| !value.is_null()).take(MOST_MEMBERS) {
            let pattern = match value {
                Value::Array(_) => "[]",
                Value::Object(_) => "{}",
                _ => "?",
            };
            let known = shape.members.entry(name.clone());
            let known = known.or_insert(MemberShape { times: 0, pattern, words: BTreeSet::new() });
            known.times += 1;
            known.pattern = if known.pattern == pattern { pattern } else { "?" };
            if let Some(word) = value.as_str().filter(|word| word.len() < 40 && known.words.len() < MOST_WORDS) {
                known.words.insert(word.to_owned());
            }
        }
    }

    fn first(&self, place: &str, names: &[&str]) -> Option<String> {
        let shape = self.0.get(place)?;
        names.iter().find(|name| shape.members.contains_key(**name)).map(|name| (*name).to_owned())
    }

    /// A member of a call, which an inner function may hold.
    fn of_call(&self, place: &str, names: &[&str]) -> Option<String> {
        ["function", "tool_call", "call"]
            .iter()
            .find_map(|inner| self.first(&under(place, inner), names).map(|name| format!("{inner}.{name}")))
    }

    /// The row for calls and results at these places, the results of these kinds; none if nothing would tell the form from others.
    pub(super) fn row(&self, call: &IdPlace, result: &IdPlace, kinds: &BTreeSet<&str>) -> Option<String> {
        let kind = KINDS.into_iter().find(|name| {
            let words = self.0.get(&result.0).and_then(|shape| shape.members.get(*name)).map(|member| &member.words);
            words.is_some_and(|words| words.len() > kinds.len() && kinds.iter().all(|kind| words.contains(*kind)))
        });
        // A row has no words for JSON in a text, nor for a kind that is told elsewhere.
        if call.0.contains(WRITTEN) || result.0.contains(WRITTEN) || (call == result && kind.is_none()) {
            return None;
        }
        // The innermost list that holds both.
        let shared = call.0.bytes().zip(result.0.bytes()).take_while(|(one, other)| one == other).count();
        // A list that holds calls beside results is a part of a message.
        let shared = if call.0 == result.0 { call.0.rfind("[]").unwrap_or(0) } else { shared };
        let messages = call.0.get(..shared)?.rfind("[]").map_or("", |end| &call.0[..end]);
        let message = if messages.is_empty() { String::new() } else { format!("{messages}[]") };
        let inside = |place: &str| place.get(message.len()..).unwrap_or_default().trim_start_matches('.').to_owned();
        let name = self.of_call(&call.0, &NAMES).or_else(|| self.first(&call.0, &NAMES))?;
        let arguments = self.of_call(&call.0, &ARGUMENTS).or_else(|| self.first(&call.0, &ARGUMENTS))?;
        let contents: Vec<&str> =
            CONTENTS.into_iter().filter(|name| self.first(&result.0, &[name]).is_some()).collect();
        // A result of which nothing else is known has at least its id.
        let contents = [&contents[..], &[&result.1]].concat().join("|");
        let is = if messages.is_empty() { self.is_each(call, result) } else { self.is("", messages) }?;
        let mut row = format!("[[form]]\nname = \"a log of my program\"\nis = [{is}]\n");
        if !messages.is_empty() {
            row.push_str(&format!("messages = {messages:?}\n"));
        }
        row.push_str(&self.speakers(&message));
        let at =
            |place: &str| if inside(place).is_empty() { String::new() } else { format!("at = {:?}, ", inside(place)) };
        // Where a message is a call or a result itself, or both are in one list, their members tell.
        let when = |place: &str, members: &[(&str, &str)]| {
            let members: Vec<String> =
                members.iter().map(|(name, pattern)| format!("{name:?} = {pattern:?}")).collect();
            let is_told = inside(place).is_empty() || call.0 == result.0;
            if is_told { format!("when = {{ {} }}, ", members.join(", ")) } else { String::new() }
        };
        let words = kinds.iter().copied().collect::<Vec<_>>().join("|");
        let of_result: Vec<(&str, &str)> =
            kind.map(|kind| (kind, &*words)).into_iter().chain([(&*result.1, "?")]).collect();
        row.push_str(&format!(
            "calls = [{{ {}{}id = {:?}, name = {name:?}, arguments = {arguments:?} }}]\n",
            at(&call.0),
            when(&call.0, &[(&call.1, "?"), (&arguments, "?")]),
            call.1,
        ));
        row.push_str(&format!(
            "results = [{{ {}{}id = {:?}, content = {contents:?} }}]\n",
            at(&result.0),
            when(&result.0, &of_result),
            result.1,
        ));
        Some(row)
    }

    /// The members that all objects at a place have, with the list of messages first.
    fn is(&self, place: &str, messages: &str) -> Option<String> {
        const ENOUGH: usize = 4;
        let shape = self.0.get(place)?;
        let list = messages.split("[]").next().filter(|list| !list.is_empty()).map(|list| (list, "[]"));
        let own = shape.members.iter().filter(|(name, member)| {
            member.times == shape.objects && !name.contains('.') && Some(&***name) != list.map(|(name, _)| name)
        });
        let own = own.map(|(name, member)| (&**name, member.pattern));
        let members: Vec<String> =
            list.into_iter().chain(own).take(ENOUGH).map(|(name, pattern)| format!("{name:?} = {pattern:?}")).collect();
        (members.len() > 1).then(|| format!("{{ {} }}", members.join(", ")))
    }

    /// Records that are messages: what all of them have, or what those with calls and those with results have.
    fn is_each(&self, call: &IdPlace, result: &IdPlace) -> Option<String> {
        self.is("", "").or_else(|| {
            let member = |(place, id): &IdPlace| {
                let first = if place.is_empty() { id } else { place.split(['.', '[']).next()? };
                let other = self.first("", &SPEAKERS)?;
                Some(format!("{{ {first:?} = \"?\", {other:?} = \"?\" }}"))
            };
            Some(format!("{}, {}", member(call)?, member(result)?))
        })
    }

    /// Who speaks in a message, if a member of each says so in words with a meaning; and the text.
    fn speakers(&self, message: &str) -> String {
        let Some(shape) = self.0.get(message) else { return String::new() };
        for name in SPEAKERS {
            let Some(member) = shape.members.get(name).filter(|member| member.times == shape.objects) else { continue };
            let roles: Option<Vec<String>> =
                member.words.iter().map(|word| Some(format!("{word:?} = {:?}", meaning(word)?))).collect();
            if let Some(roles) = roles.filter(|roles| roles.len() > 1) {
                let text = self.first(message, &TEXTS).map(|text| format!("text = {text:?}\n")).unwrap_or_default();
                return format!("role = {name:?}\nroles = {{ {} }}\n{text}", roles.join(", "));
            }
        }
        String::new()
    }
}

fn meaning(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let has = |part: &str| word == part || part.len() > 2 && word.contains(part);
    let meaning = MEANINGS.iter().find(|(_, parts)| parts.iter().any(|part| has(part)));
    meaning.map(|(meaning, _)| *meaning).or((word == "tool" || word == "function").then_some("tool"))
}

/// The place of a member.
pub(super) fn under(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") }
}
