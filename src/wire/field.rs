//! Reads members of JSON objects, with errors that name them.

use serde_json::{Map, Value};

use crate::{Error, ToolCall};

/// A value in foreign JSON and the path to it, so that every error names its field. An absent value is `null`.
pub(super) struct Field<'a> {
    value: &'a Value,
    path: String,
}

impl<'a> Field<'a> {
    /// A message as a whole.
    pub(super) fn root(value: &'a Value) -> Result<Self, Error> {
        if value.is_object() {
            Ok(Self { value, path: String::new() })
        } else {
            Err(Error::field_of_event("message", "expected an object"))
        }
    }

    pub(super) fn get(&self, name: &str) -> Self {
        let separator = if self.path.is_empty() { "" } else { "." };
        Self { value: &self.value[name], path: format!("{}{separator}{name}", self.path) }
    }

    pub(super) fn value(&self) -> &'a Value {
        self.value
    }

    pub(super) fn is_absent(&self) -> bool {
        self.value.is_null()
    }

    pub(super) fn is_string(&self) -> bool {
        self.value.is_string()
    }

    pub(super) fn error(&self, reason: impl Into<String>) -> Error {
        Error::field_of_event(&*self.path, reason)
    }

    pub(super) fn string(&self) -> Result<&'a str, Error> {
        self.value.as_str().ok_or_else(|| self.expected("a string"))
    }

    /// A string; none if absent.
    pub(super) fn optional_string(&self) -> Result<Option<&'a str>, Error> {
        if self.is_absent() { Ok(None) } else { self.string().map(Some) }
    }

    /// The members of an object; none if absent.
    pub(super) fn members(&self) -> Result<Map<String, Value>, Error> {
        match self.value {
            Value::Null => Ok(Map::new()),
            Value::Object(members) => Ok(members.clone()),
            _ => Err(self.expected("an object")),
        }
    }

    /// The elements of an array; none if absent.
    pub(super) fn elements(&self) -> Result<impl Iterator<Item = Self> + use<'a, '_>, Error> {
        let elements = match self.value {
            Value::Null => &[],
            Value::Array(elements) => &**elements,
            _ => return Err(self.expected("an array")),
        };
        let element = |(position, value)| Self { value, path: format!("{}[{position}]", self.path) };
        Ok(elements.iter().enumerate().map(element))
    }

    /// A text: a string, or a list of text parts, which are joined by LF. Empty if absent.
    pub(super) fn text(&self) -> Result<String, Error> {
        Ok(self.texts(&[])?.join("\n"))
    }

    /// The parts of a text, without those of the types to skip.
    pub(super) fn texts(&self, skip: &[&str]) -> Result<Vec<&'a str>, Error> {
        if self.is_string() {
            return Ok(vec![self.string()?]);
        }
        let parts = self.elements()?.filter(|part| !skip.iter().any(|kind| part.value["type"] == *kind));
        parts.map(|part| part.text_part()).collect()
    }

    fn text_part(&self) -> Result<&'a str, Error> {
        if self.is_string() {
            return self.string();
        }
        match self.get("type").string()? {
            "text" | "input_text" | "output_text" => self.get("text").string(),
            "refusal" => self.get("refusal").string(),
            _ => Err(self.not_for_a_thread()),
        }
    }

    /// The error about a part of a message that a thread has no place for.
    pub(super) fn not_for_a_thread(&self) -> Error {
        let reason = format!("unexpected {}: a thread holds text and tool calls only", self.value["type"]);
        self.get("type").error(reason)
    }

    /// A tool call whose arguments are a JSON object in this member.
    pub(super) fn tool_call(&self, args: &str) -> Result<ToolCall, Error> {
        Ok(ToolCall {
            id: self.get("id").string()?.to_owned(),
            name: self.get("name").string()?.to_owned(),
            args: self.get(args).members()?,
        })
    }

    fn expected(&self, what: &str) -> Error {
        self.error(if self.is_absent() { format!("missing, expected {what}") } else { format!("expected {what}") })
    }
}
