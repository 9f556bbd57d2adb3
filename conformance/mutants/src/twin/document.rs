//! The XML document.

use super::Twin;
use serde_json::Value;
use threadspec::surrogates::without_marks;
use threadspec::{Event, EventKind, Profile, Role};

impl Twin {
    pub(crate) fn document(&self, events: &[Event]) -> String {
        let line = |(position, event): (usize, &Event)| {
            let mut attributes = self.attributes_of(events, position);
            (self.attributes)(&mut attributes, event);
            let attribute = |(name, value): (&str, String)| format!(" {name}=\"{}\"", (self.attribute)(self, &value));
            let attributes: String = attributes.into_iter().map(attribute).collect();
            (self.element)(&attributes, &(self.text)(self, &(self.body)(self, event)))
        };
        (self.thread)(&events.iter().enumerate().map(line).collect::<Vec<_>>())
    }

    fn attributes_of(&self, events: &[Event], position: usize) -> Vec<(&'static str, String)> {
        let event = &events[position];
        let mut list = vec![("type", (self.kind)(&event.kind).to_owned()), ("id", (self.id)(self, events, position))];
        match &event.kind {
            EventKind::ToolCall { tool_name, .. } => list.push(("name", tool_name.clone())),
            EventKind::ToolResult { tool_call_id, .. } => {
                let name = (self.name)(events, position, tool_call_id).unwrap_or_else(|| "unknown".to_owned());
                list.extend([("name", name), ("status", "success".to_owned())]);
            }
            _ => {}
        }
        list.push(("iteration", (self.iteration)(event)));
        match &event.kind {
            EventKind::Error { recoverable, .. } => list.push(("recoverable", recoverable.to_string())),
            EventKind::Summary { summarized_iterations, .. } => {
                list.push(("summarizedIterations", (self.summarized)(summarized_iterations)));
            }
            _ => {}
        }
        list
    }
}

pub(crate) fn kind(kind: &EventKind) -> &'static str {
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

pub(crate) fn name(events: &[Event], position: usize, id: &str) -> Option<String> {
    calls(&events[..position]).rev().find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
}

/// The ids and names of the calls among some events.
pub(crate) fn calls(events: &[Event]) -> impl DoubleEndedIterator<Item = (&str, &str)> {
    events.iter().filter_map(|event| match &event.kind {
        EventKind::ToolCall { tool_call_id, tool_name, .. } => Some((&**tool_call_id, &**tool_name)),
        _ => None,
    })
}

pub(crate) fn join(iterations: &[u64], separator: &str) -> String {
    iterations.iter().map(u64::to_string).collect::<Vec<_>>().join(separator)
}

pub(crate) fn result_text(twin: &Twin, result: Option<&Value>) -> String {
    match (result, twin.profile) {
        (None, _) => "undefined".to_owned(),
        (Some(result @ Value::String(_)), Profile::Literal) => (twin.string)(twin, result),
        // In structured results the library marks lone surrogates.
        (Some(result), Profile::Literal) => without_marks(&(twin.string)(twin, result)).into_owned(),
        (Some(_), Profile::Hardened) => (twin.result_content)(twin, result),
    }
}

pub(crate) fn body(twin: &Twin, event: &Event) -> String {
    match &event.kind {
        EventKind::ToolCall { args, .. } => twin.stringify_object(args),
        EventKind::ToolResult { result, .. } => (twin.result_text)(twin, result.as_ref()),
        _ => said(event).to_owned(),
    }
}

/// Returns the text of an event that has one of its own.
pub(crate) fn said(event: &Event) -> &str {
    match &event.kind {
        EventKind::Message { content: text, .. }
        | EventKind::Error { error: text, .. }
        | EventKind::HumanInputRequested { question: text }
        | EventKind::HumanInputReceived { response: text }
        | EventKind::Completion { result: text, .. }
        | EventKind::Summary { summary: text, .. } => text,
        EventKind::ToolCall { .. } | EventKind::ToolResult { .. } => "",
    }
}

pub(crate) fn element(attributes: &str, body: &str) -> String {
    format!("  <event{attributes}>{body}</event>")
}

pub(crate) fn thread(lines: &[String]) -> String {
    let lines: String = lines.iter().map(|line| format!("{line}\n")).collect();
    format!("<thread>\n{lines}</thread>")
}

pub(crate) fn prefix(prefix: Option<&str>) -> String {
    prefix.filter(|prefix| !prefix.is_empty()).map(|prefix| format!("\n{prefix}")).unwrap_or_default()
}
