//! Covers two conditions at once: covering arrays over the features of inputs, as `golden/README.md` describes them.

mod compose;
mod rows;

pub use compose::Row;
pub use rows::{Column, Pair, extended, uncovered};

use crate::Error;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The file that holds them.
pub const COVERING: &str = "covering.json";

/// Classes, frames and arrays.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Covering {
    /// Values that implementations get wrong in one way, by the name of the class.
    pub classes: BTreeMap<String, Class>,
    /// The classes that a field of a type takes.
    pub types: BTreeMap<String, Vec<String>>,
    /// The parts of inputs: an event or two, a round, an iteration.
    pub blocks: BTreeMap<String, Block>,
    /// One array for each operation.
    pub arrays: Vec<Array>,
    /// The rows of the protocol's table of fields that no column is about, each with the reason.
    #[serde(default)]
    pub excluded: Vec<Excluded>,
}

/// Values that implementations get wrong in one way.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// The mistake that they cause.
    pub why: String,
    /// The values; the rows of an array take them by turns.
    pub samples: Vec<Sample>,
}

/// A part of an input, and what must become of it. In its frames, `{name:rendering}` represents a rendering of the field's value,
/// `{#}` for the position of an event, `{@}` for the number of an iteration.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Block {
    /// The type of each field.
    pub fields: BTreeMap<String, String>,
    /// The events of a log.
    pub events: Vec<Value>,
    /// Their lines in a document.
    pub lines: Vec<String>,
    /// Their messages in standard mode.
    pub messages: Vec<Value>,
    /// The messages in literal, where they differ.
    pub literal: Option<Vec<Value>>,
    /// Its section in the system message.
    pub section: Option<String>,
    /// The model's answers.
    pub turns: Vec<Value>,
    /// The tools' results.
    pub tools: Map<String, Value>,
    /// The verifier's results.
    pub verify: Vec<Value>,
    /// The messages of each round of an iteration.
    pub rounds: Vec<Vec<Value>>,
    /// The events that an iteration leaves in the log.
    pub parts: Vec<LogPart>,
}

/// The events that an iteration leaves in the log.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogPart {
    /// It leaves nothing if this field is empty.
    #[serde(rename = "unless empty")]
    pub unless_empty: Option<String>,
    /// The events.
    pub events: Vec<Value>,
    /// Their lines in a document.
    pub lines: Vec<String>,
    /// Their messages in standard mode.
    pub messages: Vec<Value>,
}

/// A covering array: rows in which each two values of two columns occur together at least once.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Array {
    /// The operation.
    pub op: String,
    /// The topic of its cases, `pairs` when absent.
    topic: Option<String>,
    /// `should` where its outputs show what `should` clauses shape; `must` when absent.
    pub level: Option<String>,
    /// The clauses of its cases.
    pub clauses: Vec<String>,
    /// The blocks, in the order from which rows begin with one or the other.
    pub blocks: Vec<String>,
    /// How many fillers may be before them.
    pub before: Vec<usize>,
    /// Fields beside those of the blocks.
    pub columns: BTreeMap<String, String>,
    /// The frame of the input.
    pub input: Value,
    /// `escape`: the output.
    pub output: String,
    /// `serialize`: what follows the document, if the field has a value.
    pub after: String,
    /// `tools`: the given messages as they are sent.
    pub start: Vec<Value>,
    /// `loop`: what is in the log before the first iteration.
    pub parts: Vec<LogPart>,
    /// `loop`: what the last iteration leaves in the log.
    pub end: Vec<LogPart>,
    /// `tools`: the last message; `loop`: the response.
    pub last: Value,
    /// For each column the place of its class in the list of its type, as a digit or a letter.
    pub rows: Vec<String>,
}

/// A row of the protocol's table of fields that no column is about.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Excluded {
    /// `<where> <name>`, as in the table.
    pub field: String,
    /// The reason.
    pub why: String,
}

impl Covering {
    /// Reads the data.
    ///
    /// # Errors
    ///
    /// Says what is malformed, or which name nothing has.
    pub fn read(text: &str) -> Result<Self, Error> {
        let covering: Self = serde_json::from_str(text).map_err(|error| Error::new(error.to_string()))?;
        for (name, classes) in &covering.types {
            if let Some(unknown) = classes.iter().find(|class| !covering.classes.contains_key(*class)) {
                return Err(Error::new(format!("type `{name}`: there is no class `{unknown}`")));
            }
        }
        for array in &covering.arrays {
            if let Some(unknown) = array.blocks.iter().find(|block| !covering.blocks.contains_key(*block)) {
                return Err(Error::new(format!("array `{}`: there is no block `{unknown}`", array.op)));
            }
            let types = array.fields(&covering).map(|(_, name)| name).collect::<Vec<_>>();
            if let Some(unknown) = types.into_iter().find(|name| !covering.types.contains_key(*name)) {
                return Err(Error::new(format!("array `{}`: there is no type `{unknown}`", array.op)));
            }
            if let Some(row) = array.rows.iter().find(|row| !array.fits(&covering, row)) {
                return Err(Error::new(format!("array `{}`: malformed row `{row}`", array.op)));
            }
        }
        Ok(covering)
    }

    /// The rows of an array.
    pub fn rows<'a>(&'a self, array: &'a Array) -> impl Iterator<Item = Row<'a>> {
        (0..array.rows.len()).map(|number| self.row(array, number))
    }

    /// A row of an array.
    ///
    /// # Panics
    ///
    /// If the array does not have so many.
    pub fn row<'a>(&'a self, array: &'a Array, number: usize) -> Row<'a> {
        Row::new(self, array, number)
    }
}

/// The columns that every array of blocks has.
const FIRST: &str = "first";
const DOUBLED: &str = "doubled";
const BEFORE: &str = "before";

impl Array {
    /// The topic of its cases.
    pub fn topic(&self) -> &str {
        self.topic.as_deref().unwrap_or("pairs")
    }

    /// Its operation and topic, with which the ids of its cases begin.
    pub fn name(&self) -> String {
        format!("{}/{}", self.op, self.topic())
    }

    /// The fields, as `block.field` or `field`, each with its type.
    fn fields<'a>(&'a self, covering: &'a Covering) -> impl Iterator<Item = (String, &'a str)> {
        let of_block = |block: &'a String| {
            let fields = covering.blocks.get(block).into_iter().flat_map(|block| &block.fields);
            fields.map(move |(field, kind)| (format!("{block}.{field}"), kind.as_str()))
        };
        let own = self.columns.iter().map(|(field, kind)| (field.clone(), kind.as_str()));
        own.chain(self.blocks.iter().flat_map(of_block))
    }

    /// The columns: the fields, then which block is first, which one occurs twice, and how many fillers are before them.
    pub fn columns(&self, covering: &Covering) -> Vec<Column> {
        let classes = |kind: &str| covering.types.get(kind).cloned().unwrap_or_default();
        let mut columns: Vec<Column> =
            self.fields(covering).map(|(name, kind)| Column { name, levels: classes(kind) }).collect();
        if !self.blocks.is_empty() {
            let doubled = ["none".to_owned()].into_iter().chain(self.blocks.iter().cloned()).collect();
            columns.push(Column { name: FIRST.to_owned(), levels: self.blocks.clone() });
            columns.push(Column { name: DOUBLED.to_owned(), levels: doubled });
        }
        if !self.before.is_empty() {
            let levels = self.before.iter().map(ToString::to_string).collect();
            columns.push(Column { name: BEFORE.to_owned(), levels });
        }
        columns
    }

    /// The levels of a row, by column.
    pub fn levels(&self, row: usize) -> Vec<usize> {
        rows::levels(&self.rows[row])
    }

    fn fits(&self, covering: &Covering, row: &str) -> bool {
        let columns = self.columns(covering);
        let levels: Option<Vec<usize>> = row.bytes().map(rows::level).collect();
        levels.is_some_and(|levels| {
            levels.len() == columns.len()
                && levels.iter().zip(&columns).all(|(&level, column)| level < column.levels.len())
        })
    }
}

// A value, and how it looks in each place.

/// A text, or the parts of one between which anything may be.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
enum TextOrParts {
    One(String),
    Several(Vec<String>),
}

impl TextOrParts {
    fn parts(&self) -> &[String] {
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
    fn named(name: &str) -> Option<Self> {
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
    fn output(&self) -> Option<String> {
        self.output.as_ref().map(ToString::to_string).or_else(|| self.json())
    }

    /// Returns whether the value counts as absent or is the empty text.
    fn is_empty(&self) -> bool {
        self.json().is_none_or(|json| json == "null" || json == "\"\"")
    }

    /// Returns whether the two profiles show it differently.
    fn differs(&self) -> bool {
        self.literal.is_some()
    }

    /// How it looks, as parts between which anything may be.
    fn rendered(&self, rendering: Rendering, is_hardened: bool) -> Vec<String> {
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
