//! Items of the OpenAI Responses API.

use super::fit::{IdForm, fit};
use crate::ecma::json_stringify_object;
use crate::{Error, Message, ToolCall};
use serde_json::{Value, json};

/// Writes the `input` items of an OpenAI Responses request that carries the whole history.
///
/// The API accepts the result for a hardened list ([`provider_rules`](crate::oracle::provider_rules)): ids and names that
/// it refuses are replaced as [`to_openai`](super::to_openai) does. The text of an AI message that also calls tools is
/// before the calls, if it is not empty.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::to_openai_responses};
/// assert_eq!(
///     to_openai_responses(&[Message::human("Hi")])?,
///     json!([{"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}])
/// );
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// As [`to_openai`](super::to_openai).
pub fn to_openai_responses(messages: &[Message]) -> Result<Value, Error> {
    Ok(fit(messages, IdForm { longest: 64, plain: false })?.iter().flat_map(write).collect())
}

fn write(message: &Message) -> Vec<Value> {
    let said = |role: &str, part: &str, text: &str| json!({"type": "message", "role": role, "content": [{"type": part, "text": text}]});
    match message {
        Message::System { content } => vec![said("system", "input_text", content)],
        Message::Human { content } => vec![said("user", "input_text", content)],
        Message::Ai { content, tool_calls } => {
            let text =
                (tool_calls.is_empty() || !content.is_empty()).then(|| said("assistant", "output_text", content));
            text.into_iter().chain(tool_calls.iter().map(write_call)).collect()
        }
        Message::Tool { tool_call_id, content } => {
            vec![json!({"type": "function_call_output", "call_id": tool_call_id, "output": content})]
        }
    }
}

fn write_call(ToolCall { id, name, args }: &ToolCall) -> Value {
    json!({"type": "function_call", "call_id": id, "name": name, "arguments": json_stringify_object(args)})
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;

    #[test]
    fn each_message_becomes_its_items() {
        let call = |id: &str| ToolCall { id: id.to_owned(), name: "t".to_owned(), args: Map::new() };
        let messages = [
            Message::system("S"),
            Message::Ai { content: "Both.".to_owned(), tool_calls: vec![call("a"), call("")] },
            Message::tool("", ""),
            Message::tool("a", "A"),
            Message::Ai { content: String::new(), tool_calls: vec![call("a")] },
            Message::tool("a", "A"),
            Message::ai(""),
        ];
        let function = |id: &str| json!({"type": "function_call", "call_id": id, "name": "t", "arguments": "{}"});
        let output = |id: &str, output: &str| json!({"type": "function_call_output", "call_id": id, "output": output});
        let said = |text: &str| json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]});
        let items = json!([
            {"type": "message", "role": "system", "content": [{"type": "input_text", "text": "S"}]},
            said("Both."),
            function("a"),
            function("call"),
            output("call", ""),
            output("a", "A"),
            function("a_2"),
            output("a_2", "A"),
            said("")
        ]);
        assert_eq!(to_openai_responses(&messages), Ok(items));
        assert!(to_openai_responses(&[]).is_err());
    }
}
