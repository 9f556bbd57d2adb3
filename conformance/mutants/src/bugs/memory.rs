//! State that a request leaves behind for the next.

use super::{Planted, bug};
use crate::twin::context::summaries;
use serde_json::{Value, json};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// An absent member takes the value that it had in the last request, whatever that was about.
pub(super) fn sticky(memory: &mut Value, input: &mut Value, name: &str) {
    match input.get(name) {
        Some(value) => memory[name] = value.clone(),
        None if memory[name].is_null() => {}
        None => input[name] = memory[name].clone(),
    }
}

fn count(events: &Value) -> usize {
    events.as_array().map_or(0, Vec::len)
}

pub(super) const BUGS: &[Planted] = &[
    bug("instructions-stick", &[clause::MSG_PURE, clause::CTX_SYSTEM], |twin| {
        twin.before = |twin, _, input| sticky(&mut twin.memory, input, "instructions");
    }),
    bug("mode-sticks", &[clause::MSG_PURE, clause::CTX_DEFAULT], |twin| {
        twin.before = |twin, _, input| sticky(&mut twin.memory, input, "contextMode");
    }),
    bug("prefix-sticks", &[clause::DOC_6, clause::DOC_PREFIX_EMPTY], |twin| {
        twin.before = |twin, _, input| sticky(&mut twin.memory, input, "responsePrefix");
    }),
    bug("ids-count-on", &[clause::ATT_ID, clause::MSG_PURE], |twin| {
        twin.after = |twin, _, input, _| {
            twin.memory = (twin.memory.as_u64().unwrap_or(0) + count(&input["events"]) as u64).into();
        };
        twin.id = |twin, _, position| (twin.memory.as_u64().unwrap_or(0) + position as u64).to_string();
    }),
    bug("events-pile-up", &[clause::MSG_PURE, clause::DOC_2], |twin| {
        twin.before = |twin, op, input| {
            let Some(events) = input["events"].as_array_mut().filter(|_| op != Op::Loop) else { return };
            let earlier = std::mem::replace(&mut twin.memory, Value::Array(events.clone()));
            events.splice(0..0, earlier.as_array().cloned().unwrap_or_default());
        };
    }),
    bug("answer-cached-by-length", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            let key = format!("{op} {}", count(&input["events"]));
            if twin.memory[&key].is_null() {
                twin.memory[&key] = output.clone();
            } else if op == Op::Messages {
                *output = twin.memory[&key].clone();
            }
        };
    }),
    bug("names-remembered", &[clause::ATT_NAME], |twin| {
        twin.after = |twin, _, input, output| {
            let events = input["events"].as_array().into_iter().flatten().enumerate();
            for (index, event) in events.filter(|(_, event)| event["toolCallId"].is_string()) {
                let id = event["toolCallId"].as_str().unwrap_or_default();
                if event["type"] == "tool_call" {
                    twin.memory[id] = event["toolName"].clone();
                } else if let (Some(name), Some(text)) = (twin.memory[id].as_str(), output.as_str()) {
                    let unknown = format!(" id=\"{index}\" name=\"unknown\"");
                    *output = text.replace(&unknown, &format!(" id=\"{index}\" name=\"{name}\"")).into();
                }
            }
        };
    }),
    bug("summaries-remembered", &[clause::MSG_PURE, clause::CTX_SYSTEM], |twin| {
        twin.before = |twin, op, input| {
            let known = twin.memory["summary"].clone();
            let Some(events) = input["events"].as_array_mut().filter(|_| op == Op::Messages) else { return };
            match events.iter().find(|event| event["type"] == "summary") {
                Some(summary) => twin.memory = json!({ "summary": summary }),
                None if known.is_object() => events.push(known),
                None => {}
            }
        };
        twin.summaries = summaries;
    }),
];
