use std::{collections::HashMap, io};

use serde_json::Value;

use super::escape::{Place, write_escaped};
use crate::{
    Event, EventKind, Profile, Role,
    ecma::{ecma_string, json_stringify, json_stringify_object},
};

/// How to write a thread document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SerializeOptions<'a> {
    /// Who decides where the sources are silent.
    pub profile: Profile,
    /// Follows `</thread>` after one LF, verbatim; nothing follows when it is empty (DOC-6).
    pub response_prefix: &'a str,
}

/// Renders a thread as one `<thread>` document (clauses DOC-*, EVT-*, ATT-*).
///
/// Well-formed XML 1.0 for every input; without a trailing newline.
///
/// ```
/// use threadspec::{SerializeOptions, read_events, serialize_thread};
/// let events = read_events(r#"[
///     {"type": "message", "role": "user", "content": "What is 2+2?", "iteration": 0},
///     {"type": "tool_call", "toolName": "calculator", "toolCallId": "a", "args": {"sum": [2, 2]}, "iteration": 1},
///     {"type": "tool_result", "toolCallId": "a", "result": 4, "iteration": 1}
/// ]"#)?;
/// assert_eq!(serialize_thread(&events, &SerializeOptions::default()), r#"<thread>
///   <event type="human" id="0" iteration="0">What is 2+2?</event>
///   <event type="tool_input" id="1" name="calculator" iteration="1">{&quot;sum&quot;:[2,2]}</event>
///   <event type="tool_output" id="2" name="calculator" status="success" iteration="1">4</event>
/// </thread>"#);
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn serialize_thread(events: &[Event], options: &SerializeOptions<'_>) -> String {
    let mut document = Vec::new();
    // Neither can fail: a vector takes every write, and only whole strings are written.
    let written = write_thread(&mut document, events, options);
    debug_assert!(written.is_ok());
    String::from_utf8(document).unwrap_or_default()
}

/// Writes what [`serialize_thread`] returns, event by event, without holding the document.
///
/// # Errors
/// Those of the writer.
///
/// ```
/// let mut out = Vec::new();
/// threadspec::write_thread(&mut out, &[], &Default::default())?;
/// assert_eq!(out, b"<thread>\n</thread>");
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn write_thread(out: &mut impl io::Write, events: &[Event], options: &SerializeOptions<'_>) -> io::Result<()> {
    let profile = options.profile;
    // Filled as the events go by, so that a result finds the nearest preceding call (ATT-NAME-NEAREST) and the lines
    // already written never change when events are added.
    let mut tool_names: HashMap<&str, &str> = HashMap::new();
    out.write_all(b"<thread>\n")?;
    for (id, event) in events.iter().enumerate() {
        if let EventKind::ToolCall { tool_name, tool_call_id, .. } = &event.kind {
            tool_names.insert(tool_call_id, tool_name);
        }
        write!(out, "  <event type=\"{}\" id=\"{id}\"", type_attribute(&event.kind))?;
        if let Some(name) = tool_name(&event.kind, &tool_names) {
            out.write_all(b" name=\"")?;
            write_escaped(out, name, Place::Attribute, profile)?;
            out.write_all(b"\"")?;
        }
        if let EventKind::ToolResult { .. } = event.kind {
            out.write_all(b" status=\"success\"")?;
        }
        write!(out, " iteration=\"{}\"", event.iteration)?;
        match &event.kind {
            EventKind::Error { recoverable, .. } => write!(out, " recoverable=\"{recoverable}\"")?,
            EventKind::Summary { summarized_iterations, .. } => {
                write!(out, " summarizedIterations=\"{}\"", join(summarized_iterations, ","))?;
            }
            _ => {}
        }
        out.write_all(b">")?;
        match &event.kind {
            EventKind::Message { content: text, .. }
            | EventKind::Error { error: text, .. }
            | EventKind::HumanInputRequested { question: text }
            | EventKind::HumanInputReceived { response: text }
            | EventKind::Completion { result: text, .. }
            | EventKind::Summary { summary: text, .. }
            | EventKind::ToolResult { result: Some(Value::String(text)), .. } => {
                write_escaped(out, text, Place::Text, profile)?;
            }
            EventKind::ToolCall { args, .. } => {
                write_escaped(out, &json_stringify_object(args), Place::Text, profile)?;
            }
            EventKind::ToolResult { result, .. } => {
                write_escaped(out, &result_text(result.as_ref(), profile), Place::Text, profile)?;
            }
        }
        out.write_all(b"</event>\n")?;
    }
    out.write_all(b"</thread>")?;
    if !options.response_prefix.is_empty() {
        write!(out, "\n{}", options.response_prefix)?;
    }
    Ok(())
}

/// The iteration numbers of a summary as one text.
pub(crate) fn join(iterations: &[u64], separator: &str) -> String {
    iterations.iter().map(u64::to_string).collect::<Vec<_>>().join(separator)
}

fn type_attribute(kind: &EventKind) -> &'static str {
    match kind {
        EventKind::Message { role: Role::User, .. } => "human",
        EventKind::Message { role: Role::Assistant, .. } => "ai",
        EventKind::Message { role: Role::System, .. } => "system",
        EventKind::ToolCall { .. } => "tool_input",
        EventKind::ToolResult { .. } => "tool_output",
        EventKind::Error { .. } => "error",
        EventKind::HumanInputRequested { .. } => "human_input_requested",
        EventKind::HumanInputReceived { .. } => "human_input_received",
        EventKind::Completion { .. } => "completion",
        EventKind::Summary { .. } => "summary",
    }
}

fn tool_name<'a>(kind: &'a EventKind, tool_names: &HashMap<&str, &'a str>) -> Option<&'a str> {
    match kind {
        EventKind::ToolCall { tool_name, .. } => Some(tool_name),
        EventKind::ToolResult { tool_call_id, .. } => {
            Some(tool_names.get(&**tool_call_id).copied().unwrap_or("unknown"))
        }
        _ => None,
    }
}

/// The text of a tool result in XML (EVT-RESULT-VALUE, EVT-RESULT-ABSENT).
fn result_text(result: Option<&Value>, profile: Profile) -> String {
    match (result, profile) {
        (None, _) => "undefined".to_owned(),
        (Some(Value::String(text)), _) => text.clone(),
        (Some(value), Profile::Literal) => ecma_string(value),
        (Some(value), Profile::Hardened) => json_stringify(value),
    }
}
