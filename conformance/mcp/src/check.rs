//! Checks the form of the messages of a client, which the SDK passes over in silence.

use serde_json::{Value, json};
use std::collections::HashSet;

/// The codes of JSON-RPC for a message that is no JSON, and for one that is no message.
const NOT_JSON: i64 = -32700;
const NO_MESSAGE: i64 = -32600;

/// The requests that wait for an answer.
#[derive(Debug, Default)]
pub(crate) struct MessageCheck {
    open: HashSet<String>,
}

/// A message that is none.
#[derive(Debug, PartialEq)]
pub(crate) struct BrokenMessage {
    /// The fault, in one sentence.
    pub(crate) what: String,
    /// The answer to it.
    pub(crate) answer: String,
}

impl MessageCheck {
    /// Checks a message of the client.
    pub(crate) fn came(&mut self, text: &str) -> Result<(), BrokenMessage> {
        let message: Value = serde_json::from_str(text).map_err(|error| {
            broken(NOT_JSON, &Value::Null, &format!("it sends a message that is not JSON: {error}"))
        })?;
        let id = &message["id"];
        let refuse = |what: &str| Err(broken(NO_MESSAGE, id, what));
        if message.is_array() {
            return refuse("it sends several messages at once, in a list, which MCP has not had since 2025-06-18");
        }
        if !message.is_object() {
            return refuse("it sends a message that is no object");
        }
        if message["jsonrpc"] != "2.0" {
            return refuse("it sends a message without `\"jsonrpc\": \"2.0\"`");
        }
        let is_answer = message.get("result").is_some() || message.get("error").is_some();
        match message.get("method") {
            None if is_answer => return Ok(()),
            None => return refuse("it sends a message that has no method, no result and no error"),
            Some(Value::String(_)) => {}
            Some(_) => return refuse("it sends a message whose method is not a string"),
        }
        match message.get("id") {
            None => Ok(()),
            Some(Value::String(_) | Value::Number(_)) if self.open.insert(id.to_string()) => Ok(()),
            Some(Value::String(_) | Value::Number(_)) => {
                // The answer would end the first request.
                Err(broken(
                    NO_MESSAGE,
                    &Value::Null,
                    &format!("it sends a second request with the id {id} before the first one is answered"),
                ))
            }
            Some(_) => refuse("it sends a request whose id is neither a string nor a number"),
        }
    }

    /// How many requests wait for their answers.
    pub(crate) fn open(&self) -> usize {
        self.open.len()
    }

    /// Notes a message of the server.
    pub(crate) fn went(&mut self, text: &str) {
        if let Ok(message) = serde_json::from_str::<Value>(text)
            && message.get("method").is_none()
        {
            self.open.remove(&message["id"].to_string());
        }
    }
}

fn broken(code: i64, id: &Value, what: &str) -> BrokenMessage {
    let id = if id.is_string() || id.is_number() { id.clone() } else { Value::Null };
    let answer = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": what}}).to_string();
    BrokenMessage { what: what.to_owned(), answer }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_named_in_one_sentence() {
        let mut check = MessageCheck::default();
        let mut what = |text: &str| check.came(text).map_err(|broken| broken.what).err().unwrap_or_default();
        for (text, expected) in [
            ("{", "not JSON"),
            ("[{}]", "several messages at once"),
            ("1", "no object"),
            (r#"{"id": 1, "method": "ping"}"#, "jsonrpc"),
            (r#"{"jsonrpc": "2.0", "id": 1}"#, "no method"),
            (r#"{"jsonrpc": "2.0", "id": 1, "method": 1}"#, "not a string"),
            (r#"{"jsonrpc": "2.0", "id": null, "method": "ping"}"#, "neither a string nor a number"),
        ] {
            assert!(what(text).contains(expected), "{text}: {}", what(text));
        }
        let ping = r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#;
        assert_eq!(what(ping), "");
        assert!(what(ping).contains("a second request with the id 1"));
        check.went(r#"{"jsonrpc": "2.0", "id": 1, "result": {}}"#);
        assert_eq!(check.came(ping), Ok(()));
        let note = r#"{"jsonrpc": "2.0", "method": "notifications/initialized"}"#;
        assert!(check.came(note).is_ok() && check.came(note).is_ok());
    }
}
