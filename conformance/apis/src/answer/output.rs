//! The events of a stream while they are written.

use super::shape::{EventPart, StreamEvent, StreamShape};
use super::text::on_the_wire;
use serde::Serialize;

/// What the first bytes of a stream and the pauses of one are.
const KEEP_ALIVE: &str = "keep-alive";

/// The events so far.
pub(super) struct EventList<'a> {
    shape: &'a StreamShape,
    /// The event that keeps the connection alive; without one it is a comment.
    ping: Option<(&'static str, &'static str)>,
    events: Vec<StreamEvent>,
}

impl<'a> EventList<'a> {
    pub(super) fn new(shape: &'a StreamShape, ping: Option<(&'static str, &'static str)>) -> Self {
        let mut list = Self { shape, ping, events: Vec::new() };
        list.comment();
        list
    }

    pub(super) fn push(&mut self, name: Option<&'static str>, data: &impl Serialize, part: EventPart) {
        self.push_as(name, data, part, false);
    }

    pub(super) fn push_as(
        &mut self,
        name: Option<&'static str>,
        data: &impl Serialize,
        part: EventPart,
        ends_call: bool,
    ) {
        // Texts, numbers, lists and objects with texts as names always have JSON.
        let json = serde_json::to_string(data).unwrap_or_default();
        let data = on_the_wire(json, self.shape.ascii);
        self.events.push(StreamEvent { name, data, part, ends_call });
        if self.shape.ping_all {
            self.ping();
        }
    }

    /// Something that keeps the connection alive.
    pub(super) fn ping(&mut self) {
        match self.ping {
            Some((name, data)) => self.events.push(StreamEvent {
                name: Some(name),
                data: data.to_owned(),
                part: EventPart::Ping,
                ends_call: false,
            }),
            None => self.comment(),
        }
    }

    /// Data that is no JSON.
    pub(super) fn push_text(&mut self, data: &str, part: EventPart) {
        self.events.push(StreamEvent { name: None, data: data.to_owned(), part, ends_call: false });
    }

    pub(super) fn finish(self) -> Vec<StreamEvent> {
        self.events
    }

    fn comment(&mut self) {
        self.push_text(KEEP_ALIVE, EventPart::Comment);
    }
}

/// The fragments of several texts, each with the number of its text: one text after the other, or one fragment of each in turn.
pub(super) fn in_order<'a>(texts: &[Vec<&'a str>], in_turn: bool) -> Vec<(usize, &'a str)> {
    let number = |(text, fragments): (usize, &Vec<&'a str>)| -> Vec<(usize, usize, &'a str)> {
        fragments.iter().enumerate().map(|(at, fragment)| (at, text, *fragment)).collect()
    };
    let mut all: Vec<(usize, usize, &str)> = texts.iter().enumerate().flat_map(number).collect();
    if in_turn {
        all.sort_by_key(|&(at, text, _)| (at, text));
    }
    all.into_iter().map(|(_, text, fragment)| (text, fragment)).collect()
}
