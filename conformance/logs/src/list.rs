//! The elements of a log, however they are wrapped, in batches of about a megabyte.

use super::source::{Chunk, Chunks};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::io;
use std::ops::Range;
use std::str;
use threadspec::wire;
use threadspec_apis::form::{self, members};

/// What the elements of a list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementKind {
    Events,
    /// Messages of an OpenAI-style transcript.
    Messages,
    Requests,
}

/// What a text of one JSON value holds.
pub(super) struct Contents<'a> {
    pub(super) kind: ElementKind,
    pub(super) elements: Vec<&'a str>,
}

/// Whether a file is JSON Lines, as far as its first chunk tells, which may be all of it.
pub(super) fn begins_lines(bytes: &[u8], is_all: bool) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let text = text.trim_start_matches('\u{feff}').trim();
    if !text.starts_with('{') || (is_all && serde_json::from_str::<&RawValue>(text).is_ok()) {
        return false;
    }
    // A line or two may be broken. If none of the first ten is an object, they are more likely parts of one.
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let has_object = lines.by_ref().take(10).any(|line| members(line).is_some());
    has_object && (!is_all || text.lines().filter(|line| !line.trim().is_empty()).nth(1).is_some())
}

/// What the elements of JSON Lines are.
pub(super) fn kind_of_lines(bytes: &[u8]) -> ElementKind {
    let text = String::from_utf8_lossy(bytes);
    kind_of(text.trim_start_matches('\u{feff}').lines())
}

/// What elements are, by the first that can be read.
fn kind_of<'a>(mut elements: impl Iterator<Item = &'a str>) -> ElementKind {
    let kind = elements.find_map(|element| {
        let members = members(element)?;
        let has = |name: &str| members.contains_key(name);
        Some(match (has("type"), has("role")) {
            (false, true) => ElementKind::Messages,
            _ if !has("iteration") && form::body(element).is_some() => ElementKind::Requests,
            _ => ElementKind::Events,
        })
    });
    kind.unwrap_or(ElementKind::Events)
}

/// Reads a text that is one JSON value.
///
/// # Errors
///
/// Says why it is no log.
pub(super) fn read(text: &str) -> Result<Contents<'_>, String> {
    let json = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    let list = match members(json) {
        Some(_) if form::is_request(json) => {
            return Ok(Contents { kind: ElementKind::Requests, elements: vec![json] });
        }
        Some(members) => LISTS.iter().find_map(|&name| members.get(name).map(|list| list.get())),
        None => Some(json),
    };
    let elements = match list.and_then(elements) {
        Some(elements) => elements,
        // The library's reader decides about anything else, and says why it is no log.
        None => match wire::read_transcript(text) {
            Ok(_) => vec![json],
            Err(error) if error.is_invalid_event() => vec![json],
            Err(error) => return Err(error.to_string()),
        },
    };
    Ok(Contents { kind: kind_of(elements.iter().copied()), elements })
}

/// The members that hold the list of a log, a transcript or a batch.
const LISTS: [&str; 3] = ["events", "messages", "requests"];

/// The elements of a JSON array.
fn elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}

/// Reads a text that holds requests, or the messages or items of one, as one JSON value.
pub(super) fn read_requests(text: &str) -> Vec<&str> {
    let json = text.strip_prefix('\u{feff}').unwrap_or(text).trim();
    let batch = members(json).and_then(|members| elements(members.get("requests")?.get()));
    let list = batch
        .or_else(|| elements(json))
        .filter(|elements| elements.first().is_none_or(|first| first.starts_with('[') || form::body(first).is_some()));
    list.unwrap_or_else(|| vec![json])
}

/// Consecutive elements.
#[derive(Debug)]
pub(super) struct Batch<'a> {
    text: Cow<'a, str>,
    /// The range of each in the text, and its line.
    places: Vec<(Range<usize>, usize)>,
    /// The number of the first element.
    pub(super) index: usize,
    /// The lines that were not UTF-8; the text has U+FFFD in place of the faulty bytes.
    pub(super) not_utf8: Vec<usize>,
}

impl Batch<'_> {
    /// The elements: number, line and text.
    pub(super) fn elements(&self) -> impl Iterator<Item = (usize, usize, &str)> {
        let places = self.places.iter().enumerate();
        places.map(|(number, (range, line))| (self.index + number, *line, &self.text[range.clone()]))
    }

    /// The elements, with what stands between them.
    pub(super) fn text(&self) -> &str {
        match (self.places.first(), self.places.last()) {
            (Some((first, _)), Some((last, _))) => &self.text[first.start..last.end],
            _ => "",
        }
    }
}

/// Cuts a list into batches.
pub(super) enum Batches<'a> {
    Lines { first: Option<Chunk>, chunks: Chunks<'a>, index: usize },
    List { text: &'a str, elements: std::vec::IntoIter<&'a str>, index: usize, line: usize, counted: usize },
}

impl<'a> Batches<'a> {
    pub(super) fn of_lines(first: Chunk, chunks: Chunks<'a>) -> Self {
        Self::Lines { first: Some(first), chunks, index: 0 }
    }

    /// The elements are slices of the text, in order.
    pub(super) fn of_list(text: &'a str, elements: Vec<&'a str>) -> Self {
        Self::List { text, elements: elements.into_iter(), index: 0, line: 1, counted: 0 }
    }

    /// The next elements; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Batch<'a>>> {
        match self {
            Self::Lines { first, chunks, index } => {
                let chunk = match first.take() {
                    Some(chunk) => Some(chunk),
                    None => chunks.next()?,
                };
                let batch = chunk.map(|chunk| batch_of_lines(chunk, *index));
                *index += batch.as_ref().map_or(0, |batch| batch.places.len());
                Ok(batch)
            }
            Self::List { text, elements, index, line, counted } => {
                let first = *index;
                let mut places = Vec::new();
                let mut size = 0;
                while size < Chunks::SIZE
                    && let Some(element) = elements.next()
                {
                    let start = element.as_ptr() as usize - text.as_ptr() as usize;
                    *line += text[*counted..start].matches('\n').count();
                    *counted = start;
                    size += element.len();
                    places.push((start..start + element.len(), *line));
                }
                *index += places.len();
                Ok((!places.is_empty()).then(|| Batch {
                    text: Cow::Borrowed(text),
                    places,
                    index: first,
                    not_utf8: Vec::new(),
                }))
            }
        }
    }
}

fn batch_of_lines(chunk: Chunk, index: usize) -> Batch<'static> {
    let line_number = chunk.line;
    let mut not_utf8 = Vec::new();
    let text = String::from_utf8(chunk.bytes).unwrap_or_else(|error| {
        let lines = error.as_bytes().split(|&byte| byte == b'\n').enumerate();
        not_utf8
            .extend(lines.filter(|(_, line)| str::from_utf8(line).is_err()).map(|(number, _)| line_number + number));
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    });
    let mut places = Vec::new();
    let mut start = if line_number == 1 && text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    for (number, line) in text[start..].split('\n').enumerate() {
        if !line.trim().is_empty() {
            places.push((start..start + line.len(), line_number + number));
        }
        start += line.len() + 1;
    }
    Batch { text: Cow::Owned(text), places, index, not_utf8 }
}
