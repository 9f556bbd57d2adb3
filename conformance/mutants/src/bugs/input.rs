//! What is read, and what is refused: events, and members that nobody checks, treated as the host language treats them.

use crate::plants::TwinSite::{Escaped, Raw, Response};
use crate::plants::prelude::*;
use crate::twin::input::raw_input;
use crate::twin::parts::text_member;
use threadspec::ecma_string;
use threadspec::surrogates::replace_surrogates;
use threadspec_judge::json::tokens;
use threadspec_judge::protocol::RejectKind;

/// Returns whether JSON text has the escape of a lone surrogate.
fn is_cut(raw: &str) -> bool {
    raw_input(raw) != raw
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

/// Reads JSON text, and crashes at a token that is such.
fn crashing(raw: &str, why: &'static str, is_such: impl Fn(&str) -> bool) -> String {
    if tokens(raw).any(is_such) { crash(why) } else { raw_input(raw) }
}

/// Says of a bad event something else.
fn complains(name: FaultName, written: fn(usize, &threadspec::Error) -> String) -> Planted {
    on::complaint(name, INP_1, move |index, error| Reply::Reject {
        kind: RejectKind::InvalidEvent,
        message: written(index, error),
    })
}

/// Replaces the numbers of iterations.
fn iterations(name: FaultName, other: fn(&Value) -> Option<Value>) -> Planted {
    event_member(name, INP_1, "iteration", other)
}

/// Sets a member that an operation lacks.
fn missing(
    name: FaultName,
    clause: &'static str,
    of: &'static [Op],
    name_of: &'static str,
    value: fn() -> Value,
) -> Planted {
    on::before(name, clause, move |_, op, input| {
        if of.contains(&op) {
            set_default(input, name_of, value());
        }
    })
}

fn as_text(value: &Value) -> Option<Value> {
    (!value.is_string()).then(|| ecma_string(value).into())
}

fn read(value: &Value) -> Option<Value> {
    serde_json::from_str(value.as_str()?).ok()
}

pub(super) fn bugs() -> Vec<Planted> {
    let lone = |name, clauses: &[&'static str], other: &'static str| {
        on::raw_input(name, hardened(clauses.to_vec().leak() as &'static [_]), move |raw| {
            replace_surrogates(raw, other).into_owned()
        })
    };
    vec![
        on::events("unknown-types-skipped", INP_1, |events| {
            let unknown = |event: &Result<Event, Reply>| matches!(event, Err(Reply::Reject { message, .. }) if message.contains("unknown event type"));
            events.into_iter().filter(|event| !unknown(event)).collect()
        }),
        event_member("unknown-roles-are-users", INP_1, "role", |role| {
            (!["user", "assistant", "system"].contains(&role.as_str()?)).then(|| "user".into())
        }),
        on::events("bad-events-skipped", INP_1, |events| Ok(events.into_iter().filter_map(Result::ok).collect())),
        on::events("events-before-the-bad-one-returned", INP_1, |events| {
            Ok(events.into_iter().map_while(Result::ok).collect())
        }),
        on::event("missing-text-is-empty", INP_1, |event| {
            if let Some(member) = text_member(event).filter(|_| event["type"] != "tool_result") {
                set_default(event, member, "".into());
            }
        }),
        event_default("missing-text-is-undefined", "content", || "undefined".into()),
        on::event("numbers-read-as-texts", INP_1, |event| {
            for name in ["content", "error", "question", "response", "summary", "toolName", "toolCallId"] {
                if let Some(Value::Number(number)) = event.get(name) {
                    event[name] = number.to_string().into();
                }
            }
        }),
        event_default("missing-iteration-is-zero", "iteration", || 0.into()),
        iterations("negative-iterations-accepted", |number| (number.as_i64()? < 0).then(|| 0.into())),
        iterations("fractions-of-iterations-cut-off", |number| {
            number.as_f64().filter(|number| number.fract() != 0.0).map(|number| number.trunc().into())
        }),
        iterations("iterations-beyond-2-53-accepted", |number| (number.as_u64()? >= 1 << 53).then(|| 1.into())),
        iterations("iterations-read-from-texts", |text| Some(text.as_str()?.parse::<u64>().ok()?.into())),
        iterations("iteration-1-0-refused", |number| number.is_f64().then(|| number.to_string().into())),
        iterations("null-iteration-is-zero", |iteration| iteration.is_null().then(|| 0.into())),
        iterations("truth-is-an-integer", |truth| Some(u8::from(truth.as_bool()?).into())),
        event_member("summarized-numbers-not-checked", INP_1, "summarizedIterations", |numbers| {
            let is_sound =
                |number: &&Value| number.as_f64().is_some_and(|number| number >= 0.0 && number.fract() == 0.0);
            Some(numbers.as_array()?.iter().filter(is_sound).cloned().collect())
        }),
        event_member("array-arguments-accepted", INP_1, "args", |args| args.is_array().then(|| json!({}))),
        event_member("arguments-read-from-text", INP_1, "args", read),
        event_default("missing-arguments-are-empty", "args", || json!({})),
        event_default("recoverable-by-default", "recoverable", || true.into()),
        event_member("recoverable-by-truthiness", INP_1, "recoverable", |value| {
            (!value.is_boolean()).then(|| (!value.is_null() && *value != "" && *value != 0).into())
        }),
        complains("complaint-without-index", |_, error| error.to_string()),
        complains("complaint-without-field", |index, error| format!("event {index}: {}", error.reason())),
        complains("complaint-without-reason", |index, _| format!("event {index}")),
        complains("complaint-counts-from-one", |index, error| format!("event {}: {error}", index + 1)),
        on::complaint("complaint-about-the-whole-input", INP_1, |index, error| Reply::Reject {
            kind: RejectKind::InvalidInput,
            message: format!("event {index}: {error}"),
        }),
        on::event("extra-fields-refused", INP_2, |event| {
            if event.get("timestamp").is_some() {
                event["type"] = Value::Null;
            }
        }),
        on::before("extra-fields-become-attributes", [INP_2, DOC_5], |twin, _, input| {
            let is_stamped = listed(input, "events").iter().any(|event| event["timestamp"].is_number());
            twin.attributes = if is_stamped { &|list, _| list.push(("timestamp", "0".to_owned())) } else { &|_, _| {} };
        }),
        on::several("id-field-is-the-id", [INP_2, ATT_ID], |twin| {
            twin.before = &|twin, _, input| twin.memory = input["events"].clone();
            twin.id = &|twin, _, position| match &twin.memory[position]["id"] {
                Value::String(id) => id.clone(),
                Value::Number(id) => id.to_string(),
                _ => position.to_string(),
            };
        }),
        on::before("result-with-a-name-of-its-own", [INP_2, ATT_NAME], |_, _, input| {
            for event in events_of(input, "tool_result") {
                if let Some(name) = event["toolName"].as_str() {
                    event["result"] = format!("{name}: {}", event["result"]).into();
                }
            }
        }),
        on::before("status-field-is-the-status", [INP_2, ATT_STATUS], |twin, _, input| {
            let has_failed = each_event(input).any(|event| event["status"] == "error" || event["isError"] == true);
            twin.attributes = if has_failed {
                &|list, _| {
                    let statuses = list.iter_mut().filter(|(name, _)| *name == "status");
                    statuses.for_each(|(_, value)| "error".clone_into(value));
                }
            } else {
                &|_, _| {}
            };
        }),
        on::before("internal-events-hidden", INP_2, |_, _, input| {
            list(input, "events").into_iter().for_each(|events| events.retain(|event| event.get("display").is_none()));
        }),
        on::raw_input("deep-values-crash", INP_3, |raw| shallow(raw, 500)),
        on::raw_input("values-90-deep-crash", INP_3, |raw| shallow(raw, 90)),
        on::raw_input("numbers-out-of-range-crash", INP_3, |raw| {
            crashing(raw, "number out of range", |token| {
                token.parse::<f64>().is_ok_and(f64::is_infinite) && !token.starts_with('I')
            })
        }),
        on::raw_input("large-integers-crash", [INP_3, JSON_LARGE], |raw| {
            crashing(raw, "integer overflow", |token| {
                token.len() > 20 && token.bytes().all(|byte| byte.is_ascii_digit())
            })
        }),
        on::raw_input("lone-surrogates-crash", INP_SURROGATE, |raw| {
            if is_cut(raw) { crash("surrogates not allowed") } else { raw_input(raw) }
        }),
        on::raw_input("lone-surrogates-refused", INP_SURROGATE, str::to_owned),
        on::raw_input("lone-surrogates-lose-the-log", INP_SURROGATE, |raw| {
            if is_cut(raw) { "{\"events\":[],\"text\":\"\"}".to_owned() } else { raw_input(raw) }
        }),
        lone("lone-surrogates-removed", &[INP_SURROGATE, ESC_FORBIDDEN], ""),
        lone("lone-surrogates-as-question-marks", &[INP_SURROGATE], "?"),
        lone("lone-surrogates-as-three-bytes", &[INP_SURROGATE, ESC_FORBIDDEN], "\\ufffd\\ufffd\\ufffd"),
        on::raw_input("escaped-backslashes-overlooked", INP_SURROGATE, |raw| {
            raw_input(&raw.replace("\\\\ud83d", "\\\\ufffd"))
        }),
        on::raw_input("escapes-in-capitals-not-joined", INP_SURROGATE, |raw| {
            raw_input(&raw.replace("\\uD83D", "\\ufffd").replace("\\uDE00", "\\ufffd"))
        }),
        edit("surrogate-pairs-split", [INP_SURROGATE, ESC_3], Escaped, |text| {
            text.replace(|c: char| c > '\u{ffff}', "\u{fffd}\u{fffd}")
        }),
        member(
            "null-options-refused",
            [DOC_PREFIX_EMPTY, CTX_DEFAULT],
            &["responsePrefix", "contextMode", "instructions"],
            |option| option.is_null().then(|| json!({})),
        ),
        on::before("missing-events-are-none", INP_1, |_, op, input| {
            if matches!(op, Op::Serialize | Op::Messages) && input.get("events").is_none_or(Value::is_null) {
                input["events"] = json!([]);
            }
        }),
        member("one-event-is-a-list", INP_1, &["events"], |event| event.is_object().then(|| json!([event]))),
        member("events-read-from-text", INP_1, &["events"], read),
        member("events-that-are-no-list-are-none", INP_1, &["events"], |events| {
            (!events.is_array()).then(|| json!([]))
        }),
        member("prefix-converted-to-text", INP_1, &["responsePrefix"], |prefix| {
            if prefix.is_null() { None } else { as_text(prefix) }
        }),
        member("instructions-joined", INP_1, &["instructions"], |list| {
            let texts: Option<Vec<&str>> = list.as_array()?.iter().map(Value::as_str).collect();
            Some(texts?.join("\n").into())
        }),
        member("text-converted-to-text", INP_1, &["text"], as_text),
        missing("missing-text-to-escape-is-empty", INP_1, &[Op::Escape], "text", || "".into()),
        missing("missing-prompt-is-empty", LOOP_PROMPT, &[Op::Loop], "prompt", || "".into()),
        missing("missing-script-is-empty", INP_1, &[Op::Tools, Op::Loop], "model", || json!([])),
        member(
            "limits-read-from-texts",
            [INP_1, LOOP_MAX, TOOLS_DEPTH],
            &["maxIterations", "maxToolCallsPerIteration", "maxRecursionDepth"],
            |limit| Some(limit.as_str()?.parse::<u64>().ok()?.into()),
        ),
        member("mode-by-truthiness", CTX_UNKNOWN, &["contextMode"], |mode| mode.as_bool().map(|_| "xml".into())),
        on::after("empty-output-is-null", ESC_3, |_, _, _, output| {
            if output == "" {
                *output = Value::Null;
            }
        }),
        on::after_loop("response-of-no-response-is-null", LOOP_RESPONSE, |_, _, output| {
            if output["response"] == "" {
                output["response"] = Value::Null;
            }
        }),
        on::after_loop("response-of-a-stopped-run-is-empty", LOOP_RESPONSE, |_, _, output| {
            if output["stopReason"] == "stop_condition" {
                output["response"] = "".into();
            }
        }),
        edit("response-never-returned", LOOP_RESPONSE, Response, |_| String::new()),
        edit("spaces-collapsed", ESC_3, Escaped, |text| {
            let mut collapsed = text.to_owned();
            while collapsed.contains("  ") {
                collapsed = collapsed.replace("  ", " ");
            }
            collapsed
        }),
        swap("backslashes-doubled-in-text", ESC_3, Escaped, &[("\\", "\\\\")]),
        swap("percent-signs-as-references", [ESC_2, ESC_3], Escaped, &[("%", "&#37;")]),
        swap("slashes-as-references", ESC_3, Escaped, &[("/", "&#x2F;")]),
        on::after_escape("nothing-to-replace-is-null", ESC_3, |_, input, output| {
            if input["text"] == *output {
                *output = Value::Null;
            }
        }),
        edit("text-of-spaces-is-empty", ESC_3, Raw, |text| emptied(text, text.trim().is_empty())),
    ]
}
