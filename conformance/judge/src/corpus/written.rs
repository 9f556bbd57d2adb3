//! Reads and lays out a case as it is written in its file, and what of it is sent and expected.

use super::case::{Expect, Level};
use super::clause::Severity;
use super::expectation::Pattern;
use crate::error::Error;
use crate::json;
use crate::json::Node;
use crate::protocol::{Feature, Features};
use crate::universal::Property;
use serde::{Deserialize, Deserializer};
use serde_json::Value;
use serde_json::value::RawValue;
use std::sync::Arc;
use threadspec::oracle::Api;
use threadspec_golden::{expand, outline};

// A case as it is written in its file, and what of it is sent and expected.

/// How the names of the properties of profile `universal` begin.
const PROPERTIES: [&str; 4] = ["agent-", "gate-", "session-", "wire-"];

/// The input that is sent.
#[derive(Clone, Debug)]
pub(super) struct Sent {
    pub(super) after: Vec<Arc<str>>,
    pub(super) input: Arc<str>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Written<'a> {
    pub(super) name: String,
    pub(super) why: String,
    pub(super) clauses: Vec<String>,
    pub(super) level: Option<Level>,
    pub(super) profiles: Option<Vec<String>>,
    pub(super) severity: Option<Severity>,
    pub(super) evidence: Option<Vec<String>>,
    pub(super) thorough: Option<bool>,
    pub(super) apis: Option<Vec<String>>,
    pub(super) streams: Option<bool>,
    pub(super) endpoint: Option<WrittenEndpoint>,
    pub(super) needs: Option<Vec<String>>,
    #[serde(borrow)]
    pub(super) after: Option<&'a RawValue>,
    pub(super) expand: Option<bool>,
    #[serde(borrow)]
    pub(super) input: Option<&'a RawValue>,
    pub(super) input_json: Option<String>,
    #[serde(borrow)]
    pub(super) expect: WrittenExpect<'a>,
}

/// The demands of a case on the endpoint.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WrittenEndpoint {
    pub(super) reasoning: bool,
}

/// The APIs with these names.
pub(super) fn apis(names: &[String], problems: &mut Vec<String>) -> Vec<Api> {
    let known: Vec<Api> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let is_repeated = known.iter().enumerate().any(|(index, api)| known[..index].contains(api));
    if known.len() != names.len() || known.is_empty() {
        problems.push(format!("`apis` {names:?} are not known APIs"));
    } else if known.len() == Api::ALL.len() || is_repeated {
        problems.push("`apis` restates the default, or repeats one".into());
    }
    known
}

/// The features with these names.
pub(super) fn needs(names: &[String], problems: &mut Vec<String>) -> Features {
    let known: Vec<Feature> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let features: Features = known.iter().copied().collect();
    if known.len() != names.len() {
        problems.push(format!("`needs` {names:?} are not known features"));
    } else if known.is_empty() || features.len() != known.len() {
        problems.push("`needs` restates the default, or repeats a feature".into());
    } else if features.contains(Feature::Message) {
        problems.push("`needs` names `message`, which every session needs".into());
    } else if !features.iter().eq(known) {
        problems.push(format!("`needs` is written in the order of the protocol: {features}"));
    }
    features
}

/// How much of a template is expanded.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// The case is no template.
    Plain,
    /// Each repetition once at most.
    Outline,
    /// All of it.
    Whole,
}

impl Extent {
    pub(super) fn value(self, text: &str) -> Result<Value, Error> {
        if self == Self::Plain { read(text) } else { read(&self.text(text)?) }
    }

    /// JSON text on one line; outside of templates just as it was written.
    pub(super) fn text(self, text: &str) -> Result<String, Error> {
        match self {
            Self::Plain => Ok(json::compact(text)),
            Self::Outline => outline(&read(text)?).map_err(Error::new),
            Self::Whole => expand(&read(text)?).map_err(Error::new),
        }
    }
}

pub(super) fn read(text: &str) -> Result<Value, Error> {
    json::read(text).map_err(Error::new)
}

impl Written<'_> {
    pub(super) fn sent(&self, extent: Extent) -> Result<Sent, Error> {
        let input = match (self.input, &self.input_json) {
            (Some(input), None) => extent.text(input.get())?,
            (None, Some(text)) => {
                serde_json::from_str::<&RawValue>(text)
                    .map_err(|error| Error::new(format_args!("`input_json`: {error}")))?;
                json::compact(text)
            }
            _ => return Err(Error::new("exactly one of `input` and `input_json` is needed")),
        };
        let after = self.after.map(|inputs| read_after(inputs, extent)).transpose()?.unwrap_or_default();
        Ok(Sent { after, input: input.into() })
    }
}

/// The inputs that are sent first.
pub(super) fn read_after(inputs: &RawValue, extent: Extent) -> Result<Vec<Arc<str>>, Error> {
    let text = extent.text(inputs.get())?;
    let inputs: Vec<&RawValue> =
        serde_json::from_str(&text).map_err(|error| Error::new(format_args!("`after`: {error}")))?;
    if inputs.is_empty() {
        return Err(Error::new("`after` names no input"));
    }
    Ok(inputs.into_iter().map(|input| input.get().into()).collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct WrittenExpect<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    pub(super) ok: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) one_of: Option<Vec<&'a RawValue>>,
    pub(super) reject: Option<String>,
    #[serde(borrow)]
    pub(super) message: Option<&'a RawValue>,
    pub(super) holds: Option<Vec<String>>,
}

/// `"ok": null` expects null; an `Option` alone would take it for absent.
pub(super) fn present<'de: 'a, 'a, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'a RawValue>, D::Error> {
    Deserialize::deserialize(deserializer).map(Some)
}

impl WrittenExpect<'_> {
    /// The outputs of a template that are expected as they are, as JSON text on one line.
    pub(super) fn accepted(&self) -> Vec<String> {
        let outputs = self.ok.iter().chain(self.one_of.iter().flatten());
        let templates = outputs.filter_map(|output| serde_json::from_str(output.get()).ok());
        templates.filter(|output| !Pattern::is_in(output)).filter_map(|output| expand(&output).ok()).collect()
    }

    pub(super) fn read(self, extent: Extent, problems: &mut Vec<String>) -> Result<Expect, Error> {
        let pattern = |value: &RawValue| Pattern::read(&extent.value(value.get())?);
        if self.message.is_some() && self.reject.is_none() {
            problems.push("`message` goes with `reject` only".into());
        }
        match (self.ok, self.one_of, self.reject, self.holds) {
            (Some(value), None, None, None) => Ok(Expect::Output([pattern(value)?].into())),
            (None, Some(values), None, None) => {
                let patterns = values.into_iter().map(pattern).collect::<Result<Vec<_>, _>>()?;
                if patterns.len() < 2 {
                    problems.push("`oneOf` needs at least two alternatives".into());
                }
                let is_repeated = |(index, one): (usize, &Pattern)| patterns[..index].contains(one);
                // In outline two alternatives may well be the same.
                if extent != Extent::Outline && patterns.iter().enumerate().any(is_repeated) {
                    problems.push("`oneOf` has the same alternative twice".into());
                }
                Ok(Expect::Output(patterns.into()))
            }
            (None, None, Some(kind), None) => Ok(Expect::Reject {
                kind: kind.parse().map_err(Error::new)?,
                message: self.message.map(pattern).transpose()?,
            }),
            (None, None, None, Some(names)) => {
                if names.is_empty() {
                    problems.push("`holds` names no oracle".into());
                }
                let unknown = |name: &String| Error::new(format_args!("unknown oracle `{name}`"));
                if names.first().is_some_and(|name| PROPERTIES.iter().any(|family| name.starts_with(family))) {
                    let property = |name: &String| name.parse::<Property>().map_err(|_| unknown(name));
                    return Ok(Expect::Run(names.iter().map(property).collect::<Result<_, _>>()?));
                }
                let oracle = |name: &String| name.parse().map_err(|_| unknown(name));
                Ok(Expect::Holds(names.iter().map(oracle).collect::<Result<_, _>>()?))
            }
            _ => Err(Error::new("`expect` needs exactly one of `ok`, `oneOf`, `reject` and `holds`")),
        }
    }
}

// The one layout of corpus files. It moves white space only: every token stays as its author wrote it.

const WIDTH: usize = 120;
/// The deepest level with lines of its own. Indentation would be most of the file otherwise.
const DEEPEST: usize = 16;

/// Lays out a file: two spaces of indentation, and what fits into 120 columns on one line, except that the file, its
/// list of cases and each case are always broken over lines.
///
/// ```
/// let text = r#"{"op":"escape","cases":[{"name":"a","input":{"n":1.0}}]}"#;
/// let laid_out = threadspec_judge::corpus::canonical(text);
/// assert!(laid_out.contains("      \"input\": {\"n\": 1.0}\n"));
/// assert_eq!(threadspec_judge::corpus::canonical(&laid_out), laid_out);
/// ```
pub fn canonical(text: &str) -> String {
    lay_out(text, 3)
}

/// Lays out valid JSON text of which the outer levels are always broken over lines.
pub fn lay_out(text: &str, broken_levels: usize) -> String {
    let mut out = String::new();
    Layout { broken_levels, out: &mut out }.write(&Node::of(text), 0, 0, 0);
    out.push('\n');
    out
}

struct Layout<'a> {
    broken_levels: usize,
    out: &'a mut String,
}

impl Layout<'_> {
    /// `level` counts the containers around the node, `taken` the columns of its line before it, `trailing` those after.
    fn write(&mut self, node: &Node<'_>, level: usize, taken: usize, trailing: usize) {
        let line = node.text();
        let empty = matches!(line.as_str(), "[]" | "{}");
        let scalar = matches!(node, Node::Scalar(_));
        if scalar
            || empty
            || level == DEEPEST
            || (level >= self.broken_levels && taken + line.chars().count() + trailing <= WIDTH)
        {
            self.out.push_str(&line);
            return;
        }
        let indent = "  ".repeat(level + 1);
        let members: Vec<(String, &Node<'_>)> = match node {
            Node::Object(members) => members.iter().map(|(key, value)| (format!("{indent}{key}: "), value)).collect(),
            Node::Array(elements) => elements.iter().map(|element| (indent.clone(), element)).collect(),
            Node::Scalar(_) => Vec::new(),
        };
        let (open, close) = if matches!(node, Node::Object(_)) { ('{', '}') } else { ('[', ']') };
        self.out.push(open);
        let last = members.len() - 1;
        for (index, (start, member)) in members.into_iter().enumerate() {
            self.out.push('\n');
            self.out.push_str(&start);
            let comma = usize::from(index < last);
            self.write(member, level + 1, start.chars().count(), comma);
            self.out.push_str(&","[..comma]);
        }
        self.out.push('\n');
        self.out.push_str(&"  ".repeat(level));
        self.out.push(close);
    }
}

#[cfg(test)]
mod tests {
    use super::canonical;
    use crate::json::compact;

    #[test]
    fn tokens_survive_and_a_second_pass_changes_nothing() {
        let long = "x".repeat(130);
        for text in [
            r#"{"op":"escape","about":"","cases":[{"name":"a","input":{"text":"\ud83d A"},"expect":{"ok":"1"}}]}"#
                .to_owned(),
            r#"{"cases":[{"input":{"a":1.0,"a":-0,"b":[],"c":{}}}]}"#.to_owned(),
            format!(r#"{{"cases":[{{"input":{{"text":"{long}","more":["{long}",[1,2,[3]]]}}}}]}}"#),
            "[]".to_owned(),
            "7".to_owned(),
        ] {
            let laid_out = canonical(&text);
            assert_eq!(compact(&laid_out), text);
            assert_eq!(canonical(&laid_out), laid_out);
        }
    }
}
