//! From events to the messages of a model request (clauses MSG-* and CTX-*).

use std::{
    collections::{HashMap, HashSet},
    fmt,
    str::FromStr,
};

use serde_json::Value;

use crate::{
    Error, Event, EventKind, Message, Profile, Role, SerializeOptions, ToolCall, ecma::json_stringify,
    serialize_thread, xml::join,
};

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
    /// Who decides where the sources are silent.
    pub profile: Profile,
    /// How history is presented.
    pub mode: ContextMode,
    /// Stands in the system message behind the summaries; empty for none.
    pub instructions: &'a str,
}

/// Builds the messages that a model is shown of a thread.
///
/// A pure function (MSG-PURE). In [`ContextMode::Xml`] the result is the system message, if any, and one human message
/// with the whole thread (CTX-XML).
///
/// ```
/// use threadspec::{ContextOptions, Message, build_messages, read_events};
/// let events = read_events(r#"[
///     {"type": "message", "role": "user", "content": "2+2?", "iteration": 0},
///     {"type": "tool_call", "toolName": "add", "toolCallId": "a", "args": {}, "iteration": 1},
///     {"type": "tool_result", "toolCallId": "a", "result": {"sum": 4}, "iteration": 1}
/// ]"#)?;
/// let messages = build_messages(&events, &ContextOptions { instructions: "Be brief.", ..Default::default() });
/// assert_eq!(messages[0], Message::system("Be brief."));
/// assert_eq!(messages[2].tool_calls()[0].name, "add");
/// assert_eq!(messages[3], Message::tool("a", r#"{"sum":4}"#));
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn build_messages(events: &[Event], options: &ContextOptions<'_>) -> Vec<Message> {
    let ContextOptions { profile, mode, instructions } = *options;
    let mut messages = Vec::from_iter(system_message(events, instructions));
    match (mode, profile) {
        (ContextMode::Xml, _) => {
            let options = SerializeOptions { profile, ..SerializeOptions::default() };
            messages.push(Message::human(serialize_thread(events, &options)));
        }
        (ContextMode::Standard, Profile::Literal) => messages.extend(events.iter().filter_map(message_of)),
        (ContextMode::Standard, Profile::Hardened) => add_paired_messages(&mut messages, events),
    }
    messages
}

fn system_message(events: &[Event], instructions: &str) -> Option<Message> {
    let mut summaries = String::new();
    for event in events {
        if let EventKind::Summary { summary, summarized_iterations } = &event.kind {
            if summaries.is_empty() {
                summaries.push_str("## Previous Iteration Summaries\n\n");
            }
            summaries.push_str(&format!("### Iteration(s) {}\n{summary}\n\n", join(summarized_iterations, ", ")));
        }
    }
    let parts: Vec<&str> = [&*summaries, instructions].into_iter().filter(|part| !part.is_empty()).collect();
    (!parts.is_empty()).then(|| Message::system(parts.join("\n\n")))
}

/// The message that one event becomes by itself; in the literal profile, that is all there is to it.
fn message_of(event: &Event) -> Option<Message> {
    Some(match &event.kind {
        EventKind::Message { role: Role::User, content } => Message::human(content),
        EventKind::Message { role: Role::Assistant, content } => Message::ai(content),
        EventKind::Message { role: Role::System, content } => Message::human(format!("[System]: {content}")),
        EventKind::HumanInputReceived { response } => Message::human(format!("[Human Response]: {response}")),
        EventKind::Error { error, recoverable: true } => Message::human(format!("[Error (recoverable)]: {error}")),
        EventKind::Error { error, recoverable: false } => Message::human(format!("[Error]: {error}")),
        EventKind::ToolCall { .. } => {
            Message::Ai { content: String::new(), tool_calls: Vec::from_iter(tool_call(event)) }
        }
        EventKind::ToolResult { tool_call_id, result } => Message::tool(tool_call_id, result_content(result.as_ref())),
        EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } | EventKind::Summary { .. } => {
            return None;
        }
    })
}

fn tool_call(event: &Event) -> Option<ToolCall> {
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

/// What providers accept: calls in one group, their results directly behind them (MSG-GROUP, MSG-PAIRED, MSG-MISSING,
/// MSG-ORPHAN).
fn add_paired_messages(messages: &mut Vec<Message>, events: &[Event]) {
    let result_of = results_of_calls(events);
    let answering: HashSet<usize> = result_of.values().copied().collect();
    let mut position = 0;
    while position < events.len() {
        let group = group_at(events, position);
        if group.is_empty() {
            let event = &events[position];
            match &event.kind {
                EventKind::ToolResult { .. } if answering.contains(&position) => {}
                EventKind::ToolResult { result, .. } => {
                    messages.push(Message::human(format!("[Tool result]: {}", result_content(result.as_ref()))));
                }
                _ => messages.extend(message_of(event)),
            }
            position += 1;
            continue;
        }
        let calls = position..position + group.len();
        let mut results: Vec<usize> = calls.clone().filter_map(|call| result_of.get(&call).copied()).collect();
        results.sort_unstable();
        let missing = calls.clone().filter(|call| !result_of.contains_key(call)).map(|call| &group[call - position]);
        let missing: Vec<Message> = missing.map(|call| Message::tool(&call.id, "[No result recorded]")).collect();
        messages.push(Message::Ai { content: String::new(), tool_calls: group });
        messages.extend(results.into_iter().filter_map(|result| message_of(&events[result])));
        messages.extend(missing);
        position = calls.end;
    }
}

/// For each call that has a result, the position of the first result that answers it: a result answers the nearest
/// preceding call with its id.
fn results_of_calls(events: &[Event]) -> HashMap<usize, usize> {
    let mut nearest_call: HashMap<&str, usize> = HashMap::new();
    let mut result_of = HashMap::new();
    for (position, event) in events.iter().enumerate() {
        match &event.kind {
            EventKind::ToolCall { tool_call_id, .. } => {
                nearest_call.insert(tool_call_id, position);
            }
            EventKind::ToolResult { tool_call_id, .. } => {
                if let Some(&call) = nearest_call.get(&**tool_call_id) {
                    result_of.entry(call).or_insert(position);
                }
            }
            _ => {}
        }
    }
    result_of
}

/// The calls that begin at a position and follow each other directly, of one iteration and with different ids.
fn group_at(events: &[Event], position: usize) -> Vec<ToolCall> {
    let mut ids = HashSet::new();
    events[position..]
        .iter()
        .take_while(|event| event.iteration == events[position].iteration)
        .map_while(tool_call)
        .take_while(|call| ids.insert(call.id.clone()))
        .collect()
}
