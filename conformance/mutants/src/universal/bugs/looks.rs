//! Texts and ids that are taken for something else.

use super::{bug, each, in_arguments, in_results, is, on_given, on_later_requests, on_response, on_text_result};
use crate::agent::{Agent, ToolOutcome, calls, content, outcome, text};
use crate::planted::Planted;
use serde_json::{Value, json};
use threadspec_golden::clause;

const IDS: &[&str] = &[clause::AGENT_IDS];
const RESULT: &[&str] = &[clause::AGENT_RESULT];
const STOPS: &[&str] = &[clause::AGENT_STOPS];

/// Replaces each text for which `other` returns something.
fn texts(value: &mut Value, other: impl Fn(&str) -> Option<Value>) {
    each(value, &|value| {
        if let Some(other) = value.as_str().and_then(&other) {
            *value = other;
        }
    });
}

fn edited(value: &mut Value, edit: impl Fn(&str) -> String) {
    texts(value, |text| Some(edit(text).into()));
}

/// The texts of results that stand alone.
fn alone(name: &str, breaks: &'static [&'static str], edit: fn(&str) -> String) -> Planted {
    bug(name, breaks, move |agent| on_text_result(agent, edit))
}

fn is_date(text: &str) -> bool {
    let begins = |(at, byte): (usize, &u8)| if at == 4 || at == 7 { *byte == b'-' } else { byte.is_ascii_digit() };
    text.len() > 10 && text.as_bytes()[..10].iter().enumerate().all(begins)
}

fn word_of_yaml(text: &str) -> Option<Value> {
    match text {
        "yes" | "on" | "y" | "True" => Some(true.into()),
        "no" | "off" | "n" | "FALSE" => Some(false.into()),
        "~" => Some(Value::Null),
        _ => None,
    }
}

/// Gives each call another id, under which its result is still found.
fn with_ids(agent: &mut Agent, new: fn(&str) -> String) {
    agent.response = Box::new(move |run, message| {
        for call in super::calls_mut(message) {
            let old = text(&call["id"]).to_owned();
            let id = new(&old);
            call.insert("id".into(), (&*id).into());
            run.renamed.push((id, old));
        }
    });
}

/// Finds results by a part of the id.
fn found_by(agent: &mut Agent, key: fn(&str) -> String) {
    agent.outcome = Box::new(move |run, call| {
        let wanted = key(text(&call["id"]));
        let mut call = call.clone();
        let known = run.input["tools"][text(&call["name"])]["byId"].as_object();
        if let Some(id) = known.and_then(|known| known.keys().find(|id| key(id) == wanted)).cloned() {
            call["id"] = id.into();
        }
        outcome(run, &call)
    });
}

pub(super) fn bugs() -> Vec<Planted> {
    let mut bugs = values();
    bugs.extend(ids());
    bugs.extend([
        alone("texts-of-zero-and-false-emptied", RESULT, |text| {
            if matches!(text, "0" | "false" | "0.0") { String::new() } else { text.to_owned() }
        }),
        alone("texts-of-nothing-emptied", RESULT, |text| {
            if matches!(text, "null" | "None" | "undefined" | "nil" | "N/A") { String::new() } else { text.to_owned() }
        }),
        alone("invisible-results-emptied", &[clause::AGENT_TEXT], |text| {
            if matches!(text, "\u{200b}" | "\u{feff}" | "\u{a0}") { String::new() } else { text.to_owned() }
        }),
        alone("pictures-cut-out-of-results", RESULT, |text| {
            text.split("data:image").next().unwrap_or_default().to_owned()
        }),
        bug("results-that-count-as-false-emptied", RESULT, |agent| {
            agent.content = Box::new(|_, outcome| match outcome {
                ToolOutcome::Result(value) if *value == json!(0) || *value == json!(false) || *value == json!({}) => {
                    "".into()
                }
                _ => content(outcome),
            });
        }),
        bug("texts-of-zero-beside-calls-dropped", &[clause::AGENT_RESPONSE], |agent| {
            on_response(agent, |_, message| {
                if matches!(text(&message["content"]), "0" | "null" | "-") && !calls(message).is_empty() {
                    message["content"] = "".into();
                }
            });
        }),
        bug("questions-of-zero-dropped", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| list.retain(|message| !matches!(text(&message["content"]), "0" | "null" | "None")))
        }),
        bug("repeated-questions-dropped", &[clause::AGENT_START], |agent| {
            on_given(agent, |list| {
                let mut seen: Vec<Value> = Vec::new();
                list.retain(|message| {
                    let is_new = !is(message, &["human"]) || !seen.contains(message);
                    seen.push(message.clone());
                    is_new
                });
            });
        }),
    ]);
    for (name, answer) in [("zero", "0"), ("false", "false"), ("null", "null"), ("braces", "{}"), ("a-dot", ".")] {
        bugs.push(bug(&format!("answer-of-{name}-asked-again"), STOPS, move |agent| {
            agent.is_last =
                Box::new(move |_, message| calls(message).is_empty() && text(&message["content"]) != answer);
        }));
    }
    bugs
}

fn values() -> Vec<Planted> {
    let changes: [(&str, fn(&mut Value)); 14] = [
        ("dates-written-anew", |value| {
            edited(value, |text| {
                if is_date(text) { text.replace("00Z", "00.000Z").replace(' ', "T") } else { text.to_owned() }
            })
        }),
        ("digits-as-numbers", |value| texts(value, |text| text.parse::<i64>().ok().map(Value::from))),
        ("special-numbers-as-null", |value| {
            texts(value, |text| matches!(text, "NaN" | "Infinity" | "nan" | "inf").then_some(Value::Null))
        }),
        ("yaml-read", |value| texts(value, word_of_yaml)),
        ("broken-json-dropped", |value| {
            texts(value, |text| {
                (text.starts_with(['{', '[']) && serde_json::from_str::<Value>(text).is_err()).then_some(Value::Null)
            })
        }),
        ("addresses-decoded", |value| edited(value, |text| text.replace("%20", " ").replace("%C3%A4", "ä"))),
        ("hosts-in-lower-case", |value| edited(value, |text| text.replace("EXAMPLE.com:443", "example.com"))),
        ("separators-converted", |value| {
            edited(value, |text| if text.starts_with("C:\\") { text.replace('\\', "/") } else { text.to_owned() })
        }),
        ("data-cut-out", |value| {
            edited(value, |text| if text.starts_with("data:image") { "[image]".into() } else { text.to_owned() })
        }),
        ("uuids-in-lower-case", |value| {
            edited(value, |text| if text.len() == 36 { text.to_lowercase() } else { text.to_owned() })
        }),
        ("environment-expanded", |value| edited(value, |text| text.replace("os.environ/HOME", "/root"))),
        ("replacement-patterns-expanded", |value| edited(value, |text| text.replace("$$", "$").replace("$&", ""))),
        ("names-of-nothing-as-null", |value| {
            texts(value, |text| matches!(text, "undefined" | "None" | "nil").then_some(Value::Null))
        }),
        ("empty-inside-dropped", |value| {
            super::drop_members(
                value,
                |_, value| matches!(value, Value::Object(members) if members.values().any(|member| *member == json!({}) || *member == json!([]))),
            )
        }),
    ];
    let mut bugs: Vec<Planted> =
        changes.into_iter().flat_map(|(name, change)| [in_arguments(name, change), in_results(name, change)]).collect();
    // These change texts, wherever they come.
    let is_of_text = |bug: &&mut Planted| bug.name.starts_with("addresses-") || bug.name.starts_with("separators-");
    bugs.iter_mut().filter(is_of_text).for_each(|bug| bug.breaks = &[clause::AGENT_TEXT]);
    bugs.extend([
        in_arguments("single-characters-dropped", |args| {
            edited(args, |text| {
                if text.chars().count() == 1 && !text.trim().is_empty() { String::new() } else { text.to_owned() }
            })
        }),
        in_results("thoughts-cut-out", |value| {
            edited(value, |text| if text.starts_with("<thinking>") { String::new() } else { text.to_owned() })
        }),
    ]);
    bugs
}

fn ids() -> Vec<Planted> {
    vec![
        bug("ids-as-numbers", IDS, |agent| {
            with_ids(agent, |id| id.parse::<f64>().map_or_else(|_| id.to_owned(), |number| number.to_string()))
        }),
        bug("blanks-of-ids-trimmed", IDS, |agent| with_ids(agent, |id| id.trim().to_owned())),
        bug("ids-of-nothing-replaced", IDS, |agent| {
            with_ids(
                agent,
                |id| if matches!(id, "null" | "undefined" | "None") { "call_new".into() } else { id.to_owned() },
            )
        }),
        bug("accents-of-ids-composed", IDS, |agent| with_ids(agent, |id| id.replace("e\u{301}", "\u{e9}"))),
        bug("ids-cut-in-the-middle", IDS, |agent| {
            with_ids(agent, |id| {
                if id.is_ascii() && id.len() > 64 {
                    format!("{}{}", &id[..32], &id[id.len() - 32..])
                } else {
                    id.to_owned()
                }
            });
        }),
        bug("ids-rewritten-for-another-provider", IDS, |agent| with_ids(agent, |id| id.replace("toolu_", "call_"))),
        bug("results-found-by-the-number-in-the-id", RESULT, |agent| {
            found_by(agent, |id| id.chars().filter(char::is_ascii_digit).collect())
        }),
        bug("results-found-by-the-first-eight-characters", RESULT, |agent| found_by(agent, |id| super::cut(id, 8))),
        bug("results-found-by-lower-case-letters", RESULT, |agent| found_by(agent, |id| id.trim().to_lowercase())),
        bug("results-in-the-order-of-sorted-ids", RESULT, |agent| {
            agent.answers = Box::new(|_, answers| {
                let mut sorted = answers.clone();
                sorted.sort_by_key(|answer| text(&answer["tool_call_id"]).to_owned());
                answers.iter_mut().zip(sorted).for_each(|(answer, other)| answer["content"] = other["content"].clone());
            });
        }),
        bug("id-that-is-a-name-taken-for-the-name", RESULT, |agent| {
            agent.outcome = Box::new(|run, call| {
                let mut call = call.clone();
                if run.input["tools"].get(text(&call["id"])).is_some() && call["id"] != call["name"] {
                    call["name"] = call["id"].clone();
                }
                outcome(run, &call)
            });
        }),
        bug("calls-of-earlier-ids-dropped", &[clause::AGENT_RESPONSE], |agent| {
            agent.answers = Box::new(|run, _| {
                if let Some((response, before)) = run.list.split_last_mut() {
                    let known: Vec<Value> = before.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                    response["tool_calls"]
                        .as_array_mut()
                        .into_iter()
                        .for_each(|calls| calls.retain(|call| !known.contains(&call["id"])));
                }
            });
        }),
        bug("answers-of-equal-ids-merged-later", &[clause::AGENT_PREFIX], |agent| {
            on_later_requests(agent, |run, request| {
                if run.turn < 5 {
                    return;
                }
                let mut seen: Vec<Value> = Vec::new();
                request.retain(|message| {
                    let is_new = !is(message, &["tool"]) || !seen.contains(&message["tool_call_id"]);
                    seen.push(message["tool_call_id"].clone());
                    is_new
                });
            });
        }),
    ]
}
