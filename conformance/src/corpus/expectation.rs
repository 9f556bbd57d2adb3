//! Expected values: JSON with four matchers in it, and where an actual value departs from it.

use crate::json::HALF;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// An expected value, read from a case.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `{"any": true}`.
    Any,
    /// A string, or `{"lines": […]}`.
    Text(String),
    /// A number, compared by value as a double.
    Number(f64),
    /// `null`, `true` or `false`.
    Constant(Value),
    /// An array of the same length.
    Array(Vec<Pattern>),
    /// An object with the same members in any order.
    Object(Vec<(String, Pattern)>),
    /// `{"includes": […]}`: these in this order, others may stand between.
    Includes(Vec<Pattern>),
}

/// One departure from an expected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Where, as a JSON Pointer; empty for the whole value.
    pub path: String,
    /// What the two sides are.
    pub sides: Sides,
}

/// The two sides of a mismatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Two strings, to be compared character by character.
    Texts {
        /// The expected string.
        expected: String,
        /// The actual string.
        actual: String,
    },
    /// Descriptions of anything else.
    Values {
        /// What was expected.
        expected: String,
        /// What was there.
        actual: String,
    },
}

impl Pattern {
    /// Reads a pattern from the JSON of a case.
    ///
    /// # Errors
    ///
    /// Says which matcher is malformed. An object that only looks like a matcher must be wrapped in `literally`.
    pub fn read(value: &Value) -> Result<Self, String> {
        if let Value::Object(members) = value
            && members.len() == 1
            && let Some((name, content)) = members.iter().next()
            && let Some(matcher) = Self::matcher(name, content)
        {
            return matcher;
        }
        match value {
            Value::Array(elements) => Ok(Self::Array(elements.iter().map(Self::read).collect::<Result<_, _>>()?)),
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| Ok((key.clone(), Self::read(value)?));
                Ok(Self::Object(members.iter().map(member).collect::<Result<_, String>>()?))
            }
            scalar => Ok(Self::literal(scalar)),
        }
    }

    /// Whether there is a matcher in the JSON of a case.
    pub(super) fn is_in(value: &Value) -> bool {
        match value {
            Value::Array(elements) => elements.iter().any(Self::is_in),
            Value::Object(members) => {
                let only = members.iter().next().filter(|_| members.len() == 1);
                only.is_some_and(|(name, content)| Self::matcher(name, content).is_some())
                    || members.values().any(Self::is_in)
            }
            _ => false,
        }
    }

    fn matcher(name: &str, content: &Value) -> Option<Result<Self, String>> {
        Some(match (name, content) {
            ("any", Value::Bool(true)) => Ok(Self::Any),
            ("lines", Value::Array(lines)) => lines
                .iter()
                .map(|line| line.as_str().ok_or_else(|| "`lines` takes strings only".to_owned()))
                .collect::<Result<Vec<_>, _>>()
                .map(|lines| Self::Text(lines.join("\n"))),
            ("includes", Value::Array(parts)) if !parts.is_empty() => {
                parts.iter().map(Self::read).collect::<Result<_, _>>().map(Self::Includes)
            }
            ("literally", value) => Ok(Self::literal(value)),
            ("any" | "lines" | "includes", _) => Err(format!(
                "malformed matcher `{name}`: {content}; data that looks like a matcher goes in `literally`"
            )),
            _ => return None,
        })
    }

    fn literal(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.clone()),
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(elements) => Self::Array(elements.iter().map(Self::literal).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (key.clone(), Self::literal(value))).collect())
            }
            constant => Self::Constant(constant.clone()),
        }
    }

    /// The one value that matches; none where several would do.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Any | Self::Includes(_) => None,
            Self::Text(text) => Some(text.as_str().into()),
            // Small integers are written as such.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                format!("{number:.0}").parse::<i64>().ok().map(Value::from)
            }
            Self::Number(number) => Some((*number).into()),
            Self::Constant(constant) => Some(constant.clone()),
            Self::Array(elements) => elements.iter().map(Self::value).collect(),
            Self::Object(members) => members
                .iter()
                .map(|(key, value)| Some((key.clone(), value.value()?)))
                .collect::<Option<_>>()
                .map(Value::Object),
        }
    }

    /// Whether a value is as expected.
    pub fn matches(&self, actual: &Value) -> bool {
        match (self, actual) {
            (Self::Any, _) => true,
            (Self::Text(expected), Value::String(actual)) => expected == actual,
            (Self::Number(expected), Value::Number(actual)) => actual.as_f64() == Some(*expected),
            (Self::Constant(expected), actual) => expected == actual,
            (Self::Array(expected), Value::Array(actual)) => {
                expected.len() == actual.len() && expected.iter().zip(actual).all(|(one, other)| one.matches(other))
            }
            (Self::Object(expected), Value::Object(actual)) => {
                let has =
                    |(key, expected): &(String, Self)| actual.get(key).is_some_and(|actual| expected.matches(actual));
                expected.len() == actual.len() && expected.iter().all(has)
            }
            (Self::Includes(parts), actual) => missing_part(parts, actual).is_none(),
            _ => false,
        }
    }

    /// Where the actual value departs from the pattern; empty if it does not.
    pub fn mismatches(&self, actual: &Value) -> Vec<Mismatch> {
        let mut found = Vec::new();
        self.compare(actual, String::new, &mut found);
        found
    }

    fn compare(&self, actual: &Value, path: impl Fn() -> String, found: &mut Vec<Mismatch>) {
        if self.matches(actual) {
            return;
        }
        let path = path();
        let sides = match (self, actual) {
            (Self::Array(expected), Value::Array(actual)) => return compare_arrays(expected, actual, &path, found),
            (Self::Object(expected), Value::Object(actual)) => return compare_objects(expected, actual, &path, found),
            (Self::Text(expected), Value::String(actual)) => {
                Sides::Texts { expected: expected.clone(), actual: readable(actual) }
            }
            (Self::Includes(parts), actual @ (Value::Array(_) | Value::String(_))) => {
                let index = missing_part(parts, actual).unwrap_or_default();
                values(&format!("{} (part {index}, in this order)", parts[index].describe()), actual)
            }
            _ => values(&self.describe(), actual),
        };
        found.push(Mismatch { path, sides });
    }

    /// The pattern as a person would read it, close to the JSON of the case.
    pub fn describe(&self) -> String {
        let list = |parts: &[Self]| parts.iter().map(Self::describe).collect::<Vec<_>>().join(", ");
        match self {
            Self::Any => "anything".to_owned(),
            Self::Text(text) => Value::from(text.as_str()).to_string(),
            Self::Number(_) => self.value().unwrap_or_default().to_string(),
            Self::Constant(constant) => constant.to_string(),
            Self::Array(elements) => format!("[{}]", list(elements)),
            Self::Includes(parts) => format!("something that includes [{}]", list(parts)),
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("\"{key}\": {}", value.describe()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

fn values(expected: &str, actual: &Value) -> Sides {
    Sides::Values { expected: expected.to_owned(), actual: readable(&actual.to_string()) }
}

/// The number of the first part that a list or a text does not have behind the parts before.
fn missing_part(parts: &[Pattern], actual: &Value) -> Option<usize> {
    match actual {
        Value::Array(elements) => {
            let mut rest = elements.iter();
            parts.iter().position(|part| !rest.any(|element| part.matches(element)))
        }
        Value::String(text) => {
            let mut rest = text.as_str();
            parts.iter().position(|part| {
                let after = match part {
                    Pattern::Text(part) => rest.find(part.as_str()).map(|at| &rest[at + part.len()..]),
                    _ => None,
                };
                rest = after.unwrap_or_default();
                after.is_none()
            })
        }
        _ => Some(0),
    }
}

/// What a testee wrote, with words for what no string can hold.
fn readable(actual: &str) -> String {
    actual.replace(HALF, "<half a surrogate pair>")
}

fn nothing(path: String, expected: String, actual: &str, found: &mut Vec<Mismatch>) {
    found.push(Mismatch { path, sides: Sides::Values { expected, actual: readable(actual) } });
}

fn compare_arrays(expected: &[Pattern], actual: &[Value], path: &str, found: &mut Vec<Mismatch>) {
    for index in 0..expected.len().max(actual.len()) {
        let path = || format!("{path}/{index}");
        match (expected.get(index), actual.get(index)) {
            (Some(expected), Some(actual)) => expected.compare(actual, path, found),
            (Some(expected), None) => nothing(path(), expected.describe(), "nothing: the list ends here", found),
            (None, Some(actual)) => nothing(path(), "nothing: the list ends here".into(), &actual.to_string(), found),
            (None, None) => {}
        }
    }
}

fn compare_objects(expected: &[(String, Pattern)], actual: &Map<String, Value>, path: &str, found: &mut Vec<Mismatch>) {
    let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    for (key, expected) in expected {
        match actual.get(key) {
            Some(actual) => expected.compare(actual, || below(key), found),
            None => nothing(below(key), expected.describe(), "no such member", found),
        }
    }
    let known: HashSet<&str> = expected.iter().map(|(key, _)| key.as_str()).collect();
    for (key, actual) in actual.iter().filter(|(key, _)| !known.contains(key.as_str())) {
        nothing(below(key), "no such member".into(), &actual.to_string(), found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expected: &Value, actual: &Value) -> Vec<String> {
        let pattern = Pattern::read(expected).expect("a pattern");
        pattern.mismatches(actual).into_iter().map(|mismatch| mismatch.path).collect()
    }

    #[test]
    fn plain_values_compare_as_json() {
        assert!(paths(&json!({"a": 1, "b": [null, true]}), &json!({"b": [null, true], "a": 1.0})).is_empty());
        assert!(paths(&json!(9_007_199_254_740_993_u64), &json!(9_007_199_254_740_992.0)).is_empty());
        assert_eq!(paths(&json!({"a": {"b/c": "x"}}), &json!({"a": {"b/c": "y"}})), ["/a/b~1c"]);
        assert_eq!(paths(&json!({"a": 1}), &json!({"b": 1})), ["/a", "/b"]);
        assert_eq!(paths(&json!([1]), &json!([1, 2])), ["/1"]);
        assert_eq!(paths(&json!([1, 2]), &json!([1])), ["/1"]);
        assert_eq!(paths(&json!("1"), &json!(1)), [""]);
        assert_eq!(paths(&json!(null), &json!(false)), [""]);
    }

    #[test]
    fn lines_are_joined_by_lf() {
        assert!(paths(&json!({"lines": ["a", "b"]}), &json!("a\nb")).is_empty());
        assert_eq!(paths(&json!({"lines": ["a", "b"]}), &json!("a\r\nb")), [""]);
        assert!(paths(&json!({"lines": []}), &json!("")).is_empty());
    }

    #[test]
    fn includes_keeps_the_order() {
        assert!(paths(&json!({"includes": ["a", "b"]}), &json!("xaxbx")).is_empty());
        assert_eq!(paths(&json!({"includes": ["b", "a"]}), &json!("xaxbx")), [""]);
        assert_eq!(paths(&json!({"includes": ["aa", "aa"]}), &json!("aaa")), [""]);
        let messages = json!([{"type": "human"}, {"type": "ai"}, {"type": "tool"}]);
        assert!(paths(&json!({"includes": [{"type": "human"}, {"type": {"any": true}}]}), &messages).is_empty());
        assert_eq!(paths(&json!({"includes": [{"type": "tool"}, {"type": "ai"}]}), &messages), [""]);
    }

    #[test]
    fn literally_is_data() {
        assert!(paths(&json!({"literally": {"any": true}}), &json!({"any": true})).is_empty());
        assert_eq!(paths(&json!({"literally": {"any": true}}), &json!(1)), [""]);
        assert!(paths(&json!({"any": true, "b": 1}), &json!({"any": true, "b": 1})).is_empty());
    }

    #[test]
    fn malformed_matchers_are_refused() {
        for value in [json!({"any": 1}), json!({"lines": "a"}), json!({"lines": [1]}), json!([{"includes": []}])] {
            assert!(Pattern::read(&value).is_err(), "{value}");
        }
    }
}
