//! Reading JSON: what becomes of members, texts and numbers before the program sees them.

use super::super::{Planted, bug, crash};
use super::{each_payload, each_text, each_value};
use crate::twin::input::raw_input;
use crate::universal::operators::as_list;
use serde_json::{Map, Value, json};
use threadspec::Event;
use threadspec_golden::clause;
use threadspec_judge::json::{Node, tokens};

/// The members of requests that a program declares as fields, beside those of events.
const FIELDS: [&str; 20] = [
    "type",
    "iteration",
    "text",
    "events",
    "responsePrefix",
    "contextMode",
    "instructions",
    "messages",
    "model",
    "maxRecursionDepth",
    "prompt",
    "verify",
    "maxIterations",
    "maxToolCallsPerIteration",
    "tool_calls",
    "id",
    "name",
    "tool_call_id",
    "complete",
    "reason",
];

/// As Go's `encoding/json` folds names: small letters, with the long s and the Kelvin sign among them.
fn folded(name: &str) -> String {
    name.to_lowercase().replace('\u{17f}', "s")
}

/// Sets each field from the last member whose name matches in any case.
fn fields_in_any_case(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(fields_in_any_case),
        Value::Object(members) => {
            let mut read = Map::new();
            for (name, mut value) in std::mem::take(members) {
                let mut fields = Event::FIELDS.iter().flat_map(|(_, fields)| *fields).chain(&FIELDS);
                let field = fields.find(|field| folded(field) == folded(&name));
                if !matches!(field, Some(&("args" | "result"))) && name != "tools" {
                    fields_in_any_case(&mut value);
                }
                read.insert(field.map_or(name, |&field| field.to_owned()), value);
            }
            *members = read;
        }
        _ => {}
    }
}

/// Whether an object in a text has the same member twice.
fn repeats(node: &Node<'_>) -> bool {
    match node {
        Node::Scalar(_) => false,
        Node::Array(elements) => elements.iter().any(repeats),
        Node::Object(members) => {
            let is_second = |(index, (name, _)): (usize, &(&str, Node<'_>))| {
                members[..index].iter().any(|(earlier, _)| earlier == name)
            };
            members.iter().enumerate().any(is_second) || members.iter().any(|(_, value)| repeats(value))
        }
    }
}

/// The text with its members renamed.
fn renamed(text: &str, name: fn(&str) -> &str) -> String {
    let all: Vec<&str> = tokens(text).collect();
    let is_name = |index: usize| all.get(index + 1) == Some(&":");
    all.iter().enumerate().map(|(index, token)| if is_name(index) { name(token) } else { token }).collect()
}

/// A date with a time, as Json.NET recognizes it: the text before its fraction of a second, and that fraction.
fn date(text: &str) -> Option<(&str, &str)> {
    let (time, is_utc) = text.strip_suffix('Z').map_or((text, false), |time| (time, true));
    let (seconds, fraction) = time.split_once('.').unwrap_or((time, ""));
    let shape: String = seconds.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let is_date = shape == "0000-00-00T00:00:00" && fraction.chars().all(|c| c.is_ascii_digit()) && fraction.len() < 8;
    (is_date && is_utc).then_some((seconds, fraction))
}

/// A date inside a structure is written again without the zeros at its end; one that becomes a text is written as the culture does.
fn dates_anew(payload: &mut Value) {
    if let Value::String(text) = payload {
        if let Some((seconds, _)) = date(text) {
            let (day, time) = (&seconds[..10], &seconds[11..]);
            *text = format!("{}/{}/{} {time}", &day[5..7], &day[8..], &day[..4]);
        }
        return;
    }
    each_value(payload, &|value| {
        if let Some((seconds, fraction)) = value.as_str().and_then(date) {
            let fraction = fraction.trim_end_matches('0');
            let point = if fraction.is_empty() { "" } else { "." };
            *value = format!("{seconds}{point}{fraction}Z").into();
        }
    });
}

/// What YAML 1.1 reads without quotes.
fn as_yaml(text: &str) -> Option<Value> {
    let digits = |text: &str, radix| i64::from_str_radix(&text.replace('_', ""), radix).ok();
    match &*text.to_ascii_lowercase() {
        "y" | "yes" | "on" | "true" => Some(true.into()),
        "n" | "no" | "off" | "false" => Some(false.into()),
        "~" | "null" => Some(Value::Null),
        number => {
            let sexagesimal = number.split_once(':').and_then(|(hours, minutes)| {
                (minutes.len() == 2).then_some(digits(hours, 10)? * 60 + digits(minutes, 10)?)
            });
            let integer = number.strip_prefix("0x").map_or_else(|| digits(number, 10), |hex| digits(hex, 16));
            sexagesimal.or(integer).map(Value::from)
        }
    }
}

/// A mark before the spelling of a number that a later step writes unchanged.
const SPELLED: char = '\u{10fffd}';

/// The text, with each number inside arguments turned into a marked text.
fn numbers_marked(node: Node<'_>, is_inside: bool) -> String {
    let list = |parts: Vec<String>| parts.join(",");
    match node {
        Node::Scalar(token) if is_inside && token.starts_with(|c: char| c == '-' || c.is_ascii_digit()) => {
            format!("\"{SPELLED}{token}\"")
        }
        Node::Scalar(token) => token.to_owned(),
        Node::Array(elements) => {
            format!("[{}]", list(elements.into_iter().map(|node| numbers_marked(node, is_inside)).collect()))
        }
        Node::Object(members) => {
            let member =
                |(name, node): (&str, _)| format!("{name}:{}", numbers_marked(node, is_inside || name == "\"args\""));
            format!("{{{}}}", list(members.into_iter().map(member).collect()))
        }
    }
}

fn numbers_unmarked(value: &mut Value) {
    each_value(value, &|value| {
        if let Some(token) = value.as_str().and_then(|text| text.strip_prefix(SPELLED)) {
            *value = token
                .parse::<i64>()
                .map(Value::from)
                .or_else(|_| token.parse::<f64>().map(Value::from))
                .unwrap_or_default();
        }
    });
}

/// The neighbour of a number of seventeen digits, as found by a parser that does not round exactly.
fn nearly(value: &mut Value) {
    if let Some(double) = value.as_f64().filter(|_| value.is_f64()) {
        let digits = format!("{double:e}").split('e').next().unwrap_or_default().trim_start_matches('-').len();
        if digits >= 18 {
            *value = json!(f64::from_bits(double.to_bits() - 1));
        }
    }
}

pub(in super::super) const BUGS: &[Planted] = &[
    bug("repeated-names-end-the-program", &[clause::JSON_4], |twin| {
        twin.raw_input = |raw| {
            if repeats(&Node::of(raw)) {
                crash("An item with the same key has already been added.");
            }
            raw_input(raw)
        };
    }),
    bug("fields-set-in-any-case", &[clause::INP_2], |twin| twin.before = |_, _, input| fields_in_any_case(input)),
    bug("names-that-begin-with-nul-refused", &[clause::JSON_4], |twin| {
        twin.raw_input = |raw| {
            let text = raw_input(raw);
            let marked = renamed(&text, |name| if name.starts_with("\"\\u0000") { "!" } else { name });
            if marked.contains("!:") && marked.len() < text.len() { "null".to_owned() } else { text }
        };
    }),
    bug("empty-names-filled-in", &[clause::JSON_4], |twin| {
        twin.raw_input = |raw| renamed(&raw_input(raw), |name| if name == "\"\"" { "\"_empty_\"" } else { name });
    }),
    bug(
        "objects-that-look-like-lists-become-lists",
        &[clause::JSON_4, clause::MSG_RESULT, clause::TOOLS_RESULT],
        |twin| {
            twin.before = |_, _, input| {
                each_payload(input, &|payload| {
                    let was_arguments = payload.is_object();
                    each_value(payload, &as_list);
                    // Arguments are declared as an object, so an empty one stays an object.
                    if was_arguments && payload.as_array().is_some_and(Vec::is_empty) {
                        *payload = json!({});
                    }
                });
            };
        },
    ),
    bug(
        "dates-written-anew",
        &[clause::EVT_CALL, clause::EVT_RESULT, clause::MSG_RESULT, clause::TOOLS_RESULT],
        |twin| {
            twin.before = |_, _, input| each_payload(input, &dates_anew);
        },
    ),
    bug("members-with-a-dollar-sign-dropped", &[clause::JSON_4, clause::MSG_CALL, clause::TOOLS_RESULT], |twin| {
        twin.before = |_, _, input| {
            each_payload(input, &|payload| {
                each_value(payload, &|value| {
                    if let Value::Object(members) = value {
                        members.retain(|name, _| !["$id", "$ref", "$type", "$values"].contains(&&**name));
                    }
                });
            });
        };
    }),
    bug(
        "byte-order-mark-dropped",
        &[clause::ESC_3, clause::EVT_RESULT, clause::MSG_RESULT, clause::TOOLS_RESULT],
        |twin| {
            twin.before =
                |_, _, input| each_text(input, |text| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned());
        },
    ),
    bug("texts-read-as-yaml", &[clause::EVT_RESULT, clause::MSG_RESULT, clause::TOOLS_RESULT], |twin| {
        twin.before = |_, _, input| {
            each_payload(input, &|payload| {
                if let Some(value) = payload.as_str().and_then(as_yaml) {
                    *payload = value;
                }
            });
        };
    }),
    bug("requests-end-at-line-separators", &[clause::ESC_3], |twin| {
        twin.raw_input = |raw| {
            if raw.contains(['\u{2028}', '\u{2029}']) {
                crash("Unterminated string in JSON");
            }
            raw_input(raw)
        };
    }),
    bug("numbers-as-they-were-spelled", &[clause::JSON_3], |twin| {
        twin.raw_input = |raw| numbers_marked(Node::of(&raw_input(raw)), false);
        twin.quoted = |text| match text.strip_prefix(SPELLED) {
            Some(token) => token.to_owned(),
            None => crate::twin::text::quoted(text),
        };
        twin.after = |_, _, _, output| numbers_unmarked(output);
    }),
    bug("numbers-off-by-one-place", &[clause::JSON_3, clause::MSG_CALL], |twin| {
        twin.before = |_, _, input| each_payload(input, &|payload| each_value(payload, &nearly));
    }),
    bug("truth-is-an-integer", &[clause::INP_1], |twin| {
        twin.before = |_, _, input| {
            for event in input["events"].as_array_mut().into_iter().flatten() {
                if let Some(truth) = event["iteration"].as_bool() {
                    event["iteration"] = u8::from(truth).into();
                }
            }
        };
    }),
];
