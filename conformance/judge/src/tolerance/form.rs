//! The form of messages and events: unknown members and nulls.

use crate::corpus::expectation::Pattern;
use crate::json::list;
use crate::protocol::Op;
use serde_json::{Value, json};
use threadspec::Event;

/// Removes the members that the protocol does not name, and optional ones that are null.
pub(super) fn strip(op: Op, output: &mut Value) {
    match op {
        Op::Escape | Op::Serialize => {}
        Op::Messages => messages(output),
        Op::Tools => {
            keep(output, |name| ["requests", "messages"].contains(&name));
            requests(output);
            output.get_mut("messages").into_iter().for_each(messages);
        }
        Op::Loop => {
            let members = ["requests", "events", "response", "iterations", "stopReason"];
            keep(output, |name| members.contains(&name));
            requests(output);
            output.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten().for_each(event);
        }
    }
}

fn keep(object: &mut Value, is_known: impl Fn(&str) -> bool) {
    if let Value::Object(members) = object {
        members.retain(|name, _| is_known(name));
    }
}

fn drop_null(object: &mut Value, name: &str) {
    if let Value::Object(members) = object
        && members.get(name).is_some_and(Value::is_null)
    {
        members.shift_remove(name);
    }
}

fn requests(output: &mut Value) {
    output.get_mut("requests").and_then(Value::as_array_mut).into_iter().flatten().for_each(messages);
}

fn messages(list: &mut Value) {
    for message in list.as_array_mut().into_iter().flatten() {
        keep(message, |name| ["type", "content", "tool_calls", "tool_call_id"].contains(&name));
        drop_null(message, "tool_calls");
        drop_null(message, "tool_call_id");
        for call in message.get_mut("tool_calls").and_then(Value::as_array_mut).into_iter().flatten() {
            keep(call, |name| ["id", "name", "args"].contains(&name));
        }
    }
}

fn event(event: &mut Value) {
    let known = Event::FIELDS.iter().find(|(kind, _)| event["type"] == *kind);
    if let Some((kind, fields)) = known {
        keep(event, |name| ["type", "iteration"].contains(&name) || fields.contains(&name));
        if *kind == "completion" {
            drop_null(event, "verified");
        }
    }
}

/// Orders the arguments in events as the model wrote them: documents are built from events, and there the order counts.
pub(super) fn order_arguments(input: &Value, output: &mut Value) {
    let calls = list(&input["model"]).iter().flat_map(|turn| list(&turn["tool_calls"]));
    let events = output.get_mut("events").and_then(Value::as_array_mut).into_iter().flatten();
    for (event, call) in events.filter(|event| event["type"] == "tool_call").zip(calls) {
        let given = Pattern::read(&json!({ "literally": call["args"] }));
        if call["args"].is_object() && given.is_ok_and(|given| given.matches(&event["args"])) {
            event["args"] = call["args"].clone();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use crate::protocol::Op;
    use serde_json::json;
    use threadspec::Profile;

    #[test]
    fn what_the_protocol_does_not_name_is_ignored() {
        let message = json!({"type": "ai", "content": "", "name": "x", "tool_call_id": null,
            "tool_calls": [{"id": "c", "name": "t", "args": {"type": null}, "type": "tool_call"}]});
        let event = json!({"type": "tool_result", "toolCallId": "c", "result": null, "iteration": 1, "timestamp": 5});
        let output = json!({"requests": [[message]], "events": [event], "stopReason": "completed", "usage": {}});
        let plain = json!({
            "requests": [[{"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "t", "args": {"type": null}}]}]],
            "events": [{"type": "tool_result", "toolCallId": "c", "result": null, "iteration": 1}],
            "stopReason": "completed",
        });
        assert_eq!(settle(Op::Loop, Profile::Hardened, &["LOOP-VERIFY"], &json!({"prompt": ""}), &output), plain);
    }

    #[test]
    fn arguments_in_events_stand_as_the_model_wrote_them() {
        let input =
            json!({"prompt": "", "model": [{"tool_calls": [{"id": "c", "name": "t", "args": {"b": 1, "a": [2]}}]}]});
        let run = |args| json!({"events": [{"type": "tool_call", "toolName": "t", "toolCallId": "c", "args": args, "iteration": 1}]});
        let settled = |args| settle(Op::Loop, Profile::Hardened, &[], &input, &run(args)).to_string();
        assert_eq!(settled(json!({"a": [2], "b": 1.0})), run(json!({"b": 1, "a": [2]})).to_string());
        assert_eq!(settled(json!({"a": [], "b": 1})), run(json!({"a": [], "b": 1})).to_string());
    }

    #[test]
    fn an_empty_list_of_calls_is_not_an_absent_one() {
        let output = json!([{"type": "ai", "content": "a", "tool_calls": []}]);
        assert_eq!(settle(Op::Messages, Profile::Literal, &[], &json!({"events": []}), &output), output);
    }
}
