//! Op `tools` in profile `universal`: scripted results that are found by the id or the arguments of the call, and a list
//! that no provider accepts is refused.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use threadspec::{
    Error, Field, Message, Profile, ToolCall,
    agent::{ScriptedModel, ScriptedTools, ToolError, ToolOptions, Tools, Turn, run_tools},
    oracle,
    surrogates::repair_surrogates,
};

/// The results of one tool.
#[derive(Deserialize)]
#[serde(untagged)]
enum Results {
    InOrder(Vec<Value>),
    #[serde(rename_all = "camelCase")]
    ById {
        by_id: HashMap<String, Value>,
    },
    #[serde(rename_all = "camelCase")]
    ByArgs {
        by_args: Vec<(Map<String, Value>, Value)>,
    },
}

struct KeyedTools(HashMap<String, Results>);

impl Tools for KeyedTools {
    fn call(&mut self, call: &ToolCall) -> Result<Value, ToolError> {
        let result = match self.0.get(&call.name).ok_or(ToolError::NotFound)? {
            Results::InOrder(results) => results.first(),
            Results::ById { by_id } => by_id.get(&call.id),
            Results::ByArgs { by_args } => {
                by_args.iter().find(|(args, _)| *args == call.args).map(|(_, result)| result)
            }
        };
        let name = call.name.clone();
        // What a result is, and what a failure, the scripted tools of the library know.
        ScriptedTools::new(HashMap::from([(name, result.cloned().into_iter().collect())])).call(call)
    }
}

pub(super) fn tools(input: &str) -> Result<Value, Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Input {
        messages: Vec<Message>,
        model: Vec<Turn>,
        tools: Option<HashMap<String, Results>>,
        max_recursion_depth: Option<usize>,
    }
    let input = serde_json::from_str(&repair_surrogates(input)).map_err(|error| refusal("input", &error))?;
    let Input { messages, model, tools, max_recursion_depth } = input;
    oracle::provider_valid(&messages).map_err(|fault| refusal("messages", &fault))?;
    let mut model = ScriptedModel::new(model);
    let mut tools = KeyedTools(tools.unwrap_or_default());
    let given = messages.clone();
    let options = ToolOptions { profile: Profile::Hardened, max_recursion_depth };
    let run = run_tools(messages, &mut model, &mut tools, &options);
    let mut output = json!({"requests": model.requests(), "messages": run.messages, "given": given});
    if let Some(failure) = run.failure {
        output["failure"] = failure.into();
    }
    Ok(output)
}

fn refusal(field: &str, reason: &dyn std::fmt::Display) -> Error {
    Field::root(&Value::Null, field).error(reason.to_string())
}
