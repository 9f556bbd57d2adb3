//! From events to the messages of a model request (clauses MSG-* and CTX-*).
//!
//! The public function of the crate's root, which gives the same in less time, is in `fast/messages.rs`.

use crate::ecma::json_stringify;
use crate::xml::{self, SerializeOptions, join};
use crate::{Error, Event, EventKind, Message, Profile, Role, ToolCall};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::str::FromStr;

/// How history is presented to the model (CTX-DEFAULT).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ContextMode {
    /// One chat message per event.
    #[default]
    Standard,
    /// The whole thread as one XML document in one human message.
    Xml,
}

impl ContextMode {
    /// Both modes, the default first.
    pub const ALL: [Self; 2] = [Self::Standard, Self::Xml];
}

impl fmt::Display for ContextMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Standard => "standard",
            Self::Xml => "xml",
        })
    }
}

impl FromStr for ContextMode {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self, Error> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.to_string() == name)
            .ok_or_else(|| Error::input(format!("contextMode {name:?}: expected `standard` or `xml`")))
    }
}

/// How to build the messages of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ContextOptions<'a> {
    /// Decides where the sources are silent.
    pub profile: Profile,
    /// How history is presented.
    pub mode: ContextMode,
    /// The text behind the summaries in the system message; empty for none.
    pub instructions: &'a str,
}

/// The messages that a model is shown of a thread: the plain form of [`build_messages`](crate::build_messages).
///
/// ```
/// use threadspec::{ContextOptions, Event, EventKind, Message, Profile, plain};
/// let call = EventKind::ToolCall { tool_name: "add".into(), tool_call_id: "a".into(), args: Default::default() };
/// let thread = [Event::user(0, "2+2?"), Event { iteration: 1, kind: call }];
/// let options = ContextOptions { profile: Profile::Hardened, instructions: "Be brief.", ..Default::default() };
/// let messages = plain::build_messages(&thread, &options);
/// assert_eq!(messages[..2], [Message::system("Be brief."), Message::human("2+2?")]);
/// assert_eq!(messages[2].tool_calls()[0].name, "add");
/// assert_eq!(messages[3], Message::tool("a", "[No result recorded]"));
/// ```
pub fn build_messages(events: &[Event], options: &ContextOptions<'_>) -> Vec<Message> {
    let ContextOptions { profile, mode, instructions } = *options;
    let mut messages = Vec::from_iter(system_message(events, instructions));
    match (mode, profile) {
        // CTX-XML
        (ContextMode::Xml, _) => {
            let options = SerializeOptions { profile, ..SerializeOptions::default() };
            messages.push(Message::human(xml::serialize_thread(events, &options)));
        }
        (ContextMode::Standard, Profile::Literal) => messages.extend(events.iter().filter_map(message_of)),
        (ContextMode::Standard, Profile::Hardened) => messages.extend(paired_messages(events)),
    }
    messages
}

/// CTX-SYSTEM: the summaries and the instructions, those of length 0 dropped.
fn system_message(events: &[Event], instructions: &str) -> Option<Message> {
    let sections: String = events.iter().filter_map(summary_section).collect();
    let summaries = if sections.is_empty() { sections } else { format!("{SUMMARIES}{sections}") };
    let parts: Vec<&str> = [&*summaries, instructions].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Message::system(parts.join("\n\n")))
}

/// The heading of the summaries (CTX-SUMMARIES).
pub(crate) const SUMMARIES: &str = "## Previous Iteration Summaries\n\n";

/// CTX-SUMMARIES: the part of a summary event.
pub(crate) fn summary_section(event: &Event) -> Option<String> {
    match &event.kind {
        EventKind::Summary { summary, summarized_iterations } => {
            Some(format!("### Iteration(s) {}\n{summary}\n\n", join(summarized_iterations, ", ")))
        }
        _ => None,
    }
}

/// The message that one event becomes on its own, which is all that the literal profile asks for.
pub(crate) fn message_of(event: &Event) -> Option<Message> {
    Some(match &event.kind {
        // MSG-USER, MSG-ASSISTANT, MSG-SYSTEM
        EventKind::Message { role: Role::User, content } => Message::human(content),
        EventKind::Message { role: Role::Assistant, content } => Message::ai(content),
        EventKind::Message { role: Role::System, content } => Message::human(format!("[System]: {content}")),
        // MSG-ANSWER
        EventKind::HumanInputReceived { response } => Message::human(format!("[Human Response]: {response}")),
        // MSG-ERROR
        EventKind::Error { error, recoverable: true } => Message::human(format!("[Error (recoverable)]: {error}")),
        EventKind::Error { error, recoverable: false } => Message::human(format!("[Error]: {error}")),
        // MSG-CALL
        EventKind::ToolCall { .. } => {
            Message::Ai { content: String::new(), tool_calls: Vec::from_iter(tool_call(event)) }
        }
        // MSG-RESULT
        EventKind::ToolResult { tool_call_id, result } => Message::tool(tool_call_id, result_content(result.as_ref())),
        // MSG-SKIP, MSG-SUMMARY
        EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } | EventKind::Summary { .. } => {
            return None;
        }
    })
}

/// The call that a `tool_call` event records.
pub(crate) fn tool_call(event: &Event) -> Option<ToolCall> {
    match &event.kind {
        EventKind::ToolCall { tool_name, tool_call_id, args } => {
            Some(ToolCall { id: tool_call_id.clone(), name: tool_name.clone(), args: args.clone() })
        }
        _ => None,
    }
}

/// The content of a tool message (MSG-RESULT, EVT-RESULT-ABSENT).
pub(crate) fn result_content(result: Option<&Value>) -> String {
    match result {
        None => "undefined".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => json_stringify(value),
    }
}

/// Builds the messages that providers accept (PROVIDER-1): calls in one message, and their results directly behind it.
fn paired_messages(events: &[Event]) -> Vec<Message> {
    let results = results_of_calls(events);
    let mut messages = Vec::new();
    let mut position = 0;
    while position < events.len() {
        let event = &events[position];
        let calls = group_at(events, position);
        match &event.kind {
            EventKind::ToolCall { .. } => {
                let tool_calls = events[calls.clone()].iter().filter_map(tool_call).collect();
                messages.push(Message::Ai { content: String::new(), tool_calls });
                // MSG-PAIRED
                let mut answers: Vec<usize> = calls.clone().filter_map(|call| results.get(&call).copied()).collect();
                answers.sort_unstable();
                messages.extend(answers.into_iter().filter_map(|answer| message_of(&events[answer])));
                let unanswered = calls.clone().filter(|call| !results.contains_key(call));
                messages.extend(unanswered.filter_map(|call| call_id(&events[call])).map(missing_result));
            }
            EventKind::ToolResult { result, .. } => {
                if !results.values().any(|&answer| answer == position) {
                    messages.push(orphan(result.as_ref()));
                }
            }
            _ => messages.extend(message_of(event)),
        }
        position = calls.end.max(position + 1);
    }
    messages
}

/// MSG-PAIRED: for each call that is answered, where its result is. A result answers the nearest preceding call with its
/// id, and only the first result of a call does.
fn results_of_calls(events: &[Event]) -> HashMap<usize, usize> {
    let mut results = HashMap::new();
    for (position, event) in events.iter().enumerate() {
        if let EventKind::ToolResult { tool_call_id, .. } = &event.kind
            && let Some(call) = events[..position].iter().rposition(|event| call_id(event) == Some(tool_call_id))
        {
            results.entry(call).or_insert(position);
        }
    }
    results
}

/// MSG-GROUP: the calls that begin at a position and follow each other directly, of one iteration and with different ids.
fn group_at(events: &[Event], position: usize) -> Range<usize> {
    let mut ids = HashSet::new();
    let calls = events[position..]
        .iter()
        .take_while(|event| event.iteration == events[position].iteration)
        .map_while(call_id)
        .take_while(|id| ids.insert(*id));
    position..position + calls.count()
}

fn call_id(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::ToolCall { tool_call_id, .. } => Some(tool_call_id),
        _ => None,
    }
}

/// MSG-MISSING: the answer to a call without a result.
pub(crate) fn missing_result(call_id: &str) -> Message {
    Message::tool(call_id, "[No result recorded]")
}

/// MSG-ORPHAN: a result that answers no call.
pub(crate) fn orphan(result: Option<&Value>) -> Message {
    Message::human(format!("[Tool result]: {}", result_content(result)))
}
