//! LangChain's stored messages.

use super::read_each;
use crate::surrogates::marked;
use crate::{Error, Field, Message, ToolCall};
use serde_json::{Value, json};

/// Writes LangChain's stored messages, for `mapStoredMessagesToChatMessages` (JavaScript) and `messages_from_dict`
/// (Python). Lone surrogates in arguments are marked ([`surrogates`](crate::surrogates)).
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::to_langchain};
/// assert_eq!(to_langchain(&[Message::human("Hi")]), json!([{"type": "human", "data": {"content": "Hi"}}]));
/// ```
pub fn to_langchain(messages: &[Message]) -> Value {
    messages.iter().map(stored).collect()
}

/// Reads LangChain's stored messages, as `mapChatMessagesToStoredMessages` and `messages_to_dict` write them.
///
/// Contents that are lists of text blocks are joined by LF. The `tool_use` and `tool_call` blocks among them are left
/// out, because `tool_calls` holds them too.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::from_langchain};
/// let stored = json!([{"type": "tool", "data": {"content": "4", "tool_call_id": "a", "status": "success"}}]);
/// assert_eq!(from_langchain(&stored)?, [Message::tool("a", "4")]);
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) that names the message, the field and the reason.
pub fn from_langchain(stored: &Value) -> Result<Vec<Message>, Error> {
    read_each(stored, read)
}

fn stored(message: &Message) -> Value {
    match message {
        Message::System { content } => json!({"type": "system", "data": {"content": marked(content)}}),
        Message::Human { content } => json!({"type": "human", "data": {"content": marked(content)}}),
        Message::Ai { content, tool_calls } if tool_calls.is_empty() => {
            json!({"type": "ai", "data": {"content": marked(content)}})
        }
        Message::Ai { content, tool_calls } => {
            let tool_calls: Vec<Value> = tool_calls.iter().map(ToolCall::to_json).collect();
            json!({"type": "ai", "data": {"content": marked(content), "tool_calls": tool_calls}})
        }
        Message::Tool { tool_call_id, content } => {
            json!({"type": "tool", "data": {"content": marked(content), "tool_call_id": marked(tool_call_id)}})
        }
    }
}

fn read(message: &Field<'_>) -> Result<Message, Error> {
    let kind = message.get("type");
    let data = message.get("data");
    let content = data.get("content");
    Ok(match &*kind.string()? {
        "system" | "SystemMessageChunk" => Message::System { content: content.text()? },
        "human" | "HumanMessageChunk" => Message::Human { content: content.text()? },
        "ai" | "AIMessageChunk" => Message::Ai {
            content: content.texts(&["tool_use", "tool_call"])?.join("\n"),
            tool_calls: data
                .get("tool_calls")
                .list()?
                .iter()
                .map(|call| call.tool_call("args"))
                .collect::<Result<_, _>>()?,
        },
        "tool" | "ToolMessageChunk" => {
            Message::Tool { tool_call_id: data.get("tool_call_id").string()?.into_owned(), content: content.text()? }
        }
        other => return Err(kind.error(format!("unknown message type {other:?}"))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_reads_back_as_it_was() {
        let args = json!({"2": {"b": [null]}, "1": ""}).as_object().cloned().unwrap_or_default();
        let call = |id: &str| ToolCall { id: id.to_owned(), name: "t".to_owned(), args: args.clone() };
        let messages = vec![
            Message::system("S"),
            Message::human(""),
            Message::ai("text"),
            Message::Ai { content: "both".to_owned(), tool_calls: vec![call("a"), call("b")] },
            Message::tool("a", "A"),
        ];
        let written = to_langchain(&messages);
        assert_eq!(written[3]["data"]["tool_calls"][1], json!({"id": "b", "name": "t", "args": args}));
        assert_eq!(from_langchain(&written), Ok(messages));
    }

    #[test]
    fn what_the_libraries_write_is_read() {
        let stored = json!([
            {"type": "human", "data": {"content": "Hi", "additional_kwargs": {}, "response_metadata": {}}},
            {"type": "AIMessageChunk", "data": {
                "content": [
                    {"type": "text", "text": "Let me"},
                    {"type": "tool_use", "id": "a", "name": "t", "input": {}},
                    {"type": "text", "text": "see."}
                ],
                "tool_calls": [{"id": "a", "name": "t", "args": {}, "type": "tool_call"}],
                "invalid_tool_calls": []
            }},
            {"type": "ai", "data": {"content": "Done.", "tool_calls": []}}
        ]);
        let call = ToolCall { id: "a".to_owned(), name: "t".to_owned(), args: serde_json::Map::new() };
        let expected = vec![
            Message::human("Hi"),
            Message::Ai { content: "Let me\nsee.".to_owned(), tool_calls: vec![call] },
            Message::ai("Done."),
        ];
        assert_eq!(from_langchain(&stored), Ok(expected));
    }

    #[test]
    fn errors_name_message_and_field() {
        for (message, fault) in [
            (json!({"type": "remove", "data": {}}), "type: unknown message type \"remove\""),
            (
                json!({"type": "ai", "data": {"content": "", "tool_calls": [{"name": "t", "args": {}}]}}),
                "data.tool_calls[0].id: missing, expected a string",
            ),
            (
                json!({"type": "ai", "data": {"content": "", "tool_calls": [{"id": "a", "name": "t", "args": "{}"}]}}),
                "data.tool_calls[0].args: expected an object, found a string",
            ),
            (json!({"type": "tool", "data": {"content": ""}}), "data.tool_call_id: missing, expected a string"),
        ] {
            let error = from_langchain(&json!([message])).expect_err("the message is at fault");
            assert_eq!(error.to_string(), format!("message 0: {fault}"));
        }
    }
}
