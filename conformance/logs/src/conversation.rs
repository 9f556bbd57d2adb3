//! Finds the conversation of each request, and the calls of its histories.
//!
//! Many conversations may begin alike: the same prompt is tried again and again. Each time a request comes again with which one began, another
//! one begins, or the same one again. Whoever asks again in the middle, steps back or branches off goes on in the same one.

use foldhash::{HashMap, HashSet, HashSetExt};
use serde_json::{Map, Value};
use std::borrow::Cow;
use threadspec::MemberLookup;
use threadspec::oracle::Api;
use threadspec_apis::follow::{Lineage, hash, hash_of_json};
use threadspec_judge::protocol::facts;

/// A call of an answer: id, name and arguments.
pub(super) type AnswerCall = (String, String, String);

/// The calls that the histories of each conversation have, as hashes.
#[derive(Default)]
pub(super) struct ConversationCalls {
    calls: HashMap<usize, HashSet<u64>>,
    /// The conversation of each of the last requests.
    members: HashMap<usize, ConversationMember>,
    /// The last conversation by what it begins with, and whether its first request is known.
    latest: HashMap<u64, (usize, bool)>,
}

/// A request of a conversation.
struct ConversationMember {
    conversation: usize,
    /// How many pieces it has.
    length: usize,
    is_first: bool,
    /// True if another one goes on from it.
    has_next: bool,
}

/// How many requests are kept: from no earlier one a request can go on.
pub(super) const REACH: usize = 1 << 16;

impl ConversationCalls {
    /// Takes the next request, which has these calls, `new` among them, and gives its conversation. `begun` is a hash of what it begins with, `has_reply` says
    /// whether a model has said something in it.
    pub(super) fn push(
        &mut self,
        number: usize,
        lineage: &Lineage,
        (length, begun, has_reply): (usize, u64, bool),
        calls: &HashSet<u64>,
        new: &HashSet<u64>,
    ) -> usize {
        let parent = lineage.parent.and_then(|parent| self.members.get_mut(&parent));
        let is_again = lineage.loss.is_none() && parent.as_ref().is_some_and(|parent| parent.length == length);
        let is_first = parent.as_ref().is_none_or(|parent| is_again && parent.is_first);
        // What goes on for a second time from a request may do so in a conversation that began later.
        let may_be_latest = !is_first && (is_again || parent.as_ref().is_some_and(|parent| parent.has_next));
        let latest = self.latest.get(&begun).copied();
        let conversation = match (parent, latest) {
            (Some(parent), _) if !is_first => {
                parent.has_next = true;
                parent.conversation
            }
            // The first request of a conversation may be logged behind a later one, or not at all.
            (None, Some((conversation, has_first))) if has_reply || !has_first => conversation,
            _ => number,
        };
        if is_first {
            let had_first = latest.is_some_and(|(latest, has_first)| has_first && latest == conversation);
            self.latest.insert(begun, (conversation, had_first || !has_reply));
        }
        self.calls.entry(conversation).or_default().extend(new);
        if let Some((latest, _)) = latest.filter(|(latest, _)| may_be_latest && *latest != conversation) {
            self.calls.entry(latest).or_default().extend(calls);
        }
        self.members.insert(number, ConversationMember { conversation, length, is_first, has_next: false });
        self.members.remove(&number.saturating_sub(REACH));
        conversation
    }

    /// The calls of all histories of a conversation.
    pub(super) fn of(&self, conversation: usize) -> Option<&HashSet<u64>> {
        self.calls.get(&conversation)
    }
}

/// The calls of a history as hashes: by id, and by name and arguments.
pub(super) fn calls_of(api: Api, body: &Value) -> HashSet<u64> {
    let mut found = HashSet::new();
    for (id, name, arguments) in each_call(body.member(facts(api).list).as_array().into_iter().flatten()) {
        found.extend(id.as_str().map(|id| hash(&id)));
        let arguments = || match arguments {
            Value::Null => hash_of_arguments(""),
            Value::String(text) => hash_of_arguments(text),
            other => hash_of_json(&sorted(other)),
        };
        found.extend(name.as_str().map(|name| hash(&(name, arguments()))));
    }
    found
}

/// Returns the id, the name and the arguments of each call in some elements of a list, in their order.
fn each_call<'v>(elements: impl Iterator<Item = &'v Value>) -> impl Iterator<Item = (&'v Value, &'v Value, &'v Value)> {
    let of = |value: &'v Value, [id, name, arguments]: [&str; 3]| {
        (value.member(id), value.member(name), value.member(arguments))
    };
    let list = |value: &'v Value, name: &str| value.member(name).as_array().into_iter().flatten();
    elements.flat_map(move |item| {
        let is_item = item.member("type").as_str().is_some_and(|kind| kind.ends_with("_call"));
        let own = is_item.then(|| of(item, ["call_id", "name", "arguments"]));
        let calls = list(item, "tool_calls").map(move |call| {
            let (_, name, arguments) = of(call.member("function"), ["", "name", "arguments"]);
            (call.member("id"), name, arguments)
        });
        let blocks = list(item, "content").filter(|block| block.member("type") == "tool_use");
        own.into_iter().chain(calls).chain(blocks.map(move |block| of(block, ["id", "name", "input"])))
    })
}

/// Returns the ids of the calls in some elements of a list as hashes, in their order.
pub(super) fn ids_in_order(elements: &[Value]) -> Vec<u64> {
    each_call(elements.iter()).filter_map(|(id, ..)| id.as_str().map(|id| hash(&id))).collect()
}

/// Returns whether calls of an answer are all among these ids, and in another order.
pub(super) fn are_reordered(ids: &[u64], calls: &[AnswerCall]) -> bool {
    let place = |call: &AnswerCall| ids.iter().position(|id| *id == hash(&&*call.0));
    let places: Option<Vec<usize>> = calls.iter().map(place).collect();
    places.is_some_and(|places| !places.is_sorted())
}

/// The calls of an answer that are not among these: by their ids or, where none of them has kept its id, by name and arguments.
pub(super) fn missing<'a>(known: &HashSet<u64>, calls: &'a [AnswerCall]) -> Vec<&'a AnswerCall> {
    let by_id = |call: &&AnswerCall| !known.contains(&hash(&&*call.0));
    let by_name = |call: &&AnswerCall| !known.contains(&hash(&(&*call.1, hash_of_arguments(&call.2))));
    let missing: Vec<_> = calls.iter().filter(by_id).collect();
    if missing.len() < calls.len() { missing } else { calls.iter().filter(by_name).collect() }
}

/// The calls of an answer whose ids are among these, and not their names with their arguments.
pub(super) fn changed<'a>(known: &HashSet<u64>, calls: &'a [AnswerCall]) -> Vec<&'a AnswerCall> {
    let is_kept = |id: &str| !id.is_empty() && known.contains(&hash(&id));
    let is_same = |call: &AnswerCall| known.contains(&hash(&(&*call.1, hash_of_arguments(&call.2))));
    calls.iter().filter(|call| is_kept(&call.0) && !is_same(call)).collect()
}

/// A hash of arguments, the same whatever white space and escapes they are written with, if they are JSON.
fn hash_of_arguments(arguments: &str) -> u64 {
    let arguments = if arguments.trim().is_empty() { "{}" } else { arguments };
    threadspec::read_json(arguments).map_or_else(|_| hash(&arguments), |value| hash_of_json(&sorted(&value)))
}

/// A value with its members in the order of their names: that of arguments says nothing.
fn sorted(value: &Value) -> Cow<'_, Value> {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, Value)> =
                members.iter().map(|(name, value)| (name, sorted(value).into_owned())).collect();
            members.sort_by_key(|(name, _)| *name);
            Cow::Owned(members.into_iter().map(|(name, value)| (name.clone(), value)).collect::<Map<_, _>>().into())
        }
        Value::Array(elements) if elements.iter().any(|one| !one.is_string()) => {
            Cow::Owned(elements.iter().map(|one| sorted(one).into_owned()).collect())
        }
        // A whole number is the same with its point.
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
            whole.map_or(Cow::Borrowed(value), |number| {
                Cow::Owned(format!("{number:.0}").parse().map_or(Value::Null, Value::Number))
            })
        }
        other => Cow::Borrowed(other),
    }
}
