//! Converts the protocol's messages to and from those of rig.

use crate::testee::{self, Call, Given};
use rig_core::message::{
    AssistantContent, AssistantMessage, CallId, Message, ToolCall, ToolFunction, ToolName, ToolResult,
    ToolResultContent, UserContent,
};
use serde_json::Value;

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

pub fn tool_name(name: &str) -> Result<ToolName, String> {
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
