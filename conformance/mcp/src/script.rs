//! Reads the script of an MCP server: its tools, and the results of their calls.

use rmcp::model::ContentBlock;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::collections::HashSet;
use threadspec_judge::universal::value;

/// Tools, and the results of their calls.
///
/// ```
/// use threadspec_mcp::McpScript;
/// let script = McpScript::read(r#"{"tools": {"look": {"calls": [{"args": {"path": "a.txt"}, "text": "ok"}]}}}"#)?;
/// let (name, look) = &script.tools[0];
/// assert_eq!((name.as_str(), look.schema().to_string()), ("look", r#"{"type":"object","properties":{"path":{"type":"string"}}}"#.to_owned()));
/// assert_eq!(McpScript::read(r#"{"tools": {"look": {"call": []}}}"#).map_err(|why| why.contains("unknown field `call`")).err(), Some(true));
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpScript {
    /// The tools by their names, in the order in which they are declared.
    pub tools: Vec<(String, McpTool)>,
}

/// A tool of a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct McpTool {
    /// Its description.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The JSON Schema of its arguments; one that fits the script, if it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_schema: Option<Map<String, Value>>,
    /// The JSON Schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Map<String, Value>>,
    /// Its calls.
    #[serde(default)]
    pub calls: Vec<McpCall>,
}

/// A call that may come, and its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct McpCall {
    /// The name by which `after` refers to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments by which it is known.
    #[serde(default)]
    pub args: Map<String, Value>,
    /// The result, if it is one text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// The result in blocks, as MCP has them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub content: Vec<ContentBlock>,
    /// The structured result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub structured_content: Option<Value>,
    /// True if the tool fails.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_error: bool,
    /// The name of a call that ends before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// True if it does not end until it is released.
    #[serde(default, skip_serializing_if = "is_false")]
    pub hangs: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants it so")]
fn is_false(value: &bool) -> bool {
    !value
}

impl McpScript {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// Says what is wrong with it, and where.
    pub fn read(text: &str) -> Result<Self, String> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Stored {
            tools: Map<String, Value>,
        }
        let stored: Stored = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let read = |(name, tool): (String, Value)| {
            let tool: McpTool = serde_json::from_value(tool).map_err(|error| format!("tools.{name}: {error}"))?;
            Ok::<_, String>((name, tool))
        };
        let script = Self { tools: stored.tools.into_iter().map(read).collect::<Result<_, _>>()? };
        let calls = || script.tools.iter().flat_map(|(_, tool)| &tool.calls);
        let mut names = HashSet::new();
        if let Some(twice) = calls().filter_map(|call| call.name.as_ref()).find(|name| !names.insert(*name)) {
            return Err(format!("two calls are named `{twice}`"));
        }
        match calls().filter_map(|call| call.after.as_ref()).find(|after| !names.contains(after)) {
            Some(unknown) => Err(format!("`after` names the call `{unknown}`, which the script does not have")),
            None => Ok(script),
        }
    }

    /// The script as JSON text, which [`McpScript::read`] reads.
    pub fn text(&self) -> String {
        let tools: Map<String, Value> = self.tools.iter().map(|(name, tool)| (name.clone(), json!(tool))).collect();
        json!({ "tools": tools }).to_string()
    }

    /// A tool, by its name.
    pub(crate) fn tool(&self, name: &str) -> Option<&McpTool> {
        self.tools.iter().find(|(own, _)| own == name).map(|(_, tool)| tool)
    }
}

impl McpTool {
    /// The JSON Schema of the arguments: the script's own, or one that takes the arguments of all its calls.
    pub fn schema(&self) -> Value {
        if let Some(schema) = &self.input_schema {
            return schema.clone().into();
        }
        let mut properties: Map<String, Value> = Map::new();
        for (name, value) in self.calls.iter().flat_map(|call| &call.args) {
            let schema = schema_of(value);
            match properties.get_mut(name) {
                Some(known) if *known != schema => *known = json!({}),
                Some(_) => {}
                None => drop(properties.insert(name.clone(), schema)),
            }
        }
        json!({"type": "object", "properties": properties})
    }

    /// The calls with these arguments, by their positions.
    pub(crate) fn calls_with(&self, args: &Map<String, Value>) -> Vec<usize> {
        let args = Value::from(args.clone());
        let is_own = |call: &McpCall| value::equal(&Value::from(call.args.clone()), &args, false);
        self.calls.iter().enumerate().filter(|(_, call)| is_own(call)).map(|(position, _)| position).collect()
    }
}

/// A schema that a value fits.
fn schema_of(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(_) => json!({"type": "boolean"}),
        Value::Number(_) => json!({"type": "number"}),
        Value::String(_) => json!({"type": "string"}),
        Value::Array(elements) => {
            let mut schemas = elements.iter().map(schema_of);
            let first = schemas.next().unwrap_or_else(|| json!({}));
            let is_one = schemas.all(|schema| schema == first);
            json!({"type": "array", "items": if is_one { first } else { json!({}) }})
        }
        Value::Object(_) => json!({"type": "object"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_takes_the_arguments_of_all_calls() {
        let text = r#"{"tools": {"look": {"calls": [
            {"args": {"path": "a", "lines": 1, "all": true, "at": [1, 2], "mixed": [1, "a"]}},
            {"args": {"path": 1, "lines": 2.5, "deep": {"a": null}}}]}}}"#;
        let script = McpScript::read(text).expect("a script");
        let expected = json!({"type": "object", "properties": {
            "path": {}, "lines": {"type": "number"}, "all": {"type": "boolean"}, "at": {"type": "array", "items": {"type": "number"}},
            "mixed": {"type": "array", "items": {}}, "deep": {"type": "object"}}});
        assert_eq!(script.tools[0].1.schema(), expected);
        assert_eq!(McpScript::read(&script.text()), Ok(script));
    }

    #[test]
    fn calls_are_known_by_their_arguments_as_values() {
        let text =
            r#"{"tools": {"look": {"calls": [{"args": {"a": 1, "b": [2]}}, {}, {"args": {"b": [2.0], "a": 1.0}}]}}}"#;
        let script = McpScript::read(text).expect("a script");
        let look = script.tool("look").expect("the tool");
        let with = |args: Value| look.calls_with(args.as_object().expect("an object"));
        assert_eq!(with(json!({"b": [2], "a": 1})), [0, 2]);
        assert_eq!(with(json!({})), [1]);
        assert!(with(json!({"a": 1})).is_empty() && with(json!({"a": 1, "b": ["2"]})).is_empty());
    }

    #[test]
    fn a_script_that_cannot_be_played_is_refused() {
        for (text, why) in [
            ("[]", "expected struct"),
            (r#"{"tools": {"a": {"calls": [{"result": 1}]}}}"#, "tools.a: unknown field `result`"),
            (r#"{"tools": {"a": {"calls": [{"after": "b"}]}}}"#, "`after` names the call `b`"),
            (r#"{"tools": {"a": {"calls": [{"name": "b"}, {"name": "b"}]}}}"#, "two calls are named `b`"),
        ] {
            let refused = McpScript::read(text).expect_err(text);
            assert!(refused.contains(why), "{text}: {refused}");
        }
    }
}
