//! Caches whose keys are only a part of the input: each answers with the first output for its key.

use super::{Planted, bug};
use crate::twin::Twin;
use serde_json::Value;
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// How many characters of a text make its key.
const PART: usize = 24;

/// A clause for each operation.
const EVERY_OP: &[&str] =
    &[clause::ESC_1, clause::DOC_2, clause::MSG_PURE, clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS];

/// Answers with the first output for a key.
fn recall(twin: &mut Twin, op: Op, key: &str, output: &mut Value) {
    let key = format!("{op} {key}");
    match twin.memory.get(&key) {
        Some(first) => *output = first.clone(),
        None => twin.memory[key] = output.clone(),
    }
}

fn beginning(text: &str) -> String {
    text.chars().take(PART).collect()
}

fn end(text: &str) -> String {
    text.chars().rev().take(PART).collect()
}

/// The text that an input is mainly about.
fn main_text(input: &Value) -> String {
    input["text"].as_str().map_or_else(|| input.to_string(), str::to_owned)
}

/// The input without members of these names, at any depth.
fn without(input: &Value, names: &[&str]) -> String {
    fn drop_members(value: &mut Value, names: &[&str]) {
        match value {
            Value::Object(members) => {
                members.retain(|name, _| !names.contains(&&**name));
                members.values_mut().for_each(|member| drop_members(member, names));
            }
            Value::Array(elements) => elements.iter_mut().for_each(|element| drop_members(element, names)),
            _ => {}
        }
    }
    let mut rest = input.clone();
    drop_members(&mut rest, names);
    rest.to_string()
}

/// The input with sorted members, at any depth.
fn sorted(input: &Value) -> String {
    match input {
        Value::Object(members) => {
            let mut parts: Vec<String> = members.iter().map(|(name, value)| name.clone() + &sorted(value)).collect();
            parts.sort_unstable();
            format!("{{{}}}", parts.join(","))
        }
        Value::Array(elements) => format!("[{}]", elements.iter().map(sorted).collect::<Vec<_>>().join(",")),
        scalar => scalar.to_string(),
    }
}

fn characters(input: &Value) -> String {
    let mut characters: Vec<char> = input.to_string().chars().collect();
    characters.sort_unstable();
    characters.into_iter().collect()
}

pub(super) const BUGS: &[Planted] = &[
    bug("answer-cached-by-both-ends-and-length", EVERY_OP, |twin| {
        twin.after = |twin, op, input, output| {
            let text = input.to_string();
            recall(twin, op, &format!("{}{}{}", beginning(&text), end(&text), text.len()), output);
        };
    }),
    bug("answer-cached-by-its-beginning", &[clause::ESC_1], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Escape {
                recall(twin, op, &beginning(&main_text(input)), output);
            }
        };
    }),
    bug("answer-cached-by-its-end", &[clause::ESC_1], |twin| {
        twin.after = |twin, op, input, output| {
            if op == Op::Escape {
                recall(twin, op, &end(&main_text(input)), output);
            }
        };
    }),
    bug("document-cached-by-its-first-1500-characters", &[clause::DOC_2], |twin| {
        twin.after = |twin, op, _, output| {
            let document = output.to_string();
            if op == Op::Serialize && document.chars().count() > 1_500 {
                recall(twin, op, &document.chars().take(1_500).collect::<String>(), output);
            }
        };
    }),
    bug("messages-cached-by-their-first-30-texts", &[clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            if let Some((first, [_, ..])) = input["events"].as_array().and_then(|events| events.split_at_checked(30)) {
                recall(twin, op, &Value::from(first).to_string(), output);
            }
        };
    }),
    bug("answer-cached-by-its-characters", &[clause::ESC_1, clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &characters(input), output);
    }),
    bug("answer-cached-whatever-the-case", &[clause::ESC_1, clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &input.to_string().to_lowercase(), output);
    }),
    bug("answer-cached-whatever-the-white-space", &[clause::ESC_1, clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| {
            let words: Vec<String> = input.to_string().split_whitespace().map(str::to_owned).collect();
            recall(twin, op, &words.join(" "), output);
        };
    }),
    bug("answer-cached-whatever-the-accents", &[clause::ESC_3], |twin| {
        twin.after = |twin, op, input, output| {
            recall(twin, op, &input.to_string().replace("e\u{301}", "\u{e9}"), output);
        };
    }),
    bug("answer-cached-by-sorted-members", &[clause::JSON_4, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &sorted(input), output);
    }),
    bug("answer-cached-whatever-the-types", &[clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &input.to_string().replace('"', ""), output);
    }),
    bug(
        "answer-cached-without-results",
        &[clause::DOC_2, clause::MSG_PURE, clause::TOOLS_RESULT, clause::LOOP_EVENTS],
        |twin| {
            twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["result", "tools"]), output);
        },
    ),
    bug(
        "answer-cached-without-arguments",
        &[clause::DOC_2, clause::MSG_PURE, clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS],
        |twin| {
            twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["args"]), output);
        },
    ),
    bug("answer-cached-without-ids", &[clause::MSG_PURE, clause::TOOLS_ID, clause::LOOP_EVENTS], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["id", "toolCallId"]), output);
    }),
    bug(
        "answer-cached-without-tools",
        &[clause::ATT_NAME, clause::MSG_PURE, clause::TOOLS_ID, clause::LOOP_EVENTS],
        |twin| {
            twin.after =
                |twin, op, input, output| recall(twin, op, &without(input, &["name", "toolName", "tools"]), output);
        },
    ),
    bug("answer-cached-without-roles", &[clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["role"]), output);
    }),
    bug("answer-cached-without-iterations", &[clause::DOC_2], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["iteration"]), output);
    }),
    bug("answer-cached-without-flags", &[clause::DOC_2, clause::MSG_PURE], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["recoverable"]), output);
    }),
    bug("answer-cached-without-the-prefix", &[clause::DOC_6], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["responsePrefix"]), output);
    }),
    bug("answer-cached-without-instructions", &[clause::CTX_SYSTEM], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["instructions"]), output);
    }),
    bug("answer-cached-without-the-mode", &[clause::CTX_DEFAULT, clause::CTX_XML], |twin| {
        twin.after = |twin, op, input, output| recall(twin, op, &without(input, &["contextMode"]), output);
    }),
    bug("answer-cached-by-the-script", &[clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS], |twin| {
        twin.after = |twin, op, input, output| {
            if matches!(op, Op::Tools | Op::Loop) {
                recall(twin, op, &input["model"].to_string(), output);
            }
        };
    }),
    bug("answer-cached-by-the-question", &[clause::TOOLS_ACCUMULATE, clause::LOOP_EVENTS], |twin| {
        twin.after = |twin, op, input, output| {
            if matches!(op, Op::Tools | Op::Loop) {
                recall(twin, op, &without(input, &["model", "tools"]), output);
            }
        };
    }),
];
