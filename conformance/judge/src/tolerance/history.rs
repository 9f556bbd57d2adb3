//! The messages of a thread, where the literal profile accepts several forms.

use super::input::beginnings;
use crate::protocol::{ChatMessage, Input, LoopOutput, Part, Parts, Shape, Speaker, ThreadEvent};
use threadspec::{Event, EventKind, read_events};

/// Begins the answer of a person (MSG-ANSWER).
const ANSWER: &str = "[Human Response]: ";

/// Settles the output of `messages` in standard mode.
pub(super) fn settle_messages(input: &Input, messages: &mut Parts<ChatMessage>) {
    if let Ok(events) = input.events() {
        *messages = as_the_reference(&events, std::mem::take(messages));
    }
}

/// Settles the requests of a run in standard mode: each begins with the thread so far, in the form that the first request of its
/// iteration has.
pub(super) fn settle_requests(input: &Input, run: &mut LoopOutput) {
    let (Some(log), Some(requests)) = (run.events.proper(), run.requests.proper_mut()) else { return };
    let (mut iteration, begins) = (0, beginnings(input, requests.len()));
    let mut change = None;
    for (number, request) in requests.iter_mut().enumerate() {
        let Some(request) = request.proper_mut() else { continue };
        if begins.contains(&number) {
            iteration += 1;
            let is_before = |event: &&Part<ThreadEvent>| {
                let number = event.proper().and_then(|event| event.iteration.double());
                number.is_some_and(|number| number < f64::from(iteration))
            };
            let length = log.iter().take_while(is_before).count();
            let settled = events(&log[..length]).map(|events| as_the_reference(&events, request.clone()));
            change = settled.filter(|settled| settled != request).map(|settled| (request.clone(), settled));
        }
        if let Some((head, settled)) = change.as_ref().filter(|(head, _)| request.starts_with(head)) {
            request.splice(..head.len(), settled.iter().cloned());
        }
    }
}

fn events(events: &[Part<ThreadEvent>]) -> Option<Vec<Event>> {
    read_events(&events.to_vec().into_json().to_string()).ok()
}

/// The messages of a thread as the reference writes them: one per call (MSG-GROUP), `undefined` for an absent result
/// (EVT-RESULT-ABSENT), the prefix before an answer (MSG-ANSWER).
fn as_the_reference(events: &[Event], messages: Parts<ChatMessage>) -> Parts<ChatMessage> {
    let mut calls = events.iter().filter(|event| matches!(event.kind, EventKind::ToolCall { .. }));
    let mut single = Vec::with_capacity(messages.len());
    for message in messages {
        let count = message.proper().map_or(0, |message| message.calls.list().len());
        let group: Vec<u64> = calls.by_ref().take(count).map(|event| event.iteration).collect();
        match message {
            Part::Proper(message)
                if count > 1 && group.len() == count && group.iter().all(|&iteration| iteration == group[0]) =>
            {
                single.extend(split(message));
            }
            message => single.push(message),
        }
    }
    // A system message may be before those of the events.
    let is_system = |message: &ChatMessage| message.speaker.is(&Speaker::System);
    let first = usize::from(single.first().and_then(Part::proper).is_some_and(is_system));
    for (event, message) in events.iter().filter(|event| has_message(event)).zip(single.iter_mut().skip(first)) {
        let Some(message) = message.proper_mut() else { continue };
        let (Some(speaker), Some(content)) = (message.speaker.proper(), message.content.text()) else { continue };
        let reading = match (&event.kind, speaker) {
            (EventKind::ToolResult { result: None, .. }, Speaker::Tool) => "undefined".to_owned(),
            (EventKind::HumanInputReceived { response }, Speaker::Human)
                if content == response || !content.starts_with(ANSWER) =>
            {
                format!("{ANSWER}{content}")
            }
            _ => continue,
        };
        message.content = reading.into();
    }
    single
}

fn has_message(event: &Event) -> bool {
    !matches!(
        event.kind,
        EventKind::Completion { .. } | EventKind::HumanInputRequested { .. } | EventKind::Summary { .. }
    )
}

/// One message per call; the text stays with the first.
fn split(mut message: ChatMessage) -> Parts<ChatMessage> {
    let Part::Proper(calls) = std::mem::take(&mut message.calls) else { return vec![message.into()] };
    let alone = |call| {
        let alone = ChatMessage { calls: vec![call].into(), ..message.clone() };
        // A wrong reply may lack it.
        if !matches!(message.content, Part::Missing) {
            message.content = "".into();
        }
        alone.into()
    };
    calls.into_iter().map(alone).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use crate::protocol::Op;
    use serde_json::{Value, json};
    use threadspec::Profile;

    fn call(id: &str, iteration: u64) -> Value {
        json!({"type": "tool_call", "toolName": "t", "toolCallId": id, "args": {}, "iteration": iteration})
    }

    fn message(ids: &[&str]) -> Value {
        let calls: Vec<Value> = ids.iter().map(|id| json!({"id": id, "name": "t", "args": {}})).collect();
        json!({"type": "ai", "content": "", "tool_calls": calls})
    }

    #[test]
    fn calls_of_one_iteration_may_share_a_message() {
        let settled = |iterations: [u64; 2]| {
            let input = json!({"events": [call("a", iterations[0]), call("b", iterations[1])]});
            settle(Op::Messages, Profile::Literal, &[], &input, &json!([message(&["a", "b"])]))
        };
        assert_eq!(settled([1, 1]), json!([message(&["a"]), message(&["b"])]));
        assert_eq!(settled([1, 2]), json!([message(&["a", "b"])]));
    }

    /// Found by libFuzzer.
    #[test]
    fn a_shared_message_may_lack_its_content() {
        let without = |ids: &[&str]| {
            let mut message = message(ids);
            message.as_object_mut().expect("an object").remove("content");
            message
        };
        let input = json!({"events": [call("a", 1), call("b", 1)]});
        let settled = settle(Op::Messages, Profile::Literal, &[], &input, &json!([without(&["a", "b"])]));
        assert_eq!(settled, json!([without(&["a"]), without(&["b"])]));
    }

    #[test]
    fn answers_and_absent_results_have_several_forms() {
        let events = json!([
            {"type": "human_input_received", "response": "yes", "iteration": 1},
            call("a", 1),
            {"type": "tool_result", "toolCallId": "a", "iteration": 1},
        ]);
        let output = |answer: &str, result: &str| {
            let result = json!({"type": "tool", "content": result, "tool_call_id": "a"});
            json!([{"type": "system", "content": "s"}, {"type": "human", "content": answer}, message(&["a"]), result])
        };
        let input = json!({"events": events, "instructions": "s"});
        let settled = |profile, output| settle(Op::Messages, profile, &[], &input, &output);
        let expected = output("[Human Response]: yes", "undefined");
        assert_eq!(settled(Profile::Literal, output("yes", "null")), expected);
        assert_eq!(settled(Profile::Literal, expected.clone()), expected);
        assert_eq!(settled(Profile::Hardened, output("yes", "null")), output("yes", "null"));
    }
}
