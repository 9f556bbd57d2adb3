//! Compares replies with expectations while their JSON is read, so that no value is built from them.

use super::expectation::Pattern;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

/// Outputs that a case accepts. Other outputs may be as good: the judge of parsed replies decides.
#[derive(Clone, Debug)]
pub enum Accepted {
    /// These JSON texts, byte for byte: the fastest comparison for large outputs.
    Texts(Arc<[String]>),
    /// Whatever [`Pattern::matches_json`] accepts for one of these.
    Values(Arc<[Pattern]>),
    /// Patterns of a large output, which is compared as JSON text: its value takes ten times as much memory.
    LargeValues(Arc<[Pattern]>),
}

impl Accepted {
    /// How many bytes its texts take, which may be many.
    pub fn size(&self) -> usize {
        match self {
            Self::Texts(texts) => texts.iter().map(String::len).sum(),
            Self::Values(_) | Self::LargeValues(_) => 0,
        }
    }

    /// Returns whether an output, as JSON text, is one of them.
    pub fn has(&self, output: &[u8]) -> bool {
        match self {
            Self::Texts(texts) => texts.iter().any(|text| text.as_bytes() == output),
            Self::Values(patterns) | Self::LargeValues(patterns) => {
                patterns.iter().any(|pattern| pattern.matches_json(output))
            }
        }
    }
}

/// Nothing is accepted.
impl Default for Accepted {
    fn default() -> Self {
        Self::Values(Arc::default())
    }
}

impl Pattern {
    /// Returns whether JSON text matches, found without building a value. `false` does not mean that the value differs: this gives up on
    /// lists that include others, on repeated members and on lone surrogates.
    pub fn matches_json(&self, json: &[u8]) -> bool {
        let mut text = serde_json::Deserializer::from_slice(json);
        Like(self).deserialize(&mut text).and_then(|()| text.end()).is_ok()
    }
}

/// Reads a value, and fails unless it matches the pattern.
#[derive(Clone, Copy)]
struct Like<'p>(&'p Pattern);

fn demand<E: Error>(is_met: bool) -> Result<(), E> {
    if is_met { Ok(()) } else { Err(E::custom("another value")) }
}

impl Like<'_> {
    #[expect(clippy::float_cmp, reason = "an expected number is exact")]
    fn number<E: Error>(self, number: f64) -> Result<(), E> {
        demand(match self.0 {
            Pattern::Any => true,
            Pattern::Number(expected) => *expected == number,
            _ => false,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Like<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

#[expect(clippy::cast_precision_loss, reason = "numbers are compared as doubles")]
impl<'de> Visitor<'de> for Like<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the expected value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        demand(matches!(self.0, Pattern::Any | Pattern::Constant(None)))
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<(), E> {
        demand(matches!(self.0, Pattern::Any) || *self.0 == Pattern::Constant(Some(flag)))
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.number(number as f64)
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.number(number)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        demand(match self.0 {
            Pattern::Any => true,
            Pattern::Text(expected) => **expected == *text,
            _ => false,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        let parts = match self.0 {
            Pattern::Array(parts) => parts,
            Pattern::Any => {
                while elements.next_element_seed(self)?.is_some() {}
                return Ok(());
            }
            _ => return demand(false),
        };
        for part in parts {
            let is_there = elements.next_element_seed(Like(part))?.is_some();
            demand(is_there)?;
        }
        let has_ended = elements.next_element::<IgnoredAny>()?.is_none();
        demand(has_ended)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let parts = match self.0 {
            Pattern::Object(parts) => parts,
            Pattern::Any => {
                let mut seen = HashSet::new();
                while let Some(MemberName(name)) = members.next_key()? {
                    demand(seen.insert(name))?;
                    members.next_value_seed(self)?;
                }
                return Ok(());
            }
            _ => return demand(false),
        };
        // Most testees write the members in the order of the pattern.
        let mut left: Vec<&(Box<str>, Pattern)> = parts.iter().rev().collect();
        while let Some(MemberName(name)) = members.next_key()? {
            let Some(place) = left.iter().rposition(|(expected, _)| **expected == *name) else {
                return demand(false);
            };
            members.next_value_seed(Like(&left.remove(place).1))?;
        }
        demand(left.is_empty())
    }
}

/// The name of a member, copied only where it holds an escape.
#[derive(serde::Deserialize)]
struct MemberName<'a>(#[serde(borrow)] Cow<'a, str>);

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn matches_json(expected: &Value, json: &str) -> bool {
        Pattern::read(expected).expect("a pattern").matches_json(json.as_bytes())
    }

    #[test]
    fn spelling_and_order_do_not_matter() {
        let expected = json!({"a": [1, "é\n", null, true], "b": {"c": -0.5, "lines": 7}});
        for json in [
            "{\"a\":[1,\"é\\n\",null,true],\"b\":{\"c\":-0.5,\"lines\":7}}",
            " { \"b\" : {\"lines\":7.0, \"c\":-5e-1}, \"\\u0061\": [1.0, \"\\u00e9\\u000A\", null, true ] }\t",
        ] {
            assert!(matches_json(&expected, json), "{json}");
        }
        assert!(matches_json(&json!(9_007_199_254_740_993_u64), "9007199254740992.0"));
        assert!(matches_json(&json!({"lines": ["a", "b"]}), "\"a\\nb\""));
    }

    #[test]
    fn anything_else_does_not_match() {
        let expected = json!({"a": [1, "x"]});
        for json in [
            "",
            "{}",
            "[1,\"x\"]",
            r#"{"a":[1,"x"]"#,
            r#"{"a":[1,"x"]}}"#,
            r#"{"a":[1,"x"]},"b":1"#,
            r#"{"a":[1,"x"],"b":null}"#,
            r#"{"a":[1,"x"],"a":[1,"x"]}"#,
            r#"{"a":[1]}"#,
            r#"{"a":[1,"x",2]}"#,
            r#"{"a":["x",1]}"#,
            r#"{"a":[1,"X"]}"#,
            r#"{"a":["1","x"]}"#,
            r#"{"a":null}"#,
            "{\"a\":[1,\"x\n\"]}",
        ] {
            assert!(!matches_json(&expected, json), "{json}");
        }
        assert!(!matches_json(&json!("\u{fffd}"), r#""\ud800""#));
        assert!(!matches_json(&json!(1), "1 1"));
        assert!(!matches_json(&json!(f64::MAX), "1e999"));
        assert!(!Pattern::Text("\u{fffd}".into()).matches_json(b"\"\xff\""));
        // The pattern leaves a choice.
        assert!(!matches_json(&json!({"includes": [1]}), "[1]"));
    }

    #[test]
    fn anything_matches_any_if_it_can_be_read() {
        let any = json!({"any": true});
        for json in ["1", "-0.5", "null", "true", "\"\\u00e9\"", "[[], {}, {\"a\": [1, {\"a\": null}]}]"] {
            assert!(matches_json(&any, json), "{json}");
        }
        let around = json!({"a": {"any": true}, "b": 1});
        assert!(matches_json(&around, r#"{"b":1,"a":{"b":[2]}}"#));
        for json in ["", "[1", "{\"a\":1,\"a\":1}", "[{\"a\":1,\"a\":2}]", "\"\\ud800\"", "1e999", "1 1"] {
            assert!(!matches_json(&any, json), "{json}");
        }
        assert!(!matches_json(&around, r#"{"b":2,"a":{"b":1}}"#));
        assert!(!Pattern::Any.matches_json(b"\"\xff\""));
    }
}
