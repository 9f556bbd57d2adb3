//! The tools that a request declares, and what it says about calling them.

use super::content::{list, member_text};
use serde_json::Value;
use threadspec::oracle::Api;

/// A tool that a request declares.
#[derive(Clone, Debug, PartialEq)]
pub struct DeclaredTool {
    /// The name; tools of the provider may have none.
    pub name: Option<String>,
    /// The description.
    pub description: Option<String>,
    /// Its type: `function`, `custom`, or one of the provider's own, such as `web_search`.
    pub kind: String,
    /// The JSON Schema of the arguments, if there is one.
    pub schema: Option<Value>,
    /// True if arguments are to follow the schema, if it says so.
    pub strict: Option<bool>,
    /// The whole declaration.
    pub raw: Value,
    /// Where it is in the body.
    pub place: String,
}

/// The tool that a request wants to be called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// The model decides.
    #[default]
    Auto,
    /// None.
    None,
    /// At least one.
    Any,
    /// This one.
    Named(String),
    /// Something that is not known here.
    Other,
}

impl DeclaredTool {
    pub(super) fn read_all(api: Api, body: &Value) -> Vec<Self> {
        list(&body["tools"]).iter().enumerate().map(|(position, tool)| Self::read(api, position, tool)).collect()
    }

    fn read(api: Api, position: usize, tool: &Value) -> Self {
        let given = tool["type"].as_str();
        let (members, schema, kind) = match api {
            Api::OpenAiChat if given == Some("custom") => (&tool["custom"], "parameters", "custom"),
            Api::OpenAiChat => (&tool["function"], "parameters", given.unwrap_or("function")),
            Api::OpenAiResponses => (tool, "parameters", given.unwrap_or("function")),
            // Its custom tools are what others call functions.
            Api::Anthropic => (tool, "input_schema", given.filter(|kind| *kind != "custom").unwrap_or("function")),
        };
        Self {
            name: member_text(members, "name"),
            description: member_text(members, "description"),
            kind: kind.to_owned(),
            schema: members.get(schema).filter(|schema| !schema.is_null()).cloned(),
            strict: members["strict"].as_bool(),
            raw: tool.clone(),
            place: format!("tools[{position}]"),
        }
    }

    /// Returns whether the agent runs it: a function with a name.
    pub fn is_function(&self) -> bool {
        self.kind == "function" && self.name.is_some()
    }
}

impl ToolChoice {
    pub(super) fn read(body: &Value) -> Self {
        let choice = &body["tool_choice"];
        let kind = choice.as_str().or_else(|| choice["type"].as_str());
        match kind {
            None if choice.is_null() => Self::Auto,
            Some("auto") => Self::Auto,
            Some("none") => Self::None,
            Some("required" | "any") => Self::Any,
            Some("function" | "tool" | "custom") => {
                let inner = ["function", "custom"].into_iter().find_map(|name| member_text(&choice[name], "name"));
                member_text(choice, "name").or(inner).map_or(Self::Other, Self::Named)
            }
            _ => Self::Other,
        }
    }

    /// Returns whether a choice has a form that the API knows, or is none.
    pub(super) fn is_proper(api: Api, choice: &Value) -> bool {
        let is_named = |holder: &Value| holder["name"].is_string();
        match (choice, choice["type"].as_str()) {
            (Value::Null, _) => true,
            (Value::String(word), _) => api != Api::Anthropic && ["none", "auto", "required"].contains(&&**word),
            (_, Some(kind)) => match api {
                Api::OpenAiChat => match kind {
                    "function" | "custom" => is_named(&choice[kind]),
                    kind => kind == "allowed_tools",
                },
                Api::OpenAiResponses => match kind {
                    "function" | "custom" => is_named(choice),
                    // A tool of the provider's own.
                    kind => !["auto", "any", "none", "required", "tool"].contains(&kind),
                },
                Api::Anthropic => match kind {
                    "tool" => is_named(choice),
                    kind => ["auto", "any", "none"].contains(&kind),
                },
            },
            (_, None) => false,
        }
    }
}
