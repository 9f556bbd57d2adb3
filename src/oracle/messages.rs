//! Oracles of message lists.

use super::{Violation, quote};
use crate::Message;
use std::collections::HashSet;

/// Model providers accept the list (PROVIDER-1).
///
/// Every AI message with tool calls, of distinct ids, is followed at once by exactly one tool message per call, in any
/// order, before any other message; every tool message answers a call of the AI message before it.
///
/// # Errors
/// The first message at fault.
///
/// ```
/// use threadspec::{Message, oracle::provider_valid};
/// let violation = provider_valid(&[Message::tool("a", "4")]).unwrap_err();
/// assert_eq!(violation.to_string(), r#"message 0: a tool message for "a", but no open call has this id"#);
/// ```
pub fn provider_valid(messages: &[Message]) -> Result<(), Violation> {
    let mut open: HashSet<&str> = HashSet::new();
    for (position, message) in messages.iter().enumerate() {
        if let Message::Tool { tool_call_id, .. } = message {
            if !open.remove(&**tool_call_id) {
                let id = quote(tool_call_id);
                let message = format!("message {position}: a tool message for {id}, but no open call has this id");
                return Err(Violation::new(message));
            }
            continue;
        }
        all_answered(&open, position)?;
        for call in message.tool_calls() {
            if !open.insert(&call.id) {
                return Err(Violation::new(format!("message {position}: two calls with the id {}", quote(&call.id))));
            }
        }
    }
    all_answered(&open, messages.len())
}

fn all_answered(open: &HashSet<&str>, position: usize) -> Result<(), Violation> {
    // The smallest id, so that the report is the same in every run.
    open.iter().min().map_or(Ok(()), |id| {
        Err(Violation::new(format!("message {position}: the call {} before it has no tool message yet", quote(id))))
    })
}

/// Each request of tool rounds is the one before it, the AI message that answered it, and one tool message per call, in
/// call order (TOOLS-ACCUMULATE, TOOLS-SNAPSHOT, TOOLS-ID).
///
/// # Errors
/// The first request at fault.
pub fn snapshots(requests: &[Vec<Message>]) -> Result<(), Violation> {
    for (number, pair) in requests.windows(2).enumerate() {
        let (earlier, later) = (&pair[0], &pair[1]);
        let fault = |what: &str| Err(Violation::new(format!("request {}: {what}", number + 1)));
        let Some(added) = later.strip_prefix(&**earlier) else {
            return fault("does not begin with the request before it");
        };
        let Some((answer @ Message::Ai { tool_calls, .. }, results)) = added.split_first() else {
            return fault("does not go on with the AI message that answered the request before it");
        };
        if answer.tool_calls().is_empty() {
            return fault("follows a response without tool calls");
        }
        let answered = results.iter().map(|message| match message {
            Message::Tool { tool_call_id, .. } => Some(tool_call_id),
            _ => None,
        });
        if !answered.eq(tool_calls.iter().map(|call| Some(&call.id))) {
            return fault("does not end with one tool message per call, in call order");
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::Map;

    use super::*;
    use crate::ToolCall;

    fn calls(ids: &[&str]) -> Message {
        let call = |id: &&str| ToolCall { id: (*id).to_owned(), name: "t".to_owned(), args: Map::new() };
        Message::Ai { content: String::new(), tool_calls: ids.iter().map(call).collect() }
    }

    fn tool(id: &str) -> Message {
        Message::tool(id, "ok")
    }

    #[test]
    fn providers_want_each_call_answered_at_once() {
        let human = || Message::human("Hi");
        for (messages, valid) in [
            (vec![], true),
            (vec![human(), calls(&["a", "b"]), tool("b"), tool("a"), human()], true),
            (vec![calls(&["a"]), tool("a"), calls(&["a"]), tool("a")], true),
            (vec![calls(&["a", "a"]), tool("a"), tool("a")], false),
            (vec![calls(&["a"])], false),
            (vec![calls(&["a"]), human(), tool("a")], false),
            (vec![calls(&["a"]), calls(&["b"]), tool("a"), tool("b")], false),
            (vec![calls(&["a"]), tool("a"), tool("a")], false),
            (vec![human(), tool("a")], false),
        ] {
            assert_eq!(provider_valid(&messages).is_ok(), valid, "{messages:?}");
        }
    }

    #[test]
    fn requests_grow_by_whole_rounds() {
        let first = vec![Message::human("Hi")];
        let second = [first.clone(), vec![calls(&["a", "b"]), tool("a"), tool("b")]].concat();
        assert_eq!(snapshots(&[first.clone(), second.clone()]), Ok(()));
        assert!(snapshots(&[second.clone(), second.clone()]).is_err(), "a shared, growing list");
        for wrong in [
            second[1..].to_vec(),
            second[..3].to_vec(),
            [&second[..2], &[tool("b"), tool("a")]].concat(),
            [&first[..], &[Message::ai("text")]].concat(),
        ] {
            assert!(snapshots(&[first.clone(), wrong.clone()]).is_err(), "{wrong:?}");
        }
    }
}
