//! Calls and their results, as the model APIs want them: each call answered once, before anything else is sent.
//!
//! The log is judged, not how a profile renders it: calls that were made together may be answered in any order. Only open calls are
//! remembered.

use super::finding::Place;
use threadspec::{Event, EventKind};

#[derive(Debug)]
struct OpenCall {
    id: String,
    iteration: u64,
    /// How a diagnostic names the call: by its number and line.
    place: Place,
    is_answered: bool,
}

/// Follows a log event by event.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    open: Vec<OpenCall>,
    /// An event could not be read: it may be the call that a result seems to lack.
    is_blind: bool,
}

impl Pairing {
    /// Takes the next event, and warns of the faults that it shows: of each the name of an event, and what is wrong.
    pub(super) fn push(&mut self, event: &Event, place: impl FnOnce() -> Place, mut warn: impl FnMut(Place, String)) {
        match &event.kind {
            EventKind::ToolCall { tool_call_id, .. } => {
                let is_next = self.open.iter().any(|call| call.iteration != event.iteration);
                let are_answered = self.open.iter().all(|call| call.is_answered);
                if is_next || are_answered {
                    self.close("the next iteration", &mut warn);
                }
                let place = place();
                if self.open.iter().any(|call| call.id == *tool_call_id) {
                    let what = "calls of one response have the same id, so their results cannot be distinguished";
                    warn(place.clone(), format!("{what}: {tool_call_id:?}"));
                }
                let (id, iteration) = (tool_call_id.clone(), event.iteration);
                self.open.push(OpenCall { id, iteration, place, is_answered: false });
            }
            EventKind::ToolResult { tool_call_id, .. } => {
                let mut calls = self.open.iter_mut().filter(|call| call.id == *tool_call_id).peekable();
                let is_known = calls.peek().is_some();
                match calls.find(|call| !call.is_answered) {
                    Some(call) => call.is_answered = true,
                    None if self.is_blind => {}
                    None if is_known => warn(place(), format!("the call {tool_call_id:?} has a result already")),
                    None => warn(place(), format!("a result for {tool_call_id:?}, but no open call has this id")),
                }
            }
            // Models are not shown these as messages.
            EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } | EventKind::Summary { .. } => {}
            EventKind::Message { .. } | EventKind::Error { .. } | EventKind::HumanInputReceived { .. } => {
                if !self.open.is_empty() {
                    self.close(&place().to_string(), &mut warn);
                }
                self.is_blind = false;
            }
        }
    }

    /// An event that could not be read.
    pub(super) fn skip(&mut self) {
        self.open.clear();
        self.is_blind = true;
    }

    /// The log has ended.
    pub(super) fn end(&mut self, mut warn: impl FnMut(Place, String)) {
        self.close("the log ends", &mut warn);
    }

    fn close(&mut self, before: &str, warn: &mut impl FnMut(Place, String)) {
        for call in self.open.drain(..).filter(|call| !call.is_answered) {
            warn(call.place, format!("the call {:?} has no result before {before}", call.id));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Map;

    /// `a`: call a, `a=`: its result, `.`: a text, `|`: the next iteration, `?`: an unreadable event.
    fn warnings(log: &str) -> Vec<String> {
        let mut pairing = Pairing::default();
        let mut found = Vec::new();
        let mut iteration = 1;
        for (number, word) in log.split_whitespace().enumerate() {
            let kind = match word {
                "|" => {
                    iteration += 1;
                    continue;
                }
                "?" => {
                    pairing.skip();
                    continue;
                }
                "." => EventKind::HumanInputReceived { response: String::new() },
                "!" => EventKind::Completion { result: String::new(), verified: None },
                _ => match word.strip_suffix('=') {
                    Some(id) => EventKind::ToolResult { tool_call_id: id.into(), result: None },
                    None => EventKind::ToolCall { tool_name: "t".into(), tool_call_id: word.into(), args: Map::new() },
                },
            };
            let event = Event { iteration, kind };
            pairing.push(
                &event,
                || Place { entry: Some(number.to_string()), ..Place::default() },
                |place, what| found.push(format!("{place}: {what}")),
            );
        }
        pairing.end(|place, what| found.push(format!("{place}: {what}")));
        found
    }

    #[test]
    fn calls_made_together_are_answered_in_any_order() {
        for log in [
            "",
            ".",
            "a a=",
            "a b b= a=",
            "a a= b b=",
            "a b a= c b= c= .",
            "a ! a=",
            "a a= | a a= . a a=",
            "? a=",
            "a ?",
        ] {
            assert_eq!(warnings(log), [""; 0], "{log}");
        }
    }

    #[test]
    fn every_fault_is_named() {
        for (log, expected) in [
            ("a", &["0: the call \"a\" has no result before the log ends"][..]),
            ("a .", &["0: the call \"a\" has no result before 1"]),
            ("a b b= | c c=", &["0: the call \"a\" has no result before the next iteration"]),
            ("a=", &["0: a result for \"a\", but no open call has this id"]),
            ("a a= a=", &["2: the call \"a\" has a result already"]),
            (
                "a . a=",
                &["0: the call \"a\" has no result before 1", "2: a result for \"a\", but no open call has this id"],
            ),
            ("? a= . a=", &["3: a result for \"a\", but no open call has this id"]),
        ] {
            assert_eq!(warnings(log), expected, "{log}");
        }
        assert_eq!(warnings("a a a= a=").len(), 1, "the same id twice");
    }
}
