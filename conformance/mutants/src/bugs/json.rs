//! `JSON.stringify`, as the libraries of other languages do it by default.

use crate::plants::TwinSite::{Number, Quoted};
use crate::plants::index;
use crate::plants::prelude::*;
use crate::twin::input::raw_input;
use crate::twin::text::{members, number, quoted};
use threadspec_judge::json::Node;

/// From here on, a double cannot hold every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Writes some characters of texts as escapes, one for each of their UTF-16 units.
fn escapes(clause: &'static str, rows: &[(&'static str, fn(char) -> bool)]) -> Vec<Planted> {
    let row = |&(name, is_escaped): &(&'static str, fn(char) -> bool)| {
        edit(name, clause, Quoted, move |text| {
            text.chars()
                .map(|c| if is_escaped(c) { escape_of(c, |unit| format!("\\u{unit:04x}")) } else { c.to_string() })
                .collect()
        })
    };
    rows.iter().map(row).collect()
}

/// The escape of a character, for each of its UTF-16 units.
pub(super) fn escape_of(c: char, hex: fn(u16) -> String) -> String {
    c.encode_utf16(&mut [0; 2]).iter().map(|&unit| hex(unit)).collect()
}

/// A double with an exponent, as JavaScript writes it.
fn exponential(double: f64) -> String {
    format!("{double:e}").replace('e', "e+")
}

/// The value of a key that is a number without a sign or a zero in front, as an index of so many bits.
fn canonical<N: std::str::FromStr + ToString>(key: &str) -> Option<N> {
    key.parse().ok().filter(|index: &N| index.to_string() == key)
}

#[expect(clippy::cast_possible_truncation, reason = "that is the bug")]
pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        on::separators("json-with-spaces", JSON_1, (", ", ": ")),
        on::separators("json-with-space-after-colon", JSON_1, (",", ": ")),
        on::separators("json-pretty-printed", [JSON_1, EVT_CALL], (",\n  ", ": ")),
        swap("json-slash-escaped", JSON_1, Quoted, &[("/", "\\/")]),
        on::quoted("json-without-short-escapes", JSON_2, |text| {
            quoted(&text.replace(['\u{8}', '\u{c}'], "\u{0}")).replace("\\u0000", "\\u0008")
        }),
        // Python's `repr` of a float.
        odd_number("numbers-keep-their-fraction", JSON_3, |raw, double| {
            let whole = double.fract() == 0.0 && double.abs() < 1e16;
            let tiny = || (double.abs() < 1e-4).then(|| format!("{double:e}").replace("e-", "e-0"));
            raw.is_f64().then(|| if whole { Some(format!("{double:.1}")) } else { tiny() })?
        }),
        odd_number("minus-zero-kept", JSON_3, |raw, double| {
            (raw.is_f64() && double.to_bits() == 1 << 63).then(|| "-0".to_owned())
        }),
        odd_number("exponent-from-1e16", JSON_3, |_, double| (double.abs() >= 1e16).then(|| exponential(double))),
        odd_number("exponent-below-1e-4", JSON_3, |_, double| {
            (double != 0.0 && double.abs() < 1e-4).then(|| format!("{double:e}"))
        }),
        odd_number("numbers-never-in-exponential-form", JSON_3, |_, double| Some(double.to_string())),
        odd_number("numbers-to-six-decimals", JSON_3, |raw, double| {
            number(raw).contains('.').then(|| format!("{double:.6}").trim_end_matches('0').to_owned())
        }),
        odd_number("numbers-to-fifteen-digits", JSON_3, |raw, double| {
            let text = number(raw);
            let rounded = || format!("{double:.14e}").parse().ok().map(|rounded: f64| rounded.to_string());
            if text.contains('.') && !text.contains('e') { rounded() } else { None }
        }),
        odd_number("numbers-in-single-precision", JSON_3, |raw, double| {
            number(raw).contains('.').then(|| (double as f32).to_string())
        }),
        odd_number("large-integers-in-exponential-form", [JSON_LARGE, JSON_3], |_, double| {
            (double.abs() >= EXACT).then(|| exponential(double))
        }),
        odd_number("large-integers-as-strings", JSON_LARGE, |raw, double| {
            (double.abs() >= EXACT).then(|| format!("\"{raw}\""))
        }),
        odd_number("large-integers-saturate", JSON_LARGE, |_, double| {
            let largest = 9_007_199_254_740_991;
            (double.abs() >= EXACT && double.abs() < 1e21).then(|| (double as i64).clamp(-largest, largest).to_string())
        }),
        odd_number("integers-in-32-bits", JSON_3, |raw, _| Some((raw.as_i64()? as i32).to_string())),
        on::members("keys-sorted", JSON_4, |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            members
        }),
        on::members("keys-as-inserted", JSON_4, |object| object.iter().collect()),
        on::members("index-keys-sorted-as-text", JSON_4, |object| {
            let (mut indices, others): (Vec<_>, Vec<_>) =
                members(object).into_iter().partition(|(key, _)| canonical::<u32>(key).is_some());
            indices.sort_by_key(|(key, _)| *key);
            indices.into_iter().chain(others).collect()
        }),
        on::members("index-keys-last", JSON_4, |object| {
            let mut members: Vec<_> = object.iter().collect();
            members.sort_by_key(|(key, _)| canonical::<u32>(key).map_or((false, 0), |index| (true, index)));
            members
        }),
        index("every-number-like-key-is-an-index", JSON_4, |key| key.parse().ok()),
        index("largest-index-not-an-index", JSON_4, |key| {
            canonical(key).filter(|&index| index < u64::from(u32::MAX) - 1)
        }),
        index("one-index-too-many", JSON_4, |key| canonical::<u32>(key).map(u64::from)),
        index("indices-up-to-31-bits", JSON_4, |key| canonical(key).filter(|&index| index < 1 << 31)),
        lost_member("proto-key-lost", [JSON_4, NAME_ORDINARY], |key, _| key == "__proto__"),
        lost_member("empty-key-lost", JSON_4, |key, _| key.is_empty()),
        lost_member("null-members-dropped", [JSON_4, EVT_CALL], |_, value| value.is_null()),
        lost_member("empty-members-dropped", [JSON_4, EVT_CALL], |_, value| value == ""),
        on::raw_input("repeated-key-keeps-its-first-value", JSON_4, |raw| {
            without_earlier_twins(&raw_input(raw), |members| members.reverse())
        }),
        on::raw_input("repeated-key-keeps-its-last-place", JSON_4, |raw| {
            without_earlier_twins(&raw_input(raw), |_| {})
        }),
    ];
    bugs.extend(escapes(
        JSON_1,
        &[
            ("json-in-ascii", |c| !c.is_ascii()),
            ("json-safe-for-html", |c| matches!(c, '<' | '>' | '&')),
            ("json-safe-for-scripts", |c| matches!(c, '\u{2028}' | '\u{2029}')),
            ("json-delete-escaped", |c| c == '\u{7f}'),
            ("json-pairs-as-escapes", |c| c > '\u{ffff}'),
            ("json-next-line-escaped", |c| c == '\u{85}'),
            ("json-c1-controls-escaped", |c| matches!(c, '\u{80}'..='\u{9f}')),
            ("json-noncharacters-escaped", |c| matches!(c, '\u{fffe}' | '\u{ffff}')),
            ("json-byte-order-marks-escaped", |c| c == '\u{feff}'),
            ("json-private-characters-escaped", |c| matches!(c, '\u{e000}'..='\u{f8ff}')),
            ("json-soft-hyphens-escaped", |c| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}')),
            ("json-safe-for-html-and-its-attributes", |c| {
                matches!(c, '<' | '>' | '&' | '\'' | '=' | '\u{2028}' | '\u{2029}')
            }),
        ],
    ));
    bugs.extend(escapes(
        JSON_2,
        &[("json-plus-and-backtick-escaped", |c| matches!(c, '+' | '`')), ("json-equals-sign-escaped", |c| c == '=')],
    ));
    bugs.extend(at(JSON_2, Quoted).edits(&[
        ("json-escapes-in-upper-case", |json| {
            ('a'..='f').fold(json.to_owned(), |json, digit| {
                let upper = digit.to_ascii_uppercase();
                ["\\u000", "\\u001"]
                    .iter()
                    .fold(json, |json, start| json.replace(&format!("{start}{digit}"), &format!("{start}{upper}")))
            })
        }),
        ("json-controls-in-javascript-style", |json| {
            json.replace("\\u000b", "\\v").replace("\\u0000", "\\0").replace("\\u00", "\\x")
        }),
        ("json-line-feeds-raw", |json| json.replace("\\n", "\n")),
        ("json-backslash-not-escaped", |json| json.replace("\\\\", "\\")),
        ("json-quotes-not-escaped", |json| json.replace("\\\"", "\"")),
    ]));
    bugs.extend(at(JSON_3, Number).edits(&[
        ("exponent-without-plus", |number| number.replace("e+", "e")),
        ("exponent-in-upper-case", |number| number.replace('e', "E")),
        ("exponent-of-two-digits", |number| match number.rsplit_once("e-") {
            Some((mantissa, exponent)) => format!("{mantissa}e-{exponent:0>2}"),
            None => number.to_owned(),
        }),
        ("smallest-double-with-two-digits", |number| number.replace("5e-324", "4.9e-324")),
        ("decimal-point-as-a-comma", |number| number.replace('.', ",")),
    ]));
    bugs
}

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
