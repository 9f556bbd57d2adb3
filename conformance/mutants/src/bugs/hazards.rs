//! What common functions do to texts, numbers and values that they were not made for. These were written from the clauses, and from memory of
//! real libraries, before there was a case for any of them.

use crate::plants::TwinSite::{Escaped, Instructions, Prefix, Raw, RawAttribute, System, Written};
use crate::plants::prelude::*;
use crate::twin::text::{item, number};
use crate::universal::operators::as_list;

/// Replaces some characters by texts.
fn exchanged(raw: &str, others: &[(char, &str)]) -> String {
    let other = |c: char| {
        others.iter().find(|(own, _)| *own == c).map_or_else(|| c.to_string(), |(_, other)| (*other).to_owned())
    };
    raw.chars().map(other).collect()
}

/// A text that is no zero.
fn unless_zero(text: &str) -> String {
    if text == "0" { String::new() } else { text.to_owned() }
}

/// Changes each value inside arguments and results.
fn values(name: FaultName, change: fn(&mut Value)) -> Planted {
    inside(name, EVT_CALL, change)
}

/// Changes each value below the arguments of calls.
fn below_arguments(name: FaultName, terms: &'static str, change: fn(&mut Value)) -> Planted {
    on::any_given(name, terms, move |event| {
        let args = event.get_mut("args").and_then(Value::as_object_mut).into_iter().flatten();
        args.for_each(|(_, value)| each(value, &change));
    })
}

#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "that is the bug"
)]
pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        edit("text-of-zero-is-empty", DOC_2, Raw, unless_zero),
        swap("percent-signs-of-instructions-read", CTX_SYSTEM, System, &[("%%", "%")]),
        swap("full-width-markup-folded-behind-escaping", ESC_3, Escaped, &[("＜", "<"), ("＆", "&"), ("＞", ">")]),
        edit("any-entity-name-not-escaped-again", ESC_2, Escaped, |escaped| {
            let mut parts = escaped.split("&amp;");
            let first = parts.next().unwrap_or_default().to_owned();
            let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric());
            parts.fold(first, |text, part| {
                let is_entity = part.split_once(';').is_some_and(|(name, _)| is_name(name));
                text + if is_entity { "&" } else { "&amp;" } + part
            })
        }),
        // Numbers.
        odd_number("numbers-to-seventeen-digits", JSON_3, |raw, double| {
            let is_small = raw.is_f64() && double.abs() < 1.0 && double.abs() > 1e-3;
            is_small.then(|| format!("{double:.17}").trim_end_matches('0').to_owned())
        }),
        odd_number("denormal-numbers-flushed", JSON_3, |_, double| double.is_subnormal().then(|| "0".to_owned())),
        odd_number("integers-wrap-at-63-bits", JSON_LARGE, |raw, _| {
            raw.as_u64().filter(|&large| i64::try_from(large).is_err()).map(|large| large.cast_signed().to_string())
        }),
        odd_number("whole-doubles-cut-at-63-bits", JSON_3, |raw, double| {
            let is_whole = raw.is_f64() && double.fract() == 0.0 && double.abs() < 1e21;
            is_whole.then(|| (double as i64).to_string())
        }),
        odd_number("halves-rounded-in-the-last-place", JSON_3, |raw, double| {
            let has_fraction = raw.is_f64() && double.fract() != 0.0 && double.abs() >= 1e-6 && double.abs() < 1e15;
            let near = format!("{double:.16e}").parse::<f64>().ok().filter(|_| has_fraction)?;
            Some(number(&Number::from_f64((near * 1e15).round() / 1e15)?))
        }),
        on::summarized("summarized-numbers-in-32-bits", ATT_SUMMARIZED, |iterations| {
            iterations.iter().map(|&number| (number as i32).to_string()).collect::<Vec<_>>().join(",")
        }),
        on::iteration("iteration-in-single-precision", ATT_ITERATION, |event| {
            let is_exact = matches!(event.kind, EventKind::Completion { .. });
            if is_exact { event.iteration } else { event.iteration as f32 as u64 }.to_string()
        }),
        // Values.
        lost_member("metadata-members-dropped", EVT_CALL, |key, _| matches!(key, "$ref" | "$id" | "$type" | "$values")),
        values("dates-in-arguments-written-anew", |value| {
            let is_date = |text: &&str| text.len() > 19 && text.as_bytes()[4] == b'-' && text.as_bytes()[10] == b'T';
            if let Some(text) = value.as_str().filter(is_date) {
                *value = text.replace(".000Z", "Z").replace("+00:00", "Z").into();
            }
        }),
        values("numeric-texts-in-arguments-as-numbers", |value| {
            if let Some(number) = value.as_str().and_then(|text| text.parse::<i64>().ok()) {
                *value = number.into();
            }
        }),
        values("words-of-yaml-in-arguments-read", |value| {
            *value = match value.as_str() {
                Some("yes" | "on" | "Yes" | "true") => true.into(),
                Some("no" | "off" | "No" | "false") => false.into(),
                Some("~" | "null") => Value::Null,
                _ => return,
            };
        }),
        below_arguments("empty-objects-in-arguments-as-lists", EVT_CALL, |value| {
            if *value == json!({}) {
                *value = json!([]);
            }
        }),
        below_arguments("objects-with-the-keys-of-a-list-as-lists", EVT_CALL, |value| {
            if *value != json!({}) {
                as_list(value);
            }
        }),
        values("empty-lists-in-arguments-as-objects", |value| {
            if *value == json!([]) {
                *value = json!({});
            }
        }),
        values("nulls-at-the-end-of-lists-lost", |value| {
            if let Value::Array(elements) = value {
                while elements.pop_if(|last| last.is_null()).is_some() {}
            }
        }),
        values("dots-in-keys-as-paths", |value| rename(value, |key| key.replace(['.', ' ', '['], "_"))),
        values("keys-trimmed", |value| rename(value, |key| key.trim().to_owned())),
        values("keys-composed", |value| {
            rename(value, |key| key.replace("e\u{301}", "é").replace("a\u{308}", "ä"));
        }),
        inside("control-characters-dropped-from-keys", JSON_2, |value| {
            rename(value, |key| key.replace(|c: char| c.is_ascii_control(), ""));
        }),
        below_arguments("keys-of-inner-objects-sorted", JSON_4, |value| {
            value.as_object_mut().into_iter().for_each(Map::sort_keys);
        }),
        below_arguments("empty-keys-of-inner-objects-lost", JSON_4, |value| {
            value.as_object_mut().into_iter().for_each(|members| members.retain(|key, _| !key.is_empty()));
        }),
        below_arguments("null-members-of-inner-objects-dropped", EVT_CALL, |value| {
            value.as_object_mut().into_iter().for_each(|members| members.retain(|_, member| !member.is_null()));
        }),
        each_given("object-like-texts-compacted-in-messages", MSG_RESULT, Op::Messages, |event| {
            let text = event["result"].as_str().filter(|text| text.trim_start().starts_with('{'));
            if let Some(Ok(value)) = text.map(serde_json::from_str::<Value>) {
                event["result"] = value.to_string().into();
            }
        }),
        odd_content("null-results-undefined-in-messages", MSG_RESULT, |_, result| {
            result.is_some_and(Value::is_null).then(|| "undefined".to_owned())
        }),
        on::item("empty-inner-arrays-left-out", literal(STR_2), |twin, element| {
            if *element == json!([]) { None } else { item(twin, element) }
        }),
        on::before("tools-found-in-any-case", LOOP_TOOL_ERROR, |_, _, input| {
            let Some(tools) = tools(input) else { return };
            for (name, results) in tools.clone() {
                for name in [name.to_lowercase(), name.to_uppercase()] {
                    tools.entry(name).or_insert_with(|| results.clone());
                }
            }
        }),
    ];
    bugs.extend(at(ESC_3, Raw).edits(&[
        ("next-line-characters-become-line-feeds", |text| text.replace('\u{85}', "\n")),
        ("byte-order-mark-in-front-lost", |text| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
        ("percent-codes-decoded", |text| text.replace("%20", " ").replace("%41", "A").replace("%25", "%")),
        ("characters-taken-by-their-low-byte", |text| {
            let low = |c: char| match (u32::from(c) > 0xff, u32::from(c) & 0xff) {
                (true, 0x26) => '&',
                (true, 0x3c) => '<',
                (true, 0x3e) => '>',
                _ => c,
            };
            text.chars().map(low).collect()
        }),
        ("private-characters-forbidden", |text| text.replace(|c| matches!(c, '\u{e000}'..='\u{f8ff}'), "\u{fffd}")),
        ("arabic-noncharacters-forbidden", |text| text.replace(|c| matches!(c, '\u{fdd0}'..='\u{fdef}'), "\u{fffd}")),
        ("formatting-characters-removed", |text| text.replace(['\u{ad}', '\u{61c}', '\u{180e}', '\u{fff9}'], "")),
        ("variation-selectors-removed", |text| text.replace(['\u{fe0e}', '\u{fe0f}'], "")),
        ("tag-characters-removed", |text| text.replace(|c| matches!(c, '\u{e0001}'..='\u{e007f}'), "")),
        ("unassigned-characters-replaced", |text| text.replace(['\u{378}', '\u{2fe0}', '\u{e0080}'], "\u{fffd}")),
        ("compatibility-characters-folded", |text| {
            exchanged(text, &[('ﬁ', "fi"), ('²', "2"), ('…', "..."), ('\u{ff21}', "A"), ('①', "1"), ('™', "TM")])
        }),
        ("curly-quotes-straightened", |text| text.replace(['‘', '’'], "'").replace(['“', '”'], "\"")),
        ("c1-controls-as-windows-characters", |text| {
            exchanged(text, &[('\u{80}', "€"), ('\u{85}', "…"), ('\u{93}', "“"), ('\u{99}', "™")])
        }),
        ("spaces-of-other-kinds-as-spaces", |text| text.replace(['\u{2009}', '\u{202f}', '\u{3000}', '\u{1680}'], " ")),
    ]));
    bugs.extend(at(ESC_3, Written("")).edits(&[
        ("replacement-with-dollar-signs", |text| text.replace("$$", "$").replace("$&", "{body}")),
        ("replacement-with-backslashes", |text| text.replace("\\\\", "\\").replace("\\0", "{body}")),
    ]));
    bugs.extend(at(ATT_NAME, RawAttribute).edits(&[
        ("replacement-with-group-references", |text| text.replace("$1", "").replace("\\1", "")),
        ("plus-signs-of-names-as-spaces", |text| text.replace('+', " ")),
    ]));
    bugs.extend(at(CTX_SYSTEM, Instructions).edits(&[
        ("instructions-of-zero-ignored", unless_zero),
        ("braces-of-instructions-read", |text| text.replace("{{", "{").replace("}}", "}")),
        ("final-line-feed-of-instructions-lost", |text| text.strip_suffix('\n').unwrap_or(text).to_owned()),
    ]));
    bugs.extend(at(DOC_6, Prefix).edits(&[
        ("dollar-signs-of-the-prefix-read", |text| text.replace("$$", "$").replace("$&", "")),
        ("prefix-of-zero-ignored", unless_zero),
    ]));
    bugs
}
