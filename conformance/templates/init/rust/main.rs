//! The adapter between threadspec and this implementation: one JSON object a line, from standard input to standard output.
//!
//! Replace `escape` with your own function, and add the operations that you have.

mod lines;

use serde_json::{json, Value};
use std::io;

const OPS: [&str; 1] = ["escape"];

fn escape(input: &Value) -> Result<Value, String> {
    let text = input["text"].as_str().ok_or("`text` is not a string")?;
    Ok(text
        .chars()
        .map(|c| match c {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            '"' => "&quot;".to_owned(),
            '\'' => "&apos;".to_owned(),
            c => c.to_string(),
        })
        .collect::<String>()
        .into())
}

fn answer(request: &Value) -> Value {
    let id = &request["id"];
    let output = match request["op"].as_str().unwrap_or_default() {
        "hello" => {
            let implementation = json!({"name": "my-agent", "version": env!("CARGO_PKG_VERSION"), "language": "Rust"});
            Ok(json!({"protocol": 1, "implementation": implementation, "ops": OPS, "profiles": ["literal"]}))
        }
        "escape" => escape(&request["input"]),
        _ => return json!({"id": id, "unsupported": "not done yet"}),
    };
    match output {
        Ok(output) => json!({"id": id, "ok": output}),
        // The kind is `invalid-event` for a wrong element of `events`. In `universal`, once the model was asked, the reply is `ok` with `failure`.
        Err(message) => json!({"id": id, "reject": {"kind": "invalid-input", "message": message}}),
    }
}

fn main() -> io::Result<()> {
    lines::serve(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hello_says_who_this_is() {
        let reply = answer(&json!({"id": 0, "op": "hello", "protocol": 1}));
        assert_eq!((&reply["ok"]["protocol"], &reply["ok"]["ops"]), (&json!(1), &json!(["escape"])));
    }

    #[test]
    fn escape_replaces_five_characters() {
        let reply = answer(&json!({"id": 7, "op": "escape", "input": {"text": "<a & 'b'>"}}));
        assert_eq!(reply, json!({"id": 7, "ok": "&lt;a &amp; &apos;b&apos;&gt;"}));
    }

    #[test]
    fn what_is_not_there_yet_is_unsupported() {
        let reply = answer(&json!({"id": 8, "op": "none", "input": {}}));
        assert_eq!(reply, json!({"id": 8, "unsupported": "not done yet"}));
    }
}
