//! Oracles of equivalence: each context mode conveys every fact of a thread.

use super::document::{CallNames, accepted_texts, read};
use super::texts::{same_attribute, same_text};
use super::{Violation, quote};
use crate::ecma::json_stringify_object;
use crate::{Document, Element, Event, EventKind, Message, Profile, Role, ToolCall, json_stringify};
use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet};

/// A fact of one event that both context modes must carry (EQ-1).
///
/// | event | fact | what a mode cannot carry |
/// |---|---|---|
/// | message, human_input_received, error | who speaks (for an error: whether it is recoverable), and the text | standard mode tells a system message, an answer, an error and an orphaned result from a user's text by a prefix only: a user can type it |
/// | tool_call | name and arguments | XML carries no call ids |
/// | tool_result | the text, and the call that it answers | XML names the call's tool, and no more; in the hardened profile standard mode has no call for an orphan or a second result |
/// | summary | the text | |
/// | completion, human_input_requested | none | |
#[derive(Clone, Debug, PartialEq)]
pub enum Fact<'a> {
    /// A message.
    Said {
        /// Who: `human`, `ai`, `system`, `human_input_received`, `error` or, if it is not recoverable, `error!`.
        speaker: &'static str,
        /// The text.
        text: &'a str,
    },
    /// A tool was called.
    Called {
        /// The event's position.
        event: usize,
    },
    /// A tool answered.
    Returned {
        /// The event's position.
        event: usize,
        /// The position of the call that it is the first to answer.
        call: Option<usize>,
    },
    /// Iterations were summarized.
    Summarized {
        /// The summary.
        text: &'a str,
    },
}

/// The facts of a thread, in order, each with the position of its event.
///
/// ```
/// use threadspec::{Event, oracle::{Fact, facts}};
/// let events = [Event::user(0, "Hi")];
/// assert_eq!(facts(&events), [(0, Fact::Said { speaker: "human", text: "Hi" })]);
/// ```
pub fn facts(events: &[Event]) -> Vec<(usize, Fact<'_>)> {
    let mut nearest_call: HashMap<&str, usize> = HashMap::new();
    let mut answered = HashSet::new();
    let mut facts = Vec::new();
    for (position, event) in events.iter().enumerate() {
        let said = |speaker, text| Fact::Said { speaker, text };
        let fact = match &event.kind {
            EventKind::Message { role: Role::User, content } => said("human", content),
            EventKind::Message { role: Role::Assistant, content } => said("ai", content),
            EventKind::Message { role: Role::System, content } => said("system", content),
            EventKind::HumanInputReceived { response } => said("human_input_received", response),
            EventKind::Error { error, recoverable: true } => said("error", error),
            EventKind::Error { error, recoverable: false } => said("error!", error),
            EventKind::Summary { summary, .. } => Fact::Summarized { text: summary },
            EventKind::ToolCall { tool_call_id, .. } => {
                nearest_call.insert(tool_call_id, position);
                Fact::Called { event: position }
            }
            EventKind::ToolResult { tool_call_id, .. } => {
                let call = nearest_call.get(&**tool_call_id).copied();
                Fact::Returned { event: position, call: call.filter(|&call| answered.insert(call)) }
            }
            EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } => continue,
        };
        facts.push((position, fact));
    }
    facts
}

/// Both modes carry the same facts: those of the thread.
///
/// # Errors
/// The first fact that one of them lost or changed.
pub fn equivalent(events: &[Event], document: &str, messages: &[Message], profile: Profile) -> Result<(), Violation> {
    conveyed_by_document(events, document, profile)?;
    conveyed_by_messages(events, messages, profile)
}

/// Every fact of the thread can be read from its document.
///
/// # Errors
/// The first fact that was lost or changed.
pub fn conveyed_by_document(events: &[Event], document: &str, profile: Profile) -> Result<(), Violation> {
    conveyed_by_document_in(events, &read(document)?, profile)
}

/// [`conveyed_by_document`] of a document that was read already.
///
/// # Errors
/// The first fact that was lost or changed. What follows it is not judged: it may only have moved.
pub fn conveyed_by_document_in(events: &[Event], document: &Document, profile: Profile) -> Result<(), Violation> {
    let carried: Vec<&Element> = document
        .elements
        .iter()
        .filter(|element| !matches!(element.attribute("type"), Some("completion" | "human_input_requested")))
        .collect();
    let facts = facts(events);
    let names = CallNames::of(events);
    for (number, (position, fact)) in facts.iter().enumerate() {
        let Some(element) = carried.get(number) else {
            return Err(lost(events, *position, "the document ends before it"));
        };
        let kind = element.attribute("type").unwrap_or("no type");
        let text = |text: &str| same_text(text, &element.text, profile);
        let conveyed = match fact {
            Fact::Said { speaker: "error!", text: said } => {
                kind == "error" && element.attribute("recoverable") == Some("false") && text(said)
            }
            Fact::Said { speaker: "error", text: said } => {
                kind == "error" && element.attribute("recoverable") == Some("true") && text(said)
            }
            Fact::Said { speaker, text: said } => kind == *speaker && text(said),
            Fact::Summarized { text: summary } => kind == "summary" && text(summary),
            Fact::Called { event } => {
                let name = element.attribute("name");
                kind == "tool_input"
                    && name.is_some_and(|name| conveys_call(&events[*event], name, &element.text, profile))
            }
            Fact::Returned { event, .. } => match &events[*event].kind {
                EventKind::ToolResult { tool_call_id, .. } if kind == "tool_output" => {
                    let accepted = names.accepted(*event, tool_call_id, profile);
                    element
                        .attribute("name")
                        .is_some_and(|name| conveys_result(&accepted, &events[*event], name, &element.text, profile))
                }
                _ => false,
            },
        };
        if !conveyed {
            return Err(lost(events, *position, &format!("the document has {kind} {}", quote(&element.text))));
        }
    }
    if carried.len() > facts.len() {
        return Err(Violation::new(format!("the document has {} facts, the thread {}", carried.len(), facts.len())));
    }
    Ok(())
}

fn conveys_call(event: &Event, name: &str, body: &str, profile: Profile) -> bool {
    let EventKind::ToolCall { tool_name, args, .. } = &event.kind else { return false };
    // The same text, or the same value where digits or surrogates are spelled differently.
    let same_args = same_text(&json_stringify_object(args), body, profile)
        || serde_json::from_str(body).is_ok_and(|body: Value| json_stringify(&body) == json_stringify_object(args));
    same_attribute(tool_name, name, profile) && same_args
}

fn conveys_result(names: &[String], event: &Event, name: &str, body: &str, profile: Profile) -> bool {
    if !names.iter().any(|expected| same_attribute(expected, name, profile)) {
        return false;
    }
    // Literal XML says `[object Object]` of a structured result: equivalence is claimed for strings only.
    let is_string = matches!(event.kind, EventKind::ToolResult { result: Some(Value::String(_)), .. });
    let claimed = profile == Profile::Hardened || is_string;
    !claimed || accepted_texts(event, profile).iter().any(|text| same_text(text, body, profile))
}

/// Every fact of the thread can be read from its messages in standard mode, live rounds not included.
///
/// # Errors
/// The first fact that was lost or changed, or a message that conveys none.
pub fn conveyed_by_messages(events: &[Event], messages: &[Message], profile: Profile) -> Result<(), Violation> {
    let (system, rest) = match messages.split_first() {
        Some((Message::System { content }, rest)) => (&**content, rest),
        _ => ("", messages),
    };
    if rest.iter().any(|message| matches!(message, Message::System { .. })) {
        return Err(Violation::new("a system message that is not the first message"));
    }
    let (mut said, mut returned) = (Vec::new(), HashMap::new());
    for item in items(rest) {
        match item {
            Item::Tool { call: Some(call), content, .. } if profile == Profile::Hardened => {
                if returned.insert(call, content).is_some() {
                    return Err(Violation::new("two tool messages answer one call"));
                }
            }
            item => said.push(item),
        }
    }
    let mut said = said.into_iter();
    let mut summaries = system;
    let mut calls = 0;
    let mut call_numbers = HashMap::new();
    for (position, fact) in facts(events) {
        match fact {
            Fact::Summarized { text } => match summaries.find(text) {
                Some(at) => summaries = &summaries[at + text.len()..],
                None => return Err(lost(events, position, "the system message does not have it, in order")),
            },
            Fact::Returned { event, call: Some(call) } if profile == Profile::Hardened => {
                let content = call_numbers.get(&call).and_then(|number| returned.remove(number));
                if content != Some(&*result_text(&events[event])) {
                    let found = content.map_or("nothing".to_owned(), quote);
                    return Err(lost(events, position, &format!("its call is answered with {found}")));
                }
            }
            fact => {
                let item = said.next();
                if !item.as_ref().is_some_and(|item| item.conveys(&fact, events, profile)) {
                    let found = item
                        .map_or("the messages end before it".to_owned(), |item| format!("the messages have {item:?}"));
                    return Err(lost(events, position, &found));
                }
                if let Fact::Called { event } = fact {
                    call_numbers.insert(event, calls);
                    calls += 1;
                }
            }
        }
    }
    if let Some(item) = said.next() {
        return Err(Violation::new(format!("a message that conveys no event: {item:?}")));
    }
    match returned.values().find(|content| **content != "[No result recorded]") {
        Some(content) => Err(Violation::new(format!("a tool message that conveys no event: {}", quote(content)))),
        None => Ok(()),
    }
}

/// The content of one message, or of one call of an AI message.
#[derive(Debug)]
enum Item<'a> {
    Human(&'a str),
    Ai(&'a str),
    Call(&'a ToolCall),
    /// `call` is the number of the nearest call before it with its id.
    Tool {
        id: &'a str,
        call: Option<usize>,
        content: &'a str,
    },
}

fn items(messages: &[Message]) -> Vec<Item<'_>> {
    let mut items = Vec::new();
    let mut calls: HashMap<&str, usize> = HashMap::new();
    let mut number = 0;
    for message in messages {
        match message {
            Message::System { .. } => {}
            Message::Human { content } => items.push(Item::Human(content)),
            Message::Tool { tool_call_id, content } => {
                items.push(Item::Tool { id: tool_call_id, call: calls.get(&**tool_call_id).copied(), content });
            }
            Message::Ai { content, tool_calls } => {
                if tool_calls.is_empty() || !content.is_empty() {
                    items.push(Item::Ai(content));
                }
                for call in tool_calls {
                    calls.insert(&call.id, number);
                    number += 1;
                    items.push(Item::Call(call));
                }
            }
        }
    }
    items
}

impl Item<'_> {
    fn conveys(&self, fact: &Fact<'_>, events: &[Event], profile: Profile) -> bool {
        match (self, fact) {
            (Self::Ai(content), Fact::Said { speaker: "ai", text }) => content == text,
            (Self::Human(content), Fact::Said { speaker, text }) => {
                let prefix = match *speaker {
                    "human" => "",
                    "system" => "[System]: ",
                    "human_input_received" => "[Human Response]: ",
                    "error" => "[Error (recoverable)]: ",
                    "error!" => "[Error]: ",
                    _ => return false,
                };
                content.strip_prefix(prefix) == Some(text)
            }
            (Self::Call(call), Fact::Called { event }) => match &events[*event].kind {
                EventKind::ToolCall { tool_name, tool_call_id, args } => {
                    call.name == *tool_name
                        && call.id == *tool_call_id
                        && (call.args == *args || in_any_order(&call.args) == in_any_order(args))
                }
                _ => false,
            },
            (Self::Human(content), Fact::Returned { event, call: None }) if profile == Profile::Hardened => {
                content.strip_prefix("[Tool result]: ") == Some(&*result_text(&events[*event]))
            }
            (Self::Tool { id, content, .. }, Fact::Returned { event, .. }) => match &events[*event].kind {
                EventKind::ToolResult { tool_call_id, result } => {
                    // An absent result is any text in the literal profile (EVT-RESULT-ABSENT).
                    id == tool_call_id && (result.is_none() || *content == result_text(&events[*event]))
                }
                _ => false,
            },
            _ => false,
        }
    }
}

/// Arguments as text with sorted members: a message holds the value, in which order means nothing.
fn in_any_order(args: &Map<String, Value>) -> String {
    let mut args = Value::Object(args.clone());
    args.sort_all_objects();
    json_stringify(&args)
}

/// The text of a result in messages.
fn result_text(event: &Event) -> String {
    match &event.kind {
        EventKind::ToolResult { result: Some(Value::String(text)), .. } => text.clone(),
        EventKind::ToolResult { result: Some(value), .. } => json_stringify(value),
        _ => "undefined".to_owned(),
    }
}

fn lost(events: &[Event], position: usize, found: &str) -> Violation {
    let event = events[position].to_json().to_string();
    Violation::of_event(position, format!("{} is not conveyed: {found}", quote(&event)))
}
