//! Tools that fail: the results that the script gives them, and SPEC-01's "separate error events" (LOOP-TOOL-ERROR).

use super::each_document;
use crate::protocol::{Call, ChatMessage, EventBody, Input, LoopOutput, Op, Part, Speaker, ThreadEvent};
use serde_json::{Number, Value};
use std::collections::HashMap;
use threadspec::agent::{ScriptedTools, ToolError, Tools};
use threadspec::surrogates::marked;
use threadspec::{Profile, ToolCall, escape_attribute, escape_text};

/// The result of each call that fails, `None` for one that succeeds, in the order in which a run executes the calls.
pub(super) fn outcomes(op: Op, input: &Input) -> Vec<Option<String>> {
    // The library takes what looks like the mark of a lone surrogate for one unless it is set apart.
    let as_marked = |result: &Value| {
        let mut result = result.clone();
        if let Some(Value::String(message)) = result.get_mut("error") {
            *message = marked(message).into_owned();
        }
        result
    };
    let results = |list: &Value| list.as_array().into_iter().flatten().map(as_marked).collect();
    let tools = input.tools.proper().into_iter().flatten();
    let tools: HashMap<String, Vec<Value>> = tools.map(|(name, list)| (name.clone(), results(list))).collect();
    let mut tools = ScriptedTools::new(tools);
    let rounds = input.max_recursion_depth.proper().and_then(Number::as_u64).filter(|_| op == Op::Tools);
    let rounds = rounds.and_then(|rounds| usize::try_from(rounds).ok()).unwrap_or(usize::MAX);
    let calls = input.turns().take(rounds).flat_map(|turn| turn.calls.list());
    let outcome = |call: &Part<Call>| {
        let name = call.proper()?.name.text()?.to_owned();
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
    id: Part<String>,
    name: String,
    error: String,
    text: String,
}

/// Replaces each error event that is in place of a failed tool's result by that result, in the events and in all requests.
pub(super) fn settle(input: &Input, run: &mut LoopOutput) {
    let replaced = in_events(input, run.events.list_mut());
    if replaced.is_empty() {
        return;
    }
    if input.is_in_xml_mode() {
        let change = |document: &str| replaced.iter().fold(document.to_owned(), |text, one| in_document(&text, one));
        each_document(&mut run.requests, &change);
    } else {
        run.requests.list_mut().iter_mut().for_each(|request| in_messages(&replaced, request.list_mut()));
    }
}

fn in_events(input: &Input, events: &mut [Part<ThreadEvent>]) -> Vec<Replaced> {
    let mut outcomes = outcomes(Op::Loop, input).into_iter();
    let mut replaced = Vec::new();
    for position in 1..events.len() {
        let [Part::Proper(call), event] = &mut events[position - 1..=position] else { continue };
        let EventBody::ToolCall { tool_name, tool_call_id: id, .. } = &call.body else { continue };
        if let (Some(Some(text)), Some(event)) = (outcomes.next(), event.proper_mut())
            && let EventBody::Error { error: Part::Proper(error), .. } = &event.body
        {
            let (name, error) = (tool_name.text().unwrap_or_default().to_owned(), error.clone());
            let result = Value::from(&*text).into();
            event.body = EventBody::ToolResult { tool_call_id: id.clone(), result };
            replaced.push(Replaced { id: id.clone(), name, error, text });
        }
    }
    replaced
}

fn in_messages(replaced: &[Replaced], messages: &mut [Part<ChatMessage>]) {
    let mut open = replaced.iter().peekable();
    let mut asked = Vec::new();
    for message in messages {
        let said = message.proper().filter(|message| message.speaker.is(&Speaker::Human));
        let said = said.and_then(|message| message.content.text()?.strip_prefix("[Error")?.split_once("]: "));
        let is_said = |one: &&Replaced| said.is_some_and(|(_, said)| said == one.error) && asked.contains(&one.id);
        if let Some(one) = open.next_if(is_said) {
            *message = ChatMessage::answer(one.id.clone(), &*one.text).into();
        } else {
            let calls = message.proper().map(|message| message.calls.list()).unwrap_or_default();
            asked = calls.iter().filter_map(|call| Some(call.proper()?.id.clone())).collect();
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
    use crate::protocol::{Input, Op};
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
        assert_eq!(outcomes(Op::Loop, &Input::of(input)), [&expected[..], &[None]].concat());
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
