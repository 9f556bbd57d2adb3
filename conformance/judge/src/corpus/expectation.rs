//! Expected values: JSON with four matchers in it, and where an actual value differs.

use super::mismatch::{self, Mismatches, Next, Side, SideKind, TYPE, excerpts, texts, values};
use crate::error::Error;
use serde_json::{Map, Value};
use std::collections::HashSet;

/// Shown where one side has no value.
pub const NOTHING: &str = "nothing";

/// An expected value, read from a case. Large cases have a hundred thousand of them, so each is small.
#[derive(Clone, Debug, PartialEq)]
pub enum Pattern {
    /// `{"any": true}`.
    Any,
    /// A string, or `{"lines": […]}`.
    Text(Box<str>),
    /// A number, compared by value as a double.
    Number(f64),
    /// `null`, `true` or `false`.
    Constant(Option<bool>),
    /// An array of the same length.
    Array(Box<[Pattern]>),
    /// An object with the same members in any order.
    Object(Box<[(Box<str>, Pattern)]>),
    /// `{"includes": […]}`: these in this order, others may be between.
    Includes(Box<[Pattern]>),
}

impl Pattern {
    /// Reads a pattern from the JSON of a case.
    ///
    /// # Errors
    ///
    /// Says which matcher is malformed. An object that only looks like a matcher must be wrapped in `literally`.
    pub fn read(value: &Value) -> Result<Self, Error> {
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
                let member = |(key, value): (&String, &Value)| Ok((key.as_str().into(), Self::read(value)?));
                Ok(Self::Object(members.iter().map(member).collect::<Result<_, Error>>()?))
            }
            scalar => Ok(Self::literal(scalar)),
        }
    }

    /// Returns whether there is a matcher in the JSON of a case.
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

    fn matcher(name: &str, content: &Value) -> Option<Result<Self, Error>> {
        Some(match (name, content) {
            ("any", Value::Bool(true)) => Ok(Self::Any),
            ("lines", Value::Array(lines)) => lines
                .iter()
                .map(|line| line.as_str().ok_or_else(|| Error::new("`lines` takes strings only")))
                .collect::<Result<Vec<_>, _>>()
                .map(|lines| Self::Text(lines.join("\n").into())),
            ("includes", Value::Array(parts)) if !parts.is_empty() => {
                parts.iter().map(Self::read).collect::<Result<_, _>>().map(Self::Includes)
            }
            ("literally", value) => Ok(Self::literal(value)),
            ("any" | "lines" | "includes", _) => Err(Error::new(format_args!(
                "malformed matcher `{name}`: {content}; data that looks like a matcher goes in `literally`"
            ))),
            _ => return None,
        })
    }

    fn literal(value: &Value) -> Self {
        match value {
            Value::String(text) => Self::Text(text.as_str().into()),
            Value::Number(number) => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::Array(elements) => Self::Array(elements.iter().map(Self::literal).collect()),
            Value::Object(members) => {
                Self::Object(members.iter().map(|(key, value)| (key.as_str().into(), Self::literal(value))).collect())
            }
            Value::Bool(_) | Value::Null => Self::Constant(value.as_bool()),
        }
    }

    /// The only value that matches; none where several would.
    pub fn value(&self) -> Option<Value> {
        match self {
            Self::Any | Self::Includes(_) => None,
            Self::Text(text) => Some((&**text).into()),
            // Small integers are written as such.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => {
                format!("{number:.0}").parse::<i64>().ok().map(Value::from)
            }
            Self::Number(number) => Some((*number).into()),
            Self::Constant(constant) => Some((*constant).into()),
            Self::Array(elements) => elements.iter().map(Self::value).collect(),
            Self::Object(members) => members
                .iter()
                .map(|(key, value)| Some((key.to_string(), value.value()?)))
                .collect::<Option<_>>()
                .map(Value::Object),
        }
    }

    /// About how many bytes it takes.
    pub(super) fn size(&self) -> usize {
        let own = size_of::<Self>();
        own + match self {
            Self::Any | Self::Number(_) | Self::Constant(_) => 0,
            Self::Text(text) => text.len(),
            Self::Array(parts) | Self::Includes(parts) => parts.iter().map(Self::size).sum(),
            Self::Object(members) => members.iter().map(|(name, part)| name.len() + part.size()).sum(),
        }
    }

    /// Returns whether a value matches.
    pub fn matches(&self, actual: &Value) -> bool {
        match (self, actual) {
            (Self::Any, _) => true,
            (Self::Text(expected), Value::String(actual)) => **expected == **actual,
            (Self::Number(expected), Value::Number(actual)) => actual.as_f64() == Some(*expected),
            (Self::Constant(expected), Value::Bool(actual)) => *expected == Some(*actual),
            (Self::Constant(expected), Value::Null) => expected.is_none(),
            (Self::Array(expected), Value::Array(actual)) => {
                expected.len() == actual.len() && expected.iter().zip(actual).all(|(part, actual)| part.matches(actual))
            }
            (Self::Object(expected), Value::Object(actual)) => {
                let fits =
                    |(key, part): &(Box<str>, Self)| actual.get(&**key).is_some_and(|actual| part.matches(actual));
                expected.len() == actual.len() && expected.iter().all(fits)
            }
            (Self::Includes(parts), Value::Array(_) | Value::String(_)) => first_missing(parts, actual).is_none(),
            _ => false,
        }
    }

    /// Where the actual value differs from the pattern; nowhere if it matches.
    pub fn mismatches(&self, actual: &Value) -> Mismatches {
        let mut found = Mismatches::default();
        self.compare(actual, String::new, &mut found);
        found
    }

    fn compare(&self, actual: &Value, path: impl Fn() -> String, found: &mut Mismatches) {
        if self.matches(actual) {
            return;
        }
        let path = path();
        match (self, actual) {
            (Self::Array(expected), Value::Array(actual)) => compare_arrays(expected, actual, &path, found),
            (Self::Object(expected), Value::Object(actual)) => compare_objects(expected, actual, &path, found),
            (Self::Text(expected), Value::String(actual)) => {
                let [expected, actual] = excerpts(expected, actual);
                found.add(texts(path, expected, &actual));
            }
            (Self::Includes(parts), Value::Array(_) | Value::String(_)) => {
                let Some((index, from)) = first_missing(parts, actual) else { return };
                let closest = actual.as_array().and_then(|elements| closest_list(&parts[index], elements, from, &path));
                if let Some(closest) = closest {
                    found.append(closest);
                } else {
                    // All that was sent, unless the part is in it too early.
                    let is_early = |all: &Vec<Value>| all[..from].iter().any(|element| parts[index].matches(element));
                    let from = if actual.as_array().is_some_and(is_early) { from } else { 0 };
                    let [part, sent] = Side::without_part(&parts[index].side(), &rest(&parts[..index], from, actual));
                    found.add(values(path, part, sent));
                }
            }
            _ => found.add(values(path, self.side(), Side::actual(actual))),
        }
    }

    /// The pattern as a side of a mismatch.
    fn side(&self) -> Side {
        let name = |(key, value): &(Box<str>, Self)| match value {
            Self::Text(name) if **key == *TYPE => Some(name.to_string()),
            _ => None,
        };
        let kind = match self {
            Self::Any | Self::Constant(_) => SideKind::Other,
            Self::Text(_) => SideKind::String,
            Self::Number(_) => SideKind::Number,
            Self::Array(_) => SideKind::List,
            Self::Object(members) => members.iter().find_map(name).map_or(SideKind::Object, SideKind::Typed),
            Self::Includes(_) => SideKind::Including,
        };
        Side::expected(kind, &self.describe())
    }

    /// The pattern as a person would read it, close to the JSON of the case.
    pub fn describe(&self) -> String {
        let list = |parts: &[Self]| parts.iter().map(Self::describe).collect::<Vec<_>>().join(", ");
        match self {
            Self::Any => "anything".to_owned(),
            Self::Text(text) => Value::from(&**text).to_string(),
            Self::Number(_) => self.value().unwrap_or_default().to_string(),
            Self::Constant(constant) => Value::from(*constant).to_string(),
            Self::Array(elements) => format!("[{}]", list(elements)),
            Self::Includes(parts) => format!("something that includes [{}]", list(parts)),
            Self::Object(members) => {
                let members = members.iter().map(|(key, value)| format!("\"{key}\": {}", value.describe()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// The first part that an array or a string does not have after the parts before it, and the element of an array from which on it was
/// sought.
fn first_missing(parts: &[Pattern], actual: &Value) -> Option<(usize, usize)> {
    match actual {
        Value::Array(elements) => {
            let mut from = 0;
            for (index, part) in parts.iter().enumerate() {
                match elements[from..].iter().position(|element| part.matches(element)) {
                    Some(at) => from += at + 1,
                    None => return Some((index, from)),
                }
            }
            None
        }
        actual => {
            let mut rest = actual.as_str().unwrap_or_default();
            let missing = parts.iter().position(|part| {
                let after = match part {
                    Pattern::Text(part) => rest.find(&**part).map(|at| &rest[at + part.len()..]),
                    _ => None,
                };
                rest = after.unwrap_or_default();
                after.is_none()
            });
            missing.map(|index| (index, 0))
        }
    }
}

/// Returns the rest of a list or a string behind these parts.
fn rest(parts: &[Pattern], from: usize, actual: &Value) -> Value {
    match actual {
        Value::Array(elements) => elements[from..].into(),
        actual => {
            let text = actual.as_str().unwrap_or_default();
            let behind = parts.iter().fold(text, |rest, part| match part {
                Pattern::Text(part) => rest.find(&**part).map_or(rest, |at| &rest[at + part.len()..]),
                _ => rest,
            });
            behind.into()
        }
    }
}

/// Where a list is expected: the differences of the closest list among the elements from `from` on. For anything else it is clearer to
/// say that it is missing.
fn closest_list(part: &Pattern, elements: &[Value], from: usize, path: &str) -> Option<Mismatches> {
    let lists = elements.iter().enumerate().skip(from).filter(|(_, element)| element.is_array());
    let differences = |(index, element): (usize, &Value)| {
        let mut found = Mismatches::default();
        part.compare(element, || format!("{path}/{index}"), &mut found);
        found
    };
    if matches!(part, Pattern::Array(_) | Pattern::Includes(_)) {
        lists.map(differences).min_by_key(Mismatches::len)
    } else {
        None
    }
}

/// A missing element is placed where it is expected, an extra one where it is.
fn compare_arrays(expected: &[Pattern], actual: &[Value], path: &str, found: &mut Mismatches) {
    let (mut here, mut there) = (0, 0);
    while here < expected.len() || there < actual.len() {
        match mismatch::next(&expected[here..], &actual[there..]) {
            Next::Pair => {
                expected[here].compare(&actual[there], || format!("{path}/{here}"), found);
                (here, there) = (here + 1, there + 1);
            }
            Next::Missing => {
                found.add(values(format!("{path}/{here}"), expected[here].side(), Side::nothing()));
                here += 1;
            }
            Next::Extra => {
                found.add(values(format!("{path}/{there}"), Side::nothing(), Side::actual(&actual[there])));
                there += 1;
            }
        }
    }
}

fn compare_objects(expected: &[(Box<str>, Pattern)], actual: &Map<String, Value>, path: &str, found: &mut Mismatches) {
    let below = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    for (key, expected) in expected {
        match actual.get(&**key) {
            Some(actual) => expected.compare(actual, || below(key), found),
            None => found.add(values(below(key), expected.side(), Side::nothing())),
        }
    }
    let known: HashSet<&str> = expected.iter().map(|(key, _)| &**key).collect();
    for (key, actual) in actual.iter().filter(|(key, _)| !known.contains(key.as_str())) {
        found.add(values(below(key), Side::nothing(), Side::actual(actual)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paths(expected: &Value, actual: &Value) -> Vec<String> {
        let pattern = Pattern::read(expected).expect("a pattern");
        pattern.mismatches(actual).kept.into_iter().map(|mismatch| mismatch.path).collect()
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
    fn a_missing_or_extra_element_moves_no_other() {
        let message = |kind: &str, text: &str| json!({"type": kind, "content": text});
        let all = json!([message("human", "a"), message("ai", "b"), message("tool", "c"), message("ai", "d")]);
        let without = |index: usize| {
            let mut some = all.clone();
            some.as_array_mut().expect("a list").remove(index);
            some
        };
        for index in 0..4 {
            assert_eq!(paths(&all, &without(index)), [format!("/{index}")]);
            assert_eq!(paths(&without(index), &all), [format!("/{index}")]);
        }
        // One is missing, and another one differs.
        let mut changed = without(2);
        changed[1]["content"] = "B".into();
        assert_eq!(paths(&all, &changed), ["/1/content", "/2"]);
        // An element of another type is not a changed one.
        assert_eq!(paths(&all, &json!([all[0], message("tool", "C"), all[3]])), ["/1", "/2/content"]);
        assert_eq!(paths(&json!([1, 2, 3]), &json!([1, 5, 3])), ["/1"]);
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
    fn of_lists_the_closest_one_is_shown() {
        let expected = json!({"includes": [["a", "b", "c"], {"includes": ["d", "e"]}]});
        assert_eq!(paths(&expected, &json!([["x"], ["a", "c"], ["d", "e"]])), ["/1/1"]);
        assert_eq!(paths(&expected, &json!([["a", "b", "c"], ["d"], []])), ["/1"]);
        assert_eq!(paths(&json!({"includes": [{"a": 1}]}), &json!([{"a": 2}])), [""]);
    }

    #[test]
    fn a_list_without_a_part_is_shown_whole_unless_the_part_is_too_early() {
        let shown = |expected: &Value, actual: &Value| {
            let found = Pattern::read(expected).expect("a pattern").mismatches(actual);
            found.kept[0].sides.shown()[1].to_string()
        };
        let actual = json!(["a", "b"]);
        assert_eq!(shown(&json!({"includes": ["a", "c"]}), &actual), r#"["a","b"]"#);
        assert_eq!(shown(&json!({"includes": ["b", "a"]}), &actual), "[]");
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
