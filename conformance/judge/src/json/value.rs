//! Values that take no more memory than they must, also while they are read.

use serde::de::{Deserialize, DeserializeOwned, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::de::Read as Source;
use serde_json::{Map, Value};
use std::fmt;
use std::io::{self, Read};

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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

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
}
