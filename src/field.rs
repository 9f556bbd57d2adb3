//! Reads members of JSON objects by their names, with errors that name them.

use crate::Error;
use crate::surrogates::without_marks;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// The largest integer up to which a double holds every integer exactly: 2^53 - 1.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// A value of a JSON input with the path to it, so that every error names the field and what was expected there.
///
/// Nothing is converted: each method that reads a type refuses every other type.
///
/// ```
/// use serde_json::json;
/// use threadspec::Field;
/// let input = json!({"turns": [{"limit": 3.0}, {"limit": "3"}]});
/// let turns: Vec<_> = Field::root(&input, "input").get("turns").elements()?.collect();
/// assert_eq!(turns[0].get("limit").integer()?, 3);
/// let error = turns[1].get("limit").integer().unwrap_err();
/// assert_eq!(error.to_string(), "turns[1].limit: expected an integer from 0 to 2^53-1, found a string");
/// # Ok::<(), threadspec::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Field<'a> {
    value: Option<&'a Value>,
    path: String,
    is_root: bool,
}

impl<'a> Field<'a> {
    /// The whole input. `name` appears only in errors about the input itself, not in the paths of its members.
    pub fn root(value: &'a Value, name: &str) -> Self {
        Self { value: Some(value), path: name.to_owned(), is_root: true }
    }

    /// A member; absent if the value has no member of this name, or is not an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Self {
        let value = self.value.and_then(|value| value.get(name));
        let path = if self.is_root { name.to_owned() } else { format!("{}.{name}", self.path) };
        Self { value, path, is_root: false }
    }

    /// The field itself, or nothing if it is absent or null.
    pub fn optional(&self) -> Option<&Self> {
        self.value.is_some_and(|value| !value.is_null()).then_some(self)
    }

    /// The value, if the field is present; null is a value.
    pub fn value(&self) -> Option<&'a Value> {
        self.value
    }

    /// The text of a string; a lone surrogate in it is U+FFFD (INP-SURROGATE).
    ///
    /// # Errors
    /// If it is anything else.
    pub fn string(&self) -> Result<Cow<'a, str>, Error> {
        self.value.and_then(Value::as_str).map(without_marks).ok_or_else(|| self.expected("a string"))
    }

    /// A boolean.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn boolean(&self) -> Result<bool, Error> {
        self.value.and_then(Value::as_bool).ok_or_else(|| self.expected("a boolean"))
    }

    /// An integer from 0 to 2^53 - 1, in any spelling: `1.0` is one, and `-0` is 0 (INP-1).
    ///
    /// # Errors
    /// If it is anything else.
    pub fn integer(&self) -> Result<u64, Error> {
        const EXPECTED: &str = "an integer from 0 to 2^53-1";
        let Some(Value::Number(number)) = self.value else { return Err(self.expected(EXPECTED)) };
        let integer = number.as_u64().or_else(|| number.as_f64().and_then(integral));
        integer
            .filter(|&integer| integer <= MAX_SAFE_INTEGER)
            .ok_or_else(|| self.error(format!("expected {EXPECTED}, found {number}")))
    }

    /// The members of an object, as data: lone surrogates stay marked ([`surrogates`](crate::surrogates)).
    ///
    /// # Errors
    /// If it is anything else.
    pub fn object(&self) -> Result<&'a Map<String, Value>, Error> {
        self.value.and_then(Value::as_object).ok_or_else(|| self.expected("an object"))
    }

    /// The members of an object, each as a field.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn members(&self) -> Result<impl Iterator<Item = (&'a str, Self)> + use<'a>, Error> {
        let field = self.clone();
        Ok(self.object()?.keys().map(move |name| (name.as_str(), field.get(name))))
    }

    /// The elements of an array.
    ///
    /// # Errors
    /// If it is anything else.
    pub fn elements(&self) -> Result<impl Iterator<Item = Self> + use<'a>, Error> {
        let elements = self.value.and_then(Value::as_array).ok_or_else(|| self.expected("an array"))?;
        let list = self.path.clone();
        let element = move |(position, value)| {
            let path = format!("{list}[{position}]");
            Self { value: Some(value), path, is_root: false }
        };
        Ok(elements.iter().enumerate().map(element))
    }

    /// An error about this field.
    pub fn error(&self, reason: impl Into<String>) -> Error {
        Error::of_field(&*self.path, reason)
    }

    /// The error about a field that is not what was expected.
    pub(crate) fn expected(&self, what: &str) -> Error {
        self.error(match self.value {
            None => format!("missing, expected {what}"),
            Some(value) => format!("expected {what}, found {}", kind_of(value)),
        })
    }
}

/// The integer, if a double is one; `1.0` and `-0` are.
fn integral(double: f64) -> Option<u64> {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "guarded: integral and in range")]
    let integer = double as u64;
    #[expect(clippy::cast_precision_loss, clippy::float_cmp, reason = "what is not exactly the same is refused")]
    let same = integer as f64 == double;
    same.then_some(integer)
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

// Members of JSON objects by their names.

/// Members of JSON objects by their names.
///
/// Objects of requests have few members: a look at all of them costs less than a hash, with which `value["name"]` finds one.
pub trait MemberLookup {
    /// The member of this name; null if there is none.
    ///
    /// ```
    /// use serde_json::json;
    /// use threadspec::MemberLookup;
    /// let call = json!({"function": {"name": "t"}});
    /// assert_eq!(call.member("function").member("name"), "t");
    /// assert!(call.member("id").member("name").is_null());
    /// ```
    fn member(&self, name: &str) -> &Value;
}

impl MemberLookup for Value {
    fn member(&self, name: &str) -> &Value {
        /// In larger objects a hash is faster.
        const FEW: usize = 16;
        match self {
            Self::Object(members) if members.len() <= FEW => {
                members.iter().find(|(known, _)| *known == name).map_or(&Self::Null, |(_, value)| value)
            }
            other => &other[name],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(json: &str) -> Result<u64, String> {
        let value = serde_json::from_str(json).expect("a test's JSON parses");
        Field::root(&value, "n").integer().map_err(|error| error.to_string())
    }

    #[test]
    fn an_integer_is_one_that_a_double_holds() {
        for (json, expected) in [("0", 0), ("-0", 0), ("1.0", 1), ("2e3", 2000), ("9007199254740991", MAX_SAFE_INTEGER)]
        {
            assert_eq!(integer(json), Ok(expected), "{json}");
        }
        for (json, found) in [
            ("-1", "-1"),
            ("0.5", "0.5"),
            ("9007199254740992", "9007199254740992"),
            ("1e300", "1e+300"),
            ("18446744073709551616", "1.8446744073709552e+19"),
            ("\"1\"", "a string"),
            ("null", "null"),
            ("[1]", "an array"),
        ] {
            let message = format!("n: expected an integer from 0 to 2^53-1, found {found}");
            assert_eq!(integer(json), Err(message), "{json}");
        }
    }
}
