//! The messages of a request.

use super::Twin;
use super::document::join;
use super::parts::{answered_id, id_of, is_call};
use serde_json::Value;
use std::collections::HashMap;
use threadspec::{ContextMode, Event, EventKind, Message, Role, ToolCall};

impl Twin {
    pub(crate) fn messages(&self, events: &[Event], mode: ContextMode, instructions: &str) -> Vec<Message> {
        let summaries = events.iter().filter_map(|event| match &event.kind {
            EventKind::Summary { summary, summarized_iterations } => Some((&**summarized_iterations, &**summary)),
            _ => None,
        });
        let system = (self.system)(&(self.summaries)(&summaries.collect::<Vec<_>>()), instructions, mode);
        let mut messages = Vec::new();
        if !system.is_empty() {
            messages.push(Message::system(system));
        }
        messages.extend(match mode {
            ContextMode::Xml => (self.xml)(self, events),
            ContextMode::Standard if (self.is_paired)(self) => self.paired_messages(events),
            ContextMode::Standard if self.is_grouped => self.grouped_messages(events),
            ContextMode::Standard => events.iter().filter_map(|event| (self.message)(self, event)).collect(),
        });
        messages
    }

    fn paired_messages(&self, events: &[Event]) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut first_answers = HashMap::new();
        for position in 0..events.len() {
            if let Some(call) = (self.answers)(events, position) {
                first_answers.entry(call).or_insert(position);
            }
        }
        let mut position = 0;
        while let Some(event) = events.get(position) {
            let group = self.group_at(events, position);
            match &event.kind {
                EventKind::ToolCall { .. } => messages.extend(self.answered(events, position, &group, &first_answers)),
                EventKind::ToolResult { tool_call_id, result } => {
                    let call = (self.answers)(events, position);
                    if call.is_none_or(|call| first_answers.get(&call) != Some(&position)) {
                        messages.extend((self.orphan)(self, tool_call_id, result.as_ref()));
                    }
                }
                _ => messages.extend((self.message)(self, event)),
            }
            position += group.len().max(1);
        }
        messages
    }

    fn grouped_messages(&self, events: &[Event]) -> Vec<Message> {
        let mut messages = Vec::new();
        let mut position = 0;
        while let Some(event) = events.get(position) {
            let group = self.group_at(events, position);
            if group.is_empty() {
                messages.extend((self.message)(self, event));
            } else {
                let tool_calls = group.iter().filter_map(|event| call(event)).collect();
                messages.push(Message::Ai { content: String::new(), tool_calls });
            }
            position += group.len().max(1);
        }
        messages
    }

    /// The calls that begin at a position and share one message.
    fn group_at<'a>(&self, events: &'a [Event], position: usize) -> Vec<&'a Event> {
        let mut group = Vec::new();
        for event in &events[position..] {
            if !matches!(event.kind, EventKind::ToolCall { .. }) || !group.is_empty() && !(self.joins)(&group, event) {
                break;
            }
            group.push(event);
        }
        group
    }

    /// The message of a group of calls and those of its results.
    fn answered(
        &self,
        events: &[Event],
        position: usize,
        group: &[&Event],
        first_answers: &HashMap<usize, usize>,
    ) -> Vec<Message> {
        let calls: Vec<ToolCall> = group.iter().filter_map(|event| call(event)).collect();
        let answer = |call: usize| first_answers.get(&call).copied();
        let mut results: Vec<usize> = (position..position + group.len()).filter_map(answer).collect();
        (self.order_of_results)(&mut results);
        let missing = calls.iter().zip(position..).filter(|&(_, call)| answer(call).is_none());
        let missing: Vec<Message> = missing.filter_map(|(call, _)| (self.missing)(call)).collect();
        let mut messages = vec![Message::Ai { content: String::new(), tool_calls: calls }];
        messages.extend(results.into_iter().filter_map(|result| (self.message)(self, &events[result])));
        messages.extend(missing);
        messages
    }
}

pub(crate) fn call(event: &Event) -> Option<ToolCall> {
    match &event.kind {
        EventKind::ToolCall { tool_name, tool_call_id, args } => {
            Some(ToolCall { id: tool_call_id.clone(), name: tool_name.clone(), args: args.clone() })
        }
        _ => None,
    }
}

pub(crate) fn summaries(summaries: &[(&[u64], &str)]) -> String {
    let section =
        |(iterations, summary): &(&[u64], &str)| format!("### Iteration(s) {}\n{summary}\n\n", join(iterations, ", "));
    let sections: String = summaries.iter().map(section).collect();
    if sections.is_empty() { sections } else { format!("## Previous Iteration Summaries\n\n{sections}") }
}

pub(crate) fn system(summaries: &str, instructions: &str, _: ContextMode) -> String {
    let separator = if summaries.is_empty() || instructions.is_empty() { "" } else { "\n\n" };
    format!("{summaries}{separator}{instructions}")
}

pub(crate) fn message(twin: &Twin, event: &Event) -> Option<Message> {
    Some(match &event.kind {
        EventKind::Message { role: Role::User, content } => Message::human(content),
        EventKind::Message { role: Role::Assistant, content } => Message::ai(content),
        EventKind::Message { role: Role::System, content } => Message::human(format!("[System]: {content}")),
        EventKind::HumanInputReceived { response } => Message::human(format!("[Human Response]: {response}")),
        EventKind::Error { error, recoverable: true } => Message::human(format!("[Error (recoverable)]: {error}")),
        EventKind::Error { error, recoverable: false } => Message::human(format!("[Error]: {error}")),
        EventKind::ToolCall { .. } => {
            Message::Ai { content: String::new(), tool_calls: call(event).into_iter().collect() }
        }
        EventKind::ToolResult { tool_call_id, result } => {
            Message::tool(tool_call_id, (twin.result_content)(twin, result.as_ref()))
        }
        EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } | EventKind::Summary { .. } => {
            return None;
        }
    })
}

pub(crate) fn result_content(twin: &Twin, result: Option<&Value>) -> String {
    match result {
        None => "undefined".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => twin.stringify(value),
    }
}

pub(crate) fn xml(twin: &Twin, events: &[Event]) -> Vec<Message> {
    vec![Message::human(twin.document(events))]
}

pub(crate) fn joins(group: &[&Event], next: &Event) -> bool {
    group[0].iteration == next.iteration && group.iter().all(|event| id_of(event) != id_of(next))
}

/// The call that a result answers: the nearest preceding one with its id.
pub(crate) fn answers(events: &[Event], position: usize) -> Option<usize> {
    let id = answered_id(&events[position])?;
    events[..position].iter().rposition(|event| is_call(event) && id_of(event) == Some(id))
}

pub(crate) fn orphan(twin: &Twin, _: &str, result: Option<&Value>) -> Option<Message> {
    Some(Message::human(format!("[Tool result]: {}", (twin.result_content)(twin, result))))
}
