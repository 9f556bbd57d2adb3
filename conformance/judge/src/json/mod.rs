//! JSON as it was written: tokens, so that `1.0`, a repeated key or a lone surrogate reaches a testee untouched, and
//! values, read from any text that a testee may send.

mod value;

pub use value::plain;
pub use value::{DEEP_STACK, on_deep_stack};
pub(crate) use value::{FORBIDDEN, settled};

use crate::Error;
use memchr::{memchr_iter, memchr2, memchr2_iter};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashSet;
use threadspec::surrogates::{lone_surrogates, repair_surrogates};
use value::{Fitted, Members, consume, parse};

/// Deeper nesting is refused: it would exhaust the stack of whoever compares or prints the value.
pub const MAX_DEPTH: usize = 10_000;
/// Any program may refuse deeper nesting (INP-3).
pub const DEEP: usize = 50;
/// More values in one text are refused: many small values take many times the memory of their text.
pub const MAX_VALUES: usize = 1 << 20;
/// A text of more values is not held together with them.
const MANY: usize = 1 << 16;

/// Splits JSON text into its tokens, without the white space between them.
///
/// The text is taken to be valid; the tokens of any other text mean nothing, but nothing panics.
pub fn tokens(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let length = match rest.bytes().next()? {
            b'{' | b'}' | b'[' | b']' | b',' | b':' => 1,
            b'"' => string_length(rest),
            _ => rest.find(|c: char| "{}[],:\" \t\n\r".contains(c)).unwrap_or(rest.len()),
        };
        let (token, after) = rest.split_at(length);
        rest = after;
        Some(token)
    })
}

fn string_length(text: &str) -> usize {
    let mut at = 1;
    while let Some(offset) = memchr2(b'"', b'\\', &text.as_bytes()[at..]) {
        at += offset + 1;
        if text.as_bytes()[at - 1] == b'"' {
            return at;
        }
        // What is escaped, of whatever length, holds neither.
        at = (at + 1).min(text.len());
    }
    text.len()
}

/// Writes JSON text without white space between its tokens, hence on one line.
pub fn compact(text: &str) -> String {
    tokens(text).collect()
}

/// Reads JSON text the way an ECMAScript program would get it, as far as a [`Value`] can hold it.
///
/// Lone surrogate escapes read as U+FFFD, and a number beyond the double range (which is valid JSON) as null, which
/// is what `JSON.stringify(Infinity)` gives.
///
/// A text that is nested hundreds of levels deep needs a stack to match: [`on_deep_stack`].
///
/// # Errors
///
/// Says what is wrong when the text is not JSON, is nested deeper than [`MAX_DEPTH`], or holds more than [`MAX_VALUES`].
///
/// ```
/// use threadspec_judge::json::read;
/// assert_eq!(read(r#"["a\ud83d", 1.0, 1e400]"#)?.to_string(), "[\"a\u{fffd}\",1.0,null]");
/// assert!(read("[1,").is_err());
/// assert!(read(&"[".repeat(1_000_000)).is_err());
/// # Ok::<(), threadspec_judge::Error>(())
/// ```
pub fn read(text: &str) -> Result<Value, Error> {
    read_as(text.into()).map(|Fitted(value)| value)
}

/// Reads a JSON object like [`read`], and returns its members in their order, repeated ones included. A text of many values is
/// given up while it is read.
pub(crate) fn read_members(text: String) -> Result<Vec<(String, Value)>, Error> {
    read_as(text.into()).map(|Members(members)| members)
}

fn read_as<T: DeserializeOwned>(text: Cow<'_, str>) -> Result<T, Error> {
    let text = changed(repair_surrogates(&text)).map_or(text, Cow::Owned);
    // Nearly every text is within the limits, wherever its brackets and commas are, and is read at once.
    let brackets = memchr2_iter(b'[', b'{', text.as_bytes()).count();
    let separators = brackets + memchr_iter(b',', text.as_bytes()).count();
    let is_consumed = matches!(text, Cow::Owned(_)) && separators > MANY;
    let is_within_limits = brackets <= MAX_DEPTH && separators <= MAX_VALUES;
    if let Some(value) = (is_within_limits && !is_consumed).then(|| parse(&text).ok()).flatten() {
        return Ok(value);
    }
    serde_json::from_str::<&RawValue>(&text).map_err(Error::new)?;
    let (mut depth, mut separators, mut overflow) = (0_usize, 0_usize, false);
    for token in tokens(&text) {
        match token {
            "{" | "[" => {
                depth += 1;
                separators += 1;
            }
            "}" | "]" => depth -= 1,
            "," => separators += 1,
            _ => overflow |= is_beyond_doubles(token),
        }
        if depth > MAX_DEPTH {
            return Err(Error::new(format!("nested deeper than {MAX_DEPTH}")));
        }
        if separators > MAX_VALUES {
            return Err(Error::new(format!("more than {MAX_VALUES} values")));
        }
    }
    let nulled = |token| if is_beyond_doubles(token) { "null" } else { token };
    let text = if overflow { tokens(&text).map(nulled).collect() } else { text };
    let read = if is_consumed { consume(text.into_owned()) } else { parse(&text) };
    read.map_err(Error::new)
}

/// The text that takes the place of another one, if one does.
pub fn changed(text: Cow<'_, str>) -> Option<String> {
    match text {
        Cow::Owned(changed) => Some(changed),
        Cow::Borrowed(_) => None,
    }
}

/// A member of an object, as JSON text on one line.
pub fn member(object: &str, name: &str) -> Option<String> {
    let Node::Object(members) = Node::of(object) else { return None };
    let quoted = Value::from(name).to_string();
    members.iter().find(|(key, _)| *key == quoted).map(|(_, value)| value.text())
}

/// The elements of a list; none of any other value.
pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The text of a string; empty for any other value.
pub fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// A value as JSON text; `…` replaces what is beyond `longest` bytes.
pub fn shortened(value: &impl Serialize, longest: usize) -> String {
    /// A writer that takes a number of bytes and no more.
    struct CroppedWriter(Vec<u8>, usize);
    impl std::io::Write for CroppedWriter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let room = self.1.saturating_sub(self.0.len());
            self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
            if bytes.len() > room { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut beginning = CroppedWriter(Vec::new(), longest);
    let whole = serde_json::to_writer(&mut beginning, value).is_ok();
    let mut text = String::from_utf8_lossy(&beginning.0).into_owned();
    if !whole {
        text.push('…');
    }
    text
}

/// Deeper nesting is refused by some parsers in their default settings.
const INTEROPERABLE_DEPTH: usize = 64;
/// Longer numbers are refused by some parsers in their default settings.
const INTEROPERABLE_DIGITS: usize = 400;

/// Checks that every JSON parser in its default settings reads a text, and reads the same (I-JSON, RFC 7493).
///
/// # Errors
///
/// Says what some parser would refuse or read otherwise: half a surrogate pair, a number beyond the doubles or of hundreds
/// of digits, a repeated member, deep nesting. What is not JSON at all is found elsewhere.
///
/// ```
/// use threadspec_judge::json::interoperable;
/// assert!(interoperable(r#"{"a": "\ud83d\ude00", "b": 1.0}"#).is_ok());
/// for text in [r#"["\ud83d"]"#, "[1e400]", r#"{"a": 1, "\u0061": 2}"#] {
///     assert!(interoperable(text).is_err(), "{text}");
/// }
/// ```
pub fn interoperable(text: &str) -> Result<(), Error> {
    let error = |what: &str| Err(Error::new(format!("not I-JSON: {what}; `input_json` is for such inputs")));
    if lone_surrogates(text).next().is_some() {
        return error("half a surrogate pair");
    }
    let mut members: Vec<HashSet<String>> = Vec::new();
    let mut tokens = tokens(text).peekable();
    while let Some(token) = tokens.next() {
        match token.as_bytes()[0] {
            b'{' | b'[' => members.push(HashSet::new()),
            b'}' | b']' => drop(members.pop()),
            b'"' if tokens.peek() == Some(&":") => {
                let name = serde_json::from_str(token).unwrap_or_default();
                if members.last_mut().is_some_and(|object| !object.insert(name)) {
                    return error(&format!("the member {token} twice in one object"));
                }
            }
            _ if is_beyond_doubles(token) => return error("a number beyond the doubles"),
            b'-' | b'0'..=b'9' if token.len() > INTEROPERABLE_DIGITS => {
                return error(&format!("a number of {} characters", token.len()));
            }
            _ => {}
        }
        if members.len() > INTEROPERABLE_DEPTH {
            return error(&format!("nested deeper than {INTEROPERABLE_DEPTH}"));
        }
    }
    Ok(())
}

/// Returns whether any program may refuse JSON text: it is nested deeper than [`DEEP`], or has a number beyond the doubles (INP-3).
pub fn is_extreme(text: &str) -> bool {
    is_deep(text) || tokens(text).any(is_beyond_doubles)
}

/// Returns whether JSON text is nested deeper than [`DEEP`].
pub fn is_deep(text: &str) -> bool {
    let mut depth = 0_usize;
    tokens(text).any(|token| {
        match token {
            "{" | "[" => depth += 1,
            "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEP
    })
}

/// Returns whether a token is a number that no double holds.
pub fn is_beyond_doubles(token: &str) -> bool {
    token.starts_with(|c: char| c == '-' || c.is_ascii_digit()) && token.parse().is_ok_and(f64::is_infinite)
}

/// A JSON text as a tree of its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node<'a> {
    /// A number, string, boolean or null as it is written.
    Scalar(&'a str),
    /// The elements of an array.
    Array(Vec<Node<'a>>),
    /// The members of an object in their order, each key as it is written.
    Object(Vec<(&'a str, Node<'a>)>),
}

impl<'a> Node<'a> {
    /// Builds the tree of a text that is already known to be valid JSON.
    pub fn of(text: &'a str) -> Self {
        Self::next(&mut tokens(text).filter(|&token| token != "," && token != ":"))
    }

    fn next(tokens: &mut impl Iterator<Item = &'a str>) -> Self {
        match tokens.next() {
            Some(open @ ("[" | "{")) => Self::rest_of(open, tokens),
            scalar => Self::Scalar(scalar.unwrap_or_default()),
        }
    }

    fn rest_of(open: &str, tokens: &mut impl Iterator<Item = &'a str>) -> Self {
        let (mut elements, mut members) = (Vec::new(), Vec::new());
        while let Some(token) = tokens.next() {
            match token {
                "]" | "}" => break,
                key if open == "{" => members.push((key, Self::next(tokens))),
                inner @ ("[" | "{") => elements.push(Self::rest_of(inner, tokens)),
                scalar => elements.push(Self::Scalar(scalar)),
            }
        }
        if open == "{" { Self::Object(members) } else { Self::Array(elements) }
    }

    /// The text again, on one line.
    pub fn text(&self) -> String {
        match self {
            Self::Scalar(token) => (*token).to_owned(),
            Self::Array(elements) => format!("[{}]", elements.iter().map(Self::text).collect::<Vec<_>>().join(", ")),
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("{key}: {}", value.text()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compacting_keeps_every_token_as_it_was_written() {
        let text = "{ \"a\" : [1.0, -0,\t1e21 ] ,\n \"a b\" : \"x \\\" y\\\\\" , \"a\" : \"\\ud83d\" }";
        assert_eq!(compact(text), r#"{"a":[1.0,-0,1e21],"a b":"x \" y\\","a":"\ud83d"}"#);
    }

    #[test]
    fn broken_text_is_an_error_and_never_a_panic() {
        for text in ["", "\"", "\"\\", "{", "]", "{]", "nul", "1 2", "[1e999 2]", "\"\\u12\"", "\u{feff}1"] {
            assert!(read(text).is_err(), "{text:?}");
            compact(text);
        }
    }

    #[test]
    fn values_are_counted_before_they_are_made() {
        let list = |length: usize| format!("[{}1]", "1,".repeat(length - 1));
        assert!(read(&list(MAX_VALUES)).is_ok());
        assert_eq!(read(&list(MAX_VALUES + 1)), Err(Error::new(format!("more than {MAX_VALUES} values"))));
    }

    #[test]
    fn a_deep_but_allowed_text_is_read() {
        let text = "[".repeat(500) + &"]".repeat(500);
        assert!(read(&text).is_ok());
    }
}
