//! Reading event logs: JSON arrays, objects with an `events` array, and JSON Lines.

use crate::error::ErrorKind;
use crate::surrogates::{mark_surrogates, repair_surrogates};
use crate::{Error, Event, fast};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::io;

/// Reads a log of events.
///
/// Accepted are a JSON array of events, a JSON object with an `events` array (other members are ignored), and JSON Lines,
/// one event a line. A byte order mark is skipped. Lone surrogates read as U+FFFD, and are marked in arguments and
/// structured results (INP-SURROGATE, [`surrogates`](crate::surrogates)). Of members with one name the last counts.
///
/// # Errors
/// The first fault: an [`Error`] with [`is_invalid_event`](Error::is_invalid_event) that names the event's index and line,
/// the field and the reason, or one with [`is_invalid_input`](Error::is_invalid_input) if the input holds no list of events
/// (INP-1). Nothing partial is returned. JSON nested deeper than 128 levels and numbers beyond the double range are
/// refused (INP-3).
///
/// ```
/// let events = threadspec::read_events(
///     r#"{"events": [{"type": "message", "role": "user", "content": "Hi", "iteration": 0}]}"#)?;
/// assert_eq!(events.len(), 1);
/// # Ok::<(), threadspec::Error>(())
/// ```
pub fn read_events(json: &str) -> Result<Vec<Event>, Error> {
    if let Some(events) = fast::input::read(json) {
        return Ok(events);
    }
    read_each_event(json)?.into_iter().collect()
}

/// Reads a log and judges each event on its own, so that a tool can report everything that is wrong with the log.
///
/// # Errors
/// Only if the input holds no list of events, see [`read_events`].
pub fn read_each_event(json: &str) -> Result<Vec<Result<Event, Error>>, Error> {
    let elements = read_elements(json, &["events"])?;
    Ok(elements.into_iter().map(|element| element.and_then(|element| element.read(Event::from_json))).collect())
}

/// Reads JSON Lines, one event a line, as they arrive. Only one line at a time is in memory.
///
/// A faulty line costs only itself: its error names the event's index and line, as those of [`read_events`] do. Blank lines are
/// skipped. An error of the input, or a line that is not UTF-8, is the last item.
///
/// ```
/// use threadspec::{EventReader, Profile, ThreadStream};
/// let log = r#"{"type": "message", "role": "user", "content": "Hi", "iteration": 0}
/// {"type": "message", "role": "assistant", "content": "Hello", "iteration": 1}"#;
/// let mut stream = ThreadStream::new(Vec::new(), Profile::Literal);
/// for event in EventReader::new(log.as_bytes()) {
///     stream.push(&event?)?;
/// }
/// assert!(stream.finish("")?.ends_with(b">Hello</event>\n</thread>"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct EventReader<R> {
    input: R,
    bytes: Vec<u8>,
    line: usize,
    next_index: usize,
    has_ended: bool,
}

impl<R: io::BufRead> EventReader<R> {
    /// Reads from the beginning of a log.
    pub fn new(input: R) -> Self {
        Self { input, bytes: Vec::new(), line: 0, next_index: 0, has_ended: false }
    }

    /// The next line; `None` at the end.
    fn next_line(&mut self) -> Result<Option<&str>, Error> {
        self.bytes.clear();
        self.line += 1;
        let at = |error: Error, line| error.at_line(line);
        let read = self.input.read_until(b'\n', &mut self.bytes);
        if read.map_err(|error| at(Error::input(error.to_string()), self.line))? == 0 {
            return Ok(None);
        }
        let line = str::from_utf8(&self.bytes).map_err(|_| at(Error::input("not UTF-8"), self.line))?;
        Ok(Some(if self.line == 1 { line.strip_prefix('\u{feff}').unwrap_or(line) } else { line }))
    }
}

impl<R: io::BufRead> Iterator for EventReader<R> {
    type Item = Result<Event, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.has_ended {
            match self.next_line() {
                Ok(Some(line)) if line.trim().is_empty() => {}
                Ok(Some(line)) => {
                    let event = read_event(line);
                    let index = self.next_index;
                    self.next_index += 1;
                    return Some(event.map_err(|error| error.at_event(index).at_line(self.line)));
                }
                Ok(None) => self.has_ended = true,
                Err(error) => {
                    self.has_ended = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Reads one event: a JSON object, as it is in a log.
///
/// # Errors
/// As [`read_events`], without index and line.
///
/// ```
/// let error = threadspec::read_event(r#"{"type": "message", "role": "user", "iteration": 0}"#).unwrap_err();
/// assert_eq!(error.to_string(), "content: missing, expected a string");
/// ```
pub fn read_event(json: &str) -> Result<Event, Error> {
    if let Some(event) = fast::input::read_one(json) {
        return Ok(event);
    }
    let value: Value =
        serde_json::from_str(&mark_surrogates(json)).map_err(|error| Error::new(ErrorKind::Event, reason(&error)))?;
    Event::from_json(&value)
}

/// Reads any JSON text as data: lone surrogates are marked ([`surrogates`](crate::surrogates)), and of members with one name the
/// last counts, instead of the first.
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) if the text is not JSON, is nested deeper than 128
/// levels, or holds a number beyond the double range.
pub fn read_json(json: &str) -> Result<Value, Error> {
    serde_json::from_str(&mark_surrogates(json)).map_err(|error| Error::input(reason(&error)))
}

/// One element of a log that is JSON, and where it was.
pub(crate) struct JsonElement {
    pub(crate) index: usize,
    pub(crate) line: usize,
    pub(crate) value: Value,
}

impl JsonElement {
    /// Reads the element, and adds its position to an error.
    pub(crate) fn read<T>(&self, reader: impl FnOnce(&Value) -> Result<T, Error>) -> Result<T, Error> {
        reader(&self.value).map_err(|error| error.at_event(self.index).at_line(self.line))
    }
}

/// The elements of a log, each read as JSON on its own: a broken line of JSON Lines costs only itself. In an object the
/// first member that has one of these names holds them.
pub(crate) fn read_elements(json: &str, names: &[&str]) -> Result<Vec<Result<JsonElement, Error>>, Error> {
    let written = json.strip_prefix('\u{feff}').unwrap_or(json);
    let json = &*mark_surrogates(written);
    let raw = match serde_json::from_str::<&RawValue>(json) {
        Ok(raw) => list_in(raw.get(), names)?,
        Err(error) => lines(json).ok_or_else(|| syntax_error(&error, written))?,
    };
    let mut line = 1;
    let mut counted = 0;
    Ok(raw
        .into_iter()
        .enumerate()
        .map(|(index, raw)| {
            // Every raw element is a slice of `json`, in order.
            let offset = raw.as_ptr() as usize - json.as_ptr() as usize;
            line += json[counted..offset].matches('\n').count();
            counted = offset;
            match serde_json::from_str(raw) {
                Ok(value) => Ok(JsonElement { index, line, value }),
                Err(error) => Err(Error::new(ErrorKind::Event, reason(&error)).at_event(index).at_line(line)),
            }
        })
        .collect())
}

/// The elements of a log that is a single JSON value.
fn list_in<'a>(json: &'a str, names: &[&str]) -> Result<Vec<&'a str>, Error> {
    // The value was readable as raw JSON, so that only its depth or its numbers can be at fault here.
    let again = |error: serde_json::Error| Error::input(reason(&error));
    let array = match json.as_bytes().first() {
        Some(b'[') => json,
        Some(b'{') => {
            let members: HashMap<String, &RawValue> = serde_json::from_str(json).map_err(again)?;
            match names.iter().find_map(|&name| Some((name, members.get(name)?))) {
                Some((_, list)) if list.get().starts_with('[') => list.get(),
                Some((name, _)) => return Err(Error::input(format!("{name}: expected an array of {name}"))),
                None if members.contains_key("type") || members.contains_key("role") => return Ok(vec![json]),
                None => return Err(Error::input("expected an array of events, or an object with an `events` array")),
            }
        }
        _ => return Err(Error::input("expected an array of events, an object with an `events` array, or JSON Lines")),
    };
    let elements: Vec<&RawValue> = serde_json::from_str(array).map_err(again)?;
    Ok(elements.into_iter().map(RawValue::get).collect())
}

/// The non-blank lines of a text, if there are several and the first of them is a JSON object: JSON Lines.
fn lines(json: &str) -> Option<Vec<&str>> {
    let lines: Vec<&str> = json.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let first = lines.first()?;
    (lines.len() > 1 && serde_json::from_str::<Map<String, Value>>(first).is_ok()).then_some(lines)
}

fn syntax_error(error: &serde_json::Error, json: &str) -> Error {
    if json.trim().is_empty() {
        return Error::input("the input is empty; a thread without events is `[]`");
    }
    // A mark is shorter than the escape that it represents.
    let again = serde_json::from_str::<&RawValue>(&repair_surrogates(json)).err();
    let at = again.as_ref().unwrap_or(error);
    Error::input(reason(error)).at_line(at.line()).at_column(at.column())
}

/// The message of a JSON error without its position, which the caller gives in its own way.
fn reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(reason, _)| reason);
    let message = if message == "recursion limit exceeded" { "nested deeper than 128 levels" } else { message };
    format!("not readable as JSON: {message}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: &str = r#"{"type":"message","role":"user","content":"Hi","iteration":0}"#;

    #[test]
    fn every_container_gives_the_same_events() {
        let expected = vec![Event::user(0, "Hi"), Event::user(0, "Hi")];
        for json in [
            format!("[{USER},{USER}]"),
            format!("\u{feff} [\n{USER} ,\r\n {USER}]\n"),
            format!("{{\"events\":[{USER},{USER}],\"model\":\"x\"}}"),
            format!("{USER}\n{USER}\n"),
            format!("\n{USER}\r\n\r\n  {USER}"),
        ] {
            assert_eq!(read_events(&json).as_ref(), Ok(&expected), "{json}");
        }
        assert_eq!(read_events(USER), Ok(vec![Event::user(0, "Hi")]), "one line");
        assert_eq!(read_events("[]"), Ok(vec![]));
    }

    #[test]
    fn errors_name_index_line_field_and_reason() {
        for (json, message) in [
            (format!("[{USER},\n\n{{\"type\":\"message\"}}]"), "event 1 (line 3): role: missing, expected a string"),
            (format!("{USER}\n{{\"type\":\"x\"}}"), "event 1 (line 2): type: unknown event type \"x\""),
            (format!("{USER}\n{{oops"), "event 1 (line 2): not readable as JSON: key must be a string"),
            (format!("{USER}\n[1]"), "event 1 (line 2): event: expected an object, found an array"),
            ("[1]".into(), "event 0 (line 1): event: expected an object, found a number"),
            (
                r#"[{"type":"tool_result","toolCallId":"a","result":1e400,"iteration":1}]"#.into(),
                "event 0 (line 1): not readable as JSON: number out of range",
            ),
            (
                r#"[{"type":"summary","summary":"","summarizedIterations":[1,-2],"iteration":1}]"#.into(),
                "event 0 (line 1): summarizedIterations[1]: expected an integer from 0 to 2^53-1, found -2",
            ),
            ("[\n{,}]".into(), "line 2, column 2: not readable as JSON: key must be a string"),
            (r#"["\ud83d",{,}]"#.into(), "line 1, column 12: not readable as JSON: key must be a string"),
            (" ".into(), "the input is empty; a thread without events is `[]`"),
            ("{}".into(), "expected an array of events, or an object with an `events` array"),
            (r#"{"events":{}}"#.into(), "events: expected an array of events"),
            ("7".into(), "expected an array of events, an object with an `events` array, or JSON Lines"),
        ] {
            let error = read_events(&json).expect_err(&json);
            assert_eq!(error.to_string(), message, "{json}");
            assert_eq!(error.is_invalid_event(), message.starts_with("event "), "{json}");
        }
    }

    #[test]
    fn a_broken_line_costs_only_itself() {
        let each = read_each_event(&format!("{USER}\nnot json\n{USER}")).expect("there are lines");
        assert_eq!(each.iter().map(Result::is_ok).collect::<Vec<_>>(), [true, false, true]);
    }

    #[test]
    fn lines_are_read_one_by_one_as_all_at_once() {
        for lines in [
            format!("{USER}\n{USER}\n"),
            format!("\u{feff}{USER}\r\n\n \t\n  {}", USER.replace("Hi", r"\ud83d")),
            format!("{USER}\nnot json\n{{\"type\":\"x\"}}\n{USER}"),
        ] {
            let each: Vec<Result<Event, Error>> = EventReader::new(lines.as_bytes()).collect();
            assert_eq!(Ok(each), read_each_event(&lines), "{lines}");
        }
        assert_eq!(EventReader::new(&b""[..]).count(), 0);
        let bytes = [USER.as_bytes(), b"\n\xff\n", USER.as_bytes()].concat();
        let each: Vec<_> = EventReader::new(&*bytes).collect();
        assert_eq!(each.len(), 2, "nothing is read behind a line that is not UTF-8");
        assert_eq!(each[1].as_ref().map_err(ToString::to_string), Err("line 2: not UTF-8".to_owned()));
    }

    #[test]
    fn half_a_character_never_loses_a_log() {
        let events = read_events(&format!("[{}]", USER.replace("Hi", r"cut \ud83d"))).expect("the log is kept");
        assert_eq!(events, [Event::user(0, "cut \u{fffd}")]);
    }

    #[test]
    fn nesting_beyond_the_limit_is_refused_not_a_crash() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let json = format!(r#"[{{"type":"tool_result","toolCallId":"a","result":{deep},"iteration":1}}]"#);
        assert!(read_events(&json).is_err());
        assert!(read_events(&"[".repeat(100_000)).is_err());
    }
}
