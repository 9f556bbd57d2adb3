//! What functions of common libraries do with input that they were not made for, as `golden/hazards.json` lists it.

use super::{Edit, bug, each, on_arguments, on_given, on_response, on_structured, on_text_result};
use crate::agent::{Agent, ToolOutcome, calls, outcome, text};
use crate::planted::Planted;
use serde_json::{Map, Value, json};
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const TEXT: &[&str] = &[clause::AGENT_TEXT];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];

/// `"\n".join(text.splitlines())` in Python.
fn split_lines(text: &str) -> String {
    let ends = ['\n', '\u{b}', '\u{c}', '\u{1c}', '\u{1d}', '\u{1e}', '\u{85}', '\u{2028}', '\u{2029}'];
    let text = text.replace("\r\n", "\n").replace('\r', "\n").replace(ends, "\n");
    text.strip_suffix('\n').unwrap_or(&text).to_owned()
}

/// A text as the second argument of JavaScript's `replace`, where it takes the place of `{result}`.
fn as_javascripts_replacement(text: &str) -> String {
    text.replace("$$", "\0").replace("$&", "{result}").replace("$`", "").replace("$'", "").replace('\0', "$")
}

/// A text as the second argument of Java's `replaceAll`, which drops backslashes.
fn as_javas_replacement(text: &str) -> String {
    let mut is_protected = false;
    let keeps = |c: &char| {
        is_protected = *c == '\\' && !is_protected;
        !is_protected
    };
    text.chars().filter(keeps).collect()
}

/// A text as a format of Go, without operands.
fn as_gos_format(text: &str) -> String {
    text.replace("%%", "\0").replace("%s", "%!s(MISSING)").replace("%d", "%!d(MISSING)").replace('\0', "%")
}

/// `decodeURIComponent`, for characters of one byte.
fn url_decoded(text: &str) -> String {
    let mut parts = text.split('%');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let code = part.get(..2).and_then(|hex| u8::from_str_radix(hex, 16).ok()).filter(u8::is_ascii);
        match code {
            Some(code) => text + &char::from(code).to_string() + &part[2..],
            None => text + "%" + part,
        }
    })
}

fn in_latin_1(text: &str) -> String {
    text.chars().map(|c| if c > '\u{ff}' { '?' } else { c }).collect()
}

/// Decoded in blocks of 64 KiB, each by itself.
fn in_blocks(text: &str) -> String {
    text.as_bytes().chunks(1 << 16).map(String::from_utf8_lossy).collect()
}

/// What YAML 1.1 reads without quotes.
fn as_yaml(text: &str) -> Option<Value> {
    match &*text.to_ascii_lowercase() {
        "y" | "yes" | "on" => Some(true.into()),
        "n" | "no" | "off" => Some(false.into()),
        "~" => Some(Value::Null),
        number => {
            let (hours, minutes) = number.split_once(':')?;
            Some(json!(hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?))
        }
    }
}

/// A date as Json.NET writes it again: without the zeros at the end of its seconds.
fn date_anew(value: &mut Value) {
    let anew = value.as_str().and_then(|text| {
        let (seconds, fraction) = text.strip_suffix('Z')?.split_once('.')?;
        let shape: String = seconds.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
        let fraction = (shape == "0000-00-00T00:00:00").then(|| fraction.trim_end_matches('0'))?;
        Some(if fraction.is_empty() { format!("{seconds}Z") } else { format!("{seconds}.{fraction}Z") })
    });
    if let Some(anew) = anew {
        *value = anew.into();
    }
}

fn without_dollar_members(value: &mut Value) {
    if let Value::Object(members) = value {
        members.retain(|name, _| !["$id", "$ref", "$type", "$values"].contains(&&**name));
    }
}

/// What an object with the keys 0, 1, 2 … becomes in a language whose maps are lists, too.
fn as_list(value: &mut Value) {
    if let Value::Object(members) = value
        && members.keys().enumerate().all(|(index, key)| *key == index.to_string())
    {
        *value = members.values().cloned().collect();
    }
}

/// The neighbour of a number of seventeen digits.
fn nearly(value: &mut Value) {
    if let Some(double) = value.as_f64().filter(|_| value.is_f64())
        && format!("{double:e}").split('e').next().unwrap_or_default().len() >= 18
    {
        *value = json!(f64::from_bits(double.to_bits() - 1));
    }
}

/// A value as a key in Python, where `True` equals 1, and 1.0 does, too.
fn python_key(value: &Value) -> Value {
    let mut key = value.clone();
    each(&mut key, &|value| match value {
        Value::Bool(truth) => *value = json!(f64::from(u8::from(*truth))),
        Value::Number(number) => *value = json!(number.as_f64()),
        _ => {}
    });
    key
}

fn json_text(value: &Value) -> Value {
    halves::escaped(&value.to_string()).into()
}

/// Changes structured results.
fn in_results(agent: &mut Agent, change: fn(&mut Value)) {
    on_structured(agent, move |value| {
        let mut value = value.clone();
        each(&mut value, &change);
        json_text(&value)
    });
}

/// As Swift compares: canonically equivalent texts are equal.
fn composed(name: &str) -> String {
    name.replace("e\u{301}", "\u{e9}").replace("A\u{30a}", "\u{c5}")
}

/// As ICU compares: some characters have no weight.
fn weighty(name: &str) -> String {
    name.replace(['\u{ad}', '\u{200b}', '\u{200d}', '\u{2060}', '\u{feff}'], "")
}

/// As PHP's `==` compares two numeric strings.
fn numeric(name: &str) -> String {
    name.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .map_or_else(|| name.to_owned(), |number| number.to_string())
}

/// Compares ids of a response by a key: the second of two that count as equal gets another id. Tools are found by that key, too.
fn compared_by(agent: &mut Agent, key: Edit) {
    on_response(agent, move |run, message| {
        let ids: Vec<String> = calls(message).iter().map(|call| text(&call["id"]).to_owned()).collect();
        for index in 1..ids.len() {
            let is_equal = |earlier: &String| earlier != &ids[index] && key(earlier) == key(&ids[index]);
            if ids[..index].iter().any(is_equal) {
                let new = format!("{}_again", ids[index]);
                message["tool_calls"][index]["id"] = (&*new).into();
                run.renamed.push((new, ids[index].clone()));
            }
        }
    });
    agent.outcome = Box::new(move |run, call| {
        let tools = run.input["tools"].as_object().cloned().unwrap_or_default();
        let found = tools.keys().find(|tool| key(tool) == key(text(&call["name"])));
        let mut call = call.clone();
        if let Some(found) = found {
            call["name"] = (&**found).into();
        }
        outcome(run, &call)
    });
}

/// Where Java's `HashMap` of sixteen buckets keeps a key.
fn bucket(key: &str) -> u32 {
    let hash = key.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    let hash = hash.cast_unsigned();
    (hash ^ (hash >> 16)) & 15
}

/// Names that a Python function or its caller reserves.
const RESERVED: [&str; 5] = ["self", "cls", "config", "callbacks", "run_manager"];

pub(super) fn bugs() -> Vec<Planted> {
    let edits: [(&str, Edit); 8] = [
        ("results-split-into-lines-and-joined", split_lines),
        ("results-split-at-line-feeds-and-joined", |text| text.trim_end_matches('\n').to_owned()),
        ("results-as-replacements-in-javascript", as_javascripts_replacement),
        ("results-as-replacements-in-java", as_javas_replacement),
        ("results-as-formats-in-go", as_gos_format),
        ("results-decoded-as-urls", url_decoded),
        ("results-in-latin-1", in_latin_1),
        ("results-without-their-byte-order-mark", |text| text.strip_prefix('\u{feff}').unwrap_or(text).to_owned()),
    ];
    let mut bugs: Vec<Planted> =
        edits.into_iter().map(|(name, edit)| bug(name, TEXT, move |agent| on_text_result(agent, edit))).collect();
    let keys: [(&str, Edit); 3] = [
        ("ids-compared-up-to-normalization", composed),
        ("ids-compared-without-weightless-characters", weighty),
        ("ids-compared-as-numbers", numeric),
    ];
    bugs.extend(
        keys.into_iter().map(|(name, key)| bug(name, &[clause::AGENT_IDS], move |agent| compared_by(agent, key))),
    );
    bugs.extend([
        bug("characters-split-between-blocks", TEXT, |agent| agent.raw = in_blocks),
        bug("lines-beyond-64-kilobytes-refused", TEXT, |agent| {
            agent.raw = |raw| if raw.len() > 1 << 16 { String::new() } else { raw.to_owned() };
        }),
        bug("results-read-as-yaml", RESULT, |agent| {
            on_text_result(agent, |text| as_yaml(text).map_or_else(|| text.to_owned(), |value| value.to_string()));
        }),
        bug("results-of-one-zero-emptied", RESULT, |agent| {
            on_text_result(agent, |text| if text == "0" { String::new() } else { text.to_owned() });
        }),
        bug("questions-of-one-zero-dropped", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| list.retain(|message| message["type"] != "human" || message["content"] != "0"));
        }),
        bug("dates-of-results-written-anew", RESULT, |agent| in_results(agent, date_anew)),
        bug("dates-of-arguments-written-anew", RESPONSE, |agent| on_arguments(agent, |args| each(args, &date_anew))),
        bug("members-of-results-with-a-dollar-sign-dropped", RESULT, |agent| in_results(agent, without_dollar_members)),
        bug("arguments-with-a-dollar-sign-dropped", RESPONSE, |agent| {
            on_arguments(agent, |args| each(args, &without_dollar_members));
        }),
        bug("results-that-look-like-lists-become-lists", RESULT, |agent| in_results(agent, as_list)),
        bug("arguments-that-look-like-lists-become-lists", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                each(args, &as_list);
                // Arguments are declared as an object.
                if args.as_array().is_some_and(Vec::is_empty) {
                    *args = Map::new().into();
                }
            });
        }),
        bug("numbers-of-arguments-off-by-one-place", &[clause::AGENT_NUMBERS], |agent| {
            on_arguments(agent, |args| each(args, &nearly));
        }),
        bug("numbers-of-results-off-by-one-place", &[clause::AGENT_NUMBERS], |agent| in_results(agent, nearly)),
        bug("results-remembered-by-arguments-as-python-compares", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let is_equal = |other: &Value| {
                    other["name"] == call["name"] && python_key(&other["args"]) == python_key(&call["args"])
                };
                let earlier = run.list.iter().flat_map(calls).find(is_equal);
                outcome(run, &earlier.unwrap_or_else(|| call.clone()))
            });
        }),
        bug("arguments-with-reserved-names-fail", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let reserved = RESERVED.iter().find(|name| call["args"].get(**name).is_some());
                match reserved {
                    Some(name) => ToolOutcome::Failure(format!("got multiple values for argument '{name}'")),
                    None => outcome(run, call),
                }
            });
        }),
        bug("answers-in-the-order-of-hashes", &[clause::AGENT_ORDER], |agent| {
            agent.answers = Box::new(|_, answers| answers.sort_by_key(|answer| bucket(text(&answer["tool_call_id"]))));
        }),
    ]);
    bugs
}
