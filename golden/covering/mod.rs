//! Two conditions at once: covering arrays over the features of inputs, as `golden/README.md` describes them.
//!
//! Classes of values, frames of events and rows are data. Nothing here escapes or formats a value: how each looks in each place
//! is in the data, too.

mod compose;
mod rows;
mod sample;

pub use compose::Row;
pub use rows::{Column, Pair, extended, uncovered};
pub use sample::{Rendering, Sample};

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
