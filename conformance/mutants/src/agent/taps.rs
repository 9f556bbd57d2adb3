//! Taps: an agent hands its values to them, each with the site at which it passes, and knows of no fault. A fault is data: a site and an
//! operator.

use super::{ToolOutcome, calls};
use serde_json::Value;

/// Where a value passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TapSite {
    /// The text of each given message of a type; of any, if it is empty.
    Given(&'static str),
    /// The given list.
    GivenList,
    /// What the model said.
    Said,
    /// What it said beside calls.
    BesideCalls,
    /// The calls of a response.
    Calls,
    /// The arguments of a call; texts are those inside.
    Arguments,
    /// The names of the arguments of a call.
    ArgumentNames,
    /// A result that is a text.
    Result,
    /// A result that is something else, before it is written; texts are those inside.
    InResult,
    /// The same as JSON text.
    Structured,
    /// What a tool says of its failure.
    Failure,
    /// The answers to the calls of a response.
    Answers,
}

/// What is done with a value. `n` of the functions is a size.
#[derive(Clone, Copy)]
pub(crate) enum Operator {
    /// Each text.
    Text(fn(&str) -> String),
    /// Each text, by a size.
    TextBy(fn(&str, usize) -> String, usize),
    /// Each value inside, from the inside out.
    Inside(fn(&mut Value)),
    /// The whole value, by a size.
    ValueBy(fn(&mut Value, usize), usize),
    /// The list.
    List(fn(&mut Vec<Value>)),
    /// The list, by a size.
    ListBy(fn(&mut Vec<Value>, usize), usize),
}

/// The faults of an agent that are data.
#[derive(Default)]
pub(crate) struct Taps(pub(crate) Vec<(TapSite, Operator)>);

impl Taps {
    /// The operators of a site.
    fn at(&self, site: TapSite) -> impl Iterator<Item = Operator> {
        self.0.iter().filter(move |(own, _)| *own == site).map(|(_, operator)| *operator)
    }

    fn text(&self, site: TapSite, text: &mut String) {
        for operator in self.at(site) {
            *text = operator.edited(text);
        }
    }

    fn value(&self, site: TapSite, value: &mut Value) {
        for operator in self.at(site) {
            operator.change(value);
        }
    }

    fn list(&self, site: TapSite, list: &mut Vec<Value>) {
        for operator in self.at(site) {
            match operator {
                Operator::List(cut) => cut(list),
                Operator::ListBy(cut, n) => cut(list, n),
                _ => {}
            }
        }
    }

    /// The text of a message.
    fn content(&self, site: TapSite, message: &mut Value) {
        if let Value::String(text) = &mut message["content"] {
            self.text(site, text);
        }
    }

    /// The given list, in order for every provider.
    pub(crate) fn given(&self, list: &mut Vec<Value>) {
        if self.0.is_empty() {
            return;
        }
        self.list(TapSite::GivenList, list);
        for message in list {
            for &(site, operator) in &self.0 {
                if let TapSite::Given(kind) = site
                    && (kind.is_empty() || message["type"] == kind)
                    && let Value::String(text) = &mut message["content"]
                {
                    *text = operator.edited(text);
                }
            }
        }
    }

    /// The message that repeats a response.
    pub(crate) fn response(&self, message: &mut Value) {
        if self.0.is_empty() {
            return;
        }
        self.content(TapSite::Said, message);
        if !calls(message).is_empty() {
            self.content(TapSite::BesideCalls, message);
        }
        let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) else { return };
        self.list(TapSite::Calls, calls);
        for call in calls {
            self.value(TapSite::Arguments, &mut call["args"]);
            if let Some(members) = call["args"].as_object_mut() {
                let renamed = std::mem::take(members).into_iter().map(|(mut name, value)| {
                    self.text(TapSite::ArgumentNames, &mut name);
                    (name, value)
                });
                *members = renamed.collect();
            }
        }
    }

    /// What comes of a call, before the model is told of it.
    pub(crate) fn outcome(&self, outcome: &mut ToolOutcome) {
        match outcome {
            ToolOutcome::Result(Value::String(_)) | ToolOutcome::Unknown(_) => {}
            ToolOutcome::Result(value) => self.value(TapSite::InResult, value),
            ToolOutcome::Failure(error) => self.text(TapSite::Failure, error),
        }
    }

    /// What the model is told of it.
    pub(crate) fn told(&self, outcome: &ToolOutcome, content: &mut Value) {
        let site = match outcome {
            ToolOutcome::Result(Value::String(_)) => TapSite::Result,
            ToolOutcome::Result(_) => TapSite::Structured,
            ToolOutcome::Failure(_) | ToolOutcome::Unknown(_) => return,
        };
        if let Value::String(text) = content {
            self.text(site, text);
        }
    }

    /// The answers to the calls of a response.
    pub(crate) fn answers(&self, answers: &mut Vec<Value>) {
        self.list(TapSite::Answers, answers);
    }
}

impl Operator {
    /// The same with a size.
    pub(crate) fn with(self, n: usize) -> Self {
        match self {
            Self::TextBy(edit, _) => Self::TextBy(edit, n),
            Self::ValueBy(change, _) => Self::ValueBy(change, n),
            Self::ListBy(cut, _) => Self::ListBy(cut, n),
            whole => whole,
        }
    }

    fn edited(self, text: &str) -> String {
        match self {
            Self::Text(edit) => edit(text),
            Self::TextBy(edit, n) => edit(text, n),
            _ => text.to_owned(),
        }
    }

    /// Changes a value, or the texts inside.
    pub(crate) fn change(self, value: &mut Value) {
        match self {
            Self::Text(_) | Self::TextBy(..) => each(value, &|value| {
                if let Value::String(text) = value {
                    *text = self.edited(text);
                }
            }),
            Self::Inside(change) => each(value, &change),
            Self::ValueBy(change, n) => change(value, n),
            Self::List(_) | Self::ListBy(..) => {}
        }
    }
}

/// Changes each value inside a value, from the inside out.
pub(crate) fn each(value: &mut Value, change: &dyn Fn(&mut Value)) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(|element| each(element, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each(member, change)),
        _ => {}
    }
    change(value);
}
