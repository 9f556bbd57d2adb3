//! The order of arguments in events.

use crate::corpus::expectation::Pattern;
use crate::protocol::{EventBody, Input, LoopOutput, Part, ThreadEvent};
use serde_json::{Value, json};

/// Orders the arguments in events as the model wrote them: documents are built from events, and there the order counts.
pub(super) fn order_arguments(input: &Input, run: &mut LoopOutput) {
    let calls = input.turns().flat_map(|turn| turn.calls.list());
    let arguments = run.events.list_mut().iter_mut().filter_map(arguments);
    for (actual, call) in arguments.zip(calls) {
        let Some(written) = call.proper().and_then(|call| call.args.proper()).filter(|args| args.is_object()) else {
            continue;
        };
        let given = Pattern::read(&json!({ "literally": written }));
        if given.is_ok_and(|given| actual.proper().is_some_and(|actual| given.matches(actual))) {
            *actual = written.clone().into();
        }
    }
}

/// The arguments in the event of a call.
fn arguments(event: &mut Part<ThreadEvent>) -> Option<&mut Part<Value>> {
    match &mut event.proper_mut()?.body {
        EventBody::ToolCall { args, .. } => Some(args),
        _ => None,
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
