//! Anthropic messages.

use super::fit::{IdForm, fit, nothing_to_send, plain_members};
use super::read_each;
use crate::{Error, Field, Message, ToolCall};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// Comes before an assistant turn that comes first, since a conversation begins with the user.
const BEGINNING: &str = "[The conversation begins with the assistant.]";
/// Comes behind an assistant turn that comes last, since newer models answer the user only.
const GO_ON: &str = "[Go on.]";
/// Larger requests are refused.
const MOST_MESSAGES: usize = 100_000;
const MOST_BYTES: usize = 32 << 20;

/// Writes `system` and `messages` of an Anthropic messages request.
///
/// The API accepts the result for a hardened list ([`provider_rules`](crate::oracle::provider_rules)). Ids, names and lone
/// surrogates are treated as in [`to_openai`](super::to_openai); ids consist of letters, digits, `_` and `-`.
///
/// The turns of that format alternate, so that messages of one side in a row become one, block by block; a tool message is
/// a `tool_result` block on the user's side. The user begins and ends: where the assistant would, a short text of the user
/// is added. What is lost: texts that are empty or white space, which the API refuses, are left out, and with them
/// the messages that say nothing else; system messages are joined by LF LF, wherever they were.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::to_anthropic};
/// assert_eq!(
///     to_anthropic(&[Message::system("Be brief."), Message::human("Hi"), Message::ai("")])?,
///     json!({"system": "Be brief.", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hi"}]}]})
/// );
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) if there is nothing to send (a system message alone is
/// nothing), or more than the API takes: a text of more than 10485760 characters, 100000 turns, 32 MB.
pub fn to_anthropic(messages: &[Message]) -> Result<Value, Error> {
    let messages = fit(messages, IdForm { longest: 64, plain: true })?;
    let mut system: Vec<&str> = Vec::new();
    let mut turns: Vec<(&str, Vec<Value>)> = Vec::new();
    for message in &messages {
        let (role, blocks) = match message {
            Message::System { content } => {
                system.extend(says_something(content).then_some(&**content));
                continue;
            }
            Message::Human { content } => ("user", Vec::from_iter(text_block(content))),
            Message::Ai { content, tool_calls } => {
                let calls = tool_calls.iter().map(|ToolCall { id, name, args }| {
                    json!({"type": "tool_use", "id": id, "name": name, "input": plain_members(args)})
                });
                ("assistant", text_block(content).into_iter().chain(calls).collect())
            }
            Message::Tool { tool_call_id, content } => ("user", vec![result_block(tool_call_id, content)]),
        };
        match turns.last_mut() {
            _ if blocks.is_empty() => {}
            Some((last, content)) if *last == role => content.extend(blocks),
            _ => turns.push((role, blocks)),
        }
    }
    let first = turns.first().map(|(role, _)| *role).ok_or_else(nothing_to_send)?;
    if first == "assistant" {
        turns.insert(0, ("user", Vec::from_iter(text_block(BEGINNING))));
    }
    if turns.last().is_some_and(|(role, _)| *role == "assistant") {
        turns.push(("user", Vec::from_iter(text_block(GO_ON))));
    }

    let mut request = Map::new();
    if !system.is_empty() {
        request.insert("system".to_owned(), system.join("\n\n").into());
    }
    let count = turns.len();
    let turns = turns.into_iter().map(|(role, content)| json!({"role": role, "content": content}));
    request.insert("messages".to_owned(), turns.collect());
    let request = Value::from(request);
    // JSON writes at most six bytes for each byte of a text.
    let size = messages.iter().map(|message| message.content().len()).sum::<usize>();
    let size = if size < MOST_BYTES / 12 { size } else { request.to_string().len() };
    if count > MOST_MESSAGES || size > MOST_BYTES {
        let reason = format!("{count} turns, {size} bytes: the API takes {MOST_MESSAGES} and {MOST_BYTES}");
        return Err(Error::input(reason));
    }
    Ok(request)
}

/// Reads `system` and `messages` of an Anthropic messages request.
///
/// The reverse of [`to_anthropic`], as far as the format allows: each text block is a message of its own, and `tool_use`
/// blocks belong to the text before them. So the calls of AI messages in a row come back in one, and what was left out or
/// moved stays so.
///
/// ```
/// use serde_json::json;
/// use threadspec::{Message, wire::from_anthropic};
/// let request = json!({"system": "Be brief.", "messages": [{"role": "user", "content": "Hi"}]});
/// assert_eq!(from_anthropic(&request)?, [Message::system("Be brief."), Message::human("Hi")]);
/// # Ok::<(), threadspec::Error>(())
/// ```
///
/// # Errors
/// An [`Error`] with [`is_invalid_input`](Error::is_invalid_input) that names the message, the field and the reason.
pub fn from_anthropic(request: &Value) -> Result<Vec<Message>, Error> {
    let field = Field::root(request, "request");
    field.object()?;
    let system = field.get("system").texts(&[])?;
    let mut messages: Vec<Message> = system.into_iter().map(Message::system).collect();
    messages.extend(read_each(&request["messages"], read)?.into_iter().flatten());
    Ok(messages)
}

/// Returns whether a text is more than white space; the API refuses texts that are not.
fn says_something(text: &str) -> bool {
    // White space as both Python and JavaScript trim it.
    let is_white = |c: char| c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}' | '\u{feff}');
    !text.chars().all(is_white)
}

fn text_block(text: &str) -> Option<Value> {
    says_something(text).then(|| json!({"type": "text", "text": text}))
}

fn result_block(id: &str, content: &str) -> Value {
    if says_something(content) {
        json!({"type": "tool_result", "tool_use_id": id, "content": content})
    } else {
        json!({"type": "tool_result", "tool_use_id": id})
    }
}

/// The messages that one turn holds.
fn read(turn: &Field<'_>) -> Result<Vec<Message>, Error> {
    let role = turn.get("role");
    let role = match &*role.string()? {
        "user" => "user",
        "assistant" => "assistant",
        other => return Err(role.error(format!("unknown role {other:?}, expected \"user\" or \"assistant\""))),
    };
    let said = |text: Cow<'_, str>| if role == "user" { Message::human(text) } else { Message::ai(text) };
    let content = turn.get("content");
    if content.is_string() {
        return Ok(vec![said(content.string()?)]);
    }
    let mut messages = Vec::new();
    for block in content.list()? {
        match (role, &*block.get("type").string()?) {
            (_, "text") => messages.push(said(block.get("text").string()?)),
            ("user", "tool_result") => {
                messages.push(Message::tool(block.get("tool_use_id").string()?, block.get("content").text()?));
            }
            ("assistant", "tool_use") => {
                let call = block.tool_call("input")?;
                if let Some(Message::Ai { tool_calls, .. }) = messages.last_mut() {
                    tool_calls.push(call);
                } else {
                    messages.push(Message::Ai { content: String::new(), tool_calls: vec![call] });
                }
            }
            _ => return Err(block.not_for_a_thread()),
        }
    }
    Ok(messages)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn calls(content: &str, ids: &[&str]) -> Message {
        let args = Map::from_iter([("n".to_owned(), json!(1))]);
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "t".to_owned(), args: args.clone() };
        Message::Ai { content: content.to_owned(), tool_calls: ids.iter().map(call).collect() }
    }

    #[test]
    fn turns_alternate_and_come_apart_again() {
        let messages = vec![
            Message::system("S"),
            Message::human("U"),
            Message::human("more"),
            calls("Both.", &["a", "b"]),
            Message::tool("b", "B"),
            Message::tool("a", ""),
            Message::human("Well?"),
            Message::ai("one"),
            Message::ai("two"),
            Message::human("!"),
        ];
        let request = json!({
            "system": "S",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "U"}, {"type": "text", "text": "more"}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "Both."},
                    {"type": "tool_use", "id": "a", "name": "t", "input": {"n": 1}},
                    {"type": "tool_use", "id": "b", "name": "t", "input": {"n": 1}}
                ]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "b", "content": "B"},
                    {"type": "tool_result", "tool_use_id": "a"},
                    {"type": "text", "text": "Well?"}
                ]},
                {"role": "assistant", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
                {"role": "user", "content": [{"type": "text", "text": "!"}]}
            ]
        });
        assert_eq!(to_anthropic(&messages), Ok(request.clone()));
        assert_eq!(from_anthropic(&request), Ok(messages));
    }

    #[test]
    fn what_the_api_refuses_is_left_out() {
        let messages = [
            Message::human("a"),
            Message::ai(" \n"),
            Message::human("b"),
            Message::system("S"),
            Message::system(""),
            Message::system("T"),
            calls("", &["c"]),
            Message::tool("c", "\t"),
        ];
        let call = json!({"type": "tool_use", "id": "c", "name": "t", "input": {"n": 1}});
        let request = json!({
            "system": "S\n\nT",
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
                {"role": "assistant", "content": [call]},
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c"}]}
            ]
        });
        assert_eq!(to_anthropic(&messages), Ok(request));
        for nothing in [&[][..], &[Message::human(" \u{feff}\u{1f}"), Message::ai("")], &[Message::system("S")]] {
            let error = to_anthropic(nothing).expect_err("nothing to send").to_string();
            assert_eq!(error, "there is nothing to send: no message says anything");
        }
    }

    #[test]
    fn the_user_begins_and_ends() {
        let said = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
        assert_eq!(
            to_anthropic(&[Message::ai("Hello ")]),
            Ok(json!({"messages": [said("user", BEGINNING), said("assistant", "Hello "), said("user", GO_ON)]}))
        );
    }

    #[test]
    fn too_much_is_refused() {
        let long = Message::human("\u{1}".repeat(6 << 20));
        let error = to_anthropic(&[long]).expect_err("36 MB").to_string();
        assert!(error.starts_with("1 turns, 37748"), "{error}");
    }

    #[test]
    fn real_requests_are_read_leniently() {
        let request = json!({
            "model": "x",
            "system": [{"type": "text", "text": "S", "cache_control": {"type": "ephemeral"}}],
            "messages": [
                {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "t", "input": {"n": 1}}]},
                {"role": "user", "content": [{
                    "type": "tool_result", "tool_use_id": "c", "is_error": true,
                    "content": [{"type": "text", "text": "1"}, {"type": "text", "text": "2"}]
                }]}
            ]
        });
        let expected = vec![Message::system("S"), calls("", &["c"]), Message::tool("c", "1\n2")];
        assert_eq!(from_anthropic(&request), Ok(expected));
    }

    #[test]
    fn errors_name_message_and_field() {
        let turn = |role: &str, content: Value| json!({"messages": [{"role": role, "content": content}]});
        for (request, fault) in [
            (json!([]), "request: expected an object, found an array"),
            (json!({}), "expected an array of messages"),
            (json!({"system": 1, "messages": []}), "system: expected an array, found a number"),
            (
                turn("system", json!("S")),
                "message 0: role: unknown role \"system\", expected \"user\" or \"assistant\"",
            ),
            (
                turn("user", json!([{"type": "text", "text": "a"}, {"type": "image"}])),
                "message 0: content[1].type: unexpected \"image\": a thread holds text and tool calls only",
            ),
            (
                turn("assistant", json!([{"type": "tool_use", "id": "a", "name": "t", "input": []}])),
                "message 0: content[0].input: expected an object, found an array",
            ),
        ] {
            assert_eq!(from_anthropic(&request).expect_err("the request is at fault").to_string(), fault);
        }
    }
}
