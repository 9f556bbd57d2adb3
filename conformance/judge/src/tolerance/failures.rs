//! Tools that fail: the results that the script gives them, and SPEC-01's "separate error events" (LOOP-TOOL-ERROR).

use super::each_document;
use crate::protocol::Op;
use serde_json::{Value, json};
use std::collections::HashMap;
use threadspec::agent::{ScriptedTools, ToolError, Tools};
use threadspec::surrogates::marked;
use threadspec::{Profile, ToolCall, escape_attribute, escape_text};

/// The result of each call that fails, `None` for one that succeeds, in the order in which a run executes the calls.
pub(super) fn outcomes(op: Op, input: &Value) -> Vec<Option<String>> {
    // The library takes what looks like the mark of a lone surrogate for one unless it is set apart.
    let as_marked = |result: &Value| {
        let mut result = result.clone();
        if let Some(Value::String(message)) = result.get_mut("error") {
            *message = marked(message).into_owned();
        }
        result
    };
    let results = |list: &Value| list.as_array().into_iter().flatten().map(as_marked).collect();
    let tools = input["tools"].as_object().into_iter().flatten();
    let tools: HashMap<String, Vec<Value>> = tools.map(|(name, list)| (name.clone(), results(list))).collect();
    let mut tools = ScriptedTools::new(tools);
    let turns = input["model"].as_array().map(Vec::as_slice).unwrap_or_default();
    let rounds = input["maxRecursionDepth"].as_u64().filter(|_| op == Op::Tools);
    let rounds = rounds.and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(turns.len());
    let calls = turns.iter().take(rounds).flat_map(|turn| turn["tool_calls"].as_array().into_iter().flatten());
    let outcome = |call: &Value| {
        let name = call["name"].as_str()?.to_owned();
        match tools.call(&ToolCall { id: String::new(), name: name.clone(), args: serde_json::Map::new() }) {
            Ok(_) => None,
            Err(ToolError::NotFound) => Some(format!("Tool not found: \"{name}\"")),
            Err(ToolError::Failed(message)) => Some(format!("Tool error: {message}")),
        }
    };
    calls.map(outcome).collect()
}

/// An error event that took the place of a result.
struct Replaced {
    id: Value,
    name: String,
    error: String,
    text: String,
}

/// Replaces each error event that stands in place of a failed tool's result by that result, in the events and in all requests.
pub(super) fn settle(input: &Value, output: &mut Value) {
    let mut outcomes = outcomes(Op::Loop, input).into_iter();
    let Some(events) = output.get_mut("events").and_then(Value::as_array_mut) else { return };
    let mut replaced = Vec::new();
    for position in 1..events.len() {
        let [call, event] = &mut events[position - 1..=position] else { continue };
        if call["type"] != "tool_call" {
            continue;
        }
        if let (Some(Some(text)), true, Some(error)) =
            (outcomes.next(), event["type"] == "error", event["error"].as_str().map(str::to_owned))
        {
            let name = call["toolName"].as_str().unwrap_or_default().to_owned();
            let id = call["toolCallId"].clone();
            *event = json!({"type": "tool_result", "toolCallId": id, "result": text, "iteration": event["iteration"]});
            replaced.push(Replaced { id, name, error, text });
        }
    }
    if replaced.is_empty() {
        return;
    }
    if input["contextMode"] == "xml" {
        each_document(output, &|document| {
            replaced.iter().fold(document.to_owned(), |text, one| in_document(&text, one))
        });
        return;
    }
    for request in output.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten() {
        let mut open = replaced.iter();
        let mut asked = Value::Null;
        for message in request.as_array_mut().into_iter().flatten() {
            let said = message["content"].as_str().and_then(|content| content.strip_prefix("[Error"));
            let said = said.and_then(|rest| Some(rest.split_once("]: ")?.1.to_owned()));
            let is_open = |one: &Replaced| {
                let calls = asked["tool_calls"].as_array().into_iter().flatten();
                said.as_ref() == Some(&one.error) && calls.into_iter().any(|call| call["id"] == one.id)
            };
            if message["type"] == "human" && open.as_slice().first().is_some_and(is_open) {
                let one = open.next().map(|one| (&one.id, &one.text));
                *message =
                    one.map_or(Value::Null, |(id, text)| json!({"type": "tool", "content": text, "tool_call_id": id}));
            } else {
                asked = message.clone();
            }
        }
    }
}

/// Does the same in a document, at the first error event that fits.
fn in_document(document: &str, replaced: &Replaced) -> String {
    let name = escape_attribute(&replaced.name, Profile::Literal);
    let [error, text] = [&replaced.error, &replaced.text].map(|text| escape_text(text, Profile::Literal));
    let mut lines: Vec<String> = document.split("\n  <event ").map(str::to_owned).collect();
    for position in 1..lines.len() {
        let follows = lines[position - 1].starts_with("type=\"tool_input\" ");
        let line = lines[position].strip_prefix("type=\"error\" ").filter(|_| follows);
        let Some((attributes, rest)) = line.and_then(|line| line.split_once('>')) else { continue };
        let Some(behind) = rest.strip_prefix(&*error).and_then(|rest| rest.strip_prefix("</event>")) else { continue };
        let value = |name: &str| {
            let (_, value) = attributes.split_once(&format!("{name}=\""))?;
            value.split_once('"').map(|(value, _)| value)
        };
        let (Some(id), Some(iteration)) = (value("id"), value("iteration")) else { continue };
        lines[position] = format!(
            "type=\"tool_output\" id=\"{id}\" name=\"{name}\" status=\"success\" iteration=\"{iteration}\">{text}</event>{behind}"
        );
        break;
    }
    lines.join("\n  <event ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use super::outcomes;
    use crate::protocol::Op;
    use serde_json::{Value, json};
    use threadspec::Profile;

    fn event(event: &Value, iteration: u64) -> Value {
        let mut event = event.clone();
        event["iteration"] = iteration.into();
        event
    }

    #[test]
    fn a_message_is_what_the_script_says() {
        let input = json!({
            "model": [{"tool_calls": [{"id": "c", "name": "t"}, {"id": "d", "name": "u"}, {"id": "e", "name": "t"}]}],
            "tools": {"t": [{"error": "\u{10d83d}"}, {"error": "", "code": 1}]},
        });
        let expected = ["Tool error: \u{10d83d}", "Tool not found: \"u\""].map(|text| Some(text.to_owned()));
        assert_eq!(outcomes(Op::Loop, &input), [&expected[..], &[None]].concat());
    }

    #[test]
    fn an_error_event_may_stand_for_a_result() {
        let script = json!([{"tool_calls": [{"id": "c", "name": "t"}]}, {"content": "a"}, {"content": "b"}]);
        let run = |mode: &str, failure: &Value, head: Value| {
            let call = event(&json!({"type": "tool_call", "toolName": "t", "toolCallId": "c", "args": {}}), 1);
            (
                json!({"prompt": "Go", "model": script, "tools": {"t": [{"error": "x"}]}, "contextMode": mode}),
                json!({"requests": [head], "events": [call, event(failure, 1)]}),
            )
        };
        let error = json!({"type": "error", "error": "x", "recoverable": true});
        let result = json!({"type": "tool_result", "toolCallId": "c", "result": "Tool error: x"});
        let ai = json!({"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "t", "args": {}}]});
        let list = |last: &Value| json!([ai, last]);
        let human = json!({"type": "human", "content": "[Error (recoverable)]: x"});
        let tool = json!({"type": "tool", "content": "Tool error: x", "tool_call_id": "c"});
        let document = |failure: &str| {
            let call = "<event type=\"tool_input\" id=\"0\" name=\"t\" iteration=\"1\">{}</event>";
            json!([{"type": "human", "content": format!("<thread>\n  {call}\n  <event {failure}</event>\n</thread>")}])
        };
        let errors = document("type=\"error\" id=\"1\" iteration=\"1\" recoverable=\"true\">x");
        let outputs =
            document("type=\"tool_output\" id=\"1\" name=\"t\" status=\"success\" iteration=\"1\">Tool error: x");
        for (mode, actual, expected) in [("standard", list(&human), list(&tool)), ("xml", errors, outputs)] {
            let ((input, actual), (_, expected)) = (run(mode, &error, actual), run(mode, &result, expected));
            let held = ["LOOP-TOOL-ERROR", "LOOP-ERROR", "LOOP-PROMPT"];
            assert_eq!(settle(Op::Loop, Profile::Literal, &held, &input, &actual), expected, "{mode}");
            assert_eq!(settle(Op::Loop, Profile::Hardened, &held, &input, &actual), actual, "{mode}");
        }
    }
}
