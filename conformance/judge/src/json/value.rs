//! Holds values that take no more memory than they must, also while they are read.

use super::read;
use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::Read as Source;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::io::Read;
use std::{fmt, io, panic, thread};
use threadspec::Profile;
use threadspec::surrogates::{has_marks, unmark_surrogates, without_marks};

/// How much of a long text is given up at once.
const PIECE: usize = 1 << 20;
/// Up to so many members of an object are counted before room is made for them.
const FEW: usize = 64;

/// Reads JSON text of any depth.
pub(super) fn parse<T: DeserializeOwned>(text: &str) -> serde_json::Result<T> {
    parse_from(serde_json::Deserializer::from_str(text))
}

/// Reads a text likewise, and frees it meanwhile: it and the values that are read from it are not held at once.
pub(super) fn consume<T: DeserializeOwned>(text: String) -> serde_json::Result<T> {
    let pieces: Vec<Box<[u8]>> = text.as_bytes().chunks(PIECE).map(Box::from).collect();
    drop(text);
    parse_from(serde_json::Deserializer::from_reader(TextPieces {
        piece: Box::default(),
        at: 0,
        rest: pieces.into_iter(),
    }))
}

fn parse_from<'de, T: DeserializeOwned>(
    mut deserializer: serde_json::Deserializer<impl Source<'de>>,
) -> serde_json::Result<T> {
    deserializer.disable_recursion_limit();
    let value = T::deserialize(&mut deserializer)?;
    deserializer.end().map(|()| value)
}

/// The pieces of a text, each of which is dropped when the next one is read.
struct TextPieces<R> {
    piece: Box<[u8]>,
    at: usize,
    rest: R,
}

impl<R: Iterator<Item = Box<[u8]>>> Read for TextPieces<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.piece.len() {
            (self.piece, self.at) = (self.rest.next().unwrap_or_default(), 0);
        }
        let length = (&self.piece[self.at..]).read(buffer)?;
        self.at += length;
        Ok(length)
    }
}

/// A value whose lists and objects have no room to spare.
pub(super) struct Fitted(pub(super) Value);

/// The members of an object in their order, repeated ones included.
pub(super) struct Members(pub(super) Vec<(String, Value)>);

impl<'de> Deserialize<'de> for Fitted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(AnyObject)
    }
}

struct AnyObject;

impl<'de> Visitor<'de> for AnyObject {
    type Value = Members;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Members, A::Error> {
        let mut read = Vec::new();
        while let Some((name, Fitted(value))) = members.next_entry()? {
            read.push((name, value));
        }
        Ok(Members(read))
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Fitted;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<Fitted, E> {
        Ok(Fitted(Value::Null))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Fitted, E> {
        Ok(Fitted(flag.into()))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Fitted, E> {
        Ok(Fitted(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Fitted, E> {
        Ok(Fitted(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Fitted, E> {
        Ok(Fitted(number.into()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Fitted, E> {
        Ok(Fitted(text.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<Fitted, A::Error> {
        let mut read = Vec::new();
        while let Some(Fitted(value)) = elements.next_element()? {
            read.push(value);
        }
        read.shrink_to_fit();
        Ok(Fitted(Value::Array(read)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Fitted, A::Error> {
        let mut first = Vec::new();
        while first.len() < FEW {
            match members.next_entry()? {
                Some((name, Fitted(value))) => first.push((name, value)),
                None => return Ok(Fitted(Value::Object(first.into_iter().collect::<Map<_, _>>()))),
            }
        }
        let mut read: Map<String, Value> = first.into_iter().collect();
        while let Some((name, Fitted(value))) = members.next_entry()? {
            read.insert(name, value);
        }
        Ok(Fitted(Value::Object(read)))
    }
}

// A stack for values of the deepest nesting that is read.

/// The size of such a stack, in bytes.
pub const DEEP_STACK: usize = 256 << 20;

/// Does work on a thread with a stack for values of the deepest nesting that is read.
///
/// # Errors
///
/// When the system cannot start such a thread.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(DEEP_STACK).spawn_scoped(scope, work)?;
        Ok(thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
    })
}

// Lone surrogates in the values of replies and inputs.

/// Takes the place of a lone surrogate where it is judged like any character that XML forbids: in documents, and in what literal expects.
pub(crate) const FORBIDDEN: char = '\u{fffe}';

/// The output of a reply, which was read as marked data (`threadspec::surrogates`), as it is compared with what was expected: U+FFFD is
/// for each lone surrogate where the profile accepts either (INP-SURROGATE). Elsewhere the mark stays, and no expectation matches it.
///
/// In arguments both are accepted. Elsewhere the hardened profile wants U+FFFD; the literal one does not care, but a
/// document must be well-formed in both.
pub(crate) fn settled(mut output: Cow<'_, Value>, profile: Profile) -> Cow<'_, Value> {
    if is_marked(&output) {
        settle(output.to_mut(), profile, false);
    }
    output
}

/// Changes the value where it is: a copy of a long one would take too much memory.
fn settle(value: &mut Value, profile: Profile, in_args: bool) {
    let change = |text: &str| {
        let accepted = in_args || profile == Profile::Literal && !text.starts_with("<thread>");
        if accepted || !has_marks(text) { super::changed(without_marks(text)) } else { None }
    };
    match value {
        Value::String(text) => {
            if let Some(changed) = change(text) {
                *text = changed;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|element| settle(element, profile, in_args)),
        Value::Object(members) => {
            members.iter_mut().for_each(|(name, member)| settle(member, profile, in_args || name == "args"));
            if members.keys().any(|name| change(name).is_some()) {
                let renamed = |(name, member): (String, Value)| (change(&name).unwrap_or(name), member);
                *members = std::mem::take(members).into_iter().map(renamed).collect::<Map<_, _>>();
            }
        }
        _ => {}
    }
}

/// Data in which the library has marked lone surrogates, as a program gets it that reads each of them as U+FFFD.
pub fn plain(value: Value) -> Value {
    if is_marked(&value) { read(&unmark_surrogates(&value.to_string())).unwrap_or(value) } else { value }
}

/// Returns whether any string or name differs from the text that it represents.
fn is_marked(value: &Value) -> bool {
    let differs = |text: &str| matches!(without_marks(text), Cow::Owned(_));
    match value {
        Value::String(text) => differs(text),
        Value::Array(elements) => elements.iter().any(is_marked),
        Value::Object(members) => members.iter().any(|(name, member)| differs(name) || is_marked(member)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use threadspec::surrogates::mark_surrogates;

    #[test]
    fn a_text_is_read_alike_whole_and_in_pieces() {
        let long = "x".repeat(PIECE);
        let expected = json!([long, {"a": [1, -1, 1.5, u64::MAX, null, true], "é\u{1f600}\"": {}}, long, []]);
        let text = expected.to_string();
        let Fitted(whole) = parse(&text).expect("JSON");
        let Fitted(pieces) = consume(text.clone()).expect("JSON");
        assert!(whole == expected && pieces == expected);
        assert!(consume::<Fitted>(text.clone() + " 1").is_err());
        assert!(consume::<Fitted>(text[..text.len() - 1].to_owned()).is_err());
    }

    #[test]
    fn of_repeated_members_the_last_one_counts() {
        let Fitted(value) = parse(r#"{"a":1,"b":2,"a":3}"#).expect("JSON");
        assert_eq!(value.to_string(), r#"{"a":3,"b":2}"#);
        let Members(members) = parse(r#"{"a":1,"a":3}"#).expect("JSON");
        assert_eq!(members.len(), 2);
        assert!(parse::<Members>("[]").is_err());
        let many: Vec<String> = (0..3 * FEW).map(|number| format!("\"n{number}\":0")).collect();
        let Fitted(value) = parse(&format!("{{{},\"n7\":7}}", many.join(","))).expect("JSON");
        assert_eq!((value.as_object().map(Map::len), &value["n7"]), (Some(3 * FEW), &json!(7)));
    }

    #[test]
    fn no_name_has_a_meaning() {
        let text = r#"{"$serde_json::private::RawValue":"[1]"}"#;
        let Fitted(value) = parse(text).expect("JSON");
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn half_a_pair_is_no_replacement_character_where_the_profile_tells_them_apart() {
        let half = |text: &str| text.replace('?', "\u{10d83d}");
        let output = json!([half("?"), {"id": half("?"), "args": {half("?"): [half("a?")]}}, half("<thread>?")]);
        let args = json!({"\u{fffd}": ["a\u{fffd}"]});
        let hardened = json!([half("?"), {"id": half("?"), "args": args}, half("<thread>?")]);
        assert_eq!(*settled(Cow::Borrowed(&output), Profile::Hardened), hardened);
        let literal = json!(["\u{fffd}", {"id": "\u{fffd}", "args": args}, half("<thread>?")]);
        assert_eq!(*settled(Cow::Borrowed(&output), Profile::Literal), literal);
        assert!(matches!(
            settled(Cow::Borrowed(&json!(["\u{fffd}", {"args": "\u{fdd0}"}])), Profile::Hardened),
            Cow::Borrowed(_)
        ));
    }

    #[test]
    fn marks_become_what_others_read() {
        let json = r#"{"\ud83d": 1, "\ud83e": "\ude00", "\udbf6\udc3d": "\udbff\udffe\udbf6\udc3d"}"#;
        let marked = serde_json::from_str(&mark_surrogates(json)).expect("marked");
        assert_eq!(plain(marked), json!({"\u{fffd}": "\u{fffd}", "\u{10d83d}": "\u{10fffe}\u{10d83d}"}));
    }
}
