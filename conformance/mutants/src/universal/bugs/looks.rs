//! Texts and ids that are taken for something else.
//! What functions of common libraries do with input that they were not made for, as `golden/hazards.json` lists it.

use crate::universal::prelude::*;
use crate::universal::readings::wrap;

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
    on_text_result(name, breaks, edit)
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
fn with_ids(name: &str, breaks: Clauses, new: fn(&str) -> String) -> Planted {
    seam::response(name, breaks, move |run, message| {
        for call in calls_mut(message) {
            let old = text(&call["id"]).to_owned();
            let id = new(&old);
            call.insert("id".into(), (&*id).into());
            run.renamed.push((id, old));
        }
    })
}

/// Finds results by a part of the id.
fn found_by(name: &str, breaks: Clauses, key: fn(&str) -> String) -> Planted {
    seam::outcome(name, breaks, move |run, call| {
        let wanted = key(text(&call["id"]));
        let mut call = call.clone();
        let known = run.input["tools"][text(&call["name"])]["byId"].as_object();
        if let Some(id) = known.and_then(|known| known.keys().find(|id| key(id) == wanted)).cloned() {
            call["id"] = id.into();
        }
        outcome(run, &call)
    })
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
        alone("invisible-results-emptied", TEXT, |text| {
            if matches!(text, "\u{200b}" | "\u{feff}" | "\u{a0}") { String::new() } else { text.to_owned() }
        }),
        alone("pictures-cut-out-of-results", RESULT, |text| {
            text.split("data:image").next().unwrap_or_default().to_owned()
        }),
        seam::content("results-that-count-as-false-emptied", RESULT, |_, outcome| match outcome {
            ToolOutcome::Result(value) if *value == json!(0) || *value == json!(false) || *value == json!({}) => {
                "".into()
            }
            _ => content(outcome),
        }),
        on_response("texts-of-zero-beside-calls-dropped", RESPONSE, |_, message| {
            if matches!(words(message), "0" | "null" | "-") && has_calls(message) {
                message["content"] = "".into();
            }
        }),
        given_kept("questions-of-zero-dropped", START, |message| !matches!(words(message), "0" | "null" | "None")),
        on_given("repeated-questions-dropped", START, |list| {
            let mut seen: Vec<Value> = Vec::new();
            list.retain(|message| {
                let is_new = !is(message, "human") || !seen.contains(message);
                seen.push(message.clone());
                is_new
            });
        }),
    ]);
    for (name, answer) in [("zero", "0"), ("false", "false"), ("null", "null"), ("braces", "{}"), ("a-dot", ".")] {
        bugs.push(seam::is_last(&format!("answer-of-{name}-asked-again"), STOPS, move |_, message| {
            calls(message).is_empty() && words(message) != answer
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
            drop_members(
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
        with_ids("ids-as-numbers", IDS, |id| {
            id.parse::<f64>().map_or_else(|_| id.to_owned(), |number| number.to_string())
        }),
        with_ids("blanks-of-ids-trimmed", IDS, |id| id.trim().to_owned()),
        with_ids("ids-of-nothing-replaced", IDS, |id| {
            if matches!(id, "null" | "undefined" | "None") { "call_new".into() } else { id.to_owned() }
        }),
        with_ids("accents-of-ids-composed", IDS, |id| id.replace("e\u{301}", "\u{e9}")),
        with_ids("ids-cut-in-the-middle", IDS, |id| {
            if id.is_ascii() && id.len() > 64 {
                format!("{}{}", &id[..32], &id[id.len() - 32..])
            } else {
                id.to_owned()
            }
        }),
        with_ids("ids-rewritten-for-another-provider", IDS, |id| id.replace("toolu_", "call_")),
        found_by("results-found-by-the-number-in-the-id", RESULT, |id| {
            id.chars().filter(char::is_ascii_digit).collect()
        }),
        found_by("results-found-by-the-first-eight-characters", RESULT, |id| cut(id, 8)),
        found_by("results-found-by-lower-case-letters", RESULT, |id| id.trim().to_lowercase()),
        seam::answers("results-in-the-order-of-sorted-ids", RESULT, |_, answers| {
            let mut sorted = answers.clone();
            sorted.sort_by_key(|answer| text(&answer["tool_call_id"]).to_owned());
            answers.iter_mut().zip(sorted).for_each(|(answer, other)| answer["content"] = other["content"].clone());
        }),
        seam::outcome("id-that-is-a-name-taken-for-the-name", RESULT, |run, call| {
            let mut call = call.clone();
            if run.input["tools"].get(text(&call["id"])).is_some() && call["id"] != call["name"] {
                call["name"] = call["id"].clone();
            }
            outcome(run, &call)
        }),
        seam::answers("calls-of-earlier-ids-dropped", RESPONSE, |run, _| {
            if let Some((response, before)) = run.list.split_last_mut() {
                let known: Vec<Value> = before.iter().flat_map(calls).map(|call| call["id"].clone()).collect();
                response["tool_calls"]
                    .as_array_mut()
                    .into_iter()
                    .for_each(|calls| calls.retain(|call| !known.contains(&call["id"])));
            }
        }),
        on_later_requests("answers-of-equal-ids-merged-later", PREFIX, |run, request| {
            if run.turn < 5 {
                return;
            }
            let mut seen: Vec<Value> = Vec::new();
            request.retain(|message| {
                let is_new = !is(message, "tool") || !seen.contains(&message["tool_call_id"]);
                seen.push(message["tool_call_id"].clone());
                is_new
            });
        }),
    ]
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
fn compared_by(name: &str, breaks: Clauses, key: Edit) -> Planted {
    bug(name, breaks, move |agent| {
        agent.response = Box::new(move |run, message| {
            distinct(run, message);
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
    })
}

/// Names that a Python function or its caller reserves.
const RESERVED: [&str; 5] = ["self", "cls", "config", "callbacks", "run_manager"];

pub(super) fn libraries() -> Vec<Planted> {
    let keys: [(&str, Edit); 3] = [
        ("ids-compared-up-to-normalization", op::canonical),
        ("ids-compared-without-weightless-characters", op::weighty),
        ("ids-compared-as-numbers", op::numeric),
    ];
    let mut bugs: Vec<Planted> = keys.into_iter().map(|(name, key)| compared_by(name, IDS, key)).collect();
    bugs.extend([
        bug("characters-split-between-blocks", TEXT, |agent| agent.raw = in_blocks),
        bug("lines-beyond-64-kilobytes-refused", GOES_ON, |agent| {
            agent.raw = |raw| if raw.len() > 1 << 16 { String::new() } else { raw.to_owned() };
        }),
        wrap("results-in-a-wrapper-that-they-can-close", RESULT, |_| String::new()),
        on_text_result("results-read-as-yaml", RESULT, |text| {
            as_yaml(text).map_or_else(|| text.to_owned(), |value| value.to_string())
        }),
        given_kept("questions-of-one-zero-dropped", START, |message| {
            message["type"] != "human" || message["content"] != "0"
        }),
        on_arguments("arguments-that-look-like-lists-become-lists", RESPONSE, |args| {
            each(args, &op::as_list);
            // Arguments are declared as an object.
            if args.as_array().is_some_and(Vec::is_empty) {
                *args = Map::new().into();
            }
        }),
        seam::outcome("results-remembered-by-arguments-as-python-compares", RESULT, |run, call| {
            let is_equal = |other: &Value| {
                other["name"] == call["name"] && python_key(&other["args"]) == python_key(&call["args"])
            };
            let earlier = run.list.iter().flat_map(calls).find(is_equal);
            outcome(run, &earlier.unwrap_or_else(|| call.clone()))
        }),
        seam::outcome("arguments-with-reserved-names-fail", RESULT, |run, call| {
            let reserved = RESERVED.iter().find(|name| call["args"].get(**name).is_some());
            match reserved {
                Some(name) => ToolOutcome::Failure(format!("got multiple values for argument '{name}'")),
                None => outcome(run, call),
            }
        }),
    ]);
    bugs
}
