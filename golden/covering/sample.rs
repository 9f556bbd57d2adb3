//! A value, and how it looks in each place.

use serde::Deserialize;
use serde_json::Value;

/// A text, or the parts of one between which anything may be.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum TextOrParts {
    One(String),
    Several(Vec<String>),
}

impl TextOrParts {
    pub(super) fn parts(&self) -> &[String] {
        match self {
            Self::One(part) => std::slice::from_ref(part),
            Self::Several(parts) => parts,
        }
    }
}

/// A value, and how it looks in each place. Each rendering that is not given is the one before it: that of messages, of text in a
/// document, of an attribute.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Sample {
    #[serde(deserialize_with = "present")]
    value: Option<Value>,
    /// The value as JSON text, where its spelling matters.
    value_json: Option<String>,
    /// True if the member is left out.
    absent: bool,
    /// How often the text and its renderings are repeated.
    times: Option<usize>,
    /// The value in an output, if it differs.
    output: Option<Value>,
    message: Option<TextOrParts>,
    xml: Option<TextOrParts>,
    attribute: Option<TextOrParts>,
    /// The differences in literal.
    literal: Option<Looks>,
}

/// `"value": null` is a value.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Looks {
    message: Option<TextOrParts>,
    xml: Option<TextOrParts>,
    attribute: Option<TextOrParts>,
}

/// How a value may be shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rendering {
    /// In messages.
    Message,
    /// As text in a document.
    Xml,
    /// As text in a document, after it has become a text.
    Text,
    /// In an attribute.
    Attribute,
}

impl Rendering {
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "message" => Self::Message,
            "xml" => Self::Xml,
            "text" => Self::Text,
            "attribute" => Self::Attribute,
            _ => return None,
        })
    }
}

impl Sample {
    /// The value as JSON text; none where the member is left out.
    pub fn json(&self) -> Option<String> {
        if self.absent {
            return None;
        }
        let json = self.value_json.clone().or_else(|| Some(self.value.as_ref()?.to_string()))?;
        match json.strip_prefix('"').and_then(|json| json.strip_suffix('"')) {
            Some(inside) => Some(format!("\"{}\"", inside.repeat(self.times.unwrap_or(1)))),
            None => Some(json),
        }
    }

    /// Returns the value in an output, as JSON text.
    pub(super) fn output(&self) -> Option<String> {
        self.output.as_ref().map(ToString::to_string).or_else(|| self.json())
    }

    /// Returns whether the value counts as absent or is the empty text.
    pub(super) fn is_empty(&self) -> bool {
        self.json().is_none_or(|json| json == "null" || json == "\"\"")
    }

    /// Returns whether the two profiles show it differently.
    pub(super) fn differs(&self) -> bool {
        self.literal.is_some()
    }

    /// How it looks, as parts between which anything may be.
    pub(super) fn rendered(&self, rendering: Rendering, is_hardened: bool) -> Vec<String> {
        let is_text = self.json().is_some_and(|json| json.starts_with('"'));
        let is_literal = !is_hardened && (rendering != Rendering::Text || is_text);
        let literal = self.literal.as_ref().filter(|_| is_literal);
        let literal = literal.and_then(|looks| found(rendering, [&looks.message, &looks.xml, &looks.attribute]));
        let found = literal.or_else(|| found(rendering, [&self.message, &self.xml, &self.attribute]));
        let parts = match (found, &self.value) {
            (Some(found), _) => found.parts().to_vec(),
            (None, Some(Value::String(text))) => vec![text.clone()],
            _ => Vec::new(),
        };
        match (self.times, parts.as_slice()) {
            (Some(times), [part]) => vec![part.repeat(times)],
            _ => parts,
        }
    }
}

/// Finds how a value looks in a rendering, of its looks in messages, in text content and in attributes. A missing one equals the one before
/// it.
fn found(rendering: Rendering, looks: [&Option<TextOrParts>; 3]) -> Option<&TextOrParts> {
    let [message, xml, attribute] = looks.map(Option::as_ref);
    match rendering {
        Rendering::Message => message,
        Rendering::Xml | Rendering::Text => xml.or(message),
        Rendering::Attribute => attribute.or(xml).or(message),
    }
}
