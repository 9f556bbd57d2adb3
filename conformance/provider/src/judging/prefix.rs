//! A request as the text that a prompt cache sees: its tools, its system text and its messages, each as it was written, without cache marks.

use threadspec::oracle::Api;
use threadspec_judge::json::{Node, compact};

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
    /// What stood there.
    pub(super) was: String,
    /// What stands there now.
    pub(super) is: String,
    /// How many bytes of the new request stand behind it, so that they are read anew.
    pub(super) following: usize,
}

impl Prefix {
    /// Reads a body. `resolved` has the whole history where the body only names it.
    pub(super) fn of(api: Api, body: &str, resolved: Option<&str>) -> Self {
        let (system, messages) = match api {
            Api::OpenAiChat => (None, "messages"),
            Api::OpenAiResponses => (Some("instructions"), "input"),
            Api::Anthropic => (Some("system"), "messages"),
        };
        let members = members(body);
        let mut parts = elements(&members, "tools", api);
        parts.extend(system.into_iter().flat_map(|name| elements(&members, name, api)));
        let whole = resolved.map(self::members);
        parts.extend(elements(whole.as_ref().unwrap_or(&members), messages, api));
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

/// The members of an object, by their names as they stand there.
fn members(body: &str) -> Vec<(&str, Node<'_>)> {
    match Node::of(body) {
        Node::Object(members) => members,
        Node::Array(_) | Node::Scalar(_) => Vec::new(),
    }
}

/// The elements of a list that is a member, or the member itself if it is no list.
fn elements(members: &[(&str, Node<'_>)], name: &str, api: Api) -> Vec<PrefixPart> {
    let quoted = format!("\"{name}\"");
    let Some((_, value)) = members.iter().find(|(other, _)| *other == quoted) else { return Vec::new() };
    match value {
        Node::Array(elements) => {
            let part = |(index, element)| PrefixPart { place: format!("{name}[{index}]"), text: written(element, api) };
            elements.iter().enumerate().map(part).collect()
        }
        Node::Scalar("null") => Vec::new(),
        // A text alone is the same as a list of one block of text.
        other => vec![PrefixPart { place: name.to_owned(), text: block(other, name, api) }],
    }
}

/// A value as it was written, without marks and white space between tokens.
fn written(node: &Node<'_>, api: Api) -> String {
    match node {
        Node::Scalar(token) => (*token).to_owned(),
        Node::Array(elements) => {
            let elements: Vec<String> = elements.iter().map(|element| written(element, api)).collect();
            format!("[{}]", elements.join(","))
        }
        Node::Object(members) => {
            let own = || members.iter().filter(|(name, _)| *name != MARK);
            if let Some(text) = own().find(|(name, _)| *name == "\"text\"").filter(|_| api == Api::Anthropic)
                && own().count() == 2
                && own().any(|(name, kind)| *name == "\"type\"" && *kind == Node::Scalar("\"text\""))
            {
                return text_block(&text.1);
            }
            let own = own().map(|(name, value)| {
                let is_text = api == Api::Anthropic && *name == "\"content\"" && is_text(value);
                let value = if is_text { format!("[{}]", text_block(value)) } else { written(value, api) };
                format!("{name}:{value}")
            });
            format!("{{{}}}", own.collect::<Vec<_>>().join(","))
        }
    }
}

fn block(node: &Node<'_>, name: &str, api: Api) -> String {
    if api == Api::Anthropic && name == "system" && is_text(node) { text_block(node) } else { written(node, api) }
}

fn is_text(node: &Node<'_>) -> bool {
    matches!(node, Node::Scalar(token) if token.starts_with('"'))
}

/// A text in the form in which a block that can have a mark holds it, whatever the order of its members.
fn text_block(node: &Node<'_>) -> String {
    format!("{{\"type\":\"text\",\"text\":{}}}", compact(&node.text()))
}

/// Some bytes from a place on.
fn shown(text: &str, from: usize) -> String {
    const LENGTH: usize = 24;
    let start = (0..=from.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let piece: String = text[start..].chars().take(LENGTH).collect();
    if piece.is_empty() { "its end".to_owned() } else { format!("`{piece}`") }
}
