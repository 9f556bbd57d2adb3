//! Feedback to a verification that failed (LOOP-VERIFY): none where the verifier gave no reason, one where it gave one.

use super::document::{Elements, renumber};
use super::input::beginnings;
use crate::protocol::{ChatMessage, EventBody, Input, LoopOutput, Part, Parts, Speaker, ThreadEvent};
use serde_json::Number;
use threadspec::{Profile, Role, escape_text};

/// A difference that the clause explains: at a position of the log, after an iteration.
struct LogEdit {
    at: usize,
    iteration: usize,
    what: EditKind,
}

enum EditKind {
    Drop(String),
    Insert(String),
}

/// Takes out and puts in what is too much and is missing, in the events and in all requests after them.
pub(super) fn settle(profile: Profile, input: &Input, run: &mut LoopOutput) {
    let (Some(requests), Some(events)) = (run.requests.proper_mut(), run.events.proper_mut()) else { return };
    let begins = beginnings(input, requests.len());
    let edits = edits(input, &begins, requests.len(), events);
    for LogEdit { at, iteration, what } in &edits {
        match what {
            EditKind::Drop(_) => drop(events.remove(*at)),
            EditKind::Insert(text) => {
                let body = EventBody::Message { role: Role::User.into(), content: text.as_str().into() };
                events.insert(*at, ThreadEvent { body, iteration: Number::from(*iteration).into() }.into());
            }
        }
    }
    if edits.is_empty() {
        return;
    }
    for (number, messages) in requests.iter_mut().enumerate() {
        let Some(messages) = messages.proper_mut() else { continue };
        let iteration = begins.iter().filter(|&&begin| begin <= number).count();
        let is_system = |message: &ChatMessage| message.speaker.is(&Speaker::System);
        let first = usize::from(messages.first().and_then(Part::proper).is_some_and(is_system));
        let before = edits.iter().filter(|edit| edit.iteration < iteration);
        if !input.is_in_xml_mode() {
            before.for_each(|edit| in_messages(edit, first, messages));
        } else if let Some(message) = messages.get_mut(first).and_then(Part::proper_mut)
            && let Some(mut document) = message.content.text().and_then(Elements::read)
        {
            before.for_each(|edit| in_document(edit, &mut document, profile));
            message.content = document.text().into();
        }
    }
}

/// The last one first, so that no edit moves what another one is about.
fn edits(input: &Input, begins: &[usize], requests: usize, events: &[Part<ThreadEvent>]) -> Vec<LogEdit> {
    let mut checks = input.checks();
    let mut edits = Vec::new();
    for (number, begin) in begins.iter().enumerate() {
        let iteration = number + 1;
        let turns = *begin..begins.get(iteration).copied().unwrap_or(requests);
        // What fails is not verified, and neither is a call to a model that says nothing more.
        let fails = |turn: usize| input.turn(turn).is_none_or(|turn| turn.error != Part::Missing);
        if turns.into_iter().any(fails) {
            continue;
        }
        let Some(check) = checks.next() else { break };
        if !check.complete.is(&false) || iteration == begins.len() {
            continue;
        }
        let current = u32::try_from(iteration).ok().map(f64::from);
        let number = |event: &Part<ThreadEvent>| event.proper().and_then(|event| event.iteration.double());
        let end = events.iter().position(|event| number(event) > current).unwrap_or(events.len());
        let last = events[..end].last().filter(|last| end > 1 && number(last) == current);
        let feedback = last.and_then(Part::proper).and_then(|event| event.body.said_by(Role::User)?.text());
        match (check.told(), feedback) {
            (None, Some(text)) => {
                edits.push(LogEdit { at: end - 1, iteration, what: EditKind::Drop(text.to_owned()) });
            }
            (Some(reason), None) => {
                let text = format!("Verification failed: {reason}. Please try again.");
                edits.push(LogEdit { at: end, iteration, what: EditKind::Insert(text) });
            }
            _ => {}
        }
    }
    edits.reverse();
    edits
}

/// In a run each event before an iteration is one message of its first request.
fn in_messages(LogEdit { at, what, .. }: &LogEdit, first: usize, messages: &mut Parts<ChatMessage>) {
    let place = first + at;
    match what {
        EditKind::Drop(text) => {
            let is_there =
                |message: &ChatMessage| message.speaker.is(&Speaker::Human) && message.content.is(text.as_str());
            if messages.get(place).and_then(Part::proper).is_some_and(is_there) {
                messages.remove(place);
            }
        }
        EditKind::Insert(text) if place <= messages.len() => {
            messages.insert(place, ChatMessage::text(Speaker::Human, text.as_str()).into());
        }
        EditKind::Insert(_) => {}
    }
}

fn in_document(LogEdit { at, iteration, what }: &LogEdit, document: &mut Elements, profile: Profile) {
    let body = |text: &str| format!(">{}</event>", escape_text(text, profile));
    match what {
        EditKind::Drop(text) => {
            let is_there = |element: &String| element.starts_with("type=\"human\" ") && element.ends_with(&body(text));
            if document.0.get(*at).is_some_and(is_there) {
                document.0.remove(*at);
                renumber(&mut document.0[*at..], "id", |id| id - 1);
            }
        }
        EditKind::Insert(text) if *at <= document.0.len() => {
            renumber(&mut document.0[*at..], "id", |id| id + 1);
            document.0.insert(*at, format!("type=\"human\" id=\"{at}\" iteration=\"{iteration}\"{}", body(text)));
        }
        EditKind::Insert(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::settle;
    use crate::protocol::Op;
    use serde_json::{Value, json};
    use threadspec::{Profile, escape_text};

    /// Runs two iterations that fail verification, the first without a reason, with the feedback of each.
    fn run(mode: &str, feedback: [&str; 2]) -> (Value, Value) {
        let texts = ["a", "b", "c"];
        let model: Vec<Value> = texts.iter().map(|text| json!({"content": text})).collect();
        let verify = json!([{"complete": false}, {"complete": false, "reason": "<"}]);
        let input = json!({"prompt": "Go", "instructions": "I", "contextMode": mode, "model": model, "verify": verify});
        let message = |role: &str, content: &str, iteration: usize| json!({"type": "message", "role": role, "content": content, "iteration": iteration});
        let mut events = vec![message("user", "Go", 0)];
        let mut requests = Vec::new();
        for (number, text) in texts.iter().enumerate() {
            let head: Vec<Value> = if mode == "xml" {
                let element = |(id, event): (usize, &Value)| {
                    let kind = if event["role"] == "user" { "human" } else { "ai" };
                    let text = escape_text(event["content"].as_str().unwrap_or_default(), Profile::Hardened);
                    format!(
                        "\n  <event type=\"{kind}\" id=\"{id}\" iteration=\"{}\">{text}</event>",
                        event["iteration"]
                    )
                };
                let elements: String = events.iter().enumerate().map(element).collect();
                vec![json!({"type": "human", "content": format!("<thread>{elements}\n</thread>")})]
            } else {
                let kind = |event: &Value| if event["role"] == "user" { "human" } else { "ai" };
                events.iter().map(|event| json!({"type": kind(event), "content": event["content"]})).collect()
            };
            requests.push([vec![json!({"type": "system", "content": "I"})], head].concat());
            events.push(message("assistant", text, number + 1));
            events.extend(
                feedback.get(number).filter(|text| !text.is_empty()).map(|text| message("user", text, number + 1)),
            );
        }
        (input, json!({"requests": requests, "events": events}))
    }

    #[test]
    fn feedback_is_where_there_is_a_reason() {
        let wanted = "Verification failed: <. Please try again.";
        for mode in ["standard", "xml"] {
            let (input, expected) = run(mode, ["", wanted]);
            for feedback in [["", ""], ["Not <yet>.", ""], ["Again!", wanted], ["Again!", "No: <"]] {
                let (_, actual) = run(mode, feedback);
                let settled = |held: &[&str]| settle(Op::Loop, Profile::Hardened, held, &input, &actual);
                assert_eq!(settled(&[]), expected, "{mode} {feedback:?}");
                assert_eq!(settled(&["LOOP-VERIFY"]), actual, "{mode} {feedback:?}");
            }
        }
    }

    #[test]
    fn what_is_no_feedback_stays() {
        for mode in ["standard", "xml"] {
            let (mut input, actual) = run(mode, ["Go", ""]);
            input["verify"] = Value::Null;
            assert_eq!(settle(Op::Loop, Profile::Hardened, &[], &input, &actual), actual, "{mode}");
        }
    }
}
