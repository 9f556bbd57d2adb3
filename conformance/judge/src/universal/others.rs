//! Finds what runs share with each other, and why a clause could not be judged in a session.

use super::halves::arrived;
use super::value::{read, read_inside};
use super::{Finding, Property};
use serde_json::Value;
use std::collections::{HashMap, HashSet};
use threadspec::surrogates::has_marks;
use threadspec_golden::clause;

// The texts of several runs in one process: one that shows in another run has leaked.

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

// Holds the state of several runs on one thread, a session, that is no finding: the reasons why a clause cannot be judged.

/// The state of a session beside its findings.
#[derive(Clone, Debug, Default)]
pub(crate) struct SessionState {
    /// The findings that say that a call is not answered once.
    pub(crate) pairing: Vec<Finding>,
    /// The findings that say that a call was executed that should not have been.
    pub(crate) executed: Vec<Finding>,
    /// The findings about the reasons of denials.
    pub(crate) reasons: Vec<Finding>,
    /// Why the session shows nothing, if so.
    pub(crate) unsupported: Option<String>,
}

impl SessionState {
    /// A breach that keeps a clause of sessions from being judged, so that nothing holds merely because it was never seen.
    pub(crate) fn in_the_way<'f>(&'f self, property: Property, found: &'f [Finding]) -> Option<&'f Finding> {
        let first = |clauses: &[&str]| found.iter().find(|finding| clauses.contains(&finding.clause));
        match property.clause() {
            clause::SESSION_VALID => self.pairing.first(),
            clause::SESSION_CUT => first(&[clause::SESSION_ANSWERED]),
            clause::SESSION_KEPT => first(&[clause::SESSION_ANSWERED, clause::SESSION_WHOLE]),
            clause::SESSION_WHOLE => first(&[clause::SESSION_ANSWERED, clause::SESSION_KEPT]),
            clause::SESSION_ONCE => self.executed.first(),
            clause::SESSION_SAID_ONCE => first(&[clause::SESSION_VALID]),
            clause::SESSION_PREFIX => found.first(),
            clause::SESSION_COMPACT_WHOLE => first(&[clause::SESSION_COMPACT]),
            _ => None,
        }
    }
}
