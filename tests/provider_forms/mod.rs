//! Puts faults into long histories, each in several places: exactly these are found, and every fault of a message is reported.

mod anthropic;
mod bedrock;
mod gemini;
mod openai;

use serde_json::{Value, json};
use threadspec::oracle::{RequestForm, provider_breaches_in};

const ROUNDS: usize = 40;
const IMAGE: &str = "data:image/png;base64,iVBORw0KGgo=";

/// Messages: the system text; of each round from `1 + 3 * round` on the user, a call, its result.
fn chat() -> Value {
    let mut messages = vec![json!({"role": "system", "content": "S"})];
    for round in 0..ROUNDS {
        let id = format!("call_{round}");
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": "Hi"}, {"type": "image_url", "image_url": {"url": IMAGE}}]}));
        messages.push(json!({"role": "assistant", "content": null,
            "tool_calls": [{"id": id, "type": "function", "function": {"name": "t", "arguments": "{}"}}]}));
        messages.push(json!({"role": "tool", "tool_call_id": id, "content": [{"type": "text", "text": "4"}]}));
    }
    json!({"model": "gpt-4o", "messages": messages})
}

/// Items: of each round from `4 * round` on the user, a call, its output, the answer.
fn responses() -> Value {
    let mut items = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("call_{round}");
        items.push(json!({"type": "message", "role": "user",
            "content": [{"type": "input_text", "text": "Hi"}, {"type": "input_image", "image_url": IMAGE}]}));
        items.push(json!({"type": "function_call", "id": format!("fc_{round}"), "call_id": id, "name": "t", "arguments": "{}"}));
        items.push(
            json!({"type": "function_call_output", "call_id": id, "output": [{"type": "input_text", "text": "4"}]}),
        );
        items.push(json!({"type": "message", "id": format!("msg_{round}"), "role": "assistant",
            "content": [{"type": "output_text", "text": "Yes"}]}));
    }
    json!({"model": "gpt-4.1", "input": items, "tools": [{"type": "function", "name": "t", "parameters": {"type": "object"}}]})
}

/// Messages: of each round from `4 * round` on the user, a call behind a text, its result, the answer; at the end the user.
fn anthropic() -> Value {
    let mut messages = Vec::new();
    for round in 0..ROUNDS {
        let id = format!("toolu_{round}");
        let image =
            json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}});
        messages.push(json!({"role": "user", "content": [{"type": "text", "text": "Hi"}, image]}));
        messages.push(json!({"role": "assistant", "content": [{"type": "text", "text": "So:"},
            {"type": "tool_use", "id": id, "name": "t", "input": {}}]}));
        messages
            .push(json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": [image]}]}));
        messages.push(json!({"role": "assistant", "content": "Yes"}));
    }
    messages.push(json!({"role": "user", "content": "And?"}));
    json!({"model": "claude-sonnet-5", "max_tokens": 1024, "messages": messages, "tools": [{"name": "t", "input_schema": {"type": "object"}}]})
}

/// Contents: of each round from `4 * round` on the user, two calls, their responses, the answer; then the user and two rounds of calls and
/// responses, the running turn.
fn gemini() -> Value {
    let user = json!({"role": "user", "parts": [{"text": "Hi"}]});
    let calls = json!({"role": "model", "parts": [{"text": "So:"},
        {"functionCall": {"name": "t", "args": {}}, "thoughtSignature": "x"}, {"functionCall": {"name": "u", "args": {}}}]});
    let responses = json!({"role": "user", "parts": [{"functionResponse": {"name": "t", "response": {"n": 4}}},
        {"function_response": {"name": "u", "response": {"n": 4}}}]});
    let answer = json!({"role": "model", "parts": [{"text": "Yes"}]});
    let mut unsigned = calls.clone();
    unsigned["parts"][1].as_object_mut().expect("a part").remove("thoughtSignature");
    // Earlier turns need no signatures.
    let round = [user.clone(), unsigned, responses.clone(), answer];
    let mut contents: Vec<Value> = round.iter().cycle().take(4 * ROUNDS).cloned().collect();
    contents.extend([user, calls.clone(), responses.clone(), calls, responses]);
    json!({"model": "models/gemini-3-pro-preview", "contents": contents,
        "tools": [{"functionDeclarations": [{"name": "t"}, {"name": "u"}]}, {"function_declarations": [{"name": "v"}]}]})
}

/// Messages: of each round from `4 * round` on the user, two calls, their results, the answer; at the end the user.
fn bedrock() -> Value {
    let mut messages = Vec::new();
    for round in 0..ROUNDS {
        let call = |name: &str| json!({"toolUse": {"toolUseId": format!("{name}{round}"), "name": name, "input": {}}});
        let result = |name: &str, status: &str| json!({"toolResult": {"toolUseId": format!("{name}{round}"), "content": [{"text": "4"}], "status": status}});
        messages.push(json!({"role": "user", "content": [{"text": "Hi"}]}));
        messages.push(json!({"role": "assistant", "content": [{"text": "So:"}, call("a"), call("b")]}));
        messages.push(json!({"role": "user", "content": [result("b", "error"), result("a", "success"), {"cachePoint": {"type": "default"}}]}));
        messages.push(json!({"role": "assistant", "content": [{"text": "Yes"}]}));
    }
    messages.push(json!({"role": "user", "content": [{"text": "And?"}]}));
    json!({"modelId": "amazon.nova-pro-v1:0", "messages": messages, "toolConfig": {"tools": []}})
}

/// What is put where, by JSON pointers; without a value it is taken away.
type Plant<'a> = &'a [(&'a str, Option<Value>)];
/// The rule and the place of each fault that is found.
type Found<'a> = &'a [(&'a str, &'a str)];

fn plant(body: &mut Value, faults: Plant<'_>) {
    for (pointer, value) in faults {
        let (holder, name) = pointer.rsplit_once('/').expect("a pointer");
        let holder = body.pointer_mut(holder).unwrap_or_else(|| panic!("{pointer}: nothing is there"));
        match (holder, value) {
            (Value::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value.clone())),
            (Value::Object(members), None) => drop(members.shift_remove(name).expect("a member")),
            (Value::Array(elements), Some(value)) => elements[name.parse::<usize>().expect("a number")] = value.clone(),
            (Value::Array(elements), None) => drop(elements.remove(name.parse().expect("a number"))),
            (other, _) => panic!("{pointer}: {other}"),
        }
    }
}

fn exactly(form: impl Into<RequestForm> + Copy, right: &Value, rows: &[(Plant<'_>, Found<'_>)]) {
    assert_eq!(provider_breaches_in(form, right), []);
    for (faults, expected) in rows {
        let mut wrong = right.clone();
        plant(&mut wrong, faults);
        let found = provider_breaches_in(form, &wrong);
        let found: Vec<(&str, &str)> = found.iter().map(|breach| (breach.rule, &*breach.place)).collect();
        assert_eq!(found, *expected, "{faults:?}");
    }
}
