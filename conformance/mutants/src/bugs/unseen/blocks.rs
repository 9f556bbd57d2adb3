//! Work in blocks, and checks of only a sample: what goes wrong at a border, at the last position, or after the sample.

use super::{Planted, bug, events, hardened, inside, literal};
use crate::twin::Twin;
use crate::twin::context::{answers, system};
use crate::twin::document::{calls, join};
use crate::twin::text::{attribute, members, quoted, string, text};
use serde_json::Value;
use threadspec_golden::clause;
use threadspec_judge::protocol::Op;

/// Escapes a text, except the characters that it misses, given their position in bytes.
fn missing(twin: &Twin, raw: &str, misses: impl Fn(usize, char) -> bool) -> String {
    raw.char_indices()
        .map(|(at, c)| if misses(at, c) { c.to_string() } else { text(twin, c.encode_utf8(&mut [0; 4])) })
        .collect()
}

/// Loses the characters that are split by a border between blocks of so many UTF-16 units.
fn split_in_utf16(raw: &str, size: usize) -> String {
    let mut at = 0;
    let other = |c: char| {
        at += c.len_utf16();
        if c.len_utf16() == 2 && (at - 1).is_multiple_of(size) { '\u{fffd}' } else { c }
    };
    raw.chars().map(other).collect()
}

/// Loses the characters that are split by a border between blocks of so many bytes.
fn split_in_utf8(raw: &str, size: usize) -> String {
    raw.char_indices().map(|(at, c)| if at / size == (at + c.len_utf8() - 1) / size { c } else { '\u{fffd}' }).collect()
}

fn utf16(twin: &mut Twin, size: usize) {
    twin.n = size;
    twin.text = |twin, raw| text(twin, &split_in_utf16(raw, twin.n));
}

fn utf8(twin: &mut Twin, size: usize) {
    twin.n = size;
    twin.text = |twin, raw| text(twin, &split_in_utf8(raw, twin.n));
}

/// The last byte of each full block is not escaped.
fn last_byte(twin: &mut Twin, size: usize) {
    twin.n = size;
    twin.text = |twin, raw| missing(twin, raw, |at, c| at % twin.n == twin.n - 1 && c.is_ascii_punctuation());
}

/// Names are looked up among the calls of the same block of 256 events.
fn names_in_blocks(twin: &mut Twin) {
    twin.name = |events, position, id| {
        let start = position / 256 * 256;
        calls(&events[start..position]).rev().find(|&(call, _)| call == id).map(|(_, name)| name.to_owned())
    };
}

/// Writes the members of large objects in another order.
fn sorted_from(twin: &mut Twin, size: usize) {
    twin.n = size;
    twin.before = |twin, _, input| {
        inside(input, |value| {
            if let Value::Object(members) = value.take() {
                let mut members = members;
                if members.len() > twin.n {
                    members.sort_keys();
                }
                *value = members.into();
            }
        });
    };
}

/// Texts of exactly this size lose their last character.
fn exactly(twin: &mut Twin, size: usize) {
    twin.n = size;
    twin.text = |twin, raw| {
        let mut chars = raw.chars();
        if raw.len() == twin.n {
            chars.next_back();
        }
        text(twin, chars.as_str())
    };
}

pub(in super::super) const BUGS: &[Planted] = &[
    bug("pairs-split-at-8-units", &[clause::ESC_3], |twin| utf16(twin, 8)),
    bug("pairs-split-at-256-units", &[clause::ESC_3], |twin| utf16(twin, 256)),
    bug("pairs-split-at-8192-units", &[clause::ESC_3], |twin| utf16(twin, 8_192)),
    bug("pairs-split-at-65536-units", &[clause::ESC_3], |twin| utf16(twin, 65_536)),
    bug("characters-split-at-16-bytes", &[clause::ESC_3], |twin| utf8(twin, 16)),
    bug("characters-split-at-1024-bytes", &[clause::ESC_3], |twin| utf8(twin, 1_024)),
    bug("characters-split-at-4096-bytes", &[clause::ESC_3], |twin| utf8(twin, 4_096)),
    bug("characters-split-at-65536-bytes", &[clause::ESC_3], |twin| utf8(twin, 65_536)),
    bug("last-byte-of-32-not-escaped", &[clause::ESC_1], |twin| last_byte(twin, 32)),
    bug("last-byte-of-512-not-escaped", &[clause::ESC_1], |twin| last_byte(twin, 512)),
    bug("last-byte-of-16384-not-escaped", &[clause::ESC_1], |twin| last_byte(twin, 16_384)),
    bug("apostrophes-raw-behind-the-last-full-block-of-16", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| missing(twin, raw, |at, c| c == '\'' && raw.len() > 16 && at >= raw.len() / 16 * 16);
    }),
    bug("apostrophes-raw-in-full-blocks-of-16", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| missing(twin, raw, |at, c| c == '\'' && at < raw.len() / 16 * 16);
    }),
    bug("second-markup-in-a-block-of-8-missed", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| {
            let is_markup = |c: u8| matches!(c, b'&' | b'<' | b'>' | b'"' | b'\'');
            missing(twin, raw, |at, c| {
                let start = at / 8 * 8;
                c == '>' && at + 1 < raw.len() && raw.as_bytes()[start..at].iter().any(|&c| is_markup(c) && c != b'<')
            })
        };
    }),
    bug("last-character-of-a-long-text-not-escaped", &[clause::ESC_1], |twin| {
        twin.text =
            |twin, raw| missing(twin, raw, |at, c| raw.len() > 64 && at + 1 == raw.len() && c.is_ascii_punctuation());
    }),
    bug("markup-looked-for-in-the-first-1024-bytes", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| {
            let first = raw.bytes().take(1_024).any(|c| matches!(c, b'&' | b'<' | b'>' | b'"' | b'\''));
            if first || raw.len() <= 1_024 { text(twin, raw) } else { raw.to_owned() }
        };
    }),
    bug("markup-looked-for-in-every-fourth-place-of-long-texts", &[clause::ESC_1], |twin| {
        twin.text = |twin, raw| {
            let found = raw.bytes().step_by(4).any(|c| matches!(c, b'&' | b'<' | b'>' | b'"' | b'\''));
            if found || raw.len() <= 128 { text(twin, raw) } else { raw.to_owned() }
        };
    }),
    bug("forbidden-character-in-the-last-place-kept", &[clause::ESC_FORBIDDEN], |twin| {
        twin.text = |twin, raw| {
            missing(twin, raw, |at, c| {
                at > 0 && at + c.len_utf8() == raw.len() && c < ' ' && !matches!(c, '\t' | '\n' | '\r')
            })
        };
    }),
    hardened("carriage-return-at-the-end-of-a-block-of-64-raw", &[clause::ESC_CR], |twin| {
        twin.text = |twin, raw| missing(twin, raw, |at, c| c == '\r' && at % 64 == 63);
    }),
    hardened("carriage-return-at-the-end-of-a-block-of-4096-raw", &[clause::ESC_CR], |twin| {
        twin.text = |twin, raw| missing(twin, raw, |at, c| c == '\r' && at % 4_096 == 4_095);
    }),
    bug("texts-of-exactly-128-bytes-lose-their-last", &[clause::ESC_3], |twin| exactly(twin, 128)),
    bug("texts-of-exactly-1024-bytes-lose-their-last", &[clause::ESC_3], |twin| exactly(twin, 1_024)),
    bug("texts-of-exactly-65536-bytes-lose-their-last", &[clause::ESC_3], |twin| exactly(twin, 65_536)),
    bug("last-character-of-attributes-not-escaped", &[clause::ATT_ESCAPED], |twin| {
        twin.attribute = |twin, raw| {
            let mut chars = raw.chars();
            match chars.next_back() {
                Some(last @ ('&' | '\'' | '>')) if raw.len() > 1 => attribute(twin, chars.as_str()) + &last.to_string(),
                _ => attribute(twin, raw),
            }
        };
    }),
    bug("last-byte-of-64-of-attributes-not-escaped", &[clause::ATT_ESCAPED], |twin| {
        twin.attribute = |twin, raw| {
            let one = |(at, c): (usize, char)| {
                if at % 64 == 63 && c.is_ascii() { c.to_string() } else { attribute(twin, c.encode_utf8(&mut [0; 4])) }
            };
            raw.char_indices().map(one).collect()
        };
    }),
    bug("json-quotes-at-the-end-of-a-block-of-16-raw", &[clause::JSON_2], |twin| {
        twin.quoted = |raw| {
            let inner = |c: char| {
                let quoted = quoted(c.encode_utf8(&mut [0; 4]));
                quoted[1..quoted.len() - 1].to_owned()
            };
            let one = |(at, c): (usize, char)| if at % 16 == 15 && c == '"' { "\"".to_owned() } else { inner(c) };
            format!("\"{}\"", raw.char_indices().map(one).collect::<String>())
        };
    }),
    bug("json-control-characters-raw-behind-32-bytes", &[clause::JSON_2], |twin| {
        twin.quoted = |raw| match raw.char_indices().find(|&(at, c)| at >= 32 && c == '\n') {
            Some((at, _)) => format!(
                "{}\n{}",
                quoted(&raw[..at]).trim_end_matches('"'),
                quoted(&raw[at + 1..]).trim_start_matches('"')
            ),
            None => quoted(raw),
        };
    }),
    bug("names-looked-up-in-blocks-of-256-events", &[clause::ATT_NAME], names_in_blocks),
    bug("objects-of-more-than-4-members-sorted", &[clause::JSON_4], |twin| sorted_from(twin, 4)),
    bug("objects-of-more-than-8-members-sorted", &[clause::JSON_4], |twin| sorted_from(twin, 8)),
    bug("objects-of-more-than-32-members-sorted", &[clause::JSON_4], |twin| sorted_from(twin, 32)),
    bug("index-keys-in-order-only-among-the-first-16-members", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let ordered = members(object);
            if object.len() > 16 { object.iter().collect() } else { ordered }
        };
    }),
    bug("comma-lost-behind-16-summarized-numbers", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| iterations.chunks(16).map(|chunk| join(chunk, ",")).collect();
    }),
    bug("last-summarized-number-of-many-lost", &[clause::ATT_SUMMARIZED], |twin| {
        twin.summarized = |iterations| {
            join(&iterations[..if iterations.len() > 8 { iterations.len() - 1 } else { iterations.len() }], ",")
        };
    }),
    bug("lists-typed-by-their-first-number", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Array(elements) = value
                    && elements.first().is_some_and(|first| first.is_u64() || first.is_i64())
                {
                    for element in elements.iter_mut().filter(|element| element.is_f64()) {
                        #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                        let whole = element.as_f64().unwrap_or_default() as i64;
                        *element = whole.into();
                    }
                }
            });
        };
    }),
    bug("lists-typed-by-their-first-text", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Array(elements) = value
                    && elements.first().is_some_and(Value::is_string)
                {
                    for element in elements.iter_mut().filter(|element| element.is_number() || element.is_boolean()) {
                        *element = element.to_string().into();
                    }
                }
            });
        };
    }),
    bug("records-with-the-members-of-the-first", &[clause::EVT_CALL], |twin| {
        twin.before = |_, _, input| {
            inside(input, |value| {
                if let Value::Array(elements) = value
                    && let Some(first) = elements.first().and_then(Value::as_object).cloned()
                {
                    for element in elements.iter_mut().filter_map(Value::as_object_mut) {
                        element.retain(|key, _| first.contains_key(key));
                    }
                }
            });
        };
    }),
    literal("nulls-behind-the-eighth-element-in-words", &[clause::STR_2], |twin| {
        twin.string = |twin, value| match value {
            Value::Array(elements) if elements.len() > 8 => {
                let (first, rest) = elements.split_at(8);
                let first = string(twin, &first.to_vec().into());
                let rest: Vec<String> = rest.iter().map(|element| (twin.string)(twin, element)).collect();
                format!("{first},{}", rest.join(","))
            }
            _ => string(twin, value),
        };
    }),
    hardened("results-found-within-128-events", &[clause::MSG_PAIRED], |twin| {
        twin.answers = |events, position| answers(events, position).filter(|call| position - call < 128);
    }),
    hardened("groups-of-eight-calls-at-most", &[clause::MSG_GROUP], |twin| {
        twin.joins = |group, next| group.len() < 8 && crate::twin::context::joins(group, next);
    }),
    bug("instructions-split-at-1024-bytes", &[clause::CTX_SYSTEM], |twin| {
        twin.system = |summaries, instructions, mode| system(summaries, &split_in_utf8(instructions, 1_024), mode);
    }),
    bug("user-texts-split-at-64-units-in-messages", &[clause::MSG_USER], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                super::change(input, "user", |text| split_in_utf16(text, 64));
            }
        };
    }),
    bug("results-split-at-8192-bytes-in-messages", &[clause::MSG_RESULT], |twin| {
        twin.before = |_, op, input| {
            if op == Op::Messages {
                super::change(input, "tool_result", |text| split_in_utf8(text, 8_192));
            }
        };
    }),
    bug("results-of-tools-split-at-2048-bytes", &[clause::TOOLS_RESULT], |twin| {
        twin.tool_message = |call, content| threadspec::Message::tool(&call.id, split_in_utf8(&content, 2_048));
    }),
    bug("prefix-split-at-16-units", &[clause::DOC_6], |twin| {
        twin.prefix = |raw| crate::twin::document::prefix(raw.map(|raw| split_in_utf16(raw, 16)).as_deref());
    }),
    bug("every-third-event-of-many-keeps-its-blanks-alone", &[clause::DOC_2], |twin| {
        twin.before = |_, op, input| {
            let many = input["events"].as_array().is_some_and(|events| events.len() > 2);
            for (_, event) in
                events(input).enumerate().filter(|(index, _)| op == Op::Serialize && many && index % 3 == 2)
            {
                if let Some(text) = super::text_of(event) {
                    *text = text.trim_end_matches(' ').to_owned();
                }
            }
        };
    }),
    bug("event-at-place-128-in-the-iteration-of-the-one-before", &[clause::ATT_ITERATION], |twin| {
        twin.before = |_, op, input| {
            let before = input["events"][127]["iteration"].clone();
            if let Some(event) = events(input).nth(128).filter(|_| op == Op::Serialize && before.is_number()) {
                event["iteration"] = before;
            }
        };
    }),
];
