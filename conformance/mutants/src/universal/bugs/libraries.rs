//! What functions of common libraries do with input that they were not made for, as `golden/hazards.json` lists it.

use super::super::operators as op;
use super::{Edit, bug, each, on_arguments, on_given, on_response, on_text_result};
use crate::agent::{Agent, ToolOutcome, calls, outcome, text};
use crate::planted::Planted;
use serde_json::{Map, Value, json};
use threadspec_golden::clause;

const TEXT: &[&str] = &[clause::AGENT_TEXT];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const RESPONSE: &[&str] = &[clause::AGENT_RESPONSE];

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

/// Names that a Python function or its caller reserves.
const RESERVED: [&str; 5] = ["self", "cls", "config", "callbacks", "run_manager"];

pub(super) fn bugs() -> Vec<Planted> {
    let keys: [(&str, Edit); 3] = [
        ("ids-compared-up-to-normalization", op::canonical),
        ("ids-compared-without-weightless-characters", op::weighty),
        ("ids-compared-as-numbers", op::numeric),
    ];
    let mut bugs: Vec<Planted> = keys
        .into_iter()
        .map(|(name, key)| bug(name, &[clause::AGENT_IDS], move |agent| compared_by(agent, key)))
        .collect();
    bugs.extend([
        bug("characters-split-between-blocks", TEXT, |agent| agent.raw = in_blocks),
        bug("lines-beyond-64-kilobytes-refused", &[clause::AGENT_GOES_ON], |agent| {
            agent.raw = |raw| if raw.len() > 1 << 16 { String::new() } else { raw.to_owned() };
        }),
        bug("results-in-a-wrapper-that-they-can-close", RESULT, |agent| {
            crate::universal::readings::wrap(agent, |_| String::new());
        }),
        bug("results-read-as-yaml", RESULT, |agent| {
            on_text_result(agent, |text| as_yaml(text).map_or_else(|| text.to_owned(), |value| value.to_string()));
        }),
        bug("questions-of-one-zero-dropped", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| list.retain(|message| message["type"] != "human" || message["content"] != "0"));
        }),
        bug("arguments-that-look-like-lists-become-lists", RESPONSE, |agent| {
            on_arguments(agent, |args| {
                each(args, &op::as_list);
                // Arguments are declared as an object.
                if args.as_array().is_some_and(Vec::is_empty) {
                    *args = Map::new().into();
                }
            });
        }),
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
    ]);
    bugs
}
