//! `JSON.stringify`, as the libraries of other languages do it by default.

use super::{Planted, bug};
use crate::twin::input::raw_input;
use crate::twin::text::{members, number, quoted};
use serde_json::Number;
use threadspec_golden::clause;
use threadspec_judge::json::Node;

fn double(number: &Number) -> f64 {
    number.as_f64().unwrap_or_default()
}

/// Python's `repr` of a float.
fn python(raw: &Number) -> String {
    match (raw.is_f64(), double(raw)) {
        (true, float) if float.fract() == 0.0 && float.abs() < 1e16 => format!("{float:.1}"),
        (true, float) if float.abs() < 1e-4 => format!("{float:e}").replace("e-", "e-0"),
        _ => number(raw),
    }
}

pub(super) const BUGS: &[Planted] = &[
    bug("json-with-spaces", &[clause::JSON_1], |twin| twin.separators = (", ", ": ")),
    bug("json-with-space-after-colon", &[clause::JSON_1], |twin| twin.separators = (",", ": ")),
    bug("json-pretty-printed", &[clause::JSON_1, clause::EVT_CALL], |twin| twin.separators = (",\n  ", ": ")),
    bug("json-in-ascii", &[clause::JSON_1], |twin| {
        twin.quoted = |text| {
            let mut units = [0; 2];
            let escape = |c: char| -> String {
                if c.is_ascii() {
                    return c.to_string();
                }
                c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect()
            };
            quoted(text).chars().map(escape).collect()
        };
    }),
    bug("json-slash-escaped", &[clause::JSON_1], |twin| twin.quoted = |text| quoted(text).replace('/', "\\/")),
    bug("json-safe-for-html", &[clause::JSON_1], |twin| {
        twin.quoted = |text| quoted(text).replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026");
    }),
    bug("json-safe-for-scripts", &[clause::JSON_1], |twin| {
        twin.quoted = |text| quoted(text).replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029");
    }),
    bug("json-delete-escaped", &[clause::JSON_1], |twin| {
        twin.quoted = |text| quoted(text).replace('\u{7f}', "\\u007f")
    }),
    bug("json-without-short-escapes", &[clause::JSON_2], |twin| {
        twin.quoted = |text| quoted(&text.replace(['\u{8}', '\u{c}'], "\u{0}")).replace("\\u0000", "\\u0008");
    }),
    bug("json-escapes-in-upper-case", &[clause::JSON_2], |twin| {
        twin.quoted = |text| {
            ('a'..='f').fold(quoted(text), |text, digit| {
                let upper = digit.to_ascii_uppercase();
                text.replace(&format!("\\u000{digit}"), &format!("\\u000{upper}"))
                    .replace(&format!("\\u001{digit}"), &format!("\\u001{upper}"))
            })
        };
    }),
    bug("json-controls-in-javascript-style", &[clause::JSON_2], |twin| {
        twin.quoted = |text| quoted(text).replace("\\u000b", "\\v").replace("\\u0000", "\\0").replace("\\u00", "\\x");
    }),
    bug("json-line-feeds-raw", &[clause::JSON_2], |twin| twin.quoted = |text| quoted(text).replace("\\n", "\n")),
    bug("json-backslash-not-escaped", &[clause::JSON_2], |twin| {
        twin.quoted = |text| quoted(text).replace("\\\\", "\\")
    }),
    bug("json-quotes-not-escaped", &[clause::JSON_2], |twin| twin.quoted = |text| quoted(text).replace("\\\"", "\"")),
    bug("numbers-keep-their-fraction", &[clause::JSON_3], |twin| twin.number = python),
    bug("minus-zero-kept", &[clause::JSON_3], |twin| {
        twin.number =
            |raw| if raw.is_f64() && double(raw).to_bits() == 1 << 63 { "-0".to_owned() } else { number(raw) };
    }),
    bug("exponent-without-plus", &[clause::JSON_3], |twin| twin.number = |raw| number(raw).replace("e+", "e")),
    bug("exponent-of-two-digits", &[clause::JSON_3], |twin| {
        twin.number = |raw| {
            let text = number(raw);
            match text.rsplit_once("e-") {
                Some((mantissa, exponent)) => format!("{mantissa}e-{exponent:0>2}"),
                None => text,
            }
        };
    }),
    bug("exponent-in-upper-case", &[clause::JSON_3], |twin| twin.number = |raw| number(raw).replace('e', "E")),
    bug("exponent-from-1e16", &[clause::JSON_3], |twin| {
        twin.number = |raw| match double(raw) {
            float if float.abs() >= 1e16 => format!("{float:e}").replace('e', "e+"),
            _ => number(raw),
        };
    }),
    bug("exponent-below-1e-4", &[clause::JSON_3], |twin| {
        twin.number = |raw| match double(raw) {
            float if float != 0.0 && float.abs() < 1e-4 => format!("{float:e}"),
            _ => number(raw),
        };
    }),
    bug("numbers-never-in-exponential-form", &[clause::JSON_3], |twin| twin.number = |raw| double(raw).to_string()),
    bug("numbers-to-six-decimals", &[clause::JSON_3], |twin| {
        twin.number = |raw| match number(raw) {
            text if text.contains('.') => format!("{:.6}", double(raw)).trim_end_matches('0').to_owned(),
            text => text,
        };
    }),
    bug("numbers-to-fifteen-digits", &[clause::JSON_3], |twin| {
        twin.number = |raw| match number(raw) {
            text if text.contains('.') && !text.contains('e') => {
                format!("{:.14e}", double(raw)).parse().map_or(text, |rounded: f64| rounded.to_string())
            }
            text => text,
        };
    }),
    bug("numbers-in-single-precision", &[clause::JSON_3], |twin| {
        #[expect(clippy::cast_possible_truncation, reason = "that is the bug")]
        let single = |raw: &Number| match number(raw) {
            text if text.contains('.') => (double(raw) as f32).to_string(),
            text => text,
        };
        twin.number = single;
    }),
    bug("large-integers-in-exponential-form", &[clause::JSON_LARGE, clause::JSON_3], |twin| {
        twin.number = |raw| match double(raw) {
            float if float.abs() >= 9_007_199_254_740_992.0 => format!("{float:e}").replace('e', "e+"),
            _ => number(raw),
        };
    }),
    bug("large-integers-as-strings", &[clause::JSON_LARGE], |twin| {
        twin.number = |raw| match double(raw) {
            float if float.abs() >= 9_007_199_254_740_992.0 => format!("\"{raw}\""),
            _ => number(raw),
        };
    }),
    bug("large-integers-saturate", &[clause::JSON_LARGE], |twin| {
        #[expect(clippy::cast_possible_truncation, reason = "that is the bug")]
        let saturated = |raw: &Number| match double(raw) {
            float if float.abs() >= 9_007_199_254_740_992.0 && float.abs() < 1e21 => {
                (float as i64).clamp(-9_007_199_254_740_991, 9_007_199_254_740_991).to_string()
            }
            _ => number(raw),
        };
        twin.number = saturated;
    }),
    bug("integers-in-32-bits", &[clause::JSON_3], |twin| {
        #[expect(clippy::cast_possible_truncation, reason = "that is the bug")]
        let narrow = |raw: &Number| raw.as_i64().map_or_else(|| number(raw), |integer| (integer as i32).to_string());
        twin.number = narrow;
    }),
    bug("keys-sorted", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            members
        };
    }),
    bug("keys-as-inserted", &[clause::JSON_4], |twin| twin.members = |object| object.iter().collect()),
    bug("index-keys-sorted-as-text", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let (mut indices, others): (Vec<_>, Vec<_>) = members(object)
                .into_iter()
                .partition(|(key, _)| key.parse::<u32>().is_ok_and(|i| i.to_string() == **key));
            indices.sort_by_key(|(key, _)| *key);
            indices.into_iter().chain(others).collect()
        };
    }),
    bug("index-keys-last", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let index = |key: &str| key.parse::<u32>().ok().filter(|index| index.to_string() == key);
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| index(key).map_or((false, 0), |index| (true, index)));
            members
        };
    }),
    bug("every-number-like-key-is-an-index", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| key.parse::<u64>().map_or((true, 0), |index| (false, index)));
            members
        };
    }),
    bug("largest-index-not-an-index", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let index =
                |key: &str| key.parse::<u32>().ok().filter(|&index| index < u32::MAX - 1 && index.to_string() == key);
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
            members
        };
    }),
    bug("one-index-too-many", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let index = |key: &str| key.parse::<u32>().ok().filter(|index| index.to_string() == key);
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
            members
        };
    }),
    bug("indices-up-to-31-bits", &[clause::JSON_4], |twin| {
        twin.members = |object| {
            let index = |key: &str| key.parse::<i32>().ok().filter(|index| *index >= 0 && index.to_string() == key);
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| index(key).map_or((true, 0), |index| (false, index)));
            members
        };
    }),
    bug("proto-key-lost", &[clause::JSON_4, clause::NAME_ORDINARY], |twin| {
        twin.members = |object| members(object).into_iter().filter(|(key, _)| *key != "__proto__").collect();
    }),
    bug("empty-key-lost", &[clause::JSON_4], |twin| {
        twin.members = |object| members(object).into_iter().filter(|(key, _)| !key.is_empty()).collect();
    }),
    bug("null-members-dropped", &[clause::JSON_4, clause::EVT_CALL], |twin| {
        twin.members = |object| members(object).into_iter().filter(|(_, value)| !value.is_null()).collect();
    }),
    bug("empty-members-dropped", &[clause::JSON_4, clause::EVT_CALL], |twin| {
        twin.members = |object| members(object).into_iter().filter(|(_, value)| *value != "").collect();
    }),
    bug("repeated-key-keeps-its-first-value", &[clause::JSON_4], |twin| {
        twin.raw_input = |raw| without_earlier_twins(&raw_input(raw), |members| members.reverse());
    }),
    bug("repeated-key-keeps-its-last-place", &[clause::JSON_4], |twin| {
        twin.raw_input = |raw| without_earlier_twins(&raw_input(raw), |_| {});
    }),
];

/// JSON text in which each object keeps only one member of a name: the last one, or the first one if `turn` reverses.
fn without_earlier_twins(text: &str, turn: fn(&mut Vec<(&str, Node<'_>)>)) -> String {
    fn write(node: Node<'_>, turn: fn(&mut Vec<(&str, Node<'_>)>)) -> String {
        let list = |parts: Vec<String>| parts.join(",");
        match node {
            Node::Scalar(token) => token.to_owned(),
            Node::Array(elements) => {
                format!("[{}]", list(elements.into_iter().map(|node| write(node, turn)).collect()))
            }
            Node::Object(mut members) => {
                turn(&mut members);
                let mut kept: Vec<(&str, Node<'_>)> = Vec::new();
                for (key, value) in members {
                    kept.retain(|(earlier, _)| *earlier != key);
                    kept.push((key, value));
                }
                turn(&mut kept);
                format!(
                    "{{{}}}",
                    list(kept.into_iter().map(|(key, node)| format!("{key}:{}", write(node, turn))).collect())
                )
            }
        }
    }
    write(Node::of(text), turn)
}
