//! Judges WIRE-CACHE: tools, system and old messages are byte for byte those of the request before.

use super::{WireFindings, numbered};
use crate::plan::{RunPlan, SessionPlan};
use crate::record::WireRecord;
use std::fmt;
use threadspec::oracle::Api;
use threadspec_golden::clause;
use threadspec_judge::json::{Node, compact};
use threadspec_judge::protocol::{ApiFacts, facts};

pub(super) fn judge(plan: &RunPlan, record: &WireRecord, findings: &mut WireFindings) {
    // Other tools and another history have names of their own.
    if [clause::WIRE_TOOLS, clause::WIRE_RETRY].iter().any(|clause| findings.breaks(clause)) {
        return;
    }
    if plan.session.as_ref().is_some_and(SessionPlan::moves_history) {
        return;
    }
    let mut before: Option<Prefix> = None;
    for ask in 0..record.asks() {
        if record.runs.contains(&ask) {
            // What a run may leave out of the one before is a matter of the clauses SESSION-*.
            before = None;
        }
        let Some(one) = numbered(record, ask).filter(|one| one.attempt.request.is_some()).last() else { continue };
        let attempt = one.attempt;
        let now = Prefix::of(attempt.api, &attempt.body, attempt.resolved.as_deref());
        if let Some(loss) = before.as_ref().and_then(|before| before.loss(&now)) {
            findings.should(clause::WIRE_CACHE, format!("{one}: {loss}"));
        }
        before = Some(now);
    }
}

// A request as the text that a prompt cache sees: its tools, its system text and its messages, each as it was written, without cache marks.

/// The member that marks where a cache is kept; a mark may move.
const MARK: &str = "\"cache_control\"";

/// The parts of a request in the order in which a cache sees them.
#[derive(Debug)]
pub(super) struct Prefix(Vec<PrefixPart>);

#[derive(Debug)]
struct PrefixPart {
    place: String,
    text: String,
}

/// Where a request stops being the beginning of the next one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PrefixLoss {
    /// The part.
    pub(super) place: String,
    /// The first byte in it that differs, counted from 0.
    pub(super) byte: usize,
    /// The earlier value.
    pub(super) was: String,
    /// The new value.
    pub(super) is: String,
    /// How many bytes of the new request are behind it, so that they are read again.
    pub(super) following: usize,
}

impl fmt::Display for PrefixLoss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, byte, was, is, following } = self;
        write!(
            f,
            "{place} is not that of the request before from byte {byte} on ({was} became {is}), and {following} bytes follow it"
        )
    }
}

impl Prefix {
    /// Reads a body. `resolved` has the whole history where the body only names it.
    pub(super) fn of(api: Api, body: &str, resolved: Option<&str>) -> Self {
        let ApiFacts { system, list, .. } = facts(api);
        let members = members(body);
        let mut parts = elements(&members, "tools", api);
        parts.extend(system.iter().flat_map(|name| elements(&members, name, api)));
        let whole = resolved.map(self::members);
        parts.extend(elements(whole.as_ref().unwrap_or(&members), list, api));
        Self(parts)
    }

    /// Where the next request is another one; `None` if it begins with all of this one.
    pub(super) fn loss(&self, next: &Self) -> Option<PrefixLoss> {
        let at = self.0.iter().zip(&next.0).position(|(one, other)| one.text != other.text);
        let at = at.or_else(|| (next.0.len() < self.0.len()).then_some(next.0.len()))?;
        let rest: usize = next.0[(at + 1).min(next.0.len())..].iter().map(|part| part.text.len()).sum();
        let was = &self.0[at];
        let Some(is) = next.0.get(at) else {
            let (was, is) = (shown(&was.text, 0), "nothing".to_owned());
            return Some(PrefixLoss { place: self.0[at].place.clone(), byte: 0, was, is, following: 0 });
        };
        let byte = was.text.bytes().zip(is.text.bytes()).take_while(|(one, other)| one == other).count();
        Some(PrefixLoss {
            place: is.place.clone(),
            byte,
            was: shown(&was.text, byte),
            is: shown(&is.text, byte),
            following: is.text.len() - byte.min(is.text.len()) + rest,
        })
    }
}

/// The declarations of the tools in a body, each as it was written, without marks.
pub(super) fn declarations(body: &str) -> Vec<String> {
    elements(&members(body), "tools", Api::OpenAiChat).into_iter().map(|part| part.text).collect()
}

/// The members of an object, by their names as they are there.
fn members(body: &str) -> Vec<(&str, Node<'_>)> {
    match Node::of(body) {
        Node::Object(members) => members,
        Node::Array(_) | Node::Scalar(_) => Vec::new(),
    }
}

/// The elements of a list that is a member, or the member itself if it is no list.
fn elements(members: &[(&str, Node<'_>)], name: &str, api: Api) -> Vec<PrefixPart> {
    let is_named = |quoted: &str| quoted.len() == name.len() + 2 && &quoted[1..=name.len()] == name;
    let Some((_, value)) = members.iter().find(|(other, _)| is_named(other)) else { return Vec::new() };
    match value {
        Node::Array(elements) => {
            let part = |(index, element)| {
                let mut text = String::new();
                write(element, api, &mut text);
                PrefixPart { place: format!("{name}[{index}]"), text }
            };
            elements.iter().enumerate().map(part).collect()
        }
        Node::Scalar("null") => Vec::new(),
        // A text alone is the same as a list of one block of text.
        other => {
            let mut text = String::new();
            if api == Api::Anthropic && name == "system" && is_text(other) {
                write_text_block(other, &mut text);
            } else {
                write(other, api, &mut text);
            }
            vec![PrefixPart { place: name.to_owned(), text }]
        }
    }
}

/// Adds a value as it was written, without marks and white space between tokens.
fn write(node: &Node<'_>, api: Api, text: &mut String) {
    match node {
        Node::Scalar(token) => text.push_str(token),
        Node::Array(elements) => {
            text.push('[');
            for (position, element) in elements.iter().enumerate() {
                text.push_str(if position == 0 { "" } else { "," });
                write(element, api, text);
            }
            text.push(']');
        }
        Node::Object(members) => {
            let own = || members.iter().filter(|(name, _)| *name != MARK);
            if let Some(said) = own().find(|(name, _)| *name == "\"text\"").filter(|_| api == Api::Anthropic)
                && own().count() == 2
                && own().any(|(name, kind)| *name == "\"type\"" && *kind == Node::Scalar("\"text\""))
            {
                return write_text_block(&said.1, text);
            }
            text.push('{');
            for (position, (name, value)) in own().enumerate() {
                text.push_str(if position == 0 { "" } else { "," });
                text.push_str(name);
                text.push(':');
                if api == Api::Anthropic && *name == "\"content\"" && is_text(value) {
                    text.push('[');
                    write_text_block(value, text);
                    text.push(']');
                } else {
                    write(value, api, text);
                }
            }
            text.push('}');
        }
    }
}

fn is_text(node: &Node<'_>) -> bool {
    matches!(node, Node::Scalar(token) if token.starts_with('"'))
}

/// Adds a text in the form in which a block that can have a mark holds it, whatever the order of its members.
fn write_text_block(node: &Node<'_>, text: &mut String) {
    text.push_str("{\"type\":\"text\",\"text\":");
    text.push_str(&compact(&node.text()));
    text.push('}');
}

/// Some bytes from a place on.
fn shown(text: &str, from: usize) -> String {
    const LENGTH: usize = 24;
    let start = (0..=from.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let piece: String = text[start..].chars().take(LENGTH).collect();
    if piece.is_empty() { "its end".to_owned() } else { format!("`{piece}`") }
}
