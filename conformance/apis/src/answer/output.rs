//! The events of a stream while they are written.

use super::shape::{EventPart, StreamEvent, StreamShape};
use super::text::on_the_wire;
use serde::Serialize;

/// Names the first bytes of a stream, and its pauses.
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
        self.events.push(StreamEvent { name, data: json(data, self.shape.ascii), part, ends_call });
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

/// An event that is alone.
pub(super) fn event(name: Option<&'static str>, data: &impl Serialize, part: EventPart) -> StreamEvent {
    StreamEvent { name, data: json(data, true), part, ends_call: false }
}

fn json(data: &impl Serialize, ascii: bool) -> String {
    // Texts, numbers, lists and objects with texts as names always have JSON.
    on_the_wire(serde_json::to_string(data).unwrap_or_default(), ascii)
}

/// One fragment of each text in turn, with the number of its text.
pub(super) fn in_turn<'a>(texts: &[Vec<&'a str>]) -> Vec<(usize, &'a str)> {
    let longest = texts.iter().map(Vec::len).max().unwrap_or_default();
    let of_turn = |turn: usize| {
        let fragments = texts.iter().enumerate();
        fragments.filter_map(move |(text, fragments)| Some((text, *fragments.get(turn)?)))
    };
    (0..longest).flat_map(of_turn).collect()
}
