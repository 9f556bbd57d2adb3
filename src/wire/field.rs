//! Reads members as real logs hold them: what is absent is empty, and a text may be a list of its parts.

use crate::{Error, Field, ToolCall};
use serde_json::{Map, Value};
use std::borrow::Cow;

impl<'a> Field<'a> {
    /// The elements of an array; none if absent or null.
    pub(super) fn list(&self) -> Result<Vec<Self>, Error> {
        self.optional().map_or(Ok(Vec::new()), |list| Ok(list.elements()?.collect()))
    }

    /// A text: a string, or a list of text parts, which are joined by LF. Empty if absent.
    pub(super) fn text(&self) -> Result<String, Error> {
        Ok(self.texts(&[])?.join("\n"))
    }

    /// The parts of a text, without those of the types to skip.
    pub(super) fn texts(&self, skip: &[&str]) -> Result<Vec<Cow<'a, str>>, Error> {
        if self.is_string() {
            return Ok(vec![self.string()?]);
        }
        let parts = self.list()?.into_iter();
        parts.filter(|part| !skip.contains(&part.kind())).map(|part| part.text_part()).collect()
    }

    pub(super) fn is_string(&self) -> bool {
        self.value().is_some_and(Value::is_string)
    }

    fn kind(&self) -> &'a str {
        self.value().and_then(|value| value.get("type")).and_then(Value::as_str).unwrap_or_default()
    }

    fn text_part(&self) -> Result<Cow<'a, str>, Error> {
        if self.is_string() {
            return self.string();
        }
        match &*self.get("type").string()? {
            "text" | "input_text" | "output_text" => self.get("text").string(),
            "refusal" => self.get("refusal").string(),
            _ => Err(self.not_for_a_thread()),
        }
    }

    /// The error about a part of a message that a thread has no place for.
    pub(super) fn not_for_a_thread(&self) -> Error {
        let reason = format!("unexpected {:?}: a thread holds text and tool calls only", self.kind());
        self.get("type").error(reason)
    }

    /// A tool call whose arguments are a JSON object in this member.
    pub(super) fn tool_call(&self, args: &str) -> Result<ToolCall, Error> {
        Ok(ToolCall {
            id: self.get("id").string()?.into_owned(),
            name: self.get("name").string()?.into_owned(),
            args: self.get(args).optional().map_or(Ok(Map::new()), |args| args.object().cloned())?,
        })
    }
}
