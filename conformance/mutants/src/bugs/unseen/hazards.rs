//! What common functions do to texts, numbers and values that they were not made for.

use super::{Planted, bug, events, inside, literal, renamed};
use crate::twin::Twin;
use crate::twin::context::{result_content, system};
use crate::twin::document::{element, prefix};
use crate::twin::text::{attribute, members, number, quoted, text};
use serde_json::{Value, json};
use threadspec::agent::ToolError;
use threadspec::{Event, EventKind};
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// Writes characters of JSON strings as escapes.
fn with_escapes(raw: &str, escapes: fn(char) -> bool) -> String {
    quoted(raw).chars().map(|c| if escapes(c) { format!("\\u{:04x}", u32::from(c)) } else { c.to_string() }).collect()
}

/// Replaces some characters of a text, then escapes it.
fn exchanged(twin: &Twin, raw: &str, other: fn(char) -> Option<&'static str>) -> String {
    let exchanged: String = raw.chars().map(|c| other(c).map_or_else(|| c.to_string(), str::to_owned)).collect();
    text(twin, &exchanged)
}

/// Whether the keys of these members are those of a list: from 0 on, without a gap.
fn is_list(members: &serde_json::Map<String, Value>) -> bool {
    !members.is_empty() && members.keys().enumerate().all(|(index, key)| *key == index.to_string())
}

pub(in super::super) const BUGS: &[Planted] = &[
    // Texts.
    bug("next-line-characters-become-line-feeds", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace('\u{85}', "\n"));
    }),
    bug("byte-order-mark-in-front-lost", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw.strip_prefix('\u{feff}').unwrap_or(raw));
    }),
    bug("replacement-with-dollar-signs", &[clause::ESC_3], |twin| {
        twin.element = |attributes, body| element(attributes, &body.replace("$$", "$").replace("$&", "{body}"));
    }),
    bug("replacement-with-backslashes", &[clause::ESC_3], |twin| {
        twin.element = |attributes, body| element(attributes, &body.replace("\\\\", "\\").replace("\\0", "{body}"));
    }),
    bug("replacement-with-group-references", &[clause::ATT_NAME], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.replace("$1", "").replace("\\1", ""));
    }),
    bug("dollar-signs-of-the-prefix-read", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| prefix(raw.map(|raw| raw.replace("$$", "$").replace("$&", "")).as_deref());
    }),
    bug("percent-codes-decoded", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace("%20", " ").replace("%41", "A").replace("%25", "%"));
    }),
    bug("plus-signs-of-names-as-spaces", &[clause::ATT_NAME], |twin| {
        twin.attribute = |twin, raw| attribute(twin, &raw.replace('+', " "));
    }),
    bug("text-of-zero-is-empty", &[clause::DOC_2], |twin| {
        twin.text = |twin, raw| text(twin, if raw == "0" { "" } else { raw })
    }),
    bug("prefix-of-zero-ignored", &[clause::DOC_6], |twin| twin.prefix = |raw| prefix(raw.filter(|raw| *raw != "0"))),
    bug("instructions-of-zero-ignored", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| {
            system(summaries, if instructions == "0" { "" } else { instructions }, mode)
        };
    }),
    bug("percent-signs-of-instructions-read", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| system(summaries, instructions, mode).replace("%%", "%");
    }),
    bug("braces-of-instructions-read", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| {
            system(summaries, &instructions.replace("{{", "{").replace("}}", "}"), mode)
        };
    }),
    bug("final-line-feed-of-instructions-lost", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| {
            system(summaries, instructions.strip_suffix('\n').unwrap_or(instructions), mode)
        };
    }),
    bug("percent-signs-of-feedback-read", &[clause::LOOP_VERIFY], |twin| {
        twin.feedback = |iteration, reason| {
            crate::twin::rounds::feedback(iteration, reason.map(|reason| reason.replace("%%", "%").replace("%s", "")))
        };
    }),
    bug("tool-errors-to-their-first-line", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.outcome = |twin, call, result| match result {
            Err(ToolError::Failed(message)) => format!("Tool error: {}", message.lines().next().unwrap_or_default()),
            result => crate::twin::rounds::outcome(twin, call, result),
        };
    }),
    bug("text-of-zero-not-recorded", &[clause::LOOP_EVENTS], |twin| {
        twin.is_said = |text| !text.is_empty() && text != "0"
    }),
    bug("characters-taken-by-their-low-byte", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            exchanged(twin, raw, |c| match (u32::from(c) > 0xff, u32::from(c) & 0xff) {
                (true, 0x26) => Some("&"),
                (true, 0x3c) => Some("<"),
                (true, 0x3e) => Some(">"),
                _ => None,
            })
        };
    }),
    bug("private-characters-forbidden", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| matches!(c, '\u{e000}'..='\u{f8ff}'), "\u{fffd}"));
    }),
    bug("arabic-noncharacters-forbidden", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| matches!(c, '\u{fdd0}'..='\u{fdef}'), "\u{fffd}"));
    }),
    bug("formatting-characters-removed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(['\u{ad}', '\u{61c}', '\u{180e}', '\u{fff9}'], ""));
    }),
    bug("variation-selectors-removed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(['\u{fe0e}', '\u{fe0f}'], ""));
    }),
    bug("tag-characters-removed", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(|c| matches!(c, '\u{e0001}'..='\u{e007f}'), ""));
    }),
    bug("unassigned-characters-replaced", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(['\u{378}', '\u{2fe0}', '\u{e0080}'], "\u{fffd}"));
    }),
    bug("compatibility-characters-folded", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            exchanged(twin, raw, |c| match c {
                'ﬁ' => Some("fi"),
                '²' => Some("2"),
                '…' => Some("..."),
                '\u{ff21}' => Some("A"),
                '①' => Some("1"),
                '™' => Some("TM"),
                _ => None,
            })
        };
    }),
    bug("full-width-markup-folded-behind-escaping", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, raw).replace('＜', "<").replace('＆', "&").replace('＞', ">");
    }),
    bug("curly-quotes-straightened", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(['‘', '’'], "'").replace(['“', '”'], "\""));
    }),
    bug("c1-controls-as-windows-characters", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| {
            exchanged(twin, raw, |c| match c {
                '\u{80}' => Some("€"),
                '\u{85}' => Some("…"),
                '\u{93}' => Some("“"),
                '\u{99}' => Some("™"),
                _ => None,
            })
        };
    }),
    bug("spaces-of-other-kinds-as-spaces", &[clause::ESC_3], |twin| {
        twin.text = |twin, raw| text(twin, &raw.replace(['\u{2009}', '\u{202f}', '\u{3000}', '\u{1680}'], " "));
    }),
    bug("any-entity-name-not-escaped-again", &[clause::ESC_2], |twin| {
        twin.text = |twin, raw| {
            let escaped = text(twin, raw);
            let mut parts = escaped.split("&amp;");
            let mut out = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let is_name = part
                    .split_once(';')
                    .is_some_and(|(name, _)| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric()));
                out += if is_name { "&" } else { "&amp;" };
                out += part;
            }
            out
        };
    }),
    // Numbers.
    bug("numbers-to-seventeen-digits", &[clause::JSON_3], |twin| {
        twin.number = |raw| match raw.as_f64() {
            Some(double) if raw.is_f64() && double.abs() < 1.0 && double.abs() > 1e-3 => {
                let precise = format!("{double:.17}");
                precise.trim_end_matches('0').to_owned()
            }
            _ => number(raw),
        };
    }),
    bug("smallest-double-with-two-digits", &[clause::JSON_3], |twin| {
        twin.number = |raw| number(raw).replace("5e-324", "4.9e-324");
    }),
    bug("denormal-numbers-flushed", &[clause::JSON_3], |twin| {
        twin.number = |raw| match raw.as_f64() {
            Some(double) if double.is_subnormal() => "0".to_owned(),
            _ => number(raw),
        };
    }),
    bug("integers-wrap-at-63-bits", &[clause::JSON_LARGE], |twin| {
        twin.number = |raw| match raw.as_u64() {
            Some(large) if i64::try_from(large).is_err() => large.cast_signed().to_string(),
            _ => number(raw),
        };
    }),
    bug("whole-doubles-cut-at-63-bits", &[clause::JSON_3], |twin| {
        twin.number = |raw| match raw.as_f64() {
            Some(double) if raw.is_f64() && double.fract() == 0.0 && double.abs() < 1e21 => {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let whole = double as i64;
                whole.to_string()
            }
            _ => number(raw),
        };
    }),
    bug("halves-rounded-in-the-last-place", &[clause::JSON_3], |twin| {
        twin.number = |raw| match raw.as_f64() {
            Some(double) if raw.is_f64() && double.fract() != 0.0 && double.abs() >= 1e-6 && double.abs() < 1e15 => {
                format!("{double:.16e}").parse::<f64>().map_or_else(
                    |_| number(raw),
                    |double| {
                        let rounded = (double * 1e15).round() / 1e15;
                        serde_json::Number::from_f64(rounded).map_or_else(|| number(raw), |rounded| number(&rounded))
                    },
                )
            }
            _ => number(raw),
        };
    }),
    // JSON strings.
    bug("json-plus-and-backtick-escaped", &[clause::JSON_2], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| matches!(c, '+' | '`'))
    }),
    bug("json-equals-sign-escaped", &[clause::JSON_2], |twin| twin.quoted = |raw| with_escapes(raw, |c| c == '=')),
    bug("json-next-line-escaped", &[clause::JSON_1], |twin| twin.quoted = |raw| with_escapes(raw, |c| c == '\u{85}')),
    bug("json-c1-controls-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| matches!(c, '\u{80}'..='\u{9f}'));
    }),
    bug("json-noncharacters-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| matches!(c, '\u{fffe}' | '\u{ffff}'));
    }),
    bug("json-byte-order-marks-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| c == '\u{feff}')
    }),
    bug("json-private-characters-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| matches!(c, '\u{e000}'..='\u{f8ff}'));
    }),
    bug("json-soft-hyphens-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |raw| with_escapes(raw, |c| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}'));
    }),
    // Values.
    bug("metadata-members-dropped", &[clause::EVT_CALL], |twin| {
        twin.members = |object| {
            members(object)
                .into_iter()
                .filter(|(key, _)| !matches!(&***key, "$ref" | "$id" | "$type" | "$values"))
                .collect()
        };
    }),
    bug("dates-in-arguments-written-anew", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::String(text) = value
                    && text.len() > 19
                    && text.as_bytes()[4] == b'-'
                    && text.as_bytes()[10] == b'T'
                {
                    *text = text.replace(".000Z", "Z").replace("+00:00", "Z");
                }
            });
        };
    }),
    bug("numeric-texts-in-arguments-as-numbers", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                    *value = number.into();
                }
            });
        };
    }),
    bug("words-of-yaml-in-arguments-read", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                *value = match value.as_str() {
                    Some("yes" | "on" | "Yes" | "true") => json!(true),
                    Some("no" | "off" | "No" | "false") => json!(false),
                    Some("~" | "null") => Value::Null,
                    _ => return,
                };
            });
        };
    }),
    bug("empty-objects-in-arguments-as-lists", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            for args in events(input).filter_map(|event| event.get_mut("args")?.as_object_mut()) {
                args.values_mut().for_each(|value| {
                    super::each(value, &|value| {
                        if *value == json!({}) {
                            *value = json!([]);
                        }
                    })
                });
            }
        };
    }),
    bug("objects-with-the-keys-of-a-list-as-lists", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            for args in events(input).filter_map(|event| event.get_mut("args")?.as_object_mut()) {
                args.values_mut().for_each(|value| {
                    super::each(value, &|value| {
                        if let Some(members) = value.as_object().filter(|members| is_list(members)) {
                            *value = members.values().cloned().collect();
                        }
                    })
                });
            }
        };
    }),
    bug("empty-lists-in-arguments-as-objects", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if *value == json!([]) {
                    *value = json!({});
                }
            });
        };
    }),
    bug("nulls-at-the-end-of-lists-lost", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Array(elements) = value {
                    while elements.last().is_some_and(Value::is_null) {
                        elements.pop();
                    }
                }
            });
        };
    }),
    bug("dots-in-keys-as-paths", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Object(members) = value {
                    *members = renamed(members, |key| key.replace(['.', ' ', '['], "_"));
                }
            });
        };
    }),
    bug("keys-trimmed", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Object(members) = value {
                    *members = renamed(members, |key| key.trim().to_owned());
                }
            });
        };
    }),
    bug("keys-composed", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Object(members) = value {
                    *members = renamed(members, |key| key.replace("e\u{301}", "é").replace("a\u{308}", "ä"));
                }
            });
        };
    }),
    bug("object-like-texts-compacted-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.before = |_, op, input| {
            for result in events(input).filter(|_| op == Op::Messages).filter_map(|event| event.get_mut("result")) {
                let read = result
                    .as_str()
                    .filter(|text| text.trim_start().starts_with('{'))
                    .map(serde_json::from_str::<Value>);
                if let Some(Ok(value)) = read {
                    *result = value.to_string().into();
                }
            }
        };
    }),
    bug("null-results-undefined-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.result_content = |twin, result| result_content(twin, result.filter(|result| !result.is_null()));
    }),
    literal("empty-inner-arrays-left-out", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) => {
                let elements: Vec<Value> = elements.iter().filter(|element| **element != json!([])).cloned().collect();
                crate::twin::text::string(twin, &elements.into())
            }
            _ => crate::twin::text::string(twin, value),
        };
    }),
    bug("summarized-numbers-in-32-bits", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| {
            let wrapped = |&number: &u64| {
                #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                let wrapped = number as i32;
                wrapped.to_string()
            };
            iterations.iter().map(wrapped).collect::<Vec<_>>().join(",")
        };
    }),
    bug("iteration-in-single-precision", &[clause::ATT_ITERATION], |twin| {
        twin.iteration = |event: &Event| {
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "that is the bug"
            )]
            let rounded = event.iteration as f32 as u64;
            if matches!(event.kind, EventKind::Completion { .. }) { event.iteration } else { rounded }.to_string()
        };
    }),
    bug("tools-found-in-any-case", &[clause::LOOP_TOOL_ERROR], |twin| {
        twin.before = |_, _, input| {
            let Some(tools) = input.get_mut("tools").and_then(Value::as_object_mut) else { return };
            for (name, results) in tools.clone() {
                for name in [name.to_lowercase(), name.to_uppercase()] {
                    tools.entry(name).or_insert_with(|| results.clone());
                }
            }
        };
    }),
];
