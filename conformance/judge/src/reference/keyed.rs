//! Scripted results of op `tools` in profile `universal`, which may be found by the id or the arguments of the call.

use crate::script::{ScriptResults, ScriptTool};
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use threadspec::agent::{ScriptedTools, ToolError, Tools};
use threadspec::surrogates::{marked, without_marks};
use threadspec::{Error, Field, ToolCall};

/// The results of one tool.
enum ToolResults {
    /// One at most: where calls run in parallel, results cannot depend on an order.
    InOrder(Vec<Value>),
    ById(HashMap<String, Value>),
    ByArgs(Vec<(Map<String, Value>, Value)>),
}

impl ToolResults {
    fn read(results: &Field<'_>) -> Result<Self, Error> {
        let value = |field: &Field<'_>| field.value().cloned().unwrap_or_default();
        if let Some(by_id) = results.get("byId").optional() {
            let result = |(id, result): (&str, Field<'_>)| (without_marks(id).into_owned(), value(&result));
            Ok(Self::ById(by_id.members()?.map(result).collect()))
        } else if let Some(by_args) = results.get("byArgs").optional() {
            let pair = |pair: Field<'_>| match &*pair.elements()?.collect::<Vec<_>>() {
                [args, result] => Ok((args.object()?.clone(), value(result))),
                _ => Err(pair.error("expected arguments and a result")),
            };
            Ok(Self::ByArgs(by_args.elements()?.map(pair).collect::<Result<_, _>>()?))
        } else {
            Ok(Self::InOrder(results.elements()?.map(|result| value(&result)).collect()))
        }
    }
}

/// Tools by name, with their results.
#[derive(Default)]
pub(super) struct KeyedTools(HashMap<String, ToolResults>);

impl KeyedTools {
    /// The tools that a field of an input describes.
    pub(super) fn read(tools: &Field<'_>) -> Result<Self, Error> {
        let tool = |(name, results)| Ok((without_marks(name).into_owned(), ToolResults::read(&results)?));
        tools.members()?.map(tool).collect::<Result<_, _>>().map(Self)
    }

    /// Those of an agent of a session.
    pub(super) fn of_session(tools: Vec<ScriptTool>) -> Self {
        let results = |results| match results {
            ScriptResults::Always(result) => ToolResults::InOrder(result.into_iter().collect()),
            ScriptResults::ById(results) => {
                let result = |(id, result): (String, Value)| (without_marks(&id).into_owned(), result);
                ToolResults::ById(results.into_iter().map(result).collect())
            }
        };
        let tool = |tool: ScriptTool| (without_marks(&tool.name).into_owned(), results(tool.results));
        Self(tools.into_iter().map(tool).collect())
    }

    /// Returns whether there is a tool of this name.
    pub(super) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The scripted result of a call, if the script has one for it.
    pub(super) fn scripted(&self, call: &ToolCall) -> Option<&Value> {
        match self.0.get(&call.name)? {
            ToolResults::InOrder(results) => results.first(),
            ToolResults::ById(by_id) => by_id.get(&call.id),
            ToolResults::ByArgs(by_args) => {
                by_args.iter().find(|(args, _)| *args == call.args).map(|(_, result)| result)
            }
        }
    }
}

impl Tools for KeyedTools {
    fn call(&mut self, call: &ToolCall) -> Result<Value, ToolError> {
        if !self.has(&call.name) {
            return Err(ToolError::NotFound);
        }
        let results: Vec<_> = self.scripted(call).into_iter().collect();
        // The scripted tools of the library tell results from failures.
        let tools = json!({ &*marked(&call.name): results });
        let tools = ScriptedTools::read(&Field::root(&tools, "tools"));
        tools.map_err(|error| ToolError::Failed(error.to_string()))?.call(call)
    }
}
