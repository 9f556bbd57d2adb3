//! Counts the generated inputs.

use crate::generate::{CLASSES, LIMITS, TextClass};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use threadspec::EventType;
use threadspec_judge::corpus::session_features;
use threadspec_judge::protocol::{Feature, Features, Op};

/// An event type as a generated log spells it.
fn spelling(event_type: EventType) -> String {
    let member = match event_type {
        EventType::User | EventType::Assistant | EventType::System => "role",
        _ => "type",
    };
    format!(r#""{member}":"{event_type}""#)
}

/// The operations, event types, classes of text and features of sessions that were drawn.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases per operation.
    pub cases: BTreeMap<Op, u64>,
    events: BTreeSet<EventType>,
    classes: BTreeSet<&'static str>,
    features: Features,
}

impl Coverage {
    pub(super) fn add(&mut self, op: Op, input: &str) {
        *self.cases.entry(op).or_default() += 1;
        // What is covered is not looked for again: soon there is nothing left to look for.
        if self.events.len() < EventType::ALL.len() && matches!(op, Op::Serialize | Op::Messages) {
            let missing = EventType::ALL.into_iter().filter(|event_type| !self.events.contains(event_type));
            let new: Vec<_> = missing.filter(|&event_type| input.contains(&spelling(event_type))).collect();
            self.events.extend(new);
        }
        if op == Op::Session && self.features.len() < Feature::all().count() - 1 {
            self.features = self.features.with(session_features(input).unwrap_or_default());
        }
        if self.classes.len() < CLASSES.len() {
            let drawn = |class: &&TextClass| {
                let times = if class.name == "long" { LIMITS.repeats } else { 1 };
                class.texts.iter().any(|text| !text.is_empty() && input.contains(&text.repeat(times)))
            };
            let new = CLASSES.iter().filter(|class| !self.classes.contains(class.name)).filter(drawn);
            let new: Vec<_> = new.map(|class| class.name).collect();
            self.classes.extend(new);
        }
    }

    /// All cases.
    pub fn total(&self) -> u64 {
        self.cases.values().sum()
    }

    /// A summary in a few words.
    pub fn text(&self) -> String {
        let (events, rows, classes, all) = (self.events.len(), EventType::ALL.len(), self.classes.len(), CLASSES.len());
        let mut text = format!("{} ops, {events}/{rows} event types, {classes}/{all} text classes", self.cases.len());
        if self.cases.contains_key(&Op::Session) {
            // Each session has messages.
            let (drawn, features) = (self.features.len() + 1, Feature::all().count());
            let _ = write!(text, ", {drawn}/{features} features of sessions");
        }
        text
    }
}
