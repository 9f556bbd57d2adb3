//! What has been drawn so far.

use crate::generate::{CLASSES, Class, LIMITS};
use crate::protocol::Op;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of the event table, as a log spells them.
const ROWS: [(&str, &str); 10] = [
    ("user", r#""role":"user""#),
    ("assistant", r#""role":"assistant""#),
    ("system", r#""role":"system""#),
    ("tool_call", r#""type":"tool_call""#),
    ("tool_result", r#""type":"tool_result""#),
    ("error", r#""type":"error""#),
    ("human_input_requested", r#""type":"human_input_requested""#),
    ("human_input_received", r#""type":"human_input_received""#),
    ("completion", r#""type":"completion""#),
    ("summary", r#""type":"summary""#),
];

/// The operations, event types and classes of text that were drawn.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// Cases per operation.
    pub cases: BTreeMap<Op, u64>,
    events: BTreeSet<&'static str>,
    classes: BTreeSet<&'static str>,
}

impl Coverage {
    pub(super) fn add(&mut self, op: Op, input: &str) {
        *self.cases.entry(op).or_default() += 1;
        // What is covered is not looked for again: soon there is nothing left to look for.
        if self.events.len() < ROWS.len() && matches!(op, Op::Serialize | Op::Messages) {
            self.events.extend(ROWS.iter().filter(|(_, spelled)| input.contains(spelled)).map(|(name, _)| *name));
        }
        if self.classes.len() < CLASSES.len() {
            let drawn = |class: &&Class| {
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

    /// In a few words.
    pub fn text(&self) -> String {
        let (events, rows, classes, all) = (self.events.len(), ROWS.len(), self.classes.len(), CLASSES.len());
        format!("{} ops, {events}/{rows} event types, {classes}/{all} text classes", self.cases.len())
    }
}
