//! Which features of a covering array an input has, found in the input alone.

use serde_json::{Map, Value};
use std::collections::BTreeSet;
use threadspec_golden::covering::{Array, Block, Column, Covering};
use threadspec_judge::json;

/// A level of a column, by number.
pub(super) type ColumnLevel = (usize, usize);

/// The value of a column and where it is in the input; no value if it is absent.
#[derive(Clone, Debug)]
struct Found {
    column: String,
    path: String,
    value: Option<Value>,
}

/// The features of an input, and where its values stand.
#[derive(Clone, Debug, Default)]
pub(super) struct InputLevels {
    pub(super) all: BTreeSet<ColumnLevel>,
    /// The column of each value, and its path as a JSON pointer.
    pub(super) places: Vec<(usize, String)>,
}

/// Finds the features of inputs of an array's operation.
pub(super) struct Finder<'a> {
    covering: &'a Covering,
    array: &'a Array,
    columns: Vec<Column>,
    /// The samples of each level of each column.
    samples: Vec<Vec<Vec<Option<Value>>>>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(covering: &'a Covering, array: &'a Array) -> Self {
        let columns = array.columns(covering);
        let sample = |text: Option<String>| text.map(|text| json::read(&text).unwrap_or_default());
        let of_class = |class: &String| {
            let samples = covering.classes.get(class).map_or(&[][..], |class| &class.samples);
            samples.iter().map(|value| sample(value.json())).collect()
        };
        let samples = columns.iter().map(|column| column.levels.iter().map(of_class).collect()).collect();
        Self { covering, array, columns, samples }
    }

    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    pub(super) fn features(&self, input: &Value) -> InputLevels {
        let mut found = Vec::new();
        // The frame of the input, without what the blocks make.
        unify("", &self.array.input, Some(input), "", &mut found);
        let mut features = InputLevels::default();
        let listed = if input["events"].is_array() { "events" } else { "model" };
        let items = input[listed].as_array().map_or(&[][..], Vec::as_slice);
        let mut blocks: Vec<&str> = Vec::new();
        let (mut at, mut fillers) = (0, 0);
        while at < items.len() {
            // Later blocks match less.
            let block = self.array.blocks.iter().rev().find_map(|name| {
                let mut of_block = Vec::new();
                let block = &self.covering.blocks[name];
                let frames = if listed == "events" { &block.events } else { &block.turns };
                let is_here = frames.iter().enumerate().all(|(offset, frame)| {
                    let path = format!("/{listed}/{}", at + offset);
                    items.get(at + offset).is_some_and(|item| unify(name, frame, Some(item), &path, &mut of_block))
                });
                is_here.then_some((name, block, frames.len(), of_block))
            });
            let filler = &self.covering.blocks["filler"].events[0];
            match block {
                // The fillers look like a block.
                Some(_) if blocks.is_empty() && *filler == items[at] => {
                    fillers += 1;
                    at += 1;
                }
                Some((name, block, length, of_block)) => {
                    blocks.push(name);
                    at += length.max(1);
                    found.extend(of_block);
                    tools(name, block, &input["tools"], &mut found);
                }
                None => at += 1,
            }
        }
        for (at, verified) in input["verify"].as_array().into_iter().flatten().enumerate() {
            for (name, frame) in self
                .array
                .blocks
                .iter()
                .flat_map(|name| self.covering.blocks[name].verify.iter().map(move |frame| (name, frame)))
            {
                let mut of_block = Vec::new();
                if unify(name, frame, Some(verified), &format!("/verify/{at}"), &mut of_block) {
                    found.extend(of_block);
                }
            }
        }
        self.take(&found, &mut features);
        self.note(&mut features, "first", |_, level| blocks.first().is_some_and(|first| first == level));
        self.note(&mut features, "before", |_, level| fillers.to_string() == *level);
        let doubled = blocks.windows(2).find(|pair| pair[0] == pair[1]).map_or("none", |pair| pair[0]);
        self.note(&mut features, "doubled", |_, level| level == doubled);
        features
    }

    fn note(&self, features: &mut InputLevels, column: &str, holds: impl Fn(usize, &String) -> bool) {
        let Some(number) = self.columns.iter().position(|known| known.name == column) else { return };
        let levels = self.columns[number].levels.iter().enumerate();
        features.all.extend(levels.filter(|&(at, level)| holds(at, level)).map(|(at, _)| (number, at)));
    }

    fn take(&self, found: &[Found], features: &mut InputLevels) {
        for Found { column, path, value } in found {
            let Some(number) = self.columns.iter().position(|known| known.name == *column) else { continue };
            let is_of = |samples: &Vec<Option<Value>>| samples.contains(value);
            let levels = self.samples[number].iter().enumerate().filter(|(_, samples)| is_of(samples));
            features.all.extend(levels.map(|(level, _)| (number, level)));
            features.places.push((number, path.clone()));
        }
    }

    /// The features of an input of one text that is made of several: it begins with a sample, has one inside, ends with one.
    pub(super) fn features_of_text(&self, text: &str) -> InputLevels {
        let mut features = InputLevels::default();
        for (number, column) in self.columns.iter().enumerate() {
            for (level, samples) in self.samples[number].iter().enumerate() {
                let is_there =
                    samples.iter().flatten().filter_map(Value::as_str).any(|sample| match column.name.as_str() {
                        "first" => text.starts_with(sample),
                        "last" => text.ends_with(sample),
                        _ => text.contains(sample),
                    });
                if is_there {
                    features.all.insert((number, level));
                }
            }
            features.places.push((number, "/text".to_owned()));
        }
        features
    }
}

/// The results of the tools of a block.
fn tools(name: &str, block: &Block, tools: &Value, found: &mut Vec<Found>) {
    let called = format!("{name}.name");
    let Some(Value::String(called)) =
        found.iter().rev().find(|found| found.column == called).and_then(|found| found.value.clone())
    else {
        return;
    };
    for (frame, results) in &block.tools {
        let tool = frame.replace("{name:value}", &called);
        let path = format!("/tools/{}", tool.replace('~', "~0").replace('/', "~1"));
        unify(name, results, tools.get(&tool), &path, found);
    }
}

/// Returns whether a value is what a frame describes; notes the values of its fields.
fn unify(block: &str, frame: &Value, value: Option<&Value>, path: &str, found: &mut Vec<Found>) -> bool {
    let column = |field: &str| if block.is_empty() { field.to_owned() } else { format!("{block}.{field}") };
    match (frame, value) {
        (Value::String(frame), value) => {
            let Some((before, rest)) = frame.split_once('{') else { return value.is_some_and(|value| value == frame) };
            let Some((name, after)) = rest.split_once('}') else { return false };
            // What the blocks make, or a text of several parts.
            let Some((field, _)) = name.split_once(':') else { return true };
            let value = match value {
                _ if before.is_empty() && after.is_empty() => value.cloned(),
                Some(Value::String(text)) => {
                    match text.strip_prefix(before).and_then(|text| text.strip_suffix(after)) {
                        Some(inside) => Some(inside.into()),
                        None => return false,
                    }
                }
                _ => return false,
            };
            found.push(Found { column: column(field), path: path.to_owned(), value });
            true
        }
        (Value::Array(frames), Some(Value::Array(values))) => {
            let is_spliced =
                |frame: &Value| frame.as_str().is_some_and(|text| text.starts_with('{') && !text.contains(':'));
            if frames.iter().any(is_spliced) {
                // What follows it is the last element.
                let (Some(frame), Some(last)) =
                    (frames.last().filter(|frame| !is_spliced(frame)), values.len().checked_sub(1))
                else {
                    return true;
                };
                return unify(block, frame, values.last(), &format!("{path}/{last}"), found);
            }
            frames.len() == values.len()
                && frames
                    .iter()
                    .zip(values)
                    .enumerate()
                    .all(|(at, (frame, value))| unify(block, frame, Some(value), &format!("{path}/{at}"), found))
        }
        (Value::Object(frames), Some(Value::Object(values))) => {
            has_only(frames, values)
                && frames
                    .iter()
                    .all(|(name, frame)| unify(block, frame, values.get(name), &format!("{path}/{name}"), found))
        }
        (frame, value) => value == Some(frame),
    }
}

fn has_only(frames: &Map<String, Value>, values: &Map<String, Value>) -> bool {
    values.keys().all(|name| frames.contains_key(name))
}
