//! Converts the protocol's messages to and from those of rig, and its scripted tools.

use crate::testee::{self, Call, Given, Script};
use rig_core::message::{
    AssistantContent, AssistantMessage, CallId, Message, ToolCall, ToolFunction, ToolName, ToolResult,
    ToolResultContent, UserContent,
};
use rig_core::tool::{DynamicTool, ToolExecutionError, ToolOutput};
use serde_json::{Value, json};
use std::sync::Arc;

/// The tool of this name; `round` counts the responses before the one that calls it.
pub fn scripted_tool(
    script: &Arc<Script>,
    name: &str,
    round: impl Fn() -> usize + Send + Sync + 'static,
) -> Result<DynamicTool, String> {
    let (script, tool) = (script.clone(), name.to_owned());
    let callback = move |args: Value| {
        let result = script.result(round(), &tool, &args);
        let output =
            |result| if let Value::String(text) = result { ToolOutput::text(text) } else { ToolOutput::json(result) };
        Box::pin(async move { result.map(output).map_err(ToolExecutionError::other) }) as _
    };
    Ok(DynamicTool::new(tool_name(name)?, "A scripted tool.", json!({"type": "object", "properties": {}}), callback))
}

pub fn to_contents(content: &str, calls: &[Call]) -> Result<Vec<AssistantContent>, String> {
    let text = (!content.is_empty()).then(|| Ok(AssistantContent::text(content)));
    let call = |call: &Call| {
        Ok(AssistantContent::ToolCall(ToolCall::from_wire(
            &call.id,
            ToolFunction::new(tool_name(&call.name)?, call.args.clone()),
        )))
    };
    text.into_iter().chain(calls.iter().map(call)).collect()
}

fn tool_name(name: &str) -> Result<ToolName, String> {
    ToolName::new(name).map_err(|error| error.to_string())
}

pub fn to_message(given: &Given) -> Result<Message, String> {
    let result = |(id, name, text): &(String, String, String)| {
        let content = vec![ToolResultContent::text(text)];
        Ok(UserContent::ToolResult(ToolResult {
            call: CallId::from_wire(id),
            name: tool_name(name)?,
            content,
            is_error: false,
        }))
    };
    Ok(match given {
        Given::System(text) => Message::system(text),
        Given::Human(text) => Message::user(text),
        Given::Ai(content, calls) => Message::Assistant(AssistantMessage::new(to_contents(content, calls)?)),
        Given::Results(results) => {
            Message::User { content: results.iter().map(result).collect::<Result<_, String>>()? }
        }
    })
}

pub fn describe(message: &Message) -> Vec<Value> {
    match message {
        Message::System { content } => vec![testee::message("system", content)],
        Message::User { content } => content.iter().map(describe_part).collect(),
        Message::Assistant(message) => {
            let (mut content, mut calls) = (String::new(), Vec::new());
            for part in &message.content {
                match part {
                    AssistantContent::Text(text) => content.push_str(&text.text),
                    AssistantContent::ToolCall(ToolCall {
                        id, function: ToolFunction { name, arguments, .. }, ..
                    }) => {
                        calls.push(Call { id: id.to_string(), name: name.to_string(), args: arguments.clone().into() });
                    }
                    _ => {}
                }
            }
            vec![testee::response(&content, &calls)]
        }
    }
}

/// Results as rig's own providers write them.
fn describe_part(part: &UserContent) -> Value {
    let text = |part: &ToolResultContent| {
        part.as_json().map_or_else(|| part.as_text().unwrap_or_default().to_owned(), Value::to_string)
    };
    match part {
        UserContent::ToolResult(result) => {
            testee::answer(&result.call.to_string(), &result.content.iter().map(text).collect::<String>())
        }
        UserContent::Text(text) => testee::message("human", &text.text),
        other => testee::message("human", &format!("{other:?}")),
    }
}
