//! The texts of several runs in one process: one that shows in another run has leaked.

use super::halves::arrived;
use super::value::{read, read_inside};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use threadspec::surrogates::has_marks;

/// Shorter texts may come from anywhere.
const SHORTEST: usize = 4;

/// The texts of runs that run against one process one after the other, each with the number of the first run that has it. JSON text is left
/// out, as results are written as JSON.
#[derive(Clone, Debug, Default)]
pub struct Others(HashMap<String, usize>);

impl Others {
    /// Reads the inputs of the runs, in their order.
    pub fn of(inputs: impl IntoIterator<Item = impl AsRef<str>>) -> Self {
        let mut first = HashMap::new();
        for (step, input) in inputs.into_iter().enumerate() {
            for text in texts(input.as_ref()) {
                first.entry(text).or_insert(step);
            }
        }
        first.retain(|text, _| text.len() >= SHORTEST && read_inside(text).is_err());
        Self(first)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those of the first `step` runs, seen from another run.
    pub(crate) fn strangers(&self, input: &str, step: usize) -> Strangers<'_> {
        let own = texts(input);
        // What a lone surrogate becomes may be what another run says.
        let halved = own.iter().filter(|text| has_marks(text)).cloned().collect();
        Strangers { others: self, step, own, halved }
    }
}

/// The texts that only other runs have.
pub(crate) struct Strangers<'a> {
    others: &'a Others,
    step: usize,
    own: HashSet<String>,
    halved: Vec<String>,
}

impl Strangers<'_> {
    pub(crate) fn contain(&self, text: &str) -> bool {
        self.others.0.get(text).is_some_and(|first| *first < self.step)
            && !self.own.contains(text)
            && !self.halved.iter().any(|own| arrived(own, text))
    }
}

fn texts(input: &str) -> HashSet<String> {
    let mut texts = HashSet::new();
    if let Ok(value) = read(input) {
        collect(value, &mut texts);
    }
    texts
}

fn collect(value: Value, texts: &mut HashSet<String>) {
    match value {
        Value::String(text) => {
            texts.insert(text);
        }
        Value::Array(elements) => elements.into_iter().for_each(|element| collect(element, texts)),
        Value::Object(members) => members.into_iter().for_each(|(_, member)| collect(member, texts)),
        _ => {}
    }
}
