//! AGENT-RESULT, AGENT-RESULT-COMPACT and AGENT-NUMBERS: how results are written, and numbers everywhere.

use super::{bug, drop_members, each, family, on_arguments, on_structured, on_text_result};
use crate::agent::{Agent, ToolOutcome, calls, content};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec::surrogates::unmark_surrogates;
use threadspec_golden::clause;
use threadspec_judge::universal::halves;

const RESULT: &[&str] = &[clause::AGENT_RESULT];
const COMPACT: &[&str] = &[clause::AGENT_RESULT_COMPACT];
const NUMBERS: &[&str] = &[clause::AGENT_NUMBERS];

fn json_text(value: &Value) -> Value {
    halves::escaped(&value.to_string()).into()
}

/// As Python's `str` writes it.
fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("'{}'", halves::repaired(text)),
        Value::Array(elements) => format!("[{}]", elements.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(members) => {
            let members =
                members.iter().map(|(name, value)| format!("'{}': {}", halves::repaired(name), python(value)));
            format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
        }
    }
}

/// As Go's `%v` writes it.
fn go(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => halves::repaired(text).into_owned(),
        Value::Array(elements) => format!("[{}]", elements.iter().map(go).collect::<Vec<_>>().join(" ")),
        Value::Object(members) => {
            format!(
                "map[{}]",
                members
                    .iter()
                    .map(|(name, value)| format!("{}:{}", halves::repaired(name), go(value)))
                    .collect::<Vec<_>>()
                    .join(" ")
            )
        }
        other => other.to_string(),
    }
}

/// As JavaScript's `String` writes it.
fn javascript(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => halves::repaired(text).into_owned(),
        Value::Array(elements) => elements.iter().map(javascript).collect::<Vec<_>>().join(","),
        Value::Object(_) => "[object Object]".to_owned(),
        other => other.to_string(),
    }
}

/// JSON text in which these characters are escaped.
fn with_escapes(value: &Value, escapes: fn(char) -> bool) -> String {
    let mut out = String::new();
    for c in unmark_surrogates(&value.to_string()).chars() {
        if escapes(c) {
            c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out += &format!("\\u{unit:04x}"));
        } else {
            out.push(c);
        }
    }
    out
}

/// Writes results of some kind in another way.
fn where_it_is(agent: &mut Agent, is: fn(&Value) -> bool, write: fn(&Value) -> String) {
    on_structured(agent, move |value| if is(value) { write(value).into() } else { json_text(value) });
}

/// Changes numbers in results.
fn numbers_in_results(agent: &mut Agent, change: fn(&mut Value)) {
    on_structured(agent, move |value| {
        let mut value = value.clone();
        each(&mut value, &change);
        json_text(&value)
    });
}

fn numbers_in_arguments(agent: &mut Agent, change: fn(&mut Value)) {
    on_arguments(agent, move |args| each(args, &change));
}

fn double(value: &Value) -> Option<f64> {
    if value.is_number() { value.as_f64() } else { None }
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = vec![
        bug("results-in-pythons-notation", RESULT, |agent| on_structured(agent, |value| python(value).into())),
        bug("results-as-javascripts-strings", RESULT, |agent| on_structured(agent, |value| javascript(value).into())),
        bug("results-in-gos-notation", RESULT, |agent| on_structured(agent, |value| go(value).into())),
        bug("null-as-none", RESULT, |agent| where_it_is(agent, Value::is_null, |_| "None".into())),
        bug("null-as-nothing", RESULT, |agent| where_it_is(agent, Value::is_null, |_| String::new())),
        bug("null-as-a-message", RESULT, |agent| {
            where_it_is(agent, Value::is_null, |_| "The tool ran without output.".into())
        }),
        bug("null-as-undefined", RESULT, |agent| where_it_is(agent, Value::is_null, |_| "undefined".into())),
        bug("truth-in-capitals", RESULT, |agent| where_it_is(agent, Value::is_boolean, python)),
        bug("numbers-as-json-strings", &[clause::AGENT_NUMBERS], |agent| {
            where_it_is(agent, Value::is_number, |value| format!("\"{value}\""))
        }),
        bug("lists-in-pythons-notation", RESULT, |agent| where_it_is(agent, Value::is_array, python)),
        bug("lists-as-lines", RESULT, |agent| {
            where_it_is(agent, Value::is_array, |value| {
                value.as_array().into_iter().flatten().map(Value::to_string).collect::<Vec<_>>().join("\n")
            });
        }),
        bug("first-element-of-a-list", RESULT, |agent| {
            where_it_is(
                agent,
                |value| value.as_array().is_some_and(|list| list.len() == 1),
                |value| value[0].to_string(),
            );
        }),
        bug("empty-results-as-no-text", RESULT, |agent| {
            where_it_is(agent, |value| *value == json!([]) || *value == json!({}), |_| String::new());
        }),
        bug("content-blocks-unpacked", RESULT, |agent| {
            on_structured(agent, |value| {
                let block =
                    |value: &Value| (value["type"] == "text").then(|| value["text"].as_str().map(str::to_owned))?;
                let all = value.as_array().map(|list| list.iter().map(block).collect::<Option<Vec<_>>>());
                match (block(value), all) {
                    (Some(text), _) => text.into(),
                    (None, Some(Some(texts))) if !texts.is_empty() => texts.join("").into(),
                    _ => json_text(value),
                }
            });
        }),
        bug("content-member-unpacked", RESULT, |agent| {
            on_structured(agent, |value| {
                if value["content"].is_string() { value["content"].clone() } else { json_text(value) }
            });
        }),
        bug("error-member-as-a-failure", RESULT, |agent| {
            on_structured(agent, |value| match value.get("error") {
                Some(error) => format!("The tool failed: {error}").into(),
                None => json_text(value),
            });
        }),
        bug("results-in-a-wrapper", RESULT, |agent| on_structured(agent, |value| json_text(&json!({"result": value})))),
        bug("results-in-a-fence", RESULT, |agent| {
            on_structured(agent, |value| format!("```json\n{value}\n```").into())
        }),
        bug("results-with-a-prefix", RESULT, |agent| on_text_result(agent, |text| format!("Result: {text}"))),
        bug("texts-as-json-strings", RESULT, |agent| {
            on_text_result(agent, |text| json_text(&text.into()).as_str().unwrap_or_default().to_owned())
        }),
        bug("json-texts-written-anew", &[clause::AGENT_TEXT], |agent| {
            on_text_result(agent, |text| match serde_json::from_str::<Value>(text) {
                Ok(value) => format!("{value:#}"),
                Err(_) => text.to_owned(),
            });
        }),
        bug("texts-of-digits-as-numbers", RESULT, |agent| {
            on_text_result(agent, |text| {
                text.parse::<f64>().map_or_else(|_| text.to_owned(), |number| number.to_string())
            });
        }),
        bug("empty-text-as-a-message", RESULT, |agent| {
            on_text_result(agent, |text| if text.is_empty() { "(no output)".to_owned() } else { text.to_owned() });
        }),
        bug("null-members-of-results-dropped", RESULT, |agent| {
            on_structured(agent, |value| {
                let mut value = value.clone();
                drop_members(&mut value, |_, member| member.is_null());
                json_text(&value)
            });
        }),
        bug("results-of-parallel-calls-swapped", RESULT, |agent| {
            agent.answers = Box::new(|_, answers| {
                let mut contents: Vec<Value> = answers.iter().map(|answer| answer["content"].clone()).collect();
                contents.rotate_left(1);
                answers.iter_mut().zip(contents).for_each(|(answer, content)| answer["content"] = content);
            });
        }),
        bug("results-kept-by-tool", RESULT, |agent| {
            agent.answers = Box::new(|run, answers| {
                let calls = run.list.last().map(calls).unwrap_or_default();
                let last = |call: &Value| calls.iter().rposition(|other| other["name"] == call["name"]);
                let contents: Vec<Value> =
                    calls.iter().filter_map(|call| Some(answers.get(last(call)?)?["content"].clone())).collect();
                answers.iter_mut().zip(contents).for_each(|(answer, content)| answer["content"] = content);
            });
        }),
        bug("first-result-of-a-tool-remembered", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let earlier = run.list.iter().flat_map(calls).find(|other| other["name"] == call["name"]);
                crate::agent::outcome(run, &earlier.unwrap_or_else(|| call.clone()))
            });
        }),
        bug("results-of-equal-ids-remembered", RESULT, |agent| {
            agent.answers = Box::new(|run, answers| {
                for answer in answers {
                    let known = run
                        .list
                        .iter()
                        .find(|message| message["type"] == "tool" && message["tool_call_id"] == answer["tool_call_id"]);
                    if let Some(known) = known {
                        answer["content"] = known["content"].clone();
                    }
                }
            });
        }),
        bug("results-in-ascii", COMPACT, |agent| {
            on_structured(agent, |value| with_escapes(value, |c| !c.is_ascii()).into())
        }),
        bug("results-with-astral-characters-escaped", COMPACT, |agent| {
            on_structured(agent, |value| with_escapes(value, |c| u32::from(c) > 0xffff).into());
        }),
        bug("results-with-latin-letters-escaped", COMPACT, |agent| {
            on_structured(agent, |value| with_escapes(value, |c| matches!(c, '\u{c0}'..='\u{ff}')).into());
        }),
        bug("fractions-with-six-digits", NUMBERS, |agent| {
            numbers_in_results(agent, |value| {
                if let Some(double) = double(value).filter(|double| double.fract() != 0.0) {
                    *value = format!("{double:.6}").parse::<f64>().map(Value::from).unwrap_or_default();
                }
            });
        }),
        bug("numbers-of-single-precision", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if let Some(double) = double(value).filter(|double| double.fract() != 0.0) {
                    #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                    let single = double as f32;
                    *value = json!(f64::from(single));
                }
            });
        }),
        bug("whole-numbers-of-32-bits", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if let Some(number) = value.as_i64() {
                    #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                    let wrapped = number as i32;
                    *value = json!(wrapped);
                }
            });
        }),
        bug("long-integers-of-results-through-doubles", NUMBERS, |agent| {
            numbers_in_results(agent, |value| {
                if let Some(double) = double(value).filter(|double| double.abs() > 9_007_199_254_740_992.0) {
                    *value = json!(double);
                }
            });
        }),
        bug("long-integers-of-arguments-through-doubles", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if let Some(double) = double(value).filter(|double| double.abs() >= 9_007_199_254_740_992.0) {
                    *value = json!(double);
                }
            });
        }),
        bug("integers-beyond-63-bits-lost", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if value.is_u64() && !value.is_i64() {
                    *value = json!(i64::MAX);
                }
            });
        }),
        bug("long-integers-as-text", NUMBERS, |agent| {
            numbers_in_results(agent, |value| {
                if double(value).is_some_and(|double| double.abs() > 9_007_199_254_740_991.0) {
                    *value = value.to_string().into();
                }
            });
        }),
        bug("fractions-of-arguments-as-text", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if value.is_f64() {
                    *value = value.to_string().into();
                }
            });
        }),
        bug("small-numbers-as-zero", NUMBERS, |agent| {
            numbers_in_arguments(agent, |value| {
                if double(value).is_some_and(|double| double.abs() < 1e-300) {
                    *value = json!(0);
                }
            });
        }),
        bug("fractions-cut-off", NUMBERS, |agent| {
            numbers_in_results(agent, |value| {
                if let Some(double) = double(value).filter(|double| double.abs() < 1e15) {
                    #[allow(clippy::cast_possible_truncation, reason = "that is the bug")]
                    let whole = double as i64;
                    *value = json!(whole);
                }
            });
        }),
        bug("truth-as-numbers", RESULT, |agent| {
            numbers_in_results(agent, |value| {
                if let Value::Bool(truth) = value {
                    *value = json!(u8::from(*truth));
                }
            });
        }),
        bug("truth-in-arguments-as-numbers", &[clause::AGENT_RESPONSE], |agent| {
            numbers_in_arguments(agent, |value| {
                if let Value::Bool(truth) = value {
                    *value = json!(u8::from(*truth));
                }
            });
        }),
    ];
    bugs.extend(family("results-swapped-from-call-{n}-on", RESULT, &[1, 9, 64, 250], |agent, size| {
        agent.answers = Box::new(move |_, answers| {
            let mut contents: Vec<Value> = answers.iter().skip(size).map(|answer| answer["content"].clone()).collect();
            contents.reverse();
            answers.iter_mut().skip(size).zip(contents).for_each(|(answer, content)| answer["content"] = content);
        });
    }));
    bugs.extend(family(
        "structured-results-in-pythons-notation-from-round-{n}-on",
        RESULT,
        &[2, 20, 100],
        |agent, size| {
            agent.content = Box::new(move |run, outcome| match outcome {
                ToolOutcome::Result(value) if !value.is_string() && run.turn >= size => python(value).into(),
                _ => content(outcome),
            });
        },
    ));
    bugs
}
