//! What is read, and what is refused.

use super::{Planted, bug, crash, hardened};
use crate::twin::input::raw_input;
use serde_json::{Value, json};
use threadspec::Event;
use threadspec::surrogates::replace_surrogates;
use threadspec_golden::clause;
use threadspec_judge::json::tokens;
use threadspec_judge::protocol::{RejectKind, Reply};

/// Whether JSON text has the escape of a lone surrogate.
fn is_cut(raw: &str) -> bool {
    raw_input(raw) != raw
}

/// Sets a member that is missing.
fn default(event: &mut Value, name: &str, value: impl Into<Value>) {
    if event.is_object() && event.get(name).is_none() {
        event[name] = value.into();
    }
}

/// Reads JSON text, and crashes if it is nested more deeply than the limit.
fn shallow(raw: &str, limit: usize) -> String {
    let mut depth = 0_usize;
    for token in tokens(raw) {
        depth = depth + usize::from(token == "[" || token == "{") - usize::from(token == "]" || token == "}");
        if depth > limit {
            crash("maximum recursion depth exceeded");
        }
    }
    raw_input(raw)
}

pub(super) const BUGS: &[Planted] = &[
    bug("unknown-types-skipped", &[clause::INP_1], |twin| {
        twin.events = |events| {
            let unknown = |event: &Result<Event, Reply>| matches!(event, Err(Reply::Reject { message, .. }) if message.contains("unknown event type"));
            events.into_iter().filter(|event| !unknown(event)).collect()
        };
    }),
    bug("unknown-roles-are-users", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event["role"].as_str().is_some_and(|role| !["user", "assistant", "system"].contains(&role)) {
                event["role"] = "user".into();
            }
        };
    }),
    bug("bad-events-skipped", &[clause::INP_1], |twin| {
        twin.events = |events| Ok(events.into_iter().filter_map(Result::ok).collect());
    }),
    bug("events-before-the-bad-one-returned", &[clause::INP_1], |twin| {
        twin.events = |events| Ok(events.into_iter().map_while(Result::ok).collect());
    }),
    bug("missing-text-is-empty", &[clause::INP_1], |twin| {
        twin.event = |event| {
            let field = match event["type"].as_str() {
                Some("message") => "content",
                Some("error") => "error",
                Some("human_input_requested") => "question",
                Some("human_input_received") => "response",
                Some("completion") => "result",
                Some("summary") => "summary",
                _ => return,
            };
            default(event, field, "");
        };
    }),
    bug("missing-text-is-undefined", &[clause::INP_1], |twin| {
        twin.event = |event| default(event, "content", "undefined")
    }),
    bug("numbers-read-as-texts", &[clause::INP_1], |twin| {
        twin.event = |event| {
            for name in ["content", "error", "question", "response", "summary", "toolName", "toolCallId"] {
                if let Some(Value::Number(number)) = event.get(name) {
                    event[name] = number.to_string().into();
                }
            }
        };
    }),
    bug("missing-iteration-is-zero", &[clause::INP_1], |twin| twin.event = |event| default(event, "iteration", 0)),
    bug("negative-iterations-accepted", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event["iteration"].as_i64().is_some_and(|iteration| iteration < 0) {
                event["iteration"] = 0.into();
            }
        };
    }),
    bug("fractions-of-iterations-cut-off", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if let Some(iteration) = event["iteration"].as_f64().filter(|iteration| iteration.fract() != 0.0) {
                event["iteration"] = iteration.trunc().into();
            }
        };
    }),
    bug("iterations-beyond-2-53-accepted", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event["iteration"].as_u64().is_some_and(|iteration| iteration >= 1 << 53) {
                event["iteration"] = 1.into();
            }
        };
    }),
    bug("iterations-read-from-texts", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if let Some(iteration) = event["iteration"].as_str().and_then(|text| text.parse::<u64>().ok()) {
                event["iteration"] = iteration.into();
            }
        };
    }),
    bug("iteration-1-0-refused", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event["iteration"].is_f64() {
                event["iteration"] = event["iteration"].to_string().into();
            }
        };
    }),
    bug("summarized-numbers-not-checked", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if let Some(numbers) = event.get_mut("summarizedIterations").and_then(Value::as_array_mut) {
                numbers.retain(|number| number.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0));
            }
        };
    }),
    bug("array-arguments-accepted", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if event["args"].is_array() {
                event["args"] = json!({});
            }
        };
    }),
    bug("arguments-read-from-text", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if let Some(args) = event["args"].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok()) {
                event["args"] = args;
            }
        };
    }),
    bug("missing-arguments-are-empty", &[clause::INP_1], |twin| twin.event = |event| default(event, "args", json!({}))),
    bug("recoverable-by-default", &[clause::INP_1], |twin| twin.event = |event| default(event, "recoverable", true)),
    bug("recoverable-by-truthiness", &[clause::INP_1], |twin| {
        twin.event = |event| {
            if let Some(value) = event.get("recoverable").filter(|value| !value.is_boolean()) {
                event["recoverable"] =
                    (!matches!(value, Value::Null) && *value != json!("") && *value != json!(0)).into();
            }
        };
    }),
    bug("complaint-without-index", &[clause::INP_1], |twin| {
        twin.complaint = |_, error| Reply::Reject { kind: RejectKind::InvalidEvent, message: error.to_string() };
    }),
    bug("complaint-without-field", &[clause::INP_1], |twin| {
        twin.complaint = |index, error| Reply::Reject {
            kind: RejectKind::InvalidEvent,
            message: format!("event {index}: {}", error.reason()),
        };
    }),
    bug("complaint-without-reason", &[clause::INP_1], |twin| {
        twin.complaint = |index, _| Reply::Reject { kind: RejectKind::InvalidEvent, message: format!("event {index}") };
    }),
    bug("complaint-about-the-whole-input", &[clause::INP_1], |twin| {
        twin.complaint =
            |index, error| Reply::Reject { kind: RejectKind::InvalidInput, message: format!("event {index}: {error}") };
    }),
    bug("complaint-counts-from-one", &[clause::INP_1], |twin| {
        twin.complaint = |index, error| crate::twin::input::complaint(index + 1, error);
    }),
    bug("extra-fields-refused", &[clause::INP_2], |twin| {
        twin.event = |event| {
            if event.get("timestamp").is_some() {
                event["type"] = Value::Null;
            }
        };
    }),
    bug("extra-fields-become-attributes", &[clause::INP_2, clause::DOC_5], |twin| {
        twin.before = |twin, _, input| {
            let stamped = input["events"].as_array().into_iter().flatten().any(|event| event["timestamp"].is_number());
            twin.attributes = if stamped { |list, _| list.push(("timestamp", "0".to_owned())) } else { |_, _| {} };
        };
    }),
    bug("id-field-is-the-id", &[clause::INP_2, clause::ATT_ID], |twin| {
        twin.before = |twin, _, input| twin.memory = input["events"].clone();
        twin.id = |twin, _, position| match &twin.memory[position]["id"] {
            Value::String(id) => id.clone(),
            Value::Number(id) => id.to_string(),
            _ => position.to_string(),
        };
    }),
    bug("result-with-a-name-of-its-own", &[clause::INP_2, clause::ATT_NAME], |twin| {
        twin.before = |_, _, input| {
            for event in input["events"].as_array_mut().into_iter().flatten() {
                if let Some(name) = event["toolName"].as_str().filter(|_| event["type"] == "tool_result") {
                    event["result"] = format!("{name}: {}", event["result"]).into();
                }
            }
        };
    }),
    bug("status-field-is-the-status", &[clause::INP_2, clause::ATT_STATUS], |twin| {
        twin.before = |twin, _, input| {
            let failed = input["events"]
                .as_array()
                .into_iter()
                .flatten()
                .any(|event| event["status"] == "error" || event["isError"] == true);
            twin.attributes = if failed {
                |list, _| {
                    list.iter_mut()
                        .filter(|(name, _)| *name == "status")
                        .for_each(|(_, value)| "error".clone_into(value));
                }
            } else {
                |_, _| {}
            };
        };
    }),
    bug("internal-events-hidden", &[clause::INP_2], |twin| {
        twin.before = |_, _, input| {
            if let Some(events) = input["events"].as_array_mut() {
                events.retain(|event| event.get("display").is_none());
            }
        };
    }),
    bug("deep-values-crash", &[clause::INP_3], |twin| twin.raw_input = |raw| shallow(raw, 500)),
    bug("values-90-deep-crash", &[clause::INP_3], |twin| twin.raw_input = |raw| shallow(raw, 90)),
    bug("numbers-out-of-range-crash", &[clause::INP_3], |twin| {
        twin.raw_input = |raw| {
            let infinite = |token: &str| token.parse::<f64>().is_ok_and(f64::is_infinite) && !token.starts_with('I');
            if tokens(raw).any(infinite) { crash("number out of range") } else { raw_input(raw) }
        };
    }),
    bug("large-integers-crash", &[clause::INP_3, clause::JSON_LARGE], |twin| {
        twin.raw_input = |raw| {
            let large = |token: &str| token.len() > 20 && token.bytes().all(|byte| byte.is_ascii_digit());
            if tokens(raw).any(large) { crash("integer overflow") } else { raw_input(raw) }
        };
    }),
    bug("lone-surrogates-crash", &[clause::INP_SURROGATE], |twin| {
        twin.raw_input = |raw| if is_cut(raw) { crash("surrogates not allowed") } else { raw_input(raw) };
    }),
    bug("lone-surrogates-refused", &[clause::INP_SURROGATE], |twin| twin.raw_input = str::to_owned),
    bug("lone-surrogates-lose-the-log", &[clause::INP_SURROGATE], |twin| {
        twin.raw_input = |raw| if is_cut(raw) { "{\"events\":[],\"text\":\"\"}".to_owned() } else { raw_input(raw) };
    }),
    hardened("lone-surrogates-removed", &[clause::INP_SURROGATE, clause::ESC_FORBIDDEN], |twin| {
        twin.raw_input = |raw| replace_surrogates(raw, "").into_owned();
    }),
    hardened("lone-surrogates-as-question-marks", &[clause::INP_SURROGATE], |twin| {
        twin.raw_input = |raw| replace_surrogates(raw, "?").into_owned();
    }),
    hardened("lone-surrogates-as-three-bytes", &[clause::INP_SURROGATE, clause::ESC_FORBIDDEN], |twin| {
        twin.raw_input = |raw| replace_surrogates(raw, "\\ufffd\\ufffd\\ufffd").into_owned();
    }),
    bug("escaped-backslashes-overlooked", &[clause::INP_SURROGATE], |twin| {
        twin.raw_input = |raw| raw_input(&raw.replace("\\\\ud83d", "\\\\ufffd"));
    }),
    bug("escapes-in-capitals-not-joined", &[clause::INP_SURROGATE], |twin| {
        twin.raw_input = |raw| raw_input(&raw.replace("\\uD83D", "\\ufffd").replace("\\uDE00", "\\ufffd"));
    }),
    bug("surrogate-pairs-split", &[clause::INP_SURROGATE, clause::ESC_3], |twin| {
        twin.text =
            |twin, raw| crate::twin::text::text(twin, raw).replace(|c: char| c > '\u{ffff}', "\u{fffd}\u{fffd}");
    }),
    bug("null-options-refused", &[clause::DOC_PREFIX_EMPTY, clause::CTX_DEFAULT], |twin| {
        twin.before = |_, _, input| {
            for name in ["responsePrefix", "contextMode", "instructions"] {
                if input.get(name).is_some_and(Value::is_null) {
                    input[name] = json!({});
                }
            }
        };
    }),
];
