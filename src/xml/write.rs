//! Writes documents (clauses DOC-*, EVT-* and ATT-*).
//!
//! The public function of the crate's root, which gives the same in less time, is in `fast/write.rs`.

use super::escape::{escape_attribute, escape_text};
use crate::ecma::{ecma_string, json_stringify, json_stringify_object};
use crate::{Event, EventKind, Profile, Role};
use serde_json::Value;

/// How to write a thread document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerializeOptions<'a> {
    /// Decides where the sources are silent.
    pub profile: Profile,
    /// Follows `</thread>` after one LF, verbatim; nothing follows when it is empty (DOC-6).
    pub response_prefix: &'a str,
}

/// The `<thread>` document of a thread: the plain form of [`serialize_thread`](crate::serialize_thread).
///
/// ```
/// use threadspec::{Event, SerializeOptions, plain};
/// let thread = [Event::user(0, "Is 1 < 2?"), Event::assistant(1, "Yes.")];
/// let options = SerializeOptions { response_prefix: "I", ..Default::default() };
/// assert_eq!(plain::serialize_thread(&thread, &options), r#"<thread>
///   <event type="human" id="0" iteration="0">Is 1 &lt; 2?</event>
///   <event type="ai" id="1" iteration="1">Yes.</event>
/// </thread>
/// I"#);
/// ```
pub fn serialize_thread(events: &[Event], options: &SerializeOptions<'_>) -> String {
    // DOC-1, DOC-3
    let mut lines = vec!["<thread>".to_owned()];
    lines.extend((0..events.len()).map(|position| line(events, position, options.profile)));
    lines.push("</thread>".to_owned());
    // DOC-6, DOC-PREFIX-EMPTY
    if !options.response_prefix.is_empty() {
        lines.push(options.response_prefix.to_owned());
    }
    lines.join("\n")
}

/// DOC-2: the element of one event.
fn line(events: &[Event], position: usize, profile: Profile) -> String {
    let mut tag = "event".to_owned();
    for (name, value) in attributes(events, position) {
        // ATT-ESCAPED
        tag += &format!(" {name}=\"{}\"", escape_attribute(&value, profile));
    }
    let body = escape_text(&body(&events[position].kind, profile), profile);
    format!("  <{tag}>{body}</event>")
}

/// The attributes of an event, in the order of its row of the event table (ATT-ORDER).
fn attributes(events: &[Event], position: usize) -> Vec<(&'static str, String)> {
    let Event { iteration, kind } = &events[position];
    // ATT-ID
    let mut attributes = vec![("type", type_attribute(kind).to_owned()), ("id", position.to_string())];
    match kind {
        // ATT-NAME
        EventKind::ToolCall { tool_name, .. } => attributes.push(("name", tool_name.clone())),
        EventKind::ToolResult { tool_call_id, .. } => {
            attributes.push(("name", name_of_call(&events[..position], tool_call_id).to_owned()));
            // ATT-STATUS
            attributes.push(("status", "success".to_owned()));
        }
        _ => {}
    }
    // ATT-ITERATION
    attributes.push(("iteration", iteration.to_string()));
    match kind {
        // ATT-RECOVERABLE
        EventKind::Error { recoverable, .. } => attributes.push(("recoverable", recoverable.to_string())),
        // ATT-SUMMARIZED
        EventKind::Summary { summarized_iterations, .. } => {
            attributes.push(("summarizedIterations", join(summarized_iterations, ",")));
        }
        _ => {}
    }
    attributes
}

/// ATT-NAME, ATT-NAME-NEAREST: the tool that the nearest preceding call with an id names.
fn name_of_call<'a>(before: &'a [Event], id: &str) -> &'a str {
    let name = before.iter().rev().find_map(|event| match &event.kind {
        EventKind::ToolCall { tool_name, tool_call_id, .. } if tool_call_id == id => Some(&**tool_name),
        _ => None,
    });
    name.unwrap_or("unknown")
}

/// The attribute `type`.
pub(crate) fn type_attribute(kind: &EventKind) -> &'static str {
    match kind {
        // EVT-USER, EVT-ASSISTANT, EVT-SYSTEM
        EventKind::Message { role: Role::User, .. } => "human",
        EventKind::Message { role: Role::Assistant, .. } => "ai",
        EventKind::Message { role: Role::System, .. } => "system",
        // EVT-CALL, EVT-RESULT
        EventKind::ToolCall { .. } => "tool_input",
        EventKind::ToolResult { .. } => "tool_output",
        // EVT-ERROR, EVT-ASK, EVT-ANSWER, EVT-DONE, EVT-SUMMARY
        EventKind::Error { .. } => "error",
        EventKind::HumanInputRequested { .. } => "human_input_requested",
        EventKind::HumanInputReceived { .. } => "human_input_received",
        EventKind::Completion { .. } => "completion",
        EventKind::Summary { .. } => "summary",
    }
}

/// The body of an event, not yet escaped.
fn body(kind: &EventKind, profile: Profile) -> String {
    match (kind, profile) {
        // EVT-CALL
        (EventKind::ToolCall { args, .. }, _) => json_stringify_object(args),
        // EVT-RESULT-VALUE
        (EventKind::ToolResult { result: Some(value), .. }, Profile::Literal) => ecma_string(value),
        (EventKind::ToolResult { result: Some(value), .. }, Profile::Hardened) if !value.is_string() => {
            json_stringify(value)
        }
        // EVT-RESULT-ABSENT
        (EventKind::ToolResult { result: None, .. }, _) => "undefined".to_owned(),
        _ => text_of(kind).unwrap_or_default().to_owned(),
    }
}

/// The text of an event whose body is a text as it is (EVT-*).
pub(crate) fn text_of(kind: &EventKind) -> Option<&str> {
    match kind {
        EventKind::Message { content: text, .. }
        | EventKind::Error { error: text, .. }
        | EventKind::HumanInputRequested { question: text }
        | EventKind::HumanInputReceived { response: text }
        | EventKind::Completion { result: text, .. }
        | EventKind::Summary { summary: text, .. }
        | EventKind::ToolResult { result: Some(Value::String(text)), .. } => Some(text),
        EventKind::ToolCall { .. } | EventKind::ToolResult { .. } => None,
    }
}

/// The numbers of iterations as one text.
pub(crate) fn join(iterations: &[u64], separator: &str) -> String {
    iterations.iter().map(u64::to_string).collect::<Vec<_>>().join(separator)
}
