//! Members of an input that nobody checks, treated as the host language treats them.

use super::{Planted, bug};
use crate::twin::text::text;
use serde_json::{Value, json};
use threadspec::ecma_string;
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// Replaces an existing member.
fn convert(input: &mut Value, name: &str, to: impl FnOnce(&Value) -> Option<Value>) {
    if let Some(converted) = input.get(name).and_then(to) {
        input[name] = converted;
    }
}

fn as_text(value: &Value) -> Option<Value> {
    (!value.is_string()).then(|| ecma_string(value).into())
}

fn as_number(value: &Value) -> Option<Value> {
    value.as_str()?.parse::<u64>().ok().map(Value::from)
}

/// Sets a member that is missing.
fn default(input: &mut Value, name: &str, value: Value) {
    if input.get(name).is_none() {
        input[name] = value;
    }
}

pub(super) const BUGS: &[Planted] = &[
    bug("missing-events-are-none", &[clause::INP_1], |twin| {
        twin.before = |_, op, input| {
            if matches!(op, Op::Serialize | Op::Messages) && input.get("events").is_none_or(Value::is_null) {
                input["events"] = json!([]);
            }
        };
    }),
    bug("one-event-is-a-list", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| convert(input, "events", |event| event.is_object().then(|| json!([event])));
    }),
    bug("events-read-from-text", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| convert(input, "events", |text| serde_json::from_str(text.as_str()?).ok());
    }),
    bug("events-that-are-no-list-are-none", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| convert(input, "events", |events| (!events.is_array()).then(|| json!([])));
    }),
    bug("prefix-converted-to-text", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| {
            convert(input, "responsePrefix", |prefix| if prefix.is_null() { None } else { as_text(prefix) });
        };
    }),
    bug("instructions-joined", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| {
            convert(input, "instructions", |list| {
                let texts: Option<Vec<&str>> = list.as_array()?.iter().map(Value::as_str).collect();
                Some(texts?.join("\n").into())
            });
        };
    }),
    bug("text-converted-to-text", &[clause::INP_1], |twin| twin.before = |_, _, input| convert(input, "text", as_text)),
    bug("missing-text-to-escape-is-empty", &[clause::INP_1], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Escape {
                default(input, "text", "".into());
            }
        };
    }),
    bug("missing-prompt-is-empty", &[clause::LOOP_PROMPT], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Loop {
                default(input, "prompt", "".into());
            }
        };
    }),
    bug("missing-script-is-empty", &[clause::INP_1], |twin| {
        twin.before = |_, op, input| {
            if matches!(op, Op::Tools | Op::Loop) {
                default(input, "model", json!([]));
            }
        };
    }),
    bug("limits-read-from-texts", &[clause::INP_1, clause::LOOP_MAX, clause::TOOLS_DEPTH], |twin| {
        twin.before = |_, _, input| {
            for name in ["maxIterations", "maxToolCallsPerIteration", "maxRecursionDepth"] {
                convert(input, name, as_number);
            }
        };
    }),
    bug("mode-by-truthiness", &[clause::CTX_UNKNOWN], |twin| {
        twin.before = |_, _, input| convert(input, "contextMode", |mode| mode.as_bool().map(|_| "xml".into()));
    }),
    bug("empty-output-is-null", &[clause::ESC_3], |twin| {
        twin.after = |_, _, _, output| {
            if output == "" {
                *output = Value::Null;
            }
        };
    }),
    bug("response-of-no-response-is-null", &[clause::LOOP_RESPONSE], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Loop && output["response"] == "" {
                output["response"] = Value::Null;
            }
        };
    }),
    bug("response-of-a-stopped-run-is-empty", &[clause::LOOP_RESPONSE], |twin| {
        twin.after = |_, op, _, output| {
            if op == Op::Loop && output["stopReason"] == "stop_condition" {
                output["response"] = "".into();
            }
        };
    }),
    bug("response-never-returned", &[clause::LOOP_RESPONSE], |twin| twin.response = |_, _| String::new()),
    bug("spaces-collapsed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            let mut collapsed = text(twin, raw);
            while collapsed.contains("  ") {
                collapsed = collapsed.replace("  ", " ");
            }
            collapsed
        };
    }),
    bug("backslashes-doubled-in-text", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('\\', "\\\\");
    }),
    bug("percent-signs-as-references", &[clause::ESC_2, clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('%', "&#37;");
    }),
    bug("slashes-as-references", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('/', "&#x2F;");
    }),
    bug("nothing-to-replace-is-null", &[clause::ESC_3], |twin| {
        twin.after = |_, op, input, output| {
            if op == Op::Escape && input["text"] == *output {
                *output = Value::Null;
            }
        };
    }),
    bug("text-of-spaces-is-empty", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| if raw.trim().is_empty() { String::new() } else { text(twin, raw) };
    }),
];
